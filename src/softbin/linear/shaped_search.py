"""The best model whose curves have given shapes: a quadratic model with bounds, again and again.

Near a point the objective is its gradient there and a matrix M; the minimiser of that model among all curves of the
right shape is where the next line search goes. M begins as the sample's Hessian and learns from every step (BFGS), so
a few passes over all rows are enough, as without shapes. Curves between two of the right shape have it too: no step
leaves them. At the optimum the gradient is not zero but held off by bounds; what is left of it is measured by gamma:
its size where gamma is free, its negative part where gamma is zero.
"""

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from softbin.engines.threads import one_blas_thread
from softbin.linear.bounded import minimise_bounded
from softbin.linear.curvature import Matrix
from softbin.linear.objective import Parameters
from softbin.linear.shapes import Bounds
from softbin.linear.solver import Call, Pass, Search, Stop, step

Row = NDArray[np.float64]

HELD = 1e-12  # of the largest gamma: below that, it is zero but for rounding


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
    began = time.perf_counter()
    M = hessian(start)
    inside = best_inside(M, start, call(start)[1], bounds, first=True)
    search = Search(inside, *call(inside))
    while True:
        now = time.perf_counter()
        left = stop.size(remaining(search.parameters, search.gradient, bounds))
        search.history.append(Pass(search.value, left, now - began))
        on_pass(search.history[-1])
        began = now
        direction = best_inside(M, search.parameters, search.gradient, bounds) - search.parameters
        slope = float(direction[0] @ search.gradient[0])
        if left <= stop.tol and -slope <= stop.decrease * abs(search.value):
            search.converged = True
            return search
        if search.n_iter >= stop.max_iter:
            return search
        before = search.parameters, search.gradient
        if not slope < 0 or not step(call, search, direction, slope, stop):
            # Nothing lower is to be found: what is left is rounding.
            search.converged = left <= 10 * stop.tol
            return search
        search.n_iter += 1
        if search.n_iter % renew_every == 0:
            M = hessian(search.parameters)
        else:
            _learn(M, search.parameters[0] - before[0][0], search.gradient[0] - before[1][0])


def best_inside(
    M: Matrix, parameters: Parameters, gradient: Parameters, bounds: Bounds, *, first: bool = False
) -> Parameters:
    """The minimiser of the quadratic model inside the bounds. ``first``: nothing is known yet of which will hold."""
    gamma = bounds.enter(parameters[0])
    with one_blas_thread():
        G = bounds.between(M)
        linear = bounds.slopes(M @ parameters[0] - gradient[0])
    if first:
        gamma = column_by_column(G, linear, gamma, bounds)
    gamma[gamma <= HELD * np.max(np.abs(gamma), initial=0.0)] = 0
    return bounds.leave(minimise_bounded(G, linear, bounds.at_least_zero, gamma))[None]


def column_by_column(G: Matrix, linear: Row, gamma: Row, bounds: Bounds) -> Row:
    """Every column's best gamma, the others given: cheap, and most of its bounds hold in the end."""
    gamma = gamma.copy()
    for levels, _, _ in bounds.parts:
        at = bounds.at_least_zero
        own = at[(at >= levels.start) & (at < levels.stop)] - levels.start
        inner = G[levels, levels]
        gamma[levels] = minimise_bounded(inner, linear[levels] - G[levels] @ gamma + inner @ gamma[levels], own)
    return gamma


def remaining(parameters: Parameters, gradient: Parameters, bounds: Bounds) -> Parameters:
    """The part of the gradient by gamma that no bound holds off."""
    gamma, slopes = bounds.enter(parameters[0]), bounds.slopes(gradient[0])
    at = bounds.at_least_zero
    held = at[gamma[at] <= HELD * np.max(np.abs(gamma), initial=0.0)]
    slopes[held] = np.minimum(slopes[held], 0)
    return slopes[None]


def _learn(M: Matrix, moved: Row, bent: Row) -> None:
    """BFGS: afterwards M moved is bent."""
    if moved @ bent <= 1e-12 * float(np.linalg.norm(moved) * np.linalg.norm(bent)):
        return
    expected = M @ moved
    M -= np.outer(expected, expected / (moved @ expected))
    M += np.outer(bent, bent / (moved @ bent))
