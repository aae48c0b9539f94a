"""The minimiser of a quadratic function some of whose variables may not be negative; the function learns from steps.

    minimise x' B x / 2 - c' x    with x_i >= 0 for i in a given set; B positive

x is the solution if some set F is free and the rest is zero, such that x_F = B_FF^-1 c_F is not negative where it may
not be, and the slopes B x - c of the rest are >= 0. Block principal pivoting (Portugal, Judice and Vicente 1994; Kim
and Park 2011) moves variables that break this to the other side: all that became negative, and of every run of
neighbours with a negative slope the steepest, because freeing one levels the slopes beside it. Where that does not make
them fewer, only the last one moves, which ends after finitely many turns.

B is a matrix G that is given once, and what steps taught (BFGS) as a border, compact as in Byrd, Nocedal and Schnabel
(1994): with steps s_k as columns of S, changes y_k of the slope as those of Y, L_ij = s_i' y_j below the diagonal and
D = diag(s_i' y_i),

    B = G - W N^-1 W',    W = (G S, Y),    N = (S' G S   L)
                                               (   L'   -D)

Few sets are factorised. Beside a set K whose factor is known, F is K with a border: variables that came in (I), a
multiplier for every one that went out (O), and the steps.

    ( G_KK   G_KI   e_O   W_K )  (  x_K   )     ( c_K )
    ( G_IK   G_II         W_I )  (  x_I   )  =  ( c_I )
    ( e_O'                    )  ( lambda )     (  0  )
    ( W_K'   W_I'          N  )  (   z    )     (  0  )
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from softbin.engines.threads import one_blas_thread
from softbin.linear.curvature import Matrix, factorised

Row = NDArray[np.float64]
Set = NDArray[np.bool_]

PATIENCE = 3
ROUNDING = 1e-11
WIDEST = 8  # a border may have one in so many of the known set, before the set at hand is factorised


class BoundedModel:
    """B and the bounds, for one c after the other. ``G`` is overwritten."""

    def __init__(self, G: Matrix, at_least_zero: NDArray[np.int64]) -> None:
        self.unit = 1 / np.sqrt(np.diag(G))
        G *= self.unit
        G *= self.unit[:, None]
        self.G = G
        self.bounded = np.zeros(len(G), bool)
        self.bounded[at_least_zero] = True
        self.moved, self.bent, self.pushed = (np.zeros((0, len(G))) for _ in range(3))  # S', Y', S' G
        self.within = np.zeros((0, 0))  # N
        self.known = np.zeros(len(G), bool)  # K
        self.factor = np.zeros((0, 0))  # R with R'R = G_KK
        self.halves: dict[int, Row] = {}  # R'^-1 times the border's column, by variable

    def learn(self, moved: Row, bent: Row) -> None:
        """Afterwards B moved is bent."""
        if moved @ bent <= 1e-12 * float(np.linalg.norm(moved) * np.linalg.norm(bent)):
            return
        # Why a length of one: N holds long first steps and short last ones side by side.
        length = np.sqrt(moved @ bent)
        moved, bent = moved / self.unit / length, bent * self.unit / length
        self.moved, self.bent = np.vstack([self.moved, moved]), np.vstack([self.bent, bent])
        self.pushed = np.vstack([self.pushed, self.G @ moved])
        products = self.moved @ self.bent.T
        below = np.tril(products, -1)
        self.within = np.block([[self.moved @ self.pushed.T, below], [below.T, -np.diag(np.diag(products))]])

    def times(self, x: Row) -> Row:
        """B x, in the caller's units."""
        with one_blas_thread():
            return self._times(x / self.unit) / self.unit

    def minimise(self, c: Row, guess: Row) -> Row:
        """The minimiser; exactly zero or more where it must be. ``guess`` may know which variables are zero."""
        with one_blas_thread():
            return self._pivot(c * self.unit, ~self.bounded | (guess > 0)) * self.unit

    def block_by_block(self, c: Row, x: Row, blocks: Iterable[slice]) -> Row:
        """Every block's best x, the others given: cheap, and most of its bounds hold in the end."""
        c, x = c * self.unit, x / self.unit
        with one_blas_thread():
            for block in blocks:
                inner = self.G[block, block].copy()
                own = c[block] - self.G[block] @ x + inner @ x[block]
                model = BoundedModel(inner, np.flatnonzero(self.bounded[block]))
                x[block] = model._pivot(own, ~model.bounded)
        return x * self.unit

    def _pivot(self, c: Row, free: Set) -> Row:
        n, free = len(c), free.copy()
        fewest, patience = n + 1, PATIENCE
        small = ROUNDING * float(np.max(np.abs(c), initial=0.0))
        for _ in range(100 + 10 * n):
            x, slope = self._on_face(c, free)
            negative, falling = free & self.bounded & (x < 0), ~free & (slope < -small)
            count = int(negative.sum() + falling.sum())
            if count == 0:
                break
            wrong = negative | _steepest(falling, slope)
            if count < fewest:
                fewest, patience = count, PATIENCE
            elif patience > 0:
                patience -= 1
            else:
                wrong[: np.flatnonzero(wrong)[-1]] = False
            free ^= wrong
        return np.where(self.bounded, np.maximum(x, 0), x)

    def _on_face(self, c: Row, free: Set) -> tuple[Row, Row]:
        """The minimiser with only these variables free, and the slopes there."""
        changed = np.flatnonzero(free != self.known)
        if len(changed) * WIDEST > max(self.known.sum(), 4 * WIDEST):
            self._factorise(free)
            changed = changed[:0]
        x = self._solve(c, changed)
        slope = self._times(x) - c
        # Why again: a border loses digits where the set at hand is much better conditioned than the known one.
        x -= self._solve(np.where(free, slope, 0), changed)
        return x, self._times(x) - c

    def _factorise(self, free: Set) -> None:
        at = np.flatnonzero(free)
        self.known, self.halves = free.copy(), {}
        self.factor = factorised(self.G[np.ix_(at, at)])[0] if len(at) else np.zeros((0, 0))

    def _solve(self, c: Row, changed: NDArray[np.int64]) -> Row:
        """B_FF^-1 c_F for the known set but for ``changed`` variables; zero elsewhere."""
        known = np.flatnonzero(self.known)
        out = self.known[changed]
        border, corner = self._border(known, changed, out)
        half = solve_triangular(self.factor, c[known], trans="T", check_finite=False)
        x = np.zeros(len(c))
        if len(corner):
            right = np.zeros(len(corner))
            right[: len(changed)] = np.where(out, 0, c[changed])
            rest = np.linalg.solve(corner - border @ border.T, right - border @ half)
            half -= rest @ border
            x[changed] = rest[: len(changed)]
        x[known] = solve_triangular(self.factor, half, check_finite=False)
        x[changed[out]] = 0
        return x

    def _border(self, known: NDArray[np.int64], changed: NDArray[np.int64], out: Set) -> tuple[Matrix, Matrix]:
        """The border's columns (as rows, R'^-1 times each) and the corner it ends in."""
        fresh = [i for i in changed.tolist() if i not in self.halves]
        if fresh:
            columns = np.where(self.known[fresh], known[:, None] == fresh, self.G[np.ix_(fresh, known)].T)
            halves = solve_triangular(self.factor, columns, trans="T", check_finite=False)
            self.halves.update(zip(fresh, np.ascontiguousarray(halves.T), strict=True))
        steps = np.vstack([self.pushed, self.bent])
        taught = solve_triangular(self.factor, steps[:, known].T, trans="T", check_finite=False).T
        border = np.vstack([*(self.halves[i][None] for i in changed.tolist()), taught])
        own = self.G[np.ix_(changed, changed)]
        own[out], own[:, out] = 0, 0
        beside = np.where(out, 0, steps[:, changed])
        return border, np.block([[own, beside.T], [beside, self.within]])

    def _times(self, x: Row) -> Row:
        at = np.flatnonzero(x)
        product: Row = self.G @ x if 3 * len(at) > len(x) else x[at] @ self.G[at]
        if len(self.moved):
            steps = np.vstack([self.pushed, self.bent])
            product -= np.linalg.solve(self.within, steps @ x) @ steps
        return product


def _steepest(falling: Set, slope: Row) -> Set:
    """Of every run of neighbours the one with the lowest slope."""
    at = np.flatnonzero(falling)
    result = np.zeros_like(falling)
    if len(at):
        starts = np.flatnonzero(np.diff(at, prepend=-2) > 1)
        lowest = np.repeat(np.minimum.reduceat(slope[at], starts), np.diff(starts, append=len(at)))
        result[at[slope[at] == lowest]] = True
    return result
