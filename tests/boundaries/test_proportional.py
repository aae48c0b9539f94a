"""Proportional: as many bins as rows in each."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softbin.boundaries import Proportional, Quantile
from softbin.summaries import RankHistogram


@given(n=st.integers(2, 3000))
def test_there_are_as_many_bins_as_the_square_root_of_the_rows(n):
    histogram = RankHistogram.of(np.random.default_rng(n).normal(size=n))
    most = int(np.sqrt(n)) + 1
    found = Proportional(most).boundaries(histogram)
    assert found.n_bins == (n if n <= most else int(np.sqrt(n)))
    assert found.edges == Quantile(found.n_bins).boundaries(histogram).edges


@pytest.mark.parametrize("knots", [False, True])
def test_the_cap_is_told(knots):
    histogram = RankHistogram.of(np.arange(10_000.0))
    found = Proportional(20).boundaries(histogram, knots=knots)
    assert found.edges == Quantile(20).boundaries(histogram, knots=knots).edges
    assert found.note == "the rule asks for 100 bins, capped at 20"
    assert Proportional(100).boundaries(histogram, knots=knots).note == ""


def test_heavy_values_are_told_beside_the_cap():
    histogram = RankHistogram.of(np.concatenate([np.zeros(5000), np.arange(5000.0)]))
    assert Proportional(20).boundaries(histogram).note == (
        "the rule asks for 100 bins, capped at 20; heavy values have a place of their own: 0 (50%)"
    )


def test_the_rows_are_the_sum_of_the_weights():
    values = np.arange(500.0)
    light, heavy = (RankHistogram.of(values, np.full(500, 8), unit) for unit in (1 / 8, 2.0))
    assert Proportional(400).boundaries(light).n_bins == 22
    assert Proportional(400).boundaries(heavy).n_bins == 89
