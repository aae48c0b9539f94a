"""The minimiser of a quadratic function some of whose variables may not be negative.

    minimise x' G x / 2 - c' x    with x_i >= 0 for i in a given set; G positive

x is the solution if some set F is free and the rest is zero, such that x_F = G_FF^-1 c_F is not negative where it may
not be, and the slopes G x - c of the rest are >= 0. Block principal pivoting (Portugal, Judice and Vicente 1994; Kim
and Park 2011) moves every variable that breaks this to the other side, all at once while that makes them fewer, else
only the last of them, which ends after finitely many turns.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from softbin.engines.threads import one_blas_thread
from softbin.linear.curvature import Matrix

Row = NDArray[np.float64]
Set = NDArray[np.bool_]

PATIENCE = 3
ROUNDING = 1e-11


def minimise_bounded(G: Matrix, c: Row, at_least_zero: NDArray[np.int64], guess: Row | None = None) -> Row:
    """The minimiser x; exactly zero or more where it must be. ``guess`` may know which variables are zero."""
    scale = 1 / np.sqrt(np.diag(G))
    G, c = G * scale * scale[:, None], c * scale
    bounded = np.zeros(len(c), bool)
    bounded[at_least_zero] = True
    loose = np.ones(len(c), bool) if guess is None else ~bounded | (guess > 0)
    with one_blas_thread():
        x = _pivot(G, c, bounded, loose)
    return x * scale


def _pivot(G: Matrix, c: Row, bounded: Set, loose: Set) -> Row:
    """``loose`` are those that begin free."""
    n, loose = len(c), loose.copy()
    fewest, patience = n + 1, PATIENCE
    small = ROUNDING * float(np.max(np.abs(c), initial=0.0))
    for _ in range(100 + 10 * n):
        x = np.zeros(n)
        at = np.flatnonzero(loose)
        if len(at):
            x[at] = cho_solve(cho_factor(G[np.ix_(at, at)], overwrite_a=True), c[at])
        slope = G[:, at] @ x[at] - c
        wrong = np.where(loose, bounded & (x < 0), slope < -small)
        count = int(wrong.sum())
        if count == 0:
            break
        if count < fewest:
            fewest, patience = count, PATIENCE
        elif patience > 0:
            patience -= 1
        else:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        loose ^= wrong
    return np.where(bounded, np.maximum(x, 0), x)
