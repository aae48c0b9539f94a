"""Simulated HIGGS: four-momentum in the cascade, peaks, cuts, tags, and masses that follow from the other columns."""

import numpy as np
import pytest

from softbin.datasets import higgs, simulate_higgs
from softbin.datasets import higgs_columns as definitions
from softbin.datasets.detector import Jets
from softbin.datasets.draws import Draws
from softbin.datasets.kinematics import from_polar, mass

N = 5000


@pytest.fixture(scope="module")
def data():
    return simulate_higgs(20_000)


def column(data, name):
    return data.X[:, data.columns.index(name)].astype(float)


@pytest.fixture(scope="module", params=["top_pairs", "higgs_cascades"])
def partons(request):
    return request.param, getattr(higgs, request.param)(Draws(0, 0), N)


def test_columns_are_those_of_uci(data):
    assert len(data.columns) == 28
    assert data.columns[:6] == (
        *("lepton_pt", "lepton_eta", "lepton_phi", "missing_energy_magnitude", "missing_energy_phi"),
        "jet_1_pt",
    )
    assert data.columns[20:] == ("jet_4_b_tag", "m_jj", "m_jjj", "m_lv", "m_jlv", "m_bb", "m_wbb", "m_wwbb")


def test_momentum_balances_across_the_beam(partons):
    _, event = partons
    together = event.lepton + event.neutrino + event.quarks.sum(axis=1)
    assert np.abs(together[1] + event.incoming.x.sum(axis=0)).max() < 0.05
    assert np.abs(together[2] + event.incoming.y.sum(axis=0)).max() < 0.05


def test_masses_peak_where_they_should(partons):
    name, event = partons
    b1, b2, q1, q2 = (event.quarks[:, slot] for slot in range(4))
    leptonic, hadronic = event.lepton + event.neutrino, q1 + q2
    assert abs(np.median(mass(leptonic)) - 80.4) < 0.2
    assert abs(np.median(mass(hadronic)) - 80.4) < 0.2
    if name == "top_pairs":
        assert abs(np.median(mass(leptonic + b1)) - higgs.TOP_MASS) < 0.3
        assert abs(np.median(mass(hadronic + b2)) - higgs.TOP_MASS) < 0.3
    else:
        charged = np.minimum(
            np.abs(mass(leptonic + b1 + b2) - higgs.CHARGED_MASS), np.abs(mass(hadronic + b1 + b2) - higgs.CHARGED_MASS)
        )
        assert np.abs(mass(b1 + b2) - higgs.LIGHT_MASS).max() < 1
        assert np.median(charged) < 20
        assert abs(np.median(mass(leptonic + hadronic + b1 + b2)) - higgs.HEAVY_MASS) < 2


def test_tags_take_three_values(data):
    for jet, levels in enumerate(
        ((0, 1.086538, 2.173076), (0, 1.107436, 2.214872), (0, 1.274112, 2.548224), (0, 1.550981, 3.101961))
    ):
        values = np.unique(column(data, f"jet_{jet + 1}_b_tag"))
        np.testing.assert_allclose(values, levels, atol=1e-6)


def test_no_event_has_more_than_two_tags(data):
    tags = sum((column(data, f"jet_{jet}_b_tag") > 0).astype(int) for jet in (1, 2, 3, 4))
    assert tags.max() == 2
    assert (tags == 2).mean() > 0.6


def test_cuts(data):
    assert column(data, "lepton_pt").min() * definitions.LEPTON_UNITS[0] > 15 - 1e-3
    assert np.abs(column(data, "lepton_eta")).max() * definitions.LEPTON_UNITS[1] < 2.5 + 1e-3
    for jet, (pt, eta, _) in enumerate(definitions.JET_UNITS):
        assert column(data, f"jet_{jet + 1}_pt").min() * pt > 15 - 1e-3
        assert np.abs(column(data, f"jet_{jet + 1}_eta")).max() * eta < 3 + 1e-3


def test_m_bb_follows_from_the_tagged_jets(data):
    vectors, tagged = [], []
    for jet, units in enumerate(definitions.JET_UNITS):
        values = [
            column(data, f"jet_{jet + 1}_{what}") * unit for what, unit in zip(("pt", "eta", "phi"), units, strict=True)
        ]
        vectors.append(from_polar(*values))
        tagged.append(column(data, f"jet_{jet + 1}_b_tag") > 0)
    both = sum(np.where(tag, vector, 0) for vector, tag in zip(vectors, tagged, strict=True))
    rows = np.sum(tagged, axis=0) == 2
    np.testing.assert_allclose(mass(both)[rows] / 126.54, column(data, "m_bb")[rows], rtol=1e-3, atol=1e-3)


def test_the_larger_masses_contain_the_smaller(data):
    assert (column(data, "m_jjj") * 179.65 >= column(data, "m_jj") * 87.68 - 0.1).all()
    assert (column(data, "m_wwbb") * 511.36 >= column(data, "m_wbb") * 336.12 - 0.1).all()
    assert (column(data, "m_wbb") * 336.12 >= column(data, "m_bb") * 126.54 - 0.1).all()


def test_signal_and_background_peak_apart(data):
    m_bb = column(data, "m_bb") * 126.54
    near_the_light_boson = (m_bb > 90) & (m_bb < 130)
    assert near_the_light_boson[data.y == 1].mean() > 1.5 * near_the_light_boson[data.y == 0].mean()
    assert abs(np.median(column(data, "m_jj")) * 87.68 - 79) < 4


def single(pt, eta, phi):
    return Jets(*(np.array([value], np.float32) for value in (pt, eta, phi)))


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_neutrino_gives_the_w_mass(side):
    lepton, missing = single(40, 0.7, 0.3), single(35, 0, 1.5)
    found = definitions.neutrino(lepton, missing, np.float32([side]), np.float32([0]))
    assert abs(mass(lepton.vectors() + found)[0] - 80.4) < 0.01


def test_without_a_solution_it_is_the_transverse_mass():
    lepton, missing = single(80, 0.7, 0.3), single(75, 0, 0.3 + np.pi)
    found = definitions.neutrino(lepton, missing, np.float32([1]), np.float32([0.01]))
    assert abs(mass(lepton.vectors() + found)[0] - 2 * np.sqrt(80 * 75)) < 0.1


def test_the_pair_nearest_to_the_w():
    draws = Draws(1, 0)
    vectors = from_polar(20 + 50 * draws.uniform((4, 300)), draws.normal((4, 300)), draws.angle((4, 300)))
    present = np.ones((4, 300), bool)
    present[3, ::2] = False
    found = mass(definitions.nearest_pair(vectors, present))
    for event in range(300):
        slots = [slot for slot in range(4) if present[slot, event]]
        pairs = [mass(vectors[:, a, event] + vectors[:, b, event]) for a in slots for b in slots if a < b]
        assert abs(found[event] - 80.4) <= min(abs(pair - 80.4) for pair in pairs) + 0.02
