"""Every option: what it does, per column, and what it says when it cannot be used."""

import numpy as np
import pandas as pd
import pytest
from tests.columns import TwoHalves, each_encoder, fit_column, make
from tests.same import dense

from softbin import HardBins, SoftBins
from softbin.boundaries import Quantile, Uniform
from softbin.errors import DataError, OptionError

RNG = np.random.default_rng(5)
X = RNG.normal(size=(200, 3))
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


@each_encoder
@pytest.mark.parametrize("n_bins", [{"b": 5, "c": 2}, {1: 5, "c": 2}, [10, 5, 2], np.array([10, 5, 2]), (10, 5, 2)])
def test_n_bins_per_column(encoder, n_bins):
    assert make(encoder, "quantile", n_bins).fit(FRAME).n_bins_.tolist() == [10, 5, 2]


@each_encoder
@pytest.mark.parametrize("edges", [{"b": [0, 1, 2]}, {1: (0, 1, 2)}, [None, np.array([0, 1, 2]), None]])
def test_edges_per_column_are_used_exactly(encoder, edges):
    fitted = make(encoder, "quantile", 4, edges=edges).fit(FRAME)
    assert fitted.bin_edges_[1].tolist() == [0, 1, 2]
    assert fitted.n_bins_.tolist() == [4, 2, 4]
    assert [column.asked for column in fitted.fit_report_] == [4, 2, 4]


@each_encoder
def test_edges_are_used_exactly_even_where_the_column_is_all_missing(encoder):
    """A user who wrote edges down gets those edges, whatever the training sample happened to hold."""
    fitted = fit_column(encoder, "quantile", [np.nan, np.nan], edges=[[0, 18, 65]], output="dense")
    assert fitted.bin_edges_[0].tolist() == [0, 18, 65]
    assert fitted.transform([[20.0]])[0, -1] == 0


@each_encoder
@pytest.mark.parametrize(
    ("special", "codes"),
    [([-999, 7], [(-999, 7)] * 3), (-999, [(-999,)] * 3), ({"b": [1]}, [(), (1,), ()]), ({2: 4}, [(), (), (4,)])],
)
def test_special_codes_for_all_columns_or_per_column(encoder, special, codes):
    assert [b.special for b in make(encoder, "quantile", special=special).fit(FRAME).grid_] == codes


@each_encoder
def test_special_codes_have_a_level_and_are_not_binned(encoder):
    column = np.concatenate([np.linspace(0, 1, 50), [-999.0] * 30, [np.nan] * 5])
    fitted = fit_column(encoder, "quantile", column, 4, special=[-999, -1], output="dense")
    (boundaries,) = fitted.grid_
    assert (boundaries.edges[0], boundaries.edges[-1]) == (0, 1)
    assert boundaries.special_weight == (30, 0)
    assert boundaries.missing_weight == 5
    assert sum(boundaries.weight) == 50
    codes = fitted.transform([[-999.0], [-1.0], [np.nan]])
    assert codes[:, -3:].tolist() == np.eye(3).tolist()
    assert not codes[:, :-3].any()
    assert fitted.inverse_transform(codes)[:2, 0].tolist() == [-999, -1]


@each_encoder
def test_special_codes_alone_do_not_make_a_missing_level(encoder):
    fitted = fit_column(encoder, "quantile", [0.0, 1.0, -999.0], special=[-999])
    assert fitted.grid_[0].missing == "error"
    assert fitted.get_feature_names_out()[-1] == "x0[=-999]"


@each_encoder
@pytest.mark.parametrize(("output", "blank"), [("dense", 0), ("sparse", 0)])
def test_missing_auto_level_zero_and_error(encoder, output, blank):
    full, holes = X[:, :1], np.where(np.arange(200) < 5, np.nan, X[:, 0])[:, None]
    new = np.array([[np.nan], [0.0]])

    def encoded(missing, train):
        return dense(make(encoder, "quantile", missing=missing, output=output).fit(train).transform(new))

    for missing, train in (("auto", holes), ("level", holes), ("level", full)):
        rows = encoded(missing, train)
        assert rows[0, -1] == rows[0].sum() == 1
        assert rows[1, -1] == 0
    for train in (holes, full):
        rows = encoded("zero", train)
        assert rows[0].tolist() == [blank] * len(rows[0])
        assert rows[1].sum() == 1
    with pytest.raises(DataError, match="column 'x0': 1 missing values"):
        encoded("auto", full)
    with pytest.raises(DataError, match="column 'x0': 1 missing values"):
        encoded("error", full)
    with pytest.raises(DataError, match="column 'x0': 5 missing values"):
        encoded("error", holes)


@pytest.mark.parametrize("missing", ["level", "zero"])
def test_missing_ordinals_follow_the_last_bin(missing):
    fitted = HardBins(4, output="ordinal", missing=missing).fit(X)
    codes = fitted.transform(np.full((1, 3), np.nan))
    assert codes.tolist() == [[4, 4, 4]]
    assert np.isnan(fitted.inverse_transform(codes)).all()


@each_encoder
def test_clip_puts_outside_values_into_the_end_bins(encoder):
    fitted = fit_column(encoder, "quantile", X[:, 0], output="dense")
    edges = fitted.bin_edges_[0]
    for outside, end in ((-1e9, edges[0]), (-np.inf, edges[0]), (1e9, edges[-1]), (np.inf, edges[-1])):
        np.testing.assert_array_equal(fitted.transform([[outside]]), fitted.transform([[end]]))


def test_linear_follows_the_end_slopes():
    fitted = fit_column("soft", "quantile", [0.0, 1, 3], edges=[[0, 1, 3]], outside="linear", output="dense")
    assert fitted.transform([[-2.0], [7.0]]).tolist() == [[3, -2, 0], [0, -2, 3]]
    assert fitted.inverse_transform(fitted.transform([[-2.0], [7.0]]))[:, 0].tolist() == [-2, 7]
    with pytest.raises(DataError, match="column 'x0': 1 values are infinite"):
        fitted.transform([[np.inf]])


@pytest.mark.parametrize("output", ["sparse", "dense"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_end_slopes_decode_however_far_outside(dtype, output):
    fitted = SoftBins(2, outside="linear", output=output).fit(np.array([[0], [1], [2]], dtype))
    far = np.array([[-1e9], [1e9], [1e18], [-1e30]], dtype)
    np.testing.assert_allclose(fitted.inverse_transform(fitted.transform(far)), far, rtol=1e-6)


@each_encoder
def test_error_names_the_column_and_the_count(encoder):
    fitted = make(encoder, "quantile", outside="error").fit(FRAME)
    fitted.transform(FRAME)
    new = FRAME.copy()
    new.loc[:3, "b"] = [1e9, -1e9, np.inf, 50]
    with pytest.raises(DataError, match=r"column 'b': 4 values lie outside \["):
        fitted.transform(new)


@each_encoder
def test_infinite_training_values_are_clipped_or_an_error(encoder):
    column = np.array([0.0, 1, 2, np.inf, -np.inf])
    fitted = fit_column(encoder, "quantile", column, 3)
    assert (fitted.bin_edges_[0][0], np.floor(fitted.bin_edges_[0][-1])) == (0, 2)
    assert fitted.fit_report_[0].infinite == 2
    with pytest.raises(DataError, match="column 'x0': 2 values are infinite"):
        fit_column(encoder, "quantile", column, outside="error")


def test_infinity_on_a_circle_is_outside_too():
    fitted = fit_column("soft", "uniform", np.arange(24.0), period={0: (0, 24)}, outside="error")
    fitted.transform([[25.0]])
    with pytest.raises(DataError, match="column 'x0'"):
        fitted.transform([[np.inf]])


def test_hard_bins_have_no_slope_to_follow():
    with pytest.raises(OptionError, match="outside"):
        HardBins(outside="linear").fit(X)


@pytest.mark.parametrize("strategy", ["quantile", "uniform", "kmeans"])
def test_one_minute_before_midnight_is_next_to_midnight(strategy):
    hours = np.random.default_rng(0).uniform(0, 24, 500)
    fitted = fit_column("soft", strategy, hours, 8, period={0: (0, 24)}, output="dense")
    before, after, next_day = fitted.transform([[23 + 59 / 60], [0.0], [24.0]])
    assert after[0] == 1
    np.testing.assert_array_equal(after, next_day)
    assert np.abs(before - after).max() < 0.05
    assert fitted.n_parameters_ == fitted.n_bins_[0] == 8
    np.testing.assert_allclose(fitted.transform([[25.5], [-22.5]]), np.tile(fitted.transform([[1.5]]), (2, 1)))


def test_a_periodic_column_decodes_to_its_values():
    hours = np.random.default_rng(0).uniform(0, 24, 500)
    fitted = fit_column("soft", "quantile", hours, 8, period={0: (0, 24)}, output="dense")
    np.testing.assert_allclose(fitted.inverse_transform(fitted.transform(hours[:, None]))[:, 0], hours, atol=1e-9)


def test_a_value_that_wraps_onto_a_code_is_the_code_in_fit_and_in_transform():
    hours = np.array([[0.0], [24.0], [5.0], [7.0], [11.0], [18.0]])
    fitted = SoftBins(3, period={0: (0, 24)}, special=[0], output="dense").fit(hours)
    assert fitted.transform(hours)[:, -1].tolist() == [1, 1, 0, 0, 0, 0]
    assert fitted.grid_[0].special_weight == (2,)
    assert sum(fitted.grid_[0].weight) == 4


def test_a_period_belongs_to_its_column():
    fitted = SoftBins(4, period={"b": (-10, 10)}).fit(FRAME)
    assert [boundaries.period for boundaries in fitted.grid_] == [None, (-10, 10), None]
    assert SoftBins(4, period=[None, (-10, 10), None]).fit(FRAME).grid_ == fitted.grid_


@each_encoder
@pytest.mark.parametrize("dtype", [None, np.float32, np.float64, "float32", "<f8"])
@pytest.mark.parametrize("given", [np.float32, np.float64, np.int64, np.float16])
def test_dtype_of_the_output(encoder, dtype, given):
    values = (X * 10).astype(given)
    out = np.dtype(dtype) if dtype else np.dtype(np.float32 if given in (np.float32, np.float16) else np.float64)
    for output in ("sparse", "dense"):
        fitted = make(encoder, "quantile", output=output, dtype=dtype).fit(values)
        assert fitted.transform(values).dtype == out


@pytest.mark.parametrize(
    ("n_bins", "missing", "dtype"),
    [(2, "error", np.uint8), (256, "error", np.uint8), (256, "level", np.uint16), (256, "zero", np.uint16),
     (257, "error", np.uint16), (3000, "level", np.uint16)],
)  # fmt: skip
def test_ordinals_have_the_smallest_dtype_that_fits(n_bins, missing, dtype):
    column = np.arange(5000.0)[:, None]
    codes = HardBins(n_bins, output="ordinal", missing=missing).fit(column).transform(column)
    assert codes.dtype == dtype
    assert codes.max() == n_bins - 1


def test_more_bins_than_uint16_can_count():
    column = np.arange(70_000.0)[:, None]
    codes = HardBins(70_000, output="ordinal").fit_transform(column)
    assert codes.dtype == np.uint32
    np.testing.assert_array_equal(codes, column)


@each_encoder
@pytest.mark.parametrize("rule", [Quantile(3), Uniform(3), TwoHalves()])
def test_a_rule_object_is_a_strategy(encoder, rule):
    fitted = make(encoder, "quantile").set_params(strategy=rule).fit(X)
    assert fitted.n_bins_.tolist() == [getattr(rule, "n_bins", 2)] * 3
    assert fitted.fit_report_[0].asked == getattr(rule, "n_bins", 10)


BAD = [
    ({"n_bins": 0}, "n_bins: 0"),
    ({"n_bins": -3}, "n_bins: -3"),
    ({"n_bins": 2.5}, "n_bins: 2.5"),
    ({"n_bins": "ten"}, "n_bins: 'ten'"),
    ({"n_bins": None}, "n_bins: None"),
    ({"n_bins": True}, "n_bins: True"),
    ({"n_bins": [3, 3]}, "n_bins: 2 entries for 3 columns"),
    ({"n_bins": {"x0": 0}}, "n_bins: 0"),
    ({"n_bins": {"z": 3}}, "column 'z'"),
    ({"n_bins": np.array(5.5)}, "n_bins"),
    ({"strategy": "median"}, "strategy: 'median'"),
    ({"strategy": None}, "strategy: None"),
    ({"strategy": object()}, "strategy"),
    ({"strategy": Quantile(4), "n_bins": 5}, "n_bins: 5 contradicts"),
    ({"edges": [0, 1, 2]}, "flat list"),
    ({"edges": np.array([0.0, 1, 2])}, "flat list"),
    ({"edges": [[0, 1]]}, "edges: 1 entries for 3 columns"),
    ({"edges": {"x1": [0, 2, 1]}}, "column 'x1': edges.*strictly increase"),
    ({"edges": {"x1": [0, 0]}}, "column 'x1': edges"),
    ({"edges": {"x1": [0]}}, "column 'x1': edges"),
    ({"edges": {"x1": []}}, "column 'x1': edges"),
    ({"edges": {"x1": 5}}, "column 'x1'"),
    ({"edges": {"x1": [0, np.inf]}}, "column 'x1': edges: inf"),
    ({"edges": {"x9": [0, 1]}}, "column 'x9'"),
    ({"edges": 5}, "edges"),
    ({"output": "csr"}, "output: 'csr'"),
    ({"output": None}, "output: None"),
    ({"missing": "ignore"}, "missing: 'ignore'"),
    ({"missing": None}, "missing: None"),
    ({"special": [1, 1]}, "special: a code stands twice"),
    ({"special": [np.nan]}, "special: nan"),
    ({"special": {"x9": [1]}}, "column 'x9'"),
    ({"special": "none"}, "special"),
    ({"special": object()}, "special"),
    ({"outside": "drop"}, "outside: 'drop'"),
    ({"outside": None}, "outside: None"),
    ({"dtype": np.float16}, "dtype"),
    ({"dtype": int}, "dtype"),
    ({"dtype": "floaty"}, "dtype"),
    ({"n_jobs": 0}, "n_jobs: 0"),
    ({"n_jobs": 1.5}, "n_jobs: 1.5"),
    ({"n_jobs": "all"}, "n_jobs: 'all'"),
]


@each_encoder
@pytest.mark.parametrize(("options", "word"), BAD, ids=[f"{next(iter(options))}-{word}" for options, word in BAD])
def test_an_option_that_cannot_be_used_is_named_with_its_value(encoder, options, word):
    with pytest.raises(OptionError, match=word):
        type(make(encoder, "quantile"))(**options).fit(X)


@pytest.mark.parametrize(
    ("period", "word"),
    [
        ({"x0": (1, 0)}, "column 'x0': period"),
        ({"x0": 24}, "column 'x0': period"),
        ({"x0": (0, np.inf)}, "column 'x0': period"),
        ({"x7": (0, 1)}, "column 'x7'"),
        ((0, 24), "period"),
        (24, "period"),
    ],
)
def test_a_period_that_cannot_be_used_is_named(period, word):
    with pytest.raises(OptionError, match=word):
        SoftBins(period=period).fit(X)


def test_edges_that_do_not_span_their_period_name_the_column():
    with pytest.raises(OptionError, match=r"column 'x1': .*do not span the period"):
        SoftBins(period={"x1": (0, 24)}, edges={"x1": [1, 12, 24]}).fit(X)


def test_numpy_integers_count_threads():
    assert HardBins(n_jobs=np.int64(2)).fit(X).n_bins_.tolist() == [10, 10, 10]


def test_soft_bins_have_no_ordinals():
    with pytest.raises(OptionError, match="output: 'ordinal' is not one of 'sparse', 'dense'"):
        SoftBins(output="ordinal").fit(X)
