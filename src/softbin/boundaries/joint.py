"""Rules that decide on several columns at once: which columns, how finely cut, and what each column gets of it.

A joint rule looks at all its columns beside each other before each column is asked for its boundaries. Very many
columns are taken in groups, in the order of the table, so that time and memory grow with the number of columns and not
with its square.
"""

from collections.abc import Sequence
from dataclasses import replace

from softbin.boundaries.periodic import Periodic
from softbin.boundaries.rule import AnyRule, JointRule
from softbin.summaries.pair_counts import JointCounts, count_pairs
from softbin.summaries.target_counts import FineBins, TargetCounts
from softbin.values.tables import Table
from softbin.values.targets import Statistics

MOST_TOGETHER = 128  # columns
FINE_BINS_TOGETHER = 3000  # of all columns of a group
MOST_FINE_BINS = 256


def inner_rule(rule: AnyRule) -> AnyRule:
    """The rule itself, also of a column that wraps."""
    return rule.rule if isinstance(rule, Periodic) else rule


def is_joint(rule: AnyRule) -> bool:
    """Whether the rule decides on several columns at once."""
    return callable(getattr(inner_rule(rule), "together", None))


def fine_bins_together(rules: Sequence[AnyRule]) -> int:
    """How finely each column of a joint rule is cut."""
    n_columns = sum(map(is_joint, rules))
    return min(MOST_FINE_BINS, FINE_BINS_TOGETHER // max(1, min(n_columns, MOST_TOGETHER)))


def decide_together(
    table: Table,
    rules: Sequence[AnyRule],
    fine: Sequence[FineBins],
    counts: Sequence[TargetCounts],
    statistics: Statistics,
    knots: bool,
    n_threads: int,
) -> list[AnyRule]:
    """The rules, with what was chosen together in place of the joint ones; one of everything per column."""
    settled = list(rules)
    weight = None if statistics.parts is None else statistics.parts[0]
    for group in _groups(rules, counts):
        bins = [fine[column] for column in group]
        pairs = count_pairs(table.take(group), bins, weight, n_threads)
        joint = JointCounts(tuple(counts[column] for column in group), pairs)
        asked: list[JointRule] = [inner_rule(rules[column]) for column in group]  # type: ignore[misc]
        chosen = asked[0].together(asked, joint, knots=knots)
        for column, rule in zip(group, chosen, strict=True):
            outer = rules[column]
            settled[column] = replace(outer, rule=rule) if isinstance(outer, Periodic) else rule
    return settled


def _groups(rules: Sequence[AnyRule], counts: Sequence[TargetCounts]) -> list[list[int]]:
    """Columns that are decided on together: of one kind of rule, with values, not too many."""
    kinds: dict[type, list[int]] = {}
    for column, rule in enumerate(rules):
        if is_joint(rule) and len(counts[column]):
            kinds.setdefault(type(inner_rule(rule)), []).append(column)
    return [
        columns[first : first + MOST_TOGETHER]
        for columns in kinds.values()
        for first in range(0, len(columns), MOST_TOGETHER)
    ]
