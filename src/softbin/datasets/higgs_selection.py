"""What is seen of a HIGGS event: radiation, resolution, b-tags, and the selection.

Selected are events with a lepton of pT > 15 GeV and |eta| < 2.5, at least four jets of pT > 15 GeV and |eta| < 3, and
exactly two b-tags: mostly on the b quarks, else on one of them and a charm quark or a gluon. Which pair it is gets
drawn first, and the event is kept with the chance that both can be tagged: few events are lost for want of tags.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softbin.datasets.detector import (
    Jets,
    Mask,
    Resolution,
    jets_of,
    join,
    measured_share,
    merge,
    missing_momentum,
    near,
    radiate,
)
from softbin.datasets.draws import Draws, Floats
from softbin.datasets.higgs_columns import Measured, columns, opening
from softbin.datasets.kinematics import Vectors, fold, pseudorapidity

LEPTON_PT, LEPTON_ETA, ISOLATION = 15.0, 2.5, 0.4
JET_PT, JET_ETA, CONE = 15.0, 3.0, 0.55

# Slots of jets: two b quarks, two quarks of the W, a gluon from each of the four, gluons from the incoming partons.
N_QUARKS, N_INCOMING = 4, 4
CHARM, INCOMING = 2, 2 * N_QUARKS
N_SLOTS = INCOMING + N_INCOMING
N_RANKED = 7

RADIATES, SOFTEST_SHARE = 0.139, 0.034
LEPTON_RESOLUTION = 0.02
JETS = Resolution(scale=0.95, stochastic=1.82, constant=0.0882)
TO_NEUTRINO, NEUTRINO_SHARE = 0.421, 0.154  # of the b quarks; of their momentum
NOISE = 14.7  # of each component of the missing momentum, GeV
UNBALANCED = 0.571  # share of what the jets lose that is missed

TAGS_CHARM, TAGS_GLUON = 0.15, 0.2
TAG_ETA, TAG_EDGE, TAG_PT, TAG_LEAST = 1.7, 0.29, 40.0, 0.4
LOOSE_TAGS = 0.184  # share of the tags that are of the lower level
# The jets of UCI HIGGS are only roughly in the order of pT, tagged ones a little later than theirs.
DISORDER, TAGGED_LATER = 0.369, 1.1
NEUTRINO_ETA_ERROR = 0.0121


@dataclass(frozen=True)
class Partons:
    """Events before they are measured: ``quarks`` are b, b and the two of the W, ``incoming`` the radiated gluons."""

    lepton: Vectors
    neutrino: Vectors
    quarks: Vectors
    incoming: Jets


def measure(draws: Draws, partons: Partons) -> Floats:
    """The columns of the events that pass the selection."""
    n = partons.lepton.shape[1]
    lepton = jets_of(partons.lepton).scaled(1 + np.float32(LEPTON_RESOLUTION) * draws.normal(n))
    quarks, gluons = radiate(draws, jets_of(partons.quarks), RADIATES, SOFTEST_SHARE)
    true = join(quarks, gluons, partons.incoming)
    share = measured_share(draws, true.pt, JETS)
    invisible = np.float32(NEUTRINO_SHARE) * np.minimum(draws.exponential((2, n)), 4)
    share[:2] *= 1 - invisible * draws.chance(TO_NEUTRINO, (2, n))
    seen = true.scaled(share)
    is_jet = (seen.pt > JET_PT) & (np.abs(seen.eta) < JET_ETA)
    tagged = choose_tags(draws, partons.incoming)
    keep = (lepton.pt > LEPTON_PT) & (np.abs(lepton.eta) < LEPTON_ETA) & (is_jet.sum(axis=0) >= 4)
    rows = np.flatnonzero(keep & ((is_jet & taggable(draws, seen)) | ~tagged).all(axis=0))
    some = (slice(None), rows)
    true, seen = true.at(some), seen.at(some)
    lost = true.scaled(np.float32(UNBALANCED) * (1 - share[some] / np.float32(JETS.scale)))
    return select(
        draws,
        lepton.at(rows),
        missing_momentum(draws, partons.neutrino[some], lost, NOISE),
        pseudorapidity(partons.neutrino[some]),
        seen,
        is_jet[some],
        tagged[some],
    )


def choose_tags(draws: Draws, incoming: Jets) -> Mask:
    """Two tagged slots per event: the b quarks, or one of them and a charm quark or the hardest incoming gluon."""
    n = incoming.pt.shape[1]
    tagged = np.zeros((N_SLOTS, n), bool)
    tagged[:2] = True
    kind, event = draws.uniform(n), np.arange(n)
    wrong = kind < TAGS_CHARM + TAGS_GLUON
    other = np.where(kind < TAGS_CHARM, CHARM, INCOMING + incoming.pt.argmax(axis=0))
    tagged[draws.chance(0.5, n).astype(np.intp), event] &= ~wrong
    tagged[other, event] |= wrong
    return tagged


def taggable(draws: Draws, jets: Jets) -> Mask:
    """A tag needs tracks: less likely at the edge of the tracker and for soft jets."""
    chance = np.clip((np.float32(TAG_ETA) - np.abs(jets.eta)) / np.float32(TAG_EDGE), 0, 1)
    return draws.uniform(jets.pt.shape) < chance * np.clip(jets.pt / np.float32(TAG_PT), np.float32(TAG_LEAST), 1)


def select(
    draws: Draws, lepton: Jets, missing: Jets, neutrino_eta: Floats, jets: Jets, is_jet: Mask, tagged: Mask
) -> Floats:
    """Merges and ranks the jets, asks for four of them, both tags and a lepton alone, and computes the columns."""
    for slot in (*range(1, N_QUARKS), *range(INCOMING, N_SLOTS)):
        for into in range(min(slot, N_QUARKS)):
            merge(jets, is_jet, tagged, slot, into, CONE)
    alone = ~(near(jets, lepton, ISOLATION) & is_jet).any(axis=0)
    order = rank(draws, jets, is_jet, tagged)
    is_jet, tagged = (np.take_along_axis(mask, order, axis=0) for mask in (is_jet, tagged & is_jet))
    good = np.flatnonzero(alone & is_jet[3] & (tagged.sum(axis=0) == 2))
    some = (slice(None), good)
    order, is_jet, tagged = order[some], is_jet[some], tagged[some]
    ranked = Jets(*(np.take_along_axis(values[some], order, axis=0) for values in (jets.pt, jets.eta, fold(jets.phi))))
    lepton, missing, neutrino_eta = lepton.at(good), missing.at(good), neutrino_eta[good]
    # Why: which root the UCI columns take is not in them; the one nearer to the truth gives their distribution.
    gap = opening(lepton, missing)
    above = np.abs(lepton.eta + gap - neutrino_eta) < np.abs(lepton.eta - gap - neutrino_eta)
    level = np.where(draws.chance(LOOSE_TAGS, tagged.shape), np.float32(1), np.float32(2)) * tagged
    error = np.float32(NEUTRINO_ETA_ERROR) * draws.normal(len(good))
    side = np.where(above, np.float32(1), np.float32(-1))
    return columns(Measured(lepton, missing, ranked, is_jet, level, side, error))


def rank(draws: Draws, jets: Jets, is_jet: Mask, tagged: Mask) -> NDArray[np.intp]:
    """The slots of the first jets, roughly by momentum."""
    size = np.log(np.maximum(jets.pt, 1)) - np.float32(np.log(TAGGED_LATER)) * tagged
    size += np.float32(DISORDER) * draws.normal(size.shape)
    return np.argsort(np.where(is_jet, -size, np.float32(np.inf)).T, axis=1)[:, :N_RANKED].T
