"""Noise and roughness from a pilot fit: unbiased where that can be said, and good enough to choose bins by."""

import numpy as np
import pytest
from tests.theory.designs import counted, even

from softbin.theory import Design, pilot, squared_bias


def inner(stretches):
    return (stretches.squared - stretches.noise)[1:-1]


def test_squared_derivatives_are_unbiased():
    """Two thousand draws of a curve that is a parabola: the mean estimate is the truth within three standard errors."""
    random = np.random.default_rng(0)
    values = even(600)
    found = [pilot(*counted(values, values**2 + random.normal(size=600), 6)) for _ in range(2000)]
    for squares, truth in (
        ([inner(p.slopes[-1]) for p in found], (2 * np.arange(1, 6) / 6) ** 2),
        ([inner(p.bends[-1]) for p in found], np.full(4, 4.0)),
        ([[p.noise_variance] for p in found], np.array([1.0])),
    ):
        error = np.std(squares, axis=0) / np.sqrt(2000)
        assert (np.abs(np.mean(squares, axis=0) - truth) < 3 * error + 0.004).all()


@pytest.mark.parametrize("edges", ["quantile", "uniform"])
@pytest.mark.parametrize(("n", "soft_cost"), [(2_000, 1.6), (20_000, 1.2), (500_000, 1.05)])
def test_the_plug_in_costs_little_more_than_the_best_number(edges, n, soft_cost):
    """The risk of every number of bins is exact, from grids on 4,000 rows of density 2v / 0.96 from 0.2 to 1."""
    sample = np.sqrt(0.04 + 0.96 * even(4000))
    values = np.sqrt(0.04 + 0.96 * even(n))

    def risk(fit, k):
        shares = np.linspace(0, 1, int(k) + 1)
        cuts = np.sqrt(0.04 + 0.96 * shares) if edges == "quantile" else 0.2 + 0.8 * shares
        bias = squared_bias(Design.of(sample, np.sin(6 * sample), 0.0, cuts), fit).overall
        return bias + (k + (fit == "soft")) / n

    best = {fit: min(risk(fit, k) for k in np.unique(np.geomspace(1, 120, 40).round())) for fit in ("hard", "soft")}
    costs = []
    for seed in range(8):
        targets = np.sin(6 * values) + np.random.default_rng(seed).normal(size=n)
        chosen = pilot(*counted(values, targets, 100)).best_n_bins(edges)
        costs.append([risk(fit, getattr(chosen, fit).n_bins) / best[fit] for fit in ("hard", "soft")])
    assert (np.mean(costs, axis=0) < [1.05, soft_cost]).all()


def test_noise_is_no_roughness():
    random = np.random.default_rng(1)
    bins = [pilot(*counted(even(5000), random.normal(size=5000), 100)).best_n_bins() for _ in range(40)]
    assert np.mean([best.hard.n_bins for best in bins]) < 4
    assert np.mean([best.soft.n_bins for best in bins]) < 3


def test_the_scale_of_a_column_does_not_matter():
    random = np.random.default_rng(2)
    values, targets = even(5000), np.sin(5 * even(5000)) + random.normal(size=5000) / 3
    for edges in ("quantile", "uniform"):
        one, other = (pilot(*counted(scale * values - 7, targets, 100)).best_n_bins(edges) for scale in (1, 1e6))
        assert other.hard.exact == pytest.approx(one.hard.exact, rel=1e-6)
        assert other.soft.exact == pytest.approx(one.soft.exact, rel=1e-6)


def test_bins_without_rows_are_left_out_and_few_bins_are_few():
    full = pilot([0.0, 1, 2], [5, 5, 5], [0.0, 5, 0], [1.0, 6, 1])
    holed = pilot([0.0, 0.5, 1, 2], [5, 0, 5, 5], [0.0, 0, 5, 0], [1.0, 0, 6, 1])
    np.testing.assert_array_equal(holed.bends[-1].squared, full.bends[-1].squared)
    assert pilot([0.0, 1], [5, 5], [0, 5], [1, 6]).best_n_bins().soft.n_bins == 1
    assert pilot([0.0], [5], [0], [1]).best_n_bins().hard.n_bins == 1


def test_what_is_no_pilot():
    with pytest.raises(ValueError, match="rows: 3 in 3 bins leave nothing"):
        pilot([0, 1, 2], [1, 1, 1], [0, 1, 0], [0, 1, 0])
    with pytest.raises(ValueError, match="in the order of their values"):
        pilot([0, 2, 1], [2, 2, 2], [0, 1, 0], [0, 1, 0])
    with pytest.raises(ValueError, match="neither 'quantile' nor 'uniform'"):
        pilot([0, 1, 2], [2, 2, 2], [0, 1, 0], [0, 1, 0]).best_n_bins("even")
