// Embeddings and their gradient. Columns have rows of the table to themselves, so whoever owns a column adds to its
// rows alone, in the order of the batch: the gradient does not depend on the number of threads.
#include "embed.hpp"

#include "locate.hpp"

namespace softbin {
namespace {

constexpr int embed_rows = 64;  // of a tile: what they become stays in a core's own cache

template <class T>
struct Located {
    alignas(64) T x[embed_rows];
    alignas(64) int32_t level[embed_rows];
    alignas(64) float fraction[embed_rows];
};

// Whether a value is one that no level is for. Such a value has no weight in locate; here it becomes NaN.
template <class T>
SOFTBIN_INLINE bool is_fault(const ColumnPlan& c, T x, int32_t level) {
    if (x != x) return c.missing == missing_is_error;
    if (level >= c.n_regular) return false;
    if (c.outside == Outside::error && !c.periodic && c.n_edges > 0)
        return (static_cast<double>(x) < c.edges[0]) | (static_cast<double>(x) > c.edges[c.n_edges - 1]);
    return (c.outside == Outside::linear || c.periodic) && c.n_edges > 0 && !(x - x == T(0));
}

// Whether the levels of a column have neighbours to mix with.
SOFTBIN_INLINE bool mixes(const ColumnPlan& c) { return c.soft && c.n_edges > 1 && c.n_regular > 1; }

SOFTBIN_INLINE int32_t upper_level(const ColumnPlan& c, int32_t level) {
    return c.periodic && level + 1 == c.n_regular ? 0 : level + 1;
}

template <class T>
SOFTBIN_INLINE void embed_tile(const ColumnPlan& c, const Located<T>& at, int n, bool odd, const float* rows,
                               int64_t dim, int64_t stride, float* out) {
    const bool mix = mixes(c);
    for (int i = 0; i < n; ++i) {
        float* o = out + i * stride;
        const int32_t level = at.level[i];
        if (odd && (level == c.none() || is_fault(c, at.x[i], level))) {
            const float filler = is_fault(c, at.x[i], level) ? std::numeric_limits<float>::quiet_NaN() : 0.0f;
            for (int64_t d = 0; d < dim; ++d) o[d] = filler;
            continue;
        }
        const float* lower = rows + level * dim;
        if (!mix || level >= c.n_regular) {
            for (int64_t d = 0; d < dim; ++d) o[d] = lower[d];
            continue;
        }
        const float* upper = rows + upper_level(c, level) * dim;
        const float b = at.fraction[i], a = 1.0f - b;
        for (int64_t d = 0; d < dim; ++d) o[d] = a * lower[d] + b * upper[d];
    }
}

template <class T>
SOFTBIN_INLINE void gradient_tile(const ColumnPlan& c, const Located<T>& at, int n, bool odd, const float* gradient,
                                  int64_t dim, int64_t stride, float* rows) {
    const bool mix = mixes(c);
    for (int i = 0; i < n; ++i) {
        const float* g = gradient + i * stride;
        const int32_t level = at.level[i];
        if (odd && (level == c.none() || is_fault(c, at.x[i], level))) continue;
        float* lower = rows + level * dim;
        if (!mix || level >= c.n_regular) {
            for (int64_t d = 0; d < dim; ++d) lower[d] += g[d];
            continue;
        }
        float* upper = rows + upper_level(c, level) * dim;
        const float b = at.fraction[i], a = 1.0f - b;
        for (int64_t d = 0; d < dim; ++d) lower[d] += a * g[d];
        for (int64_t d = 0; d < dim; ++d) upper[d] += b * g[d];
    }
}

// Locates a tile; returns whether any of its values may be without a level, or a fault.
template <class T>
SOFTBIN_INLINE bool locate_tile(const ColumnPlan& c, const Values<T>& values, int64_t start, int n, Located<T>& at) {
    Faults faults;
    load_tile(values, start, n, at.x);
    const bool alone = locate(c, at.x, n, at.level, c.soft ? at.fraction : static_cast<float*>(nullptr), faults);
    return alone || c.outside != Outside::clip || c.periodic || c.n_levels == 0;
}

}  // namespace

#define DEFINE_EMBED(T)                                                                                            \
    SOFTBIN_CLONES void embed(const Plan& plan, const Values<T>* values, int64_t n_rows, const float* table,       \
                              int64_t dim, float* out) {                                                           \
        const int64_t stride = static_cast<int64_t>(plan.n_columns()) * dim;                                       \
        Located<T> at;                                                                                             \
        for (int64_t start = 0; start < n_rows; start += embed_rows) {                                             \
            const int n = static_cast<int>(std::min<int64_t>(embed_rows, n_rows - start));                         \
            for (size_t j = 0; j < plan.n_columns(); ++j) {                                                        \
                const ColumnPlan& c = plan.column(j);                                                              \
                const bool odd = locate_tile(c, values[j], start, n, at);                                          \
                embed_tile(c, at, n, odd, table + plan.level_start(j) * dim, dim, stride,                          \
                           out + start * stride + static_cast<int64_t>(j) * dim);                                  \
            }                                                                                                      \
        }                                                                                                          \
    }                                                                                                              \
    SOFTBIN_CLONES void embed_gradient(const Plan& plan, const Values<T>* values, int64_t n_rows,                  \
                                       size_t first_column, size_t last_column, const float* gradient,             \
                                       int64_t dim, float* table_gradient) {                                       \
        const int64_t stride = static_cast<int64_t>(plan.n_columns()) * dim;                                       \
        Located<T> at;                                                                                             \
        for (int64_t start = 0; start < n_rows; start += embed_rows) {                                             \
            const int n = static_cast<int>(std::min<int64_t>(embed_rows, n_rows - start));                         \
            for (size_t j = first_column; j < last_column; ++j) {                                                  \
                const ColumnPlan& c = plan.column(j);                                                              \
                const bool odd = locate_tile(c, values[j], start, n, at);                                          \
                gradient_tile(c, at, n, odd, gradient + start * stride + static_cast<int64_t>(j) * dim, dim,       \
                              stride, table_gradient + plan.level_start(j) * dim);                                 \
            }                                                                                                      \
        }                                                                                                          \
    }

DEFINE_EMBED(float)
DEFINE_EMBED(double)

}  // namespace softbin
