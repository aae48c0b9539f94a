"""Sample weights as whole units, and the errors of weights that are none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softbin import SoftBins
from softbin.errors import DataError, DataTypeError
from softbin.values.weights import read_weight


def test_no_weights_are_none():
    assert read_weight(None, 3) == (None, 1.0)


def test_whole_weights_are_their_own_units():
    weight, unit = read_weight([1, 0, 5], 3)
    assert weight.tolist() == [1, 0, 5]
    assert unit == 1


def test_one_number_weighs_every_row():
    assert read_weight(2, 3)[0].tolist() == [2, 2, 2]


@given(weights=st.lists(st.floats(0, 1e6), min_size=1, max_size=50))
def test_units_are_the_weights_to_many_digits(weights):
    if not any(weights):
        return
    units, unit = read_weight(weights, len(weights))
    np.testing.assert_allclose(units * unit, weights, rtol=0, atol=max(weights) * 2.0**-50)
    assert (units > 0).tolist() == [weight > 0 for weight in weights]
    assert sum(units.tolist()) < 2**62


def test_bins_know_the_tiniest_weights():
    fitted = SoftBins(2).fit([[1.0], [2.0], [3.0]], sample_weight=[5e-324, 5e-324, 1e-323])
    assert sum(fitted.grid_[0].weight) == 4 * 5e-324


@pytest.mark.parametrize(
    ("weight", "word"),
    [
        ([1, np.nan, 1], "1 weights are NaN"),
        ([1, np.inf, 1], "1 weights are NaN or infinite"),
        ([1, -1, -2], "2 weights are negative"),
        ([0, 0, 0], "all weights are zero"),
        ([1, 2], "2 weights for 3 rows"),
        ([[1], [2], [3]], "1D array"),
        (["a", "b", "c"], "not numbers"),
        (["1", "2", "3"], "not numbers"),
        ([1j, 2, 3], "not numbers .*complex"),
        ([1e308, 1e308, 1e308], "add up to more than a float64"),
    ],
)
def test_weights_that_are_none_are_refused(weight, word):
    with pytest.raises(DataError, match=word):
        SoftBins().fit([[1.0], [2.0], [3.0]], sample_weight=weight)
    assert issubclass(DataTypeError, DataError)
