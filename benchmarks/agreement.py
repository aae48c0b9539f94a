"""Do two libraries give the same answer? Asked before anything is timed; a different answer has no speed."""

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray


class Disagreement(Exception):
    """Ours and the peer's answers differ by more than rounding."""


def same_matrix(what: str, ours: Any, peer: Any, tolerance: float) -> None:
    """Raises Disagreement unless both are the same matrix, sparse or not, within ``tolerance``."""
    if ours.shape != peer.shape:
        raise Disagreement(f"{what}: shapes {ours.shape} and {peer.shape} differ")
    a, b = (m.toarray() if scipy.sparse.issparse(m) else np.asarray(m) for m in (ours, peer))
    apart = np.abs(a.astype(np.float64) - b)
    # Why not `apart.max() > tolerance`: NaN must count as different.
    if not (apart <= tolerance).all():
        row, column = np.unravel_index(np.argmax(np.nan_to_num(apart, nan=np.inf)), apart.shape)
        raise Disagreement(
            f"{what}: row {row}, column {column}: {a[row, column]!r} and {b[row, column]!r} differ by more than "
            f"{tolerance:g}"
        )


def same_cuts(
    what: str, values: NDArray[np.floating[Any]], ours: NDArray[np.floating[Any]], peer: NDArray[np.floating[Any]]
) -> None:
    """Raises Disagreement unless no value of the column lies strictly between our cut and the peer's.

    Two exact definitions of one quantile may name either neighbouring order statistic, or a point between them.
    """
    if len(ours) != len(peer):
        raise Disagreement(f"{what}: {len(ours)} and {len(peer)} edges")
    ordered = np.sort(values)
    first = np.searchsorted(ordered, np.minimum(ours, peer), side="right")
    stop = np.searchsorted(ordered, np.maximum(ours, peer), side="left")
    between = np.maximum(stop - first, 0)
    if between.any() or not np.isfinite([ours, peer]).all():
        worst = int(np.argmax(between))
        raise Disagreement(
            f"{what}: edge {worst}: {between[worst]} values lie between {ours[worst]!r} and {peer[worst]!r}"
        )
