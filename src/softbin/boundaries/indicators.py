"""The target of a column as one or more numbers with one noise each: what the theory of one curve applies to.

    number         itself
    two classes    the indicator of the second
    more classes   the indicator of each (of the 20 heaviest): one against the rest

An indicator is its own square. Risks and roughnesses in units of the noise add up over the indicators: with two classes
both would say the same, so one is enough.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from softbin.boundaries.fine_bins import coarser
from softbin.boundaries.optimal_linear import places
from softbin.summaries.target_counts import TargetCounts

Floats = NDArray[np.float64]

MOST_INDICATORS = 20
ROWS_PER_BIN = 5  # on average, so that most rows tell the noise
BY_RANK = 1e-9  # of the range


def seen_coarsely(counts: TargetCounts, most: int) -> TargetCounts:
    """The counts in at most this many fine bins, fewer if there are not five rows for each."""
    rows, weighed = float(counts.weight.sum()), counts.weight > 0
    if not weighed.all() and weighed.any():
        # Why: beside very large weights, very small ones are no unit of any bin.
        counts = counts.joined(np.append(0, np.flatnonzero(weighed)[1:]))
    return coarser(counts, max(1, min(most, int(rows / ROWS_PER_BIN))))


def moments(counts: TargetCounts) -> Sequence[tuple[Floats, Floats, Floats]]:
    """Rows, sums and sums of squares per fine bin, for each indicator or for the number."""
    if counts.kind == "number":
        return [counts.moments]
    rows, per_class = counts.weight, counts.class_weight
    if counts.n_classes <= 2:
        return [(rows, per_class[:, -1], per_class[:, -1])]
    heaviest = np.sort(np.argsort(-per_class.sum(axis=0), kind="stable")[:MOST_INDICATORS])
    return [(rows, per_class[:, c], per_class[:, c]) for c in heaviest]


def centres(counts: TargetCounts) -> Floats:
    """Where the fine bins are, from 0 to 1: by value, with a trace of their order.

    Why the trace: neighbours may be so close beside the range that their distance rounds to nothing.
    """
    if len(counts) < 2:
        return np.zeros(len(counts))
    found: Floats = places(counts.values) + BY_RANK * np.linspace(0, 1, len(counts))
    return found
