"""Questions about columns, answered from rank histograms that are as fine as the questions need.

A question is a function of one column's histogram. Short columns are summarised by sorting, long ones by counting
(radix.py), refined where a question finds them too coarse. A question that looks at many places of a long column is
answered by sorting it too. The histogram says the same either way, so the answers are the same. A histogram may be
larger than its column, so it is let go as soon as the question is answered.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from softbin import kernels
from softbin.engines.threads import map_items
from softbin.errors import OptionError
from softbin.summaries.radix import leading_histograms, refine_histograms
from softbin.summaries.rank_histogram import ColumnCounts, Indices, RankHistogram, TooCoarse
from softbin.values.tables import Table

Answer = TypeVar("Answer")
Question = Callable[[RankHistogram], Answer]

SORT_ROWS = 2**17  # up to here sorting a column is as fast as counting it
MOST_SORTED = 2**24  # rows: sorting takes about 50 bytes for each, in every thread, and Ctrl-C waits for it
MANY_BUCKETS = 256


def ask_columns(
    table: Table, questions: Sequence[Question[Answer]], unit: float, n_threads: int
) -> list[tuple[Answer, ColumnCounts]]:
    """The answer to each column's question, and what the column's histogram counted."""
    short = table.n_rows <= SORT_ROWS or kernels.compiled is None
    return (_by_sorting if short else _by_counting)(table, questions, unit, n_threads)


def _by_sorting(
    table: Table, questions: Sequence[Question[Answer]], unit: float, n_threads: int
) -> list[tuple[Answer, ColumnCounts]]:
    def answer(column: int) -> tuple[Answer, ColumnCounts]:
        histogram = RankHistogram.of(table.columns[column], table.weight, unit)
        return _ask(questions[column], histogram, table.labels[column])

    return map_items(answer, range(len(questions)), n_threads)


def _by_counting(
    table: Table, questions: Sequence[Question[Answer]], unit: float, n_threads: int
) -> list[tuple[Answer, ColumnCounts]]:
    """The histograms of all columns are refined together, a pass at a time, until every question has its answer."""
    histograms = dict(enumerate(leading_histograms(table, unit, n_threads)))
    answers: dict[int, tuple[Answer, ColumnCounts]] = {}
    while histograms:
        wanted: dict[int, Indices] = {}
        for column, histogram in histograms.items():
            try:
                answers[column] = _ask(questions[column], histogram, table.labels[column])
            except TooCoarse as coarse:
                wanted[column] = coarse.buckets
        crowded = [column for column, buckets in wanted.items() if _is_crowded(table, histograms[column], buckets)]
        if crowded:
            found = _by_sorting(table.take(crowded), [questions[column] for column in crowded], unit, n_threads)
            answers.update(zip(crowded, found, strict=True))
            wanted = {column: buckets for column, buckets in wanted.items() if column not in answers}
        histograms = refine_histograms(table, histograms, wanted, n_threads) if wanted else {}
    return [answers[column] for column in range(len(questions))]


def _is_crowded(table: Table, histogram: RankHistogram, buckets: Indices) -> bool:
    """Whether a question looks at so many values that sorting the column is faster than another pass over it."""
    return (
        table.n_rows <= MOST_SORTED
        and len(buckets) > MANY_BUCKETS
        and 4 * int(histogram.weight[buckets].sum()) > histogram.total
    )


def _ask(question: Question[Answer], histogram: RankHistogram, label: str) -> tuple[Answer, ColumnCounts]:
    """The answer about a column; raises TooCoarse where the question must look closer."""
    try:
        return question(histogram), histogram.counts()
    except OptionError as error:
        raise OptionError(f"column {label!r}: {error}") from None
