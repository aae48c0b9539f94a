"""What HardBins and SoftBins share: the scikit-learn contract around options, boundaries and encodings.

No arithmetic here. ``fit`` reads options and table, finds a Grid, and only then changes the estimator, so a fit that
fails or is interrupted leaves it as it was. Everything after ``fit`` reads the fitted Plan and changes nothing, so one
encoder serves many threads.
"""

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from softbin.boundaries.boundaries import Boundaries
from softbin.boundaries.fit import fit_boundaries
from softbin.boundaries.grid import Grid
from softbin.boundaries.rule import AnyRule, asked_target
from softbin.boundaries.strategies import STRATEGIES
from softbin.encodings.decode import decode_codes, decode_matrix, of_table
from softbin.encodings.fit_report import ColumnReport, FitReport
from softbin.encodings.hat import hat_entries
from softbin.encodings.names import plan_names
from softbin.encodings.one_hot import one_hot_entries
from softbin.encodings.options import ColumnOptions, Options, one_of, ordinary_values
from softbin.encodings.plan import Plan
from softbin.encodings.tables import (
    csr_from_entries,
    csr_index_dtype,
    encode_codes,
    encode_csr,
    encode_dense,
)
from softbin.engines.threads import count_threads
from softbin.errors import DataError, DataTypeError, OptionError
from softbin.summaries.rank_histogram import ColumnCounts
from softbin.values.names import check_columns
from softbin.values.tables import Table, read_table
from softbin.values.targets import Statistics, read_target, statistics
from softbin.values.weights import read_weight


class BinEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The shared half of HardBins and SoftBins; use those."""

    _soft: ClassVar[bool]
    _outputs: ClassVar[tuple[str, ...]]
    _outsides: ClassVar[tuple[str, ...]]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Finds the boundaries of every column. ``sample_weight`` 2 is a row twice, 0 a row absent.

        ``y`` is read only by rules that look at it: one class or number per row.
        """
        table, unit = read_weighted(X, sample_weight)
        self._check_output_options()
        options = self._options().per_column(table.labels)
        check_fit_values(table, options)
        ordinary, special_units = ordinary_values(table, options)
        rules = [asked.rule for asked in options]
        threads = count_threads(self.n_jobs)
        target = _statistics(y, rules, ordinary, unit)
        found, counts = fit_boundaries(ordinary, rules, unit, self._soft, threads, target)
        columns = [
            finish(boundaries, asked, units, counted)
            for boundaries, asked, units, counted in zip(found, options, special_units, counts, strict=True)
        ]
        plan = Plan(Grid(tuple(columns), table.names), self._soft)
        report = report_of(plan, options, counts)
        self._set_fitted(plan, report, table.dtype)
        return self

    @classmethod
    def from_grid(cls, grid: Grid, **options: Any) -> Self:
        """A fitted encoder around a grid, without data. ``options``: output, dtype, n_jobs."""
        if not isinstance(grid, Grid):
            raise OptionError(f"grid: {grid!r} is not a Grid; pass encoder.grid_ or Grid.load(path)")
        other = sorted(set(options) - {"output", "dtype", "n_jobs"})
        if other:
            raise OptionError(f"{other[0]}: the grid says this already; pass output, dtype, n_jobs, or edit the grid")
        encoder = cls(**options)
        encoder._check_output_options()
        linear = [label for label, b in zip(grid.labels, grid, strict=True) if b.outside == "linear"]
        if linear and not cls._soft:
            raise OptionError(f"column {linear[0]!r}: outside='linear' is for SoftBins; a hard bin has no slope")
        if len(grid) == 0:
            raise OptionError("grid: there is no column in it; pass a grid with at least one")
        encoder._set_fitted(Plan(grid, cls._soft), FitReport(()), np.dtype(np.float64))
        return encoder

    def transform(self, X: Any) -> Any:
        """The encoding of X, in the form that ``output`` asks for."""
        check_is_fitted(self)
        self._check_output_options()
        self._check_container()
        table = self._read(X)
        threads = count_threads(self.n_jobs)
        if self.output == "ordinal":
            return encode_codes(table, self.plan_, threads, with_fractions=False)[0]
        encode = encode_csr if self.output == "sparse" else encode_dense
        return encode(table, self.plan_, self._dtype(table), threads)

    def inverse_transform(self, X: Any) -> NDArray[np.floating[Any]]:
        """Values back from an encoding: NaN for missing, the code for special codes."""
        check_is_fitted(self)
        self._check_output_options()
        encoded = X if scipy.sparse.issparse(X) else np.asarray(X)
        if encoded.dtype.kind not in "biuf":
            raise DataTypeError(f"X: {encoded.dtype} is not a dtype of numbers; pass what transform returned")
        width = len(self.plan_.columns) if self.output == "ordinal" else self.plan_.n_levels
        if encoded.ndim != 2 or encoded.shape[1] != width:
            raise DataError(
                f"X: shape {encoded.shape} is not an encoding of {width} columns; pass what transform returned"
            )
        if self.output == "ordinal":
            return of_table(decode_codes(self._checked_codes(encoded), self.plan_), self.plan_)
        encoded = scipy.sparse.csr_array(encoded) if scipy.sparse.issparse(X) else encoded
        return of_table(decode_matrix(encoded, self.plan_), self.plan_)

    def encode_compact(self, X: Any) -> tuple[NDArray[Any], NDArray[np.float32]]:
        """Rows x columns twice: the bin of every value (uint8 or uint16) and how far into it the value lies (float32).

        Special codes and missing have the numbers after the last bin or knot, and fraction 0.
        """
        check_is_fitted(self)
        codes, fractions = encode_codes(self._read(X), self.plan_, count_threads(self.n_jobs), with_fractions=True)
        assert fractions is not None
        return codes, fractions

    def compact_to_csr(self, codes: NDArray[Any], fractions: NDArray[Any]) -> scipy.sparse.csr_matrix:
        """The CSR encoding that ``encode_compact`` abbreviates."""
        check_is_fitted(self)
        codes, fractions = self._checked_codes(codes), np.asarray(fractions)
        if fractions.dtype.kind not in "iuf":
            raise DataTypeError(f"fractions: {fractions.dtype} is not a dtype of numbers; pass those of encode_compact")
        fractions = fractions.astype(np.float32, copy=False)
        if codes.shape != fractions.shape:
            raise DataError(f"fractions: shape {fractions.shape} beside codes of shape {codes.shape}; pass one each")
        plan, n_rows = self.plan_, len(codes)
        indices = np.empty((n_rows, plan.n_entries), csr_index_dtype(n_rows, plan))
        data = np.empty((n_rows, plan.n_entries), fractions.dtype)
        entries = hat_entries if self._soft else one_hot_entries
        for j, levels in enumerate(plan.columns):
            at = slice(plan.entry_start[j], plan.entry_start[j + 1])
            found, data[:, at] = entries(codes[:, j].astype(np.int64), fractions[:, j], levels)
            indices[:, at] = found + plan.level_start[j]
        return csr_from_entries(indices.reshape(-1), data.reshape(-1), n_rows, plan)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """A name per output column: age[20,35) or age@20, age[missing], age[=-999]."""
        check_is_fitted(self)
        plan = self.plan_
        if input_features is not None:
            given = tuple(map(str, input_features))
            known = getattr(self, "feature_names_in_", None)
            if known is not None and tuple(known) != given:
                raise OptionError("input_features is not equal to feature_names_in_; leave it out")
            if len(given) != plan.n_table_columns:
                raise OptionError(
                    "input_features should have length equal to number of features "
                    f"({plan.n_table_columns}), got {len(given)}"
                )
            plan = plan.renamed(given)
        names = list(plan.grid.labels) if self.output == "ordinal" else plan_names(plan)
        return np.array(names, dtype=object)

    def estimate_memory(self, n_rows: int) -> dict[str, int]:
        """Bytes that ``n_rows`` rows take in each form of output, for the dtype this encoder was fitted with."""
        check_is_fitted(self)
        plan = self.plan_
        size = np.dtype(self.dtype or self._fit_dtype).itemsize
        index = np.dtype(csr_index_dtype(n_rows, plan)).itemsize
        codes = n_rows * len(plan.columns) * plan.code_dtype.itemsize
        return {
            "sparse": n_rows * plan.n_entries * (size + index) + (n_rows + 1) * index,
            "dense": n_rows * plan.n_levels * size,
            "ordinal": codes,
            "compact": codes + n_rows * len(plan.columns) * 4,
        }

    @property
    def grid_(self) -> Grid:
        """The boundaries of every column."""
        check_is_fitted(self)
        return self.plan_.grid

    @property
    def bin_edges_(self) -> NDArray[np.object_]:
        """The edges of every column, as arrays."""
        edges = np.empty(len(self.grid_), dtype=object)
        edges[:] = [np.array(boundaries.edges) for boundaries in self.grid_]
        return edges

    @property
    def n_bins_(self) -> NDArray[np.int64]:
        """The number of bins of every column."""
        return np.array([boundaries.n_bins for boundaries in self.grid_], np.int64)

    @property
    def n_parameters_(self) -> int:
        """The number of levels: coefficients that a linear model on this encoding has."""
        check_is_fitted(self)
        return self.plan_.n_levels

    def _set_fitted(self, plan: Plan, report: FitReport, dtype: np.dtype[Any]) -> None:
        self.plan_ = plan
        self._fit_dtype = dtype
        self.fit_report_ = report
        self.n_features_in_ = plan.n_table_columns
        if plan.table_names is not None:
            self.feature_names_in_ = np.array(plan.table_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _options(self) -> Options:
        return Options(
            self.n_bins, self.strategy, self.edges, self.missing, self.special, self.outside,
            getattr(self, "period", None),
            self._outsides,
        )  # fmt: skip

    def _looks_at_target(self) -> bool:
        named = isinstance(self.strategy, str) and self.strategy in STRATEGIES
        return asked_target(STRATEGIES[self.strategy]() if named else self.strategy) is not None

    def _check_output_options(self) -> None:
        one_of("output", self.output, self._outputs)
        if self.dtype is None:
            return
        try:
            known = np.dtype(self.dtype) in (np.float32, np.float64)
        except TypeError:
            known = False
        if not known:
            raise OptionError(f"dtype: {self.dtype!r} is not float32 or float64; leave it out to keep the data's own")

    def _read(self, X: Any) -> Table:
        """The table as the columns of the plan read it."""
        table = read_table(X)
        check_columns(table, self.plan_.table_names, self.plan_.n_table_columns, type(self).__name__)
        return self.plan_.view(table)

    def _dtype(self, table: Table) -> np.dtype[Any]:
        return table.dtype if self.dtype is None else np.dtype(self.dtype)

    def _check_container(self) -> None:
        """Sparse output in a data frame would be a silent blow-up or an error from elsewhere."""
        asked = getattr(self, "_sklearn_output_config", {}).get("transform") or sklearn.get_config()["transform_output"]
        if asked != "default" and self.output == "sparse":
            others = " or ".join(f"output={name!r}" for name in self._outputs if name != "sparse")
            raise OptionError(
                f"{asked.capitalize()} output does not support sparse data. {type(self).__name__} was made with "
                f"output='sparse'; pass {others}"
            )

    def _checked_codes(self, codes: Any) -> NDArray[Any]:
        codes = np.asarray(codes)
        whole: NDArray[np.int64]
        if codes.ndim != 2 or codes.shape[1] != len(self.plan_.columns) or codes.dtype.kind not in "iuf":
            raise DataError(
                f"codes: an array of {codes.dtype}, shape {codes.shape}, is not one code for each of "
                f"{len(self.plan_.columns)} columns; pass what this encoder returned"
            )
        limits = np.array([levels.none for levels in self.plan_.columns])
        if not np.all((codes >= 0) & (codes <= limits) & (codes == np.floor(codes))):
            raise DataError("codes: some are not codes of their column; pass what this encoder returned")
        whole = codes.astype(np.int64)
        return whole

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "plan_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self._looks_at_target()
        tags.transformer_tags.preserves_dtype = [] if self.output == "ordinal" else ["float64", "float32"]
        return tags


def _statistics(y: Any, rules: list[AnyRule], table: Table, unit: float) -> Statistics | None:
    """What rules see of the target; None where no rule looks at it."""
    kinds = {kind for rule in rules if (kind := asked_target(rule)) is not None}
    if not kinds:
        return None
    return statistics(read_target(y, table.n_rows, kinds.pop()), table.weight, unit)


def read_weighted(X: Any, sample_weight: Any) -> tuple[Table, float]:
    """The table with its weights in units, and the weight of one unit."""
    table = read_table(X)
    weight, unit = read_weight(sample_weight, table.n_rows)
    return replace(table, weight=weight), unit


def check_fit_values(table: Table, options: list[ColumnOptions]) -> None:
    """Raises DataError for missing or infinite values that the options do not allow."""
    for label, column, asked in zip(table.labels, table.columns, options, strict=True):
        if asked.missing != "error" and asked.outside == "clip" and asked.period is None:
            continue
        weighed = column if table.weight is None else column[table.weight > 0]
        if asked.missing == "error" and (missing := int(np.isnan(weighed).sum())):
            raise DataError(
                f'column {label!r}: {missing} missing values (NaN); pass missing="level" or missing="zero", '
                "or fill them first"
            )
        if asked.period is not None and (infinite := int(np.isinf(weighed).sum())):
            raise DataError(
                f"column {label!r}: {infinite} values are infinite, which is nowhere on a circle; drop them"
            )
        if asked.outside != "clip" and (infinite := int(np.isinf(weighed).sum())):
            raise DataError(f'column {label!r}: {infinite} values are infinite; pass outside="clip" or drop them')


def finish(
    boundaries: Boundaries, asked: ColumnOptions, special_units: tuple[int, ...], counts: ColumnCounts
) -> Boundaries:
    """The rule's boundaries with what the options say about everything that is not between the edges."""
    # Why the difference: special codes were handed to the rule as missing.
    missing_units = counts.missing - sum(special_units)
    missing = asked.missing
    if missing == "auto":
        missing = "level" if missing_units > 0 else "error"
    return replace(
        boundaries,
        missing=missing,
        special=asked.special,
        outside=asked.outside,
        special_weight=tuple(units * counts.unit for units in special_units),
        missing_weight=missing_units * counts.unit,
    )


def report_of(plan: Plan, options: list[ColumnOptions], counts: list[ColumnCounts]) -> FitReport:
    rows = [
        ColumnReport(
            column=label,
            asked=asked.asked,
            got=boundaries.n_bins,
            distinct=counted.n_distinct,
            distinct_at_least=not counted.is_exact,
            missing=boundaries.missing_weight,
            infinite=counted.infinite * counted.unit,
            note=boundaries.note,
        )
        for label, boundaries, asked, counted in zip(plan.grid.labels, plan.grid, options, counts, strict=True)
    ]
    return FitReport(tuple(rows))
