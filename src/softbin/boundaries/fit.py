"""From a table to the boundaries of every column: summarise, and apply each column's rule to its summary.

Rules that look at the column alone are asked about its rank histogram. For those that look at the target too, the
histogram gives the fine bins, one more pass counts the target in them, and the rule is asked about these counts. Rules
that decide on several columns at once see, after yet another pass, how often these are in which fine bins together.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.fine_bins import fine_bins, most_fine_bins
from softbin.boundaries.joint import decide_together, fine_bins_together, inner_rule, is_joint
from softbin.boundaries.rule import AnyRule, asked_target
from softbin.boundaries.user_edges import UserEdges
from softbin.engines.threads import map_items
from softbin.errors import OptionError
from softbin.summaries.bin_totals import bin_totals
from softbin.summaries.questions import Question, ask_columns
from softbin.summaries.rank_histogram import ColumnCounts, RankHistogram
from softbin.summaries.target_counts import FineBins, TargetCounts, count_targets
from softbin.values.tables import Table
from softbin.values.targets import Statistics

NOTHING_TO_LEARN = Boundaries((), note="no finite value to learn from")


def fit_boundaries(
    table: Table, rules: Sequence[AnyRule], unit: float, knots: bool, n_threads: int, target: Statistics | None = None
) -> tuple[list[Boundaries], list[ColumnCounts]]:
    """One Boundaries per column with bin weights and means, and what each column's histogram counted.

    ``target`` is what rules that look at the label see of it.
    """
    joint = fine_bins_together(rules)
    questions = [_question(rule, knots, target, joint) for rule in rules]
    answers = ask_columns(table, questions, unit, n_threads)
    found = _apply_label_rules(table, rules, [answer for answer, _ in answers], knots, n_threads, target)
    return with_totals(table, found, unit, n_threads), [counts for _, counts in answers]


def with_totals(table: Table, found: Sequence[Boundaries], unit: float, n_threads: int) -> list[Boundaries]:
    """The boundaries of every column of the table with the weight and the mean of each bin: one pass."""
    totals = bin_totals(table, [boundaries.edges for boundaries in found], n_threads)
    return [
        replace(boundaries, weight=tuple(w * unit for w in weight), mean=mean)
        for boundaries, (weight, mean) in zip(found, totals, strict=True)
    ]


def _question(rule: AnyRule, knots: bool, target: Statistics | None, joint: int) -> Question[Boundaries | FineBins]:
    if asked_target(rule) is None:
        return partial(apply_rule, rule, knots)
    assert target is not None
    most = most_fine_bins(target.n_slots)
    return partial(fine_bins, most=min(most, joint) if is_joint(rule) else most)


def apply_rule(rule: AnyRule, knots: bool, histogram: RankHistogram) -> Boundaries:
    """The rule's boundaries, also of a column without any value."""
    if len(histogram) == 0 and not _needs_no_values(rule):
        return NOTHING_TO_LEARN
    return rule.boundaries(histogram, knots=knots)  # type: ignore[arg-type]


def _needs_no_values(rule: AnyRule) -> bool:
    return isinstance(inner_rule(rule), UserEdges)


def _apply_label_rules(
    table: Table,
    rules: Sequence[AnyRule],
    answers: Sequence[Boundaries | FineBins],
    knots: bool,
    n_threads: int,
    target: Statistics | None,
) -> list[Boundaries]:
    """The answers, with the rule's boundaries in place of fine bins."""
    fine = {column: answer for column, answer in enumerate(answers) if isinstance(answer, FineBins)}
    if not fine:
        return list(answers)  # type: ignore[arg-type]
    assert target is not None
    seen, bins = table.take(list(fine)), list(fine.values())
    counts = count_targets(seen, bins, target, n_threads)
    settled = decide_together(seen, [rules[column] for column in fine], bins, counts, target, knots, n_threads)

    def decide(triple: tuple[str, AnyRule, TargetCounts]) -> Boundaries:
        label, rule, of_column = triple
        if len(of_column) == 0:
            return NOTHING_TO_LEARN
        try:
            return rule.boundaries(of_column, knots=knots)  # type: ignore[arg-type]
        except OptionError as error:
            raise OptionError(f"column {label!r}: {error}") from None

    triples = zip(seen.labels, settled, counts, strict=True)
    decided = dict(zip(fine, map_items(decide, triples, n_threads), strict=True))
    return [decided[column] if isinstance(answer, FineBins) else answer for column, answer in enumerate(answers)]
