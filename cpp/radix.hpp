// Exact ranks by counting: a float as an order-preserving integer, counted by its leading bits.
#pragma once

#include <cstdint>

#include "plan.hpp"

namespace softbin {

constexpr int leading_bits = 16;

// Weight of what is not an ordinary value, and the range of what is.
struct Oddities {
    int64_t missing = 0, infinite = 0;
    double low, high;
};

// The buckets one pass counts: every prefix (sorted, `depth` bits long) split by the next `bits` bits.
struct Prefixes {
    const uint64_t* prefix;
    const int32_t* first;  // 65,537 offsets into prefix, by the leading 16 bits
    int depth, bits;
};

// Adds each finite value's weight (null: 1) to the bucket of its leading bits; NaN and infinities apart.
void count_leading(Values<float>, int64_t n, const int64_t* weight, int64_t* counts, Oddities&);
void count_leading(Values<double>, int64_t n, const int64_t* weight, int64_t* counts, Oddities&);

// Adds each value's weight to the finer bucket below the prefix it starts with, if that is wanted.
void count_below(Values<float>, int64_t n, const int64_t* weight, const Prefixes&, int64_t* counts);
void count_below(Values<double>, int64_t n, const int64_t* weight, const Prefixes&, int64_t* counts);

}  // namespace softbin
