"""Trees against scikit-learn's, and against the best single split of small tables."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.boundaries.brute_force import judged, log_loss, lowest_loss, small_tables, squared_error
from tests.counts import counts

from softbin.boundaries import Tree

SEEDS = st.integers(0, 2**32 - 1)
each_target = pytest.mark.parametrize("n_classes", [0, 2, 4], ids=["number", "binary", "four classes"])


def drawn(seed, n_classes):
    """A column without ties beside a target that depends on it, and weights."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(60, 300))
    x, noise = rng.normal(size=n_rows), rng.normal(size=n_rows)
    y = np.sin(2 * x) + noise
    if n_classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    return x, y, rng.integers(1, 4, n_rows) if rng.random() < 0.5 else None


def their_cuts(x, y, weight, n_bins, min_samples_leaf, n_classes):
    limits = {"max_leaf_nodes": n_bins, "min_samples_leaf": min_samples_leaf}
    peer = DecisionTreeClassifier(criterion="entropy", **limits) if n_classes else DecisionTreeRegressor(**limits)
    tree = peer.fit(x[:, None], y, sample_weight=weight).tree_
    return np.sort(tree.threshold[tree.children_left >= 0])


@each_target
@given(seed=SEEDS, n_bins=st.integers(2, 12))
def test_cuts_are_those_of_scikit_learn(n_classes, seed, n_bins):
    x, y, weight = drawn(seed, n_classes)
    found = Tree(n_bins, 0.0).boundaries(counts(x, y, weight, kind="classes" if n_classes else "number"))
    np.testing.assert_allclose(found.edges[1:-1], their_cuts(x, y, weight, n_bins, 1, n_classes), rtol=1e-6, atol=1e-9)


@each_target
@given(seed=SEEDS, n_bins=st.integers(2, 12), share=st.sampled_from([0.02, 0.1, 0.3]))
def test_leaves_are_as_heavy_as_those_of_scikit_learn(n_classes, seed, n_bins, share):
    x, y, _ = drawn(seed, n_classes)
    found = Tree(n_bins, share).boundaries(counts(x, y, kind="classes" if n_classes else "number"))
    theirs = their_cuts(x, y, None, n_bins, math.ceil(share * len(x) * (1 - 1e-12)), n_classes)
    # Where splits stop because of the leaves, theirs go on with those that gain nothing; ours do not.
    assume(len(theirs) == found.n_bins - 1)
    np.testing.assert_allclose(found.edges[1:-1], theirs, rtol=1e-6, atol=1e-9)


@each_target
@given(data=st.data(), share=st.sampled_from([0.0, 0.2]))
def test_two_leaves_are_the_best_two_bins(n_classes, data, share):
    values, y, weight = data.draw(small_tables(n_classes))
    loss = log_loss if n_classes else squared_error
    found = Tree(2, share).boundaries(counts(values, y, weight, kind="classes" if n_classes else "number"))
    values, y, weight = values[weight > 0], y[weight > 0], weight[weight > 0]
    got, _, _ = judged(values, y, weight, found.edges[1:-1], loss)
    assert got <= lowest_loss(values, y, weight, 2, share, None, loss) + 1e-9


@pytest.mark.parametrize(
    ("rule", "y", "n_bins", "note"),
    [
        (Tree(3), np.zeros(40), 1, "the target is the same in all rows"),
        (Tree(3), np.arange(40) % 7 % 2, 3, "capped at 3 bins"),
        (Tree(10, 0.3), np.arange(40) // 20 + np.arange(40) % 2, 2, "no further cut helps among bins of 0.3"),
        (Tree(10), np.arange(40) >= 13, 2, "without error"),
        (Tree(10, 0.6), np.arange(40) >= 20, 1, "no cut helps among bins of 0.6"),
    ],
)
def test_the_note_says_why_there_are_no_more_bins(rule, y, n_bins, note):
    found = rule.boundaries(counts(np.arange(40.0), y))
    assert found.n_bins == n_bins
    assert note in found.note
