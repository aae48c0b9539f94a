#include "radix.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace softbin {
namespace {

// Flip the sign bit of what is positive, every bit of what is negative: integers in the order of floats.
// Adding zero makes -0.0 the same value as 0.0.
inline uint64_t order_key(double value) {
    const auto bits = std::bit_cast<uint64_t>(value + 0.0);
    return bits ^ ((bits >> 63) ? ~uint64_t{0} : uint64_t{1} << 63);
}

inline uint32_t order_key(float value) {
    const auto bits = std::bit_cast<uint32_t>(value + 0.0f);
    return bits ^ ((bits >> 31) ? ~uint32_t{0} : uint32_t{1} << 31);
}

template <class T>
void count_leading_of(Values<T> values, int64_t n, const int64_t* weight, int64_t* counts, Oddities& odd) {
    constexpr int shift = 8 * sizeof(T) - leading_bits;
    T low = std::numeric_limits<T>::infinity(), high = -low;
    for (int64_t i = 0; i < n; ++i) {
        const T x = values.data[i * values.stride];
        const int64_t w = weight ? weight[i] : 1;
        if (x - x == T(0)) {
            // Trap: a row of weight 0 is an absent row, so it may not set the range either.
            if (weight && w == 0) continue;
            counts[order_key(x) >> shift] += w;
            low = x < low ? x : low;
            high = x > high ? x : high;
        } else {
            (x != x ? odd.missing : odd.infinite) += w;
        }
    }
    odd.low = std::min(odd.low, static_cast<double>(low) + 0.0);
    odd.high = std::max(odd.high, static_cast<double>(high) + 0.0);
}

template <class T>
void count_below_of(Values<T> values, int64_t n, const int64_t* weight, const Prefixes& wanted,
                    int64_t* counts) {
    constexpr int width = 8 * sizeof(T);
    const int skip = width - wanted.depth, shift = skip - wanted.bits;
    const uint64_t mask = (uint64_t{1} << wanted.bits) - 1;
    for (int64_t i = 0; i < n; ++i) {
        const T x = values.data[i * values.stride];
        const uint64_t key = order_key(x);
        const auto lead = key >> (width - leading_bits);
        const int32_t begin = wanted.first[lead], end = wanted.first[lead + 1];
        if (begin == end || !(x - x == T(0))) continue;
        const uint64_t prefix = key >> skip;
        const uint64_t* at = end - begin == 1 ? wanted.prefix + begin
                                              : std::lower_bound(wanted.prefix + begin, wanted.prefix + end, prefix);
        if (at == wanted.prefix + end || *at != prefix) continue;
        const int64_t slot = at - wanted.prefix;
        counts[(slot << wanted.bits) | static_cast<int64_t>((key >> shift) & mask)] += weight ? weight[i] : 1;
    }
}

}  // namespace

void count_leading(Values<float> v, int64_t n, const int64_t* w, int64_t* counts, Oddities& odd) {
    count_leading_of(v, n, w, counts, odd);
}
void count_leading(Values<double> v, int64_t n, const int64_t* w, int64_t* counts, Oddities& odd) {
    count_leading_of(v, n, w, counts, odd);
}
void count_below(Values<float> v, int64_t n, const int64_t* w, const Prefixes& p, int64_t* counts) {
    count_below_of(v, n, w, p, counts);
}
void count_below(Values<double> v, int64_t n, const int64_t* w, const Prefixes& p, int64_t* counts) {
    count_below_of(v, n, w, p, counts);
}

}  // namespace softbin
