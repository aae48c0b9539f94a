"""From a source of rows to the boundaries of every column: summarise, apply the rule, refine where it asks.

Short columns are summarised by sorting, long ones by counting (radix.py): the same histogram, so the same edges.
A histogram may be larger than its column, so it is let go as soon as the rule has read it.
"""

from collections.abc import Sequence
from dataclasses import replace

from softbin import kernels
from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.periodic import Periodic
from softbin.boundaries.rule import Rule
from softbin.boundaries.user_edges import UserEdges
from softbin.engines.threads import map_items
from softbin.errors import OptionError
from softbin.summaries.bin_totals import bin_totals
from softbin.summaries.radix import leading_histograms, refine_histograms
from softbin.summaries.rank_histogram import ColumnCounts, Indices, RankHistogram, TooCoarse
from softbin.values.tables import Table

SORT_ROWS = 2**17  # up to here sorting a column is as fast as counting it
MOST_SORTED = 2**21  # rows: sorting takes about 100 bytes for each, in every thread, and Ctrl-C waits for it
MANY_BUCKETS = 256

Answer = tuple[Boundaries, ColumnCounts]


def fit_boundaries(
    table: Table, rules: Sequence[Rule], unit: float, knots: bool, n_threads: int
) -> tuple[list[Boundaries], list[ColumnCounts]]:
    """One Boundaries per column with bin weights and means, and what its histogram counted."""
    short = table.n_rows <= SORT_ROWS or kernels.compiled is None
    answers = (_by_sorting if short else _by_counting)(table, rules, unit, knots, n_threads)
    totals = bin_totals(table, [found.edges for found, _ in answers], n_threads)
    fitted = [
        replace(found, weight=tuple(units * unit for units in weight), mean=mean)
        for (found, _), (weight, mean) in zip(answers, totals, strict=True)
    ]
    return fitted, [counts for _, counts in answers]


def _by_sorting(table: Table, rules: Sequence[Rule], unit: float, knots: bool, n_threads: int) -> list[Answer]:
    def answer(column: int) -> Answer:
        histogram = RankHistogram.of(table.columns[column], table.weight, unit)
        return _answer(rules[column], histogram, knots, table.labels[column])

    return map_items(answer, range(len(rules)), n_threads)


def _by_counting(table: Table, rules: Sequence[Rule], unit: float, knots: bool, n_threads: int) -> list[Answer]:
    """The histograms of all columns are refined together, a pass at a time, until every rule has its answer."""
    histograms = dict(enumerate(leading_histograms(table, unit, n_threads)))
    answers: dict[int, Answer] = {}
    while histograms:
        wanted: dict[int, Indices] = {}
        for column, histogram in histograms.items():
            try:
                answers[column] = _answer(rules[column], histogram, knots, table.labels[column])
            except TooCoarse as coarse:
                wanted[column] = coarse.buckets
        crowded = [column for column, buckets in wanted.items() if _is_crowded(table, histograms[column], buckets)]
        if crowded:
            some = table.take(crowded)
            found = _by_sorting(some, [rules[column] for column in crowded], unit, knots, n_threads)
            answers.update(zip(crowded, found, strict=True))
            wanted = {column: buckets for column, buckets in wanted.items() if column not in answers}
        histograms = refine_histograms(table, histograms, wanted, n_threads) if wanted else {}
    return [answers[column] for column in range(len(rules))]


def _is_crowded(table: Table, histogram: RankHistogram, buckets: Indices) -> bool:
    """Whether a rule looks at so many values that sorting the column is faster than another pass over it."""
    return (
        table.n_rows <= MOST_SORTED
        and len(buckets) > MANY_BUCKETS
        and 4 * int(histogram.weight[buckets].sum()) > histogram.total
    )


def _answer(rule: Rule, histogram: RankHistogram, knots: bool, label: str) -> Answer:
    """What the rule says about a column; raises TooCoarse where it must look closer."""
    if len(histogram) == 0 and not _needs_no_values(rule):
        return Boundaries((), note="no finite value to learn from"), histogram.counts()
    try:
        return rule.boundaries(histogram, knots=knots), histogram.counts()
    except OptionError as error:
        raise OptionError(f"column {label!r}: {error}") from None


def _needs_no_values(rule: Rule) -> bool:
    return isinstance(rule.rule if isinstance(rule, Periodic) else rule, UserEdges)
