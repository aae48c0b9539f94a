"""The limits for many bins and the numbers of bins that follow: reference numbers, and exact designs beside them."""

import math

import numpy as np
import pytest
from tests.theory.designs import even, even_design

from softbin.theory import (
    Design,
    best_n_bins,
    correctness,
    hard_bias,
    robustness,
    soft_bias,
    squared_bias,
    variance_in_bin,
)
from softbin.theory.many_bins import (
    END_BIN,
    END_KNOT,
    FREE_LINE_END,
    INNER_BIN,
    INNER_CENTRE,
    INNER_KNOT,
    INTERPOLATION_BIAS,
)
from softbin.theory.shared_knots import leverage


def curve(v):
    return np.sin(4 * v) + 0.3 * v


points = even(100_000)
SLOPE = float(((4 * np.cos(4 * points) + 0.3) ** 2).mean())
BEND = float(((16 * np.sin(4 * points)) ** 2).mean())


def test_biases_of_forty_bins():
    design = even_design(40_000, 40, curve)
    assert squared_bias(design, "hard").overall == pytest.approx(hard_bias(40, SLOPE), rel=0.003)
    assert squared_bias(design, "soft").overall == pytest.approx(soft_bias(40, BEND), rel=0.003)
    assert squared_bias(design, "lines").overall == pytest.approx(soft_bias(40, BEND), rel=0.003)  # sharing is free
    knots = design.edges
    drawn = np.interp(design.values, knots, curve(knots))
    assert ((drawn - design.truth) ** 2).mean() == pytest.approx(INTERPOLATION_BIAS * BEND / 40**4, rel=0.003)


def test_the_constants_are_those_of_the_reference():
    assert hard_bias(10, 1.0) == pytest.approx(0.1**2 / 12)
    assert soft_bias(10, 1.0) == pytest.approx(0.1**4 / 720)
    assert pytest.approx(0.634, abs=5e-4) == INNER_BIN
    assert pytest.approx(0.866, abs=5e-4) == END_BIN
    assert pytest.approx(3.464, abs=5e-4) == END_KNOT


def test_variances_of_many_bins_in_units_of_a_hard_bin():
    design = even_design(60_000, 60)
    soft = robustness(design, "soft").values * 1000
    np.testing.assert_allclose(soft[[0, 30, 59]], [END_BIN, INNER_BIN, END_BIN], rtol=1e-4)
    one = leverage(design).reshape(60, 1000) * 1000
    assert one[30, 0] == pytest.approx(INNER_KNOT, rel=0.004)
    assert one[30, 500] == pytest.approx(INNER_CENTRE, rel=1e-4)
    assert one[0, 0] == pytest.approx(END_KNOT, rel=0.004)
    assert one[-1, -1] == pytest.approx(END_KNOT, rel=0.004)
    position = (np.arange(1000) + 0.5) / 1000
    np.testing.assert_allclose(one[30], variance_in_bin(position, "soft"), rtol=1e-4)


@pytest.mark.parametrize(("fit", "mean", "end"), [("hard", 1, 1), ("lines", 2, FREE_LINE_END), ("soft", 1, INNER_KNOT)])
def test_variance_inside_a_bin(fit, mean, end):
    assert variance_in_bin(even(10_000), fit).mean() == pytest.approx(mean, rel=1e-6)
    assert variance_in_bin(np.array([0.0, 1.0]), fit) == pytest.approx([end, end])


def test_variance_inside_a_bin_of_something_else():
    with pytest.raises(ValueError, match="'cubic' is none of"):
        variance_in_bin(even(3), "cubic")


@pytest.mark.parametrize(("n", "hard", "soft", "ratio"), [(1e4, 24, 5.7, 5), (1e5, 52, 9, 7), (1e6, 113, 14, 9)])
def test_reference_numbers_of_bins(n, hard, soft, ratio):
    best = best_n_bins(n, 1.0, SLOPE, BEND)
    assert best.hard.exact == pytest.approx(hard, abs=0.5)
    assert best.soft.exact == pytest.approx(soft, abs=0.5)
    # Why: the reference counts K, not K+1, parameters for soft bins; the ratio here is the honest one, a little lower.
    leading = 1.5 * best.hard.exact / (1.25 * best.soft.exact)
    assert leading == pytest.approx(ratio, abs=0.5)
    assert best.risk_ratio == pytest.approx(leading, rel=0.15)
    assert best.risk_ratio < leading


@pytest.mark.parametrize("n", [10_000, 100_000, 1_000_000])
def test_the_best_number_is_the_best_on_exact_designs(n):
    """Bias from 20,000 even rows, variance exact: no other number of bins is better by more than one percent."""
    best = best_n_bins(n, 1.0, SLOPE, BEND)
    for fit, found, more in (("hard", best.hard, 0), ("soft", best.soft, 1)):
        near = {k: found.n_bins + k for k in (-2, -1, 0, 1, 2)}
        risk = {
            k: squared_bias(even_design(20_000, size, curve), fit).overall + (size + more) / n
            for k, size in near.items()
        }
        assert risk[0] <= 1.01 * min(risk.values())
        assert found.risk == pytest.approx(risk[0], rel=0.02)


def test_rates():
    few, many = (best_n_bins(n, 1.0, SLOPE, BEND) for n in (1e9, 32e9))
    assert many.soft.exact / few.soft.exact == pytest.approx(2)
    assert many.hard.exact / few.hard.exact == pytest.approx(32 ** (1 / 3))
    assert few.hard.risk / many.hard.risk == pytest.approx(32 ** (2 / 3), rel=0.01)
    assert few.soft.risk / many.soft.risk == pytest.approx(32 ** (4 / 5), rel=0.03)


def test_the_whole_number_is_the_better_neighbour():
    for n in np.geomspace(10, 1e7, 50):
        for found, bias, more in (
            (best_n_bins(n, 1.0, SLOPE, BEND).hard, lambda k: hard_bias(k, SLOPE), 0),
            (best_n_bins(n, 1.0, SLOPE, BEND).soft, lambda k: soft_bias(k, BEND), 1),
        ):
            risks = [bias(k) + (k + more) / n for k in range(1, 600)]
            assert found.n_bins == 1 + int(np.argmin(risks))
            assert found.risk == pytest.approx(min(risks))
            assert found.risk == found.squared_bias + found.variance


def test_columns_at_the_edge():
    flat = best_n_bins(100, 1.0, 0.0, 0.0)
    assert (flat.hard.n_bins, flat.soft.n_bins, flat.hard.exact) == (1, 1, 0.0)
    straight = best_n_bins(100, 1.0, 4.0, 0.0)
    assert straight.soft.n_bins == 1 < straight.hard.n_bins
    sure = best_n_bins(100, 0.0, 1.0, 1.0, most=50)
    assert (sure.hard.n_bins, sure.soft.n_bins, sure.hard.exact) == (50, 50, math.inf)
    assert best_n_bins(7, 0.0, 1.0, 1.0).hard.n_bins == 7
    assert best_n_bins(100, 0.0, 0.0, 0.0).risk_ratio == math.inf


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1, 1, 1), "n: 0 is no count of rows"),
        ((10, -1, 1, 1), "noise_variance: -1 is no number from 0 up"),
        ((10, 1, math.nan, 1), "slope: nan"),
        ((10, 1, 1, math.inf), "bend: inf"),
    ],
)
def test_what_has_no_best_number(arguments, message):
    with pytest.raises(ValueError, match=message):
        best_n_bins(*arguments)


def test_no_bins_at_most():
    with pytest.raises(ValueError, match="most: 0 allows no bin"):
        best_n_bins(10, 1, 1, 1, most=0)


def test_correctness_is_the_risk_that_is_minimised():
    n = 4000
    best = best_n_bins(n, 1.0, SLOPE, BEND)
    design = Design.of(even(n), curve(even(n)), 1.0, np.linspace(0, 1, best.hard.n_bins + 1))
    assert correctness(design, "hard").overall == pytest.approx(best.hard.risk, rel=0.01)
