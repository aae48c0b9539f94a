"""CACC against the paper's search on the rows themselves, and against all ways to cut."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency
from tests.boundaries.greedy_search import by_search
from tests.boundaries.rows import cut_sets, cuts_of, iris_cuts, labelled, middles, table
from tests.counts import counts

from softbin.boundaries import CACC
from softbin.boundaries.cacc import cacc as of_score
from softbin.boundaries.greedy import ClassShares, chi_squared


def cacc(bins) -> float:
    """The criterion of a table, bins x classes."""
    if len(bins) < 2:
        return 0.0
    y = chi2_contingency(bins, correction=False).statistic / math.log(len(bins))
    return math.sqrt(y / (y + np.sum(bins)))


@given(rows=labelled())
def test_the_criterion_of_all_bins_is_that_of_their_table(rows):
    values, y = rows
    assume(len(np.unique(values)) > 1 and len(np.unique(y)) > 1)
    shares = ClassShares(counts(values, y))
    at = np.arange(len(np.unique(values)))
    score = float(chi_squared(shares, at, at + 1).sum())
    expected = cacc(table(values, y, middles(values)))
    assert of_score(score, len(at), shares.n_classes) == pytest.approx(expected, abs=1e-7)


@given(rows=labelled(), n_bins=st.integers(1, 9))
def test_the_cuts_are_those_of_the_papers_search(rows, n_bins):
    values, y = rows
    expected = by_search(values, y, cacc, True, n_bins)
    assert cuts_of(CACC(n_bins).boundaries(counts(values, y))) == expected


@pytest.mark.parametrize("seed", range(5))
def test_the_search_finds_the_same_in_longer_columns(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 30, 500).astype(float)
    y = (np.sin(values / 3) + rng.normal(size=500) * 0.3 > 0).astype(int) + (values > 24)
    cuts = cuts_of(CACC(100).boundaries(counts(values, y)))
    assert cuts == by_search(values, y, cacc, True)
    assert len(cuts) > 1


@given(rows=labelled(most_values=7))
def test_two_bins_are_the_best_of_all_and_no_search_beats_all_ways_to_cut(rows):
    values, y = rows
    assume(len(np.unique(values)) > 1 and len(np.unique(y)) > 1)
    two, free = (CACC(n).boundaries(counts(values, y)) for n in (2, 100))
    assert cacc(table(values, y, cuts_of(two))) == pytest.approx(
        max(cacc(table(values, y, [c])) for c in middles(values))
    )
    assert cacc(table(values, y, cuts_of(free))) <= max(cacc(table(values, y, c)) for c in cut_sets(values)) + 1e-12


def test_iris_has_the_cuts_of_the_search():
    # The petals' cuts are those that MDLP and ChiMerge publish; the sepals' are those of by_search.
    assert iris_cuts(CACC(100), counts) == [[5.45, 6.15], [2.95, 3.35], [2.45, 4.75], [0.8, 1.75]]


def test_the_criterion_is_that_of_the_papers_formula():
    """sqrt(y / (y + M)) with y = M (sum q^2 / (M_i M_r) - 1) / ln n, written out for one table."""
    bins = np.array([[3, 0, 3], [0, 6, 0], [0, 3, 0]])
    y = 18 * ((9 / (3 * 6) + 9 / (3 * 6) + 36 / (9 * 6) + 9 / (9 * 3)) - 1) / math.log(3)
    # chi2_contingency needs no class to be absent, and none is.
    assert cacc(bins) == pytest.approx(math.sqrt(y / (y + 18)))
