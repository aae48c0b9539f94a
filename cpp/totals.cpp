#include "totals.hpp"

#include "locate.hpp"

namespace softbin {
namespace {

template <class T>
SOFTBIN_INLINE void totals_of(const ColumnPlan& c, Values<T> values, int64_t n_rows, const int64_t* row_weight,
                              double* weight, double* position) {
    alignas(64) T x[tile_rows];
    alignas(64) int32_t bin[tile_rows];
    alignas(64) double fraction[tile_rows];
    for (int64_t start = 0; start < n_rows; start += tile_rows) {
        const int n = static_cast<int>(std::min<int64_t>(tile_rows, n_rows - start));
        load_tile(values, start, n, x);
        count_cuts(x, n, c.cuts(T()), c.n_cuts(), bin);
        bin_fraction(c, x, n, bin, fraction);
        for (int i = 0; i < n; ++i) {
            if (!(x[i] - x[i] == T(0))) continue;
            const double w = row_weight ? static_cast<double>(row_weight[start + i]) : 1.0;
            weight[bin[i]] += w;
            position[bin[i]] += w * fraction[i];
        }
    }
}

}  // namespace

SOFTBIN_CLONES void bin_totals(const ColumnPlan& c, Values<float> v, int64_t n, const int64_t* row_weight,
                               double* weight, double* position) {
    totals_of(c, v, n, row_weight, weight, position);
}
SOFTBIN_CLONES void bin_totals(const ColumnPlan& c, Values<double> v, int64_t n, const int64_t* row_weight,
                               double* weight, double* position) {
    totals_of(c, v, n, row_weight, weight, position);
}

}  // namespace softbin
