"""Tables to start from: smooth functions of the knot, or noise.

A table of unrelated random rows has to be smoothed by training before the network sees the column as a number again,
and with many bins it never is. So the first coordinate starts as the *normal score* of the knot (what a network without
bins is fed), the others as low-frequency cosines of it,

    E[knot, 0] = z(knot)          E[knot, i] = SCALE cos(a_i z(knot) + b_i)

with a_i from FREQUENCIES and any phase b_i, per column. On a circle, whose knots have no order, the first two are sine
and cosine of the angle, the others its harmonics. Missing values and special codes start at zero and small noise.

z is chosen so that each bin has the mean score of the rows in it. Below the first inner knot, with share p of the rows
and score q = Phi^-1(p), that mean is -phi(q) / p, and the first knot lies where the straight line gives it:
2 (-phi(q) / p) - q. The same above the last one.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from softbin.boundaries.boundaries import Boundaries
from softbin.encodings.plan import Levels, Plan
from softbin.errors import OptionError

Floats = NDArray[np.float64]
SCALE = 0.2
FREQUENCIES = (0.3, 1.5)  # radians per unit of the normal score
ONE_BIN = 3**0.5  # ends of a single bin: uniform between them has mean zero and variance one
LEAST_SHARE = 1e-12


def start_table(init: str, plan: Plan, dim: int, rng: np.random.Generator) -> Floats:
    """Levels x dim."""
    if init not in STARTS:
        raise OptionError(f"init: {init!r} is not one of {', '.join(map(repr, STARTS))}")
    return STARTS[init](plan, dim, rng)


def random_start(plan: Plan, dim: int, rng: np.random.Generator) -> Floats:
    """Rows that have nothing to do with each other."""
    return rng.uniform(-1, 1, (plan.n_levels, dim)) / np.sqrt(dim)


def smooth_start(plan: Plan, dim: int, rng: np.random.Generator) -> Floats:
    """Rows that are a smooth function of their knot."""
    return np.concatenate([_smooth_rows(levels, dim, rng) for levels in plan.columns])


STARTS: dict[str, Callable[[Plan, int, np.random.Generator], Floats]] = {
    "smooth": smooth_start,
    "random": random_start,
}


def normal_scores(levels: Levels) -> Floats:
    """A score per bin or knot of a column: standard normal over the training rows."""
    b = levels.boundaries
    if levels.n_regular < 2:
        return np.zeros(levels.n_regular)
    share = _shares(b)
    below = np.clip(np.cumsum(share)[:-1], LEAST_SHARE, 1 - LEAST_SHARE)
    if not levels.soft:
        return _means(below, share)
    if len(below) == 0:
        return np.array([-ONE_BIN, ONE_BIN])
    inner = ndtri(below)
    first = -2 * _density(inner[0]) / below[0] - inner[0]
    last = 2 * _density(inner[-1]) / (1 - below[-1]) - inner[-1]
    # Why: shares of nothing give equal scores, and an increasing column should start increasing.
    return np.maximum.accumulate(np.concatenate([[first], inner, [last]]))


def _means(below: Floats, share: Floats) -> Floats:
    """The mean score of every bin: (phi(left) - phi(right)) / share, or the middle of a bin without rows."""
    cuts = np.concatenate([[-np.inf], ndtri(below), [np.inf]])
    density = _density(cuts)
    finite = np.nan_to_num(cuts, posinf=cuts[-2], neginf=cuts[1])
    middle = (finite[1:] + finite[:-1]) / 2
    full = share > 1e-6
    return np.where(full, (density[:-1] - density[1:]) / np.where(full, share, 1), middle)


def _shares(b: Boundaries) -> Floats:
    weight = np.array(b.weight)
    return weight / weight.sum() if weight.sum() > 0 else np.full(b.n_bins, 1 / b.n_bins)


def _density(score: Any) -> Any:
    return np.exp(-np.square(score) / 2) / np.sqrt(2 * np.pi)


def _smooth_rows(levels: Levels, dim: int, rng: np.random.Generator) -> Floats:
    phase = rng.uniform(0, 2 * np.pi, dim)
    frequency = rng.uniform(*FREQUENCIES, dim)
    noise = SCALE * rng.normal(size=(levels.count, dim))
    rows = _round_a_circle(levels, dim, phase) if levels.wraps else _along_scores(levels, frequency, phase)
    alone = noise[levels.n_regular :]
    alone[:, 0] = 0
    return np.concatenate([rows, alone])


def _along_scores(levels: Levels, frequency: Floats, phase: Floats) -> Floats:
    score = normal_scores(levels)
    rows = SCALE * np.cos(score[:, None] * frequency + phase)
    rows[:, 0] = score
    return rows


def _round_a_circle(levels: Levels, dim: int, phase: Floats) -> Floats:
    b = levels.boundaries
    assert b.period is not None
    low, high = b.period
    angle = 2 * np.pi * (np.array(b.edges[:-1]) - low) / (high - low)
    rows = SCALE * np.cos(angle[:, None] * (1 + np.arange(dim) // 2) + phase)
    for i, wave in zip(range(dim), (np.sin, np.cos), strict=False):
        rows[:, i] = np.sqrt(2) * wave(angle)
    return rows
