"""The weight of a column's values, in increasing order: all that a label-free rule ever sees.

The histogram is a list of buckets (keys.py), each a leading run of key bits. Where all bits are there, the
bucket is one distinct value and its rank is exact; elsewhere only the weight of an interval is known. A rule
that needs to look inside such a bucket calls ``require`` and gets ``TooCoarse``; the fit then refines just
those buckets with another pass and asks again. Weights are whole units, so merging is exact addition.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbin.summaries.keys import Keys, key_values, order_keys

Indices = NDArray[np.intp]


class TooCoarse(Exception):
    """These buckets must be refined to single values before the question can be answered."""

    def __init__(self, buckets: Indices) -> None:
        super().__init__(f"{len(buckets)} buckets hold more than one value")
        self.buckets = buckets


@dataclass(frozen=True)
class ColumnCounts:
    """What a fit still needs of a column once a rule has read its histogram; weights are units."""

    n_distinct: int  # a lower bound unless is_exact
    is_exact: bool
    missing: int
    infinite: int
    unit: float


@dataclass(frozen=True, eq=False)
class RankHistogram:
    """Buckets of one column in increasing order, none empty.

    ``prefix`` and ``depth`` are the leading key bits of a bucket and how many of ``width`` they are;
    ``weight`` is in units. ``missing`` and ``infinite`` are units too, and not in any bucket.
    """

    prefix: Keys
    depth: NDArray[np.uint8]
    weight: NDArray[np.int64]
    width: int
    minimum: float = np.inf
    maximum: float = -np.inf
    missing: int = 0
    infinite: int = 0
    unit: float = 1.0

    @classmethod
    def of(
        cls, values: NDArray[np.floating[Any]], weight: NDArray[np.int64] | None = None, unit: float = 1.0
    ) -> "RankHistogram":
        """Every distinct finite value of a column, by sorting: the definition of all other ways to count."""
        missing, infinite = _units(np.isnan(values), weight), _units(np.isinf(values), weight)
        kept = np.isfinite(values) if weight is None else np.isfinite(values) & (weight > 0)
        values = values[kept] + values.dtype.type(0)
        if weight is None:
            values = np.sort(values)
            ends = np.arange(1, len(values) + 1)
        else:
            order = np.argsort(values, kind="stable")
            values, ends = values[order], np.cumsum(weight[kept][order])
        last = np.flatnonzero(np.append(values[1:] != values[:-1], True)[: len(values)])
        distinct, ends = values[last], ends[last]
        width = 8 * values.dtype.itemsize
        return cls(
            prefix=order_keys(distinct),
            depth=np.full(len(distinct), width, np.uint8),
            weight=np.diff(ends, prepend=0),
            width=width,
            minimum=float(distinct[0]) if len(distinct) else np.inf,
            maximum=float(distinct[-1]) if len(distinct) else -np.inf,
            missing=missing,
            infinite=infinite,
            unit=unit,
        )

    def __len__(self) -> int:
        return len(self.weight)

    @cached_property
    def below(self) -> NDArray[np.int64]:
        """Weight below each bucket; one more entry, the total, at the end."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self.weight)])

    @property
    def total(self) -> int:
        return int(self.below[-1])

    @cached_property
    def start(self) -> Keys:
        """The first key of each bucket."""
        return self.prefix << (self.width - self.depth).astype(np.uint64)

    @cached_property
    def stop(self) -> Keys:
        """The last key of each bucket."""
        return self.start + ((np.uint64(1) << (self.width - self.depth).astype(np.uint64)) - np.uint64(1))

    @cached_property
    def low(self) -> NDArray[np.float64]:
        """The lowest value each bucket can hold."""
        return key_values(self.start, self.width)

    @cached_property
    def high(self) -> NDArray[np.float64]:
        """The highest value each bucket can hold; equal to ``low`` where a bucket is one value."""
        return key_values(self.stop, self.width)

    @cached_property
    def is_value(self) -> NDArray[np.bool_]:
        """Whether each bucket is a single value."""
        single: NDArray[np.bool_] = self.depth == self.width
        return single

    @property
    def n_distinct(self) -> int:
        """Distinct values; a lower bound unless ``is_exact``."""
        return len(self)

    @property
    def is_exact(self) -> bool:
        return bool(self.is_value.all())

    def counts(self) -> ColumnCounts:
        """What stays when the buckets are let go."""
        return ColumnCounts(self.n_distinct, self.is_exact, self.missing, self.infinite, self.unit)

    def require(self, buckets: NDArray[np.integer[Any]]) -> None:
        """Raises TooCoarse unless each of these buckets is a single value."""
        coarse = buckets[~self.is_value[buckets]]
        if len(coarse):
            raise TooCoarse(np.unique(coarse))

    def merge(self, other: "RankHistogram") -> "RankHistogram":
        """The histogram of both columns' rows together."""
        if (self.width, self.unit) != (other.width, other.unit):
            raise ValueError("histograms of different dtypes or weight units cannot be merged")
        start = np.concatenate([self.start, other.start])
        order = np.argsort(start, kind="stable")
        start, depth = start[order], np.concatenate([self.depth, other.depth])[order]
        prefix = np.concatenate([self.prefix, other.prefix])[order]
        same = (start[1:] == start[:-1]) & (depth[1:] == depth[:-1])
        first = np.flatnonzero(np.append(True, ~same)) if len(start) else np.zeros(0, np.intp)
        weight = np.concatenate([self.weight, other.weight])[order]
        merged = RankHistogram(
            prefix=prefix[first],
            depth=depth[first],
            weight=np.add.reduceat(weight, first) if len(first) else weight,
            width=self.width,
            minimum=min(self.minimum, other.minimum),
            maximum=max(self.maximum, other.maximum),
            missing=self.missing + other.missing,
            infinite=self.infinite + other.infinite,
            unit=self.unit,
        )
        if np.any(merged.stop[:-1] > merged.start[1:] - np.uint64(1)):
            raise ValueError("histograms refined differently cannot be merged: refine both alike first")
        return merged

    def leading(self, bits: int = 16) -> "RankHistogram":
        """The same weight in buckets of this many leading bits."""
        prefix = self.start >> np.uint64(self.width - bits)
        first = np.flatnonzero(np.append(True, prefix[1:] != prefix[:-1])[: len(prefix)])
        weight = np.add.reduceat(self.weight, first) if len(first) else self.weight
        depth = np.full(len(first), bits, np.uint8)
        return replace(self, prefix=prefix[first], depth=depth, weight=weight)

    def refine(self, buckets: Indices, finer: NDArray[np.int64], bits: int) -> "RankHistogram":
        """These buckets (all of one depth) replaced by the weights of their 2^bits parts."""
        at, part = np.nonzero(finer)
        prefix = (self.prefix[buckets][at] << np.uint64(bits)) | part.astype(np.uint64)
        depth = self.depth[buckets][at] + np.uint8(bits)
        keep = np.ones(len(self), bool)
        keep[buckets] = False
        prefix = np.concatenate([self.prefix[keep], prefix])
        depth = np.concatenate([self.depth[keep], depth]).astype(np.uint8)
        weight = np.concatenate([self.weight[keep], finer[at, part]])
        order = np.argsort(prefix << (self.width - depth).astype(np.uint64), kind="stable")
        return RankHistogram(
            prefix[order], depth[order], weight[order], self.width,
            self.minimum, self.maximum, self.missing, self.infinite, self.unit,
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, ready for JSON."""
        return {
            "prefix": self.prefix.tolist(),
            "depth": self.depth.tolist(),
            "weight": self.weight.tolist(),
            "width": self.width,
            "range": [self.minimum, self.maximum] if len(self) else None,
            "missing": self.missing,
            "infinite": self.infinite,
            "unit": self.unit,
        }

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> "RankHistogram":
        low, high = state["range"] or (np.inf, -np.inf)
        return cls(
            np.array(state["prefix"], np.uint64), np.array(state["depth"], np.uint8),
            np.array(state["weight"], np.int64), state["width"], low, high,
            state["missing"], state["infinite"], state["unit"],
        )  # fmt: skip


def _units(rows: NDArray[np.bool_], weight: NDArray[np.int64] | None) -> int:
    return int(np.count_nonzero(rows) if weight is None else weight[rows].sum())
