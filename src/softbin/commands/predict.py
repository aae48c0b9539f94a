"""softbin predict: a table file and a model in, a prediction per row out."""

from pathlib import Path

from softbin.commands.models import read_model
from softbin.commands.say import say
from softbin.errors import OptionError
from softbin.optional import need
from softbin.values.table_files import check_ending, read_table_file, write_table_file
from softbin.whole_files import check_free, whole_file


def predict_table_file(model: Path, table: Path, out: Path, keep: tuple[str, ...], force: bool) -> None:
    """Columns: those kept, ``prediction``, and for classes ``p[class]``, the probability of each."""
    ending = check_ending(out)
    check_free(out, force)
    saved = read_model(model)
    rows = read_table_file(table)
    absent = [name for name in keep if name not in rows.column_names]
    if absent:
        raise OptionError(f"{table}: no column {absent[0]!r} to keep; there are {', '.join(rows.column_names)}")
    X = read_table_file(table, saved.model.feature_names_in_)
    columns = {name: rows.column(name) for name in keep}
    columns["prediction"] = saved.model.predict(X)
    if saved.task == "classes":
        shares = saved.model.predict_proba(X)
        columns |= {f"p[{label}]": shares[:, at] for at, label in enumerate(saved.model.classes_.tolist())}
    out.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(out, overwrite=force) as temporary:
        write_table_file(need("pyarrow").table(columns), temporary, ending)
    say(f"{X.num_rows:,} predictions of {saved.target!r}: {out}")
