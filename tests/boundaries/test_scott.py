"""Scott's and Freedman and Diaconis' widths against their formulas on the rows, however the column was counted."""

import math
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.columns import columns, counting_path

from softbin import HardBins
from softbin.boundaries import FreedmanDiaconis, Scott, Uniform
from softbin.boundaries.scott import scott_bins, spread
from softbin.errors import OptionError
from softbin.summaries import RankHistogram
from softbin.summaries.rank_histogram import TooCoarse

WIDTHS = [Scott, FreedmanDiaconis]
each_rule = pytest.mark.parametrize("rule", WIDTHS)


def width(rule, values) -> float:
    """As printed, from the rows."""
    n = len(values)
    if rule is Scott:
        return 3.5 * np.std(values) * n ** (-1 / 3)
    values = np.sort(values)
    return 2 * (values[3 * n // 4] - values[n // 4]) * n ** (-1 / 3)


SHAPES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "lognormal": lambda rng, n: rng.lognormal(sigma=1.5, size=n),
    "uniform": lambda rng, n: rng.random(n),
    "far from zero": lambda rng, n: 1e9 + rng.normal(size=n) * 1e-3,
    "tiny": lambda rng, n: rng.normal(size=n) * 1e-300,
    "huge": lambda rng, n: rng.normal(size=n) * 1e300,
}


@each_rule
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [100, 5000])
def test_there_are_as_many_bins_as_the_width_gives(rule, shape, n):
    scale = {"tiny": 1e300, "huge": 1e-300}.get(shape, 1.0)
    values = SHAPES[shape](np.random.default_rng(n), n)
    asked = math.ceil(np.ptp(values * scale) / width(rule, values * scale))
    histogram = RankHistogram.of(values)
    found = rule(len(histogram) - 1).boundaries(histogram)
    assert found.edges == Uniform(asked).boundaries(histogram).edges
    capped = rule(asked - 1).boundaries(histogram)
    assert capped.note.startswith(f"the rule asks for {asked} bins, capped at {asked - 1}")
    assert capped.edges == Uniform(asked - 1).boundaries(histogram).edges


def test_numpy_gives_the_same_width():
    """But for what it calls the quartiles, and 3.4908 for 3.5."""
    values = np.random.default_rng(0).random(4001)
    for rule, name in ((FreedmanDiaconis, "fd"), (Scott, "scott")):
        theirs = len(np.histogram_bin_edges(values, name)) - 1
        assert abs(rule(1000).boundaries(RankHistogram.of(values)).n_bins - theirs) <= 1


def test_an_interquartile_range_of_zero_gives_scotts_width_and_says_so():
    values = np.concatenate([np.zeros(900), np.random.default_rng(0).exponential(size=100)])
    histogram = RankHistogram.of(values)
    found, scott = (rule(50).boundaries(histogram) for rule in (FreedmanDiaconis, Scott))
    assert found.edges == scott.edges
    assert found.note.startswith("the interquartile range is 0, so the width is Scott's")
    assert FreedmanDiaconis(3).boundaries(histogram).note.count("capped at 3") == 1


@given(column=columns(np.float64, missing=False, min_size=2), bits=st.sampled_from([16, 20, 32]))
def test_the_spread_is_within_its_bounds(column, bits):
    exact = RankHistogram.of(column)
    assume(len(exact) > 1 and math.isfinite(exact.maximum - exact.minimum))
    middle, off, _ = spread(exact.leading(bits))
    sd, nothing, _ = spread(exact)
    assert nothing == 0
    assert middle - off <= sd <= middle + off


@pytest.mark.parametrize("shape", SHAPES)
def test_coarse_histograms_are_refined_only_where_the_number_of_bins_is_open(shape):
    values = SHAPES[shape](np.random.default_rng(1), 200_000)
    exact = RankHistogram.of(values)
    expected, _ = scott_bins(exact, 10**6)
    for most in (10, expected - 1, expected, expected + 1, 10**6):
        with suppress(TooCoarse):
            assert scott_bins(exact.leading(), most)[0] == min(expected, most)
    assert scott_bins(exact.leading(), 10)[0] == 10


@each_rule
@pytest.mark.parametrize("shape", ["normal", "far from zero", "lognormal"])
def test_counting_a_column_that_leaves_the_number_open_ends_with_the_same(rule, shape):
    values = SHAPES[shape](np.random.default_rng(2), 3000)
    asked = rule(2999).boundaries(RankHistogram.of(values)).n_bins
    for most in (asked, 10 * asked):
        with counting_path():
            fitted = HardBins(strategy=rule(most), n_jobs=1).fit(values[:, None])
        assert fitted.grid_[0].edges == rule(most).boundaries(RankHistogram.of(values)).edges


@each_rule
def test_the_rows_are_the_sum_of_the_weights(rule):
    values = np.random.default_rng(3).random(1000)
    once = rule(900).boundaries(RankHistogram.of(values)).n_bins
    eight = rule(900).boundaries(RankHistogram.of(values, np.full(1000, 8))).n_bins
    eighth = rule(900).boundaries(RankHistogram.of(values, np.full(1000, 8), 1 / 8)).n_bins
    assert eighth == once
    assert abs(eight - 2 * once) <= 1


@each_rule
def test_the_widest_column_has_edges_and_a_wider_one_an_error(rule):
    wide = np.array([-8e307, -4e307, 0, 1, 4e307, 8e307])
    assert np.all(np.isfinite(rule(4).boundaries(RankHistogram.of(wide)).edges))
    with pytest.raises(OptionError, match="wider than a float64"):
        rule(4).boundaries(RankHistogram.of(2 * wide))
