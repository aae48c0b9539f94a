"""The paper's four lemmas as experiments: what is printed, what is true, and numbers that tell.

Each experiment is a small design on which the printed formula, the closed form and a simulation are set side by side.
Whether a statement or a formula holds is decided by these numbers, not typed in.
"""

from dataclasses import dataclass

import numpy as np

from softbin.theory.design import Design, Floats
from softbin.theory.quality import correctness, pointwise_variance, robustness, squared_bias

STANDARD_ERRORS = 4  # the simulation refutes a formula that is further away


@dataclass(frozen=True)
class Number:
    """One quantity in three forms; ``printed`` is None where the paper has no formula for it."""

    name: str
    printed: float | None
    true: float
    simulated: float
    standard_error: float

    @property
    def refuted(self) -> bool:
        """Whether the simulation is far from the printed formula."""
        return self.printed is not None and abs(self.simulated - self.printed) > STANDARD_ERRORS * self.standard_error


@dataclass(frozen=True)
class Lemma:
    """``statement_holds``: the sentence of the lemma. ``formula_holds``: the formulas of its proof."""

    number: int
    printed: str
    true: str
    statement_holds: bool
    formula_holds: bool
    counter_example: str
    numbers: tuple[Number, ...]


def lemmas(repeats: int = 4000, seed: int = 0) -> tuple[Lemma, ...]:
    """Run all four.

    >>> for lemma in lemmas(repeats=500):
    ...     print(lemma.number, lemma.statement_holds, lemma.formula_holds)
    1 False False
    2 True False
    3 False False
    4 False False
    """
    return tuple(lemma(repeats, seed) for lemma in (_smaller_bins, _larger_bins, _line_correct, _line_robust))


def _smaller_bins(repeats: int, seed: int) -> Lemma:
    v = _even(40)
    numbers, helps = [], []
    for noise in (0.04, 4.0):
        one, two = (Design.of(v, v, noise, edges) for edges in ([0, 1], [0, 0.5, 1]))
        numbers += [
            _correct(f"{n}, s2 = {noise:g}", d, "hard", repeats, seed) for n, d in (("1 bin", one), ("2 bins", two))
        ]
        helps.append(numbers[-1].true < numbers[-2].true)
    between = float(squared_bias(one, "hard").overall - squared_bias(two, "hard").overall)
    return Lemma(
        1,
        "Fewer rows in a bin, better correctness. Correctness = V, the variance of lambda in the bin.",
        "Correctness = V + s2/m. A split helps if and only if the variance between its parts exceeds s2/m.",
        all(helps),
        not any(number.refuted for number in numbers),
        "lambda(v) = v on 40 even rows of [0, 1], s2 = 4. "
        f"The variance between the halves is {between:.4f}, one more bin costs s2/m = {4 / 40:.4f}: "
        f"correctness goes from {numbers[2].true:.4f} to {numbers[3].true:.4f}, which is worse.",
        tuple(numbers),
    )


def _larger_bins(repeats: int, seed: int) -> Lemma:
    designs = [Design.of(_even(m), _even(m), 1.0) for m in (10, 20, 40, 80)]
    numbers = tuple(_robust(f"m = {len(d.values)}, s2 = 1", d, "hard", 0, repeats, seed) for d in designs)
    true = [number.true for number in numbers]
    return Lemma(
        2,
        "More rows in a bin, better robustness. Robustness = s2/m^2.",
        "Robustness = s2/m: all predictions of a bin are one number, and averaging copies of it does not steady it.",
        true == sorted(true, reverse=True),
        not any(number.refuted for number in numbers),
        "None: the direction is right. "
        f"But with 80 rows the variance is {true[-1] / (numbers[-1].printed or 1):.0f} times the printed one.",
        numbers,
    )


def _line_correct(repeats: int, seed: int) -> Lemma:
    flat = Design.of(np.linspace(1, 2, 20), np.full(20, 3.0), 0.04)
    v = _even(40)
    step = Design.of(_even(60), (_even(60) >= 0.5).astype(float), 0.0004, [0, 0.25, 0.5, 0.75, 1])
    cases = (
        ("lambda = 3 on [1, 2], s2 = 0.04", flat, ("hard", "paper_lines", "lines")),
        ("lambda = v on [0, 1], s2 = 0.04", Design.of(v, v, 0.04), ("hard", "lines")),
        ("lambda = v on [0, 1], s2 = 4", Design.of(v, v, 4.0), ("hard", "lines")),
        ("step at an edge, s2 = 0.0004", step, ("hard", "lines", "soft")),
    )
    numbers = tuple(_correct(f"{NAMES[fit]}: {name}", d, fit, repeats, seed) for name, d, fits in cases for fit in fits)
    better = [correctness(d, fit).overall <= correctness(d, "hard").overall for _, d, fits in cases for fit in fits]
    printed_bias, hard_bias = (squared_bias(flat, fit).overall for fit in ("paper_lines", "hard"))
    soft, hard = (correctness(step, fit).overall for fit in ("soft", "hard"))
    return Lemma(
        3,
        "In the same bin, LLE has better correctness than hard bins. "
        "Correctness = the squared bias of the line with slope sum(v o)/sum(v^2), which is at most V.",
        "That slope belongs to a regression through the origin, and its bias can exceed V. "
        "A least-squares line has the squared bias V (1 - rho^2), at most V, and Correctness = V (1 - rho^2) + 2 s2/m: "
        "better than hard bins if and only if rho^2 V > s2/m. "
        "Soft bins share their knots: K + 1 parameters instead of 2 K, and a continuous curve.",
        all(better),
        not any(number.refuted for number in numbers),
        "lambda = 3 on 20 even rows of [1, 2]: "
        f"squared bias {printed_bias:.3f} for the printed line, {hard_bias:.0f} for hard bins. "
        "For soft bins, a step at an edge, which hard bins fit exactly: "
        f"correctness {soft:.4f} against {hard:.6f}.",
        numbers,
    )


def _line_robust(repeats: int, seed: int) -> Lemma:
    v = _even(1000)
    grid = Design.of(v, np.sin(4 * v), 1.0, np.linspace(0, 1, 11))
    numbers = tuple(
        _robust(f"{NAMES[fit]}, {name}", grid, fit, k, repeats, seed)
        for fit, name, k in (
            ("hard", "any bin", 4),
            ("lines", "any bin", 4),
            ("soft", "inner bin", 4),
            ("soft", "end bin", 0),
        )
    )
    most = {fit: float(pointwise_variance(grid, fit).max()) * 100 for fit in ("hard", "lines", "soft")}
    return Lemma(
        4,
        "In the same bin, LLE is as robust as hard bins. Robustness = s2/m^2.",
        "The mean prediction of a bin has variance s2/m with hard bins and with a least-squares line alike. "
        "With shared knots it is strictly smaller; for many even rows in equal bins, "
        "(3 - sqrt 3)/2 = 0.634 s2/m in an inner bin and (sqrt 3)/2 = 0.866 s2/m in an end bin.",
        bool(np.ptp([number.true for number in numbers]) < 1e-9),
        not any(number.refuted for number in numbers),
        f"10 bins of 100 even rows: {numbers[2].true * 100:.3f} s2/m for soft bins, 1 for the others. "
        f"Single predictions move more: at most by a variance of {most['hard']:.2f} s2/m for hard bins, "
        f"{most['lines']:.2f} for a line per bin, {most['soft']:.2f} for soft bins (at the ends of the data).",
        numbers,
    )


NAMES = {"hard": "hard bins", "lines": "line per bin", "soft": "soft bins", "paper_lines": "printed line"}


def _even(m: int) -> Floats:
    """The middles of m equal pieces of [0, 1]."""
    return (np.arange(m) + 0.5) / m


def _correct(name: str, design: Design, fit: str, repeats: int, seed: int) -> Number:
    printed, true = (correctness(design, fit, form).overall for form in ("printed", "true"))
    drawn = correctness(design, fit, "simulated", repeats=repeats, seed=seed)
    return Number(name, printed, true, drawn.overall, drawn.overall_standard_error)


def _robust(name: str, design: Design, fit: str, k: int, repeats: int, seed: int) -> Number:
    printed, true = (float(robustness(design, fit, form).values[k]) for form in ("printed", "true"))
    drawn = robustness(design, fit, "simulated", repeats=repeats, seed=seed)
    return Number(name, printed, true, float(drawn.values[k]), float(drawn.standard_errors[k]))
