"""softbin fit: a table file in, a model folder out."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbin.commands.models import KINDS, REPORT, SavedModel, write_model
from softbin.commands.say import say
from softbin.encodings.options import one_of
from softbin.errors import DataError, OptionError
from softbin.reports.model_page import model_page
from softbin.values.table_files import read_table_file
from softbin.whole_files import check_free, whole_folder

MOST_CLASSES = 20  # whole numbers with more values than this are numbers to "auto"


@dataclass(frozen=True)
class FitRequest:
    """The arguments of the command."""

    table: Path
    target: str
    out: Path
    model: str
    bins: str
    task: str
    weight: str | None
    drop: tuple[str, ...]
    options: tuple[str, ...]
    force: bool


def fit_table_file(request: FitRequest) -> None:
    """Fits, then writes model and report."""
    one_of("model", request.model, ("linear", "deep"))
    one_of("task", request.task, ("auto", "classes", "number"))
    check_free(request.out, request.force)
    table = read_table_file(request.table)
    y = _column(table, request.target, request).to_numpy(zero_copy_only=False)
    weight = None if request.weight is None else _column(table, request.weight, request).to_numpy()
    apart = {request.target, request.weight, *request.drop}
    for name in request.drop:
        _column(table, name, request)
    X = table.select([name for name in table.column_names if name not in apart])
    task = _task(y) if request.task == "auto" else request.task
    model = _estimator(request, task).fit(X, y, sample_weight=weight)
    saved = SavedModel(model, request.target, task, len(y), request.table.name)
    request.out.parent.mkdir(parents=True, exist_ok=True)
    with whole_folder(request.out, overwrite=request.force) as folder:
        write_model(saved, folder)
        page = model_page(model, f"{type(model).__name__} of {request.target!r}", _facts(request, saved))
        (folder / REPORT).write_text(page, encoding="utf-8")
    say(f"{type(model).__name__} on {len(y):,} rows and {X.num_columns} columns: {request.out}/{REPORT}")


def _estimator(request: FitRequest, task: str) -> Any:
    """The unfitted model. Options are name=value with a value as in JSON, or text."""
    kind = KINDS[request.model, task]
    known = set(kind().get_params(deep=False)) - {"bins"}
    options = {}
    for given in request.options:
        name, equals, value = given.partition("=")
        if not equals or name not in known:
            raise OptionError(
                f"option: {given!r} is not name=value of {kind.__name__}, with {', '.join(sorted(known))}"
            )
        try:
            options[name] = json.loads(value)
        except json.JSONDecodeError:
            options[name] = value
    return kind(request.bins, **options)


def _task(y: NDArray[Any]) -> str:
    """Text, booleans, two values, or few whole numbers are classes."""
    if y.dtype.kind not in "iuf":
        return "classes"
    distinct = np.unique(y[~np.isnan(y)] if y.dtype.kind == "f" else y)
    whole = bool(np.all(distinct == np.floor(distinct)))
    return (
        "classes"
        if whole and (len(distinct) == 2 or (y.dtype.kind != "f" and len(distinct) <= MOST_CLASSES))
        else ("number")
    )


def _column(table: Any, name: str, request: FitRequest) -> Any:
    if name not in table.column_names:
        shown = ", ".join(table.column_names[:8]) + (", ..." if table.num_columns > 8 else "")
        raise OptionError(f"{request.table}: there is no column {name!r}; there are {shown}")
    column = table.column(name)
    if name == request.target and column.null_count:
        raise DataError(f"column {name!r}: {column.null_count} rows have no target; drop them")
    return column.combine_chunks()


def _facts(request: FitRequest, saved: SavedModel) -> dict[str, str]:
    return {
        "table": request.table.name, "rows": f"{saved.rows:,}", "target": saved.target, "task": saved.task,
        "bins": request.bins,
    }  # fmt: skip
