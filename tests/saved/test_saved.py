"""Files that earlier versions saved load equal, forever. Add a file per schema; never change one."""

from pathlib import Path

import numpy as np
import pandas as pd

from softbin import Boundaries, Grid, HardBins, SoftBins

SCHEMA_1 = Path(__file__).parent / "grid_schema_1.json"
EXPECTED = Grid(
    (
        Boundaries(
            (0.0, 20.0, 35.5), "level", (-999.0, 0.1), weight=(3.0, 4.5), mean=(10.25, 30.0),
            special_weight=(2.0, 0.0), missing_weight=1.0, note="heavy values have a place of their own: 0 (40%)",
        ),
        Boundaries((0.0, 6.0, 24.0), "zero", period=(0.0, 24.0)),
        Boundaries((-1e-300, 5e-324, 1e300), "error", outside="linear"),
        Boundaries((), "level", missing_weight=7.0, note="no finite value to learn from"),
        Boundaries((3.25,), "error", outside="error", weight=(10.0,), mean=(3.25,)),
    ),
    names=("age", "hour", "größe", "all missing", "constant"),
)  # fmt: skip


def test_a_file_of_schema_1_loads_equal():
    assert Grid.load(SCHEMA_1) == EXPECTED


def test_what_is_saved_today_is_what_the_file_holds():
    assert EXPECTED.to_json() == SCHEMA_1.read_text(encoding="utf-8").rstrip("\n")


def test_a_loaded_grid_encodes_as_it_always_did():
    row = pd.DataFrame([[27.75, 3.0, 0.0, np.nan, 3.25]], columns=EXPECTED.names)
    soft = SoftBins.from_grid(Grid.load(SCHEMA_1), output="dense").transform(row)
    assert soft.tolist() == [[0, 0.5, 0.5, 0, 0, 0, 0.5, 0.5, 0, 1, 0, 1, 1]]
    hard = Grid.load(SCHEMA_1).replace(2, Boundaries((-1e-300, 5e-324, 1e300)))
    assert HardBins.from_grid(hard, output="ordinal").transform(row).tolist() == [[1, 0, 0, 0, 0]]
