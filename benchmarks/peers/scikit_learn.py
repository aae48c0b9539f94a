"""scikit-learn: KBinsDiscretizer for hard bins, SplineTransformer of degree 1 for soft bins, with its defaults else."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import KBinsDiscretizer, SplineTransformer

NAME = "scikit-learn"


def hard_bins(n_bins: int) -> Any:
    """Exact quantile bins, one-hot as CSR."""
    return KBinsDiscretizer(
        n_bins, encode="onehot", strategy="quantile", quantile_method="averaged_inverted_cdf", subsample=None
    )


def soft_bins(n_bins: int) -> Any:
    """Hats on quantile knots as CSR."""
    return SplineTransformer(degree=1, n_knots=n_bins + 1, knots="quantile", sparse_output=True)


def soft_bins_on(knots: list[NDArray[np.float64]]) -> Any:
    """Hats on these knots, as many in every column."""
    return SplineTransformer(degree=1, knots=np.stack(knots, axis=1), sparse_output=True)
