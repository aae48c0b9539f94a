#include "totals.hpp"

#include "locate.hpp"

namespace softbin {
namespace {

template <class T>
SOFTBIN_INLINE void totals_of(const ColumnPlan& c, Values<T> values, int64_t n_rows, const int64_t* weight,
                              double* total) {
    alignas(64) T x[tile_rows];
    alignas(64) int32_t bin[tile_rows];
    alignas(64) double offset[tile_rows];
    const double* edges = c.edges;
    const double scale = c.scale;
    for (int64_t start = 0; start < n_rows; start += tile_rows) {
        const int n = static_cast<int>(std::min<int64_t>(tile_rows, n_rows - start));
        load_tile(values, start, n, x);
        count_cuts(c, x, n, bin);
        int odd = 0;
        for (int i = 0; i < n; ++i) odd |= !(x[i] - x[i] == T(0));
        if (c.n_edges < 2) {
            for (int i = 0; i < n; ++i) offset[i] = 0.0;
        } else {
            const double low = edges[0], high = edges[c.n_edges - 1];
            for (int i = 0; i < n; ++i) {
                const double v = x[i];
                offset[i] = v < low ? low : (v > high ? high : v);
            }
            for (int i = 0; i < n; ++i) offset[i] = (offset[i] - edges[bin[i]]) * scale;
        }
        if (!odd && !weight) {
            for (int i = 0; i < n; ++i) {
                double* at = total + 2 * bin[i];
                at[0] += 1.0;
                at[1] += offset[i];
            }
            continue;
        }
        for (int i = 0; i < n; ++i) {
            if (!(x[i] - x[i] == T(0))) continue;
            const double w = weight ? static_cast<double>(weight[start + i]) : 1.0;
            total[2 * bin[i]] += w;
            total[2 * bin[i] + 1] += w * offset[i];
        }
    }
}

}  // namespace

SOFTBIN_CLONES void bin_totals(const ColumnPlan& c, Values<float> v, int64_t n, const int64_t* weight, double* total) {
    totals_of(c, v, n, weight, total);
}
SOFTBIN_CLONES void bin_totals(const ColumnPlan& c, Values<double> v, int64_t n, const int64_t* weight,
                               double* total) {
    totals_of(c, v, n, weight, total);
}

}  // namespace softbin
