"""Strengths by restricted likelihood, degrees of freedom and bands, against dense linear algebra by definition."""

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.optimize import minimize
from tests.linear.tables import encoder, mixed_table, model_of, target, weights

from softbin import LinearClassifier, LinearRegressor
from softbin.linear import fit as fit_module
from softbin.linear.families import FAMILIES
from softbin.linear.reml import Quadratic

X = mixed_table(600)


def chords(edges, half_way=0.75):
    """The second differences of knots, by definition: distance of a knot from the chord of its neighbours."""
    n = len(edges) - 1
    rows = np.zeros((max(n - 1, 0), n + 1))
    for k in range(1, n):
        before, after = edges[k] - edges[k - 1], edges[k + 1] - edges[k]
        worth = (np.sqrt(before * after) / ((edges[-1] - edges[0]) / n)) ** -half_way
        line = np.array([after, 0, before]) / (before + after)
        rows[k - 1, k - 1 : k + 2] = 2 * n**1.5 * worth * (np.array([0, 1, 0]) - line)
    return rows


def price(model, strengths):
    """The penalty's matrix, by definition, for soft bins without specials."""
    parts = [s * chords(b.edges).T @ chords(b.edges) for s, b in zip(strengths, model.grid_, strict=True)]
    return block_diag(*parts, 0)


@pytest.mark.parametrize("family", ["gaussian", "bernoulli", "poisson", "gamma"])
def test_a_given_strength_is_penalised_least_squares_again_and_again(family):
    x, w = X[:, [0, 3, 4]], weights(len(X))
    y, strengths = target(X, family), np.array([0.03, 1.0, 0.3])
    model = model_of(family, "soft:12", smoothness=dict(enumerate(strengths)), ridge=0.5, tol=1e-9)
    model.fit(x, y, sample_weight=w)
    B = np.column_stack([model.encoder_.transform(x).toarray(), np.ones(len(x))])
    K = price(model, strengths) + np.diag(np.append(np.full(B.shape[1] - 1, 0.5), 0))
    beta = np.append(np.zeros(B.shape[1] - 1), FAMILIES[family].start(y, w))
    for _ in range(40):
        score = (B @ beta)[:, None]
        residual = FAMILIES[family].residual(score, y)[:, 0] * w
        H = B.T @ (B * (FAMILIES[family].curvature(score, y) * w[:, None]))
        beta = beta - np.linalg.solve(H + K, B.T @ residual + K @ beta)
    np.testing.assert_allclose(np.ravel(model.coef_), beta[:-1], atol=2e-5)
    V = np.linalg.inv(H + K)
    shares = np.diag(V @ H)
    start = model.encoder_.plan_.level_start
    np.testing.assert_allclose(model.edf_, np.add.reduceat(shares[:-1], start[:-1]), rtol=1e-3)
    dispersion = 1.0
    if family in ("gaussian", "gamma"):
        squares = FAMILIES[family].residual(B @ beta[:, None], y)[:, 0] ** 2
        dispersion = np.sum(w * squares) / (w.sum() - shares.sum())
    levels = slice(*start[:2])
    centre = np.eye(13) - (w @ B)[levels] / w.sum()
    error = np.sqrt(dispersion * np.diag(centre @ V[levels, levels] @ centre.T))
    curve = model.curve(0, 0.95)
    np.testing.assert_allclose((curve.upper - curve.lower) / 2 / 1.959964, error, rtol=2e-3)


def test_auto_is_the_best_restricted_likelihood():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(300, 2))
    y = np.sin(2 * x[:, 0]) + 0.5 * x[:, 1] ** 2 + 0.4 * rng.normal(size=300)
    model = LinearRegressor("soft:12", smoothness="auto", ridge=1e-8).fit(x, y)
    # Columns that sum to zero, as the intercept stands for their constants.
    B = model.encoder_.transform(x).toarray()
    basis = np.linalg.qr(np.column_stack([np.ones(13), np.eye(13)[:, :12]]))[0][:, 1:]
    whole = block_diag(basis, basis, 1)
    D = np.column_stack([B, np.ones(300)]) @ whole

    def criterion(logs):
        """-2 log of the restricted likelihood, the variance profiled out; two slopes and the intercept are free."""
        K = whole.T @ price(model, np.exp(logs)) @ whole
        beta = np.linalg.solve(D.T @ D + K, D.T @ y)
        cost = np.sum((y - D @ beta) ** 2) + beta @ K @ beta
        sizes = np.linalg.eigvalsh(K)[3:]
        return (300 - 3) * np.log(cost) + np.linalg.slogdet(D.T @ D + K)[1] - np.sum(np.log(sizes))

    found = np.log(model.smoothness_)
    grid = np.linspace(-14, 6, 41)
    rough = min(((a, b) for a in grid for b in grid), key=criterion)
    best = minimize(criterion, rough, method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-8})
    assert criterion(found) - best.fun < 2e-3
    np.testing.assert_allclose(found, best.x, atol=0.1)


@pytest.mark.parametrize("family", ["gaussian", "bernoulli", "poisson", "gamma"])
def test_auto_is_a_fixed_point_of_fellner_and_schall(family):
    rng = np.random.default_rng(4)
    x = rng.normal(size=(4000, 2))
    score = np.sin(2 * x[:, 0]) + 0.3 * x[:, 1] ** 2
    y = {
        "gaussian": lambda: score + rng.normal(size=4000),
        "bernoulli": lambda: (rng.random(4000) < 1 / (1 + np.exp(-score))).astype(float),
        "poisson": lambda: rng.poisson(np.exp(0.3 * score)).astype(float),
        "gamma": lambda: rng.gamma(2, np.exp(0.3 * score)) + 1e-3,
    }[family]()
    model = model_of(family, "soft:15", smoothness="auto", ridge=1e-6, tol=1e-8).fit(x, y)
    B = np.column_stack([model.encoder_.transform(x).toarray(), np.ones(len(x))])
    beta = np.append(model.coef_, model.intercept_)
    H = B.T @ (B * FAMILIES[family].curvature(B @ beta[:, None], y))
    K = price(model, model.smoothness_)
    V = np.linalg.inv(H + K + 1e-6 * np.eye(len(K)))
    dispersion = 1.0
    if family in ("gaussian", "gamma"):
        squares = FAMILIES[family].residual(B @ beta[:, None], y)[:, 0] ** 2
        dispersion = squares.sum() / (len(x) - np.trace(V @ H))
    for j, strength in enumerate(model.smoothness_):
        S = price(model, np.eye(2)[j])
        again = dispersion * (14 - strength * np.trace(V @ S)) / (beta @ S @ beta)
        assert again / strength == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("family", ["gaussian", "bernoulli"])
def test_lines_become_lines_and_nothing_becomes_a_line(family):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(3000, 3))
    score = 0.8 * x[:, 0] + np.cos(3 * x[:, 2])
    y = score + rng.normal(size=3000) if family == "gaussian" else rng.random(3000) < 1 / (1 + np.exp(-score))
    model = model_of(family, "soft:30", smoothness="auto").fit(x, np.asarray(y, float))
    assert model.edf_[0] < 2.5
    assert model.edf_[1] < 2.5
    assert model.edf_[2] > 5
    assert np.all(np.isfinite(model.smoothness_))


def test_a_sample_leads_to_nearly_the_same_strengths(monkeypatch):
    rng = np.random.default_rng(6)
    x = rng.normal(size=(40_000, 3))
    y = rng.random(40_000) < 1 / (1 + np.exp(-np.sin(2 * x[:, 0]) - x[:, 1]))
    whole = LinearClassifier("soft:30", smoothness="auto").fit(x, y)
    monkeypatch.setattr(fit_module, "SAMPLE_ROWS", 4000)
    part = LinearClassifier("soft:30", smoothness="auto").fit(x, y)
    np.testing.assert_allclose(part.edf_, whole.edf_, atol=0.7)
    np.testing.assert_allclose(part.predict_proba(x), whole.predict_proba(x), atol=0.01)


@pytest.mark.parametrize("family", ["gaussian", "bernoulli"])
def test_bands_cover_the_truth_as_often_as_they_say(family):
    covered = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x = rng.uniform(-1, 1, (1500, 2))
        score = np.column_stack([np.sin(4 * x[:, 0]), x[:, 1] ** 2])
        total = score.sum(axis=1)
        y = total + 0.5 * rng.normal(size=1500)
        if family == "bernoulli":
            y = (rng.random(1500) < 1 / (1 + np.exp(-total))).astype(float)
        model = model_of(family, "soft:25", smoothness="auto", ridge=1e-4).fit(x, y)
        for column, truth in ((0, lambda v: np.sin(4 * v)), (1, lambda v: v**2)):
            curve = model.curve(column, 0.95)
            centred = truth(curve.knots) - score[:, column].mean()
            covered.append(np.mean((curve.lower <= centred) & (centred <= curve.upper)))
    assert 0.92 < np.mean(covered) < 0.985


@pytest.mark.parametrize("family", ["gaussian", "bernoulli", "poisson", "gamma", "multinomial"])
@pytest.mark.parametrize("kind", ["soft", "hard"])
def test_auto_takes_everything_a_table_has(kind, family):
    model = model_of(family, encoder(kind), smoothness="auto").fit(X, target(X, family))
    assert model.converged_
    assert np.all(np.isfinite(model.smoothness_))
    assert np.all(model.edf_ > 0)
    n_outputs = 3 if family == "multinomial" else 1
    counts = np.array([levels.count for levels in model.encoder_.plan_.columns])
    assert np.all(model.edf_ < counts * max(n_outputs - 1, 1))


@pytest.mark.parametrize("scale", [1e-200, 1e-6, 1.0, 1e8, 1e200])
def test_units_of_a_target_do_not_matter(scale):
    x, y = X[:, [0, 4]], target(X, "gaussian")
    one = LinearRegressor("soft:15", smoothness="auto", ridge=1e-6).fit(x, y)
    other = LinearRegressor("soft:15", smoothness="auto", ridge=1e-6).fit(x, y * scale)
    np.testing.assert_allclose(other.smoothness_, one.smoothness_, rtol=0.05)
    np.testing.assert_allclose(other.predict(x), one.predict(x) * scale, rtol=1e-3, atol=1e-3 * scale)
    wide, narrow = (m.curve(0, 0.95).upper - m.curve(0, 0.95).lower for m in (other, one))
    np.testing.assert_allclose(wide, narrow * scale, rtol=0.02)


def test_a_row_of_weight_two_counts_as_two():
    x, y = X[:, [0, 4]], target(X, "bernoulli")
    twice = LinearClassifier("soft:15", smoothness="auto").fit(np.tile(x, (2, 1)), np.tile(y, 2))
    weighted = LinearClassifier("soft:15", smoothness="auto").fit(x, y, sample_weight=np.full(len(y), 2.0))
    np.testing.assert_allclose(weighted.edf_, twice.edf_, atol=0.02)


@pytest.mark.parametrize("ridge", [0.0, 1.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_without_ridge_or_intercept(ridge, fit_intercept):
    y = target(X, "gaussian")
    model = LinearRegressor(encoder("soft"), smoothness="auto", ridge=ridge, fit_intercept=fit_intercept).fit(X, y)
    assert model.converged_
    assert model.score(X, y) > 0.7


@pytest.mark.parametrize("options", [{"smoothness": "auto"}, {"smoothness": 0.1, "monotonic": {0: "increasing"}}])
def test_the_answer_does_not_depend_on_the_number_of_threads(options):
    rng = np.random.default_rng(7)
    x = rng.normal(size=(50_000, 4))
    y = rng.random(50_000) < 1 / (1 + np.exp(-np.sin(2 * x[:, 0]) - x[:, 1]))
    one, two = (LinearClassifier("soft:30", n_jobs=n, **options).fit(x, y) for n in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.edf_, two.edf_)
    for column in range(4):
        np.testing.assert_array_equal(one.curve(column, 0.95).lower, two.curve(column, 0.95).lower)


def test_few_rows_for_many_levels_do_not_leave_curves_rough():
    """A rare class: a fit without smoothness would tell the training rows apart and learn nothing of how smooth."""
    rng = np.random.default_rng(0)
    x, new = rng.normal(size=(2, 6000, 20))
    score, truth = (-5 + 2 * np.sin(part[:, 0]) + part[:, 1] for part in (x, new))
    y = rng.random(6000) < 1 / (1 + np.exp(-score))
    model = LinearClassifier("soft:50", smoothness="auto").fit(x, y)
    assert model.edf_.sum() < 60
    assert np.corrcoef(model.decision_function(new), truth)[0, 1] > 0.75


@pytest.mark.parametrize("family", ["poisson", "gamma"])
def test_means_over_many_powers_of_ten(family):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(5000, 8))
    mean = np.exp(3 * np.sin(x[:, 0]) + 2 * x[:, 1])
    y = rng.poisson(mean) if family == "poisson" else rng.gamma(2, mean / 2)
    model = LinearRegressor("soft:100", smoothness="auto", family=family).fit(x, y)
    assert model.converged_
    assert model.edf_[2:].max() < 6
    assert model.edf_.sum() < 80
    assert np.mean(np.abs(np.log(model.predict(x) / mean))) < 0.2


@pytest.mark.parametrize(("family", "more"), [("bernoulli", False), ("poisson", True)])
def test_what_is_not_fitted_yet_counts_as_noise_at_first(family, more, monkeypatch):
    seen = []
    plain = Quadratic.as_spread

    def spread(model):
        seen.append((model.dispersion.known, plain(model).dispersion.known))
        return plain(model)

    monkeypatch.setattr(Quadratic, "as_spread", spread)
    x, y = X[:, [0, 4]], target(X, family)
    for weight in (1.0, 4096.0):
        model_of(family, "soft:10", smoothness="auto").fit(x, y, sample_weight=np.full(len(y), weight))
    (known, first), (_, heavy) = seen
    spread = y.var() / (y.mean() if more else y.mean() * (1 - y.mean()))
    assert first / known == pytest.approx(max(spread, 1))
    assert (first / known > 1.05) == more
    assert heavy * 4096 == pytest.approx(first, rel=1e-6)


@pytest.mark.parametrize("weight", ["balanced", {0: 1, 1: 1}, {0: 8, 1: 8}])
def test_class_weights_are_not_more_rows(weight):
    """A class of one in twenty."""
    covered = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(3000, 2))
        y = (rng.random(3000) < 1 / (1 + np.exp(3 - np.sin(2 * x[:, 0]) - 0.5 * x[:, 1]))).astype(int)
        model = LinearClassifier("soft:30", smoothness="auto", ridge=1e-3, class_weight=weight).fit(x, y)
        curve = model.curve(0, 0.95)
        truth = np.sin(2 * curve.knots) - np.sin(2 * x[:, 0]).mean()
        # Which constant a weighted curve is centred on says nothing of its shape.
        truth += np.mean(curve.values[5:-5] - truth[5:-5])
        covered.append(np.mean((curve.lower <= truth) & (truth <= curve.upper)))
    assert np.mean(covered) > 0.85
    assert model.edf_.sum() < 12


def test_degrees_of_freedom_of_classes():
    """Against the whole Hessian, which couples the classes; they are about equally likely."""
    rng = np.random.default_rng(2)
    x = rng.uniform(-1, 1, (3000, 2))
    scores = np.column_stack([np.sin(3 * x[:, 0]), x[:, 1] ** 2, np.zeros(3000)])
    y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    model = LinearClassifier("soft:15", smoothness=0.05, ridge=1e-4, tol=1e-8).fit(x, y)
    B = np.column_stack([model.encoder_.transform(x).toarray(), np.ones(3000)])
    p, size = model.predict_proba(x), B.shape[1]
    K = price(model, model.smoothness_) + np.diag(np.append(np.full(size - 1, 1e-4), 0))
    H = np.block([[B.T @ (B * (p[:, i] * ((i == j) - p[:, j]))[:, None]) for j in range(3)] for i in range(3)])
    edf = np.trace(np.linalg.pinv(H + np.kron(np.eye(3), K), rcond=1e-12, hermitian=True) @ H)
    assert model.edf_.sum() + 2 == pytest.approx(edf, rel=0.05)
