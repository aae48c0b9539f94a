"""Boundaries of all columns at once: what is found, what is left out, and that options are kept."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.columns import CutTable, each_dtype, each_encoder, make, numpy_definitions
from tests.counts import counts

from softbin import HardBins, SoftBins
from softbin.boundaries import Convex, Tree
from softbin.boundaries import joint as module
from softbin.boundaries.fine_bins import coarser, fine_bins
from softbin.boundaries.fit import fit_boundaries
from softbin.boundaries.joint_problem import joint_problem
from softbin.boundaries.periodic import Periodic
from softbin.boundaries.refit import LEAST_NOISE, Limits, refit
from softbin.errors import OptionError
from softbin.summaries import RankHistogram
from softbin.summaries.pair_counts import JointCounts, count_pairs
from softbin.summaries.target_counts import count_targets
from softbin.values.targets import read_target, statistics
from softbin.values.weights import read_weight

SEEDS = st.integers(0, 2**32 - 1)


def steps(x, cuts, heights):
    return sum(height * (x > cut) for cut, height in zip(cuts, heights, strict=True))


def assert_near(found, expected, atol=0.02):
    assert len(found) == len(expected)
    np.testing.assert_allclose(found, expected, atol=atol)


def inner(fitted, column):
    return fitted.bin_edges_[column][1:-1]


def joint_counts(X, y, weight=None, kind="auto", most=64):
    columns = tuple(np.ascontiguousarray(column) for column in np.asarray(X, np.float64).T)
    units, unit = read_weight(weight, len(X))
    table = CutTable(columns, None, len(X), columns[0].dtype, units)
    fine = [fine_bins(RankHistogram.of(column, units, unit), most) for column in columns]
    seen = statistics(read_target(y, len(X), kind), units, unit)
    pairs = count_pairs(table, fine, None if seen.parts is None else seen.parts[0], 1)
    return JointCounts(tuple(count_targets(table, fine, seen, 1)), pairs)


@pytest.fixture(scope="module")
def table():
    return np.random.default_rng(0).uniform(size=(20_000, 4))


@pytest.mark.parametrize("target", ["number", "two classes", "three classes"])
def test_steps_are_found_where_they_are(table, target):
    rng = np.random.default_rng(1)
    curve = steps(table[:, 0], (0.3, 0.7), (1.5, -2)) + steps(table[:, 1], (0.5,), (1.5,))
    if target == "number":
        y = curve + rng.normal(size=len(table))
    elif target == "two classes":
        y = np.where(rng.uniform(size=len(table)) < 1 / (1 + np.exp(-1.5 * curve)), "yes", "no")
    else:
        y = np.argmax(np.stack([0 * curve, 1.5 * curve, -curve], 1) + rng.gumbel(size=(len(table), 3)), axis=1)
    fitted = HardBins(strategy="convex").fit(table, y)
    assert_near(inner(fitted, 0), [0.3, 0.7])
    assert_near(inner(fitted, 1), [0.5])
    assert fitted.n_bins_[2:].tolist() == [1, 1]


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e200])
def test_kinks_are_found_where_they_are_at_any_scale(table, scale):
    curve = 3 * np.abs(table[:, 0] - 0.4) + 6 * np.maximum(table[:, 1] - 0.7, 0) + 2 * table[:, 2]
    y = curve + np.random.default_rng(2).normal(size=len(table)) * 0.5
    fitted = SoftBins(strategy="convex").fit(table * [scale, 1, 1, scale], y)
    assert_near(inner(fitted, 0) / scale, [0.4], 0.04)
    assert_near(inner(fitted, 1), [0.7], 0.04)
    assert fitted.n_bins_[2:].tolist() == [1, 1]


@each_encoder
def test_a_column_that_says_what_another_says_gets_nothing(encoder, table):
    copies = np.column_stack([table[:, 0], table[:, 0], table[:, 1], table[:, 0] * 7 - 2])
    y = steps(table[:, 0], (0.2, 0.6), (1, 1)) + np.random.default_rng(3).normal(size=len(table))
    fitted = make(encoder, "convex").fit(copies, y)
    assert fitted.n_bins_[0] >= 3
    assert fitted.n_bins_[1:].tolist() == [1, 1, 1]


def test_a_column_that_only_goes_along_with_another_gets_little(table):
    noise = np.random.default_rng(4).normal(size=len(table))
    beside = np.column_stack([table[:, 0], table[:, 0] + 0.2 * table[:, 3]])
    y = steps(table[:, 0], (0.5,), (2,)) + noise
    assert HardBins(strategy="tree").fit(beside, y).n_bins_.tolist() == [10, 10]
    assert HardBins(strategy="convex").fit(beside, y).n_bins_.tolist() == [2, 1]


def test_noise_gets_nothing(table):
    for seed in range(10):
        y = np.random.default_rng(seed).normal(size=2000)
        assert HardBins(strategy="convex").fit(table[:2000], y).n_bins_.tolist() == [1] * 4
        soft = SoftBins(strategy="convex").fit(table[:2000], y)
        assert soft.n_bins_.tolist() == [1] * 4
        assert all("without gain" in row.note or "does not change" in row.note for row in soft.fit_report_)


def test_more_rows_make_a_small_difference_real(table):
    X = table[:300, :1]
    y = steps(X[:, 0], (0.5,), (0.3,)) + np.random.default_rng(7).normal(size=300) * 0.9
    few = HardBins(strategy="convex").fit(X, y)
    many = HardBins(strategy="convex").fit(X, y, sample_weight=np.full(300, 100))
    assert few.n_bins_[0] < many.n_bins_[0]


def test_a_perfect_separation_keeps_its_cut():
    X = np.array([[0.0], [0.0], [1.0], [1.0], [2.0], [2.0]] * 20)
    fitted = HardBins(strategy="convex").fit(X, X[:, 0] > 1)
    assert fitted.bin_edges_[0].tolist() == [0, 1.5, 2]


@each_encoder
@given(seed=SEEDS, n_bins=st.integers(1, 6), share=st.sampled_from([0.0, 0.05, 0.3]))
def test_options_are_kept(encoder, seed, n_bins, share):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.sin(4 * np.nan_to_num(X[:, 0])) + np.cos(5 * np.nan_to_num(X[:, 1])) + 0.1 * rng.normal(size=400)
    fitted = make(encoder, "convex", 10, output="dense", edges={2: [-1, 0, 1]})
    fitted.set_params(strategy=Convex(n_bins, share)).fit(X, y)
    assert np.all(fitted.n_bins_[:2] <= n_bins)
    assert fitted.bin_edges_[2].tolist() == [-1, 0, 1]
    for boundaries in list(fitted.grid_)[:2]:
        weight = np.array(boundaries.weight)
        assert boundaries.n_bins == 1 or weight.min() >= share * weight.sum() - (2 if encoder == "soft" else 0)


def test_columns_may_have_different_numbers_of_bins(table):
    y = np.sin(20 * table[:, 0]) + np.sin(20 * table[:, 1])
    fitted = HardBins({0: 3, 1: 8}, "convex").fit(table[:, :2], y)
    assert fitted.n_bins_.tolist() == [3, 8]
    assert "beyond n_bins" in fitted.fit_report_[0].note


def test_a_column_that_wraps_and_one_without_values(table):
    hours = table[:, 0] * 24
    y = np.abs(hours - 12) + np.random.default_rng(0).normal(size=len(table)) + 3 * table[:, 1]
    X = np.column_stack([hours, np.full(len(table), np.nan), table[:, 1], np.ones(len(table))])
    fitted = SoftBins(strategy="convex", period={0: (0, 24)}).fit(X, y)
    assert fitted.bin_edges_[0][[0, -1]].tolist() == [0, 24]
    assert np.min(np.abs(fitted.bin_edges_[0] - 12)) < 0.5
    assert fitted.n_bins_[1] == 0
    assert fitted.bin_edges_[3].tolist() == [1]


def test_missing_values_have_a_coefficient_of_their_own(table):
    """Where they are as if they were low values, no cut beside the low values follows from them."""
    X = table[:, :2].copy()
    hidden = np.random.default_rng(5).random(len(X)) < 0.3
    X[hidden, 0] = np.nan
    y = 5.0 * hidden + steps(X[:, 1], (0.5,), (1,)) + np.random.default_rng(6).normal(size=len(X))
    fitted = HardBins(strategy="convex").fit(X, y)
    assert fitted.n_bins_.tolist() == [1, 2]


def test_a_constant_target_needs_one_bin(table):
    for y in (np.zeros(len(table)), np.full(len(table), 0.1), np.full(len(table), "yes")):
        assert HardBins(strategy="convex").fit(table, y).n_bins_.tolist() == [1] * 4


def test_very_many_columns_are_taken_in_groups(table, monkeypatch):
    y = steps(table[:, 3], (0.5,), (2,)) + np.random.default_rng(0).normal(size=len(table))
    together = Convex.together
    seen = []

    def spied(rules, joint, **options):
        seen.append(len(rules))
        return together(rules, joint, **options)

    monkeypatch.setattr(Convex, "together", staticmethod(spied))
    monkeypatch.setattr(module, "MOST_TOGETHER", 3)
    fitted = HardBins(strategy="convex").fit(table, y)
    assert seen == [3, 1]
    assert fitted.n_bins_.tolist() == [1, 1, 1, 2]


def test_alone_is_together_with_nobody(table):
    y = steps(table[:, 0], (0.3,), (1,)) + np.random.default_rng(0).normal(size=len(table))
    seen = counts(table[:, 0], y)
    assert len(seen) == 4096
    alone = Convex().boundaries(seen)
    assert_near(alone.edges[1:-1], [0.3])
    assert_near(inner(HardBins(strategy="convex").fit(table[:, :1], y), 0), [0.3])
    assert Periodic(Convex(), (-1, 2)).boundaries(seen).edges == (-1, *alone.edges[1:-1], 2)


def test_another_rule_beside_it_sees_its_own_column(table):
    y = steps(table[:, 0], (0.3,), (1,)) + np.random.default_rng(0).normal(size=len(table))
    columns = tuple(table[:, j].copy() for j in range(2))
    whole = CutTable(columns, None, len(table), columns[0].dtype)
    seen = statistics(read_target(y, len(table)), None, 1.0)
    (first, second), _ = fit_boundaries(whole, [Convex(), Tree(4)], 1.0, False, 1, seen)
    assert_near(first.edges[1:-1], [0.3])
    assert second.edges == HardBins(strategy=Tree(4)).fit(table[:, 1:2], y).grid_[0].edges


@each_encoder
@each_dtype
@pytest.mark.parametrize("seed", range(8))
def test_several_columns_in_any_order_of_rows_from_any_threads(encoder, dtype, seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(300, 3)), int(rng.integers(0, 3))).astype(dtype)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = (np.nan_to_num(X[:, 0]) + rng.normal(size=300) > 0.5).astype(int) + (np.nan_to_num(X[:, 1]) > 1)
    weight = rng.integers(0, 4, 300)
    order = rng.permutation(300)
    one = make(encoder, "convex").fit(X, y, sample_weight=weight)
    other = make(encoder, "convex", n_jobs=3).fit(X[order], y[order], sample_weight=weight[order])
    assert [b.edges for b in other.grid_] == [b.edges for b in one.grid_]
    repeated = make(encoder, "convex").fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert [b.edges for b in repeated.grid_] == [b.edges for b in one.grid_]
    with numpy_definitions():
        defined = make(encoder, "convex").fit(X, y, sample_weight=weight)
    assert [b.edges for b in defined.grid_] == [b.edges for b in one.grid_]


@pytest.mark.parametrize("knots", [False, True], ids=["hard", "soft"])
@pytest.mark.parametrize("kind", ["number", "classes"])
def test_the_problem_is_least_squares_on_the_rows(knots, kind):
    """The loss without changes, and with some, are those of the rows' explicit functions."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, (200, 3)).astype(float) ** 2
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.normal(size=200) * 100 + 7 if kind == "number" else rng.integers(0, 2, 200)
    y = y + 3 * (X[:, 0] > 9) if kind == "number" else y
    weight = rng.integers(1, 4, 200)
    joint = joint_counts(X, y, weight, kind)
    candidates = [np.arange(1, len(column) - knots) for column in joint.columns]
    problem = joint_problem(joint, candidates, knots)
    chosen = np.array([0, 4, len(problem.at) - 1])

    columns = [np.ones(200)]
    for j, column in enumerate(joint.columns):
        there = ~np.isnan(X[:, j])
        value = np.where(there, X[:, j], 0)
        columns += [~there, value * knots]
        for k in chosen[problem.column[chosen] == j]:
            at = column.values[problem.at[k]]
            columns.append(np.where(there, np.maximum(value - at, 0) if knots else value >= at, 0))
    root = np.sqrt(weight)
    design = np.stack(columns, axis=1) * root[:, None]
    solution = np.linalg.lstsq(design, y * root, rcond=1e-10)[0]
    expected = np.sum((design @ solution - y * root) ** 2) / np.sum(weight * (y - np.average(y, weights=weight)) ** 2)

    moment = problem.moment[chosen]
    found = problem.loss - np.sum(moment * np.linalg.solve(problem.gram[np.ix_(chosen, chosen)], moment), axis=0)
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_the_refit_drops_what_costs_least(seed):
    """Beside all subsets: with orthogonal places, the best by the criterion."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (300, 2)).astype(float)
    y = steps(X[:, 0], (1,), (1,)) + rng.normal(size=300)
    joint = joint_counts(X, y)
    problem = joint_problem(joint, [np.arange(1, 4)] * 2, False)
    n = len(problem.at)
    limits = Limits(np.full(n, 9), problem.at / 4, np.zeros(n), 300.0)

    def score(subset):
        subset = np.array(subset, int)
        moment = problem.moment[subset]
        explained = moment.T @ np.linalg.solve(problem.gram[np.ix_(subset, subset)], moment)
        floor = LEAST_NOISE * problem.loss
        price = np.log(300) + np.log(n)
        return float(300 * np.log(problem.loss - explained[0, 0] + floor)[0] + price * len(subset))

    best = refit(problem, np.arange(n), limits)
    every = [subset for size in range(n + 1) for subset in combinations(range(n), size)]
    assert best.score == pytest.approx(score(best.kept))
    assert best.score == pytest.approx(min(map(score, every)))
    assert len(best.kept) + len(best.no_gain) == n
    assert best.kept.tolist() == [1]


@given(seed=SEEDS, most=st.integers(1, 40))
def test_coarser_counts_are_the_same_column(seed, most):
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(size=200), 1)
    fine = counts(values, rng.integers(0, 2, 200))
    found = coarser(fine, most)
    assert len(found) <= max(most, 1)
    assert found.sums.sum() == 200
    assert set(found.cuts) <= set(fine.cuts)
    assert np.all(np.searchsorted(found.cuts, found.values, side="right") == np.arange(len(found)))
    for position, total in enumerate(found.sums):
        rows = np.searchsorted(found.cuts, values, side="right") == position
        assert rows.sum() == total.sum()


@pytest.mark.parametrize("options", [{"n_bins": 0}, {"n_bins": 2.5}, {"min_bin_share": 1}, {"min_bin_share": "a"}])
def test_options_that_are_none_are_refused(options):
    with pytest.raises(OptionError, match=next(iter(options))):
        Convex(**options)
