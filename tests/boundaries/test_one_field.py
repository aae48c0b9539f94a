"""Scores of one-field models, against fitting them row by row and scikit-learn's metrics."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import log_loss as sklearn_log_loss
from sklearn.metrics import r2_score, roc_auc_score
from tests.columns import columns

from softbin.boundaries import Quantile
from softbin.boundaries.one_field import SCORES, Halves, check_score, default_score
from softbin.errors import DataError
from softbin.summaries import RankHistogram
from softbin.summaries.target_counts import FineBins, TargetCounts
from softbin.values.targets import read_target, statistics

SEEDS = st.integers(0, 2**32 - 1)


def halves_of(column, y, fold, cuts, kind):
    target = read_target(y, len(y), kind)
    seen = statistics(target, None, 1.0).in_folds(fold, 2)
    finite = column[np.isfinite(column)]
    between = np.unique(np.concatenate([finite, cuts]))[1:]  # finer than the cuts, as a table's union of cuts is
    edges = (finite.min(), *between, np.inf) if len(finite) else ()
    fine = FineBins(edges, np.zeros(0), np.nan, np.nan)
    return Halves.of(TargetCounts.of(column, fine, seen), cuts, 1.0)


def predictions(column, y, fold, cuts, row):
    """The smoothed mean of y in each row's bin: of class indicators or of numbers (rows x outputs)."""
    bins = np.searchsorted(np.array(cuts), column, side="right")
    bins[np.isnan(column)] = len(cuts) + 1
    train = fold == 0
    overall = y[train].mean(axis=0)
    out = np.empty(y.shape)
    for b in np.unique(bins):
        rows = train & (bins == b)
        out[bins == b] = (y[rows].sum(axis=0) + row * overall) / (rows.sum() + row)
    return out[fold == 1]


def random_rows(seed, n_classes):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 300))
    column = np.round(rng.normal(size=n), int(rng.integers(1, 4)))
    column[rng.random(n) < 0.1] = np.nan
    y = rng.integers(0, n_classes, n) if n_classes else np.nan_to_num(column) ** 2 + rng.normal(size=n)
    fold = (rng.random(n) < 0.4).astype(np.int8)
    fold[:n_classes], fold[n_classes : 2 * n_classes + 2] = 0, 1
    if n_classes:
        y[: 2 * n_classes] = np.tile(np.arange(n_classes), 2)
    cuts = Quantile(int(rng.integers(1, 12))).boundaries(RankHistogram.of(column)).edges[1:-1]
    return column, y, fold, cuts


@given(seed=SEEDS)
def test_auc(seed):
    column, y, fold, cuts = random_rows(seed, 2)
    halves = halves_of(column, y, fold, cuts, "classes")
    expected = predictions(column, np.eye(2)[y], fold, cuts, 1.0)[:, 1]
    assert SCORES["auc"][1](halves) == pytest.approx(roc_auc_score(y[fold == 1], np.round(expected, 12)), abs=1e-9)


@given(seed=SEEDS, n_classes=st.sampled_from([2, 3, 5]))
def test_log_loss(seed, n_classes):
    column, y, fold, cuts = random_rows(seed, n_classes)
    halves = halves_of(column, y, fold, cuts, "classes")
    expected = predictions(column, np.eye(n_classes)[y], fold, cuts, 1.0)
    wanted = -sklearn_log_loss(y[fold == 1], expected, labels=range(n_classes))
    assert SCORES["log_loss"][1](halves) == pytest.approx(wanted, rel=1e-9)


@given(seed=SEEDS)
def test_r2(seed):
    column, y, fold, cuts = random_rows(seed, 0)
    halves = halves_of(column, y, fold, cuts, "number")
    expected = predictions(column, y[:, None], fold, cuts, 1.0)[:, 0]
    assert SCORES["r2"][1](halves) == pytest.approx(r2_score(y[fold == 1], expected), abs=1e-6)


@given(column=columns(missing=True, min_size=4), seed=SEEDS)
def test_sums_between_cuts_are_those_of_the_rows(column, seed):
    rng = np.random.default_rng(seed)
    y, fold = rng.integers(0, 2, len(column)), np.arange(len(column)) % 2
    y[:4] = [0, 0, 1, 1]
    cuts = Quantile(3).boundaries(RankHistogram.of(column)).edges[1:-1] if np.isfinite(column).any() else ()
    halves = halves_of(column, y, fold, cuts, "classes")
    bins = np.searchsorted(np.array(cuts), column, side="right")
    n_bins = len(cuts) + 1 if np.isfinite(column).any() else 0
    bins[np.isnan(column)] = n_bins
    for part, sums in enumerate((halves.train, halves.valid)):
        expected = np.zeros((n_bins + 1, 2))
        np.add.at(expected, (bins[fold == part], y[fold == part]), 1)
        np.testing.assert_array_equal(sums, expected)


def test_a_bin_without_a_training_row_answers_as_the_whole_and_a_pure_one_is_finite():
    halves = Halves(np.array([[4.0, 0.0], [0.0, 4.0], [0.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), 1.0)
    assert SCORES["auc"][1](halves) == pytest.approx(1 - 0.5 / 4)
    assert np.isfinite(SCORES["log_loss"][1](halves))


def test_the_score_follows_the_target():
    assert [default_score("classes", 2), default_score("classes", 3), default_score("number", 3)] == [
        "auc", "log_loss", "r2",
    ]  # fmt: skip
    with pytest.raises(DataError, match="3 classes"):
        check_score("auc", 3)
    with pytest.raises(DataError, match="only one class"):
        check_score("log_loss", 1)
