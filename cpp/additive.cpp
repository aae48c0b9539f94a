#include "additive.hpp"

#include <vector>

#include "locate.hpp"

namespace softbin {
namespace {

constexpr int loss_rows = 512;  // rows whose losses are found together

// Why not one size: the codes of a short tile stay in L2 between the way forward and the way back; with very many
// codes a column's tables must stay there instead, while a long tile goes through them.
inline int rows_of_tile(const Plan& plan) { return plan.n_codes() > 8192 ? 16 * loss_rows : loss_rows; }

// The codes and fractions of a tile, column after column, kept between the way forward and the way back.
template <class F>
struct Workspace {
    int rows;
    std::vector<int32_t> code;
    std::vector<F> x, fraction, score;
    std::vector<double> exact, pairs;
    explicit Workspace(const Plan& plan, int n_outputs)
        : rows(rows_of_tile(plan)), code(plan.n_columns() * rows), x(8 * rows), fraction(plan.n_columns() * rows),
          score(static_cast<size_t>(n_outputs) * rows), exact(rows), pairs(2 * rows) {}
};

// A bin's left edge in two parts, and one over its width: fractions without a division, in float32. What has no place
// in a bin has the fraction zero.
struct Place {
    float left, left_rest, inverse;
};

// Whether float32 can invert the widths.
inline bool has_places(const ColumnPlan& c) {
    for (int32_t k = 0; k + 1 < c.n_edges; ++k)
        if (!(c.widths[k] > 1e-30 && c.widths[k] < 1e30)) return false;
    return c.n_edges > 1 && !(c.periodic && c.n_regular < 2);
}

inline std::vector<Place> places_of(const ColumnPlan& c) {
    std::vector<Place> places(c.n_codes());
    for (int32_t k = 0; k + 1 < c.n_edges; ++k) {
        const float left = static_cast<float>(c.edges[k]);
        // Why: a bin may be much narrower than a float32 edge is exact.
        places[k] = {left, static_cast<float>(c.edges[k] - static_cast<double>(left)),
                     static_cast<float>(1.0 / c.widths[k])};
    }
    return places;
}

template <class F>
SOFTBIN_INLINE void place_fractions(const Place* places, bool clamp, const F* x, const int32_t* code, int n,
                                    F* fraction) {
    for (int i = 0; i < n; ++i) {
        const Place& at = places[code[i]];
        fraction[i] = (x[i] - at.left - at.left_rest) * at.inverse;
    }
    for (int i = 0; i < n; ++i) {
        const F t = fraction[i];
        if (clamp)
            fraction[i] = t > F(0) ? (t < F(1) ? t : F(1)) : F(0);
        else
            fraction[i] = t == t ? t : F(0);
    }
}

// Any number of codes: search the bin, look the pieces up, add the residuals one by one.
template <class F>
SOFTBIN_INLINE void locate_codes(const ColumnPlan& c, const Place* places, const F* x, int n, int32_t* code,
                                 F* fraction, Faults& faults) {
    for (int start = 0; start < n; start += tile_rows) {
        const int rows = std::min(tile_rows, n - start);
        F* at = fraction && !places ? fraction + start : nullptr;
        if (!locate(c, x + start, rows, code + start, at, faults)) continue;
        // Levels count knots, codes count bins; what has no level at all has the code of missing.
        const int32_t shift = c.n_bins() - c.n_regular, last = c.n_codes() - 1;
        for (int i = start; i < start + rows; ++i)
            if (code[i] >= c.n_regular) code[i] = std::min(code[i] + shift, last);
    }
    if (fraction && places) place_fractions(places, c.outside != Outside::linear, x, code, n, fraction);
}

template <class F>
SOFTBIN_INLINE void add_scores(const F* value, const F* slope, const int32_t* code, const F* fraction, int n,
                               F* score) {
    if (!fraction) {
        for (int i = 0; i < n; ++i) score[i] += value[code[i]];
        return;
    }
    for (int i = 0; i < n; ++i) score[i] += value[code[i]] + slope[code[i]] * fraction[i];
}

// Why copies: with few codes the next row often stands on the same one, and would wait for the sum before it.
constexpr int n_copies = 4;
constexpr int32_t copied_codes = 128;

SOFTBIN_INLINE void add_pair(const double* pair, double* at) {
    const double first = at[0] + pair[0], second = at[1] + pair[1];
    at[0] = first;
    at[1] = second;
}

// Why in double already: the same residuals are added for every column. `pairs` has room for two numbers a row.
template <class F>
SOFTBIN_INLINE void add_residuals(const int32_t* code, const F* fraction, const F* residual, const double* exact,
                                  int n, int32_t n_codes, double* pairs, double* sums) {
    if (fraction) {
        for (int i = 0; i < n; ++i) {
            pairs[2 * i] = exact[i];
            pairs[2 * i + 1] = static_cast<double>(residual[i] * fraction[i]);
        }
    }
    if (n_codes > copied_codes) {
        if (fraction)
            for (int i = 0; i < n; ++i) add_pair(pairs + 2 * i, sums + 2 * code[i]);
        else
            for (int i = 0; i < n; ++i) sums[2 * code[i]] += exact[i];
        return;
    }
    double copies[n_copies][2 * copied_codes];
    for (int q = 0; q < n_copies; ++q)
        for (int32_t k = 0; k < 2 * n_codes; ++k) copies[q][k] = 0.0;
    const int whole = n - n % n_copies;
    for (int i = 0; i < whole; i += n_copies) {
        for (int q = 0; q < n_copies; ++q) {
            double* at = copies[q] + 2 * code[i + q];
            if (fraction) {
                add_pair(pairs + 2 * (i + q), at);
            } else {
                at[0] += exact[i + q];
            }
        }
    }
    for (int i = whole; i < n; ++i) {
        copies[0][2 * code[i]] += exact[i];
        if (fraction) copies[0][2 * code[i] + 1] += pairs[2 * i + 1];
    }
    for (int32_t k = 0; k < 2 * n_codes; ++k)
        sums[k] += (copies[0][k] + copies[1][k]) + (copies[2][k] + copies[3][k]);
}

#if defined(__GNUC__) && !defined(__clang__)
#define SOFTBIN_HAS_LANES

// Few codes, float32: sixteen rows side by side; the pieces of a column fit a register, so a lookup is a shuffle.
constexpr int lanes = 16;
constexpr int few_codes = 16;
typedef float Floats __attribute__((vector_size(4 * lanes)));
typedef int32_t Ints __attribute__((vector_size(4 * lanes)));
// Trap: arrays are aligned to their numbers, not to the lanes.
typedef float FloatsInMemory __attribute__((vector_size(4 * lanes), aligned(4), may_alias));
typedef int32_t IntsInMemory __attribute__((vector_size(4 * lanes), aligned(4), may_alias));

bool machine_shuffles() {
#if defined(__x86_64__)
    static const bool wide = __builtin_cpu_supports("avx512f");
    return wide;
#else
    return false;
#endif
}

SOFTBIN_INLINE Floats table_of(const float* entries, int n) {
    Floats table = {};
    for (int i = 0; i < n; ++i) table[i] = entries[i];
    return table;
}

template <bool wide>
SOFTBIN_INLINE Floats look_up(const Floats& table, const Ints& at) {
    if constexpr (wide) {
        return __builtin_shuffle(table, at);
    } else {
        Floats found;
        for (int l = 0; l < lanes; ++l) found[l] = table[at[l]];
        return found;
    }
}

struct FewColumn {
    Floats left, left_rest, inverse;  // a bin's left edge in two parts, and one over its width
    int32_t n_cuts, missing;
    float cuts[few_codes];
    float lowest, highest;  // fraction

    explicit FewColumn(const ColumnPlan& c) : left{}, left_rest{}, inverse{} {
        n_cuts = c.n_cuts();
        missing = c.n_codes() - 1;
        lowest = c.outside == Outside::linear ? -INFINITY : 0.0f;
        highest = c.outside == Outside::linear ? INFINITY : 1.0f;
        for (int32_t k = 0; k < n_cuts; ++k) cuts[k] = c.cuts(float())[k];
        const std::vector<Place> places = places_of(c);
        for (int32_t k = 0; k < c.n_codes(); ++k) {
            left[k] = places[k].left;
            left_rest[k] = places[k].left_rest;
            inverse[k] = places[k].inverse;
        }
    }
};

// Whether sixteen lanes can do this column: no special codes to compare with, a width float32 can invert.
inline bool is_few(const ColumnPlan& c) {
    if (c.n_codes() > few_codes || c.n_special > 0 || c.n_edges == 0 || c.outside == Outside::error) return false;
    for (int32_t k = 0; k + 1 < c.n_edges; ++k)
        if (!(c.widths[k] > 1e-30 && c.widths[k] < 1e30)) return false;
    return true;
}

// Rows behind n are computed too, up to a whole number of lanes: buffers have room, nobody reads them.
template <bool wide>
SOFTBIN_INLINE void few_locate(const FewColumn& c, const float* x, int n, int32_t* code, float* fraction) {
    constexpr int step = 4;
    for (int i = 0; i < n; i += step * lanes) {
        Floats v[step];
        Ints k[step];
        for (int u = 0; u < step; ++u) {
            v[u] = *reinterpret_cast<const FloatsInMemory*>(x + i + u * lanes);
            k[u] = Ints{};
        }
        for (int32_t q = 0; q < c.n_cuts; ++q) {
            const float cut = c.cuts[q];
            for (int u = 0; u < step; ++u) k[u] -= v[u] >= cut;  // a lane that holds counts as -1
        }
        for (int u = 0; u < step; ++u) {
            const Ints bin = v[u] == v[u] ? k[u] : c.missing - Ints{};
            const Floats known = v[u] == v[u] ? v[u] : Floats{};
            Floats t = (known - look_up<wide>(c.left, bin) - look_up<wide>(c.left_rest, bin)) *
                       look_up<wide>(c.inverse, bin);
            t = t > c.lowest ? t : c.lowest - Floats{};
            t = t < c.highest ? t : c.highest - Floats{};
            *reinterpret_cast<IntsInMemory*>(code + i + u * lanes) = bin;
            *reinterpret_cast<FloatsInMemory*>(fraction + i + u * lanes) = t;
        }
    }
}

template <bool wide>
SOFTBIN_INLINE void few_scores(const Floats& value, const Floats& slope, const int32_t* code, const float* fraction,
                               int n, float* score) {
    for (int i = 0; i < n; i += lanes) {
        const Ints k = *reinterpret_cast<const IntsInMemory*>(code + i);
        const Floats t = *reinterpret_cast<const FloatsInMemory*>(fraction + i);
        *reinterpret_cast<FloatsInMemory*>(score + i) += look_up<wide>(value, k) + look_up<wide>(slope, k) * t;
    }
}

SOFTBIN_INLINE double sum_lanes(Floats v) {
    v += __builtin_shuffle(v, Ints{8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7});
    v += __builtin_shuffle(v, Ints{4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11});
    v += __builtin_shuffle(v, Ints{2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13});
    return static_cast<double>(v[0] + v[1]);
}

// Trap: residuals behind n must be zero, they are added too.
template <bool wide>
SOFTBIN_INLINE void few_residuals(const int32_t* code, const float* fraction, const float* residual, int n,
                                  int32_t n_codes, double* sums) {
    constexpr int group = wide ? 6 : 4;  // as many as there are registers for
    for (int32_t first = 0; first < n_codes; first += group) {
        Floats plain[group] = {}, scaled[group] = {};
        for (int i = 0; i < n; i += lanes) {
            const Ints k = *reinterpret_cast<const IntsInMemory*>(code + i) - first;
            const Floats r = *reinterpret_cast<const FloatsInMemory*>(residual + i);
            const Floats rt = r * *reinterpret_cast<const FloatsInMemory*>(fraction + i);
            for (int g = 0; g < group; ++g) {
                plain[g] = k == g ? plain[g] + r : plain[g];
                scaled[g] = k == g ? scaled[g] + rt : scaled[g];
            }
        }
        for (int g = 0; g < group && first + g < n_codes; ++g) {
            sums[2 * (first + g)] += sum_lanes(plain[g]);
            sums[2 * (first + g) + 1] += sum_lanes(scaled[g]);
        }
    }
}
#endif

constexpr size_t side_by_side = 8;

// Whether eight columns lie side by side in memory, rows together: then they are read together.
template <class F>
inline bool lie_side_by_side(const Values<F>* values) {
    for (size_t j = 1; j < side_by_side; ++j)
        if (values[j].stride != values[0].stride || values[j].data != values[0].data + j) return false;
    return values[0].stride > 1;
}

#ifdef SOFTBIN_HAS_LANES
typedef float Eight __attribute__((vector_size(32)));
typedef int32_t EightInts __attribute__((vector_size(32)));
typedef float EightInMemory __attribute__((vector_size(32), aligned(4), may_alias));

// Eight rows of eight columns become eight columns of eight rows: pairs, then fours, then halves change places.
SOFTBIN_INLINE void transpose(const float* data, int64_t stride, int rows, float* x) {
    Eight a[8], b[8];
    for (int r = 0; r < 8; ++r) a[r] = *reinterpret_cast<const EightInMemory*>(data + r * stride);
    for (int r = 0; r < 8; r += 2) {
        b[r] = __builtin_shuffle(a[r], a[r + 1], EightInts{0, 8, 1, 9, 4, 12, 5, 13});
        b[r + 1] = __builtin_shuffle(a[r], a[r + 1], EightInts{2, 10, 3, 11, 6, 14, 7, 15});
    }
    for (int r = 0; r < 8; r += 4) {
        for (int h = 0; h < 2; ++h) {
            a[r + 2 * h] = __builtin_shuffle(b[r + h], b[r + 2 + h], EightInts{0, 1, 8, 9, 4, 5, 12, 13});
            a[r + 2 * h + 1] = __builtin_shuffle(b[r + h], b[r + 2 + h], EightInts{2, 3, 10, 11, 6, 7, 14, 15});
        }
    }
    for (int r = 0; r < 4; ++r) {
        *reinterpret_cast<EightInMemory*>(x + r * rows) =
            __builtin_shuffle(a[r], a[r + 4], EightInts{0, 1, 2, 3, 8, 9, 10, 11});
        *reinterpret_cast<EightInMemory*>(x + (r + 4) * rows) =
            __builtin_shuffle(a[r], a[r + 4], EightInts{4, 5, 6, 7, 12, 13, 14, 15});
    }
}
#endif

// Copies a run of rows of eight columns side by side into eight runs, `rows` numbers apart.
template <class F>
SOFTBIN_INLINE void load_side_by_side(const Values<F>& values, int64_t start, int n, int rows, F* x) {
    const F* data = values.data + start * values.stride;
    int i = 0;
#ifdef SOFTBIN_HAS_LANES
    if constexpr (sizeof(F) == 4)
        for (; i + 8 <= n; i += 8) transpose(data + i * values.stride, values.stride, rows, x + i);
#endif
    for (; i < n; ++i)
        for (size_t j = 0; j < side_by_side; ++j) x[j * rows + i] = data[i * values.stride + j];
}

template <class F, bool wide>
struct Block {
    const Plan& plan;
    const Values<F>* values;
    const Pieces<F>& pieces;
    Workspace<F> space;
    std::vector<Faults> faults;
    std::vector<std::vector<Place>> places;  // empty: fractions in double
    size_t loaded = 0, n_loaded = 0;         // the columns whose rows stand in space.x
#ifdef SOFTBIN_HAS_LANES
    std::vector<FewColumn> few;
    std::vector<int32_t> few_at;  // -1: the general way
    std::vector<Floats> tables;   // of every output and few column, values and slopes
#endif

    Block(const Plan& plan_, const Values<F>* values_, const Pieces<F>& pieces_)
        : plan(plan_), values(values_), pieces(pieces_), space(plan_, pieces_.n_outputs), faults(plan_.n_columns()),
          places(plan_.n_columns()) {
        if constexpr (sizeof(F) == 4) {
            for (size_t j = 0; j < plan.n_columns(); ++j)
                if (plan.column(j).soft && has_places(plan.column(j))) places[j] = places_of(plan.column(j));
        }
#ifdef SOFTBIN_HAS_LANES
        if constexpr (sizeof(F) == 4) {
            few_at.assign(plan.n_columns(), -1);
            for (size_t j = 0; j < plan.n_columns(); ++j) {
                if (!is_few(plan.column(j))) continue;
                few_at[j] = static_cast<int32_t>(few.size());
                few.emplace_back(plan.column(j));
            }
            for (int k = 0; k < pieces.n_outputs; ++k) {
                for (size_t j = 0; j < plan.n_columns(); ++j) {
                    if (few_at[j] < 0) continue;
                    const int64_t row = k * plan.n_codes() + plan.code_start(j);
                    tables.push_back(table_of(pieces.value + row, plan.column(j).n_codes()));
                    tables.push_back(table_of(pieces.slope + row, plan.column(j).n_codes()));
                }
            }
        }
#endif
    }

    SOFTBIN_LAMBDA bool is_few_column(size_t j) const {
#ifdef SOFTBIN_HAS_LANES
        if constexpr (sizeof(F) == 4) return few_at[j] >= 0;
#endif
        (void)j;
        return false;
    }

    // Hard bins need no fractions, except where lanes compute them anyway.
    SOFTBIN_LAMBDA F* fractions_of(size_t j) {
        const bool needed = plan.column(j).soft || is_few_column(j);
        return needed ? space.fraction.data() + j * space.rows : nullptr;
    }

    // A run of rows of one column, contiguous, with room for whole lanes.
    SOFTBIN_LAMBDA const F* load(size_t j, int64_t start, int n) {
        const int rows = space.rows;
        if (j < loaded || j >= loaded + n_loaded) {
            const size_t n_columns = plan.n_columns();
            // Why not from j on: the last columns are fewer than eight, so some are read again with them.
            loaded = n_columns < side_by_side ? j : std::min(j, n_columns - side_by_side);
            n_loaded = n_columns >= side_by_side && lie_side_by_side(values + loaded) ? side_by_side : 1;
            if (n_loaded > 1) {
                load_side_by_side(values[loaded], start, n, rows, space.x.data());
            } else {
                loaded = j;
                load_tile(values[j], start, n, space.x.data());
            }
        }
        F* x = space.x.data() + (j - loaded) * rows;
        for (int i = n; i % 64 != 0; ++i) x[i] = F(0);
        return x;
    }

    // Why: while a tile is worked on the memory idles. Every column asks for its share of the next tile.
    SOFTBIN_LAMBDA void ask_for_next(size_t j, int64_t next, int n) const {
#if defined(__GNUC__) || defined(__clang__)
        constexpr int line = 64 / sizeof(F);
        if (values[j].stride == 1) {
            for (int i = 0; i < n; i += line) __builtin_prefetch(values[j].data + next + i, 0, 2);
        } else if (n_loaded > 1) {
            const int n_columns = static_cast<int>(plan.n_columns()), k = static_cast<int>(j);
            for (int i = n * k / n_columns; i < n * (k + 1) / n_columns; ++i)
                for (int c = 0; c < n_columns; c += line)
                    __builtin_prefetch(values[c].data + (next + i) * values[c].stride, 0, 2);
        }
#endif
    }

    template <bool counts_faults>
    SOFTBIN_LAMBDA void forward(int64_t start, int n, int64_t n_rows) {
        n_loaded = 0;
        const int n_next = static_cast<int>(std::clamp<int64_t>(n_rows - start - n, 0, space.rows));
        F* score = space.score.data();
        const int rows = space.rows;
        for (int k = 0; k < pieces.n_outputs; ++k)
            for (int i = 0; i < rows; ++i) score[k * rows + i] = pieces.intercept[k];
        for (size_t j = 0; j < plan.n_columns(); ++j) {
            const ColumnPlan& c = plan.column(j);
            int32_t* code = space.code.data() + j * space.rows;
            F* fraction = fractions_of(j);
            const F* x = load(j, start, n);
            ask_for_next(j, start + n, n_next);
            const int64_t at = plan.code_start(j);
            if (is_few_column(j)) {
#ifdef SOFTBIN_HAS_LANES
                if constexpr (sizeof(F) == 4) {
                    few_locate<wide>(few[few_at[j]], x, n, code, fraction);
                    if (counts_faults) count_faults(c, x, n, faults[j]);
                    for (int k = 0; k < pieces.n_outputs; ++k) {
                        const Floats* table = tables.data() + 2 * (k * few.size() + few_at[j]);
                        few_scores<wide>(table[0], table[1], code, fraction, n, score + k * space.rows);
                    }
                }
#endif
                continue;
            }
            const Place* at_places = places[j].empty() ? nullptr : places[j].data();
            locate_codes(c, at_places, x, n, code, fraction, faults[j]);
            for (int k = 0; k < pieces.n_outputs; ++k) {
                const int64_t row = k * plan.n_codes() + at;
                add_scores(pieces.value + row, pieces.slope + row, code, fraction, n, score + k * space.rows);
            }
        }
    }

    SOFTBIN_LAMBDA void backward(int n, double* sums) {
        const int64_t row = 2 * (plan.n_codes() + 1);
        for (int k = 0; k < pieces.n_outputs; ++k) {
            F* residual = space.score.data() + k * space.rows;
            for (int i = n; i % 64 != 0; ++i) residual[i] = F(0);
            double total = 0.0;
            double* exact = space.exact.data();
            for (int i = 0; i < n; ++i) exact[i] = static_cast<double>(residual[i]);
            for (int i = 0; i < n; ++i) total += exact[i];
            sums[k * row + 2 * plan.n_codes()] += total;
            for (size_t j = 0; j < plan.n_columns(); ++j) {
                const int32_t* code = space.code.data() + j * space.rows;
                const F* fraction = fractions_of(j);
                double* at = sums + k * row + 2 * plan.code_start(j);
#ifdef SOFTBIN_HAS_LANES
                if constexpr (sizeof(F) == 4) {
                    if (is_few_column(j)) {
                        few_residuals<wide>(code, fraction, residual, n, plan.column(j).n_codes(), at);
                        continue;
                    }
                }
#endif
                add_residuals(code, fraction, residual, exact, n, plan.column(j).n_codes(), space.pairs.data(), at);
            }
        }
    }

    // What the lanes passed over: missing values where there may be none, infinities on an end slope or a circle.
    SOFTBIN_LAMBDA static void count_faults(const ColumnPlan& c, const F* x, int n, Faults& found) {
        int odd = 0;
        for (int i = 0; i < n; ++i) odd |= !(x[i] - x[i] == F(0));
        if (!odd) return;
        for (int i = 0; i < n; ++i) {
            found.missing += x[i] != x[i] && c.missing == missing_is_error;
            found.outside += x[i] == x[i] && !(x[i] - x[i] == F(0)) && (c.outside == Outside::linear || c.periodic);
        }
    }
};

template <class F, bool wide>
SOFTBIN_INLINE void scores_of(const Plan& plan, const Values<F>* values, int64_t n_rows, const Pieces<F>& pieces,
                              F* scores, Faults* faults) {
    Block<F, wide> block(plan, values, pieces);
    const int n_outputs = pieces.n_outputs, rows = block.space.rows;
    for (int64_t start = 0; start < n_rows; start += rows) {
        const int n = static_cast<int>(std::min<int64_t>(rows, n_rows - start));
        block.template forward<true>(start, n, n_rows);
        for (int k = 0; k < n_outputs; ++k)
            for (int i = 0; i < n; ++i) scores[(start + i) * n_outputs + k] = block.space.score[k * rows + i];
    }
    for (size_t j = 0; j < plan.n_columns(); ++j) faults[j] = block.faults[j];
}

template <class F, bool wide>
SOFTBIN_INLINE double pass_of(const Plan& plan, const Values<F>* values, int64_t n_rows, const Pieces<F>& pieces,
                              Family family, const F* y, const F* weight, double* sums) {
    Block<F, wide> block(plan, values, pieces);
    const int rows = block.space.rows;
    double loss = 0.0;
    for (int64_t start = 0; start < n_rows; start += rows) {
        const int n = static_cast<int>(std::min<int64_t>(rows, n_rows - start));
        block.template forward<false>(start, n, n_rows);
        for (int part = 0; part < n; part += loss_rows)
            loss += residuals<F, loss_rows>(family, block.space.score.data() + part, pieces.n_outputs, rows,
                                            y + start + part, weight ? weight + start + part : nullptr,
                                            std::min(loss_rows, n - part));
        block.backward(n, sums);
    }
    return loss;
}

}  // namespace

#ifdef SOFTBIN_HAS_LANES
SOFTBIN_CLONES static void scores_wide(const Plan& plan, const Values<float>* values, int64_t n,
                                       const Pieces<float>& pieces, float* scores, Faults* faults) {
    scores_of<float, true>(plan, values, n, pieces, scores, faults);
}
SOFTBIN_CLONES static double pass_wide(const Plan& plan, const Values<float>* values, int64_t n,
                                       const Pieces<float>& pieces, Family family, const float* y,
                                       const float* weight, double* sums) {
    return pass_of<float, true>(plan, values, n, pieces, family, y, weight, sums);
}
#endif
SOFTBIN_CLONES static void scores_narrow(const Plan& plan, const Values<float>* values, int64_t n,
                                         const Pieces<float>& pieces, float* scores, Faults* faults) {
    scores_of<float, false>(plan, values, n, pieces, scores, faults);
}
SOFTBIN_CLONES static double pass_narrow(const Plan& plan, const Values<float>* values, int64_t n,
                                         const Pieces<float>& pieces, Family family, const float* y,
                                         const float* weight, double* sums) {
    return pass_of<float, false>(plan, values, n, pieces, family, y, weight, sums);
}

void additive_scores(const Plan& plan, const Values<float>* values, int64_t n, const Pieces<float>& pieces,
                     float* scores, Faults* faults) {
#ifdef SOFTBIN_HAS_LANES
    if (machine_shuffles()) return scores_wide(plan, values, n, pieces, scores, faults);
#endif
    scores_narrow(plan, values, n, pieces, scores, faults);
}

double additive_pass(const Plan& plan, const Values<float>* values, int64_t n, const Pieces<float>& pieces,
                     Family family, const float* y, const float* weight, double* sums) {
#ifdef SOFTBIN_HAS_LANES
    if (machine_shuffles()) return pass_wide(plan, values, n, pieces, family, y, weight, sums);
#endif
    return pass_narrow(plan, values, n, pieces, family, y, weight, sums);
}

SOFTBIN_CLONES void additive_scores(const Plan& plan, const Values<double>* values, int64_t n,
                                    const Pieces<double>& pieces, double* scores, Faults* faults) {
    scores_of<double, false>(plan, values, n, pieces, scores, faults);
}

SOFTBIN_CLONES double additive_pass(const Plan& plan, const Values<double>* values, int64_t n,
                                    const Pieces<double>& pieces, Family family, const double* y,
                                    const double* weight, double* sums) {
    return pass_of<double, false>(plan, values, n, pieces, family, y, weight, sums);
}

// Why pair by pair: the block of two columns stays in cache while all rows are added to it.
void gram(const uint32_t* left, const uint32_t* right, const float* fraction, int64_t n_columns, int64_t n_rows,
          const double* weight, int64_t first_column, int64_t last_column, int64_t size, double* out) {
    std::vector<bool> whole(n_columns);  // no row stands on two levels
    for (int64_t j = first_column; j < n_columns; ++j) {
        const float* f = fraction + j * n_rows;
        whole[j] = std::all_of(f, f + n_rows, [](float share) { return share == 0.0f; });
    }
    for (int64_t j = first_column; j < last_column; ++j) {
        for (int64_t l = j; l < n_columns; ++l) {
            if (whole[j] && whole[l]) {
                for (int64_t i = 0; i < n_rows; ++i)
                    out[left[j * n_rows + i] * size + left[l * n_rows + i]] += weight[i];
                continue;
            }
            for (int64_t i = 0; i < n_rows; ++i) {
                const int64_t a = j * n_rows + i, b = l * n_rows + i;
                const double w1 = weight[i] * fraction[a], w0 = weight[i] - w1;
                const double f1 = fraction[b], f0 = 1.0 - f1;
                double* top = out + left[a] * size;
                double* bottom = out + right[a] * size;
                top[left[b]] += w0 * f0;
                top[right[b]] += w0 * f1;
                bottom[left[b]] += w1 * f0;
                bottom[right[b]] += w1 * f1;
            }
        }
    }
}

}  // namespace softbin
