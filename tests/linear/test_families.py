"""Losses against their derivatives, their means and their best constants; targets that a family cannot have."""

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import poisson

from softbin.errors import DataError
from softbin.linear.families import FAMILIES, REGRESSION, average

RNG = np.random.default_rng(0)
N = 200
TARGETS = {
    "gaussian": RNG.normal(size=N) * 3,
    "bernoulli": RNG.integers(0, 2, N).astype(float),
    "poisson": RNG.poisson(2.0, N).astype(float),
    "gamma": RNG.gamma(2.0, size=N),
    "multinomial": np.append(np.arange(4), RNG.integers(0, 4, N - 4)).astype(float),
}
each_family = pytest.mark.parametrize("name", FAMILIES)


def scores(name, scale=1.5):
    return scale * np.random.default_rng(1).normal(size=(N, 4 if name == "multinomial" else 1))


def slope(function, score, output, step):
    """Central difference of a function of the scores, by one output."""
    moved = np.zeros_like(score)
    moved[:, output] = step
    return (function(score + moved) - function(score - moved)) / (2 * step)


def assert_derivatives(family, y, score):
    """Residual is the slope of the loss, curvature the slope of the residual."""
    residual, curvature = family.residual(score, y), family.curvature(score, y)
    assert residual.shape == curvature.shape == score.shape
    for output in range(score.shape[1]):
        first = slope(lambda s: family.loss(s, y), score, output, 1e-5)
        second = slope(lambda s, k=output: family.residual(s, y)[:, k], score, output, 1e-5)
        np.testing.assert_allclose(residual[:, output], first, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(curvature[:, output], second, rtol=1e-6, atol=1e-8)


@each_family
def test_residual_and_curvature_are_the_derivatives_of_the_loss(name):
    assert_derivatives(FAMILIES[name], TARGETS[name], scores(name))


@each_family
@pytest.mark.parametrize("method", ["residual", "curvature"])
def test_a_broken_derivative_is_noticed(name, method):
    class Broken(type(FAMILIES[name])):
        pass

    setattr(Broken, method, lambda self, s, y: 1.001 * getattr(FAMILIES[name], method)(s, y) + 1e-5)
    with pytest.raises(AssertionError):
        assert_derivatives(Broken(), TARGETS[name], scores(name))


@each_family
def test_a_row_of_the_mean_has_no_residual(name):
    """Where the target is the mean (of a class: its expected indicator) the loss is flat."""
    family, score = FAMILIES[name], scores(name)
    if name == "multinomial":
        expected = sum(
            family.mean(score)[:, [k]] * family.residual(score, np.full(N, float(k))) for k in range(score.shape[1])
        )
        np.testing.assert_allclose(expected, 0, atol=1e-12)
    else:
        np.testing.assert_allclose(family.residual(score, family.mean(score)[:, 0]), 0, atol=1e-12)


@each_family
@pytest.mark.parametrize("weighted", [False, True])
def test_start_is_the_best_constant(name, weighted):
    family, y = FAMILIES[name], TARGETS[name]
    weight = np.random.default_rng(2).choice([0.5, 1.0, 4.0], N) if weighted else None
    start = family.start(y, weight)
    score = np.broadcast_to(start, (N, len(start)))
    total = family.residual(score, y).T @ (np.ones(N) if weight is None else weight)
    np.testing.assert_allclose(total, 0, atol=1e-9)


def test_losses_are_likelihoods_up_to_what_the_score_does_not_change():
    score, y = scores("poisson"), TARGETS["poisson"]
    np.testing.assert_allclose(
        FAMILIES["poisson"].loss(score, y) + gammaln(y + 1), -poisson.logpmf(y, np.exp(score[:, 0]))
    )
    score, y = scores("bernoulli"), TARGETS["bernoulli"]
    share = 1 / (1 + np.exp(-score[:, 0]))
    np.testing.assert_allclose(FAMILIES["bernoulli"].loss(score, y), -np.log(np.where(y == 1, share, 1 - share)))
    score, y = scores("multinomial"), TARGETS["multinomial"].astype(int)
    share = FAMILIES["multinomial"].mean(score)
    np.testing.assert_allclose(share.sum(axis=1), 1)
    np.testing.assert_allclose(FAMILIES["multinomial"].loss(score, y.astype(float)), -np.log(share[np.arange(N), y]))


@pytest.mark.parametrize("name", ["bernoulli", "multinomial"])
@pytest.mark.parametrize("size", [50.0, 800.0, 1e30])
def test_far_scores_stay_finite(name, size):
    family, y, score = FAMILIES[name], TARGETS[name], np.sign(scores(name)) * size
    for found in (family.loss(score, y), family.residual(score, y), family.curvature(score, y), family.mean(score)):
        assert np.all(np.isfinite(found))


def test_codes_of_the_compiled_copies_are_their_own():
    assert sorted(family.code for family in FAMILIES.values()) == list(range(len(FAMILIES)))
    assert all(FAMILIES[name].name == name for name in FAMILIES)
    assert set(REGRESSION) <= set(FAMILIES)


@pytest.mark.parametrize(
    ("name", "y", "words"),
    [
        ("poisson", [1.0, -1.0, -2.0], "2 values are negative"),
        ("poisson", [0.0, 0.0], "all values are zero"),
        ("gamma", [1.0, 0.0, -1.0], "2 values are not positive"),
    ],
)
def test_targets_that_a_family_cannot_have_are_refused(name, y, words):
    with pytest.raises(DataError, match=rf"^y: {words}"):
        FAMILIES[name].check(np.array(y))


@each_family
def test_targets_that_a_family_can_have_are_taken(name):
    FAMILIES[name].check(TARGETS[name])


def test_average_is_weighted_and_double():
    y = np.array([1.0, 2.0, 1e8], np.float32)
    assert average(y, None) == pytest.approx((1e8 + 3) / 3, rel=1e-15)
    assert average(y, np.array([1.0, 3.0, 0.0])) == 1.75
