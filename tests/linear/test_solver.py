"""L-BFGS around an inverse Hessian: finds minima, never rises, ends where nothing lower is to be found."""

from itertools import pairwise

import numpy as np
import pytest

from softbin.linear.solver import Stop, minimise

RNG = np.random.default_rng(0)
A = RNG.normal(size=(12, 12))
A = A @ A.T + 0.1 * np.eye(12)
B = RNG.normal(size=(1, 12))
START = np.zeros((1, 12))


def quadratic(parameters):
    return float(0.5 * np.sum(parameters @ A * parameters) - np.sum(B * parameters)), parameters @ A - B


def rosenbrock(parameters):
    (x, y), gradient = parameters[0], np.zeros_like(parameters)
    gradient[0] = -2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)
    return float((1 - x) ** 2 + 100 * (y - x * x) ** 2) + 1, gradient


def plain(gradient):
    return gradient.copy()


def newton(gradient):
    return gradient @ np.linalg.inv(A)


def run(call, start, inverse=plain, max_iter=500, renew=None, every=10):
    passes, stop = [], Stop(tol=1e-8, decrease=1e-12, max_iter=max_iter, total_weight=1.0, noise=1e-14)
    return minimise(call, start, inverse, stop, passes.append, renew, every), passes


def test_with_the_hessian_one_step_is_enough():
    found, _ = run(quadratic, START, newton)
    assert found.converged
    assert found.n_iter == 1
    np.testing.assert_allclose(found.parameters, B @ np.linalg.inv(A), atol=1e-9)


def test_without_it_the_minimum_is_found_too():
    found, _ = run(quadratic, START)
    assert found.converged
    np.testing.assert_allclose(found.parameters, B @ np.linalg.inv(A), atol=1e-6)


def test_a_bent_valley_is_followed_to_its_end():
    found, _ = run(rosenbrock, np.array([[-1.2, 1.0]]))
    assert found.converged
    np.testing.assert_allclose(found.parameters, 1, atol=1e-5)


@pytest.mark.parametrize("call", [quadratic, rosenbrock])
def test_the_objective_never_rises(call):
    start = START if call is quadratic else np.array([[-1.2, 1.0]])
    found, passes = run(call, start)
    values = [done.objective for done in passes]
    assert found.history == passes
    assert len(values) == found.n_iter + 1
    assert all(later <= earlier + 1e-14 * abs(earlier) for earlier, later in pairwise(values))  # the noise it was told
    assert found.value == values[-1] == call(found.parameters)[0]
    assert all(done.seconds >= 0 for done in passes)


@pytest.mark.parametrize("max_iter", [1, 3])
def test_the_number_of_iterations_is_a_limit(max_iter):
    found, _ = run(rosenbrock, np.array([[-1.2, 1.0]]), max_iter=max_iter)
    assert not found.converged
    assert found.n_iter == max_iter


def test_a_start_at_the_minimum_stays_there():
    best = B @ np.linalg.inv(A)
    found, passes = run(quadratic, best)
    assert found.converged
    assert (found.n_iter, len(passes)) == (0, 1)
    np.testing.assert_array_equal(found.parameters, best)


def test_an_inverse_that_points_uphill_is_survived():
    found, _ = run(quadratic, START, lambda gradient: -gradient)
    assert np.isfinite(found.value)
    assert found.value <= quadratic(START)[0]
    assert not found.converged


def test_walls_of_infinity_and_nan_are_stepped_back_from():
    def walled(parameters):
        x = parameters[0, 0]
        if x > 2:
            return float("nan"), np.full_like(parameters, np.nan)
        return float((x - 1.5) ** 2) + 1, 2 * (parameters - 1.5)

    found, _ = run(walled, np.zeros((1, 1)), lambda gradient: 50 * gradient)
    assert found.converged
    np.testing.assert_allclose(found.parameters, 1.5, atol=1e-6)


def test_a_function_without_a_bottom_ends_with_a_finite_point():
    found, _ = run(lambda p: (-float(p.sum()), -np.ones_like(p)), np.zeros((1, 2)), max_iter=20)
    assert not found.converged
    assert np.all(np.isfinite(found.parameters))


def test_the_inverse_is_renewed_as_often_as_asked():
    renewed = []

    def renew(parameters):
        renewed.append(parameters.copy())
        return plain

    found, _ = run(rosenbrock, np.array([[-1.2, 1.0]]), renew=renew, every=4)
    assert len(renewed) == found.n_iter // 4
    assert found.converged
