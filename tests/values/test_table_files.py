"""Table files: what comes back is what was written; broken files are clear errors."""

import gzip

import numpy as np
import pyarrow as pa
import pytest

from softbin.errors import DataError, OptionError
from softbin.values.table_files import check_ending, read_table_file, write_table_file, write_table_parts

TABLE = pa.table({"a": np.arange(5, dtype=np.int64), "b": np.linspace(0, 1, 5)})


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".csv.gz"])
def test_what_is_written_is_read_back(tmp_path, ending):
    path = tmp_path / f"t{ending}"
    write_table_file(TABLE, path, ending)
    assert read_table_file(path).equals(TABLE)
    write_table_parts([TABLE.slice(0, 2), TABLE.slice(2)], path, ending)
    assert read_table_file(path, ["b", "a"]).equals(TABLE.select(["b", "a"]))


def test_a_first_line_of_numbers_is_data(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("1.0,2.5\n0.0,-1e3\n")
    assert read_table_file(path).to_pydict() == {"f0": [1.0, 0.0], "f1": [2.5, -1000.0]}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.parquet", b"PAR1 but not really"),
        ("t.csv", b"a,b\n1\n"),
        ("t.csv.gz", gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:-9]),
    ],
    ids=["parquet", "csv", "cut off"],
)
def test_a_broken_file_is_a_data_error(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=r"t\..*cannot be read"):
        read_table_file(tmp_path / name)


def test_errors_say_what_is_wrong(tmp_path):
    with pytest.raises(OptionError, match="ends in none of"):
        check_ending(tmp_path / "t.xlsx")
    with pytest.raises(DataError, match="no such file"):
        read_table_file(tmp_path / "t.csv")
    write_table_file(TABLE, tmp_path / "t.csv", ".csv")
    with pytest.raises(DataError, match="no column 'c'"):
        read_table_file(tmp_path / "t.csv", ["a", "c"])
