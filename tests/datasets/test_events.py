"""What both simulations promise: the same bits for a seed, prefixes, finite float32, and errors that say what to do."""

import numpy as np
import pytest

from softbin.datasets import simulate_higgs, simulate_susy
from softbin.datasets.events import CHUNK, make_chunk
from softbin.datasets.higgs import PROCESS as HIGGS
from softbin.errors import MissingDependencyError, OptionError

SIMULATIONS = [simulate_higgs, simulate_susy]
each = pytest.mark.parametrize("simulate", SIMULATIONS)


def same(one, other):
    return np.array_equal(one.X, other.X) and np.array_equal(one.y, other.y)


@each
def test_the_bits_depend_on_the_seed_alone(simulate):
    rows = 2 * CHUNK + 7
    once = simulate(rows, seed=3, n_jobs=1)
    assert same(once, simulate(rows, seed=3, n_jobs=3))
    assert not same(once, simulate(rows, seed=4, n_jobs=1))


@each
@pytest.mark.parametrize("rows", [0, 1, CHUNK - 1, CHUNK, CHUNK + 5])
def test_fewer_rows_are_a_prefix(simulate, rows):
    many, few = simulate(CHUNK + 50), simulate(rows)
    assert few.X.shape == (rows, len(few.columns))
    assert np.array_equal(few.X, many.X[:rows])
    assert np.array_equal(few.y, many.y[:rows])


def test_chunks_differ_from_each_other():
    assert not np.array_equal(make_chunk(HIGGS, 0, 0)[0], make_chunk(HIGGS, 0, 1)[0])


@each
def test_the_table_is_finite_float32(simulate):
    data = simulate(5000)
    assert data.X.dtype == np.float32
    assert data.X.flags.c_contiguous
    assert np.isfinite(data.X).all()
    assert set(np.unique(data.y)) == {0, 1}


@pytest.mark.parametrize(("simulate", "share"), [(simulate_higgs, 0.53), (simulate_susy, 0.458)])
def test_the_classes_have_the_shares_of_uci(simulate, share):
    assert abs(simulate(CHUNK).y.mean() - share) < 0.02


@each
def test_azimuths_are_uniform(simulate):
    from scipy.stats import kstest

    data = simulate(5000)
    for name in data.columns:
        if name.endswith("_phi"):
            values = data.X[:, data.columns.index(name)].astype(float)
            assert kstest(values * 1.803, "uniform", (-np.pi, 2 * np.pi)).statistic < 0.03


@each
def test_a_frame_has_the_label_first(simulate):
    data = simulate(10)
    frame = data.to_frame()
    assert list(frame.columns) == ["label", *data.columns]
    assert np.array_equal(frame.to_numpy()[:, 1:].astype(np.float32), data.X)
    assert np.array_equal(frame["label"], data.y)


def test_a_frame_without_pandas_says_what_to_install(monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr("softbin.optional.importlib.import_module", absent)
    with pytest.raises(MissingDependencyError, match="pandas"):
        simulate_higgs(0).to_frame()


@each
@pytest.mark.parametrize("rows", [-1, 2.5, "many", None, True])
def test_rows_that_are_no_number_of_rows(simulate, rows):
    with pytest.raises(OptionError, match=r"rows: .* is not a whole number"):
        simulate(rows)


@each
@pytest.mark.parametrize("seed", [-1, 2.5, "x", None])
def test_seeds_that_are_none(simulate, seed):
    with pytest.raises(OptionError, match=r"seed: .* is not a whole number"):
        simulate(10, seed=seed)


@each
def test_no_threads(simulate):
    with pytest.raises(OptionError, match="n_jobs"):
        simulate(10, n_jobs=0)


@each
def test_numpy_numbers_are_numbers(simulate):
    assert same(simulate(np.int64(10), seed=np.uint8(1)), simulate(10, seed=1))
