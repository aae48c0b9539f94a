"""A plan whose columns share the columns of a table: as if the table had been copied, without copying it."""

import pickle

import numpy as np
import pytest
from tests.linear.tables import mixed_table, signal
from tests.same import assert_same_matrix

from softbin import Grid, HardBins, LinearClassifier, LinearRegressor, SoftBins
from softbin.encodings.plan import Plan, Views
from softbin.errors import DataError
from softbin.values.tables import read_table

SOURCE = (3, 0, 0, 1, 2, 1)  # of five columns; the last is not read
KINDS = {"hard": HardBins, "soft": SoftBins}
each_kind = pytest.mark.parametrize("kind", KINDS)
TABLE = mixed_table(500)
WIDE = TABLE[:, SOURCE]
LABELS = signal(TABLE) > 0


def pair(kind, **options):
    """An encoder that reads columns several times, and one for the table where they stand several times."""
    plain = KINDS[kind]([2, 3, 6, 4, 5, 9], special={4: [-999]}, **options).fit(WIDE)
    names = tuple(f"x{at}:{count}" for at, count in zip(SOURCE, [2, 3, 6, 4, 5, 9], strict=True))
    shared = KINDS[kind](**options).fit(TABLE)
    plan = Plan(Grid(plain.grid_.columns, names), plain.plan_.soft, Views(SOURCE, 5))
    shared._set_fitted(plan, plain.fit_report_, np.dtype(float))
    return shared, plain


@each_kind
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_encodings_are_those_of_the_copied_table(kind, dtype):
    shared, plain = pair(kind)
    assert_same_matrix(shared.transform(TABLE.astype(dtype)), plain.transform(WIDE.astype(dtype)))
    shared.set_params(output="dense")
    np.testing.assert_array_equal(shared.transform(TABLE), plain.transform(WIDE).toarray())
    for ours, theirs in zip(shared.encode_compact(TABLE), plain.encode_compact(WIDE), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert shared.estimate_memory(1000) == plain.set_params(output="dense").estimate_memory(1000)


@each_kind
def test_names_tell_the_columns_apart_and_follow_the_table(kind):
    shared, _ = pair(kind)
    names = shared.get_feature_names_out().tolist()
    assert len(names) == len(set(names)) == shared.n_parameters_
    assert names[0].startswith("x3:2")
    assert shared.get_feature_names_out(list("abcde")).tolist() == ["abcde"[int(name[1])] + name[2:] for name in names]
    with pytest.raises(ValueError, match=r"\(5\), got 6"):
        shared.get_feature_names_out(list("abcdef"))


@each_kind
def test_the_table_has_the_width_it_had(kind):
    shared, _ = pair(kind)
    assert shared.n_features_in_ == 5
    assert not hasattr(shared, "feature_names_in_")
    with pytest.raises(DataError, match=r"6 features, but .* is expecting 5"):
        shared.transform(WIDE)


@each_kind
def test_an_error_names_the_column_of_the_table(kind):
    shared, _ = pair(kind)
    broken = TABLE.copy()
    broken[7, 0] = np.nan
    with pytest.raises(DataError, match="column 'x0': 1 missing"):
        shared.transform(broken)


def test_a_view_copies_nothing_and_a_plan_survives_a_pickle():
    shared, _ = pair("hard")
    table = read_table(TABLE)
    view = shared.plan_.view(table)
    assert all(view.columns[j] is table.columns[at] for j, at in enumerate(SOURCE))
    wide = shared.plan_.view(read_table(TABLE.astype(np.float32))).widened().columns
    assert wide[1] is wide[2]
    assert pickle.loads(pickle.dumps(shared)).plan_.views == shared.plan_.views
    assert pair("hard")[1].plan_.view(table) is table


@each_kind
def test_a_linear_model_is_that_of_the_copied_table(kind):
    shared, plain = pair(kind)
    model, other = (LinearClassifier(e, tol=1e-9).fit(t, LABELS) for e, t in ((shared, TABLE), (plain, WIDE)))
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(TABLE), other.predict_proba(WIDE), atol=1e-6)
    assert model.n_features_in_ == 5


@each_kind
@pytest.mark.parametrize("classes", [2, 3])
def test_shares_and_curves_are_per_column_of_the_table(kind, classes):
    """A curve is the sum over the column's granularities, and with the average taken out it is the share."""
    shared, _ = pair(kind)
    y = LABELS + (TABLE[:, 0] > 1 if classes == 3 else 0)
    model = LinearClassifier(shared).fit(TABLE, y)
    shares = model.explain(TABLE)
    score = model.decision_function(TABLE)
    np.testing.assert_allclose(shares.sum(axis=1) + np.squeeze(model.intercept_), score, atol=1e-9)
    assert shares.shape[1] == 5
    assert not shares[:, 4].any()
    for column in range(4):
        curve = model.curve(column)
        expected = np.moveaxis(np.atleast_3d(shares)[:, column], -1, 0) - np.reshape(curve.average, (-1, 1))
        np.testing.assert_allclose(np.atleast_2d(at_curve(curve, TABLE[:, column], kind)), expected, atol=1e-9)


def at_curve(curve, values, kind):
    """A curve read off by hand."""
    rows = np.atleast_2d(curve.values)
    if kind == "soft":
        got = np.stack([np.interp(values, curve.knots, row) for row in rows])
    else:
        got = rows[:, np.clip(np.searchsorted(curve.knots, values, side="right") - 1, 0, rows.shape[1] - 1)]
    if curve.missing is not None:
        got[:, np.isnan(values)] = np.reshape(curve.missing, (-1, 1))
    for code, level in curve.special.items():
        got[:, values == code] = np.reshape(level, (-1, 1))
    return got


def test_a_column_that_nothing_reads_has_an_empty_curve():
    shared, _ = pair("soft")
    curve = LinearRegressor(shared).fit(TABLE, signal(TABLE)).curve("x4")
    assert (len(curve.knots), len(curve.values), curve.average) == (0, 0, 0.0)
