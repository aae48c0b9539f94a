// Where a value falls: its level, and how far into the bin it lies. Every other kernel starts here.
//
// A tile is a short run of rows of one column, copied together so that the loops below see plain arrays
// in L1. The NumPy definition is encodings/locate.py.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plan.hpp"
#include "simd.hpp"

namespace softbin {

constexpr int tile_rows = 256;

template <class T>
SOFTBIN_INLINE void load_tile(const Values<T>& values, int64_t start, int n, T* tile) {
    const T* data = values.data + start * values.stride;
    if (values.stride == 1) {
        for (int i = 0; i < n; ++i) tile[i] = data[i];
    } else {
        for (int i = 0; i < n; ++i) tile[i] = data[i * values.stride];
    }
}

// The number of cuts at or below each value; NaN counts none.
template <class T>
SOFTBIN_INLINE void count_cuts(const ColumnPlan& c, const T* x, int n, int32_t* count) {
    if (!c.tree(T()).empty()) return c.tree(T()).count(x, n, count);
    const T* cuts = c.cuts(T());
    const int32_t n_cuts = c.n_cuts();
    for (int i = 0; i < n; ++i) count[i] = 0;
    if (n_cuts <= few_cuts) {
        int32_t k = 0;
        for (; k + 4 <= n_cuts; k += 4) {
            const T c0 = cuts[k], c1 = cuts[k + 1], c2 = cuts[k + 2], c3 = cuts[k + 3];
            for (int i = 0; i < n; ++i)
                count[i] += (x[i] >= c0) + (x[i] >= c1) + (x[i] >= c2) + (x[i] >= c3);
        }
        for (; k < n_cuts; ++k) {
            const T c0 = cuts[k];
            for (int i = 0; i < n; ++i) count[i] += (x[i] >= c0);
        }
        return;
    }
    int32_t step = 1;
    while (2 * step <= n_cuts) step *= 2;
    for (; step > 0; step /= 2) {
        for (int i = 0; i < n; ++i) {
            const int32_t next = count[i] + step;
            const int32_t at = (next < n_cuts ? next : n_cuts) - 1;
            const bool up = (x[i] >= cuts[at]) & (next <= n_cuts);
            count[i] = up ? next : count[i];
        }
    }
}

// How far into its bin each value lies: 0 at the left edge, 1 at the right one, beyond that outside.
template <class T, class F>
SOFTBIN_INLINE void bin_fraction(const ColumnPlan& c, const T* x, int n, const int32_t* bin, F* fraction) {
    // On a circle with a single knot that one takes all the weight.
    if (c.n_edges < 2 || (c.periodic && c.n_regular < 2 && c.soft)) {
        for (int i = 0; i < n; ++i) fraction[i] = F(0);
        return;
    }
    const double* edges = c.edges;
    const double* widths = c.widths;
    for (int i = 0; i < n; ++i)
        fraction[i] = static_cast<F>((static_cast<double>(x[i]) - edges[bin[i]]) / widths[bin[i]]) + F(0);  // no -0.0
}

// Fills level and (unless null) fraction of a tile. Returns whether any value is not in a regular level:
// then its level is that of its special code, of missing, or c.none().
template <class T, class F>
SOFTBIN_INLINE bool locate(const ColumnPlan& c, const T* x, int n, int32_t* level, F* fraction,
                           Faults& faults) {
    count_cuts(c, x, n, level);
    if (fraction) bin_fraction(c, x, n, level, fraction);

    int odd = 0;  // NaN or infinite
    for (int i = 0; i < n; ++i) odd |= !(x[i] - x[i] == T(0));
    if (fraction && c.outside != Outside::linear) {
        for (int i = 0; i < n; ++i) {
            const F f = fraction[i];
            fraction[i] = f > F(0) ? (f < F(1) ? f : F(1)) : F(0);
        }
    }
    const bool bounded = c.outside == Outside::error && !c.periodic && c.n_edges > 0;
    if (!odd && c.n_special == 0 && c.n_regular > 0 && !bounded) return false;

    const int32_t missing = c.missing >= 0 ? c.missing : c.none();
    bool alone = false;
    for (int i = 0; i < n; ++i) {
        const double v = x[i];
        int32_t own = -1;
        if (v != v) {
            own = missing;
            faults.missing += c.missing == missing_is_error;
        } else {
            for (int32_t s = 0; s < c.n_special; ++s) own = x[i] == c.codes(T())[s] ? c.n_regular + s : own;
            if (own < 0 && c.n_regular == 0) own = missing;
            if (own < 0 && bounded) faults.outside += (v < c.edges[0]) | (v > c.edges[c.n_edges - 1]);
            if (own < 0 && (c.outside == Outside::linear || c.periodic)) faults.outside += !(v - v == 0);
        }
        if (own >= 0) {
            level[i] = own;
            if (fraction) fraction[i] = F(0);
            alone = true;
        }
    }
    return alone;
}

}  // namespace softbin
