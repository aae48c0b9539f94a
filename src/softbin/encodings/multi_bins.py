"""MultiBins: every column cut at several granularities, and those kept that tell the target best on held-out rows."""

from collections.abc import Sequence
from dataclasses import dataclass, is_dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.fit import apply_rule, with_totals
from softbin.boundaries.grid import Grid
from softbin.boundaries.one_field import SCORES, Halves, check_score, default_score
from softbin.boundaries.rule import asked_target, check_n_bins, check_share
from softbin.encodings.encoder import BinEncoder, check_fit_values, finish, read_weighted, report_of
from softbin.encodings.fit_report import FitReport
from softbin.encodings.options import Options, one_of, ordinary_values
from softbin.encodings.plan import Plan, Views
from softbin.engines.threads import count_threads
from softbin.errors import OptionError
from softbin.summaries.questions import ask_columns
from softbin.summaries.rank_histogram import RankHistogram
from softbin.summaries.target_counts import FineBins, TargetCounts, count_targets
from softbin.values.held_out import held_out
from softbin.values.tables import Table, default_names
from softbin.values.targets import read_target, statistics

SCORE_FIELDS = np.dtype([("column", object), ("granularity", np.int64), ("score", np.float64), ("kept", np.bool_)])


@dataclass(frozen=True, eq=False)
class Candidate:
    """One column cut one way: as it is scored (``hard``), and as it is encoded where it is kept."""

    column: int
    granularity: int
    hard: Boundaries
    encoded: Boundaries


class MultiBins(BinEncoder):
    """Several granularities of a column side by side, the better share of them kept (the paper's MGD, from AutoCross).

    Each pair of a column and a granularity is scored by a model of its own: one number per bin, fitted to the training
    rows and judged on held-out ones. Coarse bins are sure of little, fine ones unsure of much; a linear model on the
    best of them takes what each is good at.

    Parameters
    ----------
    granularities : sequence of int, default=(10, 100, 1000, 10000)
        Numbers of bins that are tried for every column.
    strategy : {"quantile", "uniform", "kmeans", ...} or a rule object, default="quantile"
        How a column is cut; any rule that looks at the column alone. An object needs a field ``n_bins``.
    keep : float, default=0.5
        The share of pairs that is kept: ``round(keep * pairs)`` of them, the better ones. Of equal scores the coarser
        granularity wins, then the column further to the left.
    scope : {"table", "column"}, default="table"
        Whether all pairs of the table compete, or those of each column. Over the table, columns may drop out whole.
    scoring : {"auto", "auc", "log_loss", "r2"}, default="auto"
        AUC for two classes, minus the log-loss for more, R^2 for numbers ("auto").
    validation_fraction : float, default=0.2
        The share of distinct rows that scores are measured on, drawn within each class. Equal rows stay together.
    output : {"sparse", "dense", "ordinal"}, default="sparse"
        As in HardBins; no "ordinal" where ``soft``.
    soft : bool, default=False
        Encode what is kept as soft bins. Scores are those of the hard bins.
    missing, special, n_jobs
        As in HardBins. In scores, special codes count as missing.
    random_state : int, RandomState or None, default=0
        Decides which rows are held out.

    Attributes
    ----------
    scores_ : record array
        ``column, granularity, score, kept``, a row per pair: ``pandas.DataFrame(model.scores_)``.
    kept_ : list of (column, granularity)
        In the order of the output columns.
    n_parameters_, n_nominal_parameters_
        Output columns there are, and those the granularities promise (as the paper counts): ties make fewer.
    grid_ : Grid
        The boundaries of what is kept, named ``column:granularity``.

    Examples
    --------
    >>> import numpy as np
    >>> from softbin import MultiBins
    >>> x = np.linspace(0, 1, 200)[:, None]
    >>> bins = MultiBins((2, 4, 50)).fit(x, (x[:, 0] * 4).astype(int) % 2)
    >>> bins.kept_
    [('x0', 4), ('x0', 50)]
    """

    _outsides: ClassVar[tuple[str, ...]] = ("clip",)
    dtype: ClassVar[Any] = None

    def __init__(
        self,
        granularities: Any = (10, 100, 1000, 10000),
        strategy: Any = "quantile",
        *,
        keep: float = 0.5,
        scope: str = "table",
        scoring: str = "auto",
        validation_fraction: float = 0.2,
        output: str = "sparse",
        soft: bool = False,
        missing: str = "auto",
        special: Any = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.granularities = granularities
        self.strategy = strategy
        self.keep = keep
        self.scope = scope
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.output = output
        self.soft = soft
        self.missing = missing
        self.special = special
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def _soft(self) -> bool:  # type: ignore[override]
        return bool(self.soft)

    @property
    def _outputs(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("sparse", "dense") if self.soft else ("sparse", "dense", "ordinal")

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Cuts every column at every granularity, scores all of them in one pass, keeps the better ones."""
        table, unit = read_weighted(X, sample_weight)
        self._check_output_options()
        granularities = self._checked_options()
        by_granularity = [self._options_at(n_bins).per_column(table.labels) for n_bins in granularities]
        options = by_granularity[0]
        if any(asked_target(asked.rule) is not None for asked in options):
            raise OptionError(
                f'strategy: {self.strategy!r} looks at the target, and so do the scores; pass for example "quantile"'
            )
        check_fit_values(table, options)
        target = read_target(y, table.n_rows, "auto" if self.scoring == "auto" else SCORES[self.scoring][0])
        seen = statistics(target, table.weight, unit)
        name = default_score(seen.kind, seen.n_slots) if self.scoring == "auto" else self.scoring
        check_score(name, seen.n_slots)
        fold = held_out(table, target, self.validation_fraction, self._seed()).astype(np.int8)
        folds = seen.in_folds(fold, 2)
        ordinary, special_units = ordinary_values(table, options)
        threads = count_threads(self.n_jobs)

        rules = [[asked[column].rule for asked in by_granularity] for column in range(len(table.columns))]
        questions = [partial(_cut, column, granularities, of, self._soft) for column, of in enumerate(rules)]
        answers, counted = zip(*ask_columns(ordinary, questions, unit, threads), strict=True)
        counts = count_targets(ordinary, [_union(of_column) for of_column in answers], folds, threads)
        candidates = [candidate for of_column in answers for candidate in of_column]
        row = _row_weight(table, unit)
        scores = np.array([_score(name, candidate, counts[candidate.column], row) for candidate in candidates])
        kept = _keep(candidates, scores, float(self.keep), self.scope)

        chosen = [candidate for candidate, keeps in zip(candidates, kept, strict=True) if keeps]
        source = tuple(candidate.column for candidate in chosen)
        found = with_totals(ordinary.take(source), [candidate.encoded for candidate in chosen], unit, threads)
        columns = [
            finish(boundaries, options[at], special_units[at], counted[at])
            for boundaries, at in zip(found, source, strict=True)
        ]
        names = tuple(f"{table.labels[c.column]}:{c.granularity}" for c in chosen)
        plan = Plan(Grid(tuple(columns), names), self._soft, Views(source, len(table.columns), table.names))
        asked = [replace(options[c.column], asked=c.granularity) for c in chosen]
        report = report_of(plan, asked, [counted[at] for at in source])
        self._set_fitted(plan, report, table.dtype)
        self.kept_ = [(table.labels[c.column], c.granularity) for c in chosen]
        self.scores_ = _frame(candidates, table.labels, scores, kept)
        self.score_name_ = name
        return self

    @classmethod
    def from_grid(cls, grid: Grid, columns: Sequence[str] | int | None = None, **options: Any) -> Self:
        """A fitted encoder around the grid of another one, without data. ``options``: output, soft, n_jobs.

        ``columns`` are the table's: their names, or how many there are where they have none.
        """
        if columns is None:
            raise OptionError("columns: pass the names of the table's columns, or how many there are without names")
        other = sorted(set(options) - {"output", "soft", "n_jobs"})
        if other:
            raise OptionError(f"{other[0]}: the grid says this already; pass output, soft, n_jobs, or edit the grid")
        encoder = cls(**options)
        encoder._check_output_options()
        names = None if isinstance(columns, int) else tuple(columns)
        labels = default_names(columns) if isinstance(columns, int) else tuple(columns)
        pairs = [_pair(label, labels) for label in grid.labels]
        source = tuple(labels.index(name) for name, _ in pairs)
        plan = Plan(grid, encoder._soft, Views(source, len(labels), names))
        encoder._set_fitted(plan, FitReport(()), np.dtype(np.float64))
        encoder.kept_ = pairs
        return encoder

    @property
    def n_nominal_parameters_(self) -> int:
        """The sum of the kept granularities: the paper's count (one more each where they are soft)."""
        check_is_fitted(self)
        return sum(granularity + self._soft for _, granularity in self.kept_)

    def _options_at(self, n_bins: int) -> Options:
        strategy = self.strategy
        if not isinstance(strategy, str):
            if not (is_dataclass(strategy) and not isinstance(strategy, type) and hasattr(strategy, "n_bins")):
                raise OptionError(f"strategy: {strategy!r} is neither a name nor a rule object with a field n_bins")
            strategy = replace(strategy, n_bins=n_bins)
        return Options(n_bins, strategy, None, self.missing, self.special, "clip", None, self._outsides)

    def _checked_options(self) -> tuple[int, ...]:
        """The granularities, once all options are found to be usable."""
        try:
            granularities = tuple(check_n_bins(n_bins) for n_bins in self.granularities)
        except TypeError:
            raise OptionError(f"granularities: {self.granularities!r} is not a list of numbers of bins") from None
        if not granularities or len(set(granularities)) < len(granularities):
            raise OptionError(f"granularities: {self.granularities!r} is empty or names one twice; name each once")
        check_share("keep", self.keep, 0.0, np.nextafter(1.0, 2.0))
        check_share("validation_fraction", self.validation_fraction)
        if self.keep == 0 or self.validation_fraction == 0:
            raise OptionError("keep, validation_fraction: 0 leaves nothing to keep, or to score with; pass more")
        one_of("scope", self.scope, ("table", "column"))
        one_of("scoring", self.scoring, ("auto", *SCORES))
        return granularities

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31))

    def _looks_at_target(self) -> bool:
        return True


def _pair(label: str, columns: Sequence[str]) -> tuple[str, int]:
    """The column and the granularity that a column of the grid is named after."""
    name, _, granularity = label.rpartition(":")
    if name not in columns or not granularity.isdecimal():
        raise OptionError(f"grid: {label!r} is not column:granularity of {list(columns)}; pass a grid_ of MultiBins")
    return name, int(granularity)


def _cut(
    column: int, granularities: Sequence[int], rules: Sequence[Any], soft: bool, histogram: RankHistogram
) -> list[Candidate]:
    """One column at every granularity."""
    found = []
    # Why the finest first: what it asks the histogram for is what the others need too.
    for n_bins, rule in sorted(zip(granularities, rules, strict=True), key=lambda pair: -pair[0]):
        hard = apply_rule(rule, False, histogram)
        found.append(Candidate(column, n_bins, hard, apply_rule(rule, True, histogram) if soft else hard))
    return sorted(found, key=lambda candidate: granularities.index(candidate.granularity))


def _union(candidates: Sequence[Candidate]) -> FineBins:
    """The bins that all candidates of a column are made of."""
    edges = [candidate.hard.edges for candidate in candidates]
    if len(edges[0]) < 2:
        return FineBins(edges[0], np.zeros(0), *(edges[0] * 2 or (np.nan, np.nan)))
    inner = np.unique(np.concatenate([of[1:-1] for of in edges]))
    low, high = edges[0][0], max(of[-1] for of in edges)
    return FineBins((low, *inner.tolist(), high), np.zeros(0), low, high)


def _row_weight(table: Table, unit: float) -> float:
    """What one row weighs: 1 where weights are whole numbers and so count rows, else their mean."""
    if table.weight is None or unit == 1:
        return 1.0
    return float(table.weight.sum()) * unit / int(np.count_nonzero(table.weight))


def _score(name: str, candidate: Candidate, counts: TargetCounts, row: float) -> float:
    _, score = SCORES[name]
    return score(Halves.of(counts, candidate.hard.edges[1:-1], row))


def _keep(candidates: Sequence[Candidate], scores: NDArray[np.float64], keep: float, scope: str) -> NDArray[np.bool_]:
    kept = np.zeros(len(candidates), bool)
    columns = np.array([candidate.column for candidate in candidates])
    order = np.lexsort((columns, np.array([candidate.granularity for candidate in candidates]), -scores))
    groups = [order] if scope == "table" else [order[columns[order] == column] for column in np.unique(columns)]
    for group in groups:
        count = round(keep * len(group))
        if count == 0:
            raise OptionError(f"keep: {keep:g} of {len(group)} pairs is none; keep more, or pass more granularities")
        kept[group[:count]] = True
    return kept


def _frame(candidates: Sequence[Candidate], labels: Sequence[str], scores: Any, kept: Any) -> Any:
    pairs = [(labels[candidate.column], candidate.granularity) for candidate in candidates]
    rows = [(*pair, *rest) for pair, rest in zip(pairs, zip(scores, kept, strict=True), strict=True)]
    return np.array(rows, SCORE_FIELDS).view(np.recarray)
