"""Free knots, against least squares on rows: every knot set of small tables, every move of one knot, equal knots."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from tests.boundaries.brute_force import small_tables
from tests.counts import counts

from softbin import SoftBins
from softbin.boundaries import OptimalLinear, Quantile
from softbin.boundaries.optimal_linear import LogitFit, places
from softbin.boundaries.piece_loss import PieceLoss
from softbin.summaries import RankHistogram

SEEDS = st.integers(0, 2**32 - 1)


def hats(x, knots):
    knots = np.asarray(knots, float)
    return np.stack([np.interp(x, knots, corner) for corner in np.eye(len(knots))], axis=1)


def squares(x, targets, weight, knots):
    """What the best piecewise-linear fit with these knots loses, of all targets together."""
    root = np.sqrt(weight)[:, None]
    y = np.asarray(targets, float).reshape(len(x), -1)
    solution, *_ = np.linalg.lstsq(hats(x, knots) * root, y * root, rcond=None)
    return float(np.sum(((y - hats(x, knots) @ solution) * root) ** 2))


def of_number(values, y):
    return y


def one_column_per_class(values, y):
    return np.stack([y == label for label in np.unique(y)], axis=1).astype(float)


@pytest.mark.parametrize("n_classes", [0, 3], ids=["number", "three classes"])
@given(data=st.data(), n_bins=st.integers(1, 8))
def test_no_single_knot_can_be_moved_and_gain(n_classes, data, n_bins):
    values, y, weight = data.draw(small_tables(n_classes, most_values=30))
    found = OptimalLinear(n_bins, 0.0).boundaries(counts(values, y, weight), knots=True).edges
    values, y, weight = values[weight > 0], y[weight > 0], weight[weight > 0]
    targets = y if n_classes == 0 or y.dtype.kind == "f" else one_column_per_class(values, y)
    ours = squares(values, targets, weight, found)
    slack = 1e-7 * (1 + squares(values, targets, weight, [values.min()]))
    inner = list(found[1:-1])
    for knot in inner:
        others = [other for other in inner if other != knot]
        for place in np.setdiff1d(np.unique(values)[1:-1], others):
            moved = [found[0], *sorted([*others, place]), found[-1]]
            assert ours <= squares(values, targets, weight, moved) + slack


@given(data=st.data(), n_bins=st.integers(1, 8))
@pytest.mark.parametrize("n_classes", [0, 3], ids=["number", "three classes"])
def test_never_worse_than_knots_of_equal_weight(n_classes, data, n_bins):
    values, y, weight = data.draw(small_tables(n_classes, most_values=30))
    found = OptimalLinear(n_bins, 0.0).boundaries(counts(values, y, weight), knots=True).edges
    equal = Quantile(n_bins).boundaries(RankHistogram.of(values, weight), knots=True).edges
    values, y, weight = values[weight > 0], y[weight > 0], weight[weight > 0]
    targets = y if n_classes == 0 or y.dtype.kind == "f" else one_column_per_class(values, y)
    slack = 1e-7 * (1 + squares(values, targets, weight, [values.min()]))
    assert squares(values, targets, weight, found) <= squares(values, targets, weight, equal) + slack


def test_nearly_always_the_best_of_all_knot_sets():
    """Moves of one knot may end where only two together would help: rarely, and with little lost."""
    lost = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x = np.repeat(np.sort(rng.normal(size=11)), 4)
        y = np.sin(2 * x) * (seed % 2) + 0.5 * rng.normal(size=len(x))
        found = OptimalLinear(4, 0.0).boundaries(counts(x, y), knots=True).edges
        places_ = np.unique(x)
        best = min(squares(x, y, np.ones(len(x)), [x[0], *c, x[-1]]) for c in combinations(places_[1:-1], 3))
        line = squares(x, y, np.ones(len(x)), [x[0], x[-1]])
        lost.append((squares(x, y, np.ones(len(x)), found) - best) / line)
    assert np.mean(np.array(lost) < 1e-9) >= 0.85
    assert max(lost) < 0.05


def logit_loss(x, y, weight, knots):
    """The lowest log-loss of a piecewise-linear logit, by a general minimiser."""
    basis = hats(x, knots)

    def loss(values):
        logit = basis @ values
        share = 1 / (1 + np.exp(-logit))
        return np.sum(weight * (np.logaddexp(0, logit) - y * logit)), basis.T @ (weight * (share - y))

    return minimize(loss, np.zeros(len(knots)), jac=True, bounds=[(-30, 30)] * len(knots)).fun


@given(data=st.data(), n_bins=st.integers(2, 6))
def test_logits_are_never_worse_than_with_knots_of_equal_weight(data, n_bins):
    values, y, weight = data.draw(small_tables(2, most_values=20))
    found = OptimalLinear(n_bins, 0.0).boundaries(counts(values, y, weight), knots=True).edges
    equal = Quantile(n_bins).boundaries(RankHistogram.of(values, weight), knots=True).edges
    values, y, weight = values[weight > 0], y[weight > 0], weight[weight > 0]
    assert logit_loss(values, y, weight, found) <= logit_loss(values, y, weight, equal) * (1 + 1e-4) + 1e-2


@given(seed=SEEDS)
def test_the_log_loss_is_that_of_a_general_minimiser(seed):
    rng = np.random.default_rng(seed)
    x = np.repeat(np.arange(12.0), 20)
    y = rng.random(len(x)) < 1 / (1 + np.exp(-np.sin(x)))
    seen = counts(x, y)
    first, second = seen.sums.T.astype(float)
    fit = LogitFit(places(seen.values), first, second, PieceLoss(seen).units_below, 1)
    got, logit = fit.fit([0, 3, 7, 11])
    assert fit.loss(logit) == pytest.approx(got)
    assert got == pytest.approx(logit_loss(x, y, np.ones(len(x)), [0, 3, 7, 11]), rel=1e-6)


@pytest.mark.parametrize("n_rows", [50, 20_000])
def test_kinks_are_found_where_they_are(n_rows):
    x = np.linspace(0, 100, n_rows)
    y = np.interp(x, x[[0, n_rows // 5, n_rows // 2, n_rows - 1]], [0.0, 5.0, -3.0, 4.0])
    found = OptimalLinear(10, 0.0).boundaries(counts(x, y), knots=True)
    if n_rows == 50:
        np.testing.assert_allclose(found.edges, x[[0, n_rows // 5, n_rows // 2, n_rows - 1]])
        assert found.note == "no further knot helps"
    else:
        assert all(np.abs(np.array(found.edges) - kink).min() < 0.05 for kink in (20, 50))


def test_a_straight_line_needs_no_knots():
    x = np.linspace(-1, 1, 500)
    found = OptimalLinear(10).boundaries(counts(x, 3 * x + 1), knots=True)
    assert found.edges == (-1, 1)
    assert found.note == "no knot helps"


@given(seed=SEEDS, share=st.sampled_from([0.05, 0.1, 0.3]))
def test_there_is_enough_weight_between_knots(seed, share):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=2000)
    y = np.sin(3 * x) + rng.normal(size=len(x))
    for target in (y, y > 0):
        found = OptimalLinear(12, share).boundaries(counts(x, target), knots=True)
        between = np.histogram(x, np.array(found.edges))[0]
        assert between.min() >= share * len(x) - 1


def test_the_bulk_of_a_column_with_far_tails_keeps_its_digits():
    rng = np.random.default_rng(0)
    bulk = np.sort(rng.normal(size=300))
    y = np.interp(bulk, [-3, -0.5, 0.5, 3], [0.0, 1.0, -1.0, 0.5]) + 0.01 * rng.normal(size=300)
    near = OptimalLinear(5, 0.01).boundaries(counts(bulk, y), knots=True).edges
    x, y = np.append(bulk, [1e9, 1e9 + 1]), np.append(y, [0.0, 0.0])
    far = OptimalLinear(6, 0.01).boundaries(counts(x, y), knots=True).edges
    for kink in (-0.5, 0.5):
        assert np.abs(np.array(far) - kink).min() < np.abs(np.array(near) - kink).min() + 0.1


def test_hard_bins_are_cut_where_the_knots_are():
    x = np.arange(101.0)
    y = np.maximum(x - 70, 0)
    assert OptimalLinear(3).boundaries(counts(x, y, kind="number")).edges == (0, 69.5, 100)


@pytest.mark.parametrize("y", [[1], [0, 0, 0, 0], [0.5, 0.5, 0.5], ["a", "a", "a"]])
def test_one_class_or_one_value_has_no_knots_but_the_ends(y):
    found = OptimalLinear().boundaries(counts(np.arange(float(len(y))), y), knots=True)
    assert len(found.edges) <= 2


def test_sure_classes_are_told_by_finite_logits():
    X = np.arange(200.0)[:, None]
    bins = SoftBins(5, "optimal_linear").fit(X, X[:, 0] >= 100)
    inner = bins.bin_edges_[0][1:-1]
    assert np.abs(inner - 99.5).min() < 4
