"""Knots by risk: where the curve bends, quantiles where nothing is seen, and the best density of the theory."""

import numpy as np
import pytest
from scipy.special import expit
from tests.counts import counts
from tests.theory.designs import even

from softbin.boundaries import Quantile, Risk
from softbin.boundaries.risk import BY_WEIGHT
from softbin.summaries import RankHistogram
from softbin.theory import Design, best_density, squared_bias

each_kind = pytest.mark.parametrize("knots", [False, True], ids=["hard", "soft"])


def bias(x, truth, edges, knots):
    """Of these edges, exactly; they may end beyond the values."""
    edges = np.concatenate([[x.min()], edges[1:-1], [x.max()]])
    return squared_bias(Design.of(x, truth, 0.0, edges), "soft" if knots else "hard").overall


@each_kind
def test_edges_crowd_where_the_curve_bends(knots):
    x = even(20_000)
    curve = 2 * np.tanh(30 * (x - 0.5))
    edges = Risk(20).boundaries(counts(x, curve + np.random.default_rng(0).normal(size=len(x))), knots=knots).edges
    near = np.abs(np.array(edges[1:-1]) - 0.5) < 0.12
    assert near.sum() >= 8  # of 19, where quantiles have 4 or 5
    # Half of them are dealt out as quantiles: no gap is much wider than two of those.
    assert np.diff(edges).max() < 1 / (20 * BY_WEIGHT) * 1.2


@pytest.mark.parametrize("target", ["number", "classes"])
@each_kind
@pytest.mark.parametrize("shape", ["tails", "kink", "wave", "line", "step"])
@pytest.mark.parametrize("n", [500, 30_000])
def test_the_risk_is_never_much_more_than_that_of_quantiles(n, shape, knots, target):
    """Exact squared bias plus variance; where the curve bends far from the bulk, much less than that of quantiles."""
    ratio = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x = np.sort(rng.normal(size=n))
        truth = {
            "tails": np.sign(x) * x**2 / 2,
            "kink": 2 * np.tanh(8 * (x - 0.5)),
            "wave": np.sin(2 * x),
            "line": 0.5 * x,
            "step": 1.0 * (x > 1),
        }[shape]
        share = expit(truth)
        y = truth + rng.normal(size=n) if target == "number" else rng.random(n) < share
        noise = 1.0 if target == "number" else 1 / np.mean(share * (1 - share))
        column = RankHistogram.of(x)
        found = Risk(12).boundaries(counts(x, y), knots=knots), Quantile(12).boundaries(column, knots=knots)
        ours, theirs = (bias(x, truth, f.edges, knots) + (f.n_bins + knots) * noise / n for f in found)
        ratio.append(ours / theirs)
    assert max(ratio) < 1.5
    assert np.mean(ratio) < 1.25
    if shape in ("tails", "kink") and n == 30_000:
        assert np.mean(ratio) < 0.9


@each_kind
def test_where_nothing_is_seen_edges_are_quantiles(knots):
    rng = np.random.default_rng(1)
    x = rng.normal(size=3000)
    equal = np.array(Quantile(8).boundaries(RankHistogram.of(x), knots=knots).edges)
    for y in (np.zeros(3000), np.ones(3000, int), np.full(3000, 2.5)):
        assert np.array(Risk(8).boundaries(counts(x, y), knots=knots).edges) == pytest.approx(equal, abs=0.01)


@each_kind
def test_edges_have_half_the_best_density_and_half_that_of_the_values(knots):
    """Evenly spread values, very little noise: the density of edges is known."""
    n, n_bins = 200_000, 400
    x = even(n)
    y = np.exp(4 * x) + np.random.default_rng(0).normal(size=n) / 100
    edges = np.array(Risk(n_bins).boundaries(counts(x, y), knots=knots).edges)
    grid = np.linspace(0, 1, 1001)
    derivative = (16 if knots else 4) * np.exp(4 * grid)
    best = best_density(grid, np.ones(1001), derivative, "soft" if knots else "hard")
    expected = np.cumsum(BY_WEIGHT + (1 - BY_WEIGHT) * best) / 1001
    assert np.searchsorted(edges, grid) / n_bins == pytest.approx(expected, abs=0.06)


def test_straight_log_odds_do_not_bend_soft_bins():
    """The share of ones bends, its log-odds do not."""
    x = even(200_000)
    y = np.random.default_rng(0).random(len(x)) < expit(12 * (x - 0.5))
    edges = {
        kind: np.array(Risk(10).boundaries(counts(x, target), knots=True).edges)
        for kind, target in (("classes", y), ("number", y + 0.5))
    }
    away = {kind: np.abs(found - np.linspace(0, 1, 11)).max() for kind, found in edges.items()}
    assert away["classes"] < 0.06
    assert away["number"] > away["classes"]


@each_kind
@pytest.mark.parametrize("column", [[3.0], [0.0, 1.0], [1.0, 1.0 + 2e-16, 1e300], [-8e307, 0, 8e307], range(7)])
def test_few_values_have_a_place_each(column, knots):
    x = np.repeat(np.array(column, np.float64), 50)
    y = np.random.default_rng(0).integers(0, 3, len(x))
    found = Risk(7).boundaries(counts(x, y), knots=knots)
    assert found.n_bins == max(1, len(column) - knots)


@each_kind
def test_a_heavy_value_has_a_place_of_its_own(knots):
    rng = np.random.default_rng(2)
    x = np.where(rng.random(5000) < 0.8, 0.0, rng.exponential(size=5000))
    found = Risk(10).boundaries(counts(x, np.sin(x) + rng.normal(size=5000)), knots=knots)
    assert found.n_bins == 10
    assert found.edges[0] == 0
    assert found.edges[1] < 0.3
