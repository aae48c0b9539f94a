"""The encoding in 5 bytes a value: bin and fraction, instead of 16 or more as CSR."""

import numpy as np

from softbin import SoftBins

table = np.random.default_rng(0).normal(size=(10_000, 28)).astype(np.float32)
soft = SoftBins(10).fit(table)

bins, fractions = soft.encode_compact(table)
print(bins.dtype, fractions.dtype, bins.shape)  # uint8 float32 (10000, 28)

# The weight on knot `bin` is 1 - fraction, on the next knot fraction: all that an embedding lookup needs.
assert abs(soft.compact_to_csr(bins, fractions) - soft.transform(table)).max() == 0

for form, n_bytes in soft.estimate_memory(n_rows=10**8).items():
    print(f"{form:8} {n_bytes / 1e9:6.1f} GB for 1e8 rows")
