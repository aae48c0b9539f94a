"""Short names of encoders, the same words in every model and on the command line: soft:10, hard:100, multi."""

from copy import copy
from typing import Any

from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from softbin.boundaries.auto import AUTO
from softbin.encodings.encoder import BinEncoder
from softbin.encodings.hard_bins import HardBins
from softbin.encodings.multi_bins import MultiBins
from softbin.encodings.soft_bins import SoftBins
from softbin.errors import OptionError

ENCODERS: dict[str, type[BinEncoder]] = {"soft": SoftBins, "hard": HardBins, "multi": MultiBins}


def encoder_of(bins: Any) -> BinEncoder:
    """The encoder that ``bins`` means, a copy of the caller's: a fitted one fitted, an unfitted one to be fitted.

    >>> encoder_of("soft:20")
    SoftBins(n_bins=20)
    """
    if isinstance(bins, str):
        return _from_name(bins)
    if isinstance(bins, FrozenEstimator):
        bins = bins.estimator
    if not isinstance(bins, BinEncoder):
        made = "SoftBins(...), HardBins(...), MultiBins(...)"
        raise OptionError(f"bins: {bins!r} is not an encoder; pass {made} or {_examples()}")
    # Why a copy: the caller may fit theirs again. Fitted state is replaced, never changed.
    return copy(bins) if is_fitted(bins) else clone(bins)


def is_fitted(encoder: BinEncoder) -> bool:
    """Whether an encoder has boundaries already."""
    return encoder.__sklearn_is_fitted__()


def _from_name(name: str) -> BinEncoder:
    kind, colon, rest = name.partition(":")
    counts = rest.split(",") if colon else []
    several = kind == "multi"
    if counts == [AUTO] and kind in ENCODERS and kind != "multi":
        return ENCODERS[kind](AUTO)
    if kind not in ENCODERS or not all(count.isascii() and count.isdigit() for count in counts):
        raise OptionError(f"bins: {name!r} is not a short name; write for example {_examples()}")
    if len(counts) > 1 and not several:
        raise OptionError(f"bins: {name!r} has several numbers of bins; write {kind}:{counts[0]}, or multi:{rest}")
    if not counts:
        return ENCODERS[kind]()
    numbers = tuple(int(count) for count in counts)
    return ENCODERS[kind](numbers if several else numbers[0])


def _examples() -> str:
    return '"soft:10", "hard:100", "soft:auto", "multi" or "multi:10,100"'
