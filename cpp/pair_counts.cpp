#include "pair_counts.hpp"

#include "locate.hpp"

namespace softbin {
namespace {

constexpr int64_t run_rows = 4096;  // rows located at once: their codes stay in cache while pairs are counted

template <class T>
SOFTBIN_INLINE void find_codes(const ColumnPlan& c, Values<T> values, int64_t n_rows, int32_t* code) {
    alignas(64) T x[tile_rows];
    Faults unused;
    for (int64_t start = 0; start < n_rows; start += tile_rows) {
        const int n = static_cast<int>(std::min<int64_t>(tile_rows, n_rows - start));
        load_tile(values, start, n, x);
        locate(c, x, n, code + start, static_cast<T*>(nullptr), unused);
    }
}

// Why pair by pair: the table of two columns stays in cache while all rows of the run are added to it.
template <class T>
SOFTBIN_INLINE void count_of(const Plan& plan, const Values<T>* columns, int64_t n_rows, const int64_t* weight,
                             int64_t* counts) {
    const size_t n_columns = plan.n_columns();
    std::vector<int32_t> codes(n_columns * run_rows);
    for (int64_t start = 0; start < n_rows; start += run_rows) {
        const int64_t n = std::min(run_rows, n_rows - start);
        for (size_t j = 0; j < n_columns; ++j) {
            auto values = columns[j];
            values.data += start * values.stride;
            find_codes(plan.column(j), values, n, codes.data() + j * run_rows);
        }
        int64_t* table = counts;
        for (size_t j = 0; j < n_columns; ++j) {
            const int32_t* left = codes.data() + j * run_rows;
            for (size_t l = j + 1; l < n_columns; ++l) {
                const int32_t* right = codes.data() + l * run_rows;
                const int64_t width = plan.column(l).none() + 1;
                if (weight) {
                    for (int64_t i = 0; i < n; ++i) table[left[i] * width + right[i]] += weight[start + i];
                } else {
                    for (int64_t i = 0; i < n; ++i) ++table[left[i] * width + right[i]];
                }
                table += (plan.column(j).none() + 1) * width;
            }
        }
    }
}

}  // namespace

int64_t n_pair_cells(const Plan& plan) {
    int64_t cells = 0, before = 0;
    for (size_t j = 0; j < plan.n_columns(); ++j) {
        const int64_t codes = plan.column(j).none() + 1;
        cells += before * codes;
        before += codes;
    }
    return cells;
}

SOFTBIN_CLONES void count_pairs(const Plan& p, const Values<float>* v, int64_t n, const int64_t* w, int64_t* counts) {
    count_of(p, v, n, w, counts);
}
SOFTBIN_CLONES void count_pairs(const Plan& p, const Values<double>* v, int64_t n, const int64_t* w, int64_t* counts) {
    count_of(p, v, n, w, counts);
}

}  // namespace softbin
