"""Quantile bins against what can be checked by brute force on small columns."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from softbin.boundaries import Quantile
from softbin.errors import OptionError
from softbin.summaries import RankHistogram

N_BINS = st.integers(1, 12)
SMALL = st.lists(st.integers(-15, 15).map(float), min_size=1, max_size=80)


def heavy_by_hand(column, n_bins) -> set[float]:
    """Values heavier than an equal share of what the other heavy ones leave."""
    values, counts = np.unique(column, return_counts=True)
    weight = dict(zip(values.tolist(), counts.tolist(), strict=True))
    heavy: set[float] = set()
    while True:
        rest = sum(w for v, w in weight.items() if v not in heavy)
        new = {v for v, w in weight.items() if v not in heavy and w * (n_bins - len(heavy)) > rest}
        if not new:
            return heavy
        heavy |= new


def bins_of(column, n_bins):
    edges = np.array(Quantile(n_bins).boundaries(RankHistogram.of(np.array(column))).edges)
    return np.searchsorted(edges[1:-1], column, side="right"), max(1, len(edges) - 1)


@given(column=SMALL, n_bins=N_BINS)
def test_there_are_as_many_bins_as_asked_or_as_values_and_none_is_empty(column, n_bins):
    bins, got = bins_of(column, n_bins)
    assert got == min(n_bins, len(set(column)))
    assert set(bins.tolist()) == set(range(got))


@given(n_rows=st.integers(1, 300), n_bins=N_BINS, seed=st.integers(0, 100))
def test_sizes_differ_by_at_most_one_where_there_are_no_ties(n_rows, n_bins, seed):
    column = np.random.default_rng(seed).permutation(np.arange(n_rows) ** 2.0)
    bins, got = bins_of(column, n_bins)
    sizes = np.bincount(bins, minlength=got)
    assert sizes.max() - sizes.min() <= 1


@given(column=SMALL, n_bins=N_BINS)
def test_a_heavy_value_has_a_bin_of_its_own_where_there_is_room(column, n_bins):
    heavy = heavy_by_hand(column, n_bins)
    assume(2 * len(heavy) + 1 <= n_bins)
    bins, _ = bins_of(column, n_bins)
    for value in heavy:
        (code,) = set(bins[np.array(column) == value].tolist())
        assert set(np.array(column)[bins == code].tolist()) == {value}


@given(column=SMALL, n_bins=N_BINS)
def test_a_heavy_value_has_a_knot_of_its_own(column, n_bins):
    histogram = RankHistogram.of(np.array(column))
    knots = Quantile(n_bins).boundaries(histogram, knots=True).edges
    assert len(knots) == min(n_bins + 1, len(set(column)))
    assert set(knots) <= set(column)
    assert heavy_by_hand(column, n_bins) <= set(knots)
    assert {min(column), max(column)} <= set(knots)


@given(column=SMALL)
def test_a_cut_is_the_value_boundary_nearest_to_its_rank(column):
    assume(len(set(column)) > 2 and not heavy_by_hand(column, 2))
    cut = Quantile(2).boundaries(RankHistogram.of(np.array(column))).edges[1]
    below = {value: sum(other < value for other in column) for value in set(column) - {min(column)}}
    assert abs(sum(value < cut for value in column) - len(column) / 2) == min(
        abs(count - len(column) / 2) for count in below.values()
    )


@settings(max_examples=400)
@given(data=st.data(), n_bins=st.integers(2, 9))
def test_crowded_stretches_between_heavy_values_still_give_every_bin_and_knot(data, n_bins):
    """Light values between heavy ones, so that ranks pile up at the end of a stretch."""
    weight = data.draw(st.lists(st.sampled_from([1, 1, 1, 2, 3, 30]), min_size=n_bins + 2, max_size=n_bins + 12))
    histogram = RankHistogram.of(np.arange(len(weight), dtype=float), np.array(weight))
    knots = Quantile(n_bins).boundaries(histogram, knots=True).edges
    assert len(knots) == n_bins + 1
    assert set(knots) <= set(range(len(weight)))
    assert Quantile(n_bins).boundaries(histogram).n_bins == n_bins


@given(column=SMALL, n_bins=N_BINS)
def test_without_heavy_values_no_bin_is_twice_an_equal_share(column, n_bins):
    assume(not heavy_by_hand(column, n_bins))
    bins, got = bins_of(column, n_bins)
    assert np.bincount(bins).max() <= 2 * len(column) / got


@given(column=SMALL, n_bins=N_BINS)
def test_what_heavy_values_leave_is_split_equally(column, n_bins):
    """One heavy value at the low end: the rest is a stretch of its own, split as if it were alone."""
    column = np.array(column)
    n_bins = min(n_bins + 1, len(set(column.tolist())) - 1)
    assume(n_bins > 1)
    low = column.min() - 1
    both = np.concatenate([column, np.full(len(column) * n_bins, low)])
    assume(not heavy_by_hand(column, n_bins - 1) and heavy_by_hand(both, n_bins) == {low})
    alone = Quantile(n_bins - 1).boundaries(RankHistogram.of(column)).edges
    beside = Quantile(n_bins).boundaries(RankHistogram.of(both)).edges
    assert beside[2:] == alone[1:]


def test_cuts_are_the_first_values_of_their_bins():
    edges = Quantile(3).boundaries(RankHistogram.of(np.arange(9.0))).edges
    assert edges == (0, 3, 6, 8)


def test_a_last_value_alone_in_its_bin_is_cut_off_midway():
    column = np.array([0.0] * 3 + [1.0] * 1 + [2.0] * 2 + [10.0] * 9)
    assert Quantile(3).boundaries(RankHistogram.of(column)).edges == (0, 1, 6, 10)


def test_the_note_names_the_heavy_values():
    column = np.concatenate([np.zeros(70), np.arange(1, 31)])
    note = Quantile(5).boundaries(RankHistogram.of(column)).note
    assert "0 (70%)" in note
    assert Quantile(5).boundaries(RankHistogram.of(np.arange(100.0))).note == ""


def test_more_weight_than_a_float_can_count_is_still_exact():
    weight = np.array([2**60 + 1, 2**60, 2**60 - 1])
    histogram = RankHistogram.of(np.array([1.0, 2.0, 3.0]), weight)
    assert Quantile(2).boundaries(histogram).n_bins == 2
    assert histogram.total == 3 * 2**60


@pytest.mark.parametrize("n_bins", [0, -1, 2.5, "ten", None, True])
def test_a_number_of_bins_is_a_whole_number_of_one_or_more(n_bins):
    with pytest.raises(OptionError, match=r"n_bins: .* is not a number of bins"):
        Quantile(n_bins)


def test_numpy_integers_are_whole_numbers():
    assert Quantile(np.int64(4)) == Quantile(4)
