// Encodings of a run of rows: one-hot and hats (CSR or dense), ordinal and compact codes.
//
// Every kernel walks tiles: for each column locate the tile, then write its entries. Definitions:
// encodings/one_hot.py, hat.py; codes and fractions are those of locate.py.
#include "encode.hpp"

#include <cstring>

#include "locate.hpp"

namespace softbin {
namespace {

template <class T, class F>
struct Tile {
    alignas(64) T x[tile_rows];
    alignas(64) int32_t level[tile_rows];
    alignas(64) F fraction[tile_rows];
};

// Why: the entries of a tile stay in L1/L2 while the columns take turns to write their share of a row.
SOFTBIN_INLINE int rows_per_tile(int64_t bytes_per_row) {
    const int64_t rows = (24 << 10) / std::max<int64_t>(bytes_per_row, 1);
    return static_cast<int>(std::min<int64_t>(tile_rows, std::max<int64_t>(32, rows / 16 * 16)));
}

template <class T, class Write>
SOFTBIN_INLINE void each_tile(const Plan& plan, const Values<T>* values, int64_t n_rows, int rows, Faults* faults,
                              bool with_fraction, Write write) {
    using F = typename Write::fraction_type;
    Tile<T, F> tile;
    for (int64_t start = 0; start < n_rows; start += rows) {
        const int n = static_cast<int>(std::min<int64_t>(rows, n_rows - start));
        for (size_t j = 0; j < plan.n_columns(); ++j) {
            const ColumnPlan& c = plan.column(j);
            load_tile(values[j], start, n, tile.x);
            const bool alone = locate(c, tile.x, n, tile.level,
                                      with_fraction ? tile.fraction : static_cast<F*>(nullptr), faults[j]);
            write(j, c, start, n, tile.level, tile.fraction, alone);
        }
    }
}

// The two levels a value stands on, in increasing order, and their weights.
template <class F>
struct Pair {
    int32_t first, second;
    F first_weight, second_weight;
};

template <class F>
SOFTBIN_INLINE Pair<F> hat_pair(const ColumnPlan& c, int32_t level, F fraction) {
    if (level == c.none()) return {0, 1, F(0), F(0)};
    if (level >= c.n_regular)  // special or missing: all the weight, beside a stored zero
        return level == 0 ? Pair<F>{0, 1, F(1), F(0)} : Pair<F>{level - 1, level, F(0), F(1)};
    if (c.periodic && level + 1 == c.n_regular && level > 0) return {0, level, fraction, F(1) - fraction};
    return {level, level + 1, F(1) - fraction, fraction};
}

template <class F, class I>
struct WriteHatCsr {
    using fraction_type = F;
    const Plan& plan;
    I* indices;
    F* data;

    SOFTBIN_LAMBDA void operator()(size_t j, const ColumnPlan& c, int64_t start, int n, const int32_t* level,
                                   const F* fraction, bool alone) const {
        const int64_t row = plan.n_entries();
        I* index = indices + start * row + plan.entry_start(j);
        F* weight = data + start * row + plan.entry_start(j);
        const I base = static_cast<I>(plan.level_start(j));
        if (c.n_levels == 0) return;
        if (c.n_levels == 1) {
            for (int i = 0; i < n; ++i) {
                index[i * row] = base;
                weight[i * row] = level[i] == c.none() ? F(0) : F(1);
            }
        } else if (!alone && !c.periodic) {
            for (int i = 0; i < n; ++i) {
                const I pair[2] = {static_cast<I>(base + level[i]), static_cast<I>(base + level[i] + 1)};
                const F weights[2] = {F(1) - fraction[i], fraction[i]};
                std::memcpy(index + i * row, pair, sizeof pair);
                std::memcpy(weight + i * row, weights, sizeof weights);
            }
        } else {
            for (int i = 0; i < n; ++i) {
                const Pair<F> p = hat_pair(c, level[i], fraction[i]);
                index[i * row] = base + p.first;
                index[i * row + 1] = base + p.second;
                weight[i * row] = p.first_weight;
                weight[i * row + 1] = p.second_weight;
            }
        }
    }
};

template <class F>
struct WriteHatDense {
    using fraction_type = F;
    const Plan& plan;
    F* out;

    SOFTBIN_LAMBDA void operator()(size_t j, const ColumnPlan& c, int64_t start, int n, const int32_t* level,
                                   const F* fraction, bool) const {
        const int64_t row = plan.n_levels();
        F* cell = out + start * row + plan.level_start(j);
        for (int i = 0; i < n; ++i) {
            F* at = cell + i * row;
            for (int32_t l = 0; l < c.n_levels; ++l) at[l] = F(0);
            if (level[i] == c.none()) continue;
            if (c.n_levels == 1) {
                at[0] = F(1);
                continue;
            }
            const Pair<F> p = hat_pair(c, level[i], fraction[i]);
            at[p.first] += p.first_weight;
            at[p.second] += p.second_weight;
        }
    }
};

template <class F, class I>
struct WriteOneHotCsr {
    using fraction_type = F;
    const Plan& plan;
    int64_t row;  // columns that have a level at all
    const int64_t* slot;
    I* indices;
    F* data;

    SOFTBIN_LAMBDA void operator()(size_t j, const ColumnPlan& c, int64_t start, int n, const int32_t* level,
                                   const F*, bool) const {
        if (c.n_levels == 0) return;
        I* index = indices + start * row + slot[j];
        F* weight = data + start * row + slot[j];
        const I base = static_cast<I>(plan.level_start(j));
        const int32_t none = c.none();
        for (int i = 0; i < n; ++i) {
            index[i * row] = base + (level[i] == none ? 0 : level[i]);
            weight[i * row] = level[i] == none ? F(0) : F(1);
        }
    }
};

template <class F>
struct WriteOneHotDense {
    using fraction_type = F;
    const Plan& plan;
    F* out;

    SOFTBIN_LAMBDA void operator()(size_t j, const ColumnPlan& c, int64_t start, int n, const int32_t* level,
                                   const F*, bool) const {
        const int64_t row = plan.n_levels();
        F* cell = out + start * row + plan.level_start(j);
        for (int i = 0; i < n; ++i) {
            F* at = cell + i * row;
            for (int32_t l = 0; l < c.n_levels; ++l) at[l] = F(0);
            if (level[i] != c.none()) at[level[i]] = F(1);
        }
    }
};

template <class C>
struct WriteCodes {
    using fraction_type = float;
    int64_t row;
    C* codes;
    float* fractions;  // may be null

    SOFTBIN_LAMBDA void operator()(size_t j, const ColumnPlan&, int64_t start, int n, const int32_t* level,
                                   const float* fraction, bool) const {
        C* code = codes + start * row + j;
        for (int i = 0; i < n; ++i) code[i * row] = static_cast<C>(level[i]);
        if (!fractions) return;
        float* out = fractions + start * row + j;
        for (int i = 0; i < n; ++i) out[i * row] = fraction[i];
    }
};

}  // namespace

// Why macros: target_clones cannot stand on a template, so every combination of types gets a plain
// function that the template is inlined into.
#define DEFINE_CSR(T, F, I)                                                                          \
    SOFTBIN_CLONES void hat_csr(const Plan& plan, const Values<T>* values, int64_t n_rows, I* indices,     \
                                F* data, Faults* faults) {                                                 \
        const int rows = rows_per_tile(plan.n_entries() * (sizeof(I) + sizeof(F)));                        \
        each_tile(plan, values, n_rows, rows, faults, true, WriteHatCsr<F, I>{plan, indices, data});       \
    }                                                                                                      \
    SOFTBIN_CLONES void one_hot_csr(const Plan& plan, const Values<T>* values, int64_t n_rows, I* indices, \
                                    F* data, Faults* faults) {                                             \
        std::vector<int64_t> slot(plan.n_columns());                                                       \
        int64_t row = 0;                                                                                   \
        for (size_t j = 0; j < slot.size(); ++j) {                                                         \
            slot[j] = row;                                                                                 \
            row += plan.column(j).n_levels > 0;                                                            \
        }                                                                                                  \
        each_tile(plan, values, n_rows, rows_per_tile(row * (sizeof(I) + sizeof(F))), faults, false,       \
                  WriteOneHotCsr<F, I>{plan, row, slot.data(), indices, data});                            \
    }

#define DEFINE_DENSE(T, F)                                                                                 \
    SOFTBIN_CLONES void hat_dense(const Plan& plan, const Values<T>* values, int64_t n_rows, F* out,       \
                                  Faults* faults) {                                                        \
        const int rows = rows_per_tile(plan.n_levels() * sizeof(F));                                       \
        each_tile(plan, values, n_rows, rows, faults, true, WriteHatDense<F>{plan, out});                  \
    }                                                                                                      \
    SOFTBIN_CLONES void one_hot_dense(const Plan& plan, const Values<T>* values, int64_t n_rows, F* out,   \
                                      Faults* faults) {                                                    \
        const int rows = rows_per_tile(plan.n_levels() * sizeof(F));                                       \
        each_tile(plan, values, n_rows, rows, faults, false, WriteOneHotDense<F>{plan, out});              \
    }                                                                                                      \
    DEFINE_CSR(T, F, int32_t)                                                                              \
    DEFINE_CSR(T, F, int64_t)

#define DEFINE_CODES(T, C)                                                                                 \
    SOFTBIN_CLONES void codes(const Plan& plan, const Values<T>* values, int64_t n_rows, C* codes,         \
                              float* fractions, Faults* faults) {                                          \
        const int64_t row = static_cast<int64_t>(plan.n_columns());                                        \
        each_tile(plan, values, n_rows, rows_per_tile(row * 5), faults, fractions != nullptr,              \
                  WriteCodes<C>{row, codes, fractions});                                                   \
    }

#define DEFINE_ALL(T)          \
    DEFINE_DENSE(T, float)     \
    DEFINE_DENSE(T, double)    \
    DEFINE_CODES(T, uint8_t)   \
    DEFINE_CODES(T, uint16_t)  \
    DEFINE_CODES(T, uint32_t)

DEFINE_ALL(float)
DEFINE_ALL(double)

}  // namespace softbin
