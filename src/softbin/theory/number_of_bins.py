"""How many bins: the number that minimises squared bias plus variance.

With ``slope`` the integral of lambda'^2 and ``bend`` that of lambda''^2, both as ``knot_density.roughness`` has them
(for evenly spread values on [0, 1] and equal bins: just these integrals), n rows and noise variance s2,

    hard risk(K) = slope / (12 K^2) + K s2/n          best at K^3 = n slope / (6 s2),    risk ~ n^(-2/3)
    soft risk(K) = bend / (720 K^4) + (K+1) s2/n      best at K^5 = n bend / (180 s2),   risk ~ n^(-4/5)

Soft bins need few more when rows multiply: 32 times the rows, twice the bins. For 0/1 targets and a curve on the logit
scale the noise variance is 1/(p(1-p)); its mean over rows is close where p does not vary much.

The formulas hold where K is large enough for lambda to be nearly straight (nearly a parabola) in a bin. Where they ask
for fewer than about 4 soft bins they are extrapolations.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor, inf, isfinite

from softbin.theory.many_bins import HARD_BIAS, SOFT_BIAS


@dataclass(frozen=True)
class BestNumber:
    """``n_bins``: the best whole number; the risk is its. ``exact``: the best real one, before limits."""

    n_bins: int
    exact: float
    risk: float
    squared_bias: float
    variance: float


@dataclass(frozen=True)
class BestBins:
    """The best number of hard bins and of soft bins of one column."""

    hard: BestNumber
    soft: BestNumber

    @property
    def risk_ratio(self) -> float:
        """How many times the risk of soft bins hard bins have, each at its best."""
        return self.hard.risk / self.soft.risk if self.soft.risk else inf


def hard_bias(n_bins: float, slope: float) -> float:
    """The mean squared bias of hard bins."""
    return HARD_BIAS * slope / n_bins**2


def soft_bias(n_bins: float, bend: float) -> float:
    """The mean squared bias of soft bins."""
    return SOFT_BIAS * bend / n_bins**4


def best_n_bins(n: float, noise_variance: float, slope: float, bend: float, *, most: int | None = None) -> BestBins:
    """The best number of bins of one column, from 1 to ``most`` (``n`` unless given).

    ``n``: rows, or the sum of their weights. ``slope``, ``bend``: the two roughnesses. A column that is flat
    (straight) has one hard (soft) bin; without noise there are as many as allowed.

    >>> best = best_n_bins(n=10_000, noise_variance=1, slope=8.625, bend=112.2)
    >>> best.hard.n_bins, best.soft.n_bins, round(best.risk_ratio, 1)
    (24, 6, 4.4)
    """
    for name, value in (("n", n), ("noise_variance", noise_variance), ("slope", slope), ("bend", bend)):
        if not (isfinite(value) and value >= 0) or (name == "n" and value == 0):
            raise ValueError(
                f"{name}: {value} is no {'count of rows' if name == 'n' else 'number from 0 up'}; estimate it"
            )
    limit = max(1, int(n)) if most is None else most
    if limit < 1:
        raise ValueError(f"most: {most} allows no bin; pass at least 1")
    slope, bend, per_parameter = float(slope), float(bend), float(noise_variance / n)
    hard = _best(_root(2 * HARD_BIAS * slope, per_parameter, 3), lambda k: hard_bias(k, slope), per_parameter, 0, limit)
    soft = _best(_root(4 * SOFT_BIAS * bend, per_parameter, 5), lambda k: soft_bias(k, bend), per_parameter, 1, limit)
    return BestBins(hard, soft)


def _root(gain: float, per_parameter: float, power: int) -> float:
    if gain == 0:
        return 0.0
    return (gain / per_parameter) ** (1 / power) if per_parameter else inf


def _best(exact: float, bias: Callable[[float], float], per_parameter: float, more: int, limit: int) -> BestNumber:
    """``more``: how many parameters there are more than bins."""
    near = min(max(exact, 1.0), float(limit))
    best = min((floor(near), ceil(near)), key=lambda k: bias(k) + (k + more) * per_parameter)
    variance = (best + more) * per_parameter
    return BestNumber(best, exact, bias(best) + variance, bias(best), variance)
