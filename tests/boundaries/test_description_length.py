"""Description length, against the formula worked out from rows for every number of bins."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.boundaries.brute_force import bins_of, judged, log_loss, small_tables, squared_error
from tests.counts import counts

from softbin.boundaries import DescriptionLength, Quantile
from softbin.summaries import RankHistogram

each_target = pytest.mark.parametrize("n_classes", [0, 2, 3], ids=["number", "binary", "three classes"])


def length(values, y, weight, cuts, n_classes):
    """Of the target by these bins, in nats."""
    n_rows, n_bins = weight.sum(), len(np.unique(bins_of(values, cuts)))
    loss, _, _ = judged(values, y, weight, cuts, log_loss if n_classes else squared_error)
    if n_classes:
        return loss + (n_bins - 1) * (len(np.unique(y)) - 1) / 2 * math.log(n_rows)
    return n_rows / 2 * math.log(max(loss, 1e-300) / n_rows) + (n_bins - 1) / 2 * math.log(n_rows)


@each_target
@given(data=st.data(), most=st.integers(1, 12))
def test_no_number_of_bins_describes_the_target_in_fewer_nats(n_classes, data, most):
    values, y, weight = data.draw(small_tables(n_classes, most_values=30))
    found = DescriptionLength(most).boundaries(counts(values, y, weight, kind="classes" if n_classes else "number"))
    column = RankHistogram.of(values, weight)
    values, y, weight = values[weight > 0], y[weight > 0], weight[weight > 0]
    candidates = [Quantile(k).boundaries(column).edges for k in range(1, most + 1)]
    distinct = np.unique(values)
    parts = [bins_of(distinct, edges[1:-1]).tolist() for edges in candidates]
    assert bins_of(distinct, found.edges[1:-1]).tolist() in parts
    ours = length(values, y, weight, found.edges[1:-1], n_classes)
    lengths = [length(values, y, weight, edges[1:-1], n_classes) for edges in candidates]
    exact = [n for n in lengths if n < -100 * weight.sum()]  # numbers told without error: any of those
    assert ours <= min(lengths) + 1e-6 or (exact and ours in exact)


@given(seed=st.integers(0, 2**32 - 1))
def test_noise_is_one_bin_and_more_rows_pay_for_more_bins(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=20_000)
    assert DescriptionLength().boundaries(counts(x, rng.integers(0, 2, len(x)))).n_bins <= 2
    y = rng.random(len(x)) < 1 / (1 + np.exp(-np.sin(2 * x)))
    few, many = (DescriptionLength().boundaries(counts(x[:n], y[:n])).n_bins for n in (500, 20_000))
    assert few < many


def test_soft_bins_have_the_knots_of_as_many_bins():
    rng = np.random.default_rng(0)
    x = rng.normal(size=3000)
    seen = counts(x, np.sin(2 * x) + rng.normal(size=len(x)))
    hard, soft = (DescriptionLength().boundaries(seen, knots=knots) for knots in (False, True))
    assert soft.edges == Quantile(hard.n_bins).boundaries(RankHistogram.of(x), knots=True).edges
    assert soft.note == hard.note == f"the description of the target is shortest with {hard.n_bins} bins"


@pytest.mark.parametrize("y", [[1, 1, 1, 1], [2.5, 2.5, 2.5, 2.5]])
def test_a_target_with_nothing_to_tell_is_one_bin(y):
    assert DescriptionLength().boundaries(counts(np.arange(4.0), y)).n_bins == 1
