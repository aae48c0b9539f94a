"""What a target is taken for, and what is added up of it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softbin.errors import DataError, DataTypeError
from softbin.values.targets import Target, read_target, statistics
from softbin.values.weights import read_weight


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (["no", "yes", "no"], "classes"),
        ([True, False, True], "classes"),
        ([0, 1, 1], "classes"),
        ([0.0, 1.0, 1.0], "classes"),
        (range(20), "classes"),
        (range(21), "number"),
        ([0.5, 1.0, 1.0], "number"),
        (np.array([0, 1, "x"], object).astype(str), "classes"),
        (np.array([1, 2, 3.5], object), "number"),
        (pd.Series(["a", "b", "a"]), "classes"),
        (pd.Series(pd.Categorical(["a", "b", "a"])), "classes"),
        (pl.Series([1.5, 2.5, 1.0]), "number"),
        (pl.Series(["a", "b", "c"]), "classes"),
    ],
)
def test_what_a_target_is_taken_for(y, kind):
    assert read_target(y if hasattr(y, "dtype") else list(y), len(y)).kind == kind


def test_who_knows_better_says_so():
    assert read_target([0, 1, 2], 3, "number").number.tolist() == [0, 1, 2]
    assert read_target(np.arange(50), 50, "classes").classes.tolist() == list(range(50))


def test_a_target_is_itself_and_changes_its_kind_where_it_can():
    known = Target("classes", np.array([0, 1, 0], np.int32), np.array([3.0, 7.0]))
    assert read_target(known, 3) is known
    assert read_target(known, 3, "number").number.tolist() == [3, 7, 3]
    assert read_target(Target("number", number=np.array([2.0, 5.0])), 2, "classes").classes.tolist() == [2, 5]


@pytest.mark.parametrize(
    ("y", "kind", "error", "message"),
    [
        (None, "auto", DataError, "requires y to be passed"),
        ([0, 1], "auto", DataError, "2 values for 3 rows"),
        ([0.5, np.nan, 1], "auto", DataError, "NaN or infinity, in 1 rows"),
        ([0.5, np.inf, 1], "number", DataError, "NaN or infinity"),
        (np.array(["a", None, "b"], object), "auto", DataError, "NaN or None, in 1 rows"),
        (np.array(["a", np.nan, "b"], object), "auto", DataError, "NaN or None, in 1 rows"),
        (pd.Series([1, None, 2], dtype="Int64"), "auto", DataError, "NaN"),
        ([0.5, 0.25, 1], "classes", DataError, "Unknown label type: continuous"),
        (["a", "b", "c"], "number", DataTypeError, "not numbers"),
        (np.array(["a", 1, 2], object), "auto", DataTypeError, "several types"),
        ([1j, 2, 3], "auto", DataTypeError, "Complex data"),
        (np.array([1, 2, 3], "datetime64[D]"), "auto", DataTypeError, "neither classes nor numbers"),
    ],
)
def test_targets_that_are_none_are_refused(y, kind, error, message):
    with pytest.raises(error, match=message):
        statistics(read_target(y, 3, kind), None, 1.0)


@given(data=st.data())
def test_statistics_of_numbers_add_up_to_their_moments(data):
    n = data.draw(st.integers(1, 40))
    y = np.array(data.draw(st.lists(st.floats(-1e6, 1e6), min_size=n, max_size=n)))
    raw = data.draw(st.lists(st.floats(0, 100) | st.integers(0, 3).map(float), min_size=n, max_size=n))
    if not any(raw):
        raw[0] = 1.0
    weight, unit = read_weight(raw, n)
    seen = statistics(read_target(y, n, "number"), weight, unit)
    total, first, second = (seen.parts.sum(axis=1) * seen.unit).tolist()
    w = np.array(raw)
    scale = np.abs(y[w > 0]).max(initial=0)
    first, second = first * seen.scale, second * seen.scale**2
    assert total == pytest.approx(w.sum(), rel=1e-8)
    assert first == pytest.approx(w @ (y - seen.shift), abs=1e-6 * total * scale)
    assert second == pytest.approx(w @ (y - seen.shift) ** 2, abs=1e-6 * total * scale**2)
    assert abs(w @ (y - seen.shift)) <= 1e-6 * total * scale


@given(data=st.data())
def test_weight_k_adds_what_the_row_adds_k_times(data):
    n = data.draw(st.integers(1, 30))
    y = np.array(data.draw(st.lists(st.floats(-1e6, 1e6), min_size=n, max_size=n)))
    weight = np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)), np.int64)
    weight[0] = 1
    weighted = statistics(read_target(y, n, "number"), weight, 1.0)
    repeated = statistics(read_target(np.repeat(y, weight), int(weight.sum()), "number"), None, 1.0)
    assert (weighted.unit, weighted.shift) == (repeated.unit, repeated.shift)
    assert weighted.parts.sum(axis=1).tolist() == repeated.parts.sum(axis=1).tolist()


def test_classes_without_weight_have_no_slot():
    seen = statistics(read_target(["a", "b", "c"], 3), np.array([1, 0, 2]), 1.0)
    assert seen.classes.tolist() == ["a", "c"]
    assert seen.n_slots == 2
    assert seen.slot[[0, 2]].tolist() == [0, 1]


def test_folds_have_slots_of_their_own():
    seen = statistics(read_target([0, 1, 1], 3), None, 1.0).in_folds(np.array([0, 1, 0]), 2)
    assert seen.slot.tolist() == [0, 3, 1]
    assert seen.n_slots == 4


@pytest.mark.parametrize("exponent", [-1070, -600, -60, 0, 60, 600, 1022])
def test_numbers_of_any_size_add_up_to_the_same(exponent):
    y = np.array([-7.0, 3.0, 1.0, 0.0, 2.0]) / 4
    plain, seen = (statistics(read_target(np.ldexp(y, e), 5, "number"), None, 1.0) for e in (0, exponent))
    assert np.array_equal(seen.parts, plain.parts)
    assert seen.unit == plain.unit
    assert seen.scale == np.ldexp(plain.scale, exponent)


def test_what_is_left_of_large_numbers_without_their_mean_is_scaled_too():
    seen = statistics(read_target([1e15 + 0.5, 1e15 - 0.5, 1e15 + 0.5], 3, "number"), None, 1.0)
    assert 0.25 <= seen.scale <= 1
    assert seen.unit[2] < 1e-15


@pytest.mark.parametrize("unit", [1e-320, 1e300])
def test_units_of_weight_stay_where_their_squares_can_be_told(unit):
    seen = statistics(read_target([0, 1, 1], 3), np.array([2**60, 1, 5]), unit)
    assert 0 < (seen.unit[0] * 2.0**62) ** 2 < np.inf
    assert seen.unit[0] ** 2 > 0


@pytest.mark.parametrize("odd", [0.5, np.nan, 1e9, None, "x"])
def test_what_rows_without_weight_hold_is_not_looked_at(odd):
    weight = np.array([0, 1, 2, 1])
    seen = read_target(np.array([odd, 1, 0, 1], object), 4, "auto", weight)
    assert seen.kind == "classes"
    assert seen.classes.tolist() == [0, 1]
    assert seen.code[1:].tolist() == [1, 0, 1]
