"""The optimal bins, against every way to cut small tables, and against every other rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.boundaries.brute_force import ALLOWED, bins_of, judged, log_loss, lowest_loss, small_tables, squared_error
from tests.counts import counts

from softbin import HardBins, SoftBins
from softbin.boundaries import STRATEGIES, Optimal
from softbin.boundaries.rule import asked_target
from softbin.errors import OptionError
from softbin.summaries import RankHistogram

N_BINS = st.integers(1, 6)
SHARES = st.sampled_from([0.0, 0.07, 0.2, 0.4, 0.9])
each_target = pytest.mark.parametrize("n_classes", [0, 2, 3], ids=["number", "binary", "three classes"])


def loss_of(n_classes):
    return squared_error if n_classes == 0 else log_loss


def kind_of(n_classes):
    return "number" if n_classes == 0 else "classes"


def weighed(values, y, weight):
    """Without the rows of weight zero, which no rule sees."""
    return values[weight > 0], y[weight > 0], weight[weight > 0]


@each_target
@given(data=st.data(), n_bins=N_BINS, share=SHARES)
def test_no_way_to_cut_loses_less(n_classes, data, n_bins, share):
    table = data.draw(small_tables(n_classes))
    found = Optimal(n_bins, min_bin_share=share).boundaries(counts(*table, kind=kind_of(n_classes)))
    values, y, weight = weighed(*table)
    loss, least, _ = judged(values, y, weight, found.edges[1:-1], loss_of(n_classes))
    assert found.n_bins <= n_bins
    assert found.n_bins == 1 or least >= share - 1e-12
    lowest = lowest_loss(values, y, weight, n_bins, share if share < 1 else 0, None, loss_of(n_classes))
    assert loss <= lowest + 1e-9


@pytest.mark.parametrize("monotonic", ["increasing", "decreasing", "auto"])
@pytest.mark.parametrize("n_classes", [0, 2], ids=["number", "binary"])
@given(data=st.data(), n_bins=N_BINS, share=SHARES)
def test_no_monotone_way_to_cut_loses_less(n_classes, monotonic, data, n_bins, share):
    table = data.draw(small_tables(n_classes))
    rule = Optimal(n_bins, monotonic, share)
    found = rule.boundaries(counts(*table, kind=kind_of(n_classes)))
    values, y, weight = weighed(*table)
    loss, least, rates = judged(values, y, weight, found.edges[1:-1], loss_of(n_classes))
    assert found.n_bins == 1 or least >= share - 1e-12
    assert ALLOWED[monotonic](rates)
    assert loss <= lowest_loss(values, y, weight, n_bins, share, monotonic, loss_of(n_classes)) + 1e-9


@pytest.mark.parametrize("strategy", STRATEGIES)
@each_target
@given(data=st.data(), n_bins=N_BINS)
def test_no_other_rule_loses_less(n_classes, strategy, data, n_bins):
    values, y, weight = data.draw(small_tables(n_classes, most_values=30))
    rule = STRATEGIES[strategy](n_bins=n_bins) if strategy != "optimal" else STRATEGIES["tree"](n_bins)
    seen = counts(values, y, weight, kind=kind_of(n_classes))
    if asked_target(rule) is None:
        theirs = rule.boundaries(RankHistogram.of(values, weight))
    elif asked_target(rule) in ("auto", seen.kind):
        theirs = rule.boundaries(seen)
    else:
        return
    values, y, weight = weighed(values, y, weight)
    their_loss, _, _ = judged(values, y, weight, np.unique(values)[1:][_used(theirs, values)], loss_of(n_classes))
    cuts = np.unique(values)[1:][_used(theirs, values)]
    _, least, _ = judged(values, y, weight, cuts, loss_of(n_classes))
    ours = Optimal(max(n_bins, len(cuts) + 1), min_bin_share=max(0.0, least - 1e-9)).boundaries(seen)
    our_loss, _, _ = judged(values, y, weight, ours.edges[1:-1], loss_of(n_classes))
    assert our_loss <= their_loss + 1e-9


def _used(boundaries, values):
    """Between which neighbouring values the edges cut; an edge that cuts nothing makes no bin."""
    distinct = np.unique(values)
    return np.diff(bins_of(distinct, boundaries.edges[1:-1])) > 0


@given(data=st.data())
def test_of_equally_good_ways_one_with_the_fewest_bins_is_taken(data):
    values, _, weight = data.draw(small_tables())
    found = Optimal(50, min_bin_share=0.0).boundaries(counts(values, values >= 4, weight))
    assert found.n_bins == len(np.unique(values[weight > 0] >= 4))


def test_a_column_that_tells_the_target_without_error_keeps_its_cut():
    values = np.arange(100.0)
    found = Optimal(10).boundaries(counts(values, values >= 37))
    assert found.edges == (0, 36.5, 99)
    assert "without error" in found.note


@pytest.mark.parametrize(
    ("rule", "y", "note"),
    [
        (Optimal(3), np.zeros(40), "the target is the same in all rows"),
        (Optimal(3), np.arange(40) % 7 % 2, "capped at 3 bins"),
        (Optimal(30, "increasing", 0.1), np.arange(40) % 3 == 0, "cut helps among bins of 0.1 of the weight"),
        (Optimal(30, "auto"), np.arange(40) % 3 == 0, "that are monotone"),
        (Optimal(4), np.arange(40) // 10 % 2, "without error"),
    ],
)
def test_the_note_says_why_there_are_no_more_bins(rule, y, note):
    assert note in rule.boundaries(counts(np.arange(40.0), y)).note


def test_more_than_two_classes_have_no_direction():
    with pytest.raises(OptionError, match="monotonic: 'auto' asks for a share that rises or falls, and there are 3"):
        Optimal(monotonic="auto").boundaries(counts(np.arange(9.0), np.arange(9) % 3))


@pytest.mark.parametrize("options", [{"monotonic": "up"}, {"monotonic": True}, {"min_bin_share": 1}, {"n_bins": 0}])
def test_unknown_options_are_refused(options):
    with pytest.raises(OptionError, match=next(iter(options))):
        Optimal(**options)


@pytest.mark.parametrize("monotonic", [None, "increasing", "decreasing", "auto"])
@pytest.mark.parametrize("y", [[0], [1.5], [0, 0, 0], ["a", "a"]])
def test_one_class_or_one_value_is_one_bin(monotonic, y):
    values = np.arange(float(len(y)))
    found = Optimal(monotonic=monotonic).boundaries(counts(values, y))
    assert found.n_bins == 1


def test_bins_as_heavy_as_asked_and_no_more_are_allowed():
    """7 % of 100 rows are 7 rows, whatever floats say."""
    values = np.arange(100.0)
    found = Optimal(14, min_bin_share=0.07).boundaries(counts(values, values // 7 % 2 == 1))
    assert found.n_bins == 14


def test_it_runs_in_both_encoders_and_with_weights_and_missing_values():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((500, 2)) < 0.1, np.nan, rng.normal(size=(500, 2)))
    y = np.nan_to_num(X[:, 0]) ** 2 + rng.normal(size=500)
    for bins in (HardBins(6, "optimal"), SoftBins(6, "optimal"), HardBins(strategy=Optimal(6, "auto"))):
        bins.fit(X, y, sample_weight=rng.random(500))
        assert np.all(np.isfinite(bins.transform(X).data))


@pytest.mark.parametrize("y", [[0, 0, 1, 1, 0, 1], [0.5, 0.1, 2.0, -1.0, 0.0, 3.0]])
@pytest.mark.parametrize("monotonic", [None, "increasing", "auto"])
def test_weights_from_tiny_to_huge_leave_no_bin_without_a_rate(monotonic, y):
    seen = counts(np.arange(6.0), y, [1e-300, 1.0, 1e12, 1.0, 1e12, 1e-300])
    with np.errstate(all="raise"):
        found = Optimal(6, monotonic, 0.2).boundaries(seen)
    assert 1 <= found.n_bins <= 2
