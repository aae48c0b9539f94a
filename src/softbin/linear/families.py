"""What a model predicts: loss, residual and curvature of a row as functions of its score.

The loss is a negative log-likelihood without its constants; the residual is its first derivative by the score, the
curvature its second (for several scores the diagonal of it). Scores are rows x outputs. These NumPy lines are the
definition; cpp/families.hpp is their copy inside the kernel.

    gaussian     (s - y)^2 / 2                    identity
    bernoulli    log(1 + e^s) - y s               logit
    poisson      e^s - y s                        log
    gamma        s + y e^-s                       log
    multinomial  log(sum_k e^{s_k}) - s_y         softmax; y is the number of a class
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp, softmax

from softbin.errors import DataError

Floats = NDArray[Any]  # real numbers; scores in float32 or float64


class Family(Protocol):
    """One kind of target."""

    name: str
    code: int  # of the compiled copy

    def loss(self, score: Floats, y: Floats) -> Floats: ...
    def residual(self, score: Floats, y: Floats) -> Floats: ...
    def curvature(self, score: Floats, y: Floats) -> Floats: ...
    def mean(self, score: Floats) -> Floats: ...

    def start(self, y: Floats, weight: Floats | None) -> Floats:
        """The intercepts that fit best without any column."""
        ...

    def check(self, y: Floats) -> None:
        """Raises DataError for targets the family cannot have."""
        ...


class Gaussian:
    name, code = "gaussian", 0

    def loss(self, score: Floats, y: Floats) -> Floats:
        return 0.5 * (score[:, 0] - y) ** 2

    def residual(self, score: Floats, y: Floats) -> Floats:
        return score - y[:, None]

    def curvature(self, score: Floats, y: Floats) -> Floats:
        return np.ones_like(score)

    def mean(self, score: Floats) -> Floats:
        return score

    def start(self, y: Floats, weight: Floats | None) -> Floats:
        return np.array([average(y, weight)])

    def check(self, y: Floats) -> None:
        pass


class Bernoulli:
    name, code = "bernoulli", 1

    # Why both signs: of a row that is nearly sure, expit(s) - 1 has no digits left, -expit(-s) has all.
    def loss(self, score: Floats, y: Floats) -> Floats:
        s = score[:, 0]
        return (1 - y) * np.logaddexp(0, s) + y * np.logaddexp(0, -s)

    def residual(self, score: Floats, y: Floats) -> Floats:
        return (1 - y[:, None]) * expit(score) - y[:, None] * expit(-score)

    def curvature(self, score: Floats, y: Floats) -> Floats:
        return expit(score) * expit(-score)

    def mean(self, score: Floats) -> Floats:
        return expit(score)

    def start(self, y: Floats, weight: Floats | None) -> Floats:
        # Why not 1 - average(y): the other class may be rarer than a float64 is exact.
        return np.array([np.log(average(y, weight)) - np.log(average(1 - y, weight))])

    def check(self, y: Floats) -> None:
        pass


class Poisson:
    name, code = "poisson", 2

    def loss(self, score: Floats, y: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.exp(score[:, 0]) - y * score[:, 0]

    def residual(self, score: Floats, y: Floats) -> Floats:
        return self.mean(score) - y[:, None]

    def curvature(self, score: Floats, y: Floats) -> Floats:
        return self.mean(score)

    def mean(self, score: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.exp(score)

    def start(self, y: Floats, weight: Floats | None) -> Floats:
        return np.array([np.log(average(y, weight))])

    def check(self, y: Floats) -> None:
        if np.any(y < 0):
            raise DataError(f"y: {np.sum(y < 0)} values are negative, and a Poisson target counts; drop or shift them")
        if not np.any(y > 0):
            raise DataError("y: all values are zero, so the best rate is zero and its logarithm has no bottom")


class Gamma:
    name, code = "gamma", 3

    def loss(self, score: Floats, y: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return score[:, 0] + y * np.exp(-score[:, 0])

    def residual(self, score: Floats, y: Floats) -> Floats:
        return 1 - self.curvature(score, y)

    def curvature(self, score: Floats, y: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return y[:, None] * np.exp(-score)

    def mean(self, score: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.exp(score)

    def start(self, y: Floats, weight: Floats | None) -> Floats:
        return np.array([np.log(average(y, weight))])

    def check(self, y: Floats) -> None:
        if np.any(y <= 0):
            raise DataError(f"y: {np.sum(y <= 0)} values are not positive, and a gamma target is; drop or shift them")


class Multinomial:
    name, code = "multinomial", 4

    def loss(self, score: Floats, y: Floats) -> Floats:
        loss: Floats = logsumexp(score, axis=1) - np.take_along_axis(score, _classes(y), axis=1)[:, 0]
        return loss

    def residual(self, score: Floats, y: Floats) -> Floats:
        residual: Floats = softmax(score, axis=1) - (np.arange(score.shape[1]) == _classes(y))
        return residual

    def curvature(self, score: Floats, y: Floats) -> Floats:
        share: Floats = softmax(score, axis=1)
        return share * (1 - share)

    def mean(self, score: Floats) -> Floats:
        share: Floats = softmax(score, axis=1)
        return share

    def start(self, y: Floats, weight: Floats | None) -> Floats:
        share = np.log(np.bincount(y.astype(np.intp), weight) / (len(y) if weight is None else np.sum(weight)))
        return share - share.mean()

    def check(self, y: Floats) -> None:
        pass


def average(y: Floats, weight: Floats | None) -> float:
    """The weighted mean, in double precision and without a copy."""
    if weight is None:
        return float(np.mean(y, dtype=np.float64))
    return float(np.einsum("i,i->", y, weight, dtype=np.float64) / np.sum(weight, dtype=np.float64))


def _classes(y: Floats) -> NDArray[np.intp]:
    return y.astype(np.intp)[:, None]


FAMILIES: dict[str, Family] = {
    family.name: family for family in (Gaussian(), Bernoulli(), Poisson(), Gamma(), Multinomial())
}
REGRESSION = ("gaussian", "poisson", "gamma")


def class_spread(target: Floats, weight: Floats, count: Floats | None) -> float:
    """How much more a row varies than its weight says, where class weights are a part of that.

    A weight of 20 because a class is rare is one row that pulls 20 times, not 20 rows: the variance of the gradient
    has its square, the Hessian has it once. ``count``: how many rows a row is. Both are taken of the intercept alone.
    """
    rows = np.ones(len(target)) if count is None else count.astype(np.float64)
    pull = np.divide(weight, rows, out=np.zeros(len(target)), where=rows > 0)
    shares = np.bincount(target.astype(np.intp), weight) / np.sum(weight, dtype=np.float64)
    missed = 1 - 2 * shares[target.astype(np.intp)] + np.sum(shares**2)
    return float(np.sum(rows * pull * missed * pull) / (np.sum(rows * pull) * (1 - np.sum(shares**2))))
