"""ChiMerge against merging in fractions from the rows themselves, and against published cuts."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import chi2, chi2_contingency
from tests.boundaries.rows import IRIS, SPECIES, cuts_of, iris_cuts, labelled, middles, table
from tests.counts import counts

from softbin.boundaries import ChiMerge
from softbin.boundaries.chi_merging import join_light, pair_chi2


def exact_chi2(a, b) -> Fraction:
    """Of two rows of a table, with Kerber's guard."""
    of_a, of_b = int(sum(a)), int(sum(b))
    total = Fraction(0)
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        for seen, of in ((x, of_a), (y, of_b)):
            expected = Fraction(of * (x + y), of_a + of_b)
            total += (seen - expected) ** 2 / max(expected, Fraction(1, 2))
    return total


def by_merging(values, y, n_bins, threshold) -> list[float]:
    """Kerber's loop, all pairs looked at again after each merge; of equal pairs the left one."""
    cuts = middles(values)
    while cuts:
        bins = table(values, y, cuts)
        unlike = [exact_chi2(a, b) for a, b in pairwise(bins)]
        if min(unlike) >= threshold and len(bins) <= n_bins:
            break
        del cuts[unlike.index(min(unlike))]
    return cuts


@given(rows=labelled(), n_bins=st.integers(1, 9), significance=st.sampled_from([0.0, 0.5, 0.9, 0.95, 0.99]))
def test_the_cuts_are_those_of_merging_in_fractions(rows, n_bins, significance):
    values, y = rows
    k = len(np.unique(y))
    threshold = chi2.ppf(significance, k - 1) if k > 1 else np.inf
    found = ChiMerge(n_bins, significance).boundaries(counts(values, y))
    assert cuts_of(found) == by_merging(values, y, n_bins, threshold)


@pytest.mark.parametrize("seed", range(5))
def test_merging_finds_the_same_in_longer_columns(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 50, 600).astype(float)
    y = (np.sin(values / 5) + rng.normal(size=600) > 0).astype(int) + (values > 40)
    expected = by_merging(values, y, 100, chi2.ppf(0.95, 2))
    assert cuts_of(ChiMerge(100).boundaries(counts(values, y))) == expected
    assert len(expected) > 2


def test_iris_has_the_published_cuts():
    # R package discretization, chiM(iris, alpha = 0.05)$cutp.
    expected = [[5.45, 5.75, 7.05], [2.95, 3.35], [2.45, 4.75, 5.15], [0.8, 1.75]]
    assert iris_cuts(ChiMerge(100, 0.95), counts) == expected


def test_kerbers_sepal_width_has_the_published_bins():
    # Kerber (1992) at significance .90 and the pychimerge package: bins from 2, 2.5, 3 and 3.4 with these classes.
    width = IRIS[:, 1].copy()
    width[37] = 3.1  # as the UCI repository has it, and had it then; scikit-learn has Fisher's own 3.6
    cuts = cuts_of(ChiMerge(100, 0.90).boundaries(counts(width, SPECIES)))
    bins = table(width, SPECIES, cuts)
    assert [width[width > cut].min() for cut in cuts] == [2.5, 3.0, 3.4]
    assert bins.tolist() == [[1, 9, 1], [1, 25, 20], [18, 15, 24], [30, 1, 5]]
    unlike = [pair_chi2(a, b) for a, b in pairwise(bins.tolist())]
    np.testing.assert_allclose(unlike[1:], [17.1, 24.2], atol=0.05)


@given(
    a=st.lists(st.integers(20, 100), min_size=2, max_size=5), b=st.lists(st.integers(20, 100), min_size=5, max_size=5)
)
def test_the_statistic_is_pearsons_where_no_class_is_rare(a, b):
    both = np.array([a, b[: len(a)]])
    assert pair_chi2(*both.tolist()) == pytest.approx(chi2_contingency(both, correction=False).statistic, abs=1e-8)


@given(a=st.lists(st.integers(0, 6), min_size=3, max_size=3), b=st.lists(st.integers(0, 6), min_size=3, max_size=3))
def test_small_expectations_are_guarded(a, b):
    assume(sum(a) and sum(b))
    assert pair_chi2(a, b) == pytest.approx(float(exact_chi2(np.array(a), np.array(b))), abs=1e-8)


def test_a_merge_that_the_cap_forces_can_make_others_alike():
    values, y = np.repeat([0.0, 1, 2], [2, 3, 3]), np.repeat([0, 1, 0], [2, 3, 3])
    assert ChiMerge(3).boundaries(counts(values, y)).n_bins == 3
    assert ChiMerge(2).boundaries(counts(values, y)).n_bins == 1


def test_the_report_says_why_bins_were_merged():
    rng = np.random.default_rng(0)
    values = np.repeat(np.arange(20.0), 50)
    wave = counts(values, (values % 2).astype(int))
    assert ChiMerge(5).boundaries(wave).note == "20 bins differ, merged to 5 at most"
    assert ChiMerge(20).boundaries(wave).note == ""
    noise = counts(values, rng.integers(0, 2, len(values)))
    assert ChiMerge(10, 0.9999).boundaries(noise).note == "no two bins differ enough"
    light = ChiMerge(20, min_bin_share=0.08).boundaries(wave)
    assert light.note == f"{20 - light.n_bins} light bins joined a neighbour"


@given(rows=labelled(), least=st.sampled_from([0.1, 0.3, 0.6]))
def test_a_light_bin_joins_the_neighbour_more_like_it(rows, least):
    """One bin at a time, from the rows."""
    values, y = rows
    cuts = middles(values)
    while cuts:
        bins = table(values, y, cuts)
        weight = bins.sum(axis=1)
        i = int(np.argmin(weight))
        if weight[i] >= least * len(y):
            break
        sides = [k for k in (i - 1, i) if 0 <= k < len(cuts)]
        del cuts[min(sides, key=lambda k: exact_chi2(bins[k], bins[k + 1]))]
    seen = counts(values, y)
    kept = join_light(seen.class_weight, list(range(1, len(seen))), least * len(y))
    assert seen.cuts[np.array(kept, int) - 1].tolist() == cuts
