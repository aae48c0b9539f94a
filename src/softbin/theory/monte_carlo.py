"""Correctness and robustness by their definitions: draw targets, fit, look.

R times over, targets are drawn and fitted. The squared errors of a bin are averaged, which is its correctness; the mean
predictions of a bin have a sample variance, which is its robustness. Both are means over draws of independent numbers
(of squared deviations from the mean draw, times R/(R-1), in the second case), so that the standard error is that of a
mean, and the same holds for their weighted means over bins, whose draws need not be independent between bins.
"""

from collections.abc import Callable

import numpy as np

from softbin.theory.design import Design, Floats
from softbin.theory.per_bin import PerBin

Predict = Callable[[Design, Floats], Floats]
BLOCK = 1_000_000  # targets drawn at a time


def simulated_correctness(predict: Predict, design: Design, repeats: int, seed: int) -> PerBin:
    """The mean squared error per bin, over ``repeats`` draws of the targets."""
    squared, _ = _draws(predict, design, repeats, seed)
    return _mean(design, squared)


def simulated_robustness(predict: Predict, design: Design, repeats: int, seed: int) -> PerBin:
    """The variance of the mean prediction per bin, over ``repeats`` draws of the targets."""
    _, means = _draws(predict, design, repeats, seed)
    return _mean(design, (means - means.mean(axis=0)) ** 2 * (repeats / (repeats - 1)))


def _draws(predict: Predict, design: Design, repeats: int, seed: int) -> tuple[Floats, Floats]:
    """Repeats x bins: the mean squared error, and the mean prediction."""
    if repeats < 2:
        raise ValueError(f"repeats: {repeats} draws have no standard error; take at least 2")
    random, scale = np.random.default_rng(seed), np.sqrt(design.noise_variance)
    n = len(design.truth)
    step = max(1, BLOCK // n)
    squared, means = [], []
    for start in range(0, repeats, step):
        size = min(step, repeats - start)
        predictions = predict(design, design.truth + scale * random.standard_normal((size, n)))
        squared.append(design.means((design.truth - predictions) ** 2))
        means.append(design.means(predictions))
    return np.concatenate(squared), np.concatenate(means)


def _mean(design: Design, draws: Floats) -> PerBin:
    overall = draws @ (design.rows / design.rows.sum())
    error = np.std(draws, axis=0, ddof=1) / np.sqrt(len(draws))
    overall_error = float(np.std(overall, ddof=1) / np.sqrt(len(draws)))
    return PerBin(draws.mean(axis=0), design.rows, float(overall.mean()), error, overall_error)
