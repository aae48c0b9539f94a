"""Questions about columns, answered from rank histograms that are as fine as the questions need.

A question is a function of one column's histogram. Short columns are summarised by sorting, long ones by counting
(radix.py), refined where a question finds them too coarse; questions that look at many places are answered by sorting
long columns too, one at a time in each thread. The histogram says the same either way, so the answers are the same.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from softbin import kernels
from softbin.engines.threads import map_items
from softbin.errors import OptionError
from softbin.summaries.radix import leading_histograms, refine_histograms
from softbin.summaries.rank_histogram import Indices, RankHistogram, TooCoarse
from softbin.values.tables import Table

Answer = TypeVar("Answer")
Question = Callable[[RankHistogram], Answer]

SORT_ROWS = 2**17  # up to here sorting a column is as fast as counting it
MANY_PLACES = 500  # from here on sorting is faster however long a column is


def ask_columns(
    table: Table, questions: Sequence[Question[Answer]], unit: float, places: int, n_threads: int
) -> tuple[list[Answer], list[RankHistogram]]:
    """The answer to each column's question, and the histograms (of long columns, at least the leading bits of them).

    ``places`` is about how many places of a column a question looks at.
    """
    if table.n_rows > SORT_ROWS and places < MANY_PLACES and kernels.compiled is not None:
        return _by_counting(table, questions, unit, n_threads)

    def sort(column: int) -> tuple[Answer, RankHistogram]:
        histogram = RankHistogram.of(table.columns[column], table.weight, unit)
        # Why not whole: the distinct values of all columns together may be more than the table.
        kept = histogram if table.n_rows <= SORT_ROWS else histogram.leading()
        return _ask(questions[column], histogram, table.labels[column]), kept

    pairs = map_items(sort, range(len(table.columns)), n_threads)
    return [answer for answer, _ in pairs], [histogram for _, histogram in pairs]


def _by_counting(
    table: Table, questions: Sequence[Question[Answer]], unit: float, n_threads: int
) -> tuple[list[Answer], list[RankHistogram]]:
    histograms = leading_histograms(table, unit, n_threads)
    found: dict[int, Answer] = {}
    while len(found) < len(questions):
        wanted: dict[int, Indices] = {}
        for column, question in enumerate(questions):
            if column in found:
                continue
            try:
                found[column] = _ask(question, histograms[column], table.labels[column])
            except TooCoarse as coarse:
                wanted[column] = coarse.buckets
        if wanted:
            for column, histogram in refine_histograms(table, histograms, wanted, n_threads).items():
                histograms[column] = histogram
    return [found[column] for column in range(len(questions))], histograms


def _ask(question: Question[Answer], histogram: RankHistogram, label: str) -> Answer:
    try:
        return question(histogram)
    except OptionError as error:
        raise OptionError(f"column {label!r}: {error}") from None
