"""The best model whose curves have given shapes: a quadratic model with bounds, again and again.

Near a point the objective is its gradient there and a matrix; the minimiser of that model among all curves of the right
shape is where the next line search goes. The matrix begins as the sample's Hessian and learns from every step (BFGS),
so a few passes over all rows are enough, as without shapes. Curves between two of the right shape have it too: no step
leaves them. At the optimum the gradient is not zero but held off by bounds; what is left of it is measured by gamma:
its size where gamma is free, its negative part where gamma is zero.

The search moves gamma and never goes back to it from curves: differences of rounded values would no longer be zero
where a bound holds, and second differences of a thousand values are not even near.
"""

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from softbin.engines.threads import one_blas_thread
from softbin.linear.bounded import BoundedModel
from softbin.linear.curvature import Matrix
from softbin.linear.objective import Parameters
from softbin.linear.shapes import Bounds
from softbin.linear.solver import Call, Pass, Search, Stop, step

Row = NDArray[np.float64]


def minimise_shaped(
    call: Call,
    start: Parameters,
    hessian: Callable[[Parameters], Matrix],
    bounds: Bounds,
    stop: Stop,
    on_pass: Callable[[Pass], None],
    renew_every: int = 10,
) -> Search:
    """The minimiser among parameters (1 x n) inside the bounds; ``start`` may lie outside."""

    def call_inside(gamma: Parameters) -> tuple[float, Parameters]:
        value, gradient = call(bounds.leave(gamma[0])[None])
        return value, bounds.slopes(gradient[0])[None]

    def model_at(beta: Parameters) -> BoundedModel:
        with one_blas_thread():
            return BoundedModel(bounds.between(hessian(beta)), bounds.at_least_zero)

    began = time.perf_counter()
    model = model_at(start)
    inside = _start_inside(model, bounds.enter(start[0]), bounds.slopes(call(start)[1][0]), bounds)
    search = Search(inside, *call_inside(inside))
    while True:
        now = time.perf_counter()
        left = stop.size(remaining(search.parameters, search.gradient, bounds))
        search.history.append(Pass(search.value, left, now - began))
        on_pass(search.history[-1])
        began = now
        linear = model.times(search.parameters[0]) - search.gradient[0]
        direction = model.minimise(linear, search.parameters[0])[None] - search.parameters
        slope = float(direction[0] @ search.gradient[0])
        if left <= stop.tol and -slope <= stop.decrease * abs(search.value):
            search.converged = True
            break
        if search.n_iter >= stop.max_iter:
            break
        before = search.parameters[0], search.gradient[0]
        if not slope < 0 or not step(call_inside, search, direction, slope, stop):
            # Nothing lower is to be found: what is left is rounding.
            search.converged = left <= 10 * stop.tol
            break
        search.n_iter += 1
        if search.n_iter % renew_every == 0:
            model = model_at(bounds.leave(search.parameters[0])[None])
        else:
            model.learn(search.parameters[0] - before[0], search.gradient[0] - before[1])
    search.parameters = bounds.leave(search.parameters[0])[None]
    search.gradient = bounds.gradient(search.gradient[0])[None]
    return search


def _start_inside(model: BoundedModel, gamma: Row, slopes: Row, bounds: Bounds) -> Parameters:
    """The model's minimiser, while nothing is known yet of which bounds will hold."""
    linear = model.times(gamma) - slopes
    guess = model.block_by_block(linear, gamma, [form.values for form in bounds.forms])
    return model.minimise(linear, guess)[None]


def remaining(gamma: Parameters, slopes: Parameters, bounds: Bounds) -> Parameters:
    """The part of the slopes that no bound holds off."""
    at = bounds.at_least_zero
    held = at[gamma[0, at] == 0]
    result = slopes.copy()
    result[0, held] = np.minimum(result[0, held], 0)
    return result
