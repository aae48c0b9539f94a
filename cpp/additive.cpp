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
    explicit Workspace(const Plan& plan, int n_outputs)
        : rows(rows_of_tile(plan)), code(plan.n_columns() * rows), x(rows), fraction(plan.n_columns() * rows),
          score(static_cast<size_t>(n_outputs) * rows) {}
};

// Any number of codes: search the bin, look the pieces up, add the residuals one by one.
template <class F>
SOFTBIN_INLINE void locate_codes(const ColumnPlan& c, const F* x, int n, int32_t* code, F* fraction, Faults& faults) {
    for (int start = 0; start < n; start += tile_rows) {
        const int rows = std::min(tile_rows, n - start);
        F* at = fraction ? fraction + start : nullptr;
        if (!locate(c, x + start, rows, code + start, at, faults)) continue;
        // Levels count knots, codes count bins; what has no level at all has the code of missing.
        const int32_t shift = c.n_bins() - c.n_regular, last = c.n_codes() - 1;
        for (int i = start; i < start + rows; ++i)
            if (code[i] >= c.n_regular) code[i] = std::min(code[i] + shift, last);
    }
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

template <class F>
SOFTBIN_INLINE void add_residuals(const int32_t* code, const F* fraction, const F* residual, int n, double* sums) {
    if (!fraction) {
        for (int i = 0; i < n; ++i) sums[2 * code[i]] += static_cast<double>(residual[i]);
        return;
    }
    for (int i = 0; i < n; ++i) {
        double* at = sums + 2 * code[i];
        at[0] += static_cast<double>(residual[i]);
        at[1] += static_cast<double>(residual[i] * fraction[i]);
    }
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
    bool clamp;

    explicit FewColumn(const ColumnPlan& c) : left{}, left_rest{}, inverse{} {
        n_cuts = c.n_cuts();
        missing = c.n_codes() - 1;
        clamp = c.outside != Outside::linear;
        for (int32_t k = 0; k < n_cuts; ++k) cuts[k] = c.cuts(float())[k];
        for (int32_t k = 0; k + 1 < c.n_edges; ++k) {
            left[k] = static_cast<float>(c.edges[k]);
            // Why: a bin may be much narrower than a float32 edge is exact.
            left_rest[k] = static_cast<float>(c.edges[k] - static_cast<double>(left[k]));
            inverse[k] = static_cast<float>(1.0 / c.widths[k]);
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
            Floats t = (v[u] - look_up<wide>(c.left, bin) - look_up<wide>(c.left_rest, bin)) *
                       look_up<wide>(c.inverse, bin);
            if (c.clamp) {
                t = t > 0.0f ? t : Floats{};
                t = t < 1.0f ? t : 1.0f - Floats{};
            } else {
                t = t == t ? t : Floats{};
            }
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

SOFTBIN_INLINE double sum_lanes(const Floats& v) {
    float part[8], quarter[4];
    for (int l = 0; l < 8; ++l) part[l] = v[l] + v[l + 8];
    for (int l = 0; l < 4; ++l) quarter[l] = part[l] + part[l + 4];
    return static_cast<double>((quarter[0] + quarter[2]) + (quarter[1] + quarter[3]));
}

// Trap: residuals behind n must be zero, they are added too.
SOFTBIN_INLINE void few_residuals(const int32_t* code, const float* fraction, const float* residual, int n,
                                  int32_t n_codes, double* sums) {
    constexpr int group = 4;
    for (int32_t first = 0; first < n_codes; first += group) {
        Floats plain[group] = {}, scaled[group] = {};
        for (int i = 0; i < n; i += lanes) {
            const Ints k = *reinterpret_cast<const IntsInMemory*>(code + i) - first;
            const Floats r = *reinterpret_cast<const FloatsInMemory*>(residual + i);
            const Floats rt = r * *reinterpret_cast<const FloatsInMemory*>(fraction + i);
            for (int g = 0; g < group; ++g) {
                plain[g] += k == g ? r : Floats{};
                scaled[g] += k == g ? rt : Floats{};
            }
        }
        for (int g = 0; g < group && first + g < n_codes; ++g) {
            sums[2 * (first + g)] += sum_lanes(plain[g]);
            sums[2 * (first + g) + 1] += sum_lanes(scaled[g]);
        }
    }
}
#endif

// A run of rows of one column, contiguous, with room for whole lanes.
template <class F>
SOFTBIN_INLINE void load_rows(const Values<F>& values, int64_t start, int n, F* x) {
    load_tile(values, start, n, x);
    for (int i = n; i % 64 != 0; ++i) x[i] = F(0);
}

template <class F, bool wide>
struct Block {
    const Plan& plan;
    const Values<F>* values;
    const Pieces<F>& pieces;
    Workspace<F> space;
    std::vector<Faults> faults;
#ifdef SOFTBIN_HAS_LANES
    std::vector<FewColumn> few;
    std::vector<int32_t> few_at;  // -1: the general way
#endif

    Block(const Plan& plan_, const Values<F>* values_, const Pieces<F>& pieces_)
        : plan(plan_), values(values_), pieces(pieces_), space(plan_, pieces_.n_outputs), faults(plan_.n_columns()) {
#ifdef SOFTBIN_HAS_LANES
        if constexpr (sizeof(F) == 4) {
            few_at.assign(plan.n_columns(), -1);
            for (size_t j = 0; j < plan.n_columns(); ++j) {
                if (!is_few(plan.column(j))) continue;
                few_at[j] = static_cast<int32_t>(few.size());
                few.emplace_back(plan.column(j));
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

    SOFTBIN_LAMBDA void forward(int64_t start, int n) {
        F* x = space.x.data();
        F* score = space.score.data();
        const int rows = space.rows;
        for (int k = 0; k < pieces.n_outputs; ++k)
            for (int i = 0; i < rows; ++i) score[k * rows + i] = pieces.intercept[k];
        for (size_t j = 0; j < plan.n_columns(); ++j) {
            const ColumnPlan& c = plan.column(j);
            int32_t* code = space.code.data() + j * space.rows;
            F* fraction = fractions_of(j);
            load_rows(values[j], start, n, x);
            const int64_t at = plan.code_start(j);
            if (is_few_column(j)) {
#ifdef SOFTBIN_HAS_LANES
                if constexpr (sizeof(F) == 4) {
                    few_locate<wide>(few[few_at[j]], x, n, code, fraction);
                    count_faults(c, x, n, faults[j]);
                    for (int k = 0; k < pieces.n_outputs; ++k) {
                        const int64_t row = k * plan.n_codes() + at;
                        few_scores<wide>(table_of(pieces.value + row, c.n_codes()),
                                         table_of(pieces.slope + row, c.n_codes()), code, fraction, n,
                                         score + k * space.rows);
                    }
                }
#endif
                continue;
            }
            locate_codes(c, x, n, code, fraction, faults[j]);
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
            for (int i = 0; i < n; ++i) total += static_cast<double>(residual[i]);
            sums[k * row + 2 * plan.n_codes()] += total;
            for (size_t j = 0; j < plan.n_columns(); ++j) {
                const int32_t* code = space.code.data() + j * space.rows;
                const F* fraction = fractions_of(j);
                double* at = sums + k * row + 2 * plan.code_start(j);
#ifdef SOFTBIN_HAS_LANES
                if constexpr (sizeof(F) == 4) {
                    if (is_few_column(j)) {
                        few_residuals(code, fraction, residual, n, plan.column(j).n_codes(), at);
                        continue;
                    }
                }
#endif
                add_residuals(code, fraction, residual, n, at);
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
        block.forward(start, n);
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
        block.forward(start, n);
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
    for (int64_t j = first_column; j < last_column; ++j) {
        for (int64_t l = j; l < n_columns; ++l) {
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
