"""The lasso beside other solvers: generic ones, and those of the penalised curve problems it stands for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import lsq_linear
from sklearn.linear_model import Lasso
from tests.counts import counts

from softbin.boundaries.joint_problem import joint_problem
from softbin.boundaries.lasso import ActiveSet, lasso
from softbin.summaries.pair_counts import JointCounts

SEEDS = st.integers(0, 2**32 - 1)


def random_problem(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(5, 60)), int(rng.integers(1, 40))
    design = rng.normal(size=(n, k))
    if rng.random() < 0.5:
        design = np.cumsum(design, axis=1) / 5  # neighbours are almost alike
    if rng.random() < 0.3:
        design[:, -1] = design[:, 0]
    design /= np.sqrt(np.mean(design**2, axis=0))
    y = rng.normal(size=n) + design[:, 0]
    return design, y, rng.uniform(0.5, 2, k), float(10 ** rng.uniform(-3, 0))


def excess(gram, moment, penalty, found):
    """How far the optimality conditions are from holding: of zeros, and of the others."""
    gradient = moment - gram @ found
    at_zero = np.where(found == 0, np.abs(gradient) - penalty, -np.inf)
    elsewhere = np.where(found != 0, np.abs(gradient - penalty * np.sign(found)), -np.inf)
    return max(at_zero.max(), elsewhere.max())


@given(seed=SEEDS)
def test_the_optimality_conditions_hold(seed):
    design, y, penalty, gamma = random_problem(seed)
    gram, moment = design.T @ design / len(y), design.T @ y / len(y)
    found = lasso(gram, moment, gamma * penalty)
    assert excess(gram, moment, gamma * penalty, found) <= 1e-7
    assert excess(gram, moment, gamma * penalty, found + 1e-3) > 1e-7


@given(seed=SEEDS)
def test_a_start_from_another_strength_changes_nothing(seed):
    design, y, penalty, gamma = random_problem(seed)
    gram, moment = design.T @ design / len(y), design.T @ y / len(y)
    cold = lasso(gram, moment, gamma * penalty)
    for other in (gamma * 1.3, gamma * 0.3):
        warm = lasso(gram, moment, gamma * penalty, lasso(gram, moment, other * penalty))
        np.testing.assert_allclose(design @ warm, design @ cold, atol=1e-5)


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_lasso_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    design, y, gamma = rng.normal(size=(80, 30)), rng.normal(size=80), 0.05
    ours = lasso(design.T @ design / 80, design.T @ y / 80, np.full(30, gamma))
    theirs = Lasso(gamma, fit_intercept=False, tol=1e-10, max_iter=100_000).fit(design, y).coef_
    assert 0 < np.count_nonzero(ours) < 30
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_of_variables_that_are_equal_the_first_has_it_all():
    rng = np.random.default_rng(0)
    design = rng.normal(size=(50, 3))[:, [0, 1, 0, 2, 1]]
    y = design[:, 0] - design[:, 1]
    found = lasso(design.T @ design / 50, design.T @ y / 50, np.full(5, 0.01))
    assert np.flatnonzero(found).tolist() == [0, 1]


@given(seed=SEEDS)
def test_the_inverse_follows_what_comes_and_goes(seed):
    rng = np.random.default_rng(seed)
    design = rng.normal(size=(40, 12))
    gram = design.T @ design / 40
    active = ActiveSet.of(gram, np.arange(4))
    for variable in range(4, 12):
        assert active.add(variable)
        if rng.random() < 0.5:
            active.drop(int(rng.integers(len(active.variables))))
    rows = active.variables
    np.testing.assert_allclose(active.inverse, np.linalg.inv(gram[np.ix_(rows, rows)]), rtol=1e-6, atol=1e-8)
    assert not ActiveSet.of(np.ones((2, 2)), np.arange(1)).add(1)


def penalised_curve(y, differences, gamma):
    """argmin 1/2 |y - w|^2 + gamma |differences w|_1, by its dual: a least-squares problem in a box."""
    dual = lsq_linear(differences.T, y, (-gamma, gamma), method="bvls", tol=1e-14).x
    return y - differences.T @ dual


def curve_of(column, knots, gamma):
    """The curve at the fine bins that the lasso on changes means, on the scale of a standardised target."""
    n = len(column)
    at = np.arange(1, n - knots)
    problem = joint_problem(JointCounts.alone(column), [at], knots)
    found = lasso(problem.gram, problem.moment[:, 0], gamma * problem.penalty)
    assert problem.at.tolist() == at.tolist()
    return problem, found


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("gamma", [0.003, 0.03])
def test_on_one_column_it_is_the_fused_lasso(seed, gamma):
    rng = np.random.default_rng(seed)
    n = 40
    y = (np.arange(n) > 12) * 1.0 - (np.arange(n) > 30) * 2.0 + rng.normal(size=n) * 0.3
    problem, found = curve_of(counts(np.arange(n), y, kind="number"), False, gamma)
    standard = (y - y.mean()) / y.std()
    expected = penalised_curve(standard, np.diff(np.eye(n), axis=0), gamma * n)
    changed = np.flatnonzero(np.abs(np.diff(expected)) > 1e-7) + 1
    assert 0 < len(changed) < n - 1
    assert problem.at[found != 0].tolist() == changed.tolist()
    jumps = found[found != 0] * problem.penalty[found != 0]  # a penalty of one per unit of jump
    np.testing.assert_allclose(jumps, np.diff(expected)[changed - 1], atol=1e-6)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("gamma", [0.001, 0.02])
def test_on_one_column_it_is_the_linear_trend_filter(seed, even, gamma):
    rng = np.random.default_rng(seed)
    n = 30
    x = np.arange(n) if even else np.sort(rng.exponential(size=n))
    y = np.abs(x - np.median(x)) / x.std() + rng.normal(size=n) * 0.2
    problem, found = curve_of(counts(x, y, kind="number"), True, gamma)
    step = np.diff(x)
    slopes = np.diff(np.eye(n), axis=0) / step[:, None]
    # Second differences, for knots that are not equally far apart as the module says.
    differences = np.diff(slopes, axis=0) * ((step[1:] + step[:-1]) / 2)[:, None] * (n - 1)
    standard = (y - y.mean()) / y.std()
    expected = penalised_curve(standard, differences, gamma * n)
    bends = differences @ expected
    changed = np.flatnonzero(np.abs(bends) > 1e-6 * np.abs(bends).max()) + 1
    assert 0 < len(changed) < n - 2
    assert problem.at[found != 0].tolist() == changed.tolist()
    np.testing.assert_allclose((found * problem.penalty)[found != 0], bends[changed - 1], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("knots", [False, True], ids=["hard", "soft"])
def test_an_equal_loss_needs_no_change(knots):
    problem, found = curve_of(counts(np.arange(30), np.arange(30) * 0.0 + 2, kind="number"), knots, 0.01)
    assert len(found) == len(problem.at) > 0
    assert not found.any()
