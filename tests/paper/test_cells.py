"""Cells: what tells two of them apart, and which ones --only means."""

import subprocess
import sys

import pytest
from tests.paper.small import cell

from softbin.errors import OptionError
from softbin.paper.cells import REVISION, plan_cells, select_cells
from softbin.paper.methods import HELD_OUT, METHODS, Method, settings

PAPER = [method for method in METHODS if method.in_paper]
ONCE = 6 * 2  # all training rows, linear, both data sets: only MGD draws
PLAN = plan_cells(PAPER, ("LR", "DNN"), (1.0, 0.1, 0.01), 3, 0, "small", {"HIGGS": "a", "SUSY": "b"})


def test_the_plan_is_table_1_times_seeds_where_seeds_matter():
    assert len(PLAN) == len(set(PLAN)) == len({cell.folder for cell in PLAN}) == 84 * 3 - ONCE * 2
    whole = [cell for cell in PLAN if cell.share == 1 and cell.data == "SUSY" and cell.seed > 0]
    assert {(cell.model, cell.method) for cell in whole} == {("LR", "MGD"), *(("DNN", row.label) for row in PAPER)}
    folds = plan_cells(PAPER, ("LR",), (1.0,), 3, 5, "small", {"HIGGS": "a"})
    assert len(folds) == 7 * 5


def test_any_change_of_a_configuration_is_another_folder():
    changes = [
        {"model": "DNN"}, {"method": "LLE"}, {"bins": "soft:11"}, {"data": "SUSY"}, {"data_hash": "1"}, {"share": 0.2},
        {"seed": 1}, {"folds": 5}, {"options": (("ridge", 2.0),)}, {"revision": REVISION + 1},
    ]  # fmt: skip
    folders = {cell(**change).folder for change in changes} | {cell().folder}
    assert len(folders) == len(changes) + 1


def test_a_folder_is_the_same_in_another_process():
    code = "from tests.paper.small import cell; print(cell().folder)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == cell().folder
    assert cell().folder.startswith("lr-lle-10-higgs-10-0-")


@pytest.mark.parametrize(
    ("only", "count"),
    [
        ("*", 252 - ONCE * 2),
        ("lr * higgs 1%", 7 * 3),
        ("LR * HIGGS 1%", 7 * 3),
        ("lle* seed=0", 3 * 2 * 2 * 3),
        ("soft:10 deep", 2 * 3 * 3),
        ("lle(10) lr susy 10% seed=2", 1),
        ("lr higgs 100%", 6 + 3),
        ("paper", 252 - ONCE * 2),
        ("lr higgs 1% seed=0 | dnn susy mgd 10%", 7 + 3),
    ],
)
def test_only_selects_cells_that_every_word_matches(only, count):
    assert len(select_cells(PLAN, only)) == count


@pytest.mark.parametrize("only", ["lr 2%", "higs", "", "lr dnn", "own"])
def test_only_that_matches_nothing_is_an_error(only):
    with pytest.raises(OptionError, match="matches no cell"):
        select_cells(PLAN, only)


def test_options_of_a_row_reach_its_cells():
    smooth = Method("LLE (100), smoothed", "soft:100", models=("LR",), options=(("smoothness", "auto"),))
    assert settings(smooth, "LR", "small") == (("ridge", HELD_OUT), ("smoothness", "auto"), ("tol", 1e-5))
    cells = plan_cells([smooth], ("LR", "DNN"), (1.0,), 1, 0, "small", {"HIGGS": "a"})
    assert [cell.options for cell in cells] == [(("ridge", HELD_OUT), ("smoothness", "auto"), ("tol", 1e-5))]
