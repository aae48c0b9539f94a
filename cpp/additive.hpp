// An additive model on one block of raw columns: no encoded matrix, one affine piece per bin.
//
// A value's *code* is its bin, or a code behind the bins for each special code and for missing. A model gives every
// code a value and a slope, and a row's score is the sum over columns of value[code] + slope[code] * fraction.
// The gradient by those is again two sums per code: of the residuals, and of residual times fraction.
#pragma once

#include "families.hpp"
#include "plan.hpp"

namespace softbin {

// n_outputs x n_codes each, row after row; intercept has n_outputs numbers.
template <class F>
struct Pieces {
    int n_outputs;
    const F* value;
    const F* slope;
    const F* intercept;
};

// Scores of n rows, n_outputs numbers a row.
void additive_scores(const Plan&, const Values<float>*, int64_t n_rows, const Pieces<float>&, float* scores, Faults*);
void additive_scores(const Plan&, const Values<double>*, int64_t n_rows, const Pieces<double>&, double* scores,
                     Faults*);

// Returns the summed loss. Adds to sums, n_outputs x (n_codes + 1) x 2: per code the residuals and the residuals times
// fraction; behind the codes the residuals of all rows.
double additive_pass(const Plan&, const Values<float>*, int64_t n_rows, const Pieces<float>&, Family, const float* y,
                     const float* weight, double* sums);
double additive_pass(const Plan&, const Values<double>*, int64_t n_rows, const Pieces<double>&, Family,
                     const double* y, const double* weight, double* sums);

// Adds to the size x size matrix the sum of weight * phi phi' over rows, for columns j in [first_column, last_column) and
// l >= j: on and above the block diagonal. Row i of column j stands on the levels left and right (left only, where they
// are the same) with weights 1 - fraction and fraction; arrays are column after column, n_rows each.
void gram(const uint32_t* left, const uint32_t* right, const float* fraction, int64_t n_columns, int64_t n_rows,
          const double* weight, int64_t first_column, int64_t last_column, int64_t size, double* out);

}  // namespace softbin
