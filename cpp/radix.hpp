// Exact ranks by counting: a float as an order-preserving integer, counted by its leading bits.
#pragma once

#include <cstdint>
#include <vector>

#include "plan.hpp"

namespace softbin {

constexpr int leading_bits = 16;

// Weight of what is not an ordinary value, and the range of what is.
struct Oddities {
    int64_t missing = 0, infinite = 0;
    double low, high;
};

// The buckets one pass splits: per column and depth, each wanted prefix by the next `bits` bits.
struct Split {
    int64_t column;
    std::vector<uint64_t> prefix;  // sorted
    int depth, bits;
    int64_t start;                   // where its counters start; 2^bits for each prefix
    std::vector<int32_t> first;      // offsets into prefix, by the leading 16 bits
    std::vector<uint32_t> wanted;    // 65,536 bits: does any prefix have these leading bits?
};

class Splits {
public:
    // Adds a split; its counters follow those of the ones before.
    void add(int64_t column, std::vector<uint64_t> prefix, int depth, int bits);
    const std::vector<Split>& all() const { return splits_; }
    int64_t n_counters() const { return n_counters_; }

private:
    std::vector<Split> splits_;
    int64_t n_counters_ = 0;
};

// Adds each finite value's weight (null: 1) to the bucket of its leading bits; NaN and infinities apart.
void count_leading(Values<float>, int64_t n, const int64_t* weight, int64_t* counts, Oddities&);
void count_leading(Values<double>, int64_t n, const int64_t* weight, int64_t* counts, Oddities&);

// Adds each value's weight to the part of the split prefix that it starts with, if it does.
void count_below(Values<float>, int64_t n, const int64_t* weight, const Split&, int64_t* counts);
void count_below(Values<double>, int64_t n, const int64_t* weight, const Split&, int64_t* counts);

}  // namespace softbin
