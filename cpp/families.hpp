// Loss and residual (its derivative by the score) of one tile of rows. Definition: linear/families.py.
//
// Scores come in as n_outputs runs of `stride` numbers and leave as residuals, weighted. Losses are summed in double.
// float32 uses its own exp and log so that the loops become SIMD; float64 uses the C library's.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "simd.hpp"

namespace softbin {

enum class Family : int { gaussian = 0, bernoulli = 1, poisson = 2, gamma = 3, multinomial = 4 };

// exp by 2^k e^r with |r| <= ln(2)/2 and the Taylor polynomial of e^r; inf and 0 beyond the range of float32.
SOFTBIN_INLINE float fast_exp(float x) {
    const float clamped = x < 88.7f ? (x > -87.3f ? x : -87.3f) : 88.7f;
    const float k = std::floor(clamped * 1.44269504088896341f + 0.5f);
    const float r = (clamped - k * 0.693359375f) - k * -2.12194440e-4f;
    float p = 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    // Why two factors: 2^k alone leaves the range of float32 at k = 128.
    const int32_t half = static_cast<int32_t>(k) >> 1, rest = static_cast<int32_t>(k) - half;
    const float scale = std::bit_cast<float>((half + 127) << 23) * std::bit_cast<float>((rest + 127) << 23);
    const float value = p * scale;
    return x > 88.7f ? INFINITY : (x < -87.3f ? 0.0f : value);
}
SOFTBIN_INLINE double fast_exp(double x) { return std::exp(x); }

// log(1 + z) for 0 <= z <= 1, by 2 atanh(z / (2 + z)): an odd series in at most 1/3.
SOFTBIN_INLINE float fast_log1p(float z) {
    const float s = z / (2.0f + z), q = s * s;
    float p = 1.0f / 15;
    p = p * q + 1.0f / 13;
    p = p * q + 1.0f / 11;
    p = p * q + 1.0f / 9;
    p = p * q + 1.0f / 7;
    p = p * q + 1.0f / 5;
    p = p * q + 1.0f / 3;
    p = p * q + 1.0f;
    return 2.0f * s * p;
}
SOFTBIN_INLINE double fast_log1p(double z) { return std::log1p(z); }

template <class F>
SOFTBIN_INLINE double sum_weighted(F* residual, F* loss, const F* weight, int n) {
    if (weight) {
        for (int i = 0; i < n; ++i) {
            residual[i] *= weight[i];
            loss[i] *= weight[i];
        }
    }
    double part[8] = {};
    int i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; ++l) part[l] += static_cast<double>(loss[i + l]);
    for (; i < n; ++i) part[0] += static_cast<double>(loss[i]);
    return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

template <class F, int rows>
SOFTBIN_INLINE double multinomial_residuals(F* score, int n_outputs, int stride, const F* y, const F* weight, int n) {
    F highest[rows], total[rows], loss[rows];
    for (int i = 0; i < n; ++i) highest[i] = score[i];
    for (int k = 1; k < n_outputs; ++k)
        for (int i = 0; i < n; ++i) highest[i] = std::max(highest[i], score[k * stride + i]);
    for (int i = 0; i < n; ++i) {
        total[i] = F(0);
        loss[i] = highest[i] - score[static_cast<int>(y[i]) * stride + i];
    }
    for (int k = 0; k < n_outputs; ++k) {
        F* s = score + k * stride;
        for (int i = 0; i < n; ++i) {
            s[i] = fast_exp(s[i] - highest[i]);
            total[i] += s[i];
        }
    }
    for (int i = 0; i < n; ++i) loss[i] += std::log(total[i]);
    for (int k = 0; k < n_outputs; ++k) {
        F* s = score + k * stride;
        for (int i = 0; i < n; ++i) {
            const F r = s[i] / total[i] - F(static_cast<int>(y[i]) == k);
            s[i] = weight ? r * weight[i] : r;
        }
    }
    F unused[rows];
    for (int i = 0; i < n; ++i) unused[i] = F(0);
    return sum_weighted(unused, loss, weight, n);
}

template <class F, int rows>
SOFTBIN_INLINE double residuals(Family family, F* score, int n_outputs, int stride, const F* y, const F* weight,
                                int n) {
    if (family == Family::multinomial) return multinomial_residuals<F, rows>(score, n_outputs, stride, y, weight, n);
    F loss[rows];
    switch (family) {
        case Family::bernoulli:
            for (int i = 0; i < n; ++i) {
                // Why both signs: of a row that is nearly sure, p - 1 has no digits left, -q has all.
                const F s = score[i], e = fast_exp(s < F(0) ? s : -s), inverse = F(1) / (F(1) + e);
                const F p = s < F(0) ? e * inverse : inverse, q = s < F(0) ? inverse : e * inverse;
                loss[i] = (F(1) - y[i]) * (s > F(0) ? s : F(0)) + y[i] * (s < F(0) ? -s : F(0)) + fast_log1p(e);
                score[i] = (F(1) - y[i]) * p - y[i] * q;
            }
            break;
        case Family::poisson:
            for (int i = 0; i < n; ++i) {
                const F s = score[i], mean = fast_exp(s);
                loss[i] = mean - y[i] * s;
                score[i] = mean - y[i];
            }
            break;
        case Family::gamma:
            for (int i = 0; i < n; ++i) {
                const F s = score[i], ratio = y[i] * fast_exp(-s);
                loss[i] = s + ratio;
                score[i] = F(1) - ratio;
            }
            break;
        default:
            for (int i = 0; i < n; ++i) {
                const F r = score[i] - y[i];
                loss[i] = F(0.5) * r * r;
                score[i] = r;
            }
    }
    return sum_weighted(score, loss, weight, n);
}

}  // namespace softbin
