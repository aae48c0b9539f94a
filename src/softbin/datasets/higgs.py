"""Simulated HIGGS: gg -> H0(425) -> W H+-(325) -> W W h0(125) -> W W b b against t t -> W b W b, one W to a lepton.

Columns, selection and units are those of the UCI data set (Baldi, Sadowski & Whiteson 2014). The events are our own,
and far simpler than a full simulation: numbers from them are not UCI numbers.

An event: two tops, or a heavy Higgs boson, with a falling or a resonant mass recoil against gluons that the incoming
partons radiate, and decay in steps of two bodies. What is seen of that is in higgs_selection.py, what is computed from
it in higgs_columns.py. The constants below were chosen so that the columns come near to those of a real sample.
"""

import numpy as np

from softbin.datasets.draws import Draws, Floats
from softbin.datasets.events import Dataset, Process, simulate
from softbin.datasets.higgs_columns import COLUMNS
from softbin.datasets.higgs_selection import N_INCOMING, Partons, measure
from softbin.datasets.kinematics import decay
from softbin.datasets.production import W_MASS, W_WIDTH, Beam, falling_mass, produce, w_decay

SIGNAL_SHARE = 0.53
B_MASS = 4.7

TOP_MASS, TOP_WIDTH = 173.0, 1.5
TOP_POWER, TOP_FORWARD = 4.42, 0.755
TOP_BEAM = Beam(rapidity=1.18, gluons=1.35, softest=25.0, power=1.96, pseudorapidity=3.0)
LEFT_HANDED = 0.3  # share of the W bosons from a top

HEAVY_MASS, HEAVY_WIDTH = 425.0, 8.34
CHARGED_MASS, CHARGED_WIDTH = 325.0, 10.9
LIGHT_MASS = 125.0
HIGGS_BEAM = Beam(rapidity=0.958, gluons=1.6, softest=25.0, power=1.4, pseudorapidity=3.0)


def simulate_higgs(rows: int, seed: int = 0, n_jobs: int | None = None) -> Dataset:
    """Simulated events with the 28 columns of UCI HIGGS, in its units; they resemble it and are not it.

    ``n_jobs`` threads share the work; the bits depend on ``seed`` alone, and fewer rows are a prefix of more.

    >>> from softbin import simulate_higgs
    >>> data = simulate_higgs(1000, seed=0)
    >>> data.X.shape, data.X.dtype, data.columns[0]
    ((1000, 28), dtype('float32'), 'lepton_pt')
    """
    return simulate(PROCESS, rows, seed, n_jobs)


def background(draws: Draws, n: int) -> Floats:
    """Selected events out of ``n`` pairs of tops."""
    return measure(draws, top_pairs(draws, n))


def signal(draws: Draws, n: int) -> Floats:
    """Selected events out of ``n`` cascades."""
    return measure(draws, higgs_cascades(draws, n))


def top_pairs(draws: Draws, n: int) -> Partons:
    """t t -> W b W b, the first W to a lepton."""
    masses = draws.mass(TOP_MASS, TOP_WIDTH, n), draws.mass(TOP_MASS, TOP_WIDTH, n)
    total = falling_mass(draws, masses[0] + masses[1], TOP_POWER)
    system, incoming = produce(draws, total, TOP_BEAM, N_INCOMING)
    tops = decay(system, (total, *masses), draws.forward(TOP_FORWARD, n), draws.angle(n))
    b_mass = np.full(n, B_MASS, np.float32)
    fermions, bs = [], []
    for top, mass in zip(tops, masses, strict=True):
        w_mass = draws.mass(W_MASS, W_WIDTH, n)
        w, b = decay(top, (mass, w_mass, b_mass), draws.isotropic(n), draws.angle(n))
        fermions.append(w_decay(draws, w, w_mass, top, draws.mixed(LEFT_HANDED, n)))
        bs.append(b)
    return Partons(*fermions[0], np.stack([*bs, *fermions[1]], axis=1), incoming)


def higgs_cascades(draws: Draws, n: int) -> Partons:
    """H0 -> W H+-, H+- -> W h0, h0 -> b b; either W to a lepton."""
    heavy, charged = draws.mass(HEAVY_MASS, HEAVY_WIDTH, n), draws.mass(CHARGED_MASS, CHARGED_WIDTH, n)
    w_masses = np.stack([draws.mass(W_MASS, W_WIDTH, n), draws.mass(W_MASS, W_WIDTH, n)])
    possible = (heavy > charged + w_masses[0]) & (charged > LIGHT_MASS + w_masses[1])
    heavy, charged, w_masses = heavy[possible], charged[possible], w_masses[:, possible]
    n = len(heavy)
    light, b_mass = np.full(n, LIGHT_MASS, np.float32), np.full(n, B_MASS, np.float32)
    system, incoming = produce(draws, heavy, HIGGS_BEAM, N_INCOMING)
    w1, higgs = decay(system, (heavy, w_masses[0], charged), draws.isotropic(n), draws.angle(n))
    w2, h = decay(higgs, (charged, w_masses[1], light), draws.isotropic(n), draws.angle(n))
    bs = decay(h, (light, b_mass, b_mass), draws.isotropic(n), draws.angle(n))
    first = w_decay(draws, w1, w_masses[0], system, draws.longitudinal(n))
    second = w_decay(draws, w2, w_masses[1], higgs, draws.longitudinal(n))
    swap = draws.chance(0.5, n)
    lepton, neutrino = (np.where(swap, a, b) for a, b in zip(first, second, strict=True))
    quarks = [np.where(swap, b, a) for a, b in zip(first, second, strict=True)]
    return Partons(lepton, neutrino, np.stack([*bs, *quarks], axis=1), incoming)


PROCESS = Process(COLUMNS, background, signal, SIGNAL_SHARE)
