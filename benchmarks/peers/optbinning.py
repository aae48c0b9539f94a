"""optbinning: MDLP and OptimalBinning of one numeric column, with their defaults else."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

NAME = "optbinning"
Cuts = NDArray[np.float64]


def mdlp(column: NDArray[Any], y: NDArray[Any]) -> Cuts:
    """The cuts of Fayyad and Irani's method."""
    from optbinning import MDLP

    return np.asarray(MDLP().fit(column.astype(float), y.astype(int)).splits, np.float64)


def optimal(column: NDArray[Any], y: NDArray[Any], n_bins: int) -> Cuts:
    """The cuts of at most ``n_bins`` bins of any trend."""
    from optbinning import OptimalBinning

    binning = OptimalBinning(max_n_bins=n_bins, monotonic_trend=None).fit(column.astype(float), y.astype(int))
    return np.asarray(binning.splits, np.float64)
