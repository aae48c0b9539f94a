"""What the user of an estimator asked for, as values: which input, which network. No torch here."""

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from softbin.encodings.encoder import BinEncoder
from softbin.encodings.short_names import encoder_of
from softbin.encodings.soft_bins import SoftBins
from softbin.errors import OptionError

PEER_NAMES = ("plain", "ple", "periodic", "pbld", "autodis")
SCORE_BINS = 1000  # of normal scores: straight lines between so many knots are as good as the curve
PLE_BINS = 48
SMALLEST_BATCH, LARGEST_BATCH = 32, 16_384
BATCHES_PER_EPOCH = 64


@dataclass(frozen=True)
class Input:
    """What feeds the network: a table of bins (``peer`` None), or a peer of that name."""

    peer: str | None
    n_bins: int = 0  # of PLE
    dim: int = 16
    init: str = "smooth"
    basis: str = "rows"  # of files that do not say
    smoothness: float = 0.0


@dataclass(frozen=True)
class Shape:
    """The network on top of the embeddings."""

    width: int
    depth: int
    dropout: float
    residual: bool
    ensemble: int


def input_of(bins: Any, dim: int, init: str, basis: str, smoothness: float) -> tuple[Input, BinEncoder]:
    """What ``bins`` asks for, and the encoder behind it, to be fitted unless it is."""
    if not isinstance(bins, str) or bins.partition(":")[0] not in PEER_NAMES:
        return Input(None, 0, dim, init, basis, smoothness), _encoder_of(bins)
    peer, colon, rest = bins.partition(":")
    if colon and not (peer == "ple" and rest.isascii() and rest.isdigit() and int(rest) > 0):
        raise OptionError(f"bins: {bins!r} is not a short name; only bins have a number: write {peer!r}, or 'ple:48'")
    return Input(peer, int(rest) if colon else PLE_BINS, dim, init, basis, smoothness), SoftBins(SCORE_BINS)


def _encoder_of(bins: Any) -> BinEncoder:
    try:
        return encoder_of(bins)
    except OptionError as error:
        raise OptionError(f"{error}; without bins: {', '.join(map(repr, PEER_NAMES))}") from None


def batch_size_of(asked: Any, n_rows: int) -> int:
    """Rows per step; "auto" is about a 64th of the rows, a power of two."""
    if not (isinstance(asked, str) and asked == "auto"):
        return min(whole("batch_size", asked, 1), n_rows)
    size = 2 ** round(np.log2(max(1, n_rows / BATCHES_PER_EPOCH)))
    return min(int(np.clip(size, SMALLEST_BATCH, LARGEST_BATCH)), n_rows)


def whole(option: str, given: Any, least: int, most: int | None = None) -> int:
    """A whole number of at least ``least`` and at most ``most``, or an error."""
    try:
        found = None if isinstance(given, bool) else operator.index(given)
    except TypeError:
        found = None
    if found is None or found < least or (most is not None and found > most):
        allowed = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise OptionError(f"{option}: {given!r} is not a whole number {allowed}")
    return found


def number(option: str, given: Any, low: float, high: float) -> float:
    """A number in [low, high), or an error."""
    real = isinstance(given, (int, float, np.number)) and not isinstance(given, bool)
    if not real or not low <= given < high:
        raise OptionError(f"{option}: {given!r} is not a number from {low:g} to below {high:g}")
    return float(given)


def seed_of(random_state: Any) -> int:
    """The seed behind ``random_state``: a new one for None."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return whole("random_state", random_state, 0, 2**63 - 1)
