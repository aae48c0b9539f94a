"""L-BFGS around a good inverse of the Hessian, one pass over the rows per iteration.

Step 1 is nearly always right, because the preconditioner is a Hessian; where it is not, the line search goes back
until the objective falls. The best point seen is what comes out, converged or not.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from softbin.linear.curvature import Solve
from softbin.linear.objective import Parameters

Call = Callable[[Parameters], tuple[float, Parameters]]

MEMORY = 40  # with 300,000 levels twelve pairs take twice the passes
MOST_STEPS_BACK = 25


@dataclass(frozen=True)
class Pass:
    """One pass over the rows: the objective and the largest gradient entry per unit of weight at an accepted point."""

    objective: float
    gradient: float
    seconds: float


@dataclass(frozen=True)
class Stop:
    """When to stop: gradient per unit of weight, relative decrease that a Newton step promises, iterations."""

    tol: float
    decrease: float
    max_iter: int
    total_weight: float
    noise: float  # relative rounding noise of the objective
    free: Callable[[Parameters], Parameters] = lambda gradient: gradient  # what of a gradient can be followed

    def size(self, gradient: Parameters) -> float:
        return float(np.max(np.abs(self.free(gradient)), initial=0.0)) / self.total_weight


@dataclass
class Search:
    """Where the search stands."""

    parameters: Parameters
    value: float
    gradient: Parameters
    converged: bool = False
    n_iter: int = 0
    history: list[Pass] = field(default_factory=list)


def minimise(
    call: Call,
    start: Parameters,
    inverse: Solve,
    stop: Stop,
    on_pass: Callable[[Pass], None],
    renew: Callable[[Parameters], Solve] | None = None,
    renew_every: int = 10,
) -> Search:
    """The minimiser near ``start``; ``renew`` makes a new inverse Hessian every ``renew_every`` iterations."""
    began = time.perf_counter()
    search = Search(start, *call(start))
    pairs: deque[tuple[Parameters, Parameters]] = deque(maxlen=MEMORY)
    while True:
        now = time.perf_counter()
        search.history.append(Pass(search.value, stop.size(search.gradient), now - began))
        on_pass(search.history[-1])
        began = now
        direction = -_two_loop(search.gradient, pairs, inverse)
        slope = inner(direction, search.gradient)
        if stop.size(search.gradient) <= stop.tol and -slope <= stop.decrease * abs(search.value):
            search.converged = True
            return search
        if search.n_iter >= stop.max_iter:
            return search
        if not slope < 0:
            pairs.clear()
            direction = -inverse(search.gradient)
            slope = inner(direction, search.gradient)
        before = search.parameters, search.gradient
        if not step(call, search, direction, slope, stop):
            # Nothing lower is to be found along a descent direction: what is left is rounding.
            search.converged = stop.size(search.gradient) <= 10 * stop.tol
            return search
        search.n_iter += 1
        moved, bent = search.parameters - before[0], search.gradient - before[1]
        if inner(moved, bent) > 1e-12 * float(np.linalg.norm(moved) * np.linalg.norm(bent)):
            pairs.append((moved, bent))
        if renew is not None and search.n_iter % renew_every == 0:
            inverse = renew(search.parameters)
            pairs.clear()


def _two_loop(gradient: Parameters, pairs: deque[tuple[Parameters, Parameters]], inverse: Solve) -> Parameters:
    rest = gradient.copy()
    shares = []
    for moved, bent in reversed(pairs):
        share = inner(moved, rest) / inner(moved, bent)
        rest -= share * bent
        shares.append(share)
    result = inverse(rest)
    for (moved, bent), share in zip(pairs, reversed(shares), strict=True):
        result += (share - inner(bent, result) / inner(moved, bent)) * moved
    return result


def inner(a: Parameters, b: Parameters) -> float:
    """Why not vdot: a BLAS sums long vectors with threads of its own, in an order of their own."""
    return float(np.einsum("ij,ij->", a, b))


def step(call: Call, search: Search, direction: Parameters, slope: float, stop: Stop) -> bool:
    """Moves the search to a lower point along the direction; False if there is none."""
    noise = stop.noise * abs(search.value)
    length = 1.0
    for _ in range(MOST_STEPS_BACK):
        point = search.parameters + length * direction
        value, gradient = call(point)
        lower = value <= search.value + 1e-4 * length * slope
        # Below the noise of the objective only the gradient can tell: it must have become flatter.
        level = value <= search.value + noise and abs(inner(gradient, direction)) <= 0.5 * abs(slope)
        if np.isfinite(value) and np.all(np.isfinite(gradient)) and (lower or level):
            search.parameters, search.value, search.gradient = point, value, gradient
            return True
        fit = value - search.value - length * slope
        best = -slope * length**2 / (2 * fit) if np.isfinite(fit) and fit > 0 else 0.0
        length = min(max(best, 0.1 * length), 0.5 * length)
    return False
