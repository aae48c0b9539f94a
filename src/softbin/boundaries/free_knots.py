"""Where the knots of a continuous piecewise-linear fit stand best, by weighted least squares on fine bins.

Continuity ties all pieces together, so no dynamic program over cuts is exact here. But moving one knot changes two
pieces only. With f the values of the fit at the knots, each piece adds a quadratic in its two ends,

    g00 f_k^2 + 2 g01 f_k f_{k+1} + g11 f_{k+1}^2 - 2 h0 f_k - 2 h1 f_{k+1},

and all that lies left (right) of a knot, minimised over its own knots, is a quadratic a f^2 - 2 b f - gain in that
knot's value alone: a *message*, passed on by eliminating one knot after the other. With the messages at hand, the
gain of one more knot is closed form at every fine bin at once, from running sums. Sums run from either end of a piece
in units of its width, so that no digits are lost in the bulk of a column with far tails.

The search takes a knot out and puts one in wherever it gains the most, knot after knot, until no single knot can be
moved anywhere and gain.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Knots = list[int]  # positions of fine bins, the first and the last among them

RIDGE = 1e-12  # of the weight: a knot that no value reaches stays at zero
GAIN = 1e-9  # of the target's sum of squares: less is no gain


@dataclass(frozen=True, eq=False)
class Moments:
    """Of each piece: what it adds to the quadratic. ``h0`` and ``h1`` are targets x pieces."""

    g00: Floats
    g01: Floats
    g11: Floats
    h0: Floats
    h1: Floats


@dataclass(frozen=True, eq=False)
class Messages:
    """Of each knot: all that lies on one side, as a f^2 - 2 b f - gain."""

    a: Floats
    b: Floats
    gain: Floats


@dataclass(frozen=True, eq=False)
class KnotSearch:
    """``at``: places from 0 to 1; ``weight``: of each; ``first``: targets x places, weight times target.

    ``squares``: what no fit at all loses. ``below``: whole units of weight before each place, at least ``least`` of
    them between knots.
    """

    at: Floats
    weight: Floats
    first: Floats
    squares: float
    below: NDArray[np.int64]
    least: int

    @property
    def last(self) -> int:
        return len(self.at) - 1

    @cached_property
    def ridge(self) -> float:
        return RIDGE * float(self.weight.sum())

    def gain(self, knots: Knots) -> float:
        """By how much the best fit with these knots lowers the squares."""
        left = self._messages(self._moments(knots))
        return float(left.gain[-1] + np.sum(left.b[:, -1] ** 2) / (left.a[-1] + self.ridge))

    def lost(self, knots: Knots) -> float:
        """The lowest squares with these knots."""
        return self.squares - self.gain(knots)

    def best(self, candidates: Sequence[Knots]) -> Knots:
        """The knots of the lowest squares found from these."""
        return max((self.settled(knots) for knots in candidates), key=self.gain)

    def fit(self, knots: Knots) -> Floats:
        """Targets x places: the best fit with these knots."""
        moments = self._moments(knots)
        left = self._messages(moments)
        value = left.b[:, -1] / (left.a[-1] + self.ridge)
        values = [value]
        for k in range(len(knots) - 2, -1, -1):
            free = left.b[:, k] + moments.h0[:, k] - moments.g01[k] * value
            value = free / (left.a[k] + moments.g00[k] + self.ridge)
            values.append(value)
        ends = np.stack(values[::-1], axis=1)
        piece, along = self._along(knots)
        fitted: Floats = ends[:, piece] * (1 - along) + ends[:, piece + 1] * along
        return fitted

    def allowed(self, knots: Knots) -> Knots:
        """The knots without those that follow the one before too closely."""
        kept = [0]
        for knot in knots[1:-1]:
            between = self.below[knot] - self.below[kept[-1]], self.below[-1] - self.below[knot]
            if min(between) >= self.least and self.at[kept[-1]] < self.at[knot] < self.at[-1]:
                kept.append(knot)
        return [*kept, self.last]

    def grown(self, n_pieces: int) -> Knots:
        """Knots put in one by one, each where it gains the most."""
        knots = [0, self.last]
        while len(knots) <= n_pieces:
            _, best = self._insert(knots)
            if best is None:
                break
            knots = sorted([*knots, best])
        return knots

    def shrunk(self, knots: Knots, n_pieces: int) -> Knots:
        """So many of these knots, the others taken out one by one, each where it loses the least."""
        while len(knots) > n_pieces + 1:
            knots = max((_without(knots, position) for position in range(1, len(knots) - 1)), key=self.gain)
        return knots

    def settled(self, knots: Knots) -> Knots:
        """The knots moved one by one until no single one can be moved anywhere and gain; those of no use left out."""
        gain, tried, position = self.gain(knots), 0, 1
        while tried < len(knots) - 2:
            position = position % (len(knots) - 2) + 1
            without = _without(knots, position)
            moved, best = self._insert(without)
            tried += 1
            if best is not None and moved > gain + GAIN * self.squares:
                knots, gain, tried = sorted([*without, best]), moved, 0
        return self._without_useless(knots)

    def _without_useless(self, knots: Knots) -> Knots:
        gain = self.gain(knots)
        for position in range(1, len(knots) - 1):
            without = _without(knots, position)
            if self.gain(without) >= gain - GAIN * self.squares:
                return self._without_useless(without)
        return knots

    def _along(self, knots: Knots) -> tuple[NDArray[np.intp], Floats]:
        """The piece each place is in, and how far along it, 0 to 1."""
        piece = np.repeat(np.arange(len(knots) - 1), np.diff([*knots[:-1], len(self.at)]))
        ends = self.at[knots]
        along: Floats = (self.at - ends[piece]) / np.diff(ends)[piece]
        return piece, along

    def _moments(self, knots: Knots) -> Moments:
        _, along = self._along(knots)
        back = 1 - along

        def total(terms: Floats) -> Floats:
            sums: Floats = np.add.reduceat(terms, knots[:-1], axis=-1)
            return sums

        weight, first = self.weight, self.first
        return Moments(
            total(weight * back**2), total(weight * back * along), total(weight * along**2),
            total(first * back), total(first * along),
        )  # fmt: skip

    def _messages(self, m: Moments) -> Messages:
        """What lies left of each knot."""
        # Why plain floats: a step is a few operations, and arrays of a few numbers cost more than they compute.
        g00, g01, g11, h0, h1 = m.g00.tolist(), m.g01.tolist(), m.g11.tolist(), m.h0.T.tolist(), m.h1.T.tolist()
        a, b, gain, ridge = [0.0], [[0.0] * len(m.h0)], [0.0], self.ridge
        for k in range(len(g00)):
            pivot, free = a[k] + g00[k] + ridge, [left + here for left, here in zip(b[k], h0[k], strict=True)]
            share = g01[k] / pivot
            a.append(g11[k] - g01[k] * share)
            b.append([here - left * share for here, left in zip(h1[k], free, strict=True)])
            gain.append(gain[k] + sum(one * one for one in free) / pivot)
        return Messages(np.array(a), np.array(b).T, np.array(gain))

    def _insert(self, knots: Knots) -> tuple[float, int | None]:
        """The gain with one more knot where it gains the most, and that place; None if there is no room."""
        m = self._moments(knots)
        left = self._messages(m)
        mirrored = Moments(m.g11[::-1], m.g01[::-1], m.g00[::-1], m.h1[:, ::-1], m.h0[:, ::-1])
        right = self._messages(mirrored)
        n_pieces = len(knots) - 1
        piece, along = self._along(knots)
        other = n_pieces - 1 - piece  # the knot after the piece, in the mirrored messages
        near, far = self._running(knots, along)
        with np.errstate(divide="ignore", invalid="ignore"):
            before, after = near.scaled(along), far.scaled(1 - along)
            pivot_left = left.a[piece] + before.g00 + self.ridge
            pivot_right = right.a[other] + after.g00 + self.ridge
            free_left, free_right = left.b[:, piece] + before.h0, right.b[:, other] + after.h0
            share_left, share_right = before.g01 / pivot_left, after.g01 / pivot_right
            pivot = before.g11 + after.g11 - before.g01 * share_left - after.g01 * share_right + self.ridge
            free = before.h1 + after.h1 - free_left * share_left - free_right * share_right
            gain = left.gain[piece] + right.gain[other]
            gain = gain + np.sum(free_left**2, axis=0) / pivot_left + np.sum(free_right**2, axis=0) / pivot_right
            gain = gain + np.sum(free**2, axis=0) / pivot
        gain[~(self._room(knots, piece) & (along > 0) & (along < 1) & np.isfinite(gain))] = -np.inf
        best = int(np.argmax(gain))
        return (float(gain[best]), best) if np.isfinite(gain[best]) else (-np.inf, None)

    def _room(self, knots: Knots, piece: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether a knot at each place leaves enough weight on both sides of it, up to the knots around."""
        starts, stops = self.below[knots[:-1]], self.below[[*knots[1:-1], len(self.at)]]
        here = self.below[:-1]
        room: NDArray[np.bool_] = (here - starts[piece] >= self.least) & (stops[piece] - here >= self.least)
        return room

    def _running(self, knots: Knots, along: Floats) -> tuple["RunningMoments", "RunningMoments"]:
        """Sums of each piece from the knot before it to each place, left out, and from there to the knot after it."""
        back = 1 - along
        forward = np.concatenate(
            [[self.weight, self.weight * along, self.weight * along**2], self.first, self.first * along]
        )
        backward = np.concatenate(
            [[self.weight, self.weight * back, self.weight * back**2], self.first, self.first * back]
        )
        near, far = np.zeros_like(forward), np.empty_like(backward)
        for start, stop in zip(knots[:-1], [*knots[1:-1], len(along)], strict=True):
            np.cumsum(forward[:, start : stop - 1], axis=1, out=near[:, start + 1 : stop])
            far[:, start:stop] = np.cumsum(backward[:, start:stop][:, ::-1], axis=1)[:, ::-1]
        return RunningMoments(near), RunningMoments(far)


def _without(knots: Knots, position: int) -> Knots:
    return knots[:position] + knots[position + 1 :]


@dataclass(frozen=True, eq=False)
class RunningMoments:
    """Sums of weight (times 1, d, d^2) and of each target (times 1, d), d measured from one end of a piece."""

    sums: Floats

    def scaled(self, along: Floats) -> Moments:
        """The moments of the piece between that end and places this far along."""
        weight, once, twice = self.sums[0], self.sums[1] / along, self.sums[2] / along**2
        n_targets = (len(self.sums) - 3) // 2
        first, first_once = self.sums[3 : 3 + n_targets], self.sums[3 + n_targets :] / along
        return Moments(weight - 2 * once + twice, once - twice, twice, first - first_once, first_once)
