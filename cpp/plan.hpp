// A grid as the kernels read it: flat arrays, made once from the Boundaries of every column.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "cut_tree.hpp"

namespace softbin {

enum class Outside : int8_t { clip = 0, linear = 1, error = 2 };

constexpr int32_t missing_is_zero = -1;
constexpr int32_t missing_is_error = -2;

constexpr int32_t few_cuts = 32;  // up to here counting beats searching

// One column. A level is one output column of the encoding; its own levels come first (bins or knots),
// then one per special code, then missing.
struct ColumnPlan {
    const double* edges;    // n_edges, strictly increasing
    const double* widths;   // n_edges - 1
    const float* edges32;   // edges rounded up, so that no float32 value changes its bin
    const CutTree<float>* tree32;  // of more than few_cuts cuts, empty where the machine cannot search it
    const CutTree<double>* tree64;
    double scale;           // about 1 / range, a power of two: offsets times it cannot overflow a sum
    int32_t n_edges;
    int32_t n_regular;      // bins or knots
    int32_t n_levels;
    const double* special;
    const float* special32;  // NaN where float32 cannot spell the code
    int32_t n_special;
    int32_t missing;        // level, missing_is_zero or missing_is_error
    Outside outside;
    bool periodic;          // wraps: of soft bins, the last knot is the first level
    bool soft;

    int32_t none() const { return n_levels; }  // the code of "no level at all"
    // A code is a bin, or stands behind the bins for a special code or, last, for missing (additive.hpp).
    int32_t n_bins() const { return n_edges > 1 ? n_edges - 1 : n_edges; }
    int32_t n_codes() const { return n_bins() + n_special + 1; }
    int32_t n_cuts() const { return n_edges > 2 ? n_edges - 2 : 0; }
    const double* codes(double) const { return special; }
    const float* codes(float) const { return special32; }
    const double* cuts(double) const { return edges + 1; }
    const float* cuts(float) const { return edges32 + 1; }
    const CutTree<double>& tree(double) const { return *tree64; }
    const CutTree<float>& tree(float) const { return *tree32; }
};

inline float round_up(double value) {
    const float nearest = static_cast<float>(value);
    return static_cast<double>(nearest) >= value
               ? nearest
               : std::nextafter(nearest, std::numeric_limits<float>::infinity());
}

inline double column_scale(const double* edges, int32_t n_edges) {
    if (n_edges < 2) return 1.0;
    int exponent;
    std::frexp(edges[n_edges - 1] - edges[0], &exponent);
    return std::ldexp(1.0, -std::max(exponent, -1000));
}

class Plan {
public:
    Plan(std::vector<double> edges, const std::vector<int64_t>& edge_start, std::vector<double> special,
         const std::vector<int64_t>& special_start, const std::vector<int32_t>& n_regular,
         const std::vector<int32_t>& missing, const std::vector<int8_t>& outside,
         const std::vector<int8_t>& periodic, bool soft)
        : edges_(std::move(edges)), special_(std::move(special)) {
        widths_.resize(edges_.size(), 0.0);
        edges32_.resize(edges_.size());
        for (size_t i = 0; i < edges_.size(); ++i) {
            edges32_[i] = round_up(edges_[i]);
            if (i + 1 < edges_.size()) widths_[i] = edges_[i + 1] - edges_[i];
        }
        const size_t n = n_regular.size();
        check(edge_start, edges_.size(), n, "edges");
        check(special_start, special_.size(), n, "special");
        if (missing.size() != n || outside.size() != n || periodic.size() != n)
            throw std::invalid_argument("plan: not one of everything per column");
        for (const double code : special_) {
            const bool fits = std::abs(code) <= std::numeric_limits<float>::max();
            special32_.push_back(fits ? static_cast<float>(code) : std::numeric_limits<float>::quiet_NaN());
        }
        trees32_.resize(n);
        trees64_.resize(n);
        level_start_.assign(n + 1, 0);
        entry_start_.assign(n + 1, 0);
        code_start_.assign(n + 1, 0);
        for (size_t j = 0; j < n; ++j) {
            ColumnPlan c{};
            c.edges = edges_.data() + edge_start[j];
            c.widths = widths_.data() + edge_start[j];
            c.edges32 = edges32_.data() + edge_start[j];
            c.n_edges = static_cast<int32_t>(edge_start[j + 1] - edge_start[j]);
            if (c.n_cuts() > few_cuts) {
                trees32_[j] = CutTree<float>(c.cuts(float()), c.n_cuts());
                trees64_[j] = CutTree<double>(c.cuts(double()), c.n_cuts());
            }
            c.tree32 = &trees32_[j];
            c.tree64 = &trees64_[j];
            c.scale = column_scale(c.edges, c.n_edges);
            c.n_regular = n_regular[j];
            c.special = special_.data() + special_start[j];
            c.special32 = special32_.data() + special_start[j];
            c.n_special = static_cast<int32_t>(special_start[j + 1] - special_start[j]);
            c.missing = missing[j];
            c.n_levels = c.n_regular + c.n_special + (c.missing >= 0 ? 1 : 0);
            c.outside = static_cast<Outside>(outside[j]);
            c.periodic = periodic[j] != 0;
            c.soft = soft;
            const int32_t regular = soft ? c.n_edges - (c.periodic && c.n_edges > 1) : c.n_bins();
            if (c.n_regular != regular || c.missing < missing_is_error ||
                (c.missing >= 0 && c.missing != c.n_regular + c.n_special))
                throw std::invalid_argument("plan: levels that do not follow from the edges");
            columns_.push_back(c);
            level_start_[j + 1] = level_start_[j] + c.n_levels;
            code_start_[j + 1] = code_start_[j] + c.n_codes();
            entry_start_[j + 1] = entry_start_[j] + (c.n_levels < 2 ? c.n_levels : 2);
        }
    }
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    size_t n_columns() const { return columns_.size(); }
    const ColumnPlan& column(size_t j) const { return columns_[j]; }
    int64_t level_start(size_t j) const { return level_start_[j]; }
    int64_t n_levels() const { return level_start_.back(); }
    int64_t entry_start(size_t j) const { return entry_start_[j]; }  // stored entries of soft bins, per row
    int64_t n_entries() const { return entry_start_.back(); }
    int64_t code_start(size_t j) const { return code_start_[j]; }
    int64_t n_codes() const { return code_start_.back(); }

private:
    static void check(const std::vector<int64_t>& start, size_t size, size_t n_columns, const char* what) {
        bool fits = start.size() == n_columns + 1 && start.front() == 0 && start.back() == static_cast<int64_t>(size);
        for (size_t j = 0; fits && j < n_columns; ++j) fits = start[j] <= start[j + 1];
        if (!fits) throw std::invalid_argument(std::string("plan: wrong offsets of ") + what);
    }

    std::vector<double> edges_, widths_, special_;
    std::vector<float> edges32_, special32_;
    std::vector<CutTree<float>> trees32_;
    std::vector<CutTree<double>> trees64_;
    std::vector<ColumnPlan> columns_;
    std::vector<int64_t> level_start_, entry_start_, code_start_;
};

// One caller's column: a strided run of values.
template <class T>
struct Values {
    const T* data;
    int64_t stride;  // in values
};

// What stood in the way, per column: counted here, turned into an error by the caller.
struct Faults {
    int64_t missing = 0, outside = 0;
};

}  // namespace softbin
