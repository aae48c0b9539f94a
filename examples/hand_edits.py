"""Look at the boundaries, change them, keep them: a Grid is a plain value."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from softbin import Grid, HardBins, SoftBins

random = np.random.default_rng(0)
table = pd.DataFrame({"age": random.normal(45, 15, 1_000).clip(18, 90), "income": random.lognormal(10, 1, 1_000)})

grid = HardBins(5).fit(table).grid_
grid = grid.with_edges({"age": [18, 25, 35, 65, 90]}).merge("income", 0).split("income", at=50_000)
print([round(edge) for edge in grid["income"].edges])

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "grid.json"  # text, with a schema number; no pickle
    grid.save(path)
    assert Grid.load(path) == grid

print(*HardBins.from_grid(grid).get_feature_names_out(), sep="  ")
print(SoftBins.from_grid(grid, output="dense").transform(table[:2]).round(2))
