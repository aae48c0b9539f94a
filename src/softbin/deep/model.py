"""What DeepClassifier and DeepRegressor share: from a table to a trained network, to predictions, to a file and back.

No torch at the top of this file: the estimators can be imported, cloned and printed without it, and say what to install
when they are to learn something.
"""

import hashlib
import importlib
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from softbin.boundaries.grid import Grid
from softbin.deep.options import Input, Shape, batch_size_of, input_of, number, seed_of, whole
from softbin.deep.progress import ProgressLine
from softbin.encodings.encoder import BinEncoder
from softbin.encodings.hard_bins import HardBins
from softbin.encodings.multi_bins import MultiBins
from softbin.encodings.options import one_of
from softbin.encodings.plan import Plan, Views
from softbin.encodings.short_names import is_fitted
from softbin.encodings.soft_bins import SoftBins
from softbin.encodings.tables import encode_codes
from softbin.engines.threads import count_threads
from softbin.errors import DataError, OptionError, SavedFileError
from softbin.optional import need
from softbin.values.held_out import held_out, row_hashes
from softbin.values.names import check_columns
from softbin.values.tables import Table, read_table
from softbin.values.targets import Target

FORMAT = "softbin.deep"
SCHEMA = 1
LARGEST_RATE = 1e30  # for float32 must hold it, and its product with what it is for
FREE = ("checkpoint", "resume", "progress", "device")  # options that do not change the result of a training


def torch_part(name: str) -> Any:
    """A module of this folder that needs torch, or an error that says how to install it."""
    need("torch")
    need("safetensors")
    return importlib.import_module(f"softbin.deep.{name}")


class DeepModel(BaseEstimator):  # type: ignore[misc]
    """The shared half of DeepClassifier and DeepRegressor; use those."""

    @property
    def grid_(self) -> Grid:
        """The boundaries of every column."""
        check_is_fitted(self)
        return self.encoder_.grid_

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes the fitted model: weights as safetensors, everything else as JSON in its header. No pickle."""
        check_is_fitted(self)
        path = Path(path)
        if path.exists() and not overwrite:
            raise SavedFileError(f"{path}: exists already; pass overwrite=True to replace it")
        plan, blueprint = self.encoder_.plan_, self._blueprint
        views = None if plan.views is None else asdict(plan.views)
        ple_grid = None if blueprint.ple_grid is None else blueprint.ple_grid.to_json()
        facts = {
            "format": FORMAT, "schema": SCHEMA, "estimator": type(self).__name__, "options": self._plain_options(),
            "grid": plan.grid.to_json(), "soft": plan.soft, "views": views, "input": asdict(blueprint.asked),
            "shape": asdict(blueprint.shape), "n_outputs": blueprint.n_outputs, "loss": blueprint.loss,
            "ple_grid": ple_grid, "seed": self.seed_, "history": [asdict(report) for report in self.history_],
            "best_epoch": self.best_epoch_, "batch_size": self.batch_size_, "ran": self.implementation_,
            **self._own_facts(),
        }  # fmt: skip
        torch_part("tensor_file").write_tensors(path, self.network_.state_dict(), facts)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, device: str = "auto") -> Self:
        """The model that ``save`` wrote."""
        tensors, facts = torch_part("tensor_file").read_tensors(Path(path), FORMAT)
        if facts["schema"] != SCHEMA:
            raise SavedFileError(f"{path}: schema {facts['schema']!r} is unknown here, {SCHEMA} is the newest; update")
        if facts["estimator"] != cls.__name__:
            raise SavedFileError(f"{path}: holds a {facts['estimator']}; load it with {facts['estimator']}.load")
        fitting = torch_part("fitting")
        grid = Grid.from_json(facts["grid"])
        encoder = _encoder_around(grid, facts["soft"], facts["views"])
        ple_grid = None if facts["ple_grid"] is None else Grid.from_json(facts["ple_grid"])
        blueprint = fitting.Blueprint(
            encoder.plan_, Input(**facts["input"]), Shape(**facts["shape"]), facts["n_outputs"], facts["loss"], ple_grid
        )
        network = fitting.make_network(blueprint, 0)
        try:
            network.load_state_dict(tensors, assign=True)
        except RuntimeError as error:
            raise SavedFileError(f"{path}: holds other weights than its network has ({error})") from None
        options = {"basis": blueprint.asked.basis, **facts["options"]}
        model = cls(**{**options, "bins": encoder if options["bins"] is None else options["bins"]})
        model._set_network(encoder, blueprint, network.eval().to(fitting.device_of(device)))
        report = torch_part("progress").EpochReport
        model.history_ = [report(**row) for row in facts["history"]]
        model.best_epoch_, model.batch_size_ = facts["best_epoch"], facts["batch_size"]
        model.implementation_, model.seed_ = facts["ran"], facts["seed"]
        model._set_own_facts(facts)
        return model

    def _fit_rows(
        self, table: Table, target: Target, goal: NDArray[Any], weight: NDArray[Any] | None, loss: str, n_outputs: int
    ) -> None:
        """Fits encoder and network to ``goal``, then sets both. ``target`` is the same as rules for bins see it."""
        asked, encoder = input_of(
            self.bins, whole("embedding_dim", self.embedding_dim, 1), one_of("init", self.init, ("smooth", "random")),
            one_of("basis", self.basis, ("steps", "rows")), number("smoothness", self.smoothness, 0, np.inf),
        )  # fmt: skip
        shape = self._shape()
        fraction = number("validation_fraction", self.validation_fraction, 0, 1)
        seed = seed_of(self.random_state)
        fitting, training = torch_part("fitting"), torch_part("training")
        fitting.device_of(self.device)
        if not is_fitted(encoder):
            encoder.fit(table, target, weight)
        else:
            check_columns(table, encoder.plan_.table_names, encoder.plan_.n_table_columns, type(self).__name__)
            _check_faults(encoder.plan_, table)
        if encoder.plan_.n_levels == 0:
            raise DataError("X: no column has a level to learn from (all values are missing, and missing='zero')")
        valid = held_out(table, target, fraction, seed) if fraction > 0 else None
        n_trained = table.n_rows if valid is None else int(np.sum(~valid))
        options = training.TrainingOptions(
            learning_rate=number("learning_rate", self.learning_rate, np.finfo(float).tiny, LARGEST_RATE),
            weight_decay=number("weight_decay", self.weight_decay, 0, LARGEST_RATE),
            epochs=whole("epochs", self.epochs, 1),
            batch_size=batch_size_of(self.batch_size, n_trained),
            patience=None if self.patience is None else whole("patience", self.patience, 1),
            seed=seed,
            compile=bool(self.compile),
        )
        ple_grid = fitting.with_ple(encoder.plan_, asked, table)
        blueprint = fitting.Blueprint(encoder.plan_, asked, shape, n_outputs, loss, ple_grid)
        checkpoint = None
        if self.resume and self.checkpoint is None:
            raise OptionError("resume: there is no checkpoint to go on from; pass checkpoint='name of a file' too")
        if self.checkpoint is not None:
            identity = self._identity(table, target, weight, encoder, seed)
            checkpoint = torch_part("checkpoints").Checkpoint(self.checkpoint, identity, bool(self.resume))
        line = ProgressLine(type(self).__name__, bool(self.progress))
        try:
            done = fitting.fit_network(blueprint, table, goal, weight, valid, options, self.device, line, checkpoint)
        finally:
            line.close()
        self._set_network(encoder, blueprint, done.network)
        self.history_, self.best_epoch_, self.batch_size_ = done.history, done.best_epoch, done.batch_size
        self.implementation_, self.seed_ = done.ran, seed

    def _shape(self) -> Shape:
        return Shape(
            whole("width", self.width, 1), whole("depth", self.depth, 1), number("dropout", self.dropout, 0, 1),
            bool(self.residual), whole("ensemble", self.ensemble, 1),
        )  # fmt: skip

    def _identity(
        self, table: Table, target: Target, weight: NDArray[Any] | None, encoder: BinEncoder, seed: int
    ) -> dict[str, Any]:
        """What a checkpoint has to agree with to be one of this training."""
        digest = hashlib.sha256(row_hashes(table, target, 0).tobytes())
        digest.update(b"" if weight is None else np.asarray(weight, np.float64).tobytes())
        options = {name: repr(value) for name, value in self.get_params(deep=False).items() if name not in FREE}
        grid = hashlib.sha256(encoder.grid_.to_json().encode()).hexdigest()
        options["estimator"] = type(self).__name__
        return {**options, "random_state": seed, "rows": digest.hexdigest(), "boundaries": grid}

    def _set_network(self, encoder: BinEncoder, blueprint: Any, network: Any) -> None:
        plan = encoder.plan_
        self.encoder_, self._blueprint, self.network_ = encoder, blueprint, network
        self.n_parameters_ = torch_part("fitting").count_parameters(blueprint, network)
        self.n_features_in_ = plan.n_table_columns
        if plan.table_names is not None:
            self.feature_names_in_ = np.array(plan.table_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _predict_rows(self, X: Any) -> NDArray[np.float32]:
        check_is_fitted(self)
        table, plan = read_table(X), self.encoder_.plan_
        check_columns(table, plan.table_names, plan.n_table_columns, type(self).__name__)
        _check_faults(plan, table)
        found: NDArray[np.float32] = torch_part("fitting").predict_rows(self.network_, self._blueprint.loss, table)
        return found

    def _plain_options(self) -> dict[str, Any]:
        """The constructor's options as JSON can hold them; None for what it cannot."""
        options = self.get_params(deep=False)
        options["checkpoint"] = None
        return {name: value if _is_plain(value) else None for name, value in options.items()}

    def _own_facts(self) -> dict[str, Any]:
        raise NotImplementedError

    def _set_own_facts(self, facts: dict[str, Any]) -> None:
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "network_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _check_faults(plan: Plan, table: Table) -> None:
    """Raises DataError for values that no level is for: the network would turn them into NaN."""
    if any(b.missing == "error" or b.outside != "clip" or b.period is not None for b in plan.grid):
        encode_codes(plan.view(table), plan, count_threads(None), with_fractions=False)


def _encoder_around(grid: Grid, soft: bool, views: dict[str, Any] | None) -> BinEncoder:
    if views is None:
        return (SoftBins if soft else HardBins).from_grid(grid)
    known = Views(tuple(views["source"]), views["n_columns"], None if views["names"] is None else tuple(views["names"]))
    return MultiBins.from_grid(grid, known.n_columns if known.names is None else known.names, soft=soft)


def _is_plain(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True
