"""Second derivatives on a sample: the Hessian, its inverses, and the subspace without idle directions."""

import numpy as np
import pytest
from tests.linear.tables import encoder, mixed_table, objective_of, target, weights

from softbin import SoftBins
from softbin.linear import curvature as module
from softbin.linear.curvature import (
    Centering,
    Sample,
    group_solver,
    level_groups,
    single_levels,
    two_level_solver,
)
from softbin.linear.families import FAMILIES

X = mixed_table(300)
each_kind = pytest.mark.parametrize("kind", ["soft", "hard"])


def prepared(family="bernoulli", kind="soft", ridge=1.0, **options):
    objective = objective_of(X, target(X, family), family, encoder(kind, **options), weights(len(X)), ridge)
    plan, total = objective.pieces.plan, objective.rows.total_weight
    centre = Centering.of(plan, objective.level_weights(), total, objective.n_outputs, True)
    shape = objective.n_outputs, plan.n_levels + 1
    return objective, centre, 0.3 * np.random.default_rng(0).normal(size=shape)


def hessian(objective, parameters, output=0):
    """Of one output, by central differences of the gradient."""
    n = parameters.shape[1]
    columns = []
    for at in range(n):
        step = np.zeros_like(parameters)
        step[output, at] = 1e-5
        difference = objective(parameters + step)[1] - objective(parameters - step)[1]
        columns.append(difference[output] / 2e-5)
    return np.array(columns)


@each_kind
@pytest.mark.parametrize("family", FAMILIES)
def test_gram_plus_ridge_is_the_hessian(kind, family):
    objective, _, parameters = prepared(family, kind)
    sample = Sample(objective)
    n_levels = objective.pieces.plan.n_levels
    for output in range(objective.n_outputs):
        weight = np.ascontiguousarray(sample.curvature(parameters)[:, output])
        got = sample.gram(weight, np.arange(n_levels))
        got[np.arange(n_levels), np.arange(n_levels)] += objective.penalty.diagonal()
        expected = hessian(objective, parameters, output)
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


@each_kind
def test_gram_of_groups_is_that_of_levels_summed(kind, monkeypatch):
    monkeypatch.setattr(module, "GROUPED_LEVELS", 12)
    objective, _, parameters = prepared("poisson", kind)
    sample = Sample(objective)
    weight = np.ascontiguousarray(sample.curvature(parameters)[:, 0])
    n_levels = objective.pieces.plan.n_levels
    group = level_groups(objective.pieces.plan).of_level
    assert group.max() + 1 < n_levels
    full = sample.gram(weight, np.arange(n_levels))
    collect = np.zeros((group.max() + 2, n_levels + 1))
    collect[np.append(group, group.max() + 1), np.arange(n_levels + 1)] = 1
    np.testing.assert_allclose(sample.gram(weight, group), collect @ full @ collect.T, rtol=1e-6, atol=1e-6)


def test_what_has_no_level_adds_to_the_intercept_only():
    objective, _, parameters = prepared("gaussian", missing="zero")
    sample = Sample(objective)
    n_levels = objective.pieces.plan.n_levels
    gram = sample.gram(np.ascontiguousarray(sample.curvature(parameters)[:, 0]), np.arange(n_levels))
    np.testing.assert_allclose(gram[-1, :-1], objective.level_weights(), rtol=1e-5)
    np.testing.assert_allclose(gram[-1, -1], objective.rows.total_weight)


@each_kind
@pytest.mark.parametrize("family", ["bernoulli", "multinomial"])
def test_centring_is_a_projection(kind, family):
    _, centre, parameters = prepared(family, kind)
    once = centre(parameters)
    np.testing.assert_allclose(centre(once), once, atol=1e-12)
    assert not np.allclose(once, parameters)
    other = np.random.default_rng(1).normal(size=parameters.shape)
    np.testing.assert_allclose(np.vdot(once, other), np.vdot(parameters, centre(other)), atol=1e-9)


def test_centred_columns_sum_to_zero_where_all_rows_have_a_level():
    objective, centre, parameters = prepared(missing="zero")
    centred, start = centre(parameters)[0], objective.pieces.plan.level_start
    sums = np.add.reduceat(centred[:-1], start[:-1])
    np.testing.assert_allclose(sums[[0, 2, 3, 4]], 0, atol=1e-12)
    first = slice(*start[1:3])  # the column that has missing values without a level
    np.testing.assert_array_equal(centred[first], parameters[0, first])


def test_classes_are_centred():
    _, centre, parameters = prepared("multinomial")
    np.testing.assert_allclose(centre(parameters).sum(axis=0), 0, atol=1e-12)


def test_without_an_intercept_only_the_intercept_is_fixed():
    objective, _, parameters = prepared()
    centre = Centering.of(objective.pieces.plan, objective.level_weights(), objective.rows.total_weight, 1, False)
    centred = centre(parameters)
    np.testing.assert_array_equal(centred[:, :-1], parameters[:, :-1])
    assert centred[0, -1] == 0


@each_kind
@pytest.mark.parametrize("family", ["gaussian", "bernoulli", "poisson", "gamma"])
def test_the_dense_solver_inverts_the_hessian(kind, family):
    objective, centre, parameters = prepared(family, kind)
    single = single_levels(objective.pieces.plan.n_levels)
    solve = group_solver(Sample(objective), parameters, centre, single)
    right = centre(np.random.default_rng(3).normal(size=parameters.shape))
    found = solve(right)
    np.testing.assert_allclose(centre((hessian(objective, parameters) @ found[0])[None]), right, atol=1e-4)


@each_kind
@pytest.mark.parametrize("family", ["gaussian", "bernoulli", "poisson", "gamma"])
def test_the_solver_of_groups_inverts_the_hessian_between_them(kind, family, monkeypatch):
    monkeypatch.setattr(module, "GROUPED_LEVELS", 12)
    objective, centre, parameters = prepared(family, kind)
    groups = level_groups(objective.pieces.plan)
    solve, middle = group_solver(Sample(objective), parameters, centre, groups), centre.of_groups(groups)
    matrix = groups.matrix @ hessian(objective, parameters) @ groups.matrix.T
    right = middle(np.random.default_rng(3).normal(size=(1, groups.count + 1)))
    np.testing.assert_allclose(middle((matrix @ solve(right)[0])[None]), right, atol=1e-4)


def test_spreading_over_groups_keeps_lengths_and_centring(monkeypatch):
    monkeypatch.setattr(module, "GROUPED_LEVELS", 12)
    objective, centre, _ = prepared()
    groups = level_groups(objective.pieces.plan)
    grouped = np.random.default_rng(2).normal(size=(2, groups.count + 1))
    spread = groups.spread(grouped)
    np.testing.assert_allclose(np.linalg.norm(spread), np.linalg.norm(grouped))
    np.testing.assert_allclose(groups.collect(spread), grouped)
    np.testing.assert_allclose(centre(spread), groups.spread(centre.of_groups(groups)(grouped)), atol=1e-12)


@each_kind
def test_level_sums_are_the_gram_matrix_beside_the_intercept(kind):
    objective, _, parameters = prepared("poisson", kind)
    sample = Sample(objective)
    weight = np.ascontiguousarray(sample.curvature(parameters)[:, 0])
    gram = sample.gram(weight, np.arange(objective.pieces.plan.n_levels))
    np.testing.assert_allclose(sample.level_sums(weight), gram[-1, :-1])


@each_kind
@pytest.mark.parametrize("n_groups", [12, 1200])
def test_the_two_level_solver_is_symmetric_and_positive(kind, n_groups, monkeypatch):
    monkeypatch.setattr(module, "GROUPED_LEVELS", n_groups)
    objective, centre, parameters = prepared("poisson", kind)
    groups = level_groups(objective.pieces.plan)
    weight = objective.level_weights()
    solve = two_level_solver(Sample(objective), parameters, centre, groups, weight)
    rng = np.random.default_rng(4)
    for _ in range(5):
        a, b = (centre(rng.normal(size=parameters.shape)) for _ in range(2))
        np.testing.assert_allclose(np.vdot(a, solve(b)), np.vdot(solve(a), b), rtol=1e-8, atol=1e-12)
        assert np.vdot(a, solve(a)) > 0


@pytest.mark.parametrize("n_bins", [1, 2, 50, 2000])
def test_groups_are_runs_of_neighbouring_levels_of_one_column(n_bins):
    rng = np.random.default_rng(5)
    plan = SoftBins(n_bins).fit(rng.normal(size=(3000, 3))).plan_
    group = level_groups(plan).of_level
    assert len(group) == plan.n_levels
    assert set(np.diff(group)) <= {0, 1}
    for start in plan.level_start[1:-1]:
        assert group[start] != group[start - 1]
    assert group.max() + 1 <= module.GROUPED_LEVELS


@pytest.mark.parametrize(
    "matrix", [np.zeros((3, 3)), np.ones((3, 3)), np.diag([1.0, 0.0, 1e-300]), np.diag([1e300, 1, 0])]
)
def test_singular_matrices_can_be_factorised(matrix):
    factor, _ = module.factorised(matrix)
    assert np.all(np.isfinite(np.diag(factor)))


@pytest.mark.parametrize("size", [1, 255, 257, 600])
def test_the_upper_half_is_mirrored(size):
    matrix = np.random.default_rng(6).normal(size=(size, size))
    np.testing.assert_array_equal(module.mirrored(matrix.copy()), np.triu(matrix) + np.triu(matrix, 1).T)
