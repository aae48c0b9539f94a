"""A hundred bins and no choice of how many: smooth curves with bands, one of them rising, as it must."""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from softbin import LinearClassifier, SoftBins

arguments = argparse.ArgumentParser()
arguments.add_argument("--image", type=Path)
image = arguments.parse_args().image

random = np.random.default_rng(0)
n = 20_000
table = pd.DataFrame(
    {"age": random.uniform(18, 90, n), "income": random.lognormal(8, 0.6, n), "shoe_size": random.normal(42, 3, n)}
)
score = 2 * np.exp(-(((table["age"] - 45) / 12) ** 2)) + np.log(table["income"] / 3_000) - 1
bought = random.random(n) < 1 / (1 + np.exp(-score))

model = LinearClassifier(SoftBins(100), smoothness="auto", monotonic={"income": "increasing"}).fit(table, bought)
for name, edf in zip(table.columns, model.edf_, strict=True):
    print(f"{name:10} {edf:5.1f} degrees of freedom")  # about 1 is a straight line

age = model.curve("age", confidence=0.95)
at = np.searchsorted(age.knots, 45)
print(f"at 45: {age.values[at]:+.2f}, between {age.lower[at]:+.2f} and {age.upper[at]:+.2f}")
assert np.all(np.diff(model.curve("income").values) >= 0)

if image:
    image.parent.mkdir(parents=True, exist_ok=True)
    model.plot().savefig(image, dpi=100)
