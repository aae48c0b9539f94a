"""What a value becomes: the definitions of every encoding, and their scikit-learn faces."""

from softbin.encodings.hard_bins import HardBins
from softbin.encodings.soft_bins import SoftBins

__all__ = ["HardBins", "SoftBins"]
