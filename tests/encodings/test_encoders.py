"""The fitted encoders: attributes, names, inverse, compact form, memory, and grids that were edited."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from tests.columns import OUTPUTS, each_dtype, each_encoder, make, ugly_columns
from tests.same import assert_same_bits, assert_same_matrix, dense

import softbin.encodings.tables as tables
from softbin import Boundaries, Grid, HardBins, SoftBins
from softbin.errors import DataError, OptionError

RNG = np.random.default_rng(6)
X = RNG.normal(size=(300, 28)).astype(np.float32)
UGLY = np.stack(list(ugly_columns().values()), axis=1)
each_output = pytest.mark.parametrize(("encoder", "output"), OUTPUTS)


def test_28_columns_have_308_knots_and_280_bins():
    assert SoftBins(10).fit(X).n_parameters_ == 308
    assert HardBins(10).fit(X).n_parameters_ == 280


@each_encoder
def test_fitted_attributes_describe_the_grid(encoder):
    fitted = make(encoder, "quantile", 5).fit(UGLY)
    assert len(fitted.bin_edges_) == len(fitted.n_bins_) == len(fitted.fit_report_) == fitted.n_features_in_ == 10
    for edges, n_bins, boundaries in zip(fitted.bin_edges_, fitted.n_bins_, fitted.grid_, strict=True):
        assert tuple(edges) == boundaries.edges
        assert n_bins == boundaries.n_bins
    assert fitted.transform(UGLY).shape[1] == fitted.n_parameters_


def test_the_fit_report_says_what_was_asked_got_and_why():
    column = np.concatenate([np.zeros(70), np.arange(1.0, 31), [np.nan, np.inf]])
    report = HardBins(5).fit(np.stack([column, np.arange(102) % 2], axis=1)).fit_report_
    heavy, binary = report
    assert (heavy.column, heavy.asked, heavy.got, heavy.distinct) == ("x0", 5, 5, 31)
    assert (heavy.missing, heavy.infinite) == (1, 1)
    assert "0 (70%)" in heavy.note
    assert (binary.got, binary.note) == (2, "2 distinct values, a bin for each")
    assert report.to_dict()["got"] == [5, 2]
    lines = str(report).splitlines()
    assert [line.split()[0] for line in lines] == ["column", "x0", "x1"]
    assert report[1] == binary


def test_names_of_levels():
    grid = Grid(
        (Boundaries((0, 20, 35), "level", (-999,)), Boundaries((7,)), Boundaries((0, 6, 24), period=(0, 24))),
        names=("age", "one", "hour"),
    )
    assert SoftBins.from_grid(grid).get_feature_names_out().tolist() == [
        "age@0", "age@20", "age@35", "age[=-999]", "age[missing]", "one@7", "hour@0", "hour@6",
    ]  # fmt: skip
    assert HardBins.from_grid(grid).get_feature_names_out().tolist() == [
        "age[0,20)", "age[20,35]", "age[=-999]", "age[missing]", "one[7]", "hour[0,6)", "hour[6,24]",
    ]  # fmt: skip
    assert HardBins.from_grid(grid, output="ordinal").get_feature_names_out().tolist() == ["age", "one", "hour"]


def test_names_keep_close_edges_apart():
    edges = (1.0, np.nextafter(1, 2), 2.0)
    names = SoftBins.from_grid(Grid((Boundaries(edges),))).get_feature_names_out()
    assert len(set(names)) == 3
    assert names[0] != "x0@1.00000"


@each_encoder
def test_names_can_be_given_and_are_checked(encoder):
    fitted = make(encoder, "quantile", 2).fit(X[:, :2])
    assert fitted.get_feature_names_out(["a", "b"])[0].startswith("a")
    with pytest.raises(OptionError, match="should have length equal to number of features"):
        fitted.get_feature_names_out(["a"])


@each_output
@each_dtype
def test_inverse_keeps_shape_and_dtype(encoder, output, dtype):
    fitted = make(encoder, "quantile", output=output).fit(X.astype(dtype))
    back = fitted.inverse_transform(fitted.transform(X.astype(dtype)))
    assert back.shape == X.shape
    assert back.dtype == (np.float64 if output == "ordinal" else dtype)
    if encoder == "soft":
        np.testing.assert_allclose(back, X, atol=2e-6)


@pytest.mark.parametrize("output", ["sparse", "dense", "ordinal"])
def test_the_inverse_of_a_hard_bin_is_its_mean(output):
    fitted = HardBins(4, output=output).fit(UGLY)
    codes = HardBins(4, output="ordinal").fit_transform(UGLY)
    back = fitted.inverse_transform(fitted.transform(UGLY))
    for j in range(UGLY.shape[1]):
        for code in np.unique(codes[:, j]):
            inside = codes[:, j] == code
            values = UGLY[inside, j]
            scale = np.abs(values).max()
            expected = np.full(len(values), values.mean())
            np.testing.assert_allclose(back[inside, j], expected, rtol=0, atol=1e-9 * np.nan_to_num(scale))


@pytest.mark.parametrize("output", ["sparse", "dense"])
@each_encoder
def test_all_zero_rows_decode_to_missing(encoder, output):
    fitted = make(encoder, "quantile", missing="zero", output=output).fit(X)
    assert np.isnan(fitted.inverse_transform(fitted.transform(np.full((2, 28), np.nan)))).all()


@each_output
def test_what_is_no_encoding_is_not_decoded(encoder, output):
    fitted = make(encoder, "quantile", output=output).fit(X)
    for bad in (np.zeros((3, 5)), np.zeros(3)):
        with pytest.raises(DataError, match="is not an encoding of"):
            fitted.inverse_transform(bad)


@each_output
@pytest.mark.parametrize("dtype", ["U1", object, complex])
def test_an_encoding_holds_numbers(encoder, output, dtype):
    fitted = make(encoder, "quantile", output=output).fit(X)
    with pytest.raises(DataError, match="not a dtype of numbers"):
        fitted.inverse_transform(np.zeros((2, fitted.n_parameters_)).astype(dtype))
    codes, fractions = fitted.encode_compact(X)
    with pytest.raises(DataError, match="fractions"):
        fitted.compact_to_csr(codes, fractions.astype(dtype))


@pytest.mark.parametrize("bad", [-1, 11, 0.5, np.nan, np.inf])
def test_codes_that_are_none_are_not_decoded(bad):
    fitted = HardBins(10, output="ordinal").fit(X[:, :1])
    with pytest.raises(DataError, match="codes"):
        fitted.inverse_transform([[bad]])


@each_encoder
@pytest.mark.parametrize("options", [{}, {"missing": "level", "special": [-999]}, {"missing": "zero"}])
def test_compact_output_says_the_same_as_sparse_output(encoder, options):
    values = np.clip(UGLY, -1e30, 1e30)
    if "special" in options:
        values = np.where(UGLY < -1.5, -999, values)
    if not options:
        values = np.nan_to_num(values)
    values = values.astype(np.float32)
    fitted = make(encoder, "quantile", **options).fit(values)
    codes, fractions = fitted.encode_compact(values)
    assert codes.dtype == np.uint8
    assert fractions.dtype == np.float32
    assert codes.shape == fractions.shape == values.shape
    assert_same_matrix(fitted.compact_to_csr(codes, fractions), fitted.transform(values))


def test_compact_codes_grow_to_uint16():
    column = np.arange(1000.0)[:, None]
    codes, _ = SoftBins(300).fit(column).encode_compact(column)
    assert codes.dtype == np.uint16
    assert codes.max() == 299


@each_encoder
def test_compact_arrays_that_do_not_fit_are_refused(encoder):
    fitted = make(encoder, "quantile").fit(X)
    codes, fractions = fitted.encode_compact(X)
    for bad in ((codes[:, :3], fractions[:, :3]), (codes + 50, fractions), (codes, fractions[:5])):
        with pytest.raises(DataError, match=r"codes|fractions"):
            fitted.compact_to_csr(*bad)


@each_dtype
@given(n_rows=st.integers(1, 40))
def test_estimated_memory_is_the_memory_of_the_output(dtype, n_rows):
    values = X[:n_rows].astype(dtype)
    for encoder in ("hard", "soft"):
        fitted = make(encoder, "quantile", 300).fit(X.astype(dtype))
        estimate = fitted.estimate_memory(n_rows)
        sparse = fitted.transform(values)
        assert estimate["sparse"] == sparse.data.nbytes + sparse.indices.nbytes + sparse.indptr.nbytes
        assert (
            estimate["dense"]
            == make(encoder, "quantile", 300, output="dense").fit(X.astype(dtype)).transform(values).nbytes
        )
        assert estimate["compact"] == sum(part.nbytes for part in fitted.encode_compact(values))
    ordinal = HardBins(300, output="ordinal").fit(X.astype(dtype))
    assert ordinal.estimate_memory(n_rows)["ordinal"] == ordinal.transform(values).nbytes


@each_encoder
def test_indices_are_int32_until_they_would_overflow(encoder, monkeypatch):
    fitted = make(encoder, "quantile").fit(X)
    narrow = fitted.transform(X)
    assert narrow.indices.dtype == narrow.indptr.dtype == np.int32
    assert narrow.data.dtype == np.float32
    compact = fitted.encode_compact(X)
    monkeypatch.setattr(tables, "LARGEST_INT32", narrow.nnz - 1)
    for wide in (fitted.transform(X), fitted.compact_to_csr(*compact)):
        assert wide.indices.dtype == wide.indptr.dtype == np.int64
        assert wide.data.dtype == np.float32
        np.testing.assert_array_equal(wide.indices, narrow.indices)
    assert fitted.estimate_memory(300)["sparse"] == wide.data.nbytes + wide.indices.nbytes + wide.indptr.nbytes
    monkeypatch.setattr(tables, "LARGEST_INT32", narrow.nnz)
    assert fitted.transform(X).indices.dtype == np.int32


def test_2_to_31_entries_need_wide_indices():
    fitted = SoftBins(10).fit(X)
    rows = 2**31 // 56
    assert fitted.estimate_memory(rows)["sparse"] == rows * 56 * 8 + (rows + 1) * 4
    assert fitted.estimate_memory(rows + 1)["sparse"] == (rows + 1) * 56 * 12 + (rows + 2) * 8


@each_output
def test_sparse_matrices_are_sorted_and_canonical(encoder, output):
    encoded = make(encoder, "quantile", missing="level", special=[0.0]).fit_transform(UGLY)
    claimed = encoded.copy()
    assert claimed.has_sorted_indices
    fresh = type(encoded)((encoded.data, encoded.indices, encoded.indptr), shape=encoded.shape)
    assert fresh.has_sorted_indices
    assert fresh.has_canonical_format
    assert output in ("sparse", "dense", "ordinal")


@each_output
def test_an_encoder_from_a_grid_encodes_like_the_fitted_one(encoder, output):
    fitted = make(encoder, "quantile", output=output).fit(UGLY)
    again = type(fitted).from_grid(fitted.grid_, output=output)
    assert again.grid_ == fitted.grid_
    assert_same_matrix(again.transform(UGLY), fitted.transform(UGLY))
    np.testing.assert_array_equal(again.get_feature_names_out(), fitted.get_feature_names_out())
    assert again.n_features_in_ == 10
    assert len(again.fit_report_) == 0


@each_encoder
def test_an_edited_grid_is_used_exactly(encoder):
    fitted = make(encoder, "quantile", 4).fit(X[:, :2])
    edited = fitted.grid_.with_edges({0: [-1, 0, 1]}).merge(1, 0).split(1, 0.123)
    again = type(fitted).from_grid(edited, output="dense")
    assert again.bin_edges_[0].tolist() == [-1, 0, 1]
    assert 0.123 in again.bin_edges_[1]
    assert len(again.transform(X[:, :2])) == 300


def test_an_encoder_needs_a_grid_with_columns_that_it_can_encode():
    with pytest.raises(OptionError, match="no column"):
        SoftBins.from_grid(Grid(()))
    with pytest.raises(OptionError, match="outside='linear' is for SoftBins"):
        HardBins.from_grid(Grid((Boundaries((0, 1), outside="linear"),)))
    with pytest.raises(OptionError, match="output: 'ordinal'"):
        SoftBins.from_grid(Grid((Boundaries((0, 1)),)), output="ordinal")
    with pytest.raises(OptionError, match="is not a Grid"):
        SoftBins.from_grid([[0, 1]])
    with pytest.raises(OptionError, match="missing: the grid says this already"):
        SoftBins.from_grid(Grid((Boundaries((0, 1)),)), missing="zero")


@each_encoder
@pytest.mark.parametrize("changed", [{"output": "foo"}, {"dtype": "int8"}])
def test_options_changed_after_a_fit_are_checked_too(encoder, changed):
    fitted = make(encoder, "quantile").fit(X)
    encoded = fitted.transform(X)
    fitted.set_params(**changed)
    for call in (lambda: fitted.transform(X), lambda: fitted.inverse_transform(encoded)):
        with pytest.raises(OptionError, match=next(iter(changed))):
            call()


def test_soft_bins_do_not_become_ordinal_after_a_fit():
    with pytest.raises(OptionError, match="output: 'ordinal'"):
        SoftBins().fit(X).set_params(output="ordinal").transform(X)


@each_encoder
@pytest.mark.parametrize("call", ["transform", "inverse_transform", "encode_compact", "get_feature_names_out", "grid_"])
def test_an_unfitted_encoder_says_so(encoder, call):
    made = make(encoder, "quantile")
    arguments = [] if call in ("get_feature_names_out", "grid_") else [X]
    with pytest.raises(NotFittedError):
        getattr(made, call)(*arguments)


@each_output
def test_one_row_is_encoded(encoder, output):
    fitted = make(encoder, "quantile", output=output).fit(X[:1])
    assert fitted.n_parameters_ == 28
    encoded = dense(fitted.transform(X[:1]))
    assert_same_bits(encoded, np.full((1, 28), 0 if output == "ordinal" else 1, encoded.dtype))


@each_encoder
def test_huge_training_values_beyond_user_edges_can_be_saved(encoder):
    fitted = make(encoder, "quantile", edges=[[0, 1]]).fit(np.full((100, 1), 1e308))
    assert Grid.from_json(fitted.grid_.to_json()) == fitted.grid_


@pytest.mark.parametrize("output", ["sparse", "dense"])
def test_float32_weights_of_huge_values_decode_to_huge_values(output):
    column = np.linspace(-1e300, 1e300, 50)[:, None]
    fitted = SoftBins(5, output=output, dtype=np.float32).fit(column)
    np.testing.assert_allclose(fitted.inverse_transform(fitted.transform(column)), column, rtol=1e-6, atol=1e294)
