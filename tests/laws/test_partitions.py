"""Rows may come in any blocks, any order, from any number of threads: the same edges, bit for bit."""

from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.columns import (
    RULES,
    CutTable,
    columns,
    counting_path,
    each_dtype,
    each_encoder,
    each_label_free_rule,
    each_rule,
    labels_of,
    make,
    only_compiled,
    strategy_named,
    ugly_columns,
)
from tests.same import assert_same_histogram

import softbin.summaries.questions
from softbin.boundaries.fit import fit_boundaries
from softbin.boundaries.rule import asked_target
from softbin.summaries import RankHistogram
from softbin.values.tables import read_table
from softbin.values.targets import read_target, statistics
from softbin.values.weights import read_weight


def fit_one(table, rule, unit, knots, n_threads):
    """Boundaries and histogram of a table of one column."""
    y = read_target(labels_of(table.columns[0][:, None]), table.n_rows)
    seen = None if asked_target(rule) is None else statistics(y, table.weight, unit)
    (found,), (histogram,) = fit_boundaries(table, [rule], unit, knots, n_threads, seen)
    return found, histogram


CUTS = st.lists(st.integers(0, 60), max_size=6)
LONG = 2**17 + 3001  # rows; more than the fit sorts


@each_dtype
@given(data=st.data(), cuts=CUTS, n_parts=st.integers(1, 5))
def test_histograms_of_any_parts_merge_to_the_histogram_of_all(dtype, data, cuts, n_parts):
    column = data.draw(columns(dtype, infinite=True))
    weight = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(column), max_size=len(column))), np.int64)
    part = np.array(data.draw(st.lists(st.integers(0, n_parts), min_size=len(column), max_size=len(column))), int)
    parts = [RankHistogram.of(column[part == p], weight[part == p]) for p in range(n_parts + 1)]
    whole = RankHistogram.of(column, weight)
    for order in (parts, parts[::-1]):
        assert_same_histogram(reduce(RankHistogram.merge, order), whole)


@each_dtype
@given(data=st.data())
def test_an_empty_histogram_changes_nothing(dtype, data):
    whole = RankHistogram.of(data.draw(columns(dtype, infinite=True)))
    empty = RankHistogram.of(np.array([], dtype))
    assert_same_histogram(whole.merge(empty), whole)
    assert_same_histogram(empty.merge(whole), whole)


@pytest.mark.parametrize("knots", [False, True], ids=["hard", "soft"])
@each_rule
@each_dtype
@given(data=st.data(), cuts=CUTS, n_threads=st.sampled_from([1, 2, 3]), n_bins=st.sampled_from([1, 2, 5, 50]))
def test_any_blocks_counted_by_any_threads_give_the_same_edges(rule, dtype, knots, data, cuts, n_threads, n_bins):
    column = data.draw(columns(dtype, infinite=True))
    asked = make("hard", rule, n_bins)._options().per_column(("x0",))[0].rule
    order = data.draw(st.permutations(range(len(column))))
    whole = CutTable((column,), None, len(column), column.dtype)
    shuffled = CutTable((column[order],), None, len(column), column.dtype, cuts=tuple(cuts), backwards=True)
    with counting_path():
        one, _ = fit_one(whole, asked, 1.0, knots, 1)
        other, _ = fit_one(shuffled, asked, 1.0, knots, n_threads)
    assert other.edges == one.edges
    assert other.weight == one.weight
    assert other.missing_weight == one.missing_weight


@pytest.mark.parametrize("knots", [False, True], ids=["hard", "soft"])
@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "kmeans"])
@each_dtype
@given(data=st.data(), weighted=st.booleans(), n_bins=st.sampled_from([1, 2, 3, 5, 50]))
def test_counting_gives_the_edges_that_sorting_gives(rule, dtype, knots, data, weighted, n_bins):
    column = data.draw(columns(dtype, infinite=True))
    given_weight = data.draw(st.lists(st.integers(0, 4), min_size=len(column), max_size=len(column)))
    weighted = weighted and any(given_weight)
    weight, unit = read_weight(given_weight if weighted else None, len(column))
    table = CutTable((column,), None, len(column), column.dtype, weight)
    asked = make("hard", rule, n_bins)._options().per_column(("x0",))[0].rule
    sorted_, exact = fit_one(table, asked, unit, knots, 1)
    with counting_path():
        counted, coarse = fit_one(table, asked, unit, knots, 1)
    assert counted == sorted_
    assert (coarse.missing, coarse.infinite, coarse.unit) == (exact.missing, exact.infinite, exact.unit)
    assert coarse.n_distinct == exact.n_distinct if coarse.is_exact else coarse.n_distinct <= exact.n_distinct


def long_table(dtype) -> np.ndarray:
    names = ["90 % zero", "integers", "some missing", "scale 1e-9", "top-coded"]
    ugly = ugly_columns(LONG)
    return np.stack([ugly[name] for name in names], axis=1).astype(dtype)


@each_encoder
@each_rule
@each_dtype
def test_long_tables_have_the_same_edges_for_any_threads_and_any_order(encoder, rule, dtype):
    X = long_table(dtype)
    one = make(encoder, rule, 10).fit(X, labels_of(X)).grid_
    assert make(encoder, rule, 10, n_jobs=2).fit(X, labels_of(X)).grid_ == one
    assert make(encoder, rule, 10, n_jobs=3).fit(np.asfortranarray(X), labels_of(X)).grid_ == one
    shuffled = np.random.default_rng(1).permutation(X)
    shuffled = make(encoder, rule, 10, n_jobs=2).fit(shuffled, labels_of(shuffled)).grid_
    assert [b.edges for b in shuffled] == [b.edges for b in one]
    assert [b.weight for b in shuffled] == [b.weight for b in one]


@pytest.mark.parametrize("knots", [False, True], ids=["hard", "soft"])
@each_label_free_rule
@each_dtype
def test_long_columns_have_the_edges_of_the_exact_histogram(knots, rule, dtype):
    """What sorting finds is the definition; counting may not differ however many rows there are."""
    X = long_table(dtype)
    encoder = make("soft" if knots else "hard", rule, 10).fit(X)
    asked = strategy_named(rule) if rule == "a rule object" else encoder._options().per_column(("x",))[0].rule
    for column, boundaries in zip(X.T, encoder.grid_, strict=True):
        expected = asked.boundaries(RankHistogram.of(column), knots=knots)
        assert boundaries.edges == expected.edges


@only_compiled
@each_encoder
@pytest.mark.parametrize("n_columns", [1, 28])
def test_ten_quantiles_of_float32_columns_take_three_passes(encoder, n_columns, monkeypatch):
    passes = []
    refine = softbin.summaries.questions.refine_histograms
    monkeypatch.setattr(softbin.summaries.questions, "refine_histograms", lambda *a: passes.append(1) or refine(*a))
    X = np.random.default_rng(0).lognormal(size=(LONG, n_columns)).astype(np.float32)
    make(encoder, "quantile", 10).fit(X)
    assert 1 + len(passes) == 3


@only_compiled
@each_encoder
@each_dtype
def test_a_rule_that_looks_everywhere_is_answered_by_sorting_with_the_same_edges(encoder, dtype, monkeypatch):
    X = np.random.default_rng(5).normal(size=(LONG, 2)).astype(dtype)
    X[::50, 1] = np.nan
    with counting_path():
        counted = make(encoder, "quantile", 1000).fit(X)
    monkeypatch.setattr(softbin.summaries.questions, "refine_histograms", None)  # every further pass is an error
    fitted = make(encoder, "quantile", 1000).fit(X)
    assert fitted.grid_ == counted.grid_
    distinct = [len(np.unique(column[~np.isnan(column)])) for column in X.T]
    assert [report.distinct for report in fitted.fit_report_] == distinct


@each_dtype
def test_the_bits_of_an_encoding_do_not_depend_on_the_threads(dtype):
    X = read_table(long_table(dtype)[:, :3])
    values = np.stack(X.columns, axis=1)
    for encoder in ("hard", "soft"):
        one, three = (make(encoder, "quantile", n_jobs=jobs).fit_transform(values) for jobs in (1, 3))
        assert np.array_equal(one.indices, three.indices)
        assert np.array_equal(one.data, three.data)
