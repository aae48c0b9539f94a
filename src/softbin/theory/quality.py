"""How good the bins of a grid are: correctness and robustness, for four ways to fit, each in three forms.

    fit      "hard" (a number per bin), "lines" (a least-squares line per bin), "soft" (one curve with shared knots),
             "paper_lines" (the line the paper prints)
    form     "printed" (the paper's formula), "true" (the closed form), "simulated" (Monte Carlo, with standard error)

What they mean is in ``design``, the derivations are in the module of each fit. For soft bins "printed" is the paper's
formula for a line per bin, since it has no other.
"""

from typing import Literal, Protocol, get_args

import numpy as np

from softbin.theory import free_lines, hard_bins, paper_lines, shared_knots
from softbin.theory.design import Design, Floats
from softbin.theory.monte_carlo import simulated_correctness, simulated_robustness
from softbin.theory.per_bin import PerBin

Form = Literal["printed", "true", "simulated"]


class Fit(Protocol):
    """A fit that is linear in the targets. All answers are per bin but the pointwise variance, which is per row."""

    def predict(self, design: Design, targets: Floats) -> Floats: ...
    def squared_bias(self, design: Design) -> Floats: ...
    def spent(self, design: Design) -> Floats: ...
    def robustness(self, design: Design) -> Floats: ...
    def pointwise_variance(self, design: Design) -> Floats: ...
    def printed_correctness(self, design: Design) -> Floats: ...
    def printed_robustness(self, design: Design) -> Floats: ...


FITS: dict[str, Fit] = {"hard": hard_bins, "lines": free_lines, "soft": shared_knots, "paper_lines": paper_lines}


def correctness(
    design: Design, fit: str = "soft", form: Form = "true", *, repeats: int = 2000, seed: int = 0
) -> PerBin:
    """The expected squared error of each bin, and of the grid.

    >>> v = np.linspace(0, 1, 400)
    >>> design = Design.of(v, np.sin(4 * v), noise_variance=1, edges=np.linspace(0, 1, 5))
    >>> for fit in ("hard", "lines", "soft"):
    ...     print(fit, round(correctness(design, fit).overall, 4))
    hard 0.0563
    lines 0.0206
    soft 0.0133
    """
    chosen = _fit(fit)
    if _form(form) == "simulated":
        return simulated_correctness(chosen.predict, design, repeats, seed)
    if form == "printed":
        return _exact(design, chosen.printed_correctness(design))
    return _exact(design, chosen.squared_bias(design) + chosen.spent(design) * design.noise_variance / design.rows)


def robustness(design: Design, fit: str = "soft", form: Form = "true", *, repeats: int = 2000, seed: int = 0) -> PerBin:
    """The variance of the mean prediction of each bin, and its mean over the grid.

    >>> v = (np.arange(2000) + 0.5) / 2000
    >>> design = Design.of(v, v, noise_variance=1, edges=np.linspace(0, 1, 21))
    >>> (robustness(design, "soft").values[10] / robustness(design, "hard").values[10]).round(3)
    np.float64(0.634)
    """
    chosen = _fit(fit)
    if _form(form) == "simulated":
        return simulated_robustness(chosen.predict, design, repeats, seed)
    return _exact(design, chosen.printed_robustness(design) if form == "printed" else chosen.robustness(design))


def squared_bias(design: Design, fit: str = "soft") -> PerBin:
    """The part of correctness that stays without noise."""
    return _exact(design, _fit(fit).squared_bias(design))


def pointwise_variance(design: Design, fit: str = "soft") -> Floats:
    """The variance of each row's prediction, rows in the order of their values."""
    return _fit(fit).pointwise_variance(design)


def _exact(design: Design, values: Floats) -> PerBin:
    overall = float(values @ design.rows / design.rows.sum())
    return PerBin(values, design.rows, overall, np.zeros(design.n_bins), 0.0)


def _fit(name: str) -> Fit:
    if name not in FITS:
        raise ValueError(f"fit: {name!r} is none of {', '.join(map(repr, FITS))}")
    return FITS[name]


def _form(name: Form) -> Form:
    if name not in get_args(Form):
        raise ValueError(f"form: {name!r} is none of {', '.join(map(repr, get_args(Form)))}")
    return name
