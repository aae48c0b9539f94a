"""Differences of AUCs: against scikit-learn, against the textbook formula, and by how often intervals cover."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from softbin.paper.contrast import NO_NOISE, SeedNoise, contrast, placements, seed_noise


def sample(seed, n=300, ties=False):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(np.int8)
    shared = rng.normal(size=n)
    scores = [y * gain + shared + 0.5 * rng.normal(size=n) for gain in (1.0, 0.8)]
    return y, [np.round(s) if ties else s for s in scores]


@pytest.mark.parametrize("ties", [False, True])
def test_the_mean_placement_is_the_auc(ties):
    y, scores = sample(0, ties=ties)
    for score in scores:
        placed = placements(y, score)
        assert placed.auc == pytest.approx(roc_auc_score(y, score), abs=1e-12)
        assert placed.negative.mean() == pytest.approx(placed.auc, abs=1e-12)


def delong(y, first, second):
    """The definition, pair by pair."""
    positive, negative = y == 1, y == 0
    kernel = [
        (s[positive][:, None] > s[negative]) + 0.5 * (s[positive][:, None] == s[negative]) for s in (first, second)
    ]
    difference = kernel[0] - kernel[1]
    by_positive, by_negative = difference.mean(axis=1), difference.mean(axis=0)
    return difference.mean(), np.sqrt(
        by_positive.var(ddof=1) / positive.sum() + by_negative.var(ddof=1) / negative.sum()
    )


@pytest.mark.parametrize("ties", [False, True])
def test_a_difference_is_delongs(ties):
    y, (first, second) = sample(1, ties=ties)
    found = contrast([1, -1], [[placements(y, first)], [placements(y, second)]], True)
    assert (found.estimate, found.error) == pytest.approx(delong(y, first, second), abs=1e-12)
    assert not found.between_seeds
    assert found.freedom == np.inf


def test_pairing_is_what_makes_intervals_short():
    y, (first, second) = sample(2)
    paired = contrast([1, -1], [[placements(y, first)], [placements(y, second)]], True).error
    alone = np.hypot(*(contrast([1], [[placements(y, s)]], True).error for s in (first, second)))
    assert paired < 0.6 * alone


def test_intervals_of_single_runs_cover_as_often_as_they_say():
    truth = [roc_auc_score(*pair) for pair in zip([sample(99, 200_000)[0]] * 2, sample(99, 200_000)[1], strict=True)]
    covered = 0
    for seed in range(400):
        y, scores = sample(seed)
        low, high = contrast([1, -1], [[placements(y, s)] for s in scores], True).interval(0.9)
        covered += low <= truth[0] - truth[1] <= high
    assert 0.86 <= covered / 400 <= 0.94


def noisy_runs(rng, y, base, noise):
    """Two methods of the same quality, three seeds each, on the same test rows."""
    return [
        [placements(y, base + noise * rng.normal(size=len(y)) + 0.3 * y * rng.normal()) for _ in range(3)] for _ in "ab"
    ]


def test_seeds_that_disagree_widen_intervals_and_test_rows_alone_would_not_do():
    covered = pretended = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y = (rng.random(400) < 0.5).astype(np.int8)
        runs = noisy_runs(rng, y, y + rng.normal(size=400), 0.3)
        found = contrast([1, -1], runs, True)
        low, high = found.interval(0.9)
        covered += low <= 0 <= high
        tests_only = contrast([1, -1], runs, True, [SeedNoise(0.0, 2)] * 2).interval(0.9)
        pretended += tests_only[0] <= 0 <= tests_only[1]
    assert covered >= 170
    assert pretended < 150


def test_pooled_noise_is_unbiased_and_knows_what_seeds_do_to_all_methods():
    rng = np.random.default_rng(3)
    found = [
        seed_noise(rng.normal(0, 5, (1, 3)) + rng.normal(0, 2, (8, 1)) + rng.normal(0, 0.5, (8, 3))) for _ in range(400)
    ]
    assert np.mean([one.variance for one in found]) == pytest.approx(0.25, rel=0.05)
    assert found[0].freedom == 14


def test_a_method_that_ran_once_stands_beside_every_seed():
    y, (first, second) = sample(5)
    runs = [[placements(y, first + 0.1 * seed * y) for seed in range(3)], [placements(y, second)]]
    found = contrast([1, -1], runs, True)
    assert found == contrast([1, -1], [runs[0], runs[1] * 3], True)
    pooled = contrast([1, -1], runs, True, [SeedNoise(0.01, 4), NO_NOISE])
    tests_only = contrast([1, -1], runs, True, [NO_NOISE, NO_NOISE])
    assert pooled.error**2 == pytest.approx(tests_only.error**2 + 0.01 / 3)
    assert tests_only.freedom == np.inf > pooled.freedom > 4


def test_folds_are_independent_test_rows():
    runs = [[placements(*pair) for pair in folds] for folds in zip(*(_fold(seed) for seed in range(5)), strict=True)]
    found = contrast([1, -1], runs, False)
    each = [contrast([1, -1], [[a], [b]], True) for a, b in zip(*runs, strict=True)]
    assert found.estimate == pytest.approx(np.mean([one.estimate for one in each]))
    assert found.error >= np.sqrt(np.mean([one.error**2 for one in each]) / 5) * (1 - 1e-12)


def _fold(seed):
    y, scores = sample(seed)
    return [(y, score) for score in scores]
