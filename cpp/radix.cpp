#include "radix.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "locate.hpp"
#include "simd.hpp"

namespace softbin {
namespace {

// Flip the sign bit of what is positive, every bit of what is negative: integers in the order of floats.
// Adding zero makes -0.0 the same value as 0.0.
SOFTBIN_INLINE uint64_t order_key(double value) {
    const auto bits = std::bit_cast<uint64_t>(value + 0.0);
    return bits ^ (static_cast<uint64_t>(static_cast<int64_t>(bits) >> 63) | uint64_t{1} << 63);
}

SOFTBIN_INLINE uint32_t order_key(float value) {
    const auto bits = std::bit_cast<uint32_t>(value + 0.0f);
    return bits ^ (static_cast<uint32_t>(static_cast<int32_t>(bits) >> 31) | uint32_t{1} << 31);
}

// What a tile needs before its values can be counted: their leading bits, and whether all are finite.
template <class T>
SOFTBIN_INLINE bool leading_keys(const T* x, int n, uint32_t* lead) {
    constexpr int shift = 8 * sizeof(T) - leading_bits;
    int odd = 0;
    for (int i = 0; i < n; ++i) {
        odd |= !(x[i] - x[i] == T(0));
        lead[i] = static_cast<uint32_t>(order_key(x[i]) >> shift);
    }
    return !odd;
}

template <class T>
SOFTBIN_INLINE void widen_range(const T* x, int n, T& low, T& high) {
    T a = low, b = high;
    for (int i = 0; i < n; ++i) {
        a = x[i] < a ? x[i] : a;
        b = x[i] > b ? x[i] : b;
    }
    low = a;
    high = b;
}

template <class T>
SOFTBIN_INLINE void count_leading_of(Values<T> values, int64_t n_rows, const int64_t* weight, int64_t* counts,
                                     Oddities& odd) {
    alignas(64) T x[tile_rows];
    alignas(64) uint32_t lead[tile_rows];
    T low = std::numeric_limits<T>::infinity(), high = -low;
    for (int64_t start = 0; start < n_rows; start += tile_rows) {
        const int n = static_cast<int>(std::min<int64_t>(tile_rows, n_rows - start));
        load_tile(values, start, n, x);
        const bool finite = leading_keys(x, n, lead);
        if (finite && !weight) {
            widen_range(x, n, low, high);
            for (int i = 0; i < n; ++i) counts[lead[i]] += 1;
            continue;
        }
        for (int i = 0; i < n; ++i) {
            const int64_t w = weight ? weight[start + i] : 1;
            // Trap: a row of weight 0 is an absent row, so it may not set the range either.
            if (w == 0) continue;
            if (x[i] - x[i] == T(0)) {
                counts[lead[i]] += w;
                low = std::min(low, x[i]);
                high = std::max(high, x[i]);
            } else {
                (x[i] != x[i] ? odd.missing : odd.infinite) += w;
            }
        }
    }
    odd.low = std::min(odd.low, static_cast<double>(low) + 0.0);
    odd.high = std::max(odd.high, static_cast<double>(high) + 0.0);
}

template <class T>
SOFTBIN_INLINE void count_below_of(Values<T> values, int64_t n_rows, const int64_t* weight, const Split& split,
                                   int64_t* counts) {
    constexpr int width = 8 * sizeof(T);
    const int skip = width - split.depth, shift = skip - split.bits;
    const uint64_t mask = (uint64_t{1} << split.bits) - 1;
    const uint32_t* wanted = split.wanted.data();
    alignas(64) T x[tile_rows];
    alignas(64) uint32_t lead[tile_rows];
    alignas(64) int32_t is_hit[tile_rows], hit[tile_rows];
    for (int64_t start = 0; start < n_rows; start += tile_rows) {
        const int n = static_cast<int>(std::min<int64_t>(tile_rows, n_rows - start));
        load_tile(values, start, n, x);
        leading_keys(x, n, lead);
        int any = 0;
        for (int i = 0; i < n; ++i) {
            is_hit[i] = (wanted[lead[i] >> 5] >> (lead[i] & 31)) & 1;
            any |= is_hit[i];
        }
        if (!any) continue;
        // Why without a branch: few values hit a wanted bucket, and nobody can foresee which.
        int n_hits = 0;
        for (int i = 0; i < n; ++i) {
            hit[n_hits] = i;
            n_hits += is_hit[i];
        }
        for (int h = 0; h < n_hits; ++h) {
            const int i = hit[h];
            if (!(x[i] - x[i] == T(0))) continue;
            const uint64_t* begin = split.prefix.data() + split.first[lead[i]];
            const uint64_t* end = split.prefix.data() + split.first[lead[i] + 1];
            const uint64_t key = order_key(x[i]), prefix = key >> skip;
            const uint64_t* at = end - begin == 1 ? begin : std::lower_bound(begin, end, prefix);
            if (at == end || *at != prefix) continue;
            const auto slot = static_cast<uint64_t>(at - split.prefix.data());
            counts[(slot << split.bits) | ((key >> shift) & mask)] += weight ? weight[start + i] : 1;
        }
    }
}

}  // namespace

void Splits::add(int64_t column, std::vector<uint64_t> prefix, int depth, int bits) {
    Split split{column, std::move(prefix), depth, bits, n_counters_, {}, {}};
    const int n_leads = 1 << leading_bits;
    split.first.assign(n_leads + 1, 0);
    split.wanted.assign(n_leads / 32, 0);
    for (const uint64_t p : split.prefix) {
        const uint64_t lead = p >> (depth - leading_bits);
        split.first[lead + 1] += 1;
        split.wanted[lead >> 5] |= uint32_t{1} << (lead & 31);
    }
    for (int i = 0; i < n_leads; ++i) split.first[i + 1] += split.first[i];
    n_counters_ += static_cast<int64_t>(split.prefix.size()) << bits;
    splits_.push_back(std::move(split));
}

SOFTBIN_CLONES void count_leading(Values<float> v, int64_t n, const int64_t* w, int64_t* counts, Oddities& odd) {
    count_leading_of(v, n, w, counts, odd);
}
SOFTBIN_CLONES void count_leading(Values<double> v, int64_t n, const int64_t* w, int64_t* counts, Oddities& odd) {
    count_leading_of(v, n, w, counts, odd);
}
SOFTBIN_CLONES void count_below(Values<float> v, int64_t n, const int64_t* w, const Split& p, int64_t* counts) {
    count_below_of(v, n, w, p, counts);
}
SOFTBIN_CLONES void count_below(Values<double> v, int64_t n, const int64_t* w, const Split& p, int64_t* counts) {
    count_below_of(v, n, w, p, counts);
}

}  // namespace softbin
