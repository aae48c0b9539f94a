"""Short names of encoders, the same words in every model and on the command line: soft:10, hard:100."""

from copy import copy
from typing import Any

from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from softbin.encodings.encoder import BinEncoder
from softbin.encodings.hard_bins import HardBins
from softbin.encodings.soft_bins import SoftBins
from softbin.errors import OptionError

ENCODERS: dict[str, type[BinEncoder]] = {"soft": SoftBins, "hard": HardBins}


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
        raise OptionError(f"bins: {bins!r} is not an encoder; pass SoftBins(...), HardBins(...) or {_examples()}")
    # Why a copy: the caller may fit theirs again. Fitted state is replaced, never changed.
    return copy(bins) if is_fitted(bins) else clone(bins)


def is_fitted(encoder: BinEncoder) -> bool:
    """Whether an encoder has boundaries already."""
    return encoder.__sklearn_is_fitted__()


def _from_name(name: str) -> BinEncoder:
    kind, _, count = name.partition(":")
    if kind not in ENCODERS or (count and not (count.isascii() and count.isdigit())) or name.endswith(":"):
        raise OptionError(f"bins: {name!r} is not a short name; write for example {_examples()}")
    return ENCODERS[kind](int(count)) if count else ENCODERS[kind]()


def _examples() -> str:
    return " or ".join(f'"{kind}:10"' for kind in ENCODERS)
