"""The 28 columns of HIGGS from what was measured: how the jets are paired, and every mass by its definition.

- m_bb: the two tagged jets. m_jj: the two other jets whose mass is nearest to 80.4 GeV.
- m_lv: the W mass fixes the neutrino's momentum along the beam up to the sign of a root; where there is no solution the
  neutrino gets the lepton's pseudorapidity, so that m_lv is the transverse mass.
- m_jjj: that pair with the tagged jet that comes nearer to 175 GeV; m_jlv: lepton and neutrino with the other one.
- m_wbb: both tagged jets with the W that gives more; m_wwbb: everything together.

These definitions, and the units, were read off the columns of UCI HIGGS, which obey them to their rounding.
"""

from dataclasses import dataclass

import numpy as np

from softbin.datasets.detector import Jets, Mask
from softbin.datasets.draws import Floats
from softbin.datasets.kinematics import Vectors, from_polar, mass, product

W_MASS, TOP_MASS = 80.4, 175.0
TAG_LEVELS = (2.173076152801513672, 2.214872121810913086, 2.548224449157714844, 3.101961374282836914)
# What UCI HIGGS divides by: momenta and masses in GeV, angles in radians.
LEPTON_UNITS = (54.63, 1.0272, 1.8020)
MISSING_UNITS = (58.22, 1.8015)
JET_UNITS = ((109.14, 1.0099, 1.8038), (79.41, 1.0295, 1.8024), (56.93, 1.0986, 1.8026), (41.08, 1.2007, 1.8021))
MASS_UNITS = (87.68, 179.65, 81.42, 195.19, 126.54, 336.12, 511.36)

COLUMNS = (
    *("lepton_pt", "lepton_eta", "lepton_phi", "missing_energy_magnitude", "missing_energy_phi"),
    *(f"jet_{jet}_{what}" for jet in (1, 2, 3, 4) for what in ("pt", "eta", "phi", "b_tag")),
    *("m_jj", "m_jjj", "m_lv", "m_jlv", "m_bb", "m_wbb", "m_wwbb"),
)


@dataclass(frozen=True)
class Measured:
    """Events that passed the selection. ``jets`` are in their order, ``tag`` is the b-tag level 0, 1 or 2 of each."""

    lepton: Jets
    missing: Jets
    jets: Jets
    present: Mask
    tag: Floats
    neutrino_side: Floats
    neutrino_error: Floats


def columns(event: Measured) -> Floats:
    """The table, one row per column."""
    out = np.empty((len(COLUMNS), len(event.lepton.pt)), np.float32)
    lepton, missing = event.lepton, event.missing
    for row, (value, unit) in enumerate(zip((lepton.pt, lepton.eta, lepton.phi), LEPTON_UNITS, strict=True)):
        out[row] = value / np.float32(unit)
    out[3], out[4] = missing.pt / np.float32(MISSING_UNITS[0]), missing.phi / np.float32(MISSING_UNITS[1])
    for jet in range(4):
        row = 5 + 4 * jet
        for at, values in enumerate((event.jets.pt, event.jets.eta, event.jets.phi)):
            out[row + at] = values[jet] / np.float32(JET_UNITS[jet][at])
        out[row + 3] = event.tag[jet] * np.float32(TAG_LEVELS[jet] / 2)
    out[21:] = _masses(event) / np.array(MASS_UNITS, np.float32)[:, None]
    return out


def _masses(event: Measured) -> Floats:
    """m_jj, m_jjj, m_lv, m_jlv, m_bb, m_wbb and m_wwbb in GeV."""
    vectors = event.jets.vectors()
    first, second, others, present = _by_tag(vectors, event.tag > 0, event.present)
    pair = nearest_pair(others, present)
    w = event.lepton.vectors() + neutrino(event.lepton, event.missing, event.neutrino_side, event.neutrino_error)
    both = first + second
    with_first, with_second = mass(pair + first), mass(pair + second)
    swap = np.abs(with_second - np.float32(TOP_MASS)) < np.abs(with_first - np.float32(TOP_MASS))
    return np.stack(
        [
            mass(pair),
            np.where(swap, with_second, with_first),
            mass(w),
            mass(w + np.where(swap, first, second)),
            mass(both),
            np.maximum(mass(w + both), mass(pair + both)),
            mass(w + both + pair),
        ]
    )


def _by_tag(vectors: Vectors, tagged: Mask, present: Mask) -> tuple[Vectors, Vectors, Vectors, Mask]:
    """The two tagged jets, the others in their order, and which of these there are."""
    order = np.argsort(~tagged, axis=0, kind="stable")
    sorted_vectors = np.take_along_axis(vectors, order[None], axis=1)
    return (
        *sorted_vectors[:, :2].swapaxes(0, 1),
        sorted_vectors[:, 2:],
        np.take_along_axis(present, order, axis=0)[2:],
    )


def nearest_pair(vectors: Vectors, present: Mask) -> Vectors:
    """The sum of those two jets whose mass is nearest to the W mass."""
    best = np.full(vectors.shape[2], np.inf, np.float32)
    first = np.zeros(vectors.shape[2], np.intp)
    second = np.ones(vectors.shape[2], np.intp)
    for a in range(vectors.shape[1]):
        for b in range(a + 1, vectors.shape[1]):
            off = np.abs(np.sqrt(np.maximum(2 * product(vectors[:, a], vectors[:, b]), 0)) - np.float32(W_MASS))
            closer = (off < best) & present[a] & present[b]
            np.copyto(best, off, where=closer)
            np.copyto(first, a, where=closer)
            np.copyto(second, b, where=closer)
    event = np.arange(vectors.shape[2])
    return vectors[:, first, event] + vectors[:, second, event]


def neutrino(lepton: Jets, missing: Jets, side: Floats, error: Floats) -> Vectors:
    """The neutrino whose mass with the lepton is the W mass, on one ``side`` of the lepton in pseudorapidity."""
    gap = opening(lepton, missing)
    return from_polar(missing.pt, lepton.eta + np.where(gap > 0, side * gap + error, 0), missing.phi)


def opening(lepton: Jets, missing: Jets) -> Floats:
    """Difference in pseudorapidity that gives the W mass: M^2 = 2 pT pT' (cosh of it - cos of the azimuths)."""
    scale = np.maximum(2 * lepton.pt * missing.pt, np.float32(1))
    return np.arccosh(np.maximum(np.cos(lepton.phi - missing.phi) + np.float32(W_MASS**2) / scale, 1))
