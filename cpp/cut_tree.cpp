#include "cut_tree.hpp"

#include <limits>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define SOFTBIN_HAS_CUT_TREES
#include <immintrin.h>
#endif

namespace softbin {

#ifdef SOFTBIN_HAS_CUT_TREES
namespace {

constexpr int most_levels = 8, side_by_side = 8;

// Why not target_clones: these are AVX-512 instructions by name.
#define SOFTBIN_WIDE __attribute__((target("avx512f,popcnt")))
#define SOFTBIN_WIDE_INLINE SOFTBIN_WIDE inline __attribute__((always_inline))

SOFTBIN_WIDE_INLINE int64_t at_or_below(const float* node, float x) {
    return _mm_popcnt_u32(_mm512_cmp_ps_mask(_mm512_set1_ps(x), _mm512_load_ps(node), _CMP_GE_OQ));
}
SOFTBIN_WIDE_INLINE int64_t at_or_below(const double* node, double x) {
    return _mm_popcnt_u32(_mm512_cmp_pd_mask(_mm512_set1_pd(x), _mm512_load_pd(node), _CMP_GE_OQ));
}

// Why side by side: every comparison waits for the one before it, those of other values do not.
template <class T, int n_levels>
SOFTBIN_WIDE void descend(const T* const* level, const T* x, int n, int32_t* found) {
    constexpr int width = CutTree<T>::width;
    int i = 0;
    for (; i + side_by_side <= n; i += side_by_side) {
        int64_t at[side_by_side] = {};
#pragma GCC unroll 8
        for (int l = 0; l < n_levels; ++l) {
#pragma GCC unroll 8
            for (int u = 0; u < side_by_side; ++u)
                at[u] = at[u] * width + at_or_below(level[l] + at[u] * width, x[i + u]);
        }
#pragma GCC unroll 8
        for (int u = 0; u < side_by_side; ++u) found[i + u] = static_cast<int32_t>(at[u]);
    }
    for (; i < n; ++i) {
        int64_t at = 0;
        for (int l = 0; l < n_levels; ++l) at = at * width + at_or_below(level[l] + at * width, x[i]);
        found[i] = static_cast<int32_t>(at);
    }
}

}  // namespace
#endif

template <class T>
CutTree<T>::CutTree(const T* cuts, int32_t n_cuts) {
#ifdef SOFTBIN_HAS_CUT_TREES
    static const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("popcnt");
    if (!wide || n_cuts < 1) return;
    constexpr T none = std::numeric_limits<T>::quiet_NaN();
    int64_t behind = 1;  // cuts below one child of a node
    for (int64_t n_nodes = n_cuts; n_nodes > 1 || levels_.empty(); behind *= width) {
        n_nodes = (n_nodes + width - 1) / width;
        std::vector<Node> nodes(n_nodes);
        for (int64_t i = 0; i < n_nodes; ++i) {
            for (int64_t k = 0; k < width; ++k) {
                const int64_t first = (i * width + k) * behind;
                nodes[i].entry[k] = first < n_cuts && (k > 0 || behind == 1) ? cuts[first] : none;
            }
        }
        levels_.insert(levels_.begin(), std::move(nodes));
    }
    if (levels_.size() > most_levels) levels_.clear();
#else
    (void)cuts;
    (void)n_cuts;
#endif
}

template <class T>
void CutTree<T>::count(const T* x, int n, int32_t* found) const {
#ifdef SOFTBIN_HAS_CUT_TREES
    const T* level[most_levels];
    for (size_t l = 0; l < levels_.size(); ++l) level[l] = levels_[l].data()->entry;
    switch (levels_.size()) {
        case 1: return descend<T, 1>(level, x, n, found);
        case 2: return descend<T, 2>(level, x, n, found);
        case 3: return descend<T, 3>(level, x, n, found);
        case 4: return descend<T, 4>(level, x, n, found);
        case 5: return descend<T, 5>(level, x, n, found);
        case 6: return descend<T, 6>(level, x, n, found);
        case 7: return descend<T, 7>(level, x, n, found);
        default: return descend<T, 8>(level, x, n, found);
    }
#else
    (void)x;
    (void)n;
    (void)found;
#endif
}

template class CutTree<float>;
template class CutTree<double>;

}  // namespace softbin
