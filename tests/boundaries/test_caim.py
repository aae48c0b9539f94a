"""CAIM against the paper's search on the rows themselves, and against all ways to cut."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.boundaries.greedy_search import by_search
from tests.boundaries.rows import cut_sets, cuts_of, iris_cuts, labelled, middles, table
from tests.counts import counts

from softbin.boundaries import CAIM
from softbin.boundaries.caim import caim as of_score
from softbin.boundaries.greedy import ClassShares, largest_class


def caim(bins) -> float:
    """The criterion of a table, bins x classes."""
    bins = np.asarray(bins, float)
    return float(np.mean(bins.max(axis=1) ** 2 / bins.sum(axis=1)))


@given(rows=labelled())
def test_the_criterion_of_all_bins_is_that_of_their_table(rows):
    values, y = rows
    assume(len(np.unique(values)) > 1 and len(np.unique(y)) > 1)
    shares = ClassShares(counts(values, y))
    at = np.arange(len(np.unique(values)))
    score = float(largest_class(shares, at, at + 1).sum())
    expected = caim(table(values, y, middles(values)))
    expected /= len(y)  # ours is of shares
    assert of_score(score, len(at), shares.n_classes) == pytest.approx(expected, abs=1e-7)


@given(rows=labelled(), n_bins=st.integers(1, 9))
def test_the_cuts_are_those_of_the_papers_search(rows, n_bins):
    values, y = rows
    expected = by_search(values, y, caim, True, n_bins)
    assert cuts_of(CAIM(n_bins).boundaries(counts(values, y))) == expected


@pytest.mark.parametrize("seed", range(5))
def test_the_search_finds_the_same_in_longer_columns(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 30, 500).astype(float)
    y = (np.sin(values / 3) + rng.normal(size=500) * 0.3 > 0).astype(int) + (values > 24)
    cuts = cuts_of(CAIM(100).boundaries(counts(values, y)))
    assert cuts == by_search(values, y, caim, True)
    assert len(cuts) > 1


@given(rows=labelled(most_values=7))
def test_two_bins_are_the_best_of_all_and_no_search_beats_all_ways_to_cut(rows):
    values, y = rows
    assume(len(np.unique(values)) > 1 and len(np.unique(y)) > 1)
    two, free = (CAIM(n).boundaries(counts(values, y)) for n in (2, 100))
    assert caim(table(values, y, cuts_of(two))) == pytest.approx(
        max(caim(table(values, y, [c])) for c in middles(values))
    )
    assert caim(table(values, y, cuts_of(free))) <= max(caim(table(values, y, c)) for c in cut_sets(values)) + 1e-12


def test_iris_has_the_cuts_of_the_search():
    # The petals' cuts are those that MDLP and ChiMerge publish; the sepals' are those of by_search.
    assert iris_cuts(CAIM(100), counts) == [[5.55, 6.25], [2.95, 3.05], [2.45, 4.75], [0.8, 1.75]]


def test_there_are_as_many_bins_as_classes_even_where_that_is_no_better():
    """Kurgan and Cios: "or k < S"."""
    values, y = np.repeat([0.0, 1, 2, 3], 10), np.repeat([0, 0, 1, 2], 10)
    y[:3] = 2
    bins = [CAIM(n).boundaries(counts(values, y)).n_bins for n in (2, 3, 10)]
    assert bins == [2, 3, 3]


def test_a_cap_that_bites_is_told():
    values = np.repeat(np.arange(6.0), 10)
    y = np.repeat([0, 1, 2, 3, 4, 5], 10)
    assert CAIM(3).boundaries(counts(values, y)).note == "capped at 3 bins; the criterion would still rise"
    assert CAIM(6).boundaries(counts(values, y)).note == ""
