"""A whole fit: a start on a sample, its Hessian, then a few passes over all rows."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbin.linear.curvature import (
    DENSE_LEVELS,
    Centering,
    Sample,
    Solve,
    group_solver,
    level_groups,
    single_levels,
    two_level_solver,
)
from softbin.linear.families import Family, Floats
from softbin.linear.objective import Objective, Parameters, Rows, prepare_rows
from softbin.linear.penalties import ridge
from softbin.linear.pieces import Pieces
from softbin.linear.solver import Pass, Stop, minimise
from softbin.linear.units import needs_double, to_units
from softbin.values.tables import Table

SAMPLE_ROWS = 60_000
ROUNDING = {4: 3e-8, 8: 1e-14}


@dataclass(frozen=True)
class FitOptions:
    """How to fit."""

    ridge: float
    fit_intercept: bool
    tol: float
    max_iter: int
    seed: int | None
    n_threads: int


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A fitted model (outputs x (levels + 1), the intercept last), and how it came about."""

    parameters: Parameters
    level_weight: NDArray[np.float64]
    history: list[Pass]
    n_iter: int
    converged: bool

    @property
    def coef(self) -> Parameters:
        return self.parameters[:, :-1].copy()

    @property
    def intercept(self) -> Parameters:
        return self.parameters[:, -1].copy()


def fit_table(
    table: Table,
    target: Floats,
    weight: Floats | None,
    pieces: Pieces,
    family: Family,
    n_outputs: int,
    options: FitOptions,
    start: Parameters | None = None,
    on_pass: Callable[[Pass], None] = lambda _: None,
) -> LinearFit:
    """The best model of a table, from ``start`` or from a sample; found in its own units, told in the caller's."""
    units, target, weight = to_units(family, target, weight, options.fit_intercept)
    if table.dtype == np.float32 and needs_double(family, target, weight):
        table = table.widened()
    rows = prepare_rows(table, pieces.plan, target, weight)
    inside = replace(options, ridge=options.ridge / units.penalty)
    begin = None if start is None else units.enter(start)
    fit = fit_rows(rows, pieces, family, n_outputs, inside, begin, lambda done: on_pass(units.of_pass(done)))
    history = [units.of_pass(done) for done in fit.history]
    return replace(fit, parameters=units.leave(fit.parameters), history=history)


def fit_rows(
    rows: Rows,
    pieces: Pieces,
    family: Family,
    n_outputs: int,
    options: FitOptions,
    start: Parameters | None,
    on_pass: Callable[[Pass], None],
) -> LinearFit:
    """The minimiser of the objective, from ``start`` (outputs x (levels + 1)) or from a sample."""
    penalty = ridge(options.ridge, pieces.plan.n_levels)
    objective = Objective(rows, pieces, family, penalty, n_outputs, options.n_threads)
    total = rows.total_weight
    level_weight = objective.level_weights()
    centre = Centering.of(pieces.plan, level_weight, total, n_outputs, options.fit_intercept)
    begin = _null_model(rows, pieces, family, n_outputs, options.fit_intercept) if start is None else start
    sample = Sample(_sample_objective(objective, options.seed))
    noise = ROUNDING[rows.table.dtype.itemsize]
    dense = pieces.plan.n_levels <= DENSE_LEVELS
    groups = single_levels(pieces.plan.n_levels) if dense else level_groups(pieces.plan)
    # Why only with a whole Hessian: the grouped one does not know what is left to gain.
    stop = Stop(options.tol, 0.02 * options.tol if dense else np.inf, options.max_iter, total, noise)

    def invert(parameters: Parameters) -> Solve:
        if dense:
            return group_solver(sample, parameters, centre, groups)
        return two_level_solver(sample, parameters, centre, groups, level_weight)

    def centred(call: Objective) -> Callable[[Parameters], tuple[float, Parameters]]:
        def evaluate(parameters: Parameters) -> tuple[float, Parameters]:
            value, gradient = call(parameters)
            return value, centre(gradient)

        return evaluate

    begin = centre(begin)
    n_rows, n_sample = rows.table.n_rows, sample.objective.rows.table.n_rows
    if start is None and n_sample < n_rows:
        begin = _start_on_sample(sample, begin, centre, replace(stop, tol=max(options.tol, 1e-5)))
    inverse = invert(begin)
    every = 6 if n_sample == n_rows else 12
    search = minimise(centred(objective), begin, inverse, stop, on_pass, invert if dense else None, every)
    return LinearFit(search.parameters, level_weight, search.history, search.n_iter, search.converged)


def _null_model(rows: Rows, pieces: Pieces, family: Family, n_outputs: int, fit_intercept: bool) -> Parameters:
    begin = np.zeros((n_outputs, pieces.plan.n_levels + 1))
    if fit_intercept:
        begin[:, -1] = family.start(rows.target, rows.weight)
    return begin


def _start_on_sample(sample: Sample, begin: Parameters, centre: Centering, stop: Stop) -> Parameters:
    """The sample's best model of which neighbouring levels share a coefficient: finer ones it could not tell apart."""
    groups = level_groups(sample.objective.pieces.plan)
    middle = centre.of_groups(groups)

    def call(grouped: Parameters) -> tuple[float, Parameters]:
        value, gradient = sample.objective(groups.spread(grouped))
        return value, middle(groups.collect(gradient))

    inverse = group_solver(sample, begin, centre, groups)
    rough = replace(stop, decrease=np.inf, max_iter=30)
    return groups.spread(minimise(call, groups.collect(begin), inverse, rough, lambda _: None).parameters)


def _sample_objective(objective: Objective, seed: int | None) -> Objective:
    """The objective of a sample, weighted up to all rows; of all rows where they are few. No class gets lost in it."""
    rows = objective.rows
    n_rows = rows.table.n_rows
    if n_rows <= SAMPLE_ROWS:
        return objective
    rng = np.random.default_rng(seed)
    if objective.family.name not in ("bernoulli", "multinomial"):
        chosen = np.sort(rng.integers(n_rows, size=SAMPLE_ROWS))
        return replace(objective, rows=rows.take(chosen), scale=n_rows / SAMPLE_ROWS)
    parts, multipliers = [], []
    n_classes = max(2, objective.n_outputs)
    for label in range(n_classes):
        count = int(np.count_nonzero(rows.target == label))
        size = min(count, max(SAMPLE_ROWS * count // n_rows, SAMPLE_ROWS // (4 * n_classes)))
        parts.append(_draw(rows.target, label, count, size, rng))
        multipliers.append(np.full(size, count / max(size, 1)))
    order = np.argsort(np.concatenate(parts), kind="stable")
    taken = rows.take(np.concatenate(parts)[order])
    weight = np.concatenate(multipliers)[order] * (1 if taken.weight is None else taken.weight)
    return replace(objective, rows=replace(taken, weight=weight.astype(rows.table.dtype)))


def _draw(
    target: NDArray[np.floating[Any]], label: int, count: int, size: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """``size`` random rows of a class (all of them, if they are no more), without a list of all its members."""
    if 10 * count < len(target) or 2 * size > count:
        members = np.flatnonzero(target == label)
        return members if size == len(members) else members[rng.integers(len(members), size=size)]
    found = np.zeros(0, np.intp)
    while len(found) < size:
        drawn = rng.integers(len(target), size=2 * size * len(target) // count)
        found = np.append(found, drawn[target[drawn] == label])
    return found[:size]
