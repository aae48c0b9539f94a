"""softbin transform: a table file and a model in, the encoded table out, part by part."""

from collections.abc import Iterator
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np

from softbin.commands.models import read_model
from softbin.commands.say import say
from softbin.encodings.encoder import BinEncoder
from softbin.encodings.options import one_of
from softbin.errors import OptionError
from softbin.optional import need
from softbin.values.table_files import check_ending, read_table_file, write_table_parts
from softbin.whole_files import check_free, whole_file

MOST_LEVELS = 5_000  # columns of a file; more than that is no table
PART = 65_536  # rows that are encoded at a time


def transform_table_file(model: Path, table: Path, out: Path, form: str, force: bool) -> None:
    """``levels``: a column per level; ``compact``: two columns per column, the bin and how far into it."""
    one_of("form", form, ("levels", "compact"))
    ending = check_ending(out)
    check_free(out, force)
    encoder = read_model(model).model.encoder_
    if form == "levels" and encoder.n_parameters_ > MOST_LEVELS:
        raise OptionError(f"form: {encoder.n_parameters_:,} levels are too many columns; pass --form compact")
    X = read_table_file(table, getattr(encoder, "feature_names_in_", None))
    out.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(out, overwrite=force) as temporary:
        write_table_parts(_parts(encoder, X, form), temporary, ending)
    say(f"{X.num_rows:,} rows, {encoder.n_parameters_:,} levels: {out}")


def _parts(encoder: BinEncoder, X: Any, form: str) -> Iterator[Any]:
    encode = _levels if form == "levels" else _compact
    for start in range(0, max(X.num_rows, 1), PART):
        names, columns = encode(encoder, X.slice(start, PART))
        yield need("pyarrow").table(columns, names=names)


def _levels(encoder: BinEncoder, part: Any) -> tuple[list[str], list[Any]]:
    dense = copy(encoder).set_params(output="dense")
    dense.set_output(transform="default")
    encoded = np.asarray(dense.transform(part), order="F")
    return dense.get_feature_names_out().tolist(), list(encoded.T)


def _compact(encoder: BinEncoder, part: Any) -> tuple[list[str], list[Any]]:
    codes, fractions = encoder.encode_compact(part)
    names, columns = [], []
    for position, label in enumerate(encoder.grid_.labels):
        names.append(f"{label}.bin")
        columns.append(np.ascontiguousarray(codes[:, position]))
        if encoder.plan_.soft:
            names.append(f"{label}.into")
            columns.append(np.ascontiguousarray(fractions[:, position]))
    return names, columns
