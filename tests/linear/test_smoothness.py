"""The penalty on bends: what is free, what it is worth, and how it is asked for."""

import numpy as np
import pytest
from tests.linear.tables import encoder, mixed_table, model_of, target

from softbin import HardBins, LinearClassifier, LinearRegressor, MultiBins, SoftBins
from softbin.errors import OptionError
from softbin.linear import fit as fit_module
from softbin.linear import model as model_module
from softbin.linear.smoothness import column_bends, differences

X = mixed_table(600)


def wave(n_rows=3000, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (n_rows, 2))
    return x, np.sin(4 * x[:, 0]) + 0.3 * rng.normal(size=n_rows)


@pytest.mark.parametrize("kind", ["soft", "hard"])
def test_what_costs_nothing(kind):
    plan = encoder(kind).fit(X).plan_
    for levels, bends in zip(plan.columns, column_bends(plan), strict=True):
        free = np.ones(levels.count)
        if kind == "soft" and not levels.wraps:
            free[: levels.n_regular] += 3 * np.array(levels.boundaries.edges)
        free[levels.n_regular :] = 7  # special and missing
        np.testing.assert_allclose(bends.matrix @ free, 0, atol=1e-9)
        assert np.linalg.matrix_rank(bends.matrix.toarray()) == bends.rank
        not_free = levels.n_regular - 1 - (kind == "soft" and not levels.wraps)
        assert bends.rank == max(not_free, 0)


def test_a_circle_goes_round():
    plan = SoftBins(edges={0: [0, 6, 12, 18, 24]}, period={0: (0, 24)}).fit(X[:, [4]]).plan_
    bends = differences(plan.columns[0])[0].toarray()
    for shift in range(4):
        np.testing.assert_allclose(np.roll(bends, (shift, shift), (0, 1)), bends)


@pytest.mark.parametrize("n_bins", [10, 40, 160])
@pytest.mark.parametrize(("kind", "expected"), [(SoftBins, 4.0), (HardBins, 4 / 3)])
def test_a_strength_means_the_same_for_any_number_of_bins(kind, expected, n_bins):
    edges = np.linspace(-5, 20, n_bins + 1)
    plan = kind(edges={0: edges}).fit(X[:, [0]]).plan_
    levels = plan.columns[0]
    at = edges if levels.soft else (edges[1:] + edges[:-1]) / 2
    square = ((at + 5) / 25) ** 2  # f'' = 2 and f' = 2 u
    cost = np.sum((differences(levels)[0][:, : levels.n_regular] @ square) ** 2)
    np.testing.assert_allclose(cost, expected, rtol=3 / n_bins)


def test_unequal_knots_are_half_way_between_bins_and_values():
    plan = SoftBins(edges={0: [0.0, 1, 2, 12, 22]}).fit(X[:, [0]]).plan_
    rows = differences(plan.columns[0])[0].toarray()
    narrow, wide = rows[0, 1], rows[2, 3]
    assert narrow / wide == pytest.approx(10**0.75)
    assert rows[1, 2] == pytest.approx(np.sqrt(narrow * wide))


@pytest.mark.parametrize("family", ["gaussian", "bernoulli", "poisson", "gamma", "multinomial"])
@pytest.mark.parametrize("kind", ["soft", "hard"])
def test_more_strength_bends_less(kind, family):
    y = target(X, family)
    roughness, edf = [], []
    for strength in (0.0, 0.01, 1.0, 1e4):
        model = model_of(family, encoder(kind), smoothness=strength).fit(X, y)
        assert model.converged_
        bends = column_bends(model.encoder_.plan_)
        coef = np.atleast_2d(model.coef_)
        roughness.append(sum(np.sum((coef[:, b.levels] @ b.matrix) * coef[:, b.levels]) for b in bends))
        edf.append(model.edf_.sum())
    assert np.all(np.diff(roughness) < 0)
    assert np.all(np.diff(edf) < 0)
    assert roughness[-1] < 1e-3 * roughness[0]


def test_none_and_zero_are_the_same_fit():
    y = target(X, "bernoulli")
    plain, zero = (LinearClassifier("soft:6", smoothness=s).fit(X, y) for s in (None, 0))
    np.testing.assert_array_equal(plain.coef_, zero.coef_)
    assert plain.smoothness_ is None
    assert plain.edf_ is None


def test_columns_by_name_and_position():
    x, y = wave()
    model = LinearRegressor("soft:20", smoothness={1: 1e4}).fit(x, y)
    np.testing.assert_array_equal(model.smoothness_, [0, 1e4])
    assert model.edf_[0] > 19
    assert model.edf_[1] < 1.1


def test_every_granularity_has_a_strength_of_its_own():
    x, y = wave()
    model = LinearRegressor(MultiBins((5, 20), soft=True, keep=1.0), smoothness="auto").fit(x, y)
    assert model.smoothness_.shape == model.edf_.shape == (len(model.grid_),)
    assert model.score(x, y) > 0.8
    curve = model.curve(0, 0.95)
    assert curve.lower.shape == curve.values.shape == curve.knots.shape


@pytest.mark.parametrize("bad", ["some", -1, np.inf, np.nan, True, [1, 2], {0: "auto"}, {0: -1}])
def test_strengths_that_are_none(bad):
    x, y = wave(100)
    with pytest.raises(OptionError, match="smoothness"):
        LinearRegressor("soft:5", smoothness=bad).fit(x, y)


def test_many_levels(monkeypatch):
    x, y = wave(5000)
    expected = LinearRegressor("soft:100", smoothness=0.01, tol=1e-9).fit(x, y)
    monkeypatch.setattr(fit_module, "DENSE_LEVELS", 50)
    monkeypatch.setattr(model_module, "DENSE_LEVELS", 50)
    found = LinearRegressor("soft:100", smoothness=0.01, tol=1e-9).fit(x, y)
    assert found.converged_
    assert found.n_iter_ < 25
    np.testing.assert_allclose(found.predict(x), expected.predict(x), atol=1e-6)
    assert found.edf_ is None
    with pytest.raises(OptionError, match="more than 50 levels"):
        found.curve(0, 0.95)
    with pytest.raises(OptionError, match=r'"auto" is for at most 50 levels.*; take 22 bins'):
        LinearRegressor("soft:100", smoothness="auto").fit(x, y)


def test_a_band_needs_standard_errors_and_a_share():
    x, y = wave(200)
    with pytest.raises(OptionError, match="smoothness=None"):
        LinearRegressor("soft:5").fit(x, y).curve(0, 0.95)
    model = LinearRegressor("soft:5", smoothness=0).fit(x, y)
    for bad in (95, 0.0, 1.0, "wide"):
        with pytest.raises(OptionError, match="confidence"):
            model.curve(0, bad)
    assert model.curve(0).lower is None


@pytest.mark.parametrize("family", ["bernoulli", "multinomial"])
def test_bands_have_the_shape_of_the_curve(family):
    model = model_of(family, encoder("soft"), smoothness=0.1).fit(X, target(X, family))
    for column in range(5):
        curve = model.curve(column, 0.9)
        assert curve.lower.shape == curve.upper.shape == curve.values.shape
        assert np.all(curve.lower < curve.upper)
        assert set(curve.special_band) == set(curve.special)
        assert (curve.missing_band is None) == (curve.missing is None)
    narrow, wide = (model.curve(0, c) for c in (0.5, 0.99))
    assert np.all(wide.upper > narrow.upper)


@pytest.mark.parametrize("stretch", [1e-310, 1e-20, 1e20, 1e307])
def test_the_size_of_a_column_does_not_matter(stretch):
    x, y = wave(500)
    near, far = (LinearRegressor("soft:20", smoothness="auto").fit(part, y) for part in (x, x * stretch))
    np.testing.assert_allclose(far.edf_, near.edf_, atol=0.01)
    np.testing.assert_allclose(far.predict(x * stretch), near.predict(x), atol=1e-3)


@pytest.mark.parametrize("power", [3, 8, 20, 100])
def test_long_tails_leave_the_crowd_its_bends(power):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3000, 2))
    truth = np.sin(2 * x[:, 0])
    y = truth + rng.normal(size=3000)
    model = LinearRegressor("soft:100", smoothness="auto").fit(np.exp(power * x), y)
    assert model.converged_
    assert np.mean((model.predict(np.exp(power * x)) - truth) ** 2) < 40 / 3000  # degrees of freedom, over rows


@pytest.mark.parametrize("smoothness", ["auto", 0.1])
def test_a_column_without_bins_costs_nothing(smoothness):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 3))
    model = LinearClassifier(MultiBins((5, 20, 50)), smoothness=smoothness).fit(x, np.sin(2 * x[:, 0]) > 0)
    left_out = set(range(3)) - set(model.encoder_.plan_.source)
    assert left_out  # the better half of all pairs are those of one or two columns
    for column in range(3):
        assert len(model.curve(column, 0.95).lower) == (0 if column in left_out else len(model.curve(column).values))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("strength", [1e5, 1e8, 1e12, 1e300])
@pytest.mark.parametrize(("family", "n_bins"), [("gaussian", 10), ("bernoulli", 100)])
def test_a_strength_of_any_size_leaves_straight_lines(family, n_bins, strength, dtype):
    x, y = wave()
    x, y = x.astype(dtype), y if family == "gaussian" else (y > 0) * 1.0
    line = model_of(family, "soft:1", ridge=1e-9).fit(x, y)
    model = model_of(family, f"soft:{n_bins}", ridge=1e-9, smoothness=strength).fit(x, y)
    assert model.converged_
    assert model.n_iter_ < 10
    np.testing.assert_allclose(model.edf_, 1, atol=1e-2)
    scores = [m.predict(x) if family == "gaussian" else m.decision_function(x) for m in (model, line)]
    np.testing.assert_allclose(*scores, atol=2e-3)
    np.testing.assert_array_equal(model.smoothness_, strength)


@pytest.mark.parametrize("strength", [1e5, 1e12, 1e300])
@pytest.mark.parametrize("options", [{"monotonic": {0: "increasing"}}, {}])
def test_strengths_of_any_size_with_shapes_and_many_levels(options, strength, monkeypatch):
    if not options:
        monkeypatch.setattr(fit_module, "DENSE_LEVELS", 50)
    x, y = wave()
    line, model = (
        LinearRegressor(f"soft:{n}", smoothness=s, **options).fit(x, y) for n, s in ((1, 0), (100, strength))
    )
    assert model.converged_
    np.testing.assert_allclose(model.predict(x), line.predict(x), atol=0.02)


def test_auto_with_a_thousand_knots_converges():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(5000, 1))
    model = LinearRegressor("soft:1000", smoothness="auto").fit(x, 0.5 * x[:, 0] + rng.normal(size=5000))
    assert model.converged_
    assert model.edf_[0] < 2
