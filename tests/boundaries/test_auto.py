"""Automatic numbers of bins: the rule on counts against least squares on rows, and against what the theory says."""

import numpy as np
import pytest
from tests.columns import numpy_definitions
from tests.counts import counts
from tests.theory.designs import even

from softbin.boundaries import KMeans, Quantile, Risk, Tree, Uniform
from softbin.boundaries.auto import MOST_HARD, MOST_SOFT, PER_PARAMETER, ByRows, Measured, automatic
from softbin.boundaries.indicators import MOST_INDICATORS, centres, moments, seen_coarsely
from softbin.errors import OptionError
from softbin.summaries import RankHistogram
from softbin.theory import best_n_bins, measured_best_n_bins
from softbin.theory.pilot import steps

each_kind = pytest.mark.parametrize("knots", [False, True], ids=["hard", "soft"])
each_rule = pytest.mark.parametrize("rule", [Quantile, Uniform, KMeans, Risk])


def number(found):
    """The number of bins that the note says."""
    return int(found.note.split()[1])


def chosen(values, y, knots, rule=Quantile, weight=None):
    return number(Measured(rule()).boundaries(counts(values, y, weight), knots=knots))


def penalised_by_rows(values, targets, edges, knots):
    """Squared bias + 2 parameters of noise, by dense least squares on the rows of each value."""
    distinct, of = np.unique(values, return_inverse=True)
    rows = np.bincount(of)
    means = np.bincount(of, targets) / rows
    noise = np.sum((targets - means[of]) ** 2) / (len(values) - len(distinct))
    if knots:
        levels = np.stack([np.interp(distinct, edges, unit) for unit in np.eye(len(edges))], axis=1)
    else:
        levels = np.eye(len(edges) - 1)[np.searchsorted(edges[1:-1], distinct, side="right")]
    scale = np.sqrt(rows)
    fit = levels @ np.linalg.lstsq(levels * scale[:, None], means * scale, rcond=None)[0]
    n_parameters = levels.shape[1]
    bias = rows @ (means - fit) ** 2 - (len(distinct) - n_parameters) * noise
    return (bias + PER_PARAMETER * n_parameters * noise) / len(values) / noise


@each_kind
@pytest.mark.parametrize("kind", ["number", "two classes", "three classes"])
@pytest.mark.parametrize("seed", range(3))
def test_the_number_is_that_of_least_squares_on_rows(kind, knots, seed):
    """Forty values of uneven weight, all of them fine bins."""
    rng = np.random.default_rng(seed)
    values = np.sort(rng.normal(size=40))[rng.integers(0, 40, 3000)]
    curve = np.sin(2 * values)
    if kind == "number":
        y = curve + rng.normal(size=3000)
        indicators = [y]
    else:
        y = (rng.random(3000) < 0.5 + curve / 3).astype(int) + (kind == "three classes") * (rng.random(3000) < 0.2)
        indicators = [y] if kind == "two classes" else [y == c for c in range(3)]
    column = RankHistogram.of(values)
    risks = {
        k: sum(
            penalised_by_rows(values, target.astype(float), Quantile(k).boundaries(column, knots=knots).edges, knots)
            for target in indicators
        )
        for k in steps(1, 40, 1.2)
    }
    assert chosen(values, y, knots) == min(risks, key=risks.get)


@each_kind
def test_without_the_doubled_price_it_is_what_the_theory_measures(knots, monkeypatch):
    monkeypatch.setattr("softbin.boundaries.auto.PER_PARAMETER", 1.0)
    rng = np.random.default_rng(0)
    values = np.repeat(even(240), 60)
    y = np.sin(6 * values) + rng.normal(size=len(values))
    of_row = np.repeat(np.arange(240), 60)
    sums, squares = np.bincount(of_row, y), np.bincount(of_row, y**2)
    measured = measured_best_n_bins(even(240), np.full(240, 60), sums, squares, most=240)
    theirs = (measured.soft if knots else measured.hard).n_bins
    # They try other numbers above 16: a fifth apart, and a tenth.
    assert abs(np.log(chosen(values, y, knots) / theirs)) < 0.2


@each_rule
def test_a_line_takes_hardly_more_than_one_soft_bin_and_some_hard_ones(rule):
    soft, hard = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        x = rng.random(8000)
        seen = counts(x, x + rng.normal(size=len(x)) / 3)
        soft.append(number(Measured(rule()).boundaries(seen, knots=True)))
        hard.append(number(Measured(rule()).boundaries(seen)))
    assert np.median(soft) == 1
    assert np.mean(soft) < 2
    assert 8 <= np.mean(hard) <= 25


@each_rule
@each_kind
def test_a_wave_takes_more_bins_the_more_it_waves_and_noise_takes_few(rule, knots):
    rng = np.random.default_rng(2)
    x = rng.random(20_000)
    noise = rng.normal(size=len(x))
    few, some, many = (chosen(x, signal + noise, knots, rule) for signal in (0 * x, np.sin(7 * x), np.sin(50 * x)))
    assert few <= 3
    assert few < some < many
    assert many >= 15


@each_kind
def test_numbers_grow_with_the_rows_as_the_theory_says(knots):
    """32 times the rows: soft bins 2 times, hard bins 3.2 times."""
    rng = np.random.default_rng(3)

    def mean_number(n):
        found = []
        for _ in range(6):
            x = rng.random(n)
            found.append(chosen(x, np.sin(9 * x) + rng.normal(size=n), knots))
        return np.mean(found)

    ratio = mean_number(64_000) / mean_number(2000)
    assert (1.6 < ratio < 2.6) if knots else (2.4 < ratio < 4.2)


def test_numbers_are_near_the_formula_with_the_doubled_price():
    n, found = 50_000, []
    x = even(n)
    slope, bend = 81 * np.mean(np.cos(9 * x) ** 2), 81**2 * np.mean(np.sin(9 * x) ** 2)
    best = best_n_bins(n, PER_PARAMETER, slope, bend)
    for seed in range(6):
        seen = counts(x, np.sin(9 * x) + np.random.default_rng(seed).normal(size=n))
        found.append([number(Measured(Quantile()).boundaries(seen, knots=knots)) for knots in (False, True)])
    assert np.mean(found, axis=0) == pytest.approx([best.hard.exact, best.soft.exact], rel=0.2)


def test_a_step_is_two_hard_bins_at_the_step():
    x = np.arange(2000.0)
    found = Measured(Quantile()).boundaries(counts(x, x >= 1000))
    assert found.edges == (0.0, 1000.0, 1999.0)
    assert "2 bins" in found.note


@each_kind
@pytest.mark.parametrize("y", [np.zeros(500), np.full(500, 2.5), np.array(["a"] * 500)], ids=["zero", "2.5", "text"])
def test_a_target_with_nothing_to_tell_is_one_bin(y, knots):
    found = Measured(Quantile()).boundaries(counts(np.arange(500.0), y), knots=knots)
    assert found.n_bins == 1
    assert found.note == "auto: 1 bin, the target is the same in all rows"


@each_rule
@each_kind
@pytest.mark.parametrize("column", [[3.0], [3.0, 3.0], [0.0, 1.0], [1.0, 1.0 + 2e-16, 1e300], [-8e307, 0, 8e307]])
@pytest.mark.parametrize("copies", [1, 100])
def test_few_values_never_have_more_bins_than_there_are(rule, knots, column, copies):
    x = np.repeat(column, copies)
    y = np.random.default_rng(0).integers(0, 2, len(x))
    found = Measured(rule()).boundaries(counts(x, y), knots=knots)
    assert len(found.edges) - (not knots and len(found.edges) > 1) <= len(np.unique(x))
    assert found.edges[0] == x.min()
    assert found.edges[-1] >= x.max()


@each_rule
@each_kind
def test_a_heavy_value_is_no_reason_for_many_bins(rule, knots):
    rng = np.random.default_rng(5)
    x = np.where(rng.random(8000) < 0.9, 0.0, rng.exponential(size=8000))
    found = Measured(rule()).boundaries(counts(x, rng.normal(size=len(x))), knots=knots)
    assert found.n_bins <= 4


def test_weights_count_rows():
    rng = np.random.default_rng(6)
    x = rng.normal(size=2000).round(2)
    y = np.sin(2 * x) + rng.normal(size=2000)
    weight = rng.integers(0, 4, 2000)
    for knots in (False, True):
        once = Measured(Quantile()).boundaries(counts(x, y, weight), knots=knots)
        again = Measured(Quantile()).boundaries(counts(np.repeat(x, weight), np.repeat(y, weight)), knots=knots)
        assert once.edges == again.edges


def test_very_unequal_weights_and_very_small_ones():
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=600), rng.normal(size=600)
    wild = np.where(np.arange(600) % 3, 1e-9, 1e9)
    for weight in (wild, np.full(600, 1e-6), np.full(600, 1e9)):
        for knots in (False, True):
            assert Measured(Quantile()).boundaries(counts(x, y, weight), knots=knots).n_bins >= 1
    few = Measured(Quantile()).boundaries(counts(x, y, np.full(600, 1e-3)))
    assert few.note == "auto: 1 bin, 1 rows are too few to measure a risk"


def test_the_compiled_counts_and_their_definition_choose_alike():
    rng = np.random.default_rng(8)
    x = rng.normal(size=5000)
    y = np.sin(3 * x) + rng.normal(size=5000)
    compiled = Measured(Quantile()).boundaries(counts(x, y))
    with numpy_definitions():
        assert Measured(Quantile()).boundaries(counts(x, y)) == compiled


@pytest.mark.parametrize(("n", "hard", "soft"), [(1, 1, 1), (1000, 5, 4), (100_000, 24, 10)])
def test_without_a_target_rows_decide(n, hard, soft):
    column = RankHistogram.of(np.arange(float(n)))
    found = [ByRows(Quantile()).boundaries(column, knots=knots) for knots in (False, True)]
    assert [number(boundaries) for boundaries in found] == [hard, soft]
    heavy = RankHistogram.of(np.arange(2000.0), np.full(2000, 2), n / 4000)
    assert number(ByRows(Quantile()).boundaries(heavy)) == hard


@each_kind
def test_there_is_a_most(knots):
    column = RankHistogram.of(np.arange(3000.0), np.full(3000, 2**40))
    assert number(ByRows(Uniform()).boundaries(column, knots=knots)) == (MOST_SOFT if knots else MOST_HARD)
    x = np.arange(40_000.0)
    y = np.random.default_rng(0).normal(size=400)[(x // 100).astype(int)]
    y += np.random.default_rng(1).normal(size=len(x)) / 100
    assert chosen(x, y, knots) <= (MOST_SOFT if knots else MOST_HARD)


def test_many_classes_are_looked_at_by_the_heaviest():
    rng = np.random.default_rng(9)
    seen = counts(rng.normal(size=4000), rng.integers(0, 60, 4000).astype(str))
    assert len(moments(seen)) == MOST_INDICATORS
    assert Measured(Quantile()).boundaries(seen).n_bins >= 1


def test_neighbours_beside_a_huge_range_are_told_apart():
    seen = seen_coarsely(counts(np.repeat([1.0, 1.0 + 2e-16, 2.0, 1e300], 10), np.arange(40) % 2), 100)
    assert np.all(np.diff(centres(seen)) > 0)


def test_rules_that_choose_by_themselves_are_refused():
    with pytest.raises(OptionError, match=r'n_bins: "auto" goes with quantile.*; Tree looks for bins in its own way'):
        automatic(Tree(), supervised=True)
    assert automatic(Quantile(), supervised=False) == ByRows(Quantile())
    assert automatic(Risk(), supervised=False) == Measured(Risk())
