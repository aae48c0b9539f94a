// What Python sees: flat arrays in, flat arrays out, the GIL released while a kernel runs.
//
// A table comes in as a tuple of 1-D columns, all float32 or all float64, with any stride. Shapes are
// checked here, because a wrong one would write outside an array.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>

#include "additive.hpp"
#include "embed.hpp"
#include "encode.hpp"
#include "locate.hpp"
#include "pair_counts.hpp"
#include "radix.hpp"
#include "segments.hpp"
#include "target_counts.hpp"
#include "totals.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softbin {
namespace {

using AnyColumn = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;
template <class T>
using Flat = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Weights = Flat<const int64_t>;

// Rows that one column is read for before the next: its counts and cuts stay in a core's own cache meanwhile.
constexpr int64_t long_run = 4096;

void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

// The columns of a block, once their owner is kept alive by the caller's tuple.
template <class T>
struct Columns {
    std::vector<Values<T>> values;
    int64_t n_rows = 0;
};

template <class T>
Values<T> view(const AnyColumn& column) {
    return {static_cast<const T*>(column.data()), column.stride(0)};
}

template <class T>
Columns<T> columns_of(nb::tuple table, size_t n_columns) {
    require(table.size() == n_columns, "columns: not as many as the plan has");
    Columns<T> columns;
    columns.values.reserve(n_columns);
    for (size_t j = 0; j < n_columns; ++j) {
        const auto column = nb::cast<AnyColumn>(table[j]);
        require(column.dtype() == nb::dtype<T>(), "columns: more than one dtype");
        const auto n_rows = static_cast<int64_t>(column.shape(0));
        require(j == 0 || n_rows == columns.n_rows, "columns: not all of one length");
        columns.n_rows = n_rows;
        columns.values.push_back(view<T>(column));
    }
    return columns;
}

bool is_float32(nb::tuple table) {
    return table.size() > 0 && nb::cast<AnyColumn>(table[0]).dtype() == nb::dtype<float>();
}

// Calls run with the columns as float or double, whichever they are; gives each column's faults to Python.
template <class Run>
void with_columns(const Plan& plan, nb::tuple table, Flat<int64_t> faults, Run run) {
    const size_t n = plan.n_columns();
    require(faults.shape(0) == 2 * n, "faults: two counts per column");
    std::vector<Faults> counted(n);
    const auto call = [&](const auto& columns) {
        nb::gil_scoped_release release;
        run(columns.values.data(), columns.n_rows, counted.data());
    };
    if (is_float32(table)) call(columns_of<float>(table, n));
    else call(columns_of<double>(table, n));
    for (size_t j = 0; j < n; ++j) {
        faults.data()[2 * j] += counted[j].missing;
        faults.data()[2 * j + 1] += counted[j].outside;
    }
}

int64_t rows_of(nb::tuple table) {
    return table.size() ? static_cast<int64_t>(nb::cast<AnyColumn>(table[0]).shape(0)) : 0;
}

template <class F, class I>
void bind_csr(nb::module_& m) {
    m.def("hat_csr",
          [](const Plan& plan, nb::tuple table, Flat<I> indices, Flat<F> data, Flat<int64_t> faults) {
              const auto size = static_cast<size_t>(rows_of(table) * plan.n_entries());
              require(indices.shape(0) == size && data.shape(0) == size, "hat_csr: wrong output size");
              with_columns(plan, table, faults, [&](auto* values, int64_t n_rows, Faults* counted) {
                  hat_csr(plan, values, n_rows, indices.data(), data.data(), counted);
              });
          },
          "plan"_a, "columns"_a, "indices"_a.noconvert(), "data"_a.noconvert(), "faults"_a.noconvert());
    m.def("one_hot_csr",
          [](const Plan& plan, nb::tuple table, Flat<I> indices, Flat<F> data, Flat<int64_t> faults) {
              int64_t row = 0;
              for (size_t j = 0; j < plan.n_columns(); ++j) row += plan.column(j).n_levels > 0;
              const auto size = static_cast<size_t>(rows_of(table) * row);
              require(indices.shape(0) == size && data.shape(0) == size, "one_hot_csr: wrong output size");
              with_columns(plan, table, faults, [&](auto* values, int64_t n_rows, Faults* counted) {
                  one_hot_csr(plan, values, n_rows, indices.data(), data.data(), counted);
              });
          },
          "plan"_a, "columns"_a, "indices"_a.noconvert(), "data"_a.noconvert(), "faults"_a.noconvert());
}

template <class F>
void bind_dense(nb::module_& m) {
    const auto fits = [](const Plan& plan, nb::tuple table, const Matrix<F>& out) {
        require(out.shape(0) == static_cast<size_t>(rows_of(table)) &&
                    out.shape(1) == static_cast<size_t>(plan.n_levels()),
                "dense output: wrong shape");
    };
    m.def("hat_dense",
          [fits](const Plan& plan, nb::tuple table, Matrix<F> out, Flat<int64_t> faults) {
              fits(plan, table, out);
              with_columns(plan, table, faults, [&](auto* values, int64_t n_rows, Faults* counted) {
                  hat_dense(plan, values, n_rows, out.data(), counted);
              });
          },
          "plan"_a, "columns"_a, "out"_a.noconvert(), "faults"_a.noconvert());
    m.def("one_hot_dense",
          [fits](const Plan& plan, nb::tuple table, Matrix<F> out, Flat<int64_t> faults) {
              fits(plan, table, out);
              with_columns(plan, table, faults, [&](auto* values, int64_t n_rows, Faults* counted) {
                  one_hot_dense(plan, values, n_rows, out.data(), counted);
              });
          },
          "plan"_a, "columns"_a, "out"_a.noconvert(), "faults"_a.noconvert());
}

template <class C>
void bind_codes(nb::module_& m) {
    m.def("codes",
          [](const Plan& plan, nb::tuple table, Matrix<C> out, std::optional<Matrix<float>> fractions,
             Flat<int64_t> faults) {
              const auto n_rows = static_cast<size_t>(rows_of(table));
              require(out.shape(0) == n_rows && out.shape(1) == plan.n_columns(), "codes: wrong shape");
              require(!fractions || (fractions->shape(0) == n_rows && fractions->shape(1) == plan.n_columns()),
                      "fractions: wrong shape");
              with_columns(plan, table, faults, [&](auto* values, int64_t rows, Faults* counted) {
                  codes(plan, values, rows, out.data(), fractions ? fractions->data() : nullptr, counted);
              });
          },
          "plan"_a, "columns"_a, "out"_a.noconvert(), "fractions"_a.none(), "faults"_a.noconvert());
}

// Calls run, tile by tile, with a function that gives a column's values of the tile, the number of rows and
// their weights or null. Why tiles: in a C-ordered table a run of rows stays in L1 while every column is read.
template <class Run>
void with_rows(nb::tuple table, const std::optional<Weights>& weight, Run run) {
    const auto call = [&](const auto& columns) {
        require(!weight || static_cast<int64_t>(weight->shape(0)) == columns.n_rows, "weight: one per row");
        nb::gil_scoped_release release;
        for (int64_t start = 0; start < columns.n_rows; start += tile_rows) {
            const auto values = [&](size_t j) {
                auto column = columns.values[j];
                column.data += start * column.stride;
                return column;
            };
            run(values, std::min<int64_t>(tile_rows, columns.n_rows - start), weight ? weight->data() + start : nullptr);
        }
    };
    if (is_float32(table)) call(columns_of<float>(table, table.size()));
    else call(columns_of<double>(table, table.size()));
}

void bind_counting(nb::module_& m) {
    nb::class_<Splits>(m, "Splits")
        .def(nb::init<>())
        .def("add",
             [](Splits& splits, int64_t column, std::vector<uint64_t> prefix, int depth, int bits) {
                 require(column >= 0 && depth >= leading_bits && bits > 0 && depth + bits <= 64,
                         "Splits: beyond the key");
                 for (const uint64_t p : prefix)
                     require(p >> (depth - leading_bits) < uint64_t{1} << leading_bits, "Splits: prefix too long");
                 splits.add(column, std::move(prefix), depth, bits);
             },
             "column"_a, "prefix"_a, "depth"_a, "bits"_a)
        .def_prop_ro("n_counters", &Splits::n_counters);
    m.def("count_leading",
          [](nb::tuple table, std::optional<Weights> weight, Matrix<int64_t> counts, Matrix<int64_t> odd,
             Matrix<double> range) {
              const size_t n = table.size();
              require(counts.shape(0) == n && counts.shape(1) == size_t{1} << leading_bits,
                      "counts: 65,536 buckets per column");
              require(odd.shape(0) == n && odd.shape(1) == 2 && range.shape(0) == n && range.shape(1) == 2,
                      "odd, range: two numbers per column");
              with_rows(table, weight, [&](const auto& values, int64_t n_rows, const int64_t* w) {
                  for (size_t j = 0; j < n; ++j) {
                      Oddities found;
                      found.low = range.data()[2 * j];
                      found.high = range.data()[2 * j + 1];
                      count_leading(values(j), n_rows, w, counts.data() + (j << leading_bits), found);
                      odd.data()[2 * j] += found.missing;
                      odd.data()[2 * j + 1] += found.infinite;
                      range.data()[2 * j] = found.low;
                      range.data()[2 * j + 1] = found.high;
                  }
              });
          },
          "columns"_a, "weight"_a.none(), "counts"_a.noconvert(), "odd"_a.noconvert(), "range"_a.noconvert());
    m.def("count_below",
          [](nb::tuple table, std::optional<Weights> weight, const Splits& splits, Flat<int64_t> counts) {
              require(static_cast<int64_t>(counts.shape(0)) == splits.n_counters(), "counts: wrong size");
              const int width = is_float32(table) ? 32 : 64;
              for (const Split& split : splits.all())
                  require(split.column < static_cast<int64_t>(table.size()) && split.depth + split.bits <= width,
                          "Splits: not of this table");
              with_rows(table, weight, [&](const auto& values, int64_t n_rows, const int64_t* w) {
                  for (const Split& split : splits.all())
                      count_below(values(split.column), n_rows, w, split, counts.data() + split.start);
              });
          },
          "columns"_a, "weight"_a.none(), "splits"_a, "counts"_a.noconvert());
    m.def("bin_totals",
          [](const Plan& plan, nb::tuple table, std::optional<Weights> weight, Matrix<double> total) {
              require(table.size() == plan.n_columns(), "columns: not as many as the plan has");
              int64_t n_bins = 0;
              for (size_t j = 0; j < plan.n_columns(); ++j) n_bins += plan.column(j).n_cuts() + 1;
              require(static_cast<int64_t>(total.shape(0)) == n_bins && total.shape(1) == 2, "totals: two per bin");
              with_rows(table, weight, [&](const auto& values, int64_t n_rows, const int64_t* w) {
                  int64_t start = 0;
                  for (size_t j = 0; j < plan.n_columns(); ++j) {
                      const ColumnPlan& c = plan.column(j);
                      bin_totals(c, values(j), n_rows, w, total.data() + 2 * start);
                      start += c.n_cuts() + 1;
                  }
              });
          },
          "plan"_a, "columns"_a, "weight"_a.none(), "total"_a.noconvert());
}

void bind_target_counts(nb::module_& m) {
    m.def("count_target",
          [](const Plan& plan, nb::tuple table, nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> slot,
             std::optional<nb::ndarray<const int64_t, nb::ndim<2>, nb::device::cpu>> parts, Matrix<int64_t> counts) {
              const size_t n_rows = slot.shape(0), n_slots = counts.shape(1);
              require(table.size() == plan.n_columns() && rows_of(table) == static_cast<int64_t>(n_rows),
                      "columns, slot: not as the plan has them");
              Statistics s{slot.data(), nullptr, 0, 1, static_cast<int>(n_slots)};
              if (parts) {
                  require(parts->shape(1) == n_rows && (n_rows < 2 || parts->stride(1) == 1), "parts: runs of rows");
                  s.parts = parts->data();
                  s.stride = parts->stride(0);
                  s.n_parts = static_cast<int>(parts->shape(0));
              }
              const int32_t last = static_cast<int32_t>(n_slots) - s.n_parts;
              int outside = 0;
              for (size_t i = 0; i < n_rows; ++i) outside |= (s.slot[i] < 0) | (s.slot[i] > last);
              require(!outside, "slot: beyond the last");
              int64_t n_codes = 0;
              for (size_t j = 0; j < plan.n_columns(); ++j) n_codes += plan.column(j).none() + 1;
              require(static_cast<int64_t>(counts.shape(0)) == n_codes && n_codes * n_slots <= INT32_MAX,
                      "counts: a row for each bin and for missing");
              const auto count = [&](const auto& columns) {
                  nb::gil_scoped_release release;
                  for (int64_t start = 0; start < columns.n_rows; start += long_run) {
                      const int64_t n = std::min(long_run, columns.n_rows - start);
                      int64_t* at = counts.data();
                      for (size_t j = 0; j < plan.n_columns(); ++j) {
                          auto values = columns.values[j];
                          values.data += start * values.stride;
                          count_target(plan.column(j), values, n, s.from_row(start), at);
                          at += (plan.column(j).none() + 1) * static_cast<int64_t>(n_slots);
                      }
                  }
              };
              if (is_float32(table)) count(columns_of<float>(table, table.size()));
              else count(columns_of<double>(table, table.size()));
          },
          "plan"_a, "columns"_a, "slot"_a.noconvert(), "parts"_a.none().noconvert(), "counts"_a.noconvert());
}

void bind_pair_counts(nb::module_& m) {
    m.def("count_pairs",
          [](const Plan& plan, nb::tuple table, std::optional<Weights> weight, Flat<int64_t> counts) {
              require(table.size() == plan.n_columns(), "columns: not as many as the plan has");
              require(static_cast<int64_t>(counts.shape(0)) == n_pair_cells(plan),
                      "counts: a cell for each pair of bins of two columns");
              const auto count = [&](const auto& columns) {
                  require(!weight || static_cast<int64_t>(weight->shape(0)) == columns.n_rows, "weight: one per row");
                  nb::gil_scoped_release release;
                  count_pairs(plan, columns.values.data(), columns.n_rows, weight ? weight->data() : nullptr,
                              counts.data());
              };
              if (is_float32(table)) count(columns_of<float>(table, table.size()));
              else count(columns_of<double>(table, table.size()));
          },
          "plan"_a, "columns"_a, "weight"_a.none().noconvert(), "counts"_a.noconvert());
}

RunningSums running_sums(const Matrix<const int64_t>& below, const Flat<const double>& unit, bool classes) {
    require(below.shape(1) > 0 && unit.shape(0) == below.shape(0), "below: slots x (bins + 1), and a unit each");
    require(classes || below.shape(0) == 3, "below: weight, sum and sum of squares of a number");
    return {below.data(), unit.data(), static_cast<int>(below.shape(0)), static_cast<int64_t>(below.shape(1)) - 1,
            classes};
}

void require_stops(const Flat<const int64_t>& first_stop, int64_t n_bins) {
    require(static_cast<int64_t>(first_stop.shape(0)) == n_bins, "first_stop: one per bin");
    for (int64_t i = 0; i < n_bins; ++i) require(first_stop.data()[i] > i, "first_stop: not behind its start");
}

void bind_segments(nb::module_& m) {
    m.def("lowest_losses",
          [](Matrix<const int64_t> below, Flat<const double> unit, bool classes, Flat<const int64_t> first_stop,
             Matrix<double> lowest) {
              const RunningSums sums = running_sums(below, unit, classes);
              require_stops(first_stop, sums.n_bins);
              require(lowest.shape(0) > 0 && static_cast<int64_t>(lowest.shape(1)) == sums.n_bins + 1,
                      "lowest: (pieces + 1) x (bins + 1)");
              nb::gil_scoped_release release;
              lowest_losses(sums, first_stop.data(), static_cast<int64_t>(lowest.shape(0)) - 1, lowest.data());
          },
          "below"_a.noconvert(), "unit"_a.noconvert(), "classes"_a, "first_stop"_a.noconvert(),
          "lowest"_a.noconvert());
    m.def("monotone_starts",
          [](Matrix<const int64_t> below, Flat<const double> unit, bool classes, Flat<const int64_t> first_stop,
             double sign, Matrix<const double> remaining, Flat<const int64_t> block_stop, Flat<const double> to_end,
             double bound, double rounding) {
              const RunningSums sums = running_sums(below, unit, classes);
              require(sums.n_slots >= 2, "below: of two classes or a number");
              require_stops(first_stop, sums.n_bins);
              require(remaining.shape(0) > 0 && static_cast<int64_t>(remaining.shape(1)) == sums.n_bins + 1,
                      "remaining: (pieces + 1) x (bins + 1)");
              require_stops(block_stop, sums.n_bins);
              for (int64_t i = 0; i < sums.n_bins; ++i)
                  require(block_stop.data()[i] <= sums.n_bins, "block_stop: beyond the end");
              require(to_end.shape(0) == below.shape(1), "to_end: one per bin, and the end");
              nb::gil_scoped_release release;
              return monotone_starts(sums, first_stop.data(), static_cast<int64_t>(remaining.shape(0)) - 1, sign,
                                     remaining.data(), block_stop.data(), to_end.data(), bound, rounding);
          },
          "below"_a.noconvert(), "unit"_a.noconvert(), "classes"_a, "first_stop"_a.noconvert(), "sign"_a,
          "remaining"_a.noconvert(), "block_stop"_a.noconvert(), "to_end"_a.noconvert(), "bound"_a, "rounding"_a);
}

template <class F>
Pieces<F> pieces_of(const Plan& plan, const Matrix<const F>& value, const Matrix<const F>& slope,
                    const Flat<const F>& intercept) {
    const size_t n_outputs = intercept.shape(0), n_codes = static_cast<size_t>(plan.n_codes());
    require(value.shape(0) == n_outputs && value.shape(1) == n_codes, "value: n_outputs x n_codes");
    require(slope.shape(0) == n_outputs && slope.shape(1) == n_codes, "slope: n_outputs x n_codes");
    return {static_cast<int>(n_outputs), value.data(), slope.data(), intercept.data()};
}

template <class F>
void bind_additive(nb::module_& m) {
    m.def("additive_scores",
          [](const Plan& plan, nb::tuple table, Matrix<const F> value, Matrix<const F> slope,
             Flat<const F> intercept, Matrix<F> scores, Flat<int64_t> faults) {
              const Pieces<F> pieces = pieces_of<F>(plan, value, slope, intercept);
              const auto columns = columns_of<F>(table, plan.n_columns());
              require(static_cast<int64_t>(scores.shape(0)) == columns.n_rows &&
                          scores.shape(1) == intercept.shape(0),
                      "scores: n_rows x n_outputs");
              require(faults.shape(0) == 2 * plan.n_columns(), "faults: two counts per column");
              std::vector<Faults> counted(plan.n_columns());
              {
                  nb::gil_scoped_release release;
                  additive_scores(plan, columns.values.data(), columns.n_rows, pieces, scores.data(), counted.data());
              }
              for (size_t j = 0; j < counted.size(); ++j) {
                  faults.data()[2 * j] += counted[j].missing;
                  faults.data()[2 * j + 1] += counted[j].outside;
              }
          },
          "plan"_a, "columns"_a, "value"_a.noconvert(), "slope"_a.noconvert(), "intercept"_a.noconvert(),
          "scores"_a.noconvert(), "faults"_a.noconvert());
    m.def("additive_pass",
          [](const Plan& plan, nb::tuple table, Matrix<const F> value, Matrix<const F> slope,
             Flat<const F> intercept, int family, Flat<const F> y, std::optional<Flat<const F>> weight,
             Flat<double> sums) {
              const Pieces<F> pieces = pieces_of<F>(plan, value, slope, intercept);
              const auto columns = columns_of<F>(table, plan.n_columns());
              const auto n_rows = static_cast<size_t>(columns.n_rows);
              require(y.shape(0) == n_rows && (!weight || weight->shape(0) == n_rows), "y, weight: one per row");
              require(family >= 0 && family <= static_cast<int>(Family::multinomial), "family: unknown");
              require(static_cast<Family>(family) == Family::multinomial || pieces.n_outputs == 1,
                      "family: one output only");
              require(static_cast<int64_t>(sums.shape(0)) == pieces.n_outputs * 2 * (plan.n_codes() + 1),
                      "sums: wrong size");
              if (static_cast<Family>(family) == Family::multinomial)
                  for (size_t i = 0; i < n_rows; ++i)
                      require(y.data()[i] >= F(0) && y.data()[i] < F(pieces.n_outputs), "y: not a class");
              nb::gil_scoped_release release;
              return additive_pass(plan, columns.values.data(), columns.n_rows, pieces,
                                   static_cast<Family>(family), y.data(), weight ? weight->data() : nullptr,
                                   sums.data());
          },
          "plan"_a, "columns"_a, "value"_a.noconvert(), "slope"_a.noconvert(), "intercept"_a.noconvert(),
          "family"_a, "y"_a.noconvert(), "weight"_a.none(), "sums"_a.noconvert());
}

void bind_gram(nb::module_& m) {
    m.def("gram",
          [](Matrix<const uint32_t> left, Matrix<const uint32_t> right, Matrix<const float> fraction,
             Flat<const double> weight, int64_t first_column, int64_t last_column, Matrix<double> out) {
              const size_t n_columns = left.shape(0), n_rows = weight.shape(0), size = out.shape(0);
              require(out.shape(1) == size, "out: square");
              require(left.shape(1) == n_rows && right.shape(0) == n_columns && right.shape(1) == n_rows &&
                          fraction.shape(0) == n_columns && fraction.shape(1) == n_rows,
                      "left, right, fraction: columns x rows");
              require(0 <= first_column && first_column <= last_column &&
                          last_column <= static_cast<int64_t>(n_columns),
                      "columns: out of range");
              nb::gil_scoped_release release;
              for (size_t i = 0; i < n_columns * n_rows; ++i)
                  require(left.data()[i] < size && right.data()[i] < size, "left, right: beyond the matrix");
              gram(left.data(), right.data(), fraction.data(), static_cast<int64_t>(n_columns),
                   static_cast<int64_t>(n_rows), weight.data(), first_column, last_column,
                   static_cast<int64_t>(size), out.data());
          },
          "left"_a.noconvert(), "right"_a.noconvert(), "fraction"_a.noconvert(), "weight"_a.noconvert(),
          "first_column"_a, "last_column"_a, "out"_a.noconvert());
}

void bind_embed(nb::module_& m) {
    using Cube = nb::ndarray<float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
    using Table = Matrix<float>;
    const auto check = [](const Plan& plan, nb::tuple columns, const Table& table, const Cube& cube) {
        require(static_cast<int64_t>(table.shape(0)) == plan.n_levels(), "table: a row per level");
        require(static_cast<int64_t>(cube.shape(0)) == rows_of(columns) && cube.shape(1) == plan.n_columns() &&
                    cube.shape(2) == table.shape(1),
                "embeddings: rows x columns x dim");
    };
    const auto run = [](const Plan& plan, nb::tuple columns, auto kernel) {
        const auto call = [&](const auto& found) {
            nb::gil_scoped_release release;
            kernel(found.values.data(), found.n_rows);
        };
        if (is_float32(columns)) call(columns_of<float>(columns, plan.n_columns()));
        else call(columns_of<double>(columns, plan.n_columns()));
    };
    m.def("embed",
          [=](const Plan& plan, nb::tuple columns, Table table, Cube out) {
              check(plan, columns, table, out);
              const auto dim = static_cast<int64_t>(table.shape(1));
              run(plan, columns, [&](auto* values, int64_t n_rows) {
                  embed(plan, values, n_rows, table.data(), dim, out.data());
              });
          },
          "plan"_a, "columns"_a, "table"_a.noconvert(), "out"_a.noconvert());
    m.def("embed_gradient",
          [=](const Plan& plan, nb::tuple columns, size_t first_column, size_t last_column, Cube gradient,
              Table table_gradient) {
              check(plan, columns, table_gradient, gradient);
              require(first_column <= last_column && last_column <= plan.n_columns(), "columns: no such run");
              const auto dim = static_cast<int64_t>(table_gradient.shape(1));
              run(plan, columns, [&](auto* values, int64_t n_rows) {
                  embed_gradient(plan, values, n_rows, first_column, last_column, gradient.data(), dim,
                                 table_gradient.data());
              });
          },
          "plan"_a, "columns"_a, "first_column"_a, "last_column"_a, "gradient"_a.noconvert(),
          "table_gradient"_a.noconvert());
}

}  // namespace
}  // namespace softbin

NB_MODULE(_kernels, m) {
    using namespace softbin;
    m.doc() = "Compiled copies of softbin's NumPy definitions.";
    nb::class_<Plan>(m, "Plan")
        .def(nb::init<std::vector<double>, const std::vector<int64_t>&, std::vector<double>,
                      const std::vector<int64_t>&, const std::vector<int32_t>&, const std::vector<int32_t>&,
                      const std::vector<int8_t>&, const std::vector<int8_t>&, bool>(),
             "edges"_a, "edge_start"_a, "special"_a, "special_start"_a, "n_regular"_a, "missing"_a, "outside"_a,
             "periodic"_a, "soft"_a)
        .def_prop_ro("n_levels", &Plan::n_levels)
        .def_prop_ro("n_entries", &Plan::n_entries)
        .def_prop_ro("n_codes", &Plan::n_codes);
    bind_csr<float, int32_t>(m);
    bind_csr<float, int64_t>(m);
    bind_csr<double, int32_t>(m);
    bind_csr<double, int64_t>(m);
    bind_dense<float>(m);
    bind_dense<double>(m);
    bind_codes<uint8_t>(m);
    bind_codes<uint16_t>(m);
    bind_codes<uint32_t>(m);
    bind_counting(m);
    bind_target_counts(m);
    bind_pair_counts(m);
    bind_segments(m);
    bind_additive<float>(m);
    bind_additive<double>(m);
    bind_gram(m);
    bind_embed(m);
}
