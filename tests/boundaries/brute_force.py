"""All ways to cut a small column into bins, judged from its rows alone: what rules that promise the best must match."""

from itertools import combinations

import numpy as np
from hypothesis import strategies as st


def log_loss(y, weight):
    """Of each class's share, by the definition; numbers and classes of any kind are told apart by ==."""
    total = weight.sum()
    shares = [weight[y == label].sum() / total for label in np.unique(y)]
    return -sum(total * share * np.log(share) for share in shares if share > 0)


def squared_error(y, weight):
    mean = np.average(y, weights=weight)
    return float(np.sum(weight * (y - mean) ** 2))


def rate(y, weight):
    """The mean; of two classes 0 and 1, the share of 1."""
    return np.average(y, weights=weight)


def bins_of(values, cuts):
    return np.searchsorted(cuts, values, side="right")


def judged(values, y, weight, cuts, loss):
    """The loss, the lightest bin's share and the rates of the bins between these cuts."""
    code = bins_of(values, cuts)
    rows = [code == b for b in range(len(cuts) + 1)]
    return (
        sum(loss(y[r], weight[r]) for r in rows),
        min(weight[r].sum() for r in rows) / weight.sum(),
        np.array([rate(y[r], weight[r]) for r in rows]),
    )


def all_cuts(values, n_bins):
    """Every way to cut between distinct values into at most so many bins."""
    distinct = np.unique(values)
    between = (distinct[:-1] + distinct[1:]) / 2
    for n_cuts in range(min(n_bins, len(distinct))):
        yield from (np.array(cuts) for cuts in combinations(between.tolist(), n_cuts))


def rises(rates):
    return bool(np.all(np.diff(rates) >= -1e-12))


ALLOWED = {
    None: lambda rates: True,
    "increasing": rises,
    "decreasing": lambda rates: rises(-rates),
    "auto": lambda rates: rises(rates) or rises(-rates),
}


def lowest_loss(values, y, weight, n_bins, share, monotonic, loss):
    """The best that any allowed way to cut does."""
    ways = (judged(values, y, weight, cuts, loss) for cuts in all_cuts(values, n_bins))
    return min(found for found, least, rates in ways if least >= share - 1e-12 and ALLOWED[monotonic](rates))


@st.composite
def small_tables(draw, n_classes=2, most_values=9):
    """A column of few distinct values beside classes (0 for a number), with whole weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(1, 40))
    values = rng.integers(0, draw(st.integers(1, most_values)), n_rows).astype(float)
    y = rng.normal(size=n_rows) + rng.integers(0, 3) * values if n_classes == 0 else rng.integers(0, n_classes, n_rows)
    weight = rng.integers(0, 4, n_rows) if draw(st.booleans()) else np.ones(n_rows, np.int64)
    if not weight.any():
        weight[0] = 1
    return values, y, weight
