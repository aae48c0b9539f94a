"""The paper's four lemmas: the false ones are shown to be false, by formula and by simulation."""

import numpy as np
import pytest
from tests.theory.designs import even, even_design

from softbin.theory import Design, correctness, lemmas, robustness, squared_bias

ALL = lemmas()


@pytest.mark.parametrize("lemma", ALL, ids=lambda lemma: f"lemma {lemma.number}")
def test_simulations_agree_with_what_is_true_and_not_with_what_is_printed(lemma):
    for number in lemma.numbers:
        assert abs(number.simulated - number.true) < 3 * number.standard_error, number
        assert number.refuted, number
    assert not lemma.formula_holds


def test_which_sentences_hold():
    assert [lemma.number for lemma in ALL] == [1, 2, 3, 4]
    assert [lemma.statement_holds for lemma in ALL] == [False, True, False, False]


@pytest.mark.parametrize("noise", [0.01, 0.1, 1.0, 2.4, 2.6, 10.0])
def test_lemma_1_a_split_helps_if_the_variance_between_exceeds_the_noise(noise):
    one, two = (Design.of(even(40), even(40), noise, edges) for edges in ([0, 1], [0, 0.5, 1]))
    between = 0.25**2
    assert (correctness(two, "hard").overall < correctness(one, "hard").overall) == (between > noise / 40)


def test_lemma_3_is_false_for_the_printed_slope():
    flat = Design.of(np.linspace(1, 2, 20), np.full(20, 3.0), 1.0)
    assert squared_bias(flat, "paper_lines").overall == pytest.approx(0.340, abs=5e-4)
    assert squared_bias(flat, "hard").overall == 0
    assert squared_bias(flat, "lines").overall < 1e-25
    endless = Design.of(1 + even(100_000), np.full(100_000, 3.0), 1.0)
    assert squared_bias(endless, "paper_lines").overall == pytest.approx((4.5 * 3 / 7) ** 2 / 12, rel=1e-6)


def test_lemma_3_is_false_for_soft_bins_where_the_curve_jumps():
    step = Design.of(even(60), (even(60) >= 0.5).astype(float), 0.0, np.linspace(0, 1, 5))
    assert squared_bias(step, "hard").overall == 0
    assert squared_bias(step, "soft").overall > 0.03


def test_lemma_4_single_predictions_and_means_of_bins():
    grid = even_design(1000, 10)
    np.testing.assert_allclose(robustness(grid, "lines").values, robustness(grid, "hard").values)
    assert (robustness(grid, "soft").values < 0.87 * robustness(grid, "hard").values).all()


def test_the_same_seed_gives_the_same_numbers():
    assert lemmas(repeats=50, seed=3) == lemmas(repeats=50, seed=3)
    assert lemmas(repeats=50, seed=3) != lemmas(repeats=50, seed=4)
