"""What LinearClassifier and LinearRegressor share: from a table to a fit, from a fit to scores and curves."""

import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from softbin.boundaries.grid import Grid
from softbin.encodings.encoder import BinEncoder
from softbin.encodings.short_names import encoder_of, is_fitted
from softbin.encodings.tables import raise_faults, wrapped
from softbin.engines.threads import count_threads, map_items
from softbin.errors import DataError, OptionError, SavedFileError
from softbin.linear.curvature import DENSE_LEVELS
from softbin.linear.curve import Curve, curve_errors, curve_of, with_band
from softbin.linear.families import Family, Floats, class_spread
from softbin.linear.fit import FitOptions, LinearFit, fit_table
from softbin.linear.objective import Parameters, block_scores
from softbin.linear.pieces import Pieces, locate_codes
from softbin.linear.progress import ProgressLine
from softbin.linear.saved import fill_model, read_state, write_model
from softbin.linear.shapes import read_shapes
from softbin.linear.smoothness import read_smoothness
from softbin.linear.units import LARGEST
from softbin.values.columns import column_position
from softbin.values.names import check_columns
from softbin.values.tables import Table, read_table
from softbin.values.targets import Target


class LinearModel(BaseEstimator):  # type: ignore[misc]
    """The shared half of LinearClassifier and LinearRegressor; use those."""

    def curve(self, column: str | int, confidence: float | None = None) -> Curve:
        """The fitted curve of a column, by name or position: what the model says about it, and all it says.

        With ``confidence`` (0.95) the curve has a band around it; for that the fit needs a ``smoothness``, of 0 or
        more.
        """
        check_is_fitted(self)
        plan = self.encoder_.plan_
        position = column_position(column, plan.table_labels)
        curve = curve_of(plan, position, self._parameters, self._level_weight)
        if confidence is None:
            return curve
        if self._curve_errors is None:
            reason = "smoothness=None" if self.smoothness is None else f"more than {DENSE_LEVELS:,} levels"
            raise OptionError(
                f"confidence: a fit with {reason} knows no standard errors; fit with smoothness=0 or more, "
                f'or "auto", on at most {DENSE_LEVELS:,} levels'
            )
        return with_band(curve, self._curve_errors[position], confidence)

    @property
    def has_bands(self) -> bool:
        """Whether ``curve`` can have a band: whether the fit knows standard errors."""
        check_is_fitted(self)
        return self._curve_errors is not None

    def plot(self, columns: Any = None, ax: Any = None) -> Any:
        """A matplotlib figure of the curves: a panel per column, with its band, its knots and the data's density.

        ``columns``: names or positions, all by default. ``ax``: axes to draw on, one per column. Needs the extra
        ``softbin[plots]``.
        """
        check_is_fitted(self)
        # Why here: pictures are made of models, and this is the one look back (see pyproject.toml).
        from softbin.reports.plots import plot_model

        return plot_model(self, columns, ax)

    def explain(self, X: Any) -> NDArray[np.float64]:
        """Rows x columns (x classes): each column's contribution; with the intercept they sum to the score."""
        check_is_fitted(self)
        table = self._read(X)
        self._scores(table)  # raises for values that may not be
        pieces = self._pieces
        value, slope = pieces.of(self._parameters[:, :-1])
        source = pieces.plan.source
        shares = np.zeros((table.n_rows, pieces.plan.n_table_columns, len(value)))
        for block in table.blocks():
            moved = wrapped(block, pieces.plan)
            for j, levels in enumerate(pieces.plan.columns):
                code, fraction = locate_codes(moved.columns[j], levels)
                code += pieces.code_start[j]
                rows = slice(block.start, block.start + block.n_rows)
                shares[rows, source[j]] += (value[:, code] + slope[:, code] * fraction).T
        return shares[:, :, 0] if len(value) == 1 else shares

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes the fitted model as JSON: boundaries, coefficients, options. No pickle."""
        check_is_fitted(self)
        write_model(self, Path(path), overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The model that ``save`` wrote; it predicts the same bits."""
        state = read_state(Path(path))
        if state.get("estimator") != cls.__name__:
            name = state.get("estimator")
            raise SavedFileError(f"{path}: holds a {name}, not a {cls.__name__}; load it with {name}.load")
        model = cls()
        fill_model(model, state, Path(path))
        return model

    def _own_facts(self) -> dict[str, Any]:
        """What the estimator knows beyond the fit, as JSON can hold it."""
        raise NotImplementedError

    def _set_own_facts(self, facts: dict[str, Any], fit: LinearFit) -> None:
        raise NotImplementedError

    @property
    def grid_(self) -> Grid:
        """The boundaries of every column."""
        check_is_fitted(self)
        return self.encoder_.grid_

    @property
    def n_parameters_(self) -> int:
        """Coefficients per output: the number of levels."""
        check_is_fitted(self)
        return self.encoder_.n_parameters_

    def _check_options(self) -> FitOptions:
        for name, least in (("ridge", 0.0), ("tol", 0.0)):
            given = getattr(self, name)
            if isinstance(given, bool) or not isinstance(given, (int, float, np.number)) or not (given >= least):
                raise OptionError(f"{name}: {given!r} is not a number; pass {least:g} or more")
            if not np.isfinite(given):
                raise OptionError(f"{name}: {given!r} is not finite")
        if isinstance(self.max_iter, bool) or not hasattr(self.max_iter, "__index__") or self.max_iter < 1:
            raise OptionError(f"max_iter: {self.max_iter!r} is not a number of iterations; pass 1 or more")
        seed = self.random_state
        if isinstance(seed, np.random.RandomState):
            seed = int(seed.randint(2**31))
        if seed is not None and (isinstance(seed, bool) or not hasattr(seed, "__index__") or seed < 0):
            raise OptionError(f"random_state: {seed!r} is not a seed; pass None or a whole number, 0 or more")
        threads = count_threads(self.n_jobs)
        return FitOptions(
            float(self.ridge), bool(self.fit_intercept), float(self.tol), int(self.max_iter), seed, threads
        )

    def _fit_table(
        self,
        table: Table,
        target: Floats,
        weight: Floats | None,
        boundary_weight: Floats | None,
        family: Family,
        n_outputs: int,
    ) -> tuple[BinEncoder, LinearFit]:
        """Encoder and coefficients; changes nothing on the estimator. Rows of weight 0 are gone already."""
        options = self._check_options()
        encoder = encoder_of(self.bins)
        known = is_fitted(encoder)
        if not known:
            encoder.set_params(n_jobs=self.n_jobs if encoder.n_jobs is None else encoder.n_jobs)
            encoder.fit(table, _for_rules(target, family), boundary_weight)
        check_columns(table, encoder.plan_.table_names, encoder.plan_.n_table_columns, type(self).__name__)
        table = encoder.plan_.view(table)
        if encoder.plan_.n_levels == 0:
            raise DataError("X: no column has a level to learn from (all values are missing, and missing='zero')")
        pieces = Pieces(encoder.plan_)
        options = replace(options, smoothness=read_smoothness(self.smoothness, encoder.plan_))
        shapes = read_shapes(self.monotonic, encoder.plan_)
        if any(shapes):
            options = replace(options, shapes=shapes)
            if n_outputs > 1:
                raise OptionError(
                    f"monotonic: there are {n_outputs} classes, whose curves mean something only beside each other; "
                    "fit one class against the rest"
                )
            if pieces.plan.n_levels > DENSE_LEVELS:
                raise OptionError(
                    f"monotonic: at most {DENSE_LEVELS:,} levels, and there are {pieces.plan.n_levels:,}; "
                    "take fewer bins"
                )
        if options.finds_smoothness and pieces.plan.n_levels > DENSE_LEVELS:
            n_columns = len(pieces.plan.columns)
            raise OptionError(
                f'smoothness: "auto" is for at most {DENSE_LEVELS:,} levels, and there are {pieces.plan.n_levels:,} in '
                f"{n_columns} columns; take {max(1, DENSE_LEVELS // n_columns - 3)} bins per column, or pass a number"
            )
        if weight is not boundary_weight and weight is not None:
            options = replace(options, spread=class_spread(target, weight, boundary_weight))
        if known:
            # Why: the training passes count no faults. An encoder fitted on these very rows knows them all.
            _check_rows(table, pieces, options.n_threads)
        line = ProgressLine(type(self).__name__, self.verbose)
        try:
            start = self._warm_start(encoder, family, n_outputs)
            fit = fit_table(table, target, weight, pieces, family, n_outputs, options, start, line)
        finally:
            line.close()
        if not fit.converged:
            warnings.warn(
                f"{type(self).__name__} did not converge in {fit.n_iter} iterations (gradient "
                f"{fit.history[-1].gradient:.1e} per unit of weight, tol={self.tol:g}); the best point is kept. Raise "
                "max_iter, raise ridge (separable data have no optimum without it), or raise tol",
                ConvergenceWarning,
                stacklevel=3,
            )
        return encoder, fit

    def _warm_start(self, encoder: BinEncoder, family: Family, n_outputs: int) -> Parameters | None:
        old = getattr(self, "_parameters", None)
        # Why the family: a score of one is the exponent of a score of another.
        if not self.warm_start or old is None or self._family.name != family.name:
            return None
        if old.shape != (n_outputs, encoder.n_parameters_ + 1):
            return None
        start: Parameters = old.copy()
        return start

    def _set_fitted(self, encoder: BinEncoder, family: Family, fit: LinearFit) -> Self:
        self.encoder_ = encoder
        self._pieces = Pieces(encoder.plan_)
        self._family = family
        self._parameters = fit.parameters
        self._level_weight = fit.level_weight
        narrow = np.max(np.abs(fit.parameters), initial=0.0) < LARGEST
        dtypes = (np.float32, np.float64) if narrow else (np.float64,)
        self._arrays = {np.dtype(dtype): self._kernel_arrays(dtype) for dtype in dtypes}
        self._set_smoothness(encoder, fit)
        self.n_iter_ = max(fit.n_iter, 1)
        self.history_ = fit.history
        self.converged_ = fit.converged
        self.n_features_in_ = encoder.plan_.n_table_columns
        names = encoder.plan_.table_names
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def _set_smoothness(self, encoder: BinEncoder, fit: LinearFit) -> None:
        self._curve_errors: list[Curve] | None = None
        self.smoothness_: NDArray[np.float64] | None = None
        self.edf_: NDArray[np.float64] | None = None
        self._smoothness = found = fit.smoothness
        if found is None:
            return
        self.smoothness_, self.edf_ = found.strengths, found.edf
        if found.covariance is not None:
            self._curve_errors = [
                curve_errors(encoder.plan_, position, parts, fit.level_weight, found.unit)
                for position, parts in enumerate(found.covariance)
            ]

    def _kernel_arrays(self, dtype: Any) -> list[Floats]:
        value, slope = self._pieces.of(self._parameters[:, :-1])
        return [np.ascontiguousarray(part, dtype) for part in (value, slope, self._parameters[:, -1])]

    def _read(self, X: Any) -> Table:
        """The table as the columns of the plan read it."""
        table = read_table(X)
        plan = self._pieces.plan
        check_columns(table, plan.table_names, plan.n_table_columns, type(self).__name__)
        return plan.view(table)

    def _scores(self, table: Table) -> Floats:
        """Rows x outputs."""
        if table.dtype not in self._arrays:
            table = table.widened()
        pieces, arrays = self._pieces, self._arrays[table.dtype]

        def run(block: Any) -> tuple[Floats, NDArray[np.int64]]:
            faults = np.zeros((len(pieces.plan.columns), 2), np.int64)
            return block_scores(wrapped(block, pieces.plan), pieces, arrays, faults), faults

        parts = map_items(run, table.blocks(), count_threads(self.n_jobs))
        if len(parts) == 1:
            scores, faults = parts[0]
        else:
            scores = np.concatenate([part for part, _ in parts])
            faults = np.sum([found for _, found in parts], axis=0)
        if faults.any():
            raise_faults(table, pieces.plan, faults)
        return scores

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_parameters")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _check_rows(table: Table, pieces: Pieces, n_threads: int) -> None:
    """Raises DataError for training values that a fitted encoder does not know what to do with."""
    strict = any(b.missing == "error" or b.outside != "clip" for b in pieces.plan.grid)
    if not strict:
        return
    value, slope = (np.zeros((1, pieces.n_codes), table.dtype) for _ in range(2))
    arrays = [value, slope, np.zeros(1, table.dtype)]

    def run(block: Any) -> NDArray[np.int64]:
        faults = np.zeros((len(pieces.plan.columns), 2), np.int64)
        block_scores(wrapped(block, pieces.plan), pieces, arrays, faults)
        return faults

    faults = np.sum(map_items(run, table.blocks(), n_threads), axis=0)
    if faults.any():
        raise_faults(table, pieces.plan, faults)


def _for_rules(target: Floats, family: Family) -> Target:
    """The target as rules for boundaries see it: a class to the model is a class to them, a number a number."""
    if family.name in ("bernoulli", "multinomial"):
        return Target("classes", target.astype(np.int32), np.arange(int(target.max()) + 1))
    return Target("number", number=target.astype(np.float64))
