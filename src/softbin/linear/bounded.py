"""The minimiser of a quadratic function some of whose variables may not be negative.

    minimise x' G x / 2 - c' x    with x_i >= 0 for i in a given set; G positive

Variables without a bound are eliminated. Of the others, x is the solution if some set F is free and the rest is zero,
such that x_F = G_FF^-1 c_F >= 0 and the slopes G x - c of the rest are >= 0. Block principal pivoting (Portugal,
Judice and Vicente 1994; Kim and Park 2011) moves every variable that breaks this to the other side, all at once while
that makes them fewer, else only the last of them, which ends after finitely many turns.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from softbin.engines.threads import one_blas_thread
from softbin.linear.curvature import Matrix

Row = NDArray[np.float64]

PATIENCE = 3
ROUNDING = 1e-11


def minimise_bounded(G: Matrix, c: Row, at_least_zero: NDArray[np.int64], guess: Row | None = None) -> Row:
    """The minimiser x; exactly zero or more where it must be. ``guess`` may know which variables are zero."""
    scale = 1 / np.sqrt(np.diag(G))
    G, c = G * scale * scale[:, None], c * scale
    bounded = np.asarray(at_least_zero)
    free = np.setdiff1d(np.arange(len(c)), bounded)
    x = np.zeros(len(c))
    loose = np.ones(len(bounded), bool) if guess is None else guess[bounded] > 0
    with one_blas_thread():
        if len(free):
            factor = cho_factor(G[np.ix_(free, free)])
            between = cho_solve(factor, np.column_stack([G[np.ix_(free, bounded)], c[free]]))
            inner = G[np.ix_(bounded, bounded)] - G[np.ix_(bounded, free)] @ between[:, :-1]
            x[bounded] = _pivot((inner + inner.T) / 2, c[bounded] - G[np.ix_(bounded, free)] @ between[:, -1], loose)
            x[free] = between[:, -1] - between[:, :-1] @ x[bounded]
        else:
            x[bounded] = _pivot(G[np.ix_(bounded, bounded)], c[bounded], loose)
    return x * scale


def _pivot(G: Matrix, c: Row, loose: NDArray[np.bool_]) -> Row:
    """All variables bounded; ``loose`` are those that begin free."""
    n, loose = len(c), loose.copy()
    fewest, patience = n + 1, PATIENCE
    small = ROUNDING * float(np.max(np.abs(c), initial=0.0))
    for _ in range(100 + 10 * n):
        x = np.zeros(n)
        at = np.flatnonzero(loose)
        if len(at):
            x[at] = cho_solve(cho_factor(G[np.ix_(at, at)]), c[at])
        slope = G @ x - c
        wrong = np.where(loose, x < 0, slope < -small)
        count = int(wrong.sum())
        if count == 0:
            return x
        if count < fewest:
            fewest, patience = count, PATIENCE
        elif patience > 0:
            patience -= 1
        else:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        loose ^= wrong
    return np.maximum(x, 0)
