"""Best places for edges: against the optimum's formula, against other densities, and on exact designs."""

import numpy as np
import pytest
from tests.theory.designs import even

from softbin.theory import Design, best_density, edges_of, roughness, squared_bias

POINTS = np.linspace(-3, 3, 4001)
DENSITY = (1 + 0.8 * np.cos(np.pi * POINTS / 3)) / 6  # a bulk, and tails that are thin but not empty
DERIVATIVES = {"hard": 2 * np.cos(2 * POINTS) + 0.2, "soft": -4 * np.sin(2 * POINTS)}
EVEN = np.full(len(POINTS), 1 / 6)
each_kind = pytest.mark.parametrize(("bins", "power"), [("hard", 2), ("soft", 4)])


@each_kind
def test_the_best_density_is_the_formula_and_the_minimum(bins, power):
    derivative = DERIVATIVES[bins]
    best = best_density(POINTS, DENSITY, derivative, bins)
    assert np.trapezoid(best, POINTS) == pytest.approx(1)
    inner = np.abs(derivative) > 0.3
    constant = (DENSITY * derivative**2)[inner] / best[inner] ** (power + 1)
    assert np.ptp(constant) < 1e-9 * constant.mean()
    lowest = roughness(POINTS, DENSITY, derivative, best, bins)
    minimum = np.trapezoid((DENSITY * derivative**2) ** (1 / (power + 1)), POINTS) ** (power + 1)
    assert lowest == pytest.approx(minimum)
    random = np.random.default_rng(0)
    for bent in (
        0.9 * best + 0.1 * EVEN,
        0.9 * best + 0.1 * DENSITY,
        best * np.exp(random.normal(size=len(POINTS)) / 9),
    ):
        assert roughness(POINTS, DENSITY, derivative, bent / np.trapezoid(bent, POINTS), bins) > lowest
    quantile, uniform = (roughness(POINTS, DENSITY, derivative, g, bins) for g in (DENSITY, EVEN))
    assert lowest < uniform < quantile  # quantile edges are too concentrated in the bulk


@each_kind
@pytest.mark.parametrize("knots", ["best", "quantile", "uniform"])
def test_the_roughness_gives_the_bias_of_exact_designs(bins, power, knots):
    g = {"best": best_density(POINTS, DENSITY, DERIVATIVES[bins], bins), "quantile": DENSITY, "uniform": EVEN}[knots]
    g = (
        g + 1e-3
    )  # Why: the best density is zero where the derivative is, and bins there would be too wide for the limit
    g = g / np.trapezoid(g, POINTS)
    below = np.concatenate([[0], np.cumsum((DENSITY[1:] + DENSITY[:-1]) / 2 * np.diff(POINTS))])
    values = np.interp(even(400_000), below / below[-1], POINTS)
    design = Design.of(values, np.sin(2 * values) + 0.2 * values, 0.0, edges_of(POINTS, g, 120))
    predicted = roughness(POINTS, DENSITY, DERIVATIVES[bins], g, bins) / ({2: 12, 4: 720}[power] * 120**power)
    assert squared_bias(design, bins).overall == pytest.approx(predicted, rel=0.03)


def test_edges_have_equal_shares_and_the_ends_of_the_points():
    edges = edges_of(POINTS, DENSITY, 8)
    assert edges[[0, -1]].tolist() == [-3, 3]
    shares = np.diff((edges + 2.4 / np.pi * np.sin(np.pi * edges / 3)) / 6)
    np.testing.assert_allclose(shares, 1 / 8, rtol=1e-4)
    assert (np.diff(edges) > 0).all()


def test_a_column_that_needs_no_bins():
    assert best_density(POINTS, DENSITY, 0 * POINTS) == pytest.approx(EVEN)
    assert roughness(POINTS, DENSITY, 0 * POINTS, 0 * EVEN) == 0
    assert roughness(POINTS, DENSITY, 1 + 0 * POINTS, 0 * EVEN) == np.inf


def test_what_is_no_density():
    with pytest.raises(ValueError, match="strictly increase"):
        best_density(POINTS[::-1], DENSITY, POINTS)
    with pytest.raises(ValueError, match="integrates to 0"):
        edges_of(POINTS, 0 * EVEN, 3)
    with pytest.raises(ValueError, match="neither 'hard' nor 'soft'"):
        best_density(POINTS, DENSITY, POINTS, "wide")
