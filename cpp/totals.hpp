// Weight and mean offset of the values in each bin: what a bin's mean is made of.
#pragma once

#include "plan.hpp"

namespace softbin {

// Adds to total[2 * bin] each value's weight and to total[2 * bin + 1] the weight times the value's offset
// from the bin's left edge, in units of 1 / c.scale. Values that are not finite are left out.
void bin_totals(const ColumnPlan& c, Values<float>, int64_t n, const int64_t* weight, double* total);
void bin_totals(const ColumnPlan& c, Values<double>, int64_t n, const int64_t* weight, double* total);

}  // namespace softbin
