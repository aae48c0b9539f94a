"""One small column from values to encodings and back."""

import numpy as np

from softbin import HardBins, SoftBins

age = np.array([[18.0], [20.0], [25.0], [35.0], [35.0], [50.0], [65.0], [np.nan]])
edges = {0: [18, 20, 35, 65]}

hard = HardBins(edges=edges, output="dense").fit(age)
soft = SoftBins(edges=edges, output="dense").fit(age)
print(hard.get_feature_names_out(["age"]))  # age[18,20) age[20,35) age[35,65] age[missing]
print(soft.get_feature_names_out(["age"]))  # age@18 age@20 age@35 age@65 age[missing]

print(hard.transform([[26.0]]))  # [[0. 1. 0. 0.]]
print(soft.transform([[26.0]]))  # [[0.  0.6 0.4 0.  0. ]]: 0.6 * 20 + 0.4 * 35 = 26
print(soft.inverse_transform(soft.transform([[26.0]])))  # [[26.]]
print(soft.transform([[np.nan], [99.0]]))  # missing has its level; beyond the ends is as if on the end
