"""Why a column has the bins it has, in plain words: what fit reports say of rules that look at the target."""

from collections.abc import Sequence

import numpy as np

from softbin.boundaries.piece_loss import PieceLoss


def why_few(
    loss: PieceLoss, starts: Sequence[int], n_bins: int, min_bin_share: float, monotonic: str | None = None
) -> str:
    """Why there are no more bins than these, which start at the first fine bin and at ``starts``."""
    ends = np.array([0, *starts, len(loss.counts)])
    whole, left = float(loss(0, ends[-1])), float(loss(ends[:-1], ends[1:]).sum())
    if whole <= loss.rounding:
        return "the target is the same in all rows, one bin"
    if left <= loss.rounding:
        return "the bins tell the target without error: finite log-odds need smoothing or a penalty"
    if len(starts) + 1 >= n_bins:
        return "" if np.all(np.diff(ends) == 1) else f"capped at {n_bins} bins"
    limits = [f"of {min_bin_share:.3g} of the weight or more"] * (min_bin_share > 0)
    limits += [f"that are {monotonic if monotonic != 'auto' else 'monotone'}"] * (monotonic is not None)
    among = f" among bins {' and '.join(limits)}" if limits else ""
    return f"no {'further ' if starts else ''}cut helps{among}"
