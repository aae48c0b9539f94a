"""Columns to test with: the ugly ones by name, and arbitrary ones for Hypothesis."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import strategies as st

import softbin.summaries.questions
from softbin import HardBins, SoftBins, kernels
from softbin.boundaries import STRATEGIES, Boundaries
from softbin.boundaries.rule import asked_target
from softbin.boundaries.tidy import own_places
from softbin.summaries import RankHistogram
from softbin.values.tables import Block, Table

ENCODERS = {"hard": HardBins, "soft": SoftBins}
OUTPUTS = [("hard", "sparse"), ("hard", "dense"), ("hard", "ordinal"), ("soft", "sparse"), ("soft", "dense")]
LARGEST = {np.dtype(np.float32): float(np.finfo(np.float32).max), np.dtype(np.float64): 8e307}


@dataclass(frozen=True)
class TwoHalves:
    """A rule of a user's own: the range cut in the middle, whatever n_bins says."""

    def boundaries(self, histogram: RankHistogram, *, knots: bool = False) -> Boundaries:
        own = own_places(histogram, 2, knots)
        if own is not None:
            return own
        low, high = histogram.minimum, histogram.maximum
        return Boundaries(tuple(np.unique([low, low / 2 + high / 2, high])))


RULES = [*STRATEGIES, "a rule object"]
LABEL_FREE = [name for name, rule in STRATEGIES.items() if asked_target(rule()) is None]
# How many rows there are decides how many bins these make, so twice the weight is twice the rows to them.
WEIGHTS_ARE_COUNTS = [
    "freedman_diaconis", "scott", "proportional", "mdlp", "chimerge", "chi2", "convex", "description_length",
]  # fmt: skip
SCALE_FREE = [rule for rule in RULES if rule not in WEIGHTS_ARE_COUNTS]
each_rule = pytest.mark.parametrize("rule", RULES)
each_scale_free_rule = pytest.mark.parametrize("rule", SCALE_FREE)
each_label_free_rule = pytest.mark.parametrize("rule", [*LABEL_FREE, "a rule object"])
each_encoder = pytest.mark.parametrize("encoder", ENCODERS)
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
only_compiled = pytest.mark.skipif(kernels.compiled is None, reason="compares compiled kernels with their definitions")


def strategy_named(rule: str):
    return rule if rule in STRATEGIES else TwoHalves()


def make(encoder: str, rule: str, n_bins: int = 10, **options):
    """An encoder of this kind under this rule, on one thread unless asked otherwise."""
    return ENCODERS[encoder](n_bins, strategy_named(rule), **{"n_jobs": 1, **options})


def fit_column(encoder: str, rule: str, column, n_bins: int = 10, sample_weight=None, **options):
    X = np.asarray(column)[:, None]
    return make(encoder, rule, n_bins, **options).fit(X, labels_of(X), sample_weight=sample_weight)


def labels_of(X) -> np.ndarray:
    """A class for every row that looks random and depends on its first value alone."""
    bits = (np.asarray(X)[:, 0].astype(np.float64) + 0.0).view(np.uint64)
    return (bits * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(61)).astype(np.int64) % 3


@st.composite
def columns(draw, dtype=np.float64, *, missing=True, infinite=False, min_size=1, max_size=60):
    """Anything a column can hold: wild floats, few distinct values, integers, neighbours, with NaN among them."""
    dtype = np.dtype(dtype)
    largest, width = LARGEST[dtype], 8 * dtype.itemsize
    wild = st.floats(-largest, largest, width=width)
    kind = draw(st.sampled_from(["wild", "few", "integers", "neighbours", "decimals"]))
    if kind == "few":
        value = st.sampled_from(draw(st.lists(wild, min_size=1, max_size=4)))
    elif kind == "integers":
        value = st.integers(-20, 20).map(float)
    elif kind == "neighbours":
        start = dtype.type(draw(st.floats(-1e6, 1e6, width=width)))
        steps = [start]
        for _ in range(25):
            steps.append(np.nextafter(steps[-1], dtype.type(np.inf)))
        value = st.sampled_from([float(step) for step in steps])
    elif kind == "decimals":
        value = st.integers(-1000, 1000).map(lambda whole: whole / 8)
    else:
        value = wild
    odd = [st.just(np.nan)] * missing + [st.sampled_from([np.inf, -np.inf])] * infinite
    if odd and draw(st.booleans()):
        value = st.one_of(value, value, value, *odd)
    return np.array(draw(st.lists(value, min_size=min_size, max_size=max_size)), dtype)


@st.composite
def tame_columns(draw, *, missing=False, min_size=1, max_size=60):
    """Whole numbers at some scale: no two distinct values so close that a weight between them underflows."""
    scale = draw(st.sampled_from([1.0, 1e-9, 1e300, 0.1]))
    most = draw(st.sampled_from([1, 3, 12, 1000]))
    value = st.integers(-most, most)
    whole = np.array(draw(st.lists(value, min_size=min_size, max_size=max_size)), np.float64) * scale
    if missing:
        hidden = draw(st.lists(st.booleans(), min_size=len(whole), max_size=len(whole)))
        whole = np.where(hidden, np.nan, whole)
    return whole


def ugly_columns(n_rows: int = 1000) -> dict[str, np.ndarray]:
    """The columns that other libraries break on; all of them in DESIGN.md's law."""
    rng = np.random.default_rng(7)
    normal = rng.normal(size=n_rows)
    nine_zeros = np.where(rng.random(n_rows) < 0.9, 0.0, rng.exponential(size=n_rows))
    return {
        "zero-one": (normal > 0).astype(float),
        "90 % zero": nine_zeros,
        "top-coded": np.minimum(normal, np.quantile(normal, 0.7)),
        "integers": rng.integers(0, 6, n_rows).astype(float),
        "constant": np.full(n_rows, 3.25),
        "all missing": np.full(n_rows, np.nan),
        "scale 1e-9": normal * 1e-9,
        "scale 1e300": normal * 1e300,
        "some missing": np.where(rng.random(n_rows) < 0.2, np.nan, normal),
        "far from zero": 1e9 + normal * 1e-3,
    }


@dataclass(frozen=True, eq=False)
class CutTable(Table):
    """A table that comes in blocks of these lengths, in this order; rows after the last cut are one block."""

    cuts: tuple[int, ...] = ()
    backwards: bool = False

    def blocks(self, rows: int = 0) -> Iterator[Block]:
        ends = [0, *sorted(cut % (self.n_rows + 1) for cut in self.cuts), self.n_rows]
        spans = [(a, b) for a, b in pairwise(ends) if a < b]
        for a, b in reversed(spans) if self.backwards else spans:
            weight = None if self.weight is None else self.weight[a:b]
            yield Block(a, b - a, tuple(column[a:b] for column in self.columns), weight)


@contextmanager
def counting_path() -> Iterator[None]:
    """Fits inside count (radix) instead of sorting, however few rows there are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(softbin.summaries.questions, "SORT_ROWS", 0)
        patch.setattr(softbin.summaries.questions, "MOST_SORTED", 0)
        yield


@contextmanager
def numpy_definitions() -> Iterator[None]:
    """The NumPy definitions run inside, even where the compiled kernels are there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "compiled", None)
        yield
