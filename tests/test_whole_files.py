"""Files and folders are written whole or not at all."""

import pytest

from softbin.errors import SavedFileError
from softbin.whole_files import whole_file, whole_folder


def fail_in(block, write):
    with block as temporary:
        write(temporary)
        raise RuntimeError


def test_a_file_is_there_once_the_block_ends(tmp_path):
    path = tmp_path / "a.txt"
    with whole_file(path) as temporary:
        temporary.write_text("new")
        assert not path.exists()
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]
    assert path.read_text() == "new"


def test_a_block_that_raises_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError):
        fail_in(whole_file(path, overwrite=True), lambda temporary: temporary.write_text("half"))
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("write", [whole_file, whole_folder])
def test_nothing_is_replaced_unless_asked_to(tmp_path, write):
    (tmp_path / "a").write_text("old")
    with pytest.raises(SavedFileError, match="exists already"), write(tmp_path / "a"):
        pass
    assert (tmp_path / "a").read_text() == "old"


def test_a_folder_replaces_the_old_one_whole(tmp_path):
    path = tmp_path / "model"
    for name in ("first", "second"):
        with whole_folder(path, overwrite=True) as temporary:
            (temporary / name).write_text("")
    assert [file.name for file in path.iterdir()] == ["second"]
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_fails_leaves_the_old_one(tmp_path):
    path = tmp_path / "model"
    path.mkdir()
    (path / "kept").write_text("")
    with pytest.raises(RuntimeError):
        fail_in(whole_folder(path, overwrite=True), lambda temporary: (temporary / "half").write_text(""))
    assert [file.name for file in path.iterdir()] == ["kept"]
    assert len(list(tmp_path.iterdir())) == 1
