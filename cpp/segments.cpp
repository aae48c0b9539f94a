#include "segments.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "simd.hpp"

namespace softbin {
namespace {

constexpr int tile = 512;

// x log x of whole multiples of a unit; 0 of 0. log x = e log 2 + 2 artanh s, with x = 2^e m, s = (m - 1) / (m + 1)
// and m around 1, so that s^2 < 0.0295 and eleven terms are all that a double holds.
SOFTBIN_INLINE double x_log_x(double x) {
    constexpr double log_2 = 0.69314718055994530942;
    // Why: bits of a number at least 1/sqrt 2 with exponent -1 stand for the mantissas from there to sqrt 2.
    constexpr int64_t root_half = 0x3FE6A09E667F3BCD;
    const int64_t bits = std::bit_cast<int64_t>(x);
    const int64_t exponent = (bits - root_half) >> 52;
    const double m = std::bit_cast<double>(bits - (exponent << 52));
    const double s = (m - 1.0) / (m + 1.0), z = s * s;
    double sum = 1.0 / 21.0;
    sum = sum * z + 1.0 / 19.0;
    sum = sum * z + 1.0 / 17.0;
    sum = sum * z + 1.0 / 15.0;
    sum = sum * z + 1.0 / 13.0;
    sum = sum * z + 1.0 / 11.0;
    sum = sum * z + 1.0 / 9.0;
    sum = sum * z + 1.0 / 7.0;
    sum = sum * z + 1.0 / 5.0;
    sum = sum * z + 1.0 / 3.0;
    const double log_m = 2.0 * s + 2.0 * s * (z * sum);
    return x * (static_cast<double>(exponent) * log_2 + log_m);
}

// The losses of the pieces between a fixed bin and each of n others, all after it (sign 1) or before it (sign -1).
SOFTBIN_INLINE void class_losses(const RunningSums& sums, int64_t fixed, int64_t from, int n, double sign,
                                 double* loss) {
    alignas(64) double weight[tile];
    for (int i = 0; i < n; ++i) weight[i] = loss[i] = 0.0;
    for (int s = 0; s < sums.n_slots; ++s) {
        const int64_t* at = sums.slot(s) + from;
        const int64_t before = sums.slot(s)[fixed];
        const double unit = sign * sums.unit[s];
        for (int i = 0; i < n; ++i) {
            const double of_class = static_cast<double>(at[i] - before) * unit;
            weight[i] += of_class;
            loss[i] += x_log_x(of_class);
        }
    }
    for (int i = 0; i < n; ++i) loss[i] = std::max(x_log_x(weight[i]) - loss[i], 0.0);
}

SOFTBIN_INLINE void number_losses(const RunningSums& sums, int64_t fixed, int64_t from, int n, double sign,
                                  double* loss) {
    const int64_t *w = sums.slot(0), *y = sums.slot(1), *yy = sums.slot(2);
    const double units[] = {sign * sums.unit[0], sign * sums.unit[1], sign * sums.unit[2]};
    for (int i = 0; i < n; ++i) {
        const double weight = static_cast<double>(w[from + i] - w[fixed]) * units[0];
        const double first = static_cast<double>(y[from + i] - y[fixed]) * units[1];
        const double second = static_cast<double>(yy[from + i] - yy[fixed]) * units[2];
        const double mean = weight > 0.0 ? first / weight : 0.0;
        loss[i] = std::max(second - first * mean, 0.0);
    }
}

SOFTBIN_INLINE void losses(const RunningSums& sums, int64_t fixed, int64_t from, int n, double sign, double* loss) {
    if (sums.classes) class_losses(sums, fixed, from, n, sign, loss);
    else number_losses(sums, fixed, from, n, sign, loss);
}

SOFTBIN_INLINE double rate_of(const RunningSums& sums, int64_t start, int64_t stop) {
    const int64_t *a = sums.slot(0), *b = sums.slot(1);
    const double first = static_cast<double>(a[stop] - a[start]), second = static_cast<double>(b[stop] - b[start]);
    return second / (sums.classes ? first + second : first);
}

SOFTBIN_CLONES void losses_before(const RunningSums& sums, int64_t stop, int64_t n_starts, double* loss) {
    for (int64_t from = 0; from < n_starts; from += tile)
        losses(sums, stop, from, static_cast<int>(std::min<int64_t>(tile, n_starts - from)), -1.0, loss + from);
}

// A way to cut the bins before some stop: its loss, where its last piece starts, and that piece's rate.
struct Way {
    double rate, loss;
    int64_t start;
};

// The ways into k pieces that no other one, of k or fewer, beats in both: for each stop, rates rise and losses fall.
struct Frontiers {
    std::vector<Way> ways;
    std::vector<size_t> first{0};  // of each stop, and where the last one's end
    std::vector<double> lowest;    // loss of each stop

    const Way* begin(int64_t stop) const { return ways.data() + first[stop]; }
    const Way* end(int64_t stop) const { return ways.data() + first[stop + 1]; }

    // The best way to a stop whose last piece has this rate or a lower one; null if there is none.
    const Way* up_to(int64_t stop, double rate) const {
        const Way* above = std::upper_bound(begin(stop), end(stop), rate,
                                            [](double r, const Way& way) { return r < way.rate; });
        return above == begin(stop) ? nullptr : above - 1;
    }

    void close_stop() {
        const bool any = ways.size() > first.back();
        lowest.push_back(any ? ways.back().loss : std::numeric_limits<double>::infinity());
        first.push_back(ways.size());
    }
};

// Isotonic regression of the bins from a stop to the end where no value may be below a rate: its pieces below the
// rate are raised to it. No way to go on after a piece of that rate loses less.
struct RaisedEnd {
    const RunningSums& sums;
    double sign;
    int64_t stop = 0;
    std::vector<int64_t> ends;   // of the pieces
    std::vector<double> rates;

    void move_to(int64_t next, const int64_t* block_stop) {
        stop = next;
        ends.assign(1, stop);
        rates.clear();
        for (int64_t at = stop; at < sums.n_bins; at = block_stop[at]) {
            rates.push_back(sign * rate_of(sums, at, block_stop[at]));
            ends.push_back(block_stop[at]);
        }
    }

    double loss(double rate, const double* to_end) const {
        const auto below = std::lower_bound(rates.begin(), rates.end(), rate) - rates.begin();
        const int64_t to = ends[static_cast<size_t>(below)];
        double raised = 0.0;
        if (to > stop) {
            const double first = difference(0, to), second = difference(1, to), told = sign * rate;
            if (sums.classes) raised = -(weighted_log(second, told) + weighted_log(first, 1.0 - told));
            else {
                const double mean = told * sums.unit[1] / sums.unit[0];
                raised = difference(2, to) - mean * (2.0 * second - mean * first);
            }
        }
        return raised + to_end[to];
    }

    double difference(int s, int64_t to) const {
        return static_cast<double>(sums.slot(s)[to] - sums.slot(s)[stop]) * sums.unit[s];
    }
    static double weighted_log(double weight, double share) { return weight > 0.0 ? weight * std::log(share) : 0.0; }
};

// A piece that ends at the stop in hand.
struct Piece {
    double rate, loss;
    int64_t start;
};

// The next stop of `all`: the ways of any number of pieces that no other one beats.
void add_unbeaten(const std::vector<Frontiers>& of_each, Frontiers& all, int64_t stop) {
    std::vector<Way> found;
    for (const Frontiers& of : of_each) found.insert(found.end(), of.begin(stop), of.end(stop));
    std::sort(found.begin(), found.end(), [](const Way& a, const Way& b) {
        return a.rate != b.rate ? a.rate < b.rate : a.loss < b.loss;
    });
    double beaten = std::numeric_limits<double>::infinity();
    for (const Way& way : found) {
        if (!(way.loss < beaten)) continue;
        all.ways.push_back(way);
        beaten = way.loss;
    }
    all.close_stop();
}

// The next stop of `of`: each way before a piece, and the piece. `pieces` are in the order of their rates.
void add_stop(const Frontiers& before, Frontiers& of, int64_t stop, const std::vector<Piece>& pieces, double limit,
              double rounding) {
    const Way *fewer = before.begin(stop), *last_fewer = before.end(stop);
    double beaten = std::numeric_limits<double>::infinity();
    for (const Piece& piece : pieces) {
        for (; fewer != last_fewer && fewer->rate <= piece.rate; ++fewer) beaten = std::min(beaten, fewer->loss);
        // Why first without the rate: it spares nearly all of the searches.
        if (!(before.lowest[piece.start] + piece.loss < std::min(beaten - rounding, limit))) continue;
        const Way* way = before.up_to(piece.start, piece.rate);
        if (!way || !(way->loss + piece.loss < std::min(beaten - rounding, limit))) continue;
        beaten = way->loss + piece.loss;
        of.ways.push_back({piece.rate, beaten, piece.start});
    }
    of.close_stop();
}

}  // namespace

// Why by start: once all earlier starts are through, what ends at this one is known, and each row is one plain loop.
SOFTBIN_CLONES void lowest_losses(const RunningSums& sums, const int64_t* first_stop, int64_t most, double* lowest) {
    alignas(64) double loss[tile];
    const int64_t n = sums.n_bins;
    for (int64_t start = 0; start < n; ++start) {
        for (int64_t stop = first_stop[start]; stop <= n; stop += tile) {
            const int length = static_cast<int>(std::min<int64_t>(tile, n + 1 - stop));
            losses(sums, start, stop, length, 1.0, loss);
            for (int64_t k = 1; k <= most; ++k) {
                const double before = lowest[(k - 1) * (n + 1) + start];
                double* row = lowest + k * (n + 1) + stop;
                for (int i = 0; i < length; ++i) row[i] = std::min(row[i], before + loss[i]);
            }
        }
    }
}

std::vector<int64_t> monotone_starts(const RunningSums& sums, const int64_t* first_stop, int64_t most, double sign,
                                     const double* remaining, const int64_t* block_stop, const double* to_end,
                                     double bound, double rounding) {
    const int64_t n = sums.n_bins;
    const double none = std::numeric_limits<double>::infinity();
    std::vector<Frontiers> ways(static_cast<size_t>(most) + 1);
    Frontiers all;
    RaisedEnd end{sums, sign, 0, {}, {}};
    std::vector<Piece> pieces;
    std::vector<double> loss(static_cast<size_t>(n));
    for (int64_t stop = 0, n_starts = 0; stop <= n; ++stop) {
        while (n_starts < stop && first_stop[n_starts] <= stop) ++n_starts;
        losses_before(sums, stop, n_starts, loss.data());
        pieces.clear();
        end.move_to(stop, block_stop);
        const double limit = bound - remaining[most * (n + 1) + stop];
        for (int64_t start = 0; start < n_starts; ++start) {
            if (!(all.lowest[start] + loss[start] < limit)) continue;
            const double rate = sign * rate_of(sums, start, stop);
            const Way* way = all.up_to(start, rate);
            if (way && way->loss + loss[start] + end.loss(rate, to_end) < bound + rounding)
                pieces.push_back({rate, loss[start], start});
        }
        std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
            return a.rate != b.rate ? a.rate < b.rate : a.start < b.start;
        });
        if (stop == 0) ways[0].ways.push_back({-none, 0.0, -1});
        ways[0].close_stop();
        for (int64_t k = 1; k <= most; ++k)
            add_stop(ways[k - 1], ways[k], stop, pieces, bound - remaining[(most - k) * (n + 1) + stop], rounding);
        add_unbeaten(ways, all, stop);
    }
    std::vector<int64_t> starts;
    int64_t k = 0, stop = n;
    while (k <= most && !(ways[k].lowest[n] <= all.lowest[n] + rounding)) ++k;
    double rate = none;
    for (; all.lowest[n] < none && k > 1; --k) {
        const Way* way = ways[k].up_to(stop, rate);
        stop = way->start;
        rate = way->rate;
        starts.insert(starts.begin(), stop);
    }
    return starts;
}

}  // namespace softbin
