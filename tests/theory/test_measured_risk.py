"""The measured risk of every number of bins: unbiased, by banded as by dense algebra, and good enough to choose by."""

import numpy as np
import pytest
from scipy.special import expit
from tests.theory.designs import counted, even

from softbin.theory import Design, correctness, measured_best_n_bins, measured_risks, squared_bias


def test_the_measured_risk_is_unbiased():
    """Sixty values of ten rows each, so that fine bins hide nothing; hard bins where they divide sixty."""
    random = np.random.default_rng(0)
    values, draws = np.repeat(even(60), 10), 600
    truth = np.sin(5 * values)
    found = [measured_risks(*counted(values, truth + random.normal(size=600), 60), most=12) for _ in range(draws)]
    sizes = [risk.hard.n_bins for risk in found[0]]
    for fit in ("hard", "soft"):
        drawn = np.array([[getattr(risk, fit).risk for risk in risks] for risks in found])
        error = drawn.std(axis=0) / np.sqrt(draws)
        for position, k in enumerate(sizes):
            if fit == "hard" and 60 % k:
                continue
            # Knots are on the fine bins nearest to the quantiles, the ends on the end bins.
            inner = np.searchsorted(np.arange(1, 60) / 60, np.linspace(0, 1, k + 1))
            edges = even(60)[inner] if fit == "soft" else np.linspace(0, 1, k + 1)
            exact = correctness(Design.of(values, truth, 1.0, edges), fit).overall
            assert abs(drawn[:, position].mean() - exact) < 3.5 * error[position], (fit, k)


def test_soft_fits_are_those_of_dense_least_squares():
    random = np.random.default_rng(1)
    centres = np.cumsum(random.gamma(1.0, size=50))
    rows = random.integers(2, 40, 50)
    sums = rows * np.sin(centres / 8) + random.normal(size=50)
    squares = sums**2 / rows + rows
    noise = rows.sum() / (rows.sum() - 50)
    place = (np.cumsum(rows) - rows / 2) / rows.sum()
    for risk in measured_risks(centres, rows, sums, squares):
        k = risk.soft.n_bins
        knots = np.unique([np.abs(place - share).argmin() for share in np.linspace(0, 1, k + 1)])
        hats = np.stack([np.interp(centres, centres[knots], unit) for unit in np.eye(len(knots))], axis=1)
        scale = np.sqrt(rows)[:, None]
        fit = hats @ np.linalg.lstsq(hats * scale, sums / rows * scale[:, 0], rcond=None)[0]
        residual = rows @ (sums / rows - fit) ** 2
        assert risk.soft.risk == pytest.approx((residual - (50 - 2 * len(knots)) * noise) / rows.sum())


@pytest.mark.parametrize("shape", ["even", "normal", "lognormal"])
@pytest.mark.parametrize("n", [3000, 50_000])
def test_the_choice_costs_little_more_than_the_best_number(shape, n):
    """0/1 targets; heavy tails are where the formulas for many bins go wrong."""
    random = np.random.default_rng(0)
    values = np.sort(
        {"even": random.random(n) * 3, "normal": random.normal(size=n), "lognormal": random.lognormal(size=n)}[shape]
    )
    share = expit(values - 1)
    noise = (share * (1 - share)).mean()

    def risk(fit, k):
        design = Design.of(values, share, 0.0, np.quantile(values, np.linspace(0, 1, int(k) + 1)))
        return squared_bias(design, fit).overall + (k + (fit == "soft")) * noise / n

    best = {fit: min(risk(fit, k) for k in np.unique(np.geomspace(1, 60, 30).round())) for fit in ("hard", "soft")}
    costs = []
    for seed in range(8):
        targets = (np.random.default_rng(seed).random(n) < share).astype(float)
        chosen = measured_best_n_bins(*counted(values, targets, 200))
        costs.append([risk(fit, getattr(chosen, fit).n_bins) / best[fit] for fit in ("hard", "soft")])
    assert (np.mean(costs, axis=0) < 1.25).all()


@pytest.mark.parametrize("edges", ["quantile", "uniform"])
def test_noise_has_few_bins_and_steps_have_many(edges):
    random = np.random.default_rng(1)
    v = even(8000)
    found = [measured_best_n_bins(*counted(v, random.normal(size=8000), 100), edges=edges) for _ in range(30)]
    assert np.mean([best.hard.n_bins for best in found]) < 4
    assert np.mean([best.soft.n_bins for best in found]) < 4
    steps = measured_best_n_bins(*counted(v, np.floor(v * 8) + random.normal(size=8000) / 5, 80), edges=edges)
    assert steps.hard.n_bins == 8
    assert steps.soft.n_bins > 16


def test_how_many_are_tried():
    arguments = counted(even(5000), np.random.default_rng(0).normal(size=5000), 300)
    sizes = [risk.hard.n_bins for risk in measured_risks(*arguments)]
    assert sizes[:16] == list(range(1, 17))
    assert sizes[-1] == 100
    assert len(sizes) < 40
    assert measured_risks(*arguments, most=7)[-1].soft.n_bins == 7
    assert measured_best_n_bins([1.0], [5], [2], [1]).soft.n_bins == 1


def test_uneven_columns_with_equal_width_have_no_empty_bin():
    values = np.sort(np.random.default_rng(0).lognormal(size=2000, sigma=2))
    found = measured_risks(*counted(values, np.log(values), 100), edges="uniform")
    assert all(np.isfinite([risk.hard.risk, risk.soft.risk]).all() for risk in found)


def test_what_cannot_be_measured():
    with pytest.raises(ValueError, match="leave nothing to see noise by"):
        measured_risks([0, 1], [1, 1], [0, 1], [0, 1])
    with pytest.raises(ValueError, match="neither 'quantile' nor 'uniform'"):
        measured_risks([0, 1], [3, 3], [0, 1], [0, 1], edges="even")
