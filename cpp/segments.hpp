// The lowest loss of cutting a run of fine bins into so many pieces: dynamic programming over all cuts.
#pragma once

#include <cstdint>
#include <vector>

namespace softbin {

// The target's sums of all bins before each: slot s has n_bins + 1 of them at below + s * (n_bins + 1).
struct RunningSums {
    const int64_t* below;
    const double* unit;  // n_slots: what one stands for
    int n_slots;
    int64_t n_bins;
    bool classes;  // one weight per class; otherwise weight, sum and sum of squares

    const int64_t* slot(int s) const { return below + s * (n_bins + 1); }
};

// lowest is (most + 1) x (n_bins + 1): row k has the lowest loss of the first bins cut into k pieces. Row 0 is
// given, the others are infinite on entry. A piece that starts at bin i stops at first_stop[i] or later.
void lowest_losses(const RunningSums& sums, const int64_t* first_stop, int64_t most, double* lowest);

// The same where the rate (share of the second class, or mean) times `sign` may not fall from piece to piece: the
// starts of the best such pieces, without the first. remaining is (most + 1) x (n_bins + 1): no way from a bin to the
// end in at most k more pieces loses less. Isotonic regression of the bins from any start to the end loses
// to_end[start], and its first piece stops at block_stop[start]. Ways that lose `bound` or more are left out; losses that differ by no
// more than `rounding` count as equal. Empty where one piece is best, or none is within the bound.
std::vector<int64_t> monotone_starts(const RunningSums& sums, const int64_t* first_stop, int64_t most, double sign,
                                     const double* remaining, const int64_t* block_stop, const double* to_end,
                                     double bound, double rounding);

}  // namespace softbin
