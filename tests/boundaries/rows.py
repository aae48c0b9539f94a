"""Small random tables to test class rules with, and their naive statistics from the rows themselves."""

from itertools import combinations, pairwise

import numpy as np
from hypothesis import strategies as st
from sklearn.datasets import load_iris

IRIS, SPECIES = load_iris(return_X_y=True)


@st.composite
def labelled(draw, *, most_values=8, most_rows=40, classes=3):
    """A column of few distinct values and a class for each row: (values, y)."""
    value = st.integers(0, draw(st.integers(1, most_values - 1))).map(float)
    label = st.integers(0, draw(st.integers(1, classes)) - 1)
    rows = draw(st.lists(st.tuples(value, label), min_size=1, max_size=most_rows))
    values, y = zip(*rows, strict=True)
    return np.array(values), np.array(y)


def middles(values) -> list[float]:
    """All places a column can be cut."""
    return [(a + b) / 2 for a, b in pairwise(np.unique(values).tolist())]


def table(values, y, cuts) -> np.ndarray:
    """Bins x classes: how many rows each class has in each bin."""
    bins = np.searchsorted(np.sort(cuts), values, side="right")
    classes = np.unique(y)
    return np.array([[np.sum((bins == b) & (y == c)) for c in classes] for b in range(len(cuts) + 1)])


def cut_sets(values):
    """Every way to cut a column."""
    places = middles(values)
    return (list(cuts) for n in range(len(places) + 1) for cuts in combinations(places, n))


def cuts_of(boundaries) -> list[float]:
    return list(boundaries.edges[1:-1])


def iris_cuts(rule, counts) -> list[list[float]]:
    """The cuts of the four columns of the iris table, rounded as they are published."""
    return [[round(cut, 3) for cut in cuts_of(rule.boundaries(counts(column, SPECIES)))] for column in IRIS.T]
