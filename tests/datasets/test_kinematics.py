"""Decays keep energy and momentum, boosts have an inverse, random numbers follow the densities they are named for."""

import numpy as np
import pytest
from scipy.stats import kstest

from softbin.datasets import kinematics
from softbin.datasets.draws import Draws

N = 20_000


def float32(value):
    return np.full(N, value, np.float32)


def parents(draws, mass):
    return kinematics.moving(mass, 100 * draws.normal(N), 100 * draws.normal(N), draws.normal(N))


def decay_of(mass=172.5, first=80.4, second=4.7, axis=None, boost=kinematics.boost):
    draws = Draws(1, 0)
    masses = float32(mass), float32(first), float32(second)
    parent = parents(draws, masses[0])
    original, kinematics.boost = kinematics.boost, boost
    try:
        return parent, kinematics.decay(parent, masses, draws.isotropic(N), draws.angle(N), axis)
    finally:
        kinematics.boost = original


def is_conserved(parent, daughters, first, second):
    """Sums and squared masses, to the precision that float32 leaves: parts of ten million of the squared energy."""
    sums = np.abs(parent - daughters[0] - daughters[1]).max()
    off = [
        np.abs(kinematics.product(daughter, daughter) - m * m) / (parent[0] ** 2)
        for daughter, m in zip(daughters, (first, second), strict=True)
    ]
    return sums < 1e-3 and max(np.quantile(part, 0.99) for part in off) < 2e-6


@pytest.mark.parametrize(("mass", "first", "second"), [(172.5, 80.4, 4.7), (425, 80.4, 325), (80.4, 0, 0)])
@pytest.mark.parametrize("around_axis", [False, True])
def test_a_decay_keeps_four_momentum_and_masses(mass, first, second, around_axis):
    axis = parents(Draws(2, 0), float32(50)) if around_axis else None
    parent, daughters = decay_of(mass, first, second, axis)
    assert is_conserved(parent, daughters, first, second)


def test_the_check_sees_a_broken_boost():
    def without_energy(vectors, frame, frame_mass):
        return np.concatenate([vectors[:1], vectors[1:] + frame[1:] * vectors[0] / frame_mass])

    parent, daughters = decay_of(boost=without_energy)
    assert not is_conserved(parent, daughters, 80.4, 4.7)


def test_boosts_have_an_inverse():
    draws = Draws(3, 0)
    frame, vectors = parents(draws, float32(200)), parents(draws, float32(10))
    there = kinematics.boost(vectors, frame, float32(200))
    back = kinematics.to_rest(there, frame, float32(200))
    assert np.abs(back - vectors).max() < 0.01 * np.abs(there).max()
    assert np.median(np.abs(back - vectors) / vectors[0]) < 1e-4


def test_an_isotropic_decay_has_no_direction():
    parent, (first, _) = decay_of()
    at_rest = kinematics.to_rest(first, parent, float32(172.5))
    cosine = at_rest[3] / np.sqrt((at_rest[1:] ** 2).sum(axis=0))
    assert kstest(cosine, "uniform", (-1, 2)).pvalue > 1e-3
    assert kstest(kinematics.azimuth(at_rest), "uniform", (-np.pi, 2 * np.pi)).pvalue > 1e-3


def test_the_angle_is_measured_from_the_axis():
    draws = Draws(4, 0)
    parent, axis, cosine = parents(draws, float32(80)), parents(draws, float32(10)), draws.isotropic(N)
    first, _ = kinematics.decay(parent, (float32(80), float32(0), float32(0)), cosine, draws.angle(N), axis)
    at_rest = kinematics.to_rest(first, parent, float32(80))
    sizes = np.sqrt((at_rest[1:] ** 2).sum(axis=0) * (axis[1:] ** 2).sum(axis=0))
    found = (at_rest[1:] * axis[1:]).sum(axis=0) / sizes
    assert np.quantile(np.abs(found - cosine), 0.99) < 1e-2


def test_polar_coordinates_come_back():
    draws = Draws(5, 0)
    pt, eta, phi = draws.falling(20, 2, N), draws.normal(N), draws.angle(N)
    vectors = kinematics.from_polar(pt, eta, phi)
    for found, given in (
        (kinematics.transverse(vectors), pt),
        (kinematics.pseudorapidity(vectors), eta),
        (kinematics.azimuth(vectors), phi),
    ):
        np.testing.assert_allclose(found, given, rtol=1e-4, atol=1e-4)


def test_angles_are_folded():
    np.testing.assert_allclose(
        kinematics.fold(np.array([4.0, -4.0, 1.0])), [4 - 2 * np.pi, 2 * np.pi - 4, 1], rtol=1e-6
    )


@pytest.mark.parametrize(
    ("draw", "cdf"),
    [
        (lambda draws: draws.normal(N), "norm"),
        (lambda draws: draws.exponential(N), "expon"),
        (lambda draws: draws.uniform(N), "uniform"),
        (lambda draws: draws.longitudinal(N), lambda c: (2 + 3 * c - c**3) / 4),
        (lambda draws: draws.mixed(1.0, N), lambda c: 1 - (1 - c) ** 3 / 8),
        (lambda draws: draws.falling(15, 2, N), lambda v: 1 - (v / 15) ** -2),
        (lambda draws: draws.forward(0.9, N), lambda c: (1 + np.arctanh(0.9 * c) / np.arctanh(0.9)) / 2),
    ],
)
def test_densities(draw, cdf):
    values = draw(Draws(6, 0)).astype(float)
    assert kstest(values, cdf).pvalue > 1e-3
    assert kstest(values * 1.05, cdf).pvalue < 1e-3


def test_masses_peak_where_they_should():
    mass = Draws(7, 0).mass(80.4, 2.1, N)
    assert abs(np.median(mass) - 80.4) < 0.05
    assert abs((np.abs(mass - 80.4) < 2.1 / 2).mean() - 0.5) < 0.03
    assert np.abs(mass - 80.4).max() <= 10 * 2.1 + 0.01
