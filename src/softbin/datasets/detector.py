"""What the detector makes of leptons, quarks and gluons.

Jets are arrays (slot, event) of transverse momentum, pseudorapidity and azimuth. A slot is one source of a jet: a
quark, a gluon that a quark radiates, or a gluon that the incoming partons radiate; what is too soft is no jet.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbin.datasets.draws import Draws, Floats
from softbin.datasets.kinematics import Vectors, azimuth, fold, from_polar, pseudorapidity, transverse

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Resolution:
    """A jet is seen scaled by ``scale``, smeared by stochastic / sqrt(pT) and ``constant`` in quadrature."""

    scale: float
    stochastic: float
    constant: float


@dataclass(frozen=True)
class Jets:
    """Sources of jets, each of shape (slot, event); or one particle per event, of shape (event,)."""

    pt: Floats
    eta: Floats
    phi: Floats

    @property
    def x(self) -> Floats:
        return self.pt * np.cos(self.phi)

    @property
    def y(self) -> Floats:
        return self.pt * np.sin(self.phi)

    def vectors(self) -> Vectors:
        return from_polar(self.pt, self.eta, self.phi)

    def scaled(self, factor: Any) -> "Jets":
        return Jets(self.pt * factor, self.eta, self.phi)

    def at(self, index: Any) -> "Jets":
        """Chosen slots or events."""
        return Jets(self.pt[index], self.eta[index], self.phi[index])

    def where(self, condition: Mask, other: "Jets") -> "Jets":
        """These where ``condition`` holds, the others elsewhere."""
        return Jets(*(np.where(condition, getattr(self, name), getattr(other, name)) for name in ("pt", "eta", "phi")))


def jets_of(vectors: Vectors) -> Jets:
    return Jets(transverse(vectors), pseudorapidity(vectors), azimuth(vectors))


def join(*parts: Jets) -> Jets:
    """The slots of all parts, one after the other."""
    return Jets(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("pt", "eta", "phi")))


def radiate(draws: Draws, quarks: Jets, chance: float, softest: float) -> tuple[Jets, Jets]:
    """Quarks after they radiate, and what they radiate: one gluon each at most.

    Its share of the momentum and its distance fall as one over themselves, from ``softest`` to 0.7 and .5 to 1.6.
    """
    shape = quarks.pt.shape
    share = np.float32(0.7) * np.exp(np.float32(np.log(softest / 0.7)) * draws.uniform(shape))
    share *= draws.chance(chance, shape)
    distance = np.float32(0.5) * np.exp(np.float32(np.log(3.2)) * draws.uniform(shape))
    around = draws.angle(shape)
    kept = 1 - share
    eta, phi = distance * np.cos(around), distance * np.sin(around)
    left = Jets(quarks.pt * kept, quarks.eta - share * eta, quarks.phi - share * phi)
    return left, Jets(quarks.pt * share, quarks.eta + kept * eta, fold(quarks.phi + kept * phi))


def measured_share(draws: Draws, pt: Floats, resolution: Resolution) -> Floats:
    """How much of each jet is seen."""
    stochastic, constant = np.float32(resolution.stochastic**2), np.float32(resolution.constant**2)
    spread = np.sqrt(stochastic / np.maximum(pt, 1) + constant)
    return np.maximum(np.float32(resolution.scale) + spread * draws.normal(pt.shape), np.float32(0.05))


def missing_momentum(draws: Draws, invisible: Vectors, lost: Jets, noise: float) -> Jets:
    """What is invisible, what the jets lost, and noise of so many GeV in each component."""
    off = np.float32(noise) * draws.normal((2, invisible.shape[1]))
    x, y = invisible[1] + lost.x.sum(axis=0) + off[0], invisible[2] + lost.y.sum(axis=0) + off[1]
    return Jets(np.sqrt(x * x + y * y), np.zeros_like(x), np.arctan2(y, x))


def near(a: Jets, b: Jets, distance: float) -> Mask:
    """Where two directions are closer than ``distance`` in pseudorapidity and azimuth."""
    eta, phi = a.eta - b.eta, fold(a.phi - b.phi)
    return eta * eta + phi * phi < distance * distance


def merge(jets: Jets, is_jet: Mask, tagged: Mask, slot: int, into: int, cone: float) -> None:
    """Where two slots are closer than ``cone``, the second one takes all, in place."""
    close = near(jets.at(slot), jets.at(into), cone) & is_jet[slot] & is_jet[into]
    jets.pt[into] += close * jets.pt[slot]
    tagged[into] |= close & tagged[slot]
    is_jet[slot] &= ~close
