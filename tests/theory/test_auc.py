"""What noise costs in AUC: the reference numbers, and simulated scores."""

import numpy as np
import pytest
from scipy.stats import norm, rankdata
from threadpoolctl import threadpool_limits

from softbin.theory import auc_with_noise, information_of


def auc_of(scores, ones):
    ranks = rankdata(scores)
    m = ones.sum()
    return (ranks[ones].sum() - m * (m + 1) / 2) / (m * (len(ones) - m))


@pytest.mark.parametrize(
    ("full", "parameters", "reference"),
    [(0.7729, 28 * 100, 76.00), (0.7746, 28 * 101, 76.18), (0.7742, 28 * 11, 77.28)],
)
def test_the_papers_drop_at_one_percent_of_higgs(full, parameters, reference):
    assert 100 * auc_with_noise(full, parameters, 105_000) == pytest.approx(reference, abs=0.02)


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_scores_drawn_as_the_formula_assumes(share):
    random = np.random.default_rng(0)
    n, d = 400_000, 1.2
    ones = random.random(n) < share
    logit = np.log(share / (1 - share)) + np.where(ones, 0.5, -0.5) * d**2 + d * random.normal(size=n)
    p = 1 / (1 + np.exp(-logit))
    auc = norm.cdf(d / np.sqrt(2))
    assert auc_of(logit, ones) == pytest.approx(auc, abs=0.003)
    assert information_of(auc, share) == pytest.approx((p * (1 - p)).mean(), abs=0.001)
    noisy = logit + np.sqrt(0.5) * random.normal(size=n)
    assert auc_with_noise(auc, 0.5 * 0.2 * 1000, 1000, 0.2) == pytest.approx(auc_of(noisy, ones), abs=0.003)


@threadpool_limits.wrap(1)  # the matrices are small, and threads would wait for each other
def test_a_logistic_regression_loses_what_the_formula_says():
    """Fifty parameters on 2,000 rows, fitted by Newton's method, scored on fresh rows."""
    random = np.random.default_rng(3)
    n, size = 2000, 50
    true = random.normal(size=size) / np.sqrt(size)
    losses = []
    for _ in range(20):
        X, fresh = random.normal(size=(n, size)), random.normal(size=(10_000, size))
        y = random.random(n) < 1 / (1 + np.exp(-X @ true))
        ones = random.random(10_000) < 1 / (1 + np.exp(-fresh @ true))
        w = np.zeros(size)
        for _ in range(6):
            p = 1 / (1 + np.exp(-X @ w))
            w += np.linalg.solve((X * (p * (1 - p))[:, None]).T @ X, X.T @ (y - p))
        best = auc_of(fresh @ true, ones)
        losses.append((best - auc_of(fresh @ w, ones), best - auc_with_noise(best, size, n)))
    measured, predicted = np.mean(losses, axis=0)
    assert measured == pytest.approx(predicted, rel=0.15)


def test_limits():
    assert auc_with_noise(0.8, 0, 100) == pytest.approx(0.8)
    assert auc_with_noise(0.8, 1e12, 100) == pytest.approx(0.5, abs=1e-3)
    assert auc_with_noise(0.5, 10, 100) == 0.5
    with pytest.raises(ValueError, match=r"auc: 0.4 is not from 0.5"):
        auc_with_noise(0.4, 1, 1)
    with pytest.raises(ValueError, match="share: 1"):
        information_of(0.7, 1)
