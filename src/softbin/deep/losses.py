"""What a network's scores mean: losses to train on, predictions, and the score that early stopping looks at.

Scores are (batch, members, outputs). Losses are averaged over members, row by row; predictions are averages over the
members' own predictions.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional


@dataclass(frozen=True)
class Loss:
    """One kind of target. ``score`` is better when larger; it gets predictions, targets and weights of all rows."""

    name: str
    score_name: str
    losses: Callable[[Tensor, Tensor], Tensor]  # scores (batch, members, outputs), targets (batch,) -> (batch,)
    predict: Callable[[Tensor], Tensor]  # scores -> (batch,) or (batch, classes)
    score: Callable[[Tensor, Tensor, Tensor], float | None]  # None where the rows cannot say


def binary_losses(scores: Tensor, target: Tensor) -> Tensor:
    logits = scores[..., 0]
    return functional.binary_cross_entropy_with_logits(
        logits, target[:, None].to(logits.dtype).expand_as(logits), reduction="none"
    ).mean(1)


def class_losses(scores: Tensor, target: Tensor) -> Tensor:
    per_member = target.long()[:, None].expand(scores.shape[:2])
    return functional.cross_entropy(scores.transpose(1, 2), per_member, reduction="none").mean(1)


def square_losses(scores: Tensor, target: Tensor) -> Tensor:
    return (scores[..., 0] - target[:, None]).square().mean(1)


def auc(predicted: Tensor, target: Tensor, weight: Tensor) -> float | None:
    """The chance that a row of the second class is predicted above one of the first; ties count half."""
    order = torch.argsort(predicted)
    _, group = torch.unique_consecutive(predicted[order], return_inverse=True)
    weight, second = weight.double()[order], target[order] > 0
    sums = torch.zeros(2, int(group[-1]) + 1, dtype=torch.float64, device=predicted.device)
    first, second = (sums[i].index_add(0, group, weight * rows) for i, rows in enumerate((~second, second)))
    pairs = float(first.sum() * second.sum())
    won = float(second @ (first.cumsum(0) - first / 2))
    return won / pairs if pairs > 0 else None


def r2(predicted: Tensor, target: Tensor, weight: Tensor) -> float | None:
    """The share of the variance that is explained."""
    weight, target, predicted = weight.double(), target.double(), predicted.double()
    mean = (weight * target).sum() / weight.sum()
    total = float((weight * (target - mean).square()).sum())
    return 1 - float((weight * (target - predicted).square()).sum()) / total if total > 0 else None


def accuracy(predicted: Tensor, target: Tensor, weight: Tensor) -> float | None:
    """The share of rows whose likeliest class is theirs."""
    right = predicted.argmax(1) == target.long()
    return float((weight.double() * right).sum() / weight.double().sum())


LOSSES = {
    "binary": Loss("binary", "AUC", binary_losses, lambda scores: torch.sigmoid(scores[..., 0]).mean(1), auc),
    "classes": Loss("classes", "accuracy", class_losses, lambda scores: torch.softmax(scores, -1).mean(1), accuracy),
    "number": Loss("number", "R2", square_losses, lambda scores: scores[..., 0].mean(1), r2),
}
