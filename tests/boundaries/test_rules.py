"""Uniform, k-means, user and periodic rules, called on their own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.columns import LABEL_FREE
from tests.counts import counts

from softbin import HardBins, SoftBins
from softbin.boundaries import STRATEGIES, KMeans, Uniform, UserEdges
from softbin.boundaries.kmeans import k_means_cuts
from softbin.boundaries.periodic import Periodic
from softbin.boundaries.rule import asked_target
from softbin.errors import OptionError
from softbin.summaries import RankHistogram

SKEWED = np.concatenate([np.linspace(0, 1, 100), [100.0]])


def histogram(values):
    return RankHistogram.of(np.asarray(values, np.float64))


def test_uniform_edges_are_equally_far_apart():
    edges = Uniform(4).boundaries(histogram(np.linspace(-1, 3, 50))).edges
    assert edges == (-1, 0, 1, 2, 3)


def test_an_empty_uniform_bin_joins_its_left_neighbour_and_is_reported():
    found = Uniform(10).boundaries(histogram(SKEWED))
    assert found.edges == (0, 90, 100)
    assert found.note == "8 empty bins joined to a neighbour"


def test_a_dead_uniform_knot_is_left_out():
    found = Uniform(10).boundaries(histogram(SKEWED), knots=True)
    assert found.edges == (0, 10, 100)
    assert found.note.startswith("8 ")


def test_uniform_survives_the_widest_column():
    edges = Uniform(4).boundaries(histogram([-8e307, -4e307, 0, 1, 4e307, 8e307])).edges
    assert np.all(np.diff(edges) > 0)
    assert (edges[0], edges[-1]) == (-8e307, 8e307)


@pytest.mark.parametrize("strategy", LABEL_FREE)
@pytest.mark.parametrize("encoder", [HardBins, SoftBins])
def test_the_report_says_why_there_are_fewer_bins_than_asked(encoder, strategy):
    (report,) = encoder(5, strategy).fit([[0.0], [1.0], [1.0], [7.0]]).fit_report_
    assert report.got < report.asked
    assert report.note == f"3 distinct values, a {'bin' if encoder is HardBins else 'knot'} for each"


@pytest.mark.parametrize("strategy", LABEL_FREE)
def test_a_column_wider_than_a_float64_is_named_without_a_warning(strategy):
    with pytest.raises(OptionError, match=r"column 'x0'.* wider than"):
        HardBins(3, strategy).fit([[-1.7e308], [0.0], [1.0], [2.0], [1.7e308]])


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e300])
def test_k_means_does_not_depend_on_the_scale(scale):
    column = np.random.default_rng(0).normal(size=300)
    plain, scaled = (np.array(KMeans(5).boundaries(histogram(c)).edges) for c in (column, column * scale))
    np.testing.assert_allclose(scaled, plain * scale, rtol=1e-9)


def test_k_means_cuts_lie_midway_between_the_means_of_their_sides():
    points = np.sort(np.random.default_rng(1).random(500))
    cuts = k_means_cuts(points, np.ones(500), 4)
    groups = np.split(points, np.searchsorted(points, cuts))
    means = np.array([group.mean() for group in groups])
    np.testing.assert_allclose(cuts, (means[1:] + means[:-1]) / 2, rtol=1e-12)


@given(column=st.lists(st.integers(-50, 50).map(float), min_size=2, max_size=60), n=st.integers(1, 8))
def test_k_means_sees_weights_as_repeated_values(column, n):
    weight = np.arange(len(column)) % 3 + 1
    values = np.array(column)
    weighted = KMeans(n).boundaries(RankHistogram.of(values, weight)).edges
    assert weighted == KMeans(n).boundaries(histogram(np.repeat(values, weight))).edges


def test_user_edges_are_used_exactly():
    edges = (0.1, 0.3, 1e9)
    assert UserEdges(edges).boundaries(histogram([5.0])).edges == edges
    assert UserEdges(edges).boundaries(None, knots=True).edges == edges


@pytest.mark.parametrize("edges", [(), (1,), (1, 1), (2, 1), (0, np.nan), (0, np.inf), "ab", (0, None)])
def test_user_edges_that_are_no_edges_are_refused(edges):
    with pytest.raises(OptionError, match="edges"):
        UserEdges(edges)


@pytest.mark.parametrize("rule", STRATEGIES.values())
@pytest.mark.parametrize("n_bins", [1, 2, 3, 8])
def test_periodic_edges_span_the_period_with_no_more_bins_than_asked(rule, n_bins):
    hours = np.random.default_rng(2).uniform(7, 19, 500)
    summary = histogram(hours) if asked_target(rule()) is None else counts(hours, hours > 13)
    found = Periodic(rule(n_bins), (0, 24)).boundaries(summary, knots=True)
    assert (found.edges[0], found.edges[-1]) == found.period == (0, 24)
    assert found.n_bins <= max(n_bins, 1)
    if rule is STRATEGIES["quantile"]:
        assert all(7 <= edge <= 19 for edge in found.edges[1:-1])


def test_periodic_keeps_a_knot_for_each_of_few_values():
    found = Periodic(STRATEGIES["quantile"](10), (0, 24)).boundaries(histogram([6, 12, 18]), knots=True)
    assert found.edges == (0, 6, 12, 18, 24)


def test_user_edges_that_do_not_span_the_period_are_refused():
    with pytest.raises(OptionError, match="do not span the period"):
        Periodic(UserEdges((1, 24)), (0, 24)).boundaries(histogram([5.0]))


@pytest.mark.parametrize("period", [(0,), (1, 1), (2, 1), (0, np.inf), "ab", (np.nan, 1)])
def test_a_period_is_a_pair_of_growing_finite_numbers(period):
    with pytest.raises(OptionError, match="period"):
        Periodic(Uniform(3), period)


@pytest.mark.parametrize("rule", STRATEGIES.values())
def test_rules_are_values(rule):
    assert rule(5) == rule(5)
    assert hash(rule(5)) == hash(rule(5))
    assert rule(5) != rule(6)
    with pytest.raises(AttributeError):
        rule(5).n_bins = 6
