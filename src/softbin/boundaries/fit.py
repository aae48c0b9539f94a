"""From a source of rows to the boundaries of every column: summarise, apply the rule, refine where it asks.

Short columns are summarised by sorting, long ones by counting (radix.py): the same histogram, so the same edges.
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
from softbin.summaries.rank_histogram import Indices, RankHistogram, TooCoarse
from softbin.values.tables import Table

SORT_ROWS = 2**17  # up to here sorting a column is as fast as counting it


def fit_boundaries(
    table: Table, rules: Sequence[Rule], unit: float, knots: bool, n_threads: int
) -> tuple[list[Boundaries], list[RankHistogram]]:
    """One Boundaries per column with bin weights and means, and the histogram that each was read from."""
    if table.n_rows <= SORT_ROWS or kernels.compiled is None:
        weight = table.weight

        def summarise(column: int) -> RankHistogram:
            return RankHistogram.of(table.columns[column], weight, unit)

        histograms = map_items(summarise, range(len(table.columns)), n_threads)
    else:
        histograms = leading_histograms(table, unit, n_threads)
    found = _apply(table, rules, histograms, knots, n_threads)
    totals = bin_totals(table, [boundaries.edges for boundaries in found], n_threads)
    fitted = []
    for boundaries, (weight_, mean), histogram in zip(found, totals, histograms, strict=True):
        units = histogram.unit
        fitted.append(
            replace(
                boundaries,
                weight=tuple(w * units for w in weight_),
                mean=mean,
            )
        )
    return fitted, histograms


def _needs_no_values(rule: Rule) -> bool:
    return isinstance(rule.rule if isinstance(rule, Periodic) else rule, UserEdges)


def _apply(
    table: Table, rules: Sequence[Rule], histograms: list[RankHistogram], knots: bool, n_threads: int
) -> list[Boundaries]:
    """Each column's rule on its histogram; ``histograms`` is refined in place until every rule has its answer."""
    found: dict[int, Boundaries] = {}
    while len(found) < len(rules):
        wanted: dict[int, Indices] = {}
        for column, rule in enumerate(rules):
            if column in found:
                continue
            if len(histograms[column]) == 0 and not _needs_no_values(rule):
                found[column] = Boundaries((), note="no finite value to learn from")
                continue
            try:
                found[column] = rule.boundaries(histograms[column], knots=knots)
            except TooCoarse as coarse:
                wanted[column] = coarse.buckets
            except OptionError as error:
                raise OptionError(f"column {table.labels[column]!r}: {error}") from None
        if wanted:
            for column, histogram in refine_histograms(table, histograms, wanted, n_threads).items():
                histograms[column] = histogram
    return [found[column] for column in range(len(rules))]
