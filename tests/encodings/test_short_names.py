"""Short names mean encoders; fitted encoders are themselves."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator

from softbin import HardBins, SoftBins
from softbin.encodings.short_names import ENCODERS, encoder_of, is_fitted
from softbin.errors import OptionError

X = np.arange(20.0)[:, None]


@pytest.mark.parametrize("name", ENCODERS)
def test_a_name_is_its_encoder_with_defaults(name):
    assert encoder_of(name).get_params() == ENCODERS[name]().get_params()


@pytest.mark.parametrize(("name", "kind", "count"), [("soft:10", SoftBins, 10), ("hard:100", HardBins, 100)])
def test_a_number_is_the_number_of_bins(name, kind, count):
    made = encoder_of(name)
    assert type(made) is kind
    assert made.n_bins == count
    assert not is_fitted(made)


@pytest.mark.parametrize(
    "name",
    ["", "soft:", "soft:x", "soft:-1", "soft:1.5", "SOFT:10", "soft 10", "firm:10", ":10", "soft:10:3", "soft:²"],
)
def test_other_words_are_refused_with_examples(name):
    with pytest.raises(OptionError, match=r'^bins: .*"soft:10"'):
        encoder_of(name)


@pytest.mark.parametrize("bins", [None, 10, SoftBins, [SoftBins()], FrozenEstimator(object()), object()])
def test_other_things_are_refused_with_examples(bins):
    with pytest.raises(OptionError, match=r"^bins: .*SoftBins\(\.\.\.\)"):
        encoder_of(bins)


def test_zero_bins_are_refused_when_fitted():
    with pytest.raises(OptionError, match="n_bins"):
        encoder_of("soft:0").fit(X)


def test_a_fitted_encoder_keeps_its_plan_and_is_free_of_the_callers():
    fitted = SoftBins(3).fit(X)
    for made in (encoder_of(fitted), encoder_of(FrozenEstimator(fitted))):
        assert made.plan_ is fitted.plan_
        assert made is not fitted


def test_an_unfitted_encoder_is_copied():
    made = HardBins(3, special=[-1])
    copy = encoder_of(made)
    assert copy is not made
    assert copy.get_params() == made.get_params()
    assert not is_fitted(copy)
