"""The same work with scikit-learn, with pandas and with softbin: equal results where theirs are right."""

import numpy as np
import pandas as pd
from sklearn.preprocessing import KBinsDiscretizer, SplineTransformer

from softbin import HardBins, SoftBins

table = np.random.default_rng(0).normal(size=(2_000, 3))

# KBinsDiscretizer -> HardBins
theirs = KBinsDiscretizer(5, encode="ordinal", quantile_method="averaged_inverted_cdf", subsample=None).fit(table)
ours = HardBins(5, output="ordinal").fit(table)
print(f"hard bins: {np.mean(theirs.transform(table) == ours.transform(table)):.2%} of the values in the same bin")

# SplineTransformer(degree=1) -> SoftBins
soft = SoftBins(5, output="dense").fit(table)
spline = SplineTransformer(degree=1, knots=np.stack(soft.bin_edges_, axis=1)).fit(table)
print(f"soft bins: largest difference {np.abs(spline.transform(table) - soft.transform(table)).max():.1e}")

# pandas.cut(right=False) -> edges, pandas.qcut -> n_bins; and both can be applied to other rows later
edges = [-4, -1, 0, 1, 4]
cut = pd.cut(table[:, 0], edges, right=False, labels=False)
by_hand = HardBins(edges=[edges], output="ordinal").fit(table[:, :1]).transform(table[:, :1])
assert np.array_equal(cut, by_hand[:, 0])

# pandas out
frame = pd.DataFrame(table, columns=["a", "b", "c"])
print(HardBins(2, output="dense").set_output(transform="pandas").fit_transform(frame).head(2))
