"""Bins that look at the label: where they cut, what they are worth, and several granularities at once."""

import numpy as np
from sklearn.metrics import roc_auc_score

from softbin import HardBins, LinearClassifier, MultiBins, SoftBins

random = np.random.default_rng(0)
X = random.normal(size=(20_000, 3)).astype(np.float32)
chance = np.where(X[:, 0] > 0.7, 0.8, 0.3) * (0.6 + 0.4 * np.sin(3 * X[:, 1]))  # a step, a wave, and noise
y = random.random(20_000) < chance
train, test = slice(0, 15_000), slice(15_000, None)

tree = HardBins(4, "tree").fit(X[train], y[train])
print("where the tree cuts x0:", np.round(tree.bin_edges_[0][1:-1], 2))
print(tree.fit_report_)

for bins in (HardBins(10), HardBins(10, "tree"), SoftBins(10), SoftBins(10, "tree")):
    model = LinearClassifier(bins).fit(X[train], y[train])
    print(f"{roc_auc_score(y[test], model.decision_function(X[test])):.4f}  {bins}")

several = MultiBins((5, 20, 100)).fit(X[train], y[train])
print("kept of three granularities:", several.kept_)
