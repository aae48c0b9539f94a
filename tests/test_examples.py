"""What a reader is shown runs: every example, and every block of the docs that stands for a file is that file."""

import re
import runpy
import sys
from pathlib import Path

import matplotlib as mpl
import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SMALL = {
    "difficult_columns.py": ["--rows", "3000", "--out"],
    "ten_million_rows.py": ["--rows", "5000", "--image"],
    "smooth_curves.py": ["--image"],
    "theory.py": ["--out"],
}
LEAVES = {
    "difficult_columns.py": "softbin.png",
    "smooth_curves.py": "smooth.png",
    "ten_million_rows.py": "curves.png",
    "theory.py": "images/theory_risk.png",
}
BLOCK = re.compile(r"<!-- file: (?P<path>\S+) -->\n```python\n(?P<code>.*?)```", re.DOTALL)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs(example, tmp_path, monkeypatch, capsys):
    mpl.use("Agg")
    leaves = LEAVES.get(example.name)
    in_folder = "--out" in SMALL.get(example.name, [])
    target = [] if leaves is None else [str(tmp_path if in_folder else tmp_path / leaves)]
    monkeypatch.setattr(sys, "argv", [str(example), *SMALL.get(example.name, []), *target])
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out
    if leaves:
        assert (tmp_path / leaves).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda path: path.name)
def test_blocks_that_stand_for_a_file_are_that_file(page):
    for block in BLOCK.finditer(page.read_text()):
        assert (ROOT / block["path"]).read_text() == block["code"]


def test_a_changed_block_would_be_noticed():
    assert BLOCK.search("<!-- file: examples/compact.py -->\n```python\nother\n```")["code"] == "other\n"
