// What the target is in each bin of a column: whole-number sums, the same in any order of the rows.
#pragma once

#include "plan.hpp"

namespace softbin {

// Row i adds parts[p * stride + i] (a one where parts is null) to slot[i] + p of its bin's n_slots slots.
struct Statistics {
    const int32_t* slot;
    const int64_t* parts;
    int64_t stride;
    int n_parts;
    int n_slots;

    Statistics from_row(int64_t row) const {
        return {slot + row, parts ? parts + row : nullptr, stride, n_parts, n_slots};
    }
};

// Adds a run of rows of one column: counts is (bins + 1) x slots, the last bin that of missing values.
void count_target(const ColumnPlan& c, Values<float> values, int64_t n_rows, const Statistics& statistics,
                  int64_t* counts);
void count_target(const ColumnPlan& c, Values<double> values, int64_t n_rows, const Statistics& statistics,
                  int64_t* counts);

}  // namespace softbin
