"""The ridge of a linear cell: of RIDGES, the one that does best on rows held out of the cell's training rows.

Why not one number for all: MGD has hundreds of times the levels of LLE and few rows on each of them. With the ridge of
1 that the others hardly feel it follows the noise, and a table made that way compares penalties, not encodings. So all
rows of the table choose, in the same way.

How: on the bins of all training rows, coefficients are fitted to four fifths of a draw from these rows, and the
log-loss of the last fifth decides. The draw has MOST_ROWS rows, or PER_LEVEL for every level where that is more; fewer
training rows are all drawn. The search starts where the number of levels suggests, and goes down or else up for as long
as that gets better. Test rows take no part.

Why a part of the rows can choose for all: ridge / 2 times squared coefficients is what a normal prior with precision
``ridge`` costs, and how large coefficients are expected to be does not change with the number of rows. It holds as far
as that prior does: coefficients of fine levels are smaller than those of coarse ones, so a draw prefers a weaker ridge
than all rows would. That is why many levels get more rows to choose on.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss

RIDGES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)
MOST_ROWS = 200_000
PER_LEVEL = 5
LEVELS_PER_RIDGE = 300  # only where the search starts: fits are quick where the ridge is not far too small
EVERY = 5


def choose_ridge(
    with_ridge: Callable[[float], Any], X: NDArray[np.float32], y: NDArray[np.int8], n_levels: int, seed: int
) -> float:
    """The best of RIDGES; ``with_ridge`` gives the classifier to fit, which may start where its last fit ended."""
    rows = _drawn(len(y), max(MOST_ROWS, PER_LEVEL * n_levels), seed)
    judges = np.arange(len(rows)) % EVERY == EVERY - 1
    fit, judge = rows[~judges], rows[judges]
    X_fit, y_fit, X_judge, y_judge = X[fit], y[fit], X[judge], y[judge]

    def loss(at: int) -> float:
        model = with_ridge(RIDGES[at]).fit(X_fit, y_fit)
        return float(log_loss(y_judge, model.predict_proba(X_judge)[:, 1], labels=[0, 1]))

    start = int(np.argmin(np.abs(np.log(RIDGES) - np.log(n_levels / LEVELS_PER_RIDGE))))
    return RIDGES[descend(loss, start, len(RIDGES))]


def descend(loss: Callable[[int], float], start: int, count: int) -> int:
    """The place of 0 to ``count`` - 1 around which nothing is lower, looking down from ``start`` first, then up."""
    best, least = start, loss(start)
    for step in (-1, 1):
        while 0 <= best + step < count and (found := loss(best + step)) < least:
            best, least = best + step, found
        if best != start:
            break
    return best


def _drawn(n_rows: int, most: int, seed: int) -> NDArray[np.intp]:
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng([seed, 3]).choice(n_rows, most, replace=False, shuffle=False))
