"""Soft bins in front of a logistic regression: columns that are not lines, codes and missing values included."""

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from softbin import SoftBins

random = np.random.default_rng(0)
age = random.uniform(18, 90, 5_000)
visit = np.where(random.random(5_000) < 0.2, -999, random.integers(0, 365, 5_000))
bought = random.random(5_000) < 0.1 + 0.5 * np.exp(-(((age - 45) / 12) ** 2))  # a hump, not a line
table = pd.DataFrame({"age": np.where(random.random(5_000) < 0.05, np.nan, age), "days_since_visit": visit})

soft = SoftBins(n_bins=6, special={"days_since_visit": [-999]})
model = make_pipeline(soft, LogisticRegression()).fit(table, bought)

print(soft.fit_report_)
for name, weight in zip(soft.get_feature_names_out(), model[-1].coef_[0], strict=True):
    print(f"{name:28}{weight:6.2f}")  # between two knots the effect is a straight line
