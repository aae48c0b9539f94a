"""What coefficients cost: value, gradient and curvature belong together."""

import numpy as np
import pytest
import scipy.sparse

from softbin.linear.penalties import Penalty, ridge


def differences(strength, n_levels):
    """A penalty on steps between neighbours: not ours yet, but the fit could take it."""
    step = np.diff(np.eye(n_levels), axis=0)
    return Penalty(scipy.sparse.csr_array(strength * step.T @ step))


@pytest.mark.parametrize("kind", [ridge, differences])
def test_gradient_and_curvature_are_those_of_the_value(kind):
    penalty = kind(0.7, 5)
    coef = np.random.default_rng(0).normal(size=(2, 5))
    moves = [np.eye(10)[i].reshape(2, 5) * 1e-6 for i in range(10)]
    slopes = [(penalty.value(coef + move) - penalty.value(coef - move)) / 2e-6 for move in moves]
    np.testing.assert_allclose(np.ravel(penalty.gradient(coef)), slopes, atol=1e-8)
    columns = [penalty.gradient(move[:1])[0] / 1e-6 for move in moves[:5]]
    np.testing.assert_allclose(penalty.curvature.toarray(), columns)
    np.testing.assert_allclose(penalty.diagonal(), np.diag(columns))


def test_the_ridge_is_half_its_strength_times_the_squares():
    coef = np.array([[1.0, -2.0, 3.0]])
    assert ridge(0.5, 3).value(coef) == 0.25 * 14
    np.testing.assert_array_equal(ridge(0.5, 3).gradient(coef), 0.5 * coef)
