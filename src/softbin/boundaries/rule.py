"""What a rule is: a frozen value that turns the summary of one column into its boundaries.

A ``Rule`` sees the column alone, as a RankHistogram. A ``LabelRule`` sees the target beside it, as TargetCounts, and
says what kind of target it can look at. A ``JointRule`` sees several columns and the target beside each other.
"""

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from softbin.boundaries.boundaries import Boundaries
from softbin.errors import OptionError
from softbin.summaries.pair_counts import JointCounts
from softbin.summaries.rank_histogram import RankHistogram
from softbin.summaries.target_counts import TargetCounts
from softbin.values.targets import Kind

AskedKind = Kind | Literal["auto"]


class Rule(Protocol):
    """Sees a summary, never rows. ``knots`` says that soft bins ask: edges on values instead of between them."""

    def boundaries(self, histogram: RankHistogram, *, knots: bool = False) -> Boundaries: ...


class LabelRule(Protocol):
    """A rule that looks at the target too. ``target`` is what it has to be: classes, a number, or either ("auto")."""

    @property
    def target(self) -> AskedKind: ...

    def boundaries(self, counts: TargetCounts, *, knots: bool = False) -> Boundaries: ...


class JointRule(LabelRule, Protocol):
    """A rule that looks at several columns together, and chooses a LabelRule for each.

    ``rules`` are of this class, one per column: columns may have different options. ``boundaries`` is for a column on
    its own.
    """

    def together(
        self, rules: "Sequence[JointRule]", joint: JointCounts, *, knots: bool = False
    ) -> Sequence[LabelRule]: ...


AnyRule = Rule | LabelRule


def asked_target(rule: AnyRule) -> AskedKind | None:
    """What kind of target the rule looks at; None if it looks at the column alone."""
    asked: AskedKind | None = getattr(rule, "target", None)
    return asked


def check_n_bins(n_bins: Any) -> int:
    """``n_bins`` as an int, or an error."""
    if isinstance(n_bins, bool) or not hasattr(n_bins, "__index__") or int(n_bins) < 1:
        raise OptionError(f"n_bins: {n_bins!r} is not a number of bins; pass a whole number, 1 or more")
    return int(n_bins)


def check_share(name: str, share: Any, least: float = 0.0, most: float = 1.0) -> float:
    """A number between these, both left out unless 0, or an error that names the option."""
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not least <= share < most:
        raise OptionError(f"{name}: {share!r} is not a number from {least:g} to below {most:g}; pass one")
    return float(share)


def check_choice(name: str, choice: Any, choices: tuple[Any, ...]) -> Any:
    """One of these, or an error that names the option."""
    if not any(type(choice) is type(one) and choice == one for one in choices):
        raise OptionError(f"{name}: {choice!r} is none of {', '.join(map(repr, choices))}; pass one of them")
    return choice
