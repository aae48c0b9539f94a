"""What coefficients cost: beta' K beta / 2 with K a sparse matrix, levels x levels; the intercept is free.

That is all the fit knows of a penalty. The ridge is a multiple of one; smoothness adds a band for every column.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

Coefficients = NDArray[np.float64]  # outputs x levels


@dataclass(frozen=True, eq=False)
class Penalty:
    """Quadratic in the coefficients, the same for every output."""

    curvature: Any  # sparse and symmetric

    def value(self, coef: Coefficients) -> float:
        return 0.5 * float(np.sum(coef * self.gradient(coef)))

    def gradient(self, coef: Coefficients) -> Coefficients:
        gradient: Coefficients = (self.curvature @ coef.T).T
        return gradient

    def diagonal(self) -> NDArray[np.float64]:
        diagonal: NDArray[np.float64] = self.curvature.diagonal()
        return diagonal


def ridge(strength: float, n_levels: int) -> Penalty:
    """strength / 2 times the sum of squared coefficients."""
    return Penalty(scipy.sparse.diags_array(np.full(n_levels, float(strength))).tocsr())


def smooth(strength: float, costs: Sequence[Any]) -> Penalty:
    """The ridge, and what every column's bends cost (sparse, levels x levels of the column)."""
    bands = scipy.sparse.block_diag(costs, format="csr")
    return Penalty((ridge(strength, bands.shape[0]).curvature + bands).tocsr())
