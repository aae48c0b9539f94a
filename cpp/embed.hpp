// Embeddings of a run of rows: every value as the mix of two rows of a table (soft bins) or as one row (hard bins),
// and the gradient of the table. Definition: deep/lookup.py. Levels of all columns stand in one table, as in the plan.
#pragma once

#include "plan.hpp"

namespace softbin {

#define DECLARE_EMBED(T)                                                                                            \
    void embed(const Plan&, const Values<T>*, int64_t n_rows, const float* table, int64_t dim, float* out);         \
    void embed_gradient(const Plan&, const Values<T>*, int64_t n_rows, size_t first_column, size_t last_column,     \
                        const float* gradient, int64_t dim, float* table_gradient);

DECLARE_EMBED(float)
DECLARE_EMBED(double)

#undef DECLARE_EMBED

}  // namespace softbin
