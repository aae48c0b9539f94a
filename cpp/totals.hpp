// Weight and mean position of the values in each bin: what a bin's mean is made of.
#pragma once

#include "plan.hpp"

namespace softbin {

// Adds to weight[level] and position[level] of one column, over its regular bins (plan of hard bins);
// position sums the weighted fraction of the bin, so that a mean is exact relative to the bin's width.
void bin_totals(const ColumnPlan&, Values<float>, int64_t n, const int64_t* row_weight, double* weight,
                double* position);
void bin_totals(const ColumnPlan&, Values<double>, int64_t n, const int64_t* row_weight, double* weight,
                double* position);

}  // namespace softbin
