"""A small experiment for the tests: few rows, few cells, linear models."""

from dataclasses import replace
from pathlib import Path

from softbin.paper.cells import Cell
from softbin.paper.experiment import Experiment, Outcome, run_experiment

ROWS = 1500
N_METHODS = 12  # without LightGBM
CELLS = 3 * N_METHODS + 2  # two seeds at 10 %; at 100 % only the two rows of MGD draw


def small(out: Path, **changes) -> Experiment:
    asked = Experiment(
        out, data_sets=("SUSY",), rows=ROWS, test_rows=1000, shares=(1.0, 0.1), seeds=2, models=("LR",), only="lr"
    )
    return replace(asked, **changes)


def run(experiment: Experiment) -> Outcome:
    return run_experiment(experiment, lambda text: None, lambda state: None)


def cell(**changes) -> Cell:
    return replace(Cell("LR", "LLE (10)", "soft:10", "HIGGS", "0" * 64, 0.1, 0, 0, (("ridge", 1.0),)), **changes)
