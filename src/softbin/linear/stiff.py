"""Strengths so large that a curve cannot bend.

A coefficient of size one is known to 1e-16, and so is each of its bends, but a strength of 1e6 on a hundred knots makes
of that a gradient which no fit brings to zero. A column's waves (see ``reml``) are priced s sigma_i, and data pull at a
wave no more than at the level with most of them (rows of a Gram matrix of shares sum to what stands on the level). So
a wave whose price is STILL times that pull is held where it is, at zero, and costs nothing: it would move by 1e-6.

Where waves cannot be held, because curves have shapes or levels are too many for a whole Hessian, a strength that
leaves less than 1 / FLAT of every bend counts as one that leaves so much.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse

from softbin.engines.threads import one_blas_thread
from softbin.linear.curvature import DENSE_LEVELS, Centering
from softbin.linear.reml import Waves
from softbin.linear.smoothness import Bends, Floats

STILL = 1e6
FLAT = 1e3


def hold(
    centre: Centering, bends: Sequence[Bends], waves: Sequence[Waves], strengths: Floats, pull: Floats
) -> tuple[list[Any], Centering]:
    """What every column's other waves cost (sparse, levels x levels), and a centre that takes the held ones out too.

    ``pull``: of the data, by level.
    """
    costs, held = [], [centre.means]
    for b, w, s in zip(bends, waves, strengths, strict=True):
        with np.errstate(over="ignore"):
            price = s * w.rough
        still = price > STILL * np.max(pull[w.levels], initial=0.0)
        if not np.any(still):
            costs.append(s * b.matrix)
            continue
        moving = w.vectors[:, ~still]
        with one_blas_thread():
            costs.append(scipy.sparse.csr_array((moving * price[~still]) @ moving.T))
        rows = scipy.sparse.lil_array((int(np.sum(still)), centre.means.shape[1]))
        rows[:, w.levels] = w.vectors[:, still].T
        held.append(rows)
    return costs, replace(centre, means=scipy.sparse.vstack(held).tocsr())


def flattest(bends: Bends, strength: float, pull: Floats) -> float:
    """The strength, or the one that leaves so little of every bend that more makes no difference."""
    enough = FLAT * float(np.max(pull[bends.levels], initial=0.0))
    count = bends.matrix.shape[0]
    # Why the mean eigenvalue first: it is known, and the least takes long for many levels.
    if bends.rank == 0 or strength <= enough * bends.rank / bends.matrix.trace() or count > DENSE_LEVELS:
        return strength
    at = count - bends.rank
    with one_blas_thread():
        least = scipy.linalg.eigh(bends.matrix.toarray(), subset_by_index=(at, at), eigvals_only=True)[0]
    return min(strength, enough / float(least))
