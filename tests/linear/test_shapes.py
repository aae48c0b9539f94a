"""Curves of a given shape: that they have it, exactly, and are the best of all that do."""

import time

import numpy as np
import pytest
from tests.linear.tables import encoder, mixed_table, model_of, penalised_loss, target

from softbin import HardBins, LinearClassifier, LinearRegressor, MultiBins, SoftBins
from softbin.errors import OptionError
from softbin.linear import fit as fit_module
from softbin.linear.shapes import Bounds, exactly, read_shapes

X = mixed_table(600)
FOUR = ["gaussian", "bernoulli", "poisson", "gamma"]
SHAPES = ["increasing", "decreasing", "convex", "concave"]


def has_shape(edges, values, shape, soft, slack=0.0):
    if shape in ("increasing", "decreasing"):
        return np.all(np.diff(values) * (1 if shape == "increasing" else -1) >= -slack)
    at = edges if soft else (edges[1:] + edges[:-1]) / 2
    bends = np.diff(np.diff(values) / np.diff(at)) * np.ptp(at)
    return np.all(bends * (1 if shape == "convex" else -1) >= -slack)


@pytest.mark.parametrize("family", FOUR)
@pytest.mark.parametrize("kind", ["soft", "hard"])
@pytest.mark.parametrize("shape", SHAPES)
def test_curves_have_the_shape(shape, kind, family):
    y = target(X, family)
    wanted = {0: shape, 1: shape, 2: shape}
    model = model_of(family, encoder(kind), monotonic=wanted).fit(X, y)
    assert model.converged_
    for column in wanted:
        curve = model.curve(column)
        slack = 1e-8 if shape in ("convex", "concave") else 0.0
        assert has_shape(curve.knots, curve.values, shape, kind == "soft", slack)
    plain = model_of(family, encoder(kind)).fit(X, y)
    assert not has_shape(plain.curve(0).knots, plain.curve(0).values, shape, kind == "soft")
    assert penalised_loss(model, X, y, family) >= penalised_loss(plain, X, y, family)


@pytest.mark.parametrize("family", FOUR)
@pytest.mark.parametrize("kind", ["soft", "hard"])
@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_of_the_shape_is_better(shape, kind, family):
    """Convex problem: along every line to another curve of the shape the objective rises."""
    y = target(X, family)
    model = model_of(family, encoder(kind), monotonic={0: shape}, tol=1e-8).fit(X, y)
    bounds = Bounds.of(model.encoder_.plan_, (shape, None, None, None, None))
    best, rng = penalised_loss(model, X, y, family), np.random.default_rng(0)
    here = bounds.enter(np.append(model.coef_, 0))
    for size in (1e-3, 1e-2, 0.1):
        for _ in range(30):
            gamma = here + size * rng.normal(size=here.shape)
            at = bounds.at_least_zero
            gamma[at] = np.maximum(gamma[at], 0)
            saved = model.coef_
            model.coef_ = bounds.leave(gamma)[:-1]
            assert penalised_loss(model, X, y, family) >= best - 1e-9 * abs(best)
            model.coef_ = saved


@pytest.mark.parametrize("family", FOUR)
@pytest.mark.parametrize("smoothness", [None, 0.1])
def test_a_curve_of_the_shape_already_stays_what_it_is(family, smoothness):
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(3000, 2))
    score = 3 * x[:, 0] ** 2 - 1
    y = {
        "gaussian": lambda: score + 0.1 * rng.normal(size=3000),
        "bernoulli": lambda: (rng.random(3000) < 1 / (1 + np.exp(-2 * score))).astype(float),
        "poisson": lambda: rng.poisson(np.exp(score)).astype(float),
        "gamma": lambda: rng.gamma(5, np.exp(score)),
    }[family]()
    plain = model_of(family, "soft:5", smoothness=smoothness, tol=1e-8).fit(x, y)
    assert np.all(np.diff(plain.curve(0).values) > 0)
    shaped = model_of(family, "soft:5", smoothness=smoothness, tol=1e-8, monotonic={0: "increasing"}).fit(x, y)
    np.testing.assert_allclose(shaped.coef_, plain.coef_, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bins", [SoftBins(20), HardBins(20), MultiBins((5, 20), soft=True, keep=1.0)])
@pytest.mark.parametrize("smoothness", [None, "auto"])
def test_predictions_rise_with_every_value(smoothness, bins, dtype):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(4000, 2)).astype(dtype)
    y = rng.random(4000) < 1 / (1 + np.exp(-np.sin(2 * x[:, 0]) - x[:, 1]))
    model = LinearClassifier(bins, monotonic={0: "increasing"}, smoothness=smoothness).fit(x, y)
    at = np.zeros((5000, 2), dtype)
    at[:, 0] = np.sort(rng.normal(size=5000) * 2)
    scores = model.decision_function(at)
    last_digits = 8 * np.finfo(dtype).eps * np.abs(scores).max()
    assert np.diff(scores).min() >= -last_digits
    assert np.all(np.diff(model.curve(0).values) >= 0)


def test_on_a_sample(monkeypatch):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(40_000, 3))
    y = rng.random(40_000) < 1 / (1 + np.exp(-np.sin(2 * x[:, 0]) - x[:, 1]))
    wanted = {0: "increasing", 1: "increasing"}
    whole = LinearClassifier("soft:30", monotonic=wanted, tol=1e-8).fit(x, y)
    monkeypatch.setattr(fit_module, "SAMPLE_ROWS", 4000)
    part = LinearClassifier("soft:30", monotonic=wanted, tol=1e-8).fit(x, y)
    assert part.converged_
    np.testing.assert_allclose(part.coef_, whole.coef_, atol=1e-4)
    assert part.n_iter_ <= 2 * LinearClassifier("soft:30", tol=1e-8).fit(x, y).n_iter_ + 2


@pytest.mark.parametrize("bins", [SoftBins(1000), HardBins(1000)])
@pytest.mark.parametrize("shape", ["increasing", "convex", "concave"])
def test_very_many_bins(shape, bins):
    """Second differences of a thousand rounded values are not near zero where a bound holds: fits once got lost."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(20_000, 1))
    y = rng.random(20_000) < 1 / (1 + np.exp(-np.sin(3 * x[:, 0])))
    model = LinearClassifier(bins, monotonic={0: shape}).fit(x, y)
    assert model.converged_
    assert has_shape(model.curve(0).knots, model.curve(0).values, shape, isinstance(bins, SoftBins), 1e-6)
    few = LinearClassifier(type(bins)(10), monotonic={0: shape}).fit(x, y)
    assert model.history_[-1].objective <= 1.005 * few.history_[-1].objective


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("soft", [True, False])
def test_forms_are_matrices(shape, soft):
    """Sums and differences along columns, and the square matrix they stand for."""
    plan = (SoftBins(8) if soft else HardBins(8)).fit(X[:, :2]).plan_
    bounds = Bounds.of(plan, (None, shape))
    n = plan.n_levels + 1
    T = np.stack([bounds.leave(row) for row in np.eye(n)], axis=1)
    rng = np.random.default_rng(0)
    beta, M = rng.normal(size=n), rng.normal(size=(n, n))
    np.testing.assert_allclose(T @ bounds.enter(beta), beta, atol=1e-10)
    np.testing.assert_allclose(bounds.slopes(beta), T.T @ beta, atol=1e-10)
    np.testing.assert_allclose(bounds.gradient(bounds.slopes(beta)), beta, atol=1e-10)
    np.testing.assert_allclose(bounds.between(M.copy()), T.T @ M @ T, atol=1e-10)
    gamma = rng.normal(size=n)
    gamma[bounds.at_least_zero] = rng.exponential(size=len(bounds.at_least_zero))
    levels = plan.columns[1]
    values = bounds.leave(gamma)[plan.level_start[1] :][: levels.n_regular]
    assert has_shape(np.array(levels.boundaries.edges), values, shape, soft, 1e-10)
    assert not has_shape(np.array(levels.boundaries.edges), -values, shape, soft, 1e-10)


def test_the_last_digits_are_cut_off():
    plan = SoftBins(3).fit(X[:, [0]]).plan_
    values = np.array([0.0, 1.0, 1.0 - 1e-16, 2.0, 5.0])
    assert np.all(np.diff(exactly(values, plan, ["increasing"])[:4]) >= 0)
    assert not np.all(np.diff(values[:4]) >= 0)


def test_columns_by_name_and_shapes_that_are_none():
    plan = encoder("soft").fit(X).plan_
    assert read_shapes({"x1": "convex", 0: "decreasing"}, plan) == ("decreasing", "convex", None, None, None)
    for bad in ("increasing", {0: "up"}, {0: 1}, {9: "increasing"}, {4: "increasing"}):
        with pytest.raises(OptionError):
            read_shapes(bad, plan)


def test_several_classes_and_very_many_levels_have_no_shapes(monkeypatch):
    with pytest.raises(OptionError, match="monotonic: there are 3 classes"):
        LinearClassifier("soft:5", monotonic={0: "increasing"}).fit(X, target(X, "multinomial"))
    monkeypatch.setattr("softbin.linear.model.DENSE_LEVELS", 10)
    with pytest.raises(OptionError, match="monotonic: at most 10 levels"):
        LinearRegressor("soft:5", monotonic={0: "increasing"}).fit(X, target(X, "gaussian"))


@pytest.mark.timing
@pytest.mark.parametrize("columns", [2, 20])
def test_shapes_cost_at_most_twice_the_fit_without(columns):
    """Both in turn, the best of each; two columns of many once cost six times as much."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=(20_000, 20))
    y = rng.random(20_000) < 1 / (1 + np.exp(-np.sin(2 * x[:, 0]) - x[:, 1]))
    bins = SoftBins(100).fit(x)
    models = [
        LinearClassifier(bins, monotonic=shapes) for shapes in (None, dict.fromkeys(range(columns), "increasing"))
    ]
    seconds = np.array([[_seconds(model, x, y) for model in models] for _ in range(4)])
    without, within = seconds.min(axis=0)
    assert within <= 2 * without


def _seconds(model, x, y):
    began = time.perf_counter()
    model.fit(x, y)
    return time.perf_counter() - began
