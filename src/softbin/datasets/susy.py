"""Simulated SUSY: chargino pairs -> W chi0 W chi0 -> two leptons and missing energy, against W W -> two leptons.

Columns, selection and units are those of the UCI data set (Baldi, Sadowski & Whiteson 2014). The events are our own,
and far simpler than a full simulation: numbers from them are not UCI numbers.

An event: a pair with a falling mass recoils against gluons that the incoming partons radiate, and decays in steps of
two bodies; leptons, jets and missing energy are measured. Selected are two leptons with pT > 20 GeV and |eta| < 2.5.
The constants were chosen so that the columns come near to those of a real sample; the masses are effective ones.
"""

from dataclasses import dataclass

import numpy as np

from softbin.datasets.detector import Jets, Resolution, jets_of, measured_share, missing_momentum, near
from softbin.datasets.draws import Draws, Floats
from softbin.datasets.events import Dataset, Process, simulate
from softbin.datasets.kinematics import Vectors, decay
from softbin.datasets.production import W_MASS, W_WIDTH, Beam, falling_mass, produce, w_decay
from softbin.datasets.susy_columns import COLUMNS, Measured, columns

SIGNAL_SHARE = 0.458
N_INCOMING = 3
LEPTON_PT, LEPTON_ETA, LEPTON_RESOLUTION, APART = 20.0, 2.5, 0.02, 0.4
JET_PT, JET_ETA = 20.8, 4.0
JETS = Resolution(scale=1.05, stochastic=1.04, constant=0.0548)

WW_POWER, WW_FORWARD, WW_NOISE = 5.04, 0.831, 28.5
WW_BEAM = Beam(rapidity=1.71, gluons=1.35, softest=8.87, power=2.03, pseudorapidity=0.519)
THROUGH_TAU = 0.182
WW_AHEAD = 0.534  # share of the W whose lepton goes ahead, density (1 + c)**2; the others are longitudinal

CHARGINO_AHEAD = 0.257  # the same
CHARGINO_MASS, NEUTRALINO_MASS = 198.0, 81.5
CHARGINO_POWER, CHARGINO_FORWARD, CHARGINO_NOISE = 3.03, 0.224, 17.3
CHARGINO_BEAM = Beam(rapidity=0.79, gluons=1.37, softest=40.9, power=1.26, pseudorapidity=1.18)


@dataclass(frozen=True)
class Partons:
    """Events before they are measured; ``invisible`` is the sum of all that leaves no trace."""

    leptons: tuple[Vectors, Vectors]
    invisible: Vectors
    incoming: Jets


def simulate_susy(rows: int, seed: int = 0, n_jobs: int | None = None) -> Dataset:
    """Simulated events with the 18 columns of UCI SUSY, in its units; they resemble it and are not it.

    ``n_jobs`` threads share the work; the bits depend on ``seed`` alone, and fewer rows are a prefix of more.

    >>> from softbin import simulate_susy
    >>> data = simulate_susy(1000, seed=0)
    >>> data.X.shape, data.X.dtype, data.columns[-1]
    ((1000, 18), dtype('float32'), 'cos_theta_r1')
    """
    return simulate(PROCESS, rows, seed, n_jobs)


def background(draws: Draws, n: int) -> Floats:
    """Selected events out of ``n`` pairs of W bosons."""
    return measure(draws, w_pairs(draws, n), WW_NOISE)


def signal(draws: Draws, n: int) -> Floats:
    """Selected events out of ``n`` pairs of charginos."""
    return measure(draws, chargino_pairs(draws, n), CHARGINO_NOISE)


def w_pairs(draws: Draws, n: int) -> Partons:
    """q q -> W W, both to a lepton."""
    masses = draws.mass(W_MASS, W_WIDTH, n), draws.mass(W_MASS, W_WIDTH, n)
    total = falling_mass(draws, masses[0] + masses[1], WW_POWER)
    system, incoming = produce(draws, total, WW_BEAM, N_INCOMING)
    ws = decay(system, (total, *masses), draws.forward(WW_FORWARD, n), draws.angle(n))
    first, second = (
        through_tau(draws, *w_decay(draws, w, mass, system, -draws.mixed(WW_AHEAD, n)))
        for w, mass in zip(ws, masses, strict=True)
    )
    return Partons((first[0], second[0]), first[1] + second[1], incoming)


def chargino_pairs(draws: Draws, n: int) -> Partons:
    """Charginos, each to a neutralino and a W, both W to a lepton."""
    chargino, neutralino = (np.full(n, mass, np.float32) for mass in (CHARGINO_MASS, NEUTRALINO_MASS))
    total = falling_mass(draws, 2 * chargino, CHARGINO_POWER)
    system, incoming = produce(draws, total, CHARGINO_BEAM, N_INCOMING)
    leptons, invisible = [], np.zeros_like(system)
    for parent in decay(system, (total, chargino, chargino), draws.forward(CHARGINO_FORWARD, n), draws.angle(n)):
        w_mass = draws.mass(W_MASS, W_WIDTH, n)
        w, lightest = decay(parent, (chargino, w_mass, neutralino), draws.isotropic(n), draws.angle(n))
        lepton, neutrino = through_tau(draws, *w_decay(draws, w, w_mass, parent, -draws.mixed(CHARGINO_AHEAD, n)))
        leptons.append(lepton)
        invisible = invisible + lightest + neutrino
    return Partons((leptons[0], leptons[1]), invisible, incoming)


def through_tau(draws: Draws, lepton: Vectors, neutrino: Vectors) -> tuple[Vectors, Vectors]:
    """Some leptons come from a tau, which gives two neutrinos most of its momentum."""
    n = lepton.shape[1]
    taken = np.maximum(draws.uniform(n), draws.uniform(n)) * draws.chance(THROUGH_TAU, n) * lepton
    return lepton - taken, neutrino + taken


def measure(draws: Draws, partons: Partons, noise: float) -> Floats:
    """The columns of the events that pass the selection."""
    n = partons.invisible.shape[1]
    one, other = (
        jets_of(lepton).scaled(1 + np.float32(LEPTON_RESOLUTION) * draws.normal(n)) for lepton in partons.leptons
    )
    keep = ~near(one, other, APART)
    for lepton in (one, other):
        keep &= (lepton.pt > LEPTON_PT) & (np.abs(lepton.eta) < LEPTON_ETA)
    rows = np.flatnonzero(keep)
    one, other = one.at(rows), other.at(rows)
    first, second = one.where(one.pt > other.pt, other), other.where(one.pt > other.pt, one)
    true = partons.incoming.at((slice(None), rows))
    share = measured_share(draws, true.pt, JETS)
    seen, lost = true.scaled(share), true.scaled(1 - share)
    missing = missing_momentum(draws, partons.invisible[:, rows], lost, noise)
    is_jet = (seen.pt > JET_PT) & (np.abs(seen.eta) < JET_ETA)
    return columns(Measured(first, second, missing, seen, is_jet))


PROCESS = Process(COLUMNS, background, signal, SIGNAL_SHARE)
