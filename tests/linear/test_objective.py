"""The objective: its gradient, its sums over blocks, and what weights do to it."""

from dataclasses import replace

import numpy as np
import pytest
from tests.linear.tables import encoder, mixed_table, objective_of, penalised, target, weights
from tests.same import assert_same_bits

from softbin import SoftBins
from softbin.linear import objective as module
from softbin.linear.families import FAMILIES
from softbin.linear.objective import row_scores

each_family = pytest.mark.parametrize("family", FAMILIES)
each_kind = pytest.mark.parametrize("kind", ["soft", "hard"])
X = mixed_table(400)


def random_parameters(objective, seed=0):
    shape = objective.n_outputs, objective.pieces.plan.n_levels + 1
    return 0.3 * np.random.default_rng(seed).normal(size=shape)


def assert_gradient(objective, parameters):
    """The gradient is the slope of the value, in every direction."""
    _, gradient = objective(parameters)
    slopes = np.empty_like(gradient)
    for at in np.ndindex(*gradient.shape):
        step = np.zeros_like(gradient)
        step[at] = 1e-5
        slopes[at] = (objective(parameters + step)[0] - objective(parameters - step)[0]) / 2e-5
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-6 * np.abs(gradient).max())


@each_family
@each_kind
@pytest.mark.parametrize("weighted", [False, True])
def test_the_gradient_is_that_of_the_value(family, kind, weighted):
    weight = weights(len(X)) if weighted else None
    objective = objective_of(X, target(X, family), family, encoder(kind), weight, ridge=0.7)
    assert_gradient(objective, random_parameters(objective))


def test_a_broken_gradient_is_noticed():
    objective = objective_of(X, target(X, "poisson"), "poisson", encoder("soft"))
    parameters = random_parameters(objective)

    def broken(at):
        value, gradient = objective(at)
        return value, gradient * np.where(np.arange(gradient.shape[1]) == 3, 1.001, 1)

    with pytest.raises(AssertionError):
        assert_gradient(broken, parameters)


@each_family
@each_kind
def test_the_value_is_that_on_the_encoded_matrix(family, kind):
    weight, y, bins = weights(len(X)), target(X, family), encoder(kind)
    objective = objective_of(X, y, family, bins, weight, ridge=0.7)
    parameters = random_parameters(objective)
    expected = penalised(bins.transform(X), parameters[:, :-1], parameters[:, -1], y, family, 0.7, weight)
    np.testing.assert_allclose(objective(parameters)[0], expected, rtol=1e-10)


@each_kind
def test_row_scores_are_the_encoded_matrix_times_the_coefficients(kind):
    bins = encoder(kind)
    objective = objective_of(X, target(X, "multinomial"), "multinomial", bins)
    parameters = random_parameters(objective)
    expected = bins.transform(X) @ parameters[:, :-1].T + parameters[:, -1]
    np.testing.assert_allclose(row_scores(objective, parameters), expected, rtol=1e-9, atol=1e-12)


@each_kind
def test_level_weights_are_the_column_sums_of_the_encoding(kind):
    weight, bins = weights(len(X)), encoder(kind)
    objective = objective_of(X, target(X, "gaussian"), "gaussian", bins, weight)
    np.testing.assert_allclose(objective.level_weights(), bins.transform(X).T @ weight, rtol=1e-9, atol=1e-9)


@each_family
def test_the_number_of_threads_leaves_no_trace(family):
    many = mixed_table(70_000, np.float32, seed=3)
    objectives = [
        objective_of(many, target(many, family), family, SoftBins(5), n_threads=n_threads) for n_threads in (1, 2, 3)
    ]
    found = [objective(random_parameters(objective)) for objective in objectives]
    for value, gradient in found[1:]:
        assert value == found[0][0]
        assert_same_bits(gradient, found[0][1])


def test_few_partial_sums_give_the_same_answer_as_many(monkeypatch):
    many = mixed_table(70_000, seed=3)
    objective = objective_of(many, target(many, "gaussian"), "gaussian", SoftBins(5))
    parameters = random_parameters(objective)
    value, gradient = objective(parameters)
    n_blocks = len(list(objective._blocks()))
    monkeypatch.setattr(module, "MOST_PARTIAL_SUMS", 1)
    assert len(list(objective._blocks())) < n_blocks
    again, same = objective(parameters)
    np.testing.assert_allclose(again, value, rtol=1e-12)
    np.testing.assert_allclose(same, gradient, rtol=1e-9, atol=1e-9)


@each_family
def test_weight_two_is_the_row_twice(family):
    y, twice = target(X, family), np.repeat(np.arange(len(X)), 1 + np.arange(len(X)) % 2)
    bins = SoftBins(5).fit(X)
    weighed = objective_of(
        X, y, family, SoftBins(edges=list(bins.bin_edges_), missing="level"), 1.0 + np.arange(len(X)) % 2
    )
    repeated = objective_of(X[twice], y[twice], family, SoftBins(edges=list(bins.bin_edges_), missing="level"))
    parameters = random_parameters(weighed)
    for got, expected in zip(weighed(parameters), repeated(parameters), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)


def test_scale_multiplies_the_losses_and_not_the_penalty():
    objective = objective_of(X, target(X, "gaussian"), "gaussian", SoftBins(5), ridge=2.0)
    parameters = random_parameters(objective)
    penalty = np.sum(parameters[:, :-1] ** 2)
    value, _ = objective(parameters)
    scaled, _ = replace(objective, scale=3.0)(parameters)
    np.testing.assert_allclose(scaled, 3 * (value - penalty) + penalty)
    assert_gradient(replace(objective, scale=3.0), parameters)


def test_rows_of_a_circle_are_moved_once_and_the_callers_table_not_at_all():
    hours = np.linspace(-30, 60, 200)[:, None]
    kept = hours.copy()
    objective = objective_of(hours, np.zeros(200), "gaussian", SoftBins(6, period={0: (0, 24)}))
    moved = objective.rows.table.columns[0]
    assert moved.min() >= 0
    assert moved.max() < 24
    assert_same_bits(hours, kept)
