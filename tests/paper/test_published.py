"""The paper's numbers, and the arithmetic behind its Table 2."""

from itertools import product

import pytest

from softbin.paper.methods import HARD, METHODS, SOFT
from softbin.paper.published import COLUMNS, TABLE_1, TABLE_2

GRANULARITIES = (10, 100, 1000, 10000)


def test_table_1_is_complete_and_its_rows_are_ours():
    rows = [method.label for method in METHODS if method.in_paper]
    assert (HARD, SOFT) == (("CD (5)", "CD (10)", "CD (100)"), ("LLE (5)", "LLE (10)", "LLE (100)"))
    places = product(("LR", "DNN"), rows, ("HIGGS", "SUSY"), (1.0, 0.1, 0.01))
    assert set(TABLE_1) == set(places)
    assert len(TABLE_1) == 84
    assert TABLE_1["LR", "LLE (10)", "HIGGS", 0.01] == 77.21
    assert TABLE_1["DNN", "CD (100)", "SUSY", 0.1] == 77.25


def counts(pairs, columns):
    """Every sum of ``pairs`` kept granularities, each at most once per column."""
    return {
        10 * a + 100 * b + 1000 * c + 10000 * (pairs - a - b - c)
        for a, b, c in product(range(columns + 1), repeat=3)
        if 0 <= pairs - a - b - c <= columns
    }


@pytest.mark.parametrize("data", ["HIGGS", "SUSY"])
def test_counts_of_mgd_are_those_of_half_of_all_pairs(data):
    columns = COLUMNS[data]
    possible = counts(columns * len(GRANULARITIES) // 2, columns)
    impossible = [count for count in TABLE_2["MGD", data] if count not in possible]
    # Differs: one count of the paper is that of no 56 pairs, a typo or 54 pairs.
    assert impossible == ([148140] if data == "HIGGS" else [])


def test_counts_of_lle_are_columns_times_knots():
    assert TABLE_2["LLE", "HIGGS"] == (28 * 11, 28 * 11, 28 * 6)
    assert TABLE_2["LLE", "SUSY"] == (18 * 11,) * 3
