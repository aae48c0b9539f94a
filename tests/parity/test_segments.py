"""The searches over all cuts: the compiled copies against their NumPy definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.columns import numpy_definitions, only_compiled
from tests.counts import counts

from softbin import kernels
from softbin.boundaries import segments as module
from softbin.boundaries.monotone import Monotone, monotone_starts
from softbin.boundaries.piece_loss import PieceLoss
from softbin.boundaries.segments import Segments

SEEDS = st.integers(0, 2**32 - 1)
KINDS = ["number", "binary", "many classes"]
each_kind = pytest.mark.parametrize("kind", KINDS)


def drawn(seed, kind, n_rows=None):
    rng = np.random.default_rng(seed)
    n_rows = n_rows or int(rng.integers(1, 3000))
    x = rng.normal(size=n_rows).round(int(rng.integers(0, 4)))
    scale = 10.0 ** rng.integers(-8, 9)
    y = scale * (np.sin(2 * x) + rng.normal(size=n_rows))
    if kind != "number":
        y = rng.integers(0, 2, n_rows) * (rng.random(n_rows) < 0.4 + 0.1 * x)
        y = y if kind == "binary" else y * rng.integers(0, 6, n_rows)
    weight = rng.integers(0, 5, n_rows) + (np.arange(n_rows) == 0) if rng.random() < 0.5 else None
    seen = counts(x, y, weight, kind="number" if kind == "number" else "classes", most=700)
    return Segments(PieceLoss(seen), float(rng.choice([0.0, 0.01, 0.2])))


def assert_same_losses(got, expected, segments):
    np.testing.assert_array_equal(np.isinf(got), np.isinf(expected))
    reached = np.isfinite(expected)
    np.testing.assert_allclose(got[reached], expected[reached], rtol=0, atol=segments.loss.rounding + 1e-300)


@only_compiled
@each_kind
@given(seed=SEEDS, most=st.integers(1, 12))
def test_lowest_losses(kind, seed, most):
    segments = drawn(seed, kind)
    got = segments.lowest(most)
    with numpy_definitions():
        expected = segments.lowest(most)
        starts = segments.best_starts(most)
    assert_same_losses(got, expected, segments)
    assert segments.best_starts(most) == starts


@only_compiled
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("kind", ["number", "binary"])
@given(seed=SEEDS, most=st.integers(1, 6))
def test_monotone_starts(kind, sign, seed, most):
    segments = drawn(seed, kind, n_rows=150)
    if kind == "binary" and segments.loss.counts.n_classes < 2:
        return
    way = Monotone(segments, sign, most)
    bound = way.total([])
    got = way._over_all_cuts(bound)
    expected = monotone_starts(way, bound)
    assert got == expected
    assert np.all(np.diff(way.rate(np.array([0, *got]), np.array([*got, len(segments)]))) >= 0)
    assert way.total(way.best_starts) <= way.total(got) + 2 * segments.loss.rounding


@only_compiled
@each_kind
@pytest.mark.parametrize("n_bins", [1, 511, 512, 513, 700])
def test_rows_of_every_length(kind, n_bins):
    rng = np.random.default_rng(n_bins)
    x = np.repeat(np.arange(float(n_bins)), 3)
    y = rng.normal(size=len(x)) if kind == "number" else rng.integers(0, 2 if kind == "binary" else 5, len(x))
    segments = Segments(PieceLoss(counts(x, y, kind="number" if kind == "number" else "classes")))
    with numpy_definitions():
        expected = segments.lowest(4)
    assert_same_losses(segments.lowest(4), expected, segments)


@only_compiled
def test_a_broken_definition_is_noticed(monkeypatch):
    segments = drawn(3, "binary", n_rows=300)
    original = module.lowest_losses

    def broken(loss, first_stop, lowest):
        original(loss, np.minimum(first_stop + 1, len(first_stop) + 1), lowest)

    monkeypatch.setattr(module, "lowest_losses", broken)
    with numpy_definitions():
        expected = segments.lowest(4)
    with pytest.raises(AssertionError):
        assert_same_losses(segments.lowest(4), expected, segments)


@only_compiled
def test_the_compiled_kernels_refuse_arrays_of_wrong_shapes():
    below, unit = np.array([[0, 1, 2], [0, 1, 1]]), np.ones(2)
    good = (below, unit, True, np.array([1, 2]), np.full((3, 3), np.inf))
    kernels.compiled.lowest_losses(*good)
    wrong = {0: below[:, :2].copy(), 1: np.ones(3), 2: False, 3: np.array([0, 2]), 4: np.zeros((3, 2))}
    for position, value in wrong.items():
        with pytest.raises(ValueError, match=r"below|unit|first_stop|lowest"):
            kernels.compiled.lowest_losses(*(value if i == position else g for i, g in enumerate(good)))
    with pytest.raises(ValueError, match="remaining"):
        kernels.compiled.monotone_starts(*good[:4], 1.0, np.zeros((3, 2)), np.array([1, 2]), np.zeros(3), 1.0, 0.0)
    with pytest.raises(ValueError, match="block_stop"):
        kernels.compiled.monotone_starts(*good[:4], 1.0, np.zeros((3, 3)), np.array([1, 3]), np.zeros(3), 1.0, 0.0)
    with pytest.raises(ValueError, match="to_end"):
        kernels.compiled.monotone_starts(*good[:4], 1.0, np.zeros((3, 3)), np.array([1, 2]), np.zeros(2), 1.0, 0.0)
