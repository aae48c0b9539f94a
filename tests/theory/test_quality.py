"""Correctness and robustness: closed forms against dense linear algebra and against simulation, on random designs."""

import time

import numpy as np
import pytest
from tests.theory.designs import dense_smoother, even_design, random_design

from softbin.theory import Design, correctness, pointwise_variance, robustness, squared_bias
from softbin.theory.quality import FITS
from softbin.theory.shared_knots import gram, selected_inverse

each_fit = pytest.mark.parametrize("fit", FITS)
SEEDS = range(12)


@each_fit
@pytest.mark.parametrize("seed", SEEDS)
def test_closed_forms_are_the_definitions_by_dense_algebra(fit, seed):
    design = random_design(seed)
    S, n, s2 = dense_smoother(design, fit), len(design.values), design.noise_variance
    member = np.eye(design.n_bins)[design.bin]  # rows x bins
    mean = member / member.sum(axis=0)
    variance = s2 * (S**2).sum(axis=1)
    bias = (S @ design.truth - design.truth) ** 2

    targets = np.random.default_rng(seed).normal(size=(3, n))
    np.testing.assert_allclose(FITS[fit].predict(design, targets), targets @ S.T, atol=1e-9)
    np.testing.assert_allclose(squared_bias(design, fit).values, mean.T @ bias, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(pointwise_variance(design, fit), variance, rtol=1e-8)
    np.testing.assert_allclose(FITS[fit].spent(design), member.T @ variance / s2, rtol=1e-8)
    found = correctness(design, fit)
    np.testing.assert_allclose(found.values, mean.T @ (bias + variance), rtol=1e-8)
    assert found.overall == pytest.approx((bias + variance).mean())
    moved = robustness(design, fit)
    np.testing.assert_allclose(moved.values, s2 * ((mean.T @ S) ** 2).sum(axis=1), rtol=1e-8)
    assert moved.overall == pytest.approx((moved.values * member.sum(axis=0)).sum() / n)


def off_by(form, fit, measure, designs):
    """How many standard errors each simulation is from the form, overall; one number per design."""
    gaps = []
    for seed, design in enumerate(designs):
        drawn = measure(design, fit, "simulated", repeats=1500, seed=seed + 100)
        gaps.append((drawn.overall - measure(design, fit, form).overall) / drawn.overall_standard_error)
    return np.array(gaps)


@each_fit
@pytest.mark.parametrize("measure", [correctness, robustness])
def test_simulations_agree_within_three_standard_errors(fit, measure):
    gaps = off_by("true", fit, measure, map(random_design, SEEDS))
    assert np.abs(gaps).max() < 3
    assert 0.4 < np.sqrt((gaps**2).mean()) < 1.6  # the standard errors are neither too large nor too small


@each_fit
@pytest.mark.parametrize("measure", [correctness, robustness])
def test_printed_formulas_do_not(fit, measure):
    assert np.abs(off_by("printed", fit, measure, map(random_design, SEEDS))).min() > 3


@each_fit
def test_every_bin_of_a_simulation_agrees(fit):
    design = random_design(3, rows_per_bin=20)
    for measure in (correctness, robustness):
        drawn = measure(design, fit, "simulated", repeats=4000)
        assert (np.abs(drawn.values - measure(design, fit).values) < 3.5 * drawn.standard_errors).all()


def test_printed_formulas():
    design = Design.of([1.0, 2, 3, 4], [1.0, 4, 9, 16], 0.5)
    assert correctness(design, "hard", "printed").overall == pytest.approx(np.var([1, 4, 9, 16]))
    slope = 100 / 30  # sum of v lambda by sum of v^2
    line = np.array([-6.5, -3.5, 1.5, 8.5]) - slope * np.array([-1.5, -0.5, 0.5, 1.5])
    for fit in ("lines", "soft", "paper_lines"):
        assert correctness(design, fit, "printed").overall == pytest.approx((line**2).mean())
    for fit in FITS:
        assert robustness(design, fit, "printed").overall == pytest.approx(0.5 / 16)


@pytest.mark.parametrize("seed", SEEDS)
def test_lines_and_means_as_the_derivations_write_them(seed):
    design = random_design(seed)
    s2 = design.noise_variance
    for k in range(design.n_bins):
        v, curve = design.values[design.bin == k], design.truth[design.bin == k]
        m, rho = len(v), np.corrcoef(v, curve)[0, 1]
        assert correctness(design, "hard").values[k] == pytest.approx(curve.var() + s2 / m)
        assert correctness(design, "lines").values[k] == pytest.approx(curve.var() * (1 - rho**2) + 2 * s2 / m)
        wins = correctness(design, "lines").values[k] < correctness(design, "hard").values[k]
        assert wins == (rho**2 * curve.var() > s2 / m)


@pytest.mark.parametrize("seed", SEEDS)
def test_laws_of_soft_bins(seed):
    design = random_design(seed)
    assert FITS["soft"].spent(design).sum() == pytest.approx(design.n_bins + 1)
    steadier = robustness(design, "soft").values < robustness(design, "hard").values * (1 - 1e-9)
    assert steadier.all() or design.n_bins == 1
    line = Design.of(design.values, 3 - 2 * design.values, 0.0, design.edges)
    assert correctness(line, "soft").overall < 1e-20


def test_one_soft_bin_is_one_line():
    design = random_design(5)
    one = Design.of(design.values, design.truth, design.noise_variance)
    for measure in (correctness, robustness):
        assert measure(one, "soft").overall == pytest.approx(measure(one, "lines").overall)


def test_the_selected_inverse_is_the_inverse():
    design = even_design(3000, 300)
    diagonal, beside = gram(design)
    dense = np.linalg.inv(np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1))
    found = selected_inverse(design)
    np.testing.assert_allclose(found[0], np.diag(dense), rtol=1e-12)
    np.testing.assert_allclose(found[1], np.diag(dense, 1), rtol=1e-12)


@pytest.mark.timing
def test_many_rows_and_knots_take_no_square_of_anything():
    design = even_design(200_000, 20_000)  # dense, this is 32 GB
    began = time.perf_counter()
    assert correctness(design, "soft").overall == pytest.approx(20_001 / 200_000, rel=1e-6)
    assert robustness(design, "soft").values[10_000] * 10 == pytest.approx(0.634, abs=0.01)
    assert time.perf_counter() - began < 5


def test_a_grid_is_the_mean_of_its_bins_by_rows():
    design = Design.of([0, 1, 2, 3, 4, 5], [0, 0, 0, 0, 6, 0], 0.0, [0, 3.5, 5])
    found = correctness(design, "hard")
    assert found.rows.tolist() == [4, 2]
    np.testing.assert_allclose(found.values, [0, 9])
    assert found.overall == 3
    assert found.overall_standard_error == 0


def test_rows_may_come_in_any_order():
    design = random_design(7)
    shuffled = np.random.default_rng(0).permutation(len(design.values))
    again = Design.of(design.values[shuffled], design.truth[shuffled], design.noise_variance, design.edges)
    for fit in FITS:
        assert correctness(again, fit).overall == pytest.approx(correctness(design, fit).overall, rel=1e-12)


def test_bins_are_closed_on_the_left_and_the_last_on_both_sides():
    assert Design.of([0, 1, 1, 2], [0, 0, 0, 0], 1, [0, 1, 2]).bin.tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize("fit", ["hard", "lines", "paper_lines"])
def test_bins_of_one_value_are_means(fit):
    design = Design.of([0.0, 0.0, 5, 6], [1, 3, 2, 2], 1.0, [0, 1, 5.5, 6])
    assert correctness(design, fit).values[0] == pytest.approx(1 + 1 / 2)
    if fit != "paper_lines":
        assert FITS[fit].spent(design).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [1], 1), "differ; pass one number per row"),
        (([1, np.nan], [1, 2], 1), "not finite"),
        (([1, 2], [1, 2], -1), "noise_variance: -1 is no variance"),
        (([1, 2], [1, 2], 1, [2, 1]), "strictly increase"),
        (([1, 2], [1, 2], 1, [1, 1.5]), "leave"),
        (([1, 4], [1, 2], 1, [1, 2, 3, 4]), "1 bins have no row, the first is number 1"),
        (([3, 3], [1, 2], 1), "strictly increase"),
    ],
)
def test_what_is_no_design(arguments, message):
    with pytest.raises(ValueError, match=message):
        Design.of(*arguments)


def test_what_cannot_be_asked():
    design = Design.of([0.0, 1, 2], [0, 0, 0], 1.0, [0, 0.5, 1.5, 2])
    with pytest.raises(ValueError, match="do not determine 4 knots"):
        correctness(design, "soft")
    with pytest.raises(ValueError, match="fit: 'cubic' is none of 'hard', 'lines', 'soft', 'paper_lines'"):
        correctness(design, "cubic")
    with pytest.raises(ValueError, match="form: 'guessed' is none of"):
        robustness(design, "hard", "guessed")
    with pytest.raises(ValueError, match="repeats: 1 draws"):
        robustness(design, "hard", "simulated", repeats=1)
