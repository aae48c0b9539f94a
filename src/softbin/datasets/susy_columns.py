"""The 18 columns of SUSY from two leptons, the missing momentum and the directions of jets.

With leptons 1 and 2 (massless, the harder first) and missing transverse momentum m:

- met_rel: missing energy times the sine of the angle to the nearest lepton or jet, where that is below 90 degrees.
- axial_met: the part of m along the sum of the leptons.
- m_r, m_tr_2, r (razor): m_r^2 = (|p1| + |p2|)^2 - (z1 + z2)^2; m_tr^2 = (|m| (pT1 + pT2) - m . (p1 + p2)) / 2; their
  ratio.
- mt2: the least mass of two equal parents whose invisible daughters add up to m. For massless daughters, with the unit
  vector e of an angle, mt2^2 = max 4 (e . m) (e . p1) (e . p2) / -(e . p1 + e . p2) over angles where e . m > 0 and
  both other products are negative, and 0 without such an angle: the dual of the minimum over all splits of m.
- s_r, m_delta_r, dphi_r_b, cos_theta_r1 (super-razor, Buckley et al. 2014): boost along the beam until the leptons
  balance there; with their sum L and P = L + m across, s_r^2 = 2 (E^2 - L . P + E sqrt(E^2 + P^2 - 2 L . P)); boost by
  P / sqrt(P^2 + s_r^2): dphi_r_b is the angle there between L and P; boost lepton 1 once more by
  b = (p1 - p2) / (E1 + E2): m_delta_r is twice its energy, cos_theta_r1 the cosine of its angle to b.

These definitions, and the units, were read off the columns of UCI SUSY, which obey them to their rounding.
"""

from dataclasses import dataclass

import numpy as np

from softbin.datasets.detector import Jets, Mask
from softbin.datasets.draws import Floats
from softbin.datasets.kinematics import Vectors, azimuth, fold, mass, to_rest, transverse

# What UCI SUSY divides by: momenta and masses in GeV, angles in radians; the axial part is shifted too.
LEPTON_UNITS = ((78.54, 1.1891, 1.8110), (46.66, 1.2139, 1.8112))
MISSING_UNITS = (87.68, 1.8050)
AXIAL_MEAN, AXIAL_UNIT = -27.6, 87.24
DERIVED_UNITS = (58.42, 150.13, 73.75, 0.5535, 33.42, 299.16, 44.94, 1.9738, 1.0)
STEPS = 8

COLUMNS = (
    *(f"lepton_{lepton}_{what}" for lepton in (1, 2) for what in ("pt", "eta", "phi")),
    *("missing_energy_magnitude", "missing_energy_phi", "met_rel", "axial_met", "m_r", "m_tr_2", "r", "mt2"),
    *("s_r", "m_delta_r", "dphi_r_b", "cos_theta_r1"),
)


@dataclass(frozen=True)
class Measured:
    """Events that passed the selection; ``jets`` are (slot, event), and ``is_jet`` says which there are."""

    first: Jets
    second: Jets
    missing: Jets
    jets: Jets
    is_jet: Mask


def columns(event: Measured) -> Floats:
    """The table, one row per column."""
    out = np.empty((len(COLUMNS), len(event.first.pt)), np.float32)
    for row, (lepton, units) in enumerate(zip((event.first, event.second), LEPTON_UNITS, strict=True)):
        for at, (values, unit) in enumerate(zip((lepton.pt, lepton.eta, lepton.phi), units, strict=True)):
            out[3 * row + at] = values / np.float32(unit)
    out[6], out[7] = event.missing.pt / np.float32(MISSING_UNITS[0]), event.missing.phi / np.float32(MISSING_UNITS[1])
    first, second = event.first.vectors(), event.second.vectors()
    axial = _along(event.missing, first + second)
    out[9] = (axial - np.float32(AXIAL_MEAN)) / np.float32(AXIAL_UNIT)
    m_r, m_tr = razor(first, second, event.missing)
    derived = (relative_missing(event), m_r, m_tr, m_tr / m_r, stransverse_mass(first, second, event.missing))
    for row, values, unit in zip(
        (8, *range(10, 18)), (*derived, *super_razor(first, second, event.missing)), DERIVED_UNITS, strict=True
    ):
        out[row] = values / np.float32(unit)
    return out


def _along(missing: Jets, direction: Vectors) -> Floats:
    return (missing.x * direction[1] + missing.y * direction[2]) / np.maximum(transverse(direction), np.float32(1e-3))


def relative_missing(event: Measured) -> Floats:
    """Missing energy across the nearest lepton or jet."""
    nearest = np.abs(fold(event.jets.phi - event.missing.phi))
    nearest = np.min(np.where(event.is_jet, nearest, np.float32(np.pi)), axis=0)
    for lepton in (event.first, event.second):
        nearest = np.minimum(nearest, np.abs(fold(lepton.phi - event.missing.phi)))
    return event.missing.pt * np.sin(np.minimum(nearest, np.float32(np.pi / 2)))


def razor(first: Vectors, second: Vectors, missing: Jets) -> tuple[Floats, Floats]:
    """m_r and m_tr."""
    energy, along = first[0] + second[0], first[3] + second[3]
    m_r = np.sqrt(np.maximum((energy - along) * (energy + along), 0))
    both = first + second
    product = missing.x * both[1] + missing.y * both[2]
    m_tr = np.sqrt(np.maximum((missing.pt * (transverse(first) + transverse(second)) - product) / 2, 0))
    return m_r, m_tr


def stransverse_mass(first: Vectors, second: Vectors, missing: Jets) -> Floats:
    """mt2 of massless leptons and massless invisible daughters."""
    # The angles with e . p < 0 for both leptons are a range, those with e . m > 0 too: theirs is the search range.
    turn = np.float32(np.pi)
    sides = [azimuth(first) + turn, azimuth(second) + turn, missing.phi]
    centre = sides[0] + fold(sides[1] - sides[0]) * np.float32(0.5)
    offsets = [fold(side - centre) for side in sides]
    half = np.float32(np.pi / 2)
    low = np.maximum(np.maximum(offsets[0], offsets[1]), offsets[2]) - half
    high = np.minimum(np.minimum(offsets[0], offsets[1]), offsets[2]) + half
    exists = low < high
    # Why: the logarithm of the product rises, then falls; its slope, a sum of tangents, changes sign once.
    low, high = np.where(exists, low, -1e-3), np.where(exists, high, 1e-3)
    sizes = transverse(first), transverse(second)
    for _ in range(2 * STEPS):
        middle = (low + high) / 2
        a, b = (size * np.cos(middle - offset) for size, offset in zip(sizes, offsets[:2], strict=True))
        da, db = (-size * np.sin(middle - offset) for size, offset in zip(sizes, offsets[:2], strict=True))
        with np.errstate(divide="ignore", invalid="ignore"):  # at the end of the range
            rising = da / a + db / b - (da + db) / (a + b) - np.tan(middle - offsets[2]) > 0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    middle = (low + high) / 2
    a, b = (size * np.cos(middle - offset) for size, offset in zip(sizes, offsets[:2], strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        square = 4 * missing.pt * np.cos(middle - offsets[2]) * a * b / (a + b)
    return np.where(exists, np.sqrt(np.maximum(square, 0)), np.float32(0))


def super_razor(first: Vectors, second: Vectors, missing: Jets) -> tuple[Floats, Floats, Floats, Floats]:
    """s_r, m_delta_r, dphi_r_b and cos_theta_r1."""
    leptons = first + second
    nothing = np.zeros_like(missing.pt)
    beam = np.stack([leptons[0], nothing, nothing, leptons[3]])
    beam_mass = mass(beam)
    first, second = to_rest(first, beam, beam_mass), to_rest(second, beam, beam_mass)
    leptons = first + second
    x, y = leptons[1] + missing.x, leptons[2] + missing.y
    square, dot, energy = x * x + y * y, leptons[1] * x + leptons[2] * y, leptons[0]
    root = np.sqrt(np.maximum(energy * energy + square - 2 * dot, 0))
    s_r = np.sqrt(np.maximum(2 * (energy * energy - dot + energy * root), np.float32(1e-6)))
    system = np.stack([np.sqrt(square + s_r * s_r), x, y, nothing])
    first, second = to_rest(first, system, s_r), to_rest(second, system, s_r)
    leptons = first + second
    angle = np.abs(fold(azimuth(leptons) - np.arctan2(y, x)))
    halves = np.concatenate([leptons[:1], (first - second)[1:]])
    halves_mass = np.maximum(mass(halves), np.float32(1e-3))
    apart = to_rest(first, halves, halves_mass)
    sizes = np.sqrt((apart[1:] ** 2).sum(axis=0) * (halves[1:] ** 2).sum(axis=0))
    cosine = np.abs((apart[1:] * halves[1:]).sum(axis=0)) / np.maximum(sizes, np.float32(1e-6))
    return s_r, 2 * apart[0], angle, cosine
