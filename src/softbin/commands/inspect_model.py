"""softbin inspect: what a model learned, and how good it is on a table that has the target."""

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.metrics import accuracy_score, log_loss, mean_squared_error, r2_score, roc_auc_score

from softbin.commands.models import SavedModel, read_model
from softbin.commands.say import say
from softbin.errors import DataError
from softbin.reports.model_page import column_rows, model_page
from softbin.values.table_files import read_table_file
from softbin.whole_files import check_free, whole_file


def inspect(model: Path, table: Path | None, out: Path | None, force: bool) -> None:
    """Prints facts, columns and measures; writes them as a page where asked to."""
    if out is not None:
        check_free(out, force)
    saved = read_model(model)
    facts = _facts(saved)
    if table is not None:
        facts |= _measures(saved, table)
    console = Console()
    for name, value in facts.items():
        console.print(f"{name:>16}  {value}", markup=False, highlight=False)
    head, rows = column_rows(saved.model)
    shown = Table(*head)
    for row in rows:
        shown.add_row(*row)
    console.print(shown, markup=False)
    if out is not None:
        page = model_page(saved.model, f"{type(saved.model).__name__} of {saved.target!r}", facts)
        out.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(out, overwrite=force) as temporary:
            temporary.write_text(page, encoding="utf-8")
        say(str(out))


def _facts(saved: SavedModel) -> dict[str, str]:
    facts = {
        "model": type(saved.model).__name__, "target": saved.target,
        "fitted on": f"{saved.rows:,} rows, {saved.source}",
        "levels": f"{saved.model.encoder_.n_parameters_:,}",
    }  # fmt: skip
    if saved.task == "classes":
        facts["classes"] = ", ".join(map(str, saved.model.classes_.tolist()))
    return facts


def _measures(saved: SavedModel, table: Path) -> dict[str, str]:
    X = read_table_file(table, saved.model.feature_names_in_)
    y = read_table_file(table, [saved.target]).column(0).to_numpy()
    measured = {"measured on": f"{len(y):,} rows, {table.name}"}
    if saved.task == "number":
        predicted = saved.model.predict(X)
        measured["R2"] = f"{r2_score(y, predicted):.4f}"
        measured["RMSE"] = f"{np.sqrt(mean_squared_error(y, predicted)):.6g}"
        return measured
    classes = saved.model.classes_
    unknown = sorted(set(np.unique(y).tolist()) - set(classes.tolist()), key=str)
    if unknown:
        raise DataError(f"{table}: column {saved.target!r} has {unknown[0]!r}, a class the model has not seen; drop it")
    shares: Any = saved.model.predict_proba(X).astype(np.float64)
    shares /= shares.sum(axis=1, keepdims=True)
    measured["accuracy"] = f"{accuracy_score(y, classes[shares.argmax(axis=1)]):.4f}"
    measured["log-loss"] = f"{log_loss(y, shares, labels=classes):.5f}"
    if len(classes) == 2 and len(np.unique(y)) == 2:
        measured["AUC"] = f"{roc_auc_score(y == classes[1], shares[:, 1]):.5f}"
    return measured
