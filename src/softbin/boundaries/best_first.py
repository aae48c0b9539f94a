"""A column split again and again, the best cut of all pieces next.

Each piece's best cut is looked for once, when the piece comes about, so n cuts of B fine bins cost about B log n.
"""

import heapq
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]
Cut = tuple[float, int]  # how much it gains, and the fine bin that the right piece starts at


def best_first(n_fine_bins: int, best_cut: Callable[[int, int], Cut | None]) -> Iterator[Cut]:
    """The cuts in the order they are made; ``best_cut`` looks at fine bins [start, stop). Of equal gains the left."""
    queue: list[tuple[float, int, int, int]] = []

    def offer(start: int, stop: int) -> None:
        found = best_cut(start, stop)
        if found is not None:
            heapq.heappush(queue, (-found[0], start, found[1], stop))

    offer(0, n_fine_bins)
    while queue:
        loss, start, at, stop = heapq.heappop(queue)
        yield -loss, at
        offer(start, at)
        offer(at, stop)


def room_for_cuts(weight_below: NDArray[Any], start: int, stop: int, least: float) -> Positions:
    """Where fine bins [start, stop) can be cut with this weight at least on both sides."""
    at = np.arange(start + 1, stop)
    left, right = weight_below[at] - weight_below[start], weight_below[stop] - weight_below[at]
    kept: Positions = at[(left >= least) & (right >= least)]
    return kept


def first_best(gain: Any) -> int:
    """The first of the largest gains, where those alike up to rounding are alike."""
    return int(np.argmax(np.round(gain, 12)))
