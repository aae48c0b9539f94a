"""Quadratic functions with bounds: the minimisers of nnls and of dense algebra, however the solver gets there."""

import numpy as np
import pytest
from scipy.optimize import nnls

from softbin.linear import bounded
from softbin.linear.bounded import BoundedModel


def problem(n, seed=0):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(2 * n, n)), rng.normal(size=2 * n)
    return A, b, rng


def conditions(B, c, x, at):
    """How far x is from being the minimiser."""
    slope = B @ x - c
    free = np.setdiff1d(np.arange(len(c)), at[x[at] == 0])
    assert np.all(x[at] >= 0)
    return max(np.abs(slope[free]).max(initial=0), -slope[at].min(initial=0))


@pytest.mark.parametrize("n", [1, 2, 5, 30, 100])
def test_minimisers_are_those_of_nnls(n):
    A, b, rng = problem(n)
    found = BoundedModel(A.T @ A, np.arange(n)).minimise(A.T @ b, np.zeros(n))
    np.testing.assert_allclose(found, nnls(A, b)[0], atol=1e-8)
    some = rng.permutation(n)[: n // 2]
    free = BoundedModel(A.T @ A, some).minimise(A.T @ b, np.ones(n))
    assert conditions(A.T @ A, A.T @ b, free, some) < 1e-8


@pytest.mark.parametrize("widest", [1, 8, 1000])
def test_any_guess_leads_to_the_minimiser(widest, monkeypatch):
    monkeypatch.setattr(bounded, "WIDEST", widest)  # from a border as wide as it gets to a new factor every time
    A, b, rng = problem(60)
    at = np.arange(10, 60)
    model, best = BoundedModel(A.T @ A, at), None
    for guess in (np.zeros(60), np.ones(60), *rng.normal(size=(5, 60))):
        found = model.minimise(A.T @ b, guess)
        best = found if best is None else best
        np.testing.assert_allclose(found, best, atol=1e-10)
    blocks = [slice(0, 30), slice(30, 60)]
    np.testing.assert_allclose(model.minimise(A.T @ b, model.block_by_block(A.T @ b, best, blocks)), best, atol=1e-10)


def test_what_steps_taught_is_bfgs():
    A, b, rng = problem(40)
    B, at = A.T @ A, np.arange(5, 40)
    curved = B + np.diag(rng.uniform(0, 5, 40))  # what the steps tell of
    model = BoundedModel(B.copy(), at)
    for _ in range(6):
        moved = rng.normal(size=40)
        bent = curved @ moved
        model.learn(moved, bent)
        B += np.outer(bent, bent) / (moved @ bent) - np.outer(B @ moved, B @ moved) / (moved @ B @ moved)
        x = rng.normal(size=40)
        np.testing.assert_allclose(model.times(x), B @ x, atol=1e-9)
        found = model.minimise(A.T @ b, x)
        assert conditions(B, A.T @ b, found, at) < 1e-9
    model.learn(moved, -bent)  # no positive matrix does this
    np.testing.assert_allclose(model.times(x), B @ x, atol=1e-9)


def test_a_broken_border_is_noticed(monkeypatch):
    A, b, rng = problem(40)
    at = np.arange(40)

    def found():
        model = BoundedModel(A.T @ A, at)
        model.minimise(rng.normal(size=40), np.ones(40))
        model.learn(np.ones(40), 2 * A.T @ A @ np.ones(40))
        return model.minimise(A.T @ b, rng.normal(size=40)), model

    x, model = found()
    B = np.stack([model.times(row) for row in np.eye(40)])
    assert conditions(B, A.T @ b, x, at) < 1e-9
    right = BoundedModel._border

    def wrong(self, *of):
        border, corner = right(self, *of)
        return border, 1.5 * corner

    monkeypatch.setattr(BoundedModel, "_border", wrong)
    assert conditions(B, A.T @ b, found()[0], at) > 1e-6


def test_equal_variables_do_not_go_round_in_circles():
    """Bounds that hold with no slope, the same variable twice but for rounding, and nothing to minimise."""
    at = np.arange(6)
    for c in (np.ones(6), np.zeros(6), -np.ones(6), np.arange(6.0)):
        for apart in (1e-9, 0.0):
            G = np.ones((6, 6)) + apart * np.eye(6)
            x = BoundedModel(G.copy(), at).minimise(c, np.ones(6))
            assert conditions(G, c, x, at) < 1e-5
    empty = BoundedModel(np.zeros((0, 0)), np.zeros(0, int))
    assert empty.minimise(np.zeros(0), np.zeros(0)).shape == (0,)
