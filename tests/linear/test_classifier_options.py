"""LinearClassifier's options, warnings and progress line, and encoders as ``bins``."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from tests.linear.classifiers import X, Y, assert_same_optimum, each_family, fit
from tests.linear.tables import mixed_table, penalised_loss
from tests.same import assert_same_bits

from softbin import Boundaries, Grid, HardBins, LinearClassifier, SoftBins
from softbin.errors import DataError, OptionError

# Options


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ridge", -1.0), ("ridge", np.nan), ("ridge", np.inf), ("ridge", "1"), ("ridge", None), ("ridge", True),
        ("tol", -1e-3), ("tol", np.nan), ("tol", "small"),
        ("max_iter", 0), ("max_iter", 1.5), ("max_iter", None), ("max_iter", True),
        ("random_state", "a"), ("random_state", -1), ("n_jobs", 0), ("n_jobs", 1.5),
        ("bins", "firm:3"), ("bins", None), ("bins", 10),
    ],
)  # fmt: skip
def test_options_that_cannot_be_used_are_named(name, value):
    with pytest.raises(OptionError, match=rf"^{name}: "):
        LinearClassifier(**{name: value}).fit(X, Y["bernoulli"])


@pytest.mark.parametrize("state", [None, 3, np.int64(3), np.random.RandomState(3)])
def test_seeds_of_any_kind(state):
    assert fit(X, Y["bernoulli"], random_state=state).converged_


def test_options_may_be_numpy_numbers():
    model = fit(X, Y["bernoulli"], ridge=np.float32(1), tol=np.float64(1e-6), max_iter=np.int32(50), n_jobs=np.int64(1))
    assert model.converged_


def test_one_iteration_warns_once_and_keeps_a_finite_point():
    with pytest.warns(ConvergenceWarning, match="Raise max_iter") as caught:
        model = fit(X, Y["multinomial"], max_iter=1, tol=1e-12)
    assert len(caught) == 1
    assert not model.converged_
    assert model.n_iter_ == 1
    assert np.all(np.isfinite(model.coef_))
    assert model.score(X, Y["multinomial"]) > 0.5


def test_the_warning_points_at_the_callers_line():
    with pytest.warns(ConvergenceWarning) as caught:
        LinearClassifier(max_iter=1, tol=0).fit(X, Y["bernoulli"])
    assert caught[0].filename == __file__


@each_family
@pytest.mark.parametrize("ridge", [1e-3, 1.0])
def test_the_objective_never_rises(family, ridge):
    history = fit(X, Y[family], ridge=ridge).history_
    values = np.array([done.objective for done in history])
    assert np.all(np.diff(values) <= 1e-13 * values[:-1])
    assert all(done.gradient >= 0 and done.seconds >= 0 for done in history)


@each_family
def test_the_last_objective_is_the_models(family):
    model = fit(X, Y[family])
    np.testing.assert_allclose(model.history_[-1].objective, penalised_loss(model, X, Y[family], family), rtol=1e-10)


def test_a_warm_start_takes_fewer_iterations():
    model = fit(X, Y["bernoulli"], warm_start=True)
    first, coef = model.n_iter_, model.coef_
    assert len(model.fit(X, Y["bernoulli"]).history_) < first + 1
    np.testing.assert_allclose(model.coef_, coef, atol=1e-6)


def test_a_warm_start_of_another_size_starts_cold():
    model = fit(X, Y["bernoulli"], warm_start=True)
    model.fit(X, Y["multinomial"])
    assert_same_optimum(model, X, Y["multinomial"], "multinomial")
    model.set_params(bins="hard:3").fit(X[:, :2], Y["bernoulli"])
    assert_same_optimum(model, X[:, :2], Y["bernoulli"], "bernoulli")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_progress_line_is_one_line(dtype, capsys):
    fit(X.astype(dtype), Y["bernoulli"], verbose=1)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert shown.err.endswith("\n")
    last = shown.err.strip().split("\r")[-1]
    assert last.startswith("LinearClassifier: pass ")
    assert "objective" in last


def test_without_verbose_nothing_is_printed(capsys):
    fit(X, Y["bernoulli"])
    shown = capsys.readouterr()
    assert shown.out + shown.err == ""


# Encoders as bins


def test_a_fitted_encoder_is_used_as_it_is():
    fitted = SoftBins(3, missing="level").fit(mixed_table(50, seed=9))
    grid = fitted.grid_
    model = fit(X, Y["bernoulli"], fitted)
    assert model.encoder_.plan_ is fitted.plan_
    assert model.grid_ is grid
    assert_same_optimum(model, X, Y["bernoulli"], "bernoulli")


def test_refitting_the_encoder_later_leaves_the_model_whole():
    bins = SoftBins(5).fit(X)
    model = fit(X, Y["bernoulli"], bins)
    curve, grid, scores = model.curve(0), model.grid_, model.decision_function(X)
    bins.set_params(n_bins=2).fit(X)
    assert_same_bits(model.decision_function(X), scores)
    assert model.grid_ == grid
    assert model.n_parameters_ == model.coef_.shape[1]
    assert_same_bits(model.curve(0).values, curve.values)


def test_an_unfitted_encoder_stays_unfitted():
    bins = SoftBins(3)
    before = bins.get_params()
    model = fit(X, Y["bernoulli"], bins)
    assert not bins.__sklearn_is_fitted__()
    assert bins.get_params() == before
    assert model.grid_ == SoftBins(3).fit(X).grid_


def test_a_frozen_encoder_stays_fitted_through_clones():
    fitted = HardBins(4, missing="level").fit(mixed_table(50, seed=9))
    model = clone(LinearClassifier(FrozenEstimator(fitted))).fit(X, Y["bernoulli"])
    assert model.grid_ == fitted.grid_


def test_an_encoder_from_a_grid():
    grid = Grid((Boundaries((-1.0, 0.0, 1.0)),))
    table = np.clip(X[:, :1], -2, 2)
    model = fit(table, Y["bernoulli"], SoftBins.from_grid(grid))
    assert model.n_parameters_ == 3
    assert_same_optimum(model, table, Y["bernoulli"], "bernoulli")


def test_a_fitted_encoder_refuses_rows_it_does_not_know():
    fitted = SoftBins(3).fit(np.nan_to_num(X))
    with pytest.raises(DataError, match=r"column 'x1': .* missing values"):
        fit(X, Y["bernoulli"], fitted)
    with pytest.raises(DataError, match="features"):
        fit(X[:, :2], Y["bernoulli"], fitted)
    strict = SoftBins(3, outside="error", missing="level").fit(X[:50])
    with pytest.raises(DataError, match="outside"):
        fit(X * 3, Y["bernoulli"], strict)


@pytest.mark.parametrize("output", ["dense", "ordinal"])
def test_the_output_of_the_encoder_does_not_matter(output):
    expected = fit(X, Y["bernoulli"], HardBins(4))
    assert_same_bits(fit(X, Y["bernoulli"], HardBins(4, output=output)).coef_, expected.coef_)


def test_a_table_without_any_level_is_an_error():
    with pytest.raises(DataError, match="no column has a level"):
        fit(np.full((10, 2), np.nan), np.arange(10) % 2, SoftBins(missing="zero"))
