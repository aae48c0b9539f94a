"""How a system comes about and how its W bosons decay: what both problems share."""

from dataclasses import dataclass

import numpy as np

from softbin.datasets.detector import Jets
from softbin.datasets.draws import Draws, Floats
from softbin.datasets.kinematics import Vectors, decay, moving, to_rest

W_MASS, W_WIDTH = 80.4, 2.1
LARGEST_PT = 800.0


@dataclass(frozen=True)
class Beam:
    """What the incoming partons give a system: its rapidity, and the gluons they radiate."""

    rapidity: float  # spread of the system's
    gluons: float  # on average
    softest: float  # pT in GeV, falling as pT ** -(power + 1) from here
    power: float
    pseudorapidity: float  # spread of the gluons'


def falling_mass(draws: Draws, threshold: Floats, power: float) -> Floats:
    """Mass of a pair: the falling luminosity of the partons, (mass / threshold) ** -(power + 1), times the velocity.

    The velocity is drawn by refusal; what is refused four times stays just above threshold.
    """
    total = np.float32(1.002) * threshold
    for _ in range(4):
        tried = threshold * draws.falling(1.0, power, len(threshold))
        accepted = draws.uniform(len(threshold)) < np.sqrt(1 - (threshold / tried) ** 2)
        total = np.where(accepted, tried, total)
    return total


def produce(draws: Draws, mass: Floats, beam: Beam, slots: int) -> tuple[Vectors, Jets]:
    """A system of ``mass``, and the radiated gluons that it balances across the beam."""
    shape = (slots, len(mass))
    pt = draws.falling(beam.softest, beam.power, shape) * draws.chance(beam.gluons / slots, shape)
    gluons = Jets(
        np.where(pt < LARGEST_PT, pt, np.float32(0)),
        np.float32(beam.pseudorapidity) * draws.normal(shape),
        draws.angle(shape),
    )
    rapidity = np.float32(beam.rapidity) * draws.normal(len(mass))
    return moving(mass, -gluons.x.sum(axis=0), -gluons.y.sum(axis=0), rapidity), gluons


def w_decay(draws: Draws, w: Vectors, mass: Floats, parent: Vectors, cosine: Floats) -> tuple[Vectors, Vectors]:
    """Two massless fermions, ``cosine`` measured from the flight direction of the W as its ``parent`` sees it."""
    nothing = np.zeros_like(mass)
    return decay(w, (mass, nothing, nothing), cosine, draws.angle(len(mass)), -to_rest(parent, w, mass))
