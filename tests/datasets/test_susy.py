"""Simulated SUSY: four-momentum in the decays, cuts, and derived columns beside slow definitions."""

import numpy as np
import pytest
from scipy.optimize import minimize

from softbin.datasets import simulate_susy, susy
from softbin.datasets import susy_columns as definitions
from softbin.datasets.detector import Jets
from softbin.datasets.draws import Draws
from softbin.datasets.kinematics import mass

N = 5000


@pytest.fixture(scope="module")
def data():
    return simulate_susy(20_000)


def column(data, name):
    return data.X[:, data.columns.index(name)].astype(float)


def leptons_and_missing(n, seed=0):
    draws = Draws(seed, 0)
    return [
        Jets(draws.falling(20, 2, n), eta, draws.angle(n)) for eta in (draws.normal(n), draws.normal(n), np.zeros(n))
    ]


def test_columns_are_those_of_uci(data):
    assert len(data.columns) == 18
    assert data.columns[6:12] == (
        "missing_energy_magnitude",
        "missing_energy_phi",
        "met_rel",
        "axial_met",
        "m_r",
        "m_tr_2",
    )


@pytest.mark.parametrize("produce", [susy.w_pairs, susy.chargino_pairs])
def test_momentum_balances_across_the_beam(produce):
    event = produce(Draws(0, 0), N)
    together = event.leptons[0] + event.leptons[1] + event.invisible
    assert np.abs(together[1] + event.incoming.x.sum(axis=0)).max() < 0.1
    assert np.abs(together[2] + event.incoming.y.sum(axis=0)).max() < 0.1


def test_the_pairs_are_above_threshold():
    for produce, threshold in ((susy.w_pairs, 140), (susy.chargino_pairs, 2 * susy.CHARGINO_MASS - 1)):
        event = produce(Draws(0, 0), N)
        total = mass((event.leptons[0] + event.leptons[1] + event.invisible).astype(float))
        assert np.quantile(total, 0.02) > threshold
        assert np.median(total) < 3 * threshold


def test_the_harder_lepton_is_first_and_both_pass_the_cuts(data):
    first, second = (column(data, f"lepton_{k}_pt") * definitions.LEPTON_UNITS[k - 1][0] for k in (1, 2))
    assert (first >= second - 1e-3).all()
    assert second.min() > 20 - 1e-3
    for k in (1, 2):
        assert np.abs(column(data, f"lepton_{k}_eta")).max() * definitions.LEPTON_UNITS[k - 1][1] < 2.5 + 1e-3


def test_derived_columns_stay_in_their_ranges(data):
    assert (column(data, "met_rel") * 58.42 <= column(data, "missing_energy_magnitude") * 87.68 + 0.05).all()
    assert column(data, "dphi_r_b").min() >= 0
    assert column(data, "dphi_r_b").max() * 1.9738 <= np.pi + 1e-3
    assert 0 <= column(data, "cos_theta_r1").min() <= column(data, "cos_theta_r1").max() <= 1
    np.testing.assert_allclose(
        column(data, "r") * 0.5535, column(data, "m_tr_2") * 73.75 / (column(data, "m_r") * 150.13), rtol=1e-3
    )


def slow_mt2(first, second, missing):
    """The least mass over all splits of the missing momentum, by brute force."""

    def transverse_mass(lepton, x, y):
        return 2 * (lepton.pt[0] * np.hypot(x, y) - lepton.x[0] * x - lepton.y[0] * y)

    def larger(split):
        x, y = split
        rest = missing.x[0] - x, missing.y[0] - y
        return max(transverse_mass(first, x, y), transverse_mass(second, *rest))

    starts = [(0.5 * missing.x[0], 0.5 * missing.y[0]), (0.0, 0.0), (missing.x[0], missing.y[0])]
    options = {"xatol": 1e-7, "fatol": 1e-7, "maxiter": 4000}
    least = min(minimize(larger, start, method="Nelder-Mead", options=options).fun for start in starts)
    return np.sqrt(max(least, 0))


def test_mt2_is_the_minimum_over_splits():
    first, second, missing = leptons_and_missing(40)
    fast = definitions.stransverse_mass(first.vectors(), second.vectors(), missing)
    slow = np.array([slow_mt2(*(jets.at(slice(k, k + 1)) for jets in (first, second, missing))) for k in range(40)])
    assert (fast == 0).any()
    assert (fast > 20).any()
    np.testing.assert_allclose(fast, slow, rtol=0.01, atol=0.3)


def test_mt2_of_w_pairs_ends_at_the_w():
    event = susy.w_pairs(Draws(0, 0), N)
    x, y = event.invisible[1], event.invisible[2]
    missing = Jets(np.hypot(x, y), np.zeros_like(x), np.arctan2(y, x))
    found = definitions.stransverse_mass(*event.leptons, missing)
    assert np.quantile(found, 0.95) < 84
    assert found.max() > 70


def test_razor_variables_do_not_see_a_boost_along_the_beam():
    first, second, missing = leptons_and_missing(500)
    shifted = [Jets(lepton.pt, lepton.eta + np.float32(0.4), lepton.phi).vectors() for lepton in (first, second)]
    before = first.vectors(), second.vectors()
    for found, expected in zip(
        (*definitions.razor(*shifted, missing), *definitions.super_razor(*shifted, missing)),
        (*definitions.razor(*before, missing), *definitions.super_razor(*before, missing)),
        strict=True,
    ):
        assert np.median(np.abs(found - expected) / np.maximum(expected, 0.1)) < 1e-3


def test_missing_energy_near_a_jet_counts_less():
    first, second, missing = leptons_and_missing(200)
    alone = Jets(np.zeros((1, 200)), np.zeros((1, 200)), missing.phi[None])
    with_jet = definitions.relative_missing(
        definitions.Measured(first, second, missing, alone, np.ones((1, 200), bool))
    )
    without = definitions.relative_missing(
        definitions.Measured(first, second, missing, alone, np.zeros((1, 200), bool))
    )
    assert np.abs(with_jet).max() < 1e-3
    assert np.median(without) > 10
