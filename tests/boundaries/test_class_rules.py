"""What all rules that tell classes apart have in common."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.boundaries.rows import cuts_of, labelled
from tests.counts import counts

from softbin import HardBins
from softbin.boundaries import CACC, CAIM, MDLP, Ameva, Chi2, ChiMerge
from softbin.errors import DataError, OptionError

CLASS_RULES = [MDLP, ChiMerge, Chi2, CAIM, CACC, Ameva]
each_class_rule = pytest.mark.parametrize("rule", CLASS_RULES)
THIRDS = np.repeat([0.0, 1, 2, 3, 4, 5], 30)


@each_class_rule
def test_classes_that_a_cut_separates_are_separated_by_it(rule):
    values = np.arange(300.0)
    assert cuts_of(rule().boundaries(counts(values, values >= 100))) == [99.5]
    three = (values >= 100).astype(int) + (values >= 200)
    if rule is not Ameva:
        assert cuts_of(rule().boundaries(counts(values, three))) == [99.5, 199.5]


@pytest.mark.parametrize("rule", [ChiMerge(), Chi2(inconsistency=0.0), CAIM(), CACC(), Ameva()])
def test_a_class_of_one_row_at_the_end_keeps_its_cut(rule):
    values = np.arange(300.0)
    assert cuts_of(rule.boundaries(counts(values, values == 299))) == [298.5]


def test_two_rows_are_worth_a_cut_to_mdlp_and_one_is_not():
    """One row's class takes 9.7 bits to write down, and a cut 11."""
    values = np.arange(300.0)
    assert cuts_of(MDLP().boundaries(counts(values, values >= 298))) == [297.5]
    assert cuts_of(MDLP().boundaries(counts(values, values >= 299))) == []


@each_class_rule
@pytest.mark.parametrize("knots", [False, True])
def test_a_constant_column_has_one_edge_and_one_class_one_bin(rule, knots):
    assert rule().boundaries(counts(np.full(9, 2.5), [0, 1, 2] * 3), knots=knots).edges == (2.5,)
    found = rule().boundaries(counts(np.arange(9), np.zeros(9)), knots=knots)
    assert found.edges == (0, 8)
    assert found.note


@each_class_rule
def test_rows_without_a_value_are_left_out(rule):
    y = (THIRDS > 1).astype(int) + (THIRDS > 3)
    rng = np.random.default_rng(0)
    missing = rng.random(len(y)) < 0.3
    # One class has no row but missing ones.
    y[rng.permutation(np.flatnonzero(missing))[:5]] = 7
    holes = np.where(missing, np.nan, THIRDS)
    assert rule().boundaries(counts(holes, y)) == rule().boundaries(counts(THIRDS[~missing], y[~missing]))


@each_class_rule
@given(rows=labelled(most_values=12), data=st.data(), n_bins=st.integers(1, 8))
def test_weights_count_rows(rule, rows, data, n_bins):
    values, y = rows
    weight = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y))))
    assume(weight.any())
    weighted = rule(n_bins).boundaries(counts(values, y, weight))
    assert weighted == rule(n_bins).boundaries(counts(np.repeat(values, weight), np.repeat(y, weight)))


@each_class_rule
@given(rows=labelled(most_values=12), n_bins=st.integers(1, 8), least=st.sampled_from([0.0, 0.05, 0.2, 0.5, 0.9]))
def test_there_are_no_more_bins_than_asked_and_none_is_too_light(rule, rows, n_bins, least):
    values, y = rows
    found = rule(n_bins, min_bin_share=least).boundaries(counts(values, y))
    assert found.n_bins <= n_bins
    weight = np.bincount(np.searchsorted(cuts_of(found), values, side="right"), minlength=found.n_bins)
    assert np.all(weight[: found.n_bins] >= least * len(y))


@each_class_rule
@given(rows=labelled(most_values=12), n_bins=st.integers(1, 8))
def test_what_the_classes_are_called_does_not_matter(rule, rows, n_bins):
    values, y = rows
    names = np.array(["b", "c", "a"])[y]
    assert rule(n_bins).boundaries(counts(values, y)).edges == rule(n_bins).boundaries(counts(values, names)).edges


@each_class_rule
def test_a_target_of_numbers_is_an_error_that_says_so(rule):
    X = np.arange(40.0)[:, None]
    with pytest.raises(DataError, match=r"continuous.*tree"):
        HardBins(strategy=rule()).fit(X, np.sqrt(X[:, 0]))
    # Numbers that are whole are classes, however many.
    assert HardBins(strategy=rule()).fit(X, np.arange(40.0)).n_bins_[0] >= 1


@each_class_rule
@pytest.mark.parametrize("options", [{"n_bins": 0}, {"n_bins": 2.5}, {"min_bin_share": 1}, {"min_bin_share": -0.1}])
def test_options_out_of_range_are_refused(rule, options):
    with pytest.raises(OptionError, match=next(iter(options))):
        rule(**options)


@pytest.mark.parametrize("bad", [1, -0.1, "high", True])
def test_shares_of_the_chi_rules_are_checked_too(bad):
    with pytest.raises(OptionError, match="significance"):
        ChiMerge(significance=bad)
    with pytest.raises(OptionError, match="inconsistency"):
        Chi2(inconsistency=bad)


@each_class_rule
def test_very_many_classes_are_no_trouble(rule):
    rng = np.random.default_rng(0)
    values = np.repeat(np.arange(300.0), 3)
    assert 1 <= rule().boundaries(counts(values, rng.integers(0, 900, 900), kind="classes")).n_bins <= 10
    assert rule(400).boundaries(counts(values, values, kind="classes")).n_bins >= 1
