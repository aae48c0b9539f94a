// How often two columns are in these bins together: a table of whole-number weights for each pair of columns.
#pragma once

#include "plan.hpp"

namespace softbin {

// The cells of all tables: pairs (0, 1), (0, 2), ... (1, 2), ..., each (bins + 1) x (bins + 1), missing values last.
int64_t n_pair_cells(const Plan& plan);

// Adds rows to the tables; weight null is a one for every row.
void count_pairs(const Plan& plan, const Values<float>* columns, int64_t n_rows, const int64_t* weight,
                 int64_t* counts);
void count_pairs(const Plan& plan, const Values<double>* columns, int64_t n_rows, const int64_t* weight,
                 int64_t* counts);

}  // namespace softbin
