"""A table's boundaries: edits return a new grid, files load equal, damaged files are told so."""

import contextlib
import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softbin import Boundaries, Grid
from softbin.errors import OptionError, SavedFileError

GRID = Grid((Boundaries((0, 20, 35), "level", (-999,)), Boundaries((0, 6, 24), period=(0, 24))), names=("age", "hour"))


def test_columns_are_found_by_name_and_by_position():
    assert GRID["hour"] == GRID[1] == GRID.columns[1]
    assert Grid(GRID.columns)["x1"] == GRID[1]
    assert [boundaries.n_bins for boundaries in GRID] == [2, 2]
    assert len(GRID) == 2


@pytest.mark.parametrize("column", ["weight", 2, -1, 1.0, None, True])
def test_an_unknown_column_is_named(column):
    with pytest.raises(OptionError, match="column"):
        GRID[column]


def test_edges_given_by_hand_are_used_exactly_and_the_old_grid_stays():
    edited = GRID.with_edges({"age": [0, 18, 65], 1: [0, 12, 24]})
    assert edited["age"].edges == (0, 18, 65)
    assert edited["hour"].edges == (0, 12, 24)
    assert edited["age"].special == (-999,)
    assert GRID["age"].edges == (0, 20, 35)


def test_bins_are_merged_and_split_by_hand():
    assert GRID.merge("age", 0)["age"].edges == (0, 35)
    assert GRID.split("age", 30)["age"].edges == (0, 20, 30, 35)
    assert GRID.merge("age", 0)["hour"] == GRID["hour"]


@pytest.mark.parametrize(
    ("edit", "word"),
    [
        (lambda: GRID.with_edges({"age": [2, 1]}), "strictly increase"),
        (lambda: GRID.with_edges({"age": 5}), "not a sequence of numbers"),
        (lambda: GRID.with_edges({"age": None}), "not a sequence of numbers"),
        (lambda: GRID.merge("age", 7), "there is no bin 7"),
        (lambda: GRID.merge("age", 0.5), "there is no bin 0.5"),
        (lambda: GRID.merge("age", "first"), "there is no bin 'first'"),
        (lambda: GRID.split("age", 20), "20 is not inside a bin"),
        (lambda: GRID.split("age", "20"), "'20' is not inside a bin"),
        (lambda: GRID.split("age", None), "None is not inside a bin"),
    ],
)
def test_an_edit_that_cannot_be_names_the_column(edit, word):
    with pytest.raises(OptionError, match=f"^column 'age': .*{word}"):
        edit()


def test_new_edges_come_as_a_dict():
    with pytest.raises(OptionError, match="not a dict"):
        GRID.with_edges([[0, 1]])


@pytest.mark.parametrize(("columns", "names"), [((1, 2), None), ("ab", None), (GRID.columns, (1, 2))])
def test_a_grid_holds_boundaries_and_text(columns, names):
    with pytest.raises(OptionError, match="grid"):
        Grid(columns, names)


@pytest.mark.parametrize("names", [("a",), ("a", "a"), ("a", "b", "c")])
def test_names_are_one_per_column_and_none_twice(names):
    with pytest.raises(OptionError, match="grid"):
        Grid(GRID.columns, names)


def test_a_saved_grid_loads_equal(tmp_path):
    path = tmp_path / "grid.json"
    GRID.save(path)
    assert Grid.load(path) == GRID
    assert Grid.load(str(path)) == GRID
    assert json.loads(path.read_text())["schema"] == 1


def test_saving_leaves_an_existing_file_unless_told_otherwise(tmp_path):
    path = tmp_path / "grid.json"
    path.write_text("mine")
    with pytest.raises(SavedFileError, match="exists already"):
        GRID.save(path)
    assert path.read_text() == "mine"
    GRID.save(path, overwrite=True)
    assert Grid.load(path) == GRID
    assert os.listdir(tmp_path) == ["grid.json"]


def test_a_failed_save_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        GRID.save(tmp_path / "grid.json")
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name == "nt", reason="permissions are POSIX ones")
def test_a_saved_file_has_the_permissions_of_any_new_file(tmp_path):
    GRID.save(tmp_path / "grid.json")
    (tmp_path / "other").write_text("")
    modes = [os.stat(tmp_path / name).st_mode for name in ("grid.json", "other")]
    assert modes[0] == modes[1]


BROKEN = {
    "empty": "",
    "cut off": GRID.to_json()[:100],
    "a list": "[]",
    "another format": '{"format": "other"}',
    "a later schema": GRID.to_json().replace('"schema": 1', '"schema": 2'),
    "no schema": '{"format": "softbin.grid"}',
    "no columns": '{"format": "softbin.grid", "schema": 1, "names": null}',
    "columns are a number": '{"format": "softbin.grid", "schema": 1, "names": null, "columns": 3}',
    "an unknown field": GRID.to_json().replace('"note"', '"remark"'),
    "edges in disorder": GRID.to_json().replace("20.0", "50.0"),
    "edges that are words": GRID.to_json().replace("20.0", '"twenty"'),
    "an edge that is NaN": GRID.to_json().replace("20.0", "NaN"),
    "an edge of 400 digits": GRID.to_json().replace("35.0", "1" * 400),
    "a name too many": GRID.to_json().replace('"age",', '"age", "size",'),
    "a name that is a number": GRID.to_json().replace('"age",', "3,"),
    "a weight that is a word": GRID.to_json().replace('"missing_weight": 0.0', '"missing_weight": "none"'),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_damaged_file_is_told_so(what, tmp_path):
    assert BROKEN[what] != GRID.to_json()
    path = tmp_path / "grid.json"
    path.write_text(BROKEN[what])
    with pytest.raises(SavedFileError, match=r"grid\.json"):
        Grid.load(path)


def test_bytes_that_are_no_text_are_told_so(tmp_path):
    (tmp_path / "grid.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SavedFileError, match=r"grid\.json"):
        Grid.load(tmp_path / "grid.json")


@settings(max_examples=300)
@given(at=st.integers(0, len(GRID.to_json()) - 1), cut=st.integers(0, 30), put=st.text(max_size=3))
def test_any_damage_is_a_grid_or_a_saved_file_error(at, cut, put):
    text = GRID.to_json()
    damaged = text[:at] + put + text[at + cut :]
    with contextlib.suppress(SavedFileError):
        loaded = Grid.from_json(damaged)
        assert Grid.from_json(loaded.to_json()) == loaded
