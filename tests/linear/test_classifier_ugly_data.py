"""LinearClassifier on data of any size, sign and shape: the right model or a clear error."""

import numpy as np
import pyarrow as pa
import pytest
from tests.columns import each_dtype
from tests.linear.classifiers import X, Y, assert_same_optimum, each_kind, fit
from tests.linear.tables import encoder, weights
from tests.same import assert_same_bits

from softbin import HardBins, SoftBins
from softbin.errors import DataTypeError, SoftbinError


@each_dtype
@pytest.mark.parametrize("scale", [1e-30, 1e-6, 1e6, 1e30])
def test_the_scale_of_a_column_does_not_matter(dtype, scale):
    plain = np.random.default_rng(0).normal(size=(500, 2))
    y = plain[:, 0] + plain[:, 1] ** 2 > 0.8
    model = fit((plain * scale).astype(dtype), y)
    np.testing.assert_allclose(model.coef_, fit(plain, y).coef_, atol=2e-3)
    assert model.converged_


@each_kind
def test_numbers_at_the_ends_of_float32(kind):
    largest = np.finfo(np.float32).max / 4
    table = np.random.default_rng(0).choice([-largest, -1e-45, 0.0, 1e-45, 1.0, largest], (400, 2)).astype(np.float32)
    y = table[:, 0] > 0
    model = fit(table, y, encoder(kind, special=None, period=None) if kind == "soft" else HardBins(6))
    assert np.all(np.isfinite(model.predict_proba(table)))
    assert_same_optimum(model, table, y.astype(float), "bernoulli")


def test_infinities_in_training_fall_into_the_end_bins():
    table = np.random.default_rng(0).normal(size=(400, 1))
    table[:20], table[20:40] = np.inf, -np.inf
    y = table[:, 0] > 0
    model = fit(table, y)
    assert np.all(np.isfinite(model.coef_))
    assert model.predict([[np.inf], [-np.inf]]).tolist() == [True, False]


@pytest.mark.parametrize("bins", ["soft:10", "hard:10"])
def test_two_rows(bins):
    model = fit([[0.0], [1.0]], ["a", "b"], bins)
    assert model.predict([[0.0], [1.0]]).tolist() == ["a", "b"]


def test_one_row_per_class_of_three_hundred():
    table = np.arange(300.0)[:, None]
    model = fit(table, np.arange(300), "hard:300", ridge=0.01)
    assert model.converged_
    assert model.score(table, np.arange(300)) == 1
    np.testing.assert_allclose(model.predict_proba(table).sum(axis=1), 1)


def test_one_column_of_zeros_and_ones():
    table = (np.arange(400) % 2).astype(float)[:, None]
    y = np.where(np.arange(400) % 5 == 0, 1 - table[:, 0], table[:, 0])
    for kind in ("soft", "hard"):
        assert_same_optimum(fit(table, y, encoder(kind, special=None, **({"period": None} if kind == "soft" else {}))),
                            table, y, "bernoulli")  # fmt: skip


def test_a_constant_column_and_an_all_missing_one_take_no_part():
    wide = np.column_stack([X[:, 0], np.full(600, 3.25), np.full(600, np.nan)])
    model = fit(wide, Y["bernoulli"])
    assert_same_optimum(model, wide, Y["bernoulli"], "bernoulli")
    alone = fit(X[:, :1], Y["bernoulli"]).decision_function(X[:, :1])
    np.testing.assert_allclose(model.decision_function(wide), alone, atol=1e-4)


def test_the_same_column_twice_shares_its_curve():
    model = fit(np.repeat(X[:, :1], 2, axis=1), Y["bernoulli"])
    np.testing.assert_allclose(model.curve(0).values, model.curve(1).values, atol=1e-6)
    assert_same_optimum(model, np.repeat(X[:, :1], 2, axis=1), Y["bernoulli"], "bernoulli")


@each_dtype
@pytest.mark.parametrize("ridge", [1e-6, 1e-3])
def test_which_class_comes_first_does_not_matter(dtype, ridge):
    """Residuals of sure rows must keep their digits on both sides."""
    table = np.random.default_rng(0).normal(size=(2000, 2)).astype(dtype)
    y = table[:, 0] > 0.01
    bins = SoftBins(edges=[[-2.0, 0.0, 0.02, 2.0], [-2.0, 2.0]])
    model, other = fit(table, y, bins, ridge=ridge), fit(table, ~y, bins, ridge=ridge)
    np.testing.assert_allclose(other.coef_, -model.coef_, rtol=1e-3, atol=1e-3)


@each_dtype
@pytest.mark.parametrize("heavy", [1e6, 1e9])
def test_one_row_that_outweighs_all_others(dtype, heavy):
    table, weight = X.astype(dtype), np.ones(600)
    weight[7] = heavy
    bins = SoftBins(5, missing="level").fit(table)
    model = fit(table, Y["bernoulli"], bins, weight)
    assert_same_optimum(model, table, Y["bernoulli"], "bernoulli", weight, coefficients=1e-2)


def test_the_table_is_left_as_it_was():
    table, y, weight = X.copy(), Y["bernoulli"].copy(), weights(600)
    for array in (table, y, weight):
        array.flags.writeable = False
    model = fit(table, y, encoder("soft"), weight)
    model.predict_proba(table)
    assert_same_bits(table, X)


def test_errors_of_types_are_type_errors():
    with pytest.raises(DataTypeError):
        fit(np.array([["a"], ["b"]]), [0, 1])


@each_dtype
@pytest.mark.parametrize("scale", [1e-200, 1e-50, 1e39, 1e300])
def test_weights_of_any_size_give_a_right_model_or_a_clear_error(dtype, scale):
    table = X.astype(dtype)
    try:
        model = fit(table, Y["bernoulli"], sample_weight=np.full(600, scale), ridge=scale)
    except SoftbinError:
        return
    np.testing.assert_allclose(model.coef_, fit(table, Y["bernoulli"]).coef_, atol=1e-3)


@pytest.mark.parametrize("weight", [1e39, 1e300])
def test_class_weights_beyond_float32_give_a_model_or_a_clear_error(weight):
    try:
        model = fit(X.astype(np.float32), Y["bernoulli"], class_weight={0: weight, 1: 1.0})
    except SoftbinError:
        return
    assert np.all(np.isfinite(model.coef_))


@pytest.mark.parametrize("values", [["a", "b"], [True, False], [1, 2]])
@pytest.mark.parametrize("chunked", [False, True])
def test_arrow_labels_are_classes(values, chunked):
    y = pa.chunked_array([values * 300]) if chunked else pa.array(values * 300)
    assert fit(X, y).classes_.tolist() == sorted(values)


@pytest.mark.parametrize("labels", [[1, "a"], ["a", 1], [None, "a"], ["a", None], [np.nan, "a"]], ids=str)
def test_classes_of_two_kinds_are_an_error_that_names_them(labels):
    with pytest.raises(DataTypeError, match=rf"y: .* kinds \(.*\b{type(labels[0]).__name__}\b.*drop rows"):
        fit(X, np.array(labels * 300, object))


def test_bytes_are_no_classes():
    with pytest.raises(TypeError, match="bytes"):
        fit(X, np.full(600, b"a"))
