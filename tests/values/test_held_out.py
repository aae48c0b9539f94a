"""Held-out rows: the right share, of every class, whatever the order, the copies or the weights of rows."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softbin.errors import DataError
from softbin.values.held_out import held_out
from softbin.values.tables import read_table
from softbin.values.targets import read_target

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(500, 3)), 2).astype(np.float32)
X[::7, 1] = np.nan
Y = RNG.integers(0, 3, 500)


def out_of(X, y, fraction=0.2, seed=0, weight=None):
    return held_out(replace(read_table(X), weight=weight), read_target(y, len(y)), fraction, seed)


@pytest.mark.parametrize("fraction", [0.1, 0.2, 0.5, 0.9])
def test_the_share_is_right_in_every_class(fraction):
    out = out_of(X, Y, fraction)
    for label in range(3):
        assert out[label == Y].sum() == round(fraction * np.sum(label == Y))


@given(order=st.permutations(range(40)))
def test_the_order_of_the_rows_does_not_matter(order):
    order = np.array(order)
    np.testing.assert_array_equal(out_of(X[:40][order], Y[:40][order]), out_of(X[:40], Y[:40])[order])


def test_copies_stay_together_and_weights_are_copies():
    copies = RNG.integers(0, 4, 500)
    repeated = out_of(np.repeat(X, copies, axis=0), np.repeat(Y, copies))
    weighted = out_of(X, Y, weight=copies.astype(np.int64))
    np.testing.assert_array_equal(repeated, np.repeat(weighted, copies))


def test_seeds_hold_out_different_rows_and_dtypes_the_same():
    assert 0 < np.mean(out_of(X, Y, seed=1) & out_of(X, Y)) < 0.1
    np.testing.assert_array_equal(out_of(X.astype(np.float64), Y), out_of(X, Y))
    np.testing.assert_array_equal(out_of(X, Y), out_of(X, Y))


def test_rows_are_held_out_evenly():
    even = np.arange(20_000.0)[:, None]
    out = out_of(even, np.arange(20_000) % 2, 0.25)
    parts = out.reshape(20, 1000).mean(axis=1)
    assert np.all(np.abs(parts - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 1000))


def test_tiny_classes_spare_a_row_together():
    out = out_of(np.arange(4.0)[:, None], [0, 0, 1, 1], 0.2)
    assert out.sum() == 1


def test_rows_that_cannot_be_split():
    for rows in ([[1.0]], [[1.0], [1.0]]):
        with pytest.raises(DataError, match="cannot be split"):
            out_of(rows, [1] * len(rows))


@pytest.mark.parametrize("fraction", [0.6, 0.99])
def test_a_class_of_one_row_stays_to_fit(fraction):
    y = np.where(np.arange(500) == 3, 9, Y)
    assert not out_of(X, y, fraction)[3]


def test_blocks_do_not_matter(monkeypatch):
    whole = out_of(X, Y)
    monkeypatch.setattr("softbin.values.held_out.HASHED_ROWS", 7)
    np.testing.assert_array_equal(out_of(X, Y), whole)
