"""Four-vectors and decays into two bodies, for many events at once.

A four-vector is an array whose first axis is (E, x, y, z); units are GeV. In the rest frame of a parent of mass M, both
daughters of masses a and b have the momentum

    p = sqrt((M**2 - (a + b)**2) * (M**2 - (a - b)**2)) / (2 M)

in opposite directions; a boost by the parent's own four-vector takes them to the frame the parent was given in.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Vectors = NDArray[np.float32]


def from_polar(pt: Floats, eta: Floats, phi: Floats) -> Vectors:
    """Massless particles of transverse momentum ``pt``, pseudorapidity ``eta`` and azimuth ``phi``."""
    return np.stack([pt * np.cosh(eta), pt * np.cos(phi), pt * np.sin(phi), pt * np.sinh(eta)])


def moving(mass: Floats, x: Floats, y: Floats, rapidity: Floats) -> Vectors:
    """A system of ``mass`` with transverse momentum (x, y) and a rapidity along the beam."""
    transverse = np.sqrt(mass * mass + x * x + y * y)
    return np.stack([transverse * np.cosh(rapidity), x, y, transverse * np.sinh(rapidity)])


def product(a: Vectors, b: Vectors) -> Floats:
    """The Minkowski product: E E' - p . p'."""
    return a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]


def mass(vectors: Vectors) -> Floats:
    """Invariant mass; what rounding makes negative is 0."""
    return np.sqrt(np.maximum(product(vectors, vectors), 0))


def transverse(vectors: Vectors) -> Floats:
    """Transverse momentum."""
    return np.sqrt(vectors[1] * vectors[1] + vectors[2] * vectors[2])


def azimuth(vectors: Vectors) -> Floats:
    return np.arctan2(vectors[2], vectors[1])


def pseudorapidity(vectors: Vectors) -> Floats:
    return np.arcsinh(vectors[3] / np.maximum(transverse(vectors), np.float32(1e-3)))


def fold(angle: Floats) -> Floats:
    """A difference of azimuths, brought between -pi and pi."""
    return angle - np.float32(2 * np.pi) * np.rint(angle * np.float32(0.5 / np.pi))


def boost(vectors: Vectors, frame: Vectors, frame_mass: Floats) -> Vectors:
    """``vectors``, given in the rest frame of ``frame``, as seen where ``frame`` itself is given."""
    energy, momentum = vectors[0], vectors[1:]
    along = momentum[0] * frame[1] + momentum[1] * frame[2] + momentum[2] * frame[3]
    share = (along / (frame[0] + frame_mass) + energy) / frame_mass
    return np.concatenate([((energy * frame[0] + along) / frame_mass)[None], momentum + share * frame[1:]])


def to_rest(vectors: Vectors, frame: Vectors, frame_mass: Floats) -> Vectors:
    """The inverse of ``boost``: ``vectors`` as seen in the rest frame of ``frame``."""
    mirrored = frame.copy()
    mirrored[1:] *= -1
    return boost(vectors, mirrored, frame_mass)


def momentum_of_two(parent: Floats, first: Floats, second: Floats) -> Floats:
    """Momentum of both daughters in the rest frame of the parent, from the three masses."""
    squares = (parent**2 - (first + second) ** 2) * (parent**2 - (first - second) ** 2)
    return np.sqrt(np.maximum(squares, 0)) / (2 * parent)


def decay(
    parent: Vectors,
    masses: tuple[Floats, Floats, Floats],
    cosine: Floats,
    angle: Floats,
    axis: Vectors | None = None,
) -> tuple[Vectors, Vectors]:
    """The two daughters of ``parent``; ``masses`` are the parent's and theirs.

    ``cosine`` and ``angle`` place the first one in the parent's rest frame, around the beam or around ``axis``, a
    four-vector given in that frame.
    """
    size = momentum_of_two(*masses)
    sine = size * np.sqrt(np.maximum(1 - cosine * cosine, 0))
    direction = np.stack([sine * np.cos(angle), sine * np.sin(angle), size * cosine])
    if axis is not None:
        direction = _turn(direction, axis[1:])
    energy = np.sqrt(size * size + masses[1] * masses[1])
    first = boost(np.concatenate([energy[None], direction]), parent, masses[0])
    return first, parent - first


def _turn(direction: Floats, axis: Floats) -> Floats:
    """Turns ``direction`` so that what was the z axis points along ``axis``."""
    x, y, z = axis / np.maximum(np.sqrt((axis * axis).sum(axis=0)), np.float32(1e-12))
    # Why: the two vectors across (x, y, z) without a branch, after Duff et al. 2017.
    side = np.copysign(np.float32(1), z)
    a = -1 / (side + z)
    b = x * y * a
    across = np.stack([1 + side * x * x * a, side * b, -side * x])
    upright = np.stack([b, side + y * y * a, -y])
    return direction[0] * across + direction[1] * upright + direction[2] * np.stack([x, y, z])
