"""What the theory of one column starts from: rows, the true curve on them, the noise, and the edges.

The targets of the n rows are o_i = lambda(v_i) + noise, the noise independent and normal with variance s2. Bins are
closed on the left, the last one on both sides. Everything the theory says is about fits that are linear in the targets,

    p = S o,

and follows from two numbers per bin B of m rows: how far the predictions are from the truth, and how much they move.

    Correctness(B) = E [(1/m) sum over B of (lambda_i - p_i)^2]
                   = (1/m) sum over B of ((S lambda)_i - lambda_i)^2  +  s2/m * sum over B of (S S')_ii
                     squared bias                                      spent: how many parameters B uses
    Robustness(B)  = Var [(1/m) sum over B of p_i] = s2 * |S' a|^2,  a = 1/m on the rows of B and 0 elsewhere

Both are better when smaller. A grid's correctness and robustness are the means over its bins, weighted by rows
(as in the paper's proof of its first lemma).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Design:
    """Rows in increasing order of their values, and the edges of K bins. Make one with ``Design.of``.

    >>> Design.of([3, 1, 2, 4], [9, 1, 4, 16], noise_variance=0.5, edges=[1, 3, 4]).rows
    array([2, 2])
    """

    values: Floats
    truth: Floats
    noise_variance: float
    edges: Floats

    @classmethod
    def of(cls, values: Any, truth: Any, noise_variance: float, edges: Any = None) -> "Design":
        """Check and sort. ``values`` and ``truth`` have one number per row; without ``edges`` all rows are one bin."""
        v, curve = np.asarray(values, np.float64), np.asarray(truth, np.float64)
        if v.ndim != 1 or v.shape != curve.shape or not len(v):
            raise ValueError(
                f"design: values {v.shape} and truth {curve.shape} differ; pass one number per row in both"
            )
        if not (np.isfinite(v).all() and np.isfinite(curve).all()):
            raise ValueError("design: values or truth are not finite; drop these rows")
        if not 0 <= noise_variance < np.inf:
            raise ValueError(f"noise_variance: {noise_variance} is no variance; pass a number from 0 up")
        ends = np.array([v.min(), v.max()]) if edges is None else np.asarray(edges, np.float64)
        order = np.argsort(v, kind="stable")
        design = cls(v[order], curve[order], float(noise_variance), ends)
        _check_edges(design)
        return design

    @property
    def n_bins(self) -> int:
        return len(self.edges) - 1

    @cached_property
    def bin(self) -> Positions:
        """The bin of each row."""
        return np.searchsorted(self.edges[1:-1], self.values, side="right")

    @cached_property
    def rows(self) -> Positions:
        """The number of rows of each bin: m."""
        return np.bincount(self.bin, minlength=self.n_bins)

    @cached_property
    def fraction(self) -> Floats:
        """Where in its bin each row is, from 0 at the lower edge to 1 at the upper."""
        lower, upper = self.edges[self.bin], self.edges[self.bin + 1]
        return (self.values - lower) / (upper - lower)

    def sums(self, x: Floats) -> Floats:
        """Sums over the rows of each bin; the last axis of ``x`` are the rows."""
        return np.add.reduceat(x, np.cumsum(self.rows) - self.rows, axis=-1)

    def means(self, x: Floats) -> Floats:
        """Means over the rows of each bin."""
        return self.sums(x) / self.rows

    def spread(self, per_bin: Floats) -> Floats:
        """Numbers per bin, written to the rows of each bin."""
        return np.repeat(per_bin, self.rows, axis=-1)

    def centred(self, x: Floats) -> Floats:
        """``x`` minus the mean of its bin."""
        return x - self.spread(self.means(x))


def _check_edges(design: Design) -> None:
    edges = design.edges
    if edges.ndim != 1 or len(edges) < 2 or not np.isfinite(edges).all() or (np.diff(edges) <= 0).any():
        raise ValueError(f"edges: {edges.tolist()} do not strictly increase; pass at least two that do")
    low, high = design.values[0], design.values[-1]
    if low < edges[0] or high > edges[-1]:
        raise ValueError(f"edges: values from {low:g} to {high:g} leave [{edges[0]:g}, {edges[-1]:g}]; widen the edges")
    empty = np.flatnonzero(design.rows == 0)
    if len(empty):
        raise ValueError(f"edges: {len(empty)} bins have no row, the first is number {empty[0]}; drop an edge of each")
