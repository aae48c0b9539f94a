"""One column's boundaries: a frozen value that refuses what it cannot be."""

import json
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from softbin import Boundaries
from softbin.errors import OptionError

FULL = Boundaries((0, 1, 3), "level", (-999,), weight=(1, 3), mean=(0.5, 2.0), special_weight=(2,), note="why")


def test_it_is_a_value_of_plain_floats():
    made = Boundaries(np.array([0, 1, 3]))
    assert made == Boundaries([0.0, 1.0, 3.0])
    assert hash(made) == hash(Boundaries([0.0, 1.0, 3.0]))
    assert all(type(edge) is float for edge in made.edges)
    with pytest.raises(FrozenInstanceError):
        made.edges = ()


@pytest.mark.parametrize(("edges", "n_bins"), [((), 0), ((1,), 1), ((1, 2), 1), ((1, 2, 3), 2)])
def test_it_counts_its_bins(edges, n_bins):
    assert Boundaries(edges).n_bins == n_bins


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"edges": (1, 1)}, "strictly increase"),
        ({"edges": (2, 1)}, "strictly increase"),
        ({"edges": (1, np.inf)}, "not finite"),
        ({"edges": (np.nan, 1)}, "not finite"),
        ({"edges": (-1.7e308, 1.7e308)}, "wider"),
        ({"edges": 3}, "not a sequence"),
        ({"edges": ("a", "b")}, "not a sequence"),
        ({"edges": (0, 10**400)}, "edges"),
        ({"edges": (0, 1), "missing": "auto"}, "missing: 'auto'"),
        ({"edges": (0, 1), "outside": "nowhere"}, "outside: 'nowhere'"),
        ({"edges": (0, 1), "special": (1, 1)}, "twice"),
        ({"edges": (0, 1), "special": (np.nan,)}, "cannot be a code"),
        ({"edges": (0, 1), "special": (np.inf,)}, "cannot be a code"),
        ({"edges": (0, 1), "period": (0, 2)}, "do not span"),
        ({"edges": (0, 1), "period": (1, 0)}, "period"),
        ({"edges": (0, 1, 2), "weight": (1,)}, "weight: 1 numbers for 2"),
        ({"edges": (0, 1, 2), "mean": (1, 2, 3)}, "mean: 3 numbers for 2"),
        ({"edges": (0, 1), "special": (5,), "special_weight": (1, 2)}, "special_weight"),
        ({"edges": (0, 1), "weight": (np.inf,)}, "weight: not all"),
        ({"edges": (0, 1), "mean": (np.nan,)}, "mean: not all"),
    ],
)
def test_it_refuses_what_it_cannot_be(options, word):
    with pytest.raises(OptionError, match=word):
        Boundaries(**options)


def test_merged_bins_add_up():
    merged = FULL.merge(0)
    assert merged.edges == (0, 3)
    assert merged.weight == (4,)
    assert merged.mean == (0.5 + 1.5 * 0.75,)
    assert merged.special == FULL.special
    assert merged.missing == "level"


def test_merging_empty_bins_gives_a_mean_between_theirs():
    assert Boundaries((0, 1, 2), weight=(0, 0), mean=(0.5, 1.5)).merge(0).mean == (1.0,)


@pytest.mark.parametrize("position", [-1, 1, 2])
def test_only_a_bin_with_a_next_one_can_be_merged(position):
    with pytest.raises(OptionError, match="there is no bin"):
        FULL.merge(position)


def test_a_split_bin_forgets_its_mean_and_keeps_its_codes():
    split = FULL.split(2)
    assert split.edges == (0, 1, 2, 3)
    assert (split.weight, split.mean) == ((), ())
    assert split.special == FULL.special


@pytest.mark.parametrize("at", [0, 1, 3, -5, 7, np.nan])
def test_a_bin_is_split_inside(at):
    with pytest.raises(OptionError, match="is not inside a bin"):
        FULL.split(at)


def test_a_bin_without_known_mean_is_represented_by_its_middle():
    assert Boundaries((0, 1, 3)).bin_means == (0.5, 2)
    assert Boundaries((4,)).bin_means == (4,)
    assert FULL.bin_means == (0.5, 2.0)


def test_edges_on_a_circle_have_one_knot_less():
    assert Boundaries((0, 6, 24), period=(0, 24)).n_knots == 2
    assert Boundaries((0, 6, 24)).n_knots == 3


@pytest.mark.parametrize("boundaries", [FULL, Boundaries(()), Boundaries((0, 6, 24), period=(0, 24))])
def test_it_travels_through_json(boundaries):
    assert Boundaries.from_dict(json.loads(json.dumps(boundaries.to_dict()))) == boundaries
