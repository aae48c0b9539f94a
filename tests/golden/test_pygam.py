"""Same curves and degrees of freedom as pyGAM 0.8.0 for given penalties; the numbers were written down from there.

    LinearGAM(s(0, n_splines=9, spline_order=1, lam=0.6) + s(1, n_splines=9, spline_order=1, lam=20.0)).fit(x, y)
    LogisticGAM(the same, tol=1e-12, max_iter=500).fit(x, label)

``curves`` are its partial dependences at the nine knots, less their mean. Our strength s over u from 0 to 1 and eight
bins is lam / 8^3 for pyGAM's sums of squared second differences, which stand beside a whole sum of squares. Bands are
not compared: pyGAM's leave out the bias of smoothing.
"""

import numpy as np
import pytest
from tests.linear.tables import model_of

from softbin import SoftBins

LAM = 0.6, 20.0
ROWS = np.arange(120)
X = np.column_stack([ROWS * 37 % 120, (ROWS * 53 + 11) % 120]) / 119
WAVE = np.sin(6 * X[:, 0]) + X[:, 1] ** 2
TARGET = {
    "gaussian": np.round(WAVE + 0.5 * np.sin(ROWS * 12.9898), 3),
    "bernoulli": (WAVE + np.sin(ROWS * 78.233) > 0.6) * 1.0,
}
GOLDEN = {
    "gaussian": (
        9.559775137,
        [-0.0183, 0.74671, 1.01522, 0.83244, 0.17249, -0.60828, -0.96105, -0.87344, -0.30578],
        [-0.44252, -0.3592, -0.28275, -0.19998, -0.09324, 0.0491, 0.22664, 0.43548, 0.66646],
    ),
    "bernoulli": (
        6.51203622,
        [-0.07494, 1.73861, 2.35603, 1.61953, 0.13078, -1.10315, -1.82555, -1.78082, -1.0605],
        [-1.38768, -1.01053, -0.64405, -0.3135, -0.02023, 0.25798, 0.59838, 1.02456, 1.49507],
    ),
}


@pytest.mark.parametrize("family", GOLDEN)
def test_curves_and_degrees_of_freedom_are_those_of_pygam(family):
    bins = SoftBins(edges=dict.fromkeys((0, 1), np.linspace(0, 1, 9)))
    strengths = {column: lam / 8**3 for column, lam in enumerate(LAM)}
    model = model_of(family, bins, smoothness=strengths, ridge=1e-9, tol=1e-10).fit(X, TARGET[family])
    edf, *curves = GOLDEN[family]
    assert model.edf_.sum() + 1 == pytest.approx(edf, abs=1e-6)
    for column, expected in enumerate(curves):
        found = model.curve(column).values
        np.testing.assert_allclose(found - found.mean(), expected, atol=2e-5)
