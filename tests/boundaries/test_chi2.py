"""Chi2 against raising the significance level by level on the rows themselves."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2
from tests.boundaries.rows import cuts_of, iris_cuts, labelled, middles, table
from tests.boundaries.test_chimerge import by_merging, exact_chi2
from tests.counts import counts

from softbin.boundaries import Chi2


def inconsistent(values, y, cuts) -> int:
    bins = table(values, y, cuts)
    return int(np.sum(bins.sum(axis=1) - bins.max(axis=1)))


def by_levels(values, y, most) -> list[float]:
    """ChiMerge at each level from the start again, until more rows than allowed become inconsistent."""
    kept = middles(values)
    if len(np.unique(y)) == 1:
        return []
    at_first = inconsistent(values, y, kept)
    for level in range(1, 60):
        merged = by_merging(values, y, 1000, chi2.isf(2.0**-level, len(np.unique(y)) - 1))
        if inconsistent(values, y, merged) - at_first > most * len(y) + 1e-9:
            break
        kept = merged
    return kept


@given(rows=labelled(), most=st.sampled_from([0.0, 0.05, 0.2, 0.5]))
def test_the_cuts_are_those_of_raising_the_significance(rows, most):
    values, y = rows
    assert cuts_of(Chi2(100, most).boundaries(counts(values, y))) == by_levels(values, y, most)


@given(rows=labelled(), n_bins=st.integers(1, 4))
def test_the_cap_merges_on_whatever_it_costs(rows, n_bins):
    values, y = rows
    found = Chi2(n_bins, 0.0).boundaries(counts(values, y))
    cuts = by_levels(values, y, 0.0)
    capped = len(cuts) >= n_bins
    while len(cuts) >= n_bins:
        bins = table(values, y, cuts)
        unlike = [exact_chi2(a, b) for a, b in pairwise(bins)]
        del cuts[unlike.index(min(unlike))]
    assert cuts_of(found) == cuts
    assert found.note.startswith(f"merged to {n_bins} bins at most") == capped


def test_iris_keeps_the_cuts_that_keep_it_consistent():
    # The two cuts that every rule of this kind gives the petals.
    assert iris_cuts(Chi2(100), counts)[2:] == [[2.45, 4.75], [0.8, 1.75]]


@pytest.mark.parametrize("most", [0.02, 0.1])
def test_no_more_becomes_inconsistent_than_is_allowed(most):
    rng = np.random.default_rng(1)
    values = rng.integers(0, 200, 4000).astype(float)
    y = (np.sin(values / 20) + rng.normal(size=4000) > 0).astype(int)
    found = Chi2(200, most).boundaries(counts(values, y))
    added = inconsistent(values, y, cuts_of(found)) - inconsistent(values, y, middles(values))
    assert 0 < added <= most * 4000
    assert 1 < found.n_bins < 60


def test_one_bin_says_what_it_costs():
    y = np.array([0] * 9 + [1])
    assert Chi2(10, 0.1).boundaries(counts(np.arange(10), y)).note == "one bin for all, 10.0% more is inconsistent"
