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


def test_names_that_stand_there_twice_are_named(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,a\n1,2,3\n")
    with pytest.raises(DataError, match="'a' does; rename"):
        read_table_file(tmp_path / "t.csv")


def test_a_mark_of_utf_8_is_no_part_of_the_first_value(tmp_path):
    for text, names in (("1,2\n3,4\n", ["f0", "f1"]), ("a,b\n1,2\n", ["a", "b"])):
        (tmp_path / "t.csv").write_text(text, encoding="utf-8-sig")
        table = read_table_file(tmp_path / "t.csv")
        assert table.column_names == names
        assert table.column(1).to_pylist()[0] == 2


def test_other_encodings_are_an_error_that_says_so(tmp_path):
    (tmp_path / "t.csv").write_text("caf\u00e9,b\n1,2\n", encoding="latin-1")
    with pytest.raises(DataError, match="save it as UTF-8"):
        read_table_file(tmp_path / "t.csv")
