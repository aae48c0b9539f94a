"""A whole fit: a start on a sample, its Hessian, then a few passes over all rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from softbin.encodings.plan import Plan
from softbin.engines.threads import one_blas_thread
from softbin.linear.curvature import (
    DENSE_LEVELS,
    Centering,
    Matrix,
    Sample,
    Solve,
    group_hessians,
    group_solver,
    level_groups,
    single_levels,
    two_level_solver,
)
from softbin.linear.families import Family, Floats
from softbin.linear.objective import Objective, Parameters, Rows, prepare_rows
from softbin.linear.penalties import ridge, smooth
from softbin.linear.pieces import Pieces
from softbin.linear.reml import (
    Dispersion,
    Posterior,
    Quadratic,
    Waves,
    find_strengths,
    posterior,
    quadratic_at,
    solver,
)
from softbin.linear.shaped_search import minimise_shaped
from softbin.linear.shapes import Bounds, Shape, exactly
from softbin.linear.smoothness import Bends, column_bends
from softbin.linear.solver import Pass, Search, Stop, minimise
from softbin.linear.stiff import flattest, hold
from softbin.linear.units import Units, needs_double, to_units
from softbin.values.tables import Table

SAMPLE_ROWS = 60_000
MOST_TURNS = 5
HESSIANS = 3  # of these turns have one of their own
STEPS = 8  # with the strengths of a turn, at most
ROUGHLY = 1e-4  # decrease left, of the objective, where the next turn begins
CLOSE = 0.02  # change of a column's degrees of freedom, and five more of them, that needs no other turn
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
    smoothness: Floats | None = None  # one strength per column of the plan; NaN where it is to be found
    shapes: tuple[Shape | None, ...] = ()  # one per column of the plan; empty where no column has one
    spread: float = 1.0  # the variance of a row, over what its weight says

    @property
    def finds_smoothness(self) -> bool:
        return self.smoothness is not None and bool(np.isnan(self.smoothness).any())


@dataclass(frozen=True, eq=False)
class Smoothness:
    """How smooth every column of the plan was made and what that left of it.

    ``covariance``: per table column and output, that of the coefficients of all its plan columns, one behind the
    other, in squares of ``unit`` (a standard error may be a number where its square is none). None where there are too
    many levels for a whole Hessian; so are the degrees of freedom.
    """

    strengths: Floats
    edf: Floats | None
    covariance: list[list[NDArray[np.float64]]] | None
    unit: float = 1.0


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A fitted model (outputs x (levels + 1), the intercept last), and how it came about."""

    parameters: Parameters
    level_weight: NDArray[np.float64]
    history: list[Pass]
    n_iter: int
    converged: bool
    smoothness: Smoothness | None = None

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
    known = None if family.name in ("gaussian", "gamma") else options.spread / units.penalty
    inside = replace(options, ridge=options.ridge / units.penalty)
    if options.smoothness is not None:
        inside = replace(inside, smoothness=options.smoothness / units.penalty)
    begin = None if start is None else units.enter(start)
    problem = Problem.of(rows, pieces, family, n_outputs, inside, Dispersion(known, 1 / units.weight))
    fit = problem.fit(begin, lambda done: on_pass(units.of_pass(done)))
    history = [units.of_pass(done) for done in fit.history]
    smoothness = None if fit.smoothness is None else _outside(fit.smoothness, units)
    return replace(fit, parameters=units.leave(fit.parameters), history=history, smoothness=smoothness)


def _outside(found: Smoothness, units: Units) -> Smoothness:
    return replace(found, strengths=found.strengths * units.penalty, unit=units.slope)


@dataclass(frozen=True, eq=False)
class Problem:
    """All that a fit works with, in units of its own."""

    objective: Objective
    sample: Sample
    level_weight: NDArray[np.float64]
    centre: Centering
    free: Centering  # the centre, without what is too stiff to move
    stop: Stop
    options: FitOptions
    dispersion: Dispersion

    @classmethod
    def of(
        cls,
        rows: Rows,
        pieces: Pieces,
        family: Family,
        n_outputs: int,
        options: FitOptions,
        dispersion: Dispersion,
    ) -> "Problem":
        n_levels = pieces.plan.n_levels
        objective = Objective(rows, pieces, family, ridge(options.ridge, n_levels), n_outputs, options.n_threads)
        total = rows.total_weight
        level_weight = objective.level_weights()
        centre = Centering.of(pieces.plan, level_weight, total, n_outputs, options.fit_intercept)
        sample = Sample(_sample_objective(objective, options.seed))
        noise = ROUNDING[rows.table.dtype.itemsize]
        # Why only with a whole Hessian: the grouped one does not know what is left to gain.
        decrease = 0.02 * options.tol if n_levels <= DENSE_LEVELS else np.inf
        stop = Stop(options.tol, decrease, options.max_iter, total, noise)
        return cls(objective, sample, level_weight, centre, centre, stop, options, dispersion)

    @property
    def plan(self) -> Plan:
        return self.objective.pieces.plan

    @property
    def dense(self) -> bool:
        """Whether a whole Hessian fits."""
        return self.plan.n_levels <= DENSE_LEVELS

    def fit(self, start: Parameters | None, on_pass: Callable[[Pass], None]) -> LinearFit:
        """The minimiser of the objective, from ``start`` (outputs x (levels + 1)) or from a sample."""
        if start is not None:
            begin = self.centre(start)
        else:
            begin = self._null() if self.options.finds_smoothness else self._start()
        with one_blas_thread():  # the same bits on any number of cores
            search, smoothness = self._fit_from(begin, on_pass)
        return LinearFit(
            search.parameters, self.level_weight, search.history, search.n_iter, search.converged, smoothness
        )

    def _fit_from(self, begin: Parameters, on_pass: Callable[[Pass], None]) -> tuple[Search, Smoothness | None]:
        strengths = self.options.smoothness
        if strengths is None:
            return self.finish(begin, on_pass), None
        if self.options.finds_smoothness:
            return self._fit_auto(begin, on_pass)
        waves = self.waves if self.dense else None
        smooth_problem = self.with_strengths(strengths, begin, waves)
        search = smooth_problem.finish(smooth_problem.free(begin), on_pass)
        return search, smooth_problem.uncertainty(search, strengths, waves)

    def minimise(
        self,
        begin: Parameters,
        on_pass: Callable[[Pass], None],
        stop: Stop | None = None,
        inverse: Solve | None = None,
    ) -> Search:
        """From a centred point, with the inverse Hessian there where it is known."""
        groups = single_levels(self.plan.n_levels) if self.dense else level_groups(self.plan)

        def invert(parameters: Parameters) -> Solve:
            if self.dense:
                return group_solver(self.sample, parameters, self.free, groups)
            return two_level_solver(self.sample, parameters, self.centre, groups, self.level_weight)

        renew = invert if self.dense else None
        return minimise(
            self.centred_call, begin, inverse or invert(begin), stop or self.stop, on_pass, renew, self.renew_every
        )

    def finish(self, begin: Parameters, on_pass: Callable[[Pass], None], inverse: Solve | None = None) -> Search:
        """The optimum, among curves of the shapes that were asked for."""
        if not self.options.shapes:
            return self.minimise(begin, on_pass, None, inverse)
        single = single_levels(self.plan.n_levels)

        def hessian(parameters: Parameters) -> Matrix:
            return group_hessians(self.sample, parameters, self.centre.of_groups(single), single)[0]

        bounds = Bounds.of(self.plan, self.options.shapes)
        search = minimise_shaped(self.centred_call, begin, hessian, bounds, self.stop, on_pass, self.renew_every)
        found = exactly(self.centre(search.parameters)[0], self.plan, self.options.shapes)
        return replace(search, parameters=found[None])

    def centred_call(self, parameters: Parameters) -> tuple[float, Parameters]:
        """The objective and its gradient along the directions that are not idle."""
        value, gradient = self.objective(parameters)
        return value, self.centre(gradient)

    @property
    def renew_every(self) -> int:
        """Iterations between Hessians: one of all rows is worth more than one of a sample."""
        whole = self.sample.objective.rows.table.n_rows == self.objective.rows.table.n_rows
        return 6 if whole else 12

    @property
    def bends(self) -> list[Bends]:
        return column_bends(self.plan)

    @property
    def waves(self) -> list[Waves]:
        return [Waves.of(bends) for bends in self.bends]

    def with_strengths(self, strengths: Floats, near: Parameters, waves: Sequence[Waves] | None) -> "Problem":
        """The same with a price on bends; ``near``: where about the optimum is."""
        pull, free = self.sample.pull(near), self.centre
        if waves is None or self.options.shapes:
            parts = zip(self.bends, strengths.tolist(), strict=True)
            costs = [flattest(bends, strength, pull) * bends.matrix for bends, strength in parts]
        else:
            costs, free = hold(self.centre, self.bends, waves, strengths, pull)
        penalty = smooth(self.options.ridge, costs)
        objective, sample = replace(self.objective, penalty=penalty), self.sample.with_penalty(penalty)
        return replace(self, objective=objective, sample=sample, free=free, stop=replace(self.stop, free=free))

    def _null(self) -> Parameters:
        """The best model of the intercept alone."""
        o = self.objective
        return self.centre(_null_model(o.rows, o.pieces, o.family, o.n_outputs, self.options.fit_intercept))

    def _start(self) -> Parameters:
        """The best model of a sample; of the intercept alone where the sample is all rows."""
        o, begin = self.objective, self._null()
        if self.sample.objective.rows.table.n_rows == o.rows.table.n_rows:
            return begin
        return _start_on_sample(self.sample, begin, self.centre, replace(self.stop, tol=max(self.stop.tol, 1e-5)))

    def _fit_auto(self, begin: Parameters, on_pass: Callable[[Pass], None]) -> tuple[Search, Smoothness]:
        """Better strengths and rough fits in turn, then the fit with the last of them.

        Trap: the first strengths must not be read from a fit without any. Where rows are few for the levels it follows
        the noise, its Hessian knows little of curves, and strengths found there leave every column as rough as it was.
        """
        waves = self.waves
        search = Search(begin, *self.centred_call(begin))
        problem, history, n_iter = self, [], 0
        model: Quadratic | None = None
        strengths, edf = np.zeros(0), np.full(len(waves), np.inf)
        rough = replace(self.stop, tol=np.inf, decrease=ROUGHLY, max_iter=min(STEPS, self.stop.max_iter))
        for turn in range(MOST_TURNS):
            model = problem.quadratic(search, waves, model if turn >= HESSIANS else None)
            strengths, found = find_strengths(model, strengths) if turn else find_strengths(model.as_spread())
            problem = self.with_strengths(strengths, search.parameters, waves)
            inverse = solver(model, strengths, problem.free)
            begin = problem.free(search.parameters)
            if turn == MOST_TURNS - 1 or np.all(np.abs(found - edf) <= CLOSE * (5 + found)):
                break
            edf = found
            search = problem.minimise(begin, on_pass, replace(rough, free=problem.free), inverse)
            history += search.history
            n_iter += search.n_iter
        search = problem.finish(begin, on_pass, inverse)
        search.history = history + search.history
        search.n_iter += n_iter
        return search, problem.uncertainty(search, strengths, waves, model)

    def quadratic(self, search: Search, waves: Sequence[Waves], known: Quadratic | None = None) -> Quadratic:
        """The loss near where a search stands; with the Hessians of a ``known`` one, if there is any."""
        price = np.zeros_like(search.parameters)
        price[:, :-1] = self.objective.penalty.gradient(search.parameters[:, :-1])
        gradient = search.gradient - self.centre(price)
        if known is not None:
            return known.moved(search.parameters, gradient, self.centre)
        return quadratic_at(
            self.sample, search.parameters, gradient, self.centre, waves, self.options.ridge, self.dispersion
        )

    def uncertainty(
        self, search: Search, strengths: Floats, waves: Sequence[Waves] | None = None, known: Quadratic | None = None
    ) -> Smoothness:
        """Degrees of freedom and covariances at the optimum."""
        if waves is None:
            return Smoothness(strengths, None, None)
        groups = columns_of_tables(self.plan)
        found = posterior(self.quadratic(search, waves, known), strengths, groups)
        return Smoothness(strengths, found.edf, _covariances(found, waves, groups))


def columns_of_tables(plan: Plan) -> list[list[int]]:
    """Of every table column: the columns of the plan that read it."""
    return [[j for j, at in enumerate(plan.source) if at == column] for column in range(plan.n_table_columns)]


def _covariances(
    found: Posterior, waves: Sequence[Waves], groups: Sequence[Sequence[int]]
) -> list[list[NDArray[np.float64]]]:
    """Per group of columns and output: the covariance of the coefficients."""
    result = []
    for number, group in enumerate(groups):
        back = block_diag(*(waves[j].vectors[:, found.kept[j]] for j in group)) if group else np.zeros((0, 0))
        with one_blas_thread():
            result.append([found.scale * back @ blocks[number] @ back.T for blocks in found.blocks])
    return result


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
