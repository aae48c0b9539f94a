"""Rows on disk: made once, the same for the same source, from simulation or from files as UCI has them."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from softbin import simulate_higgs, simulate_susy
from softbin.errors import DataError, OptionError
from softbin.paper.samples import Source, prepare, sources

MADE = simulate_higgs(900, seed=3)


def write_csv(path, made):
    lines = [",".join([f"{label:.1f}", *map(repr, row.tolist())]) for label, row in zip(made.y, made.X, strict=True)]
    with gzip.open(path, "wt") as file:
        file.write("\n".join(lines) + "\n")


def write_parquet(path, made):
    pq.write_table(pa.table([made.y, *made.X.T.copy()], names=["label", *made.columns]), path)


def test_a_sample_is_made_once_and_is_the_simulation(tmp_path):
    first = prepare(Source("HIGGS", 400, 100, seed=3), tmp_path)
    made = (first.folder / "X.npy").stat().st_mtime_ns
    again = prepare(Source("HIGGS", 400, 100, seed=3), tmp_path)
    assert first == again
    assert (first.folder / "X.npy").stat().st_mtime_ns == made
    assert np.array_equal(first.X, MADE.X[:500])
    assert (first.n_train, first.n_test) == (400, 100)
    assert prepare(Source("HIGGS", 400, 100, seed=4), tmp_path).hash != first.hash


@pytest.mark.filterwarnings("ignore:.*may not be UCI HIGGS:UserWarning")
def test_files_as_uci_has_them_give_the_rows_they_hold(tmp_path, monkeypatch):
    monkeypatch.setenv("SOFTBIN_CACHE", str(tmp_path / "cache"))
    write_csv(tmp_path / "HIGGS.csv.gz", MADE)
    from_csv, *rest = sources(str(tmp_path), 10_000, 200, 0)
    assert not rest
    sample = prepare(from_csv, tmp_path / "data")
    assert np.array_equal(sample.X, MADE.X)
    assert np.array_equal(sample.y, MADE.y)
    assert (sample.n_train, sample.n_test, sample.simulated) == (700, 200, False)

    (tmp_path / "HIGGS.csv.gz").unlink()
    write_parquet(tmp_path / "higgs_sample.parquet", MADE)
    same = prepare(sources(str(tmp_path / "higgs_sample.parquet"), 10_000, 200, 0)[0], tmp_path / "data")
    assert same.hash == sample.hash


def test_fewer_rows_keep_the_test_rows(tmp_path):
    write_parquet(tmp_path / "higgs.parquet", MADE)
    sample = prepare(sources(str(tmp_path), 300, 200, 0)[0], tmp_path / "data")
    assert np.array_equal(sample.X[:300], MADE.X[:300])
    assert np.array_equal(sample.X[300:], MADE.X[700:])


def test_folds_need_no_test_rows(tmp_path):
    write_parquet(tmp_path / "higgs.parquet", MADE)
    sample = prepare(sources(str(tmp_path), 10_000, None, 5)[0], tmp_path / "data")
    assert (sample.n_train, sample.n_test) == (900, 0)


def test_a_replaced_file_is_another_source(tmp_path):
    write_parquet(tmp_path / "higgs.parquet", MADE)
    before = sources(str(tmp_path), 500, 200, 0)
    write_parquet(tmp_path / "higgs.parquet", simulate_higgs(900, seed=4))
    assert sources(str(tmp_path), 500, 200, 0) != before


def test_rows_of_the_papers_size_stop_at_what_there_is():
    assert [source.rows for source in sources("simulated", 10_500_000, None, 0)] == [10_500_000, 4_500_000]


def test_errors_say_what_is_wrong(tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        sources(str(tmp_path / "nowhere"), 100, None, 0)
    with pytest.raises(DataError, match="begins with higgs or susy"):
        sources(str(tmp_path), 100, None, 0)
    write_parquet(tmp_path / "higgs.parquet", MADE)
    with pytest.raises(DataError, match="cannot spare 500000"):
        prepare(sources(str(tmp_path), 100, None, 0)[0], tmp_path / "data")
    write_parquet(tmp_path / "susy.parquet", MADE)
    with pytest.raises(DataError, match="28 columns beside 'label'; SUSY has 18"):
        prepare(sources(str(tmp_path / "susy.parquet"), 100, 100, 0)[0], tmp_path / "data")
    write_parquet(tmp_path / "higgs_2.parquet", MADE)
    with pytest.raises(OptionError, match="both hold HIGGS"):
        sources(str(tmp_path), 100, None, 0)


def test_labels_that_are_not_0_and_1_are_an_error(tmp_path):
    made = simulate_susy(300, seed=0)
    pq.write_table(pa.table([made.y + 1, *made.X.T.copy()], names=["label", *made.columns]), tmp_path / "susy.parquet")
    with pytest.raises(DataError, match=r"labels are \[1, 2\]"):
        prepare(sources(str(tmp_path), 100, 100, 0)[0], tmp_path / "data")
    assert not list((tmp_path / "data").glob("*"))
