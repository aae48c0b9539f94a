"""How smooth every column is to be, and how sure its curve is: REML on a quadratic model of the fit.

Near a point of the parameters the loss of all rows is beta' H beta / 2 - b' beta with b = H point - gradient. H is the
sample's Hessian scaled up to all rows, the gradient is that of all rows: so the sample's noise is in the metric only,
and where the point is the optimum, not in the answer at all. Read as a Gaussian model with the penalty as its prior,

    V = (H + ridge + sum_j s_j S_j)^-1,    beta = V b,    covariance = dispersion V,

the restricted likelihood (REML) of a strength s_j has a gradient whose zero is the Fellner-Schall equation

    s_j = dispersion (s_j tr (s_j S_j + ridge)^-1 S_j - s_j tr V S_j) / beta' S_j beta.

Instead of iterating that, which takes long where s_j runs off to infinity, one strength's whole likelihood is looked
at. Given the others, all that V and beta say of column j is A = (V_jj)^-1 - s_j S_j and r = (V_jj)^-1 beta_j; with
S_j u = d A u, z = u' r it is, up to a factor and a constant,

    sum_i z_i^2 / dispersion / (1 + s d_i) - log(1 + s d_i) + log(s sigma_i + ridge),    sigma_i the eigenvalues of S_j.

Its best s is found on a grid. First column by column, as if the others were known; then all at once from V, a few
times. A strength never leaves the range in which it matters: at its lower end no direction is shrunk by more than
LITTLE, at its upper end none is left that bends by more.

Coordinates are those in which every S_j is diagonal. There, large strengths are a matter of scale, which costs a
Cholesky factorisation no digits, and directions too stiff to move can be left out.

Several outputs (classes) have one strength per column. Their Hessians are blocks p (1 - p), which is (K - 1) / K of
what the K - 1 free directions have where classes are equally likely: made up for on both sides (``share``).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.linalg import cho_solve
from scipy.linalg.lapack import dpotrf, dpotri

from softbin.engines.threads import one_blas_thread
from softbin.linear.curvature import Centering, Matrix, Sample, Solve, factorised, mirrored
from softbin.linear.objective import Parameters, row_scores
from softbin.linear.smoothness import Bends, Floats

Positions = NDArray[np.int64]

LITTLE = 1e-3
STIFF = 1e4  # directions whose penalty is as many times their Hessian stay where they are
MOST_DOWN = 30.0  # how much a strength may fall at once: stiff directions are stiff still
SETTLED = 0.05  # effective degrees of freedom
MOST_UPDATES = 4
SWEEPS = 3
GRID = 60


@dataclass(frozen=True)
class Dispersion:
    """The variance of a row in units of the loss: known, or to be estimated from the squared residuals' sum.

    ``row_weight``: the weight of a row that counts once.
    """

    known: float | None
    row_weight: float

    def of(self, squares: float, total_weight: float, edf: float) -> float:
        if self.known is not None:
            return self.known
        free = max(total_weight - edf * self.row_weight, 0.05 * total_weight)
        return max(squares / free, 1e-300)


@dataclass(frozen=True, eq=False)
class Waves:
    """One column's directions, from the straightest to the roughest: S_j = vectors diag(rough) vectors'."""

    levels: slice
    rank: int
    rough: Floats
    vectors: Matrix

    @classmethod
    def of(cls, bends: Bends) -> "Waves":
        with one_blas_thread():
            rough, vectors = np.linalg.eigh(bends.matrix.toarray())
        rough[: len(rough) - bends.rank] = 0
        return cls(bends.levels, bends.rank, np.maximum(rough, 0), vectors)


@dataclass(frozen=True, eq=False)
class Quadratic:
    """The loss near a point, by output, in the coordinates of waves; the intercept is last."""

    waves: Sequence[Waves]
    hessians: Sequence[Matrix]
    linear: Parameters
    point: Parameters
    gradient: Parameters
    squares: float  # of the residuals at the point
    curvature: float  # of all rows and outputs, the squares that are expected there
    total_weight: float
    ridge: float
    dispersion: Dispersion
    idle: NDArray[np.bool_]  # columns that have a direction which the intercept stands for
    removed: Sequence[float]  # what the Hessians have there instead, by output

    @property
    def share(self) -> float:
        n = len(self.hessians)
        return (n - 1) / n if n > 1 else 1.0

    def as_spread(self) -> "Quadratic":
        """With the dispersion that the squares at the point show, where that is more than the known one.

        Far from the optimum it takes what is not fitted yet for noise, so that curves begin smooth.
        """
        known = self.dispersion.known
        if known is None or self.curvature <= 0:
            return self
        seen = max(known, self.squares / self.curvature * self.dispersion.row_weight)
        return replace(self, dispersion=replace(self.dispersion, known=seen))

    def spread_at(self, coef: Parameters, edf: float) -> float:
        """The dispersion where the coefficients are these."""
        squares = self.squares
        for H, move, slope in zip(self.hessians, coef - self.point, self.gradient, strict=True):
            squares += 2 * slope @ move + move @ H @ move
        return self.dispersion.of(max(squares, 0.0), self.total_weight, edf)

    def moved(self, parameters: Parameters, gradient: Parameters, centre: Centering) -> "Quadratic":
        """With the same Hessians at other parameters, where this is the gradient of the loss."""
        point, slope = enter(parameters, self.waves), enter(centre(gradient), self.waves)
        squares = self.squares
        for move, a, b in zip(point - self.point, self.gradient, slope, strict=True):
            squares += move @ (a + b)
        linear = np.stack([H @ x - g for H, x, g in zip(self.hessians, point, slope, strict=True)])
        return replace(self, point=point, gradient=slope, linear=linear, squares=max(squares, 0.0))


def quadratic_at(
    sample: Sample,
    parameters: Parameters,
    gradient: Parameters,
    centre: Centering,
    waves: Sequence[Waves],
    ridge: float,
    dispersion: Dispersion,
) -> Quadratic:
    """The model at centred parameters; ``gradient`` is that of the loss of all rows there, without any penalty."""
    n_levels = parameters.shape[1] - 1
    point, slope = enter(parameters, waves), enter(centre(gradient), waves)
    several = len(parameters) / (len(parameters) - 1) if len(parameters) > 1 else 1.0
    hessians, removed, curvature = [], [], sample.curvature(parameters)
    for weight in curvature.T:
        matrix = sample.gram(np.ascontiguousarray(weight * several), np.arange(n_levels))
        if not centre.intercept:
            matrix[-1], matrix[:, -1] = 0, 0
        removed.append(float(np.mean(np.diag(matrix))))
        matrix = _between_waves(centre.of_matrix(matrix), waves)
        if not centre.intercept:
            matrix[-1, -1] = 1
        hessians.append(matrix)
    linear = np.stack([H @ x - g for H, x, g in zip(hessians, point, slope, strict=True)])
    o = sample.objective
    units = 1.0 if o.rows.weight is None else o.rows.weight[:, None].astype(np.float64)
    residual = o.family.residual(row_scores(o, parameters).astype(np.float64), o.rows.target)
    squares = float(np.sum(residual**2 * units)) * o.scale
    total = o.rows.total_weight * o.scale
    idle = np.asarray(centre.means.sum(axis=1)).ravel() > 0
    expected = float(curvature.sum())
    return Quadratic(waves, hessians, linear, point, slope, squares, expected, total, ridge, dispersion, idle, removed)


def enter(parameters: Parameters, waves: Sequence[Waves]) -> Parameters:
    """Coefficients in the coordinates of waves."""
    inside = parameters.copy()
    for w in waves:
        inside[:, w.levels] = parameters[:, w.levels] @ w.vectors
    return inside


def leave(inside: Parameters, waves: Sequence[Waves]) -> Parameters:
    """And back."""
    parameters = inside.copy()
    for w in waves:
        parameters[:, w.levels] = inside[:, w.levels] @ w.vectors.T
    return parameters


def _between_waves(matrix: Matrix, waves: Sequence[Waves]) -> Matrix:
    with one_blas_thread():
        for w in waves:
            matrix[w.levels] = w.vectors.T @ matrix[w.levels]
        for w in waves:
            matrix[:, w.levels] = matrix[:, w.levels] @ w.vectors
    return matrix


@dataclass(frozen=True, eq=False)
class Posterior:
    """Coefficients and their uncertainty under some strengths, in the coordinates of waves."""

    coef: Parameters
    kept: list[Positions]  # of each column: its directions that can move (positions in the column)
    blocks: list[list[Matrix]]  # per output and group of columns: V between the kept directions
    edf: Floats  # per column, all outputs together
    dispersion: float
    scale: float  # of the blocks, to be covariances


def posterior(q: Quadratic, strengths: Floats, groups: Sequence[Sequence[int]] | None = None) -> Posterior:
    """V, where only its blocks within each group of columns are kept (every column by itself, if none are given)."""
    groups = [[j] for j in range(len(q.waves))] if groups is None else groups
    kept, chosen, price = _moving(q, strengths)
    first = np.cumsum([0, *map(len, kept)])
    own = [np.arange(start, stop) for start, stop in pairwise(first)]
    spans = [np.concatenate([first[:0], *(own[j] for j in group)]) for group in groups]
    coef, blocks, edf = np.zeros_like(q.linear), [], np.zeros(len(q.waves))
    for output, H in enumerate(q.hessians):
        part = H[np.ix_(chosen, chosen)]
        part[np.diag_indices_from(part)] += price[chosen]
        V = _inverse(part)
        coef[output, chosen] = V @ q.linear[output, chosen]
        shrunk = price[chosen] * np.diag(V)
        edf += [len(positions) - shrunk[positions].sum() for positions in own]
        edf -= q.idle * q.removed[output] / (q.removed[output] + q.ridge)
        blocks.append([V[np.ix_(span, span)] for span in spans])
    edf *= q.share
    dispersion = q.spread_at(coef, float(edf.sum()) + 1)
    return Posterior(coef, kept, blocks, edf, dispersion, dispersion * q.share)


def _moving(q: Quadratic, strengths: Floats) -> tuple[list[Positions], Positions, Floats]:
    """The directions that are not too stiff to move, by column and all together, and what every direction costs."""
    curvature = np.sum([np.diag(H) for H in q.hessians], axis=0)
    price = np.append(np.full(len(curvature) - 1, q.ridge), 0.0)
    kept = []
    for w, s in zip(q.waves, strengths, strict=True):
        with np.errstate(over="ignore"):
            price[w.levels] += s * w.rough
        kept.append(np.flatnonzero(price[w.levels] - q.ridge <= STIFF * (curvature[w.levels] + q.ridge)))
    every = [positions + w.levels.start for positions, w in zip(kept, q.waves, strict=True)]
    return kept, np.concatenate([*every, [len(curvature) - 1]]), price


def solver(q: Quadratic, strengths: Floats, centre: Centering) -> Solve:
    """The inverse Hessian under these strengths: what leads a fit from near the point to its optimum."""
    _, chosen, price = _moving(q, strengths)
    stiff = np.setdiff1d(np.arange(len(price)), chosen)
    factors, rest = [], []
    for H in q.hessians:
        part = H[np.ix_(chosen, chosen)]
        part[np.diag_indices_from(part)] += price[chosen]
        factors.append(factorised(part))
        rest.append(np.diag(H)[stiff] + price[stiff])

    def solve(gradient: Parameters) -> Parameters:
        inside = enter(centre(gradient), q.waves)
        for row, factor, stiffness in zip(inside, factors, rest, strict=True):
            row[chosen] = cho_solve(factor, row[chosen])
            row[stiff] /= stiffness
        return centre(leave(inside, q.waves))

    return solve


def _inverse(matrix: Matrix) -> Matrix:
    """Of a positive matrix; directions it knows nothing of get a very little of everything."""
    scale = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    jitter = 1e-13
    for _ in range(10):
        with one_blas_thread():
            scaled = matrix / scale / scale[:, None]
            scaled[np.diag_indices_from(scaled)] += jitter
            factor, failed = dpotrf(scaled, lower=1, overwrite_a=1)
            if not failed:
                inverse, failed = dpotri(factor, lower=1, overwrite_c=1)
                return mirrored(inverse.T) / scale / scale[:, None]
        jitter *= 30
    raise np.linalg.LinAlgError("the Hessian cannot be inverted")


def find_strengths(q: Quadratic, strengths: Floats | None = None) -> tuple[Floats, Floats]:
    """The strengths of largest restricted likelihood, from given ones or from none.

    Also every column's degrees of freedom before the last update, which changed them little.
    """
    if strengths is None:
        strengths = _one_by_one(q)
    for _ in range(MOST_UPDATES):
        strengths, edf, change = _update(q, strengths)
        if change <= SETTLED:
            break
    return strengths, edf


def _update(q: Quadratic, strengths: Floats) -> tuple[Floats, Floats, float]:
    """Every strength's best value, given V under the others; also degrees of freedom before, and the largest change."""
    found = posterior(q, strengths)
    result, change = strengths.copy(), 0.0
    for j, (w, kept) in enumerate(zip(q.waves, found.kept, strict=True)):
        if w.rank == 0:
            continue
        rough, parts = w.rough[kept], []
        if not np.any(rough > 0):
            continue
        for output, blocks in enumerate(found.blocks):
            precision = _inverse(blocks[j])
            r = precision @ found.coef[output, w.levels][kept]
            precision[np.diag_indices_from(precision)] -= strengths[j] * rough
            parts.append((precision, r))
        profile = Profile.of(rough, parts, q.ridge, found.dispersion, q.share)
        result[j] = max(profile.best(), strengths[j] / MOST_DOWN)
        change = max(change, abs(profile.edf(result[j]) - profile.edf(strengths[j])))
    return result, found.edf, change


def _one_by_one(q: Quadratic) -> Floats:
    """Strengths from columns fitted in turn, each as if the others' curves were known."""
    coef, strengths = q.point.copy(), np.zeros(len(q.waves))
    plain = np.concatenate([*(np.full(w.levels.stop - w.levels.start, q.ridge) for w in q.waves), [0.0]])
    free = sum(float(np.sum(np.diag(H) > 0)) for H in q.hessians) * q.share
    dispersion = q.spread_at(q.point, min(free, 0.5 * q.total_weight / q.dispersion.row_weight))
    for _ in range(SWEEPS):
        for j, w in enumerate(q.waves):
            parts, at = [], w.levels
            for H, b, x in zip(q.hessians, q.linear, coef, strict=True):
                A = H[at, at] + np.diag(plain[at])
                parts.append((A, b[at] - H[at] @ x + H[at, at] @ x[at]))
            profile = Profile.of(w.rough, parts, q.ridge, dispersion, q.share)
            strengths[j] = profile.best() if w.rank else 0.0
            for x, (A, r) in zip(coef, parts, strict=True):
                A[np.diag_indices_from(A)] += strengths[j] * w.rough
                x[at] = _inverse(A) @ r
        for H, b, x in zip(q.hessians, q.linear, coef, strict=True):
            x[-1] = (b[-1] - H[-1, :-1] @ x[:-1]) / H[-1, -1]
    return strengths


@dataclass(frozen=True, eq=False)
class Profile:
    """The restricted likelihood of one column's strength, the others given."""

    pulls: Floats  # d_i of all outputs that are not zero
    squares: Floats  # their z_i^2 / dispersion
    rough: Floats  # eigenvalues of S that are not zero
    outputs: int
    ridge: float
    share: float

    @classmethod
    def of(
        cls, rough: Floats, parts: Sequence[tuple[Matrix, Floats]], ridge: float, dispersion: float, share: float
    ) -> "Profile":
        rank, pulls, squares = int(np.sum(rough > 0)), [], []
        for A, r in parts:
            least = 1e-13 * float(np.max(np.diag(A)))
            with one_blas_thread():
                for _ in range(10):
                    try:
                        d, U = scipy.linalg.eigh(np.diag(rough), A + least * np.eye(len(A)))
                        break
                    except np.linalg.LinAlgError:
                        least *= 100
            top = slice(len(d) - rank, None)
            pulls.append(np.maximum(d[top], 1e-300))
            squares.append((U[:, top].T @ r) ** 2 / dispersion)
        return cls(np.concatenate(pulls), np.concatenate(squares), rough[rough > 0], len(parts), ridge, share)

    def value(self, strength: Floats) -> Floats:
        """To be made large."""
        s = np.asarray(strength)[..., None]
        logs = self.outputs * np.log(s * self.rough + self.ridge).sum(axis=-1) - np.log1p(s * self.pulls).sum(axis=-1)
        return (self.squares / (1 + s * self.pulls)).sum(axis=-1) + self.share * logs

    def edf(self, strength: float) -> float:
        """Degrees of freedom that this strength leaves to the bends."""
        return float(np.sum(1 / (1 + strength * self.pulls)))

    def best(self) -> float:
        """The best strength: on a grid over all that matter, then on a finer one around it."""
        low, high = np.log(LITTLE / self.pulls.max()), np.log(1 / (LITTLE * self.pulls.min()))
        for _ in range(3):
            grid = np.linspace(low, high, GRID)
            at = int(np.argmax(self.value(np.exp(grid))))
            low, high = grid[max(at - 1, 0)], grid[min(at + 1, GRID - 1)]
        return float(np.exp(grid[at]))
