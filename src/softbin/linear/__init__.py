"""Linear models on bins: fitted from raw columns by sums over blocks."""

from softbin.linear.classifier import LinearClassifier
from softbin.linear.curve import Curve
from softbin.linear.regressor import LinearRegressor

__all__ = ["Curve", "LinearClassifier", "LinearRegressor"]
