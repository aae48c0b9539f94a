"""A fit in units of its own: targets and weights near one, whatever they were.

float32 has seven digits and ends at 3e38, and a fit sums in it. So targets are centred and scaled and weights scaled
before the fit, and coefficients, objective and gradient put back after it. With w = weight w' and

    gaussian    y = shift + scale t,  score = shift + scale s,  loss(y) = scale^2 loss(t)
    poisson     y = scale t,          score = s + log(scale),   loss(y) = scale (loss(t) - t log(scale))
    gamma       y = scale t,          score = s + log(scale),   loss(y) = loss(t) + log(scale)

the optimum is the same. Scales are powers of two, so a float64 keeps its digits. A shift of the score needs an
intercept to go to: without one, and for classes, only the weights are scaled.

Where one row pulls as much as thousands of others, seven digits are too few for these: ``needs_double``.
"""

from dataclasses import dataclass, replace

import numpy as np

from softbin.linear.families import Family, Floats, average
from softbin.linear.objective import Parameters
from softbin.linear.solver import Pass

MOST_SPREAD = 1e4  # of a row's pull over that of a usual row, for sums in float32
LARGEST = 1e30


@dataclass(frozen=True)
class Units:
    """What was taken out: y = shift + scale t, parameters = slope parameters' + (0, ..., 0, offset), w = weight w'.

    A loss is ``loss`` times that in these units, an objective ``constant`` more; ``penalty`` is the unit of ridge.
    """

    weight: float = 1.0
    shift: float = 0.0
    scale: float = 1.0
    slope: float = 1.0
    offset: float = 0.0
    loss: float = 1.0
    constant: float = 0.0
    penalty: float = 1.0  # weight loss / slope^2, which may be a number where these are not

    def enter(self, parameters: Parameters) -> Parameters:
        """Parameters in these units."""
        inside = parameters / self.slope
        inside[:, -1] -= self.offset / self.slope
        return inside

    def leave(self, parameters: Parameters) -> Parameters:
        """Parameters in the caller's units."""
        outside = parameters * self.slope
        outside[:, -1] += self.offset
        return outside

    def of_pass(self, done: Pass) -> Pass:
        """A pass as the caller sees it; the gradient stays one per unit of weight and of target."""
        with np.errstate(over="ignore"):
            cost = np.float64(self.weight) * self.loss
            return replace(done, objective=float(done.objective * cost + self.constant))


def to_units(
    family: Family, target: Floats, weight: Floats | None, fit_intercept: bool
) -> tuple[Units, Floats, Floats | None]:
    """The units in which these targets and weights are near one, and the two in them."""
    unit = 1.0
    if weight is not None:
        largest = power_of_two(float(np.max(weight)))
        unit = largest * power_of_two(average(weight / largest, None))
        weight = weight / unit
    units = Units(weight=unit, penalty=unit)
    if family.name == "gaussian":
        shift, scale = _place(target, weight, fit_intercept)
        with np.errstate(over="ignore"):
            loss = float(np.float64(scale) ** 2)
        units = replace(units, shift=shift, scale=scale, slope=scale, offset=shift, loss=loss)
    elif family.name in ("poisson", "gamma") and fit_intercept:
        units = _of_positive(units, family.name, target, weight)
    if (units.shift, units.scale) != (0.0, 1.0):
        target = (target - units.shift) / units.scale
    return units, target, weight


def needs_double(family: Family, target: Floats, weight: Floats | None) -> bool:
    """Whether sums in float32 would lose rows beside the heaviest (targets and weights in units of the fit)."""
    if weight is not None and np.min(weight) < 1 / LARGEST:
        return True
    if family.name in ("bernoulli", "multinomial"):
        if weight is None:
            return False
        pull = weight
    else:
        pull = (1 + np.abs(target)) * (1 if weight is None else weight)
    largest = float(np.max(pull))
    return largest > LARGEST or largest > MOST_SPREAD * float(np.mean(np.sqrt(pull))) ** 2


def power_of_two(number: float) -> float:
    """The power of two next to a positive number; 1 for anything else."""
    return float(2.0 ** np.clip(np.round(np.log2(number)), -1000, 1000)) if number > 0 and np.isfinite(number) else 1.0


def _place(target: Floats, weight: Floats | None, free: bool) -> tuple[float, float]:
    """Mean (if it is free) and spread of a target of any size."""
    largest = power_of_two(float(np.max(np.abs(target))))
    near_one = target / largest
    mean = average(near_one, weight) if free else 0.0
    spread = float(np.sqrt(average((near_one - mean) ** 2, weight)))
    return mean * largest, power_of_two(spread) * largest


def _of_positive(units: Units, family: str, target: Floats, weight: Floats | None) -> Units:
    largest = power_of_two(float(np.max(target)))
    mean = average(target / largest, weight)
    scale = largest * power_of_two(mean)
    rows = float(len(target)) if weight is None else float(np.sum(weight))
    offset = float(np.log(scale))
    if family == "gamma":
        return replace(units, scale=scale, offset=offset, constant=units.weight * rows * offset)
    moved = units.weight * scale * rows * (mean * largest / scale) * offset
    return replace(units, scale=scale, offset=offset, loss=scale, constant=-moved, penalty=units.weight * scale)
