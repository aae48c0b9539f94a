#include "target_counts.hpp"

#include "locate.hpp"

namespace softbin {
namespace {

template <class T>
SOFTBIN_INLINE void count_of(const ColumnPlan& c, Values<T> values, int64_t n_rows, const Statistics& all,
                             int64_t* counts) {
    alignas(64) T x[tile_rows];
    alignas(64) int32_t code[tile_rows];
    Faults unused;
    for (int64_t start = 0; start < n_rows; start += tile_rows) {
        const int n = static_cast<int>(std::min<int64_t>(tile_rows, n_rows - start));
        const Statistics s = all.from_row(start);
        load_tile(values, start, n, x);
        locate(c, x, n, code, static_cast<T*>(nullptr), unused);
        for (int i = 0; i < n; ++i) code[i] = code[i] * s.n_slots + s.slot[i];
        if (!s.parts) {
            for (int i = 0; i < n; ++i) ++counts[code[i]];
            continue;
        }
        for (int p = 0; p < s.n_parts; ++p)
            for (int i = 0; i < n; ++i) counts[code[i] + p] += s.parts[p * s.stride + i];
    }
}

}  // namespace

SOFTBIN_CLONES void count_target(const ColumnPlan& c, Values<float> v, int64_t n, const Statistics& s,
                                 int64_t* counts) {
    count_of(c, v, n, s, counts);
}
SOFTBIN_CLONES void count_target(const ColumnPlan& c, Values<double> v, int64_t n, const Statistics& s,
                                 int64_t* counts) {
    count_of(c, v, n, s, counts);
}

}  // namespace softbin
