"""Missing values, codes such as -999, a column that wraps, values beyond the training range."""

import numpy as np
import polars as pl

from softbin import HardBins, SoftBins
from softbin.errors import DataError

random = np.random.default_rng(0)
table = pl.DataFrame(
    {
        "hour": random.uniform(0, 24, 1_000),
        "debt": np.where(random.random(1_000) < 0.1, -999, random.lognormal(8, 1, 1_000)),
        "score": [
            None if missing else float(value)
            for missing, value in zip(random.random(1_000) < 0.1, range(1_000), strict=True)
        ],
    }
)

soft = SoftBins(4, period={"hour": (0, 24)}, special={"debt": [-999]}, output="dense").fit(table)
print(*soft.get_feature_names_out(), sep="  ")
late, early = soft.transform(pl.DataFrame({"hour": [23.99, 0.01], "debt": [-999.0] * 2, "score": [None, 5.0]}))
print(f"23:59 and 00:01 differ by {np.abs(late - early)[: len(soft.grid_['hour'].edges) - 1].max():.3f} at most")

try:
    HardBins(4).fit(table["score", "hour"].drop_nulls()).transform(table["score", "hour"])
except DataError as error:
    print(error)  # which column, how many, what to do
