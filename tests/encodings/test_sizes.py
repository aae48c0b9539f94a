"""Tables of unusual size: very long, very wide, one row, no column. Right, or a clear error, and never quadratic."""

import time
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.columns import each_encoder, make

import softbin.summaries.questions
from softbin import Boundaries, Grid, HardBins, SoftBins
from softbin.errors import DataError
from softbin.values.columns import per_column
from softbin.values.tables import read_table

LONG = 2**24 + 1


@pytest.fixture(scope="module")
def long_column():
    """Whole numbers up to the last that float32 can tell apart, shuffled by a step that meets each once."""
    return (np.arange(LONG) * 5_000_011 % LONG).astype(np.float32)[:, None]


def test_a_column_of_2_to_24_and_1_rows_is_cut_exactly(long_column):
    fitted = HardBins(16, output="ordinal").fit(long_column)
    edges = fitted.bin_edges_[0]
    # Each integer occurs once, but float32 rounds none of them away up to 2^24.
    assert len(np.unique(long_column[:1000])) == 1000
    np.testing.assert_array_equal(edges, [*((2 * LONG * k // 16 + 1) // 2 for k in range(16)), LONG - 1])
    counts = np.bincount(fitted.transform(long_column)[:, 0])
    assert counts.max() - counts.min() <= 1


def test_soft_bins_of_2_to_24_and_1_rows_stand_on_the_right_ranks(long_column):
    fitted = SoftBins(4).fit(long_column)
    np.testing.assert_allclose(fitted.bin_edges_[0], np.linspace(0, LONG - 1, 5), atol=1)
    codes, fractions = fitted.encode_compact(long_column)
    assert np.all(np.bincount(codes[:, 0]) > LONG // 5)
    assert fractions.min() >= 0
    assert fractions.max() <= 1


def seconds(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@pytest.mark.timing
@each_encoder
def test_10000_columns_take_seconds(encoder):
    wide = np.random.default_rng(0).normal(size=(1000, 10_000)).astype(np.float32)
    made = make(encoder, "quantile", n_jobs=None)
    assert seconds(lambda: made.fit(wide)) < 15
    assert seconds(lambda: made.encode_compact(wide)) < 3
    assert made.n_parameters_ == 10_000 * (10 + (encoder == "soft"))


@pytest.mark.timing
@pytest.mark.parametrize("frame_of", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_a_frame_of_many_columns_does_not_take_quadratic_time(frame_of):
    def read(n_columns):
        frame = frame_of({f"column {j}": np.zeros(2) for j in range(n_columns)})
        return min(seconds(lambda: read_table(frame)) for _ in range(3))

    assert read(2400) < 6 * 2 * read(400)


@pytest.mark.timing
def test_naming_many_columns_does_not_take_quadratic_time():
    def name(n_columns):
        names = tuple(f"column {j}" for j in range(n_columns))
        bins = dict.fromkeys(names, 3)
        return min(seconds(lambda: per_column("n_bins", bins, names, 10)) for _ in range(3))

    assert name(10_000) < 10 * 6 * name(1000)


@pytest.mark.timing
def test_a_grid_of_many_columns_is_edited_in_a_moment():
    names = tuple(f"column {j}" for j in range(5000))
    grid = Grid((Boundaries((0, 1)),) * 5000, names)
    assert min(seconds(lambda: grid.with_edges(dict.fromkeys(names, (0, 2)))) for _ in range(3)) < 3


@each_encoder
@pytest.mark.parametrize("n_columns", [129, 300])
def test_more_columns_than_one_pass_counts(encoder, n_columns, monkeypatch):
    values = np.random.default_rng(1).normal(size=(200, n_columns))
    expected = make(encoder, "quantile", 5).fit(values).grid_
    monkeypatch.setattr(softbin.summaries.questions, "SORT_ROWS", 0)
    assert make(encoder, "quantile", 5, n_jobs=2).fit(values).grid_ == expected


@each_encoder
def test_a_fit_of_many_columns_needs_little_memory_beside_the_table(encoder):
    table = np.random.default_rng(0).random((20_000, 200), dtype=np.float32)
    make(encoder, "quantile").fit(table[:100])
    tracemalloc.start()
    try:
        make(encoder, "quantile", n_jobs=2).fit(table)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < table.nbytes / 2


@each_encoder
@pytest.mark.parametrize("value", [3.5, np.nan, -0.0])
def test_one_row_one_column(encoder, value):
    fitted = make(encoder, "quantile", output="dense").fit([[value]])
    assert fitted.transform([[value]]).tolist() == [[1]]


@each_encoder
def test_no_column_is_a_clear_error(encoder):
    with pytest.raises(DataError, match=r"0 feature\(s\)"):
        make(encoder, "quantile").fit(np.zeros((5, 0)))


@each_encoder
def test_more_bins_than_rows(encoder):
    fitted = make(encoder, "quantile", 1000).fit(np.arange(5.0)[:, None])
    assert fitted.n_parameters_ == 5
