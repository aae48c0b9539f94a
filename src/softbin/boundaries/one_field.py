"""How well one column, cut in one way, tells the target on rows it was not fitted to.

The model is the one-field one of AutoCross: a number per bin, nothing else. Its maximum-likelihood fit needs no
iteration, only sums per bin: the log-odds of the class shares, or the mean. One pseudo-row with the overall shares
keeps pure bins finite and gives bins without a training row the overall answer:

    share of class c in bin b   (n_bc + a p_c) / (n_b + a)        mean of bin b   (s_b + a m) / (w_b + a)

Sums over finer bins add up to those of coarser ones, so one counting pass scores every way of cutting a column whose
cuts are among the fine ones.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from softbin.errors import DataError
from softbin.summaries.target_counts import TargetCounts
from softbin.values.targets import Kind

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Halves:
    """Sums of the target per bin (bins x slots) over training and validation rows; ``row`` weighs the pseudo-row."""

    train: Floats
    valid: Floats
    row: float

    @classmethod
    def of(cls, counts: TargetCounts, cuts: tuple[float, ...], row: float) -> "Halves":
        """The sums between these of the cuts that were counted, and of missing values as one more bin.

        The first half of the slots is that of training rows, the second of validation rows.
        """
        starts = np.append(0, np.searchsorted(counts.cuts, cuts, side="left") + 1) if len(counts) else np.zeros(0, int)
        sums = np.add.reduceat(counts.sums, starts, axis=0) if len(starts) else counts.sums
        sums = np.concatenate([sums, counts.missing[None]]) * np.array(counts.unit)
        train, valid = np.split(sums, 2, axis=1)
        return cls(train, valid, row)


def auc(halves: Halves) -> float:
    """The chance that a row of the second class has a higher score than one of the first; ties count half."""
    share = _shares(halves)[:, 1]
    order = np.argsort(share, kind="stable")
    _, group = np.unique(share[order], return_inverse=True)
    first, second = (np.bincount(group, halves.valid[order, c]) for c in (0, 1))
    pairs = first.sum() * second.sum()
    won = second @ (np.cumsum(first) - first / 2)
    return float(won / pairs) if pairs > 0 else 0.5


def log_loss(halves: Halves) -> float:
    """Minus the mean log-loss of the class shares, so that more is better here too."""
    total = halves.valid.sum()
    return float(xlogy(halves.valid, _shares(halves)).sum() / total) if total > 0 else 0.0


def r2(halves: Halves) -> float:
    """The share of the squared error that the bins' means explain; y is measured from about its mean."""
    weight, first, _ = halves.train.T
    total = weight.sum()
    overall = first.sum() / total if total > 0 else 0.0
    mean = (first + halves.row * overall) / (weight + halves.row)
    weight, first, second = halves.valid.T
    lost = second.sum() - 2 * mean @ first + mean**2 @ weight
    spread = second.sum() - first.sum() ** 2 / weight.sum() if weight.sum() > 0 else 0.0
    return float(1 - lost / spread) if spread > 0 else 0.0


SCORES: dict[str, tuple[Kind, Callable[[Halves], float]]] = {
    "auc": ("classes", auc),
    "log_loss": ("classes", log_loss),
    "r2": ("number", r2),
}


def default_score(kind: Kind, n_classes: int) -> str:
    """AUC for two classes, log-loss for more, R^2 for numbers."""
    if kind == "number":
        return "r2"
    return "auc" if n_classes == 2 else "log_loss"


def check_score(score: str, n_classes: int) -> None:
    """Raises DataError where the target is not what the score is made for."""
    if score != "r2" and n_classes < 2:
        raise DataError("y: there is only one class, so no column tells more of it than another; pass two or more")
    if score == "auc" and n_classes > 2:
        raise DataError(f'y: {n_classes} classes, and scoring="auc" ranks two; pass scoring="log_loss"')


def _shares(halves: Halves) -> Floats:
    """Bins x classes."""
    total = halves.train.sum(axis=0)
    overall = total / total.sum() if total.sum() > 0 else np.full(len(total), 1 / len(total))
    counted: Floats = halves.train + halves.row * overall
    return counted / counted.sum(axis=1, keepdims=True)
