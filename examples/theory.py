"""Write docs/theory.md and its pictures: the paper's four lemmas as experiments, and what follows from the truth."""

import argparse
from functools import cache
from pathlib import Path

import numpy as np

from softbin.theory import (
    Design,
    Lemma,
    auc_with_noise,
    best_density,
    best_n_bins,
    edges_of,
    hard_bias,
    lemmas,
    measured_best_n_bins,
    pilot,
    pointwise_variance,
    robustness,
    roughness,
    soft_bias,
    squared_bias,
    variance_in_bin,
)

COLOURS = {"hard": "tab:orange", "soft": "tab:blue", "lines": "tab:gray"}
NAMES = {"hard": "hard bins", "soft": "soft bins", "lines": "a line per bin"}
# Paper: Table 1, HIGGS, logistic regression. All rows, the AUC at 1 %, and parameters per column.
HIGGS = {"CD (100)": (77.29, 75.84, 100), "LLE (100)": (77.46, 75.89, 101), "LLE (10)": (77.42, 77.21, 11)}
N_HIGGS = 105_000

PAGE = """# Theory: what bins cost, and how many to take

> Written by `python examples/theory.py`, numbers and pictures. The derivations are in the module headers of
> `src/softbin/theory/`; `from softbin.theory import lemmas, correctness, best_n_bins` runs all of it.

The rows of a column have values v and targets o = lambda(v) + noise, the noise of variance s2. A bin of m rows is
judged by two numbers, both better when smaller:

- **correctness**: the expected squared error of its predictions against lambda;
- **robustness**: the variance of its mean prediction.

Every formula below stands in three forms: as the paper prints it, as a closed form that is true, and simulated. The
tests hold closed forms against dense linear algebra and against simulations (three standard errors) on random designs.

## In short

| | a number per bin (hard bins) | a line per bin | one curve, knots shared (soft bins) |
|---|---|---|---|
| parameters, K bins | K | 2 K | K + 1 |
| correctness | V + s2/m | V (1 - rho^2) + 2 s2/m | squared bias + (K + 1) s2/n over the grid |
| squared bias, bin width h | h^2/12 lambda'^2 | h^4/720 lambda''^2 | h^4/720 lambda''^2 |
| robustness, inner bin | s2/m | s2/m | {INNER_BIN} s2/m |
| largest variance in an inner bin | s2/m | 4 s2/m | {INNER_KNOT} s2/m |
| best number of bins | grows as n^(1/3) | | grows as n^(1/5) |
| risk at the best number | falls as n^(-2/3) | | falls as n^(-4/5) |

V is the variance of lambda in the bin, rho its correlation with v there. The last six rows are for evenly spread values
and many rows.

## The four lemmas

{LEMMAS}

## Bias, variance, risk

![squared bias, variance and risk against the number of bins](images/theory_risk.png)

lambda(v) = sin 4v + .3 v on [0, 1], s2 = 1, 10,000 even rows. Lines are exact, dashes are the formulas in the table
above, dots the best numbers. Squared bias falls with the square of the number of hard bins and with the fourth power
of the number of soft bins, which is why few of these are enough. For many rows, half the best number costs {HALF_HARD}
times the least risk with hard bins and {HALF_SOFT} times with soft bins, twice the best number {TWICE_HARD} and
{TWICE_SOFT} times: when in doubt, take more.

## Inside a bin

![variance of single predictions along a column](images/theory_variance.png)

Single predictions of a soft curve are steady between knots and noisy at them, most of all at the two ends of the data.

{INSIDE}

## How many bins

![best number of bins, and its risk, against the number of rows](images/theory_best.png)

{BEST}

Lines are `best_n_bins`, dots the best of all numbers of bins by exact bias. The formulas need the noise variance and
two integrals over the column, of lambda'^2 and lambda''^2; `pilot` estimates all three from counts in fine bins.
`measured_best_n_bins` uses no formula for many bins: it fits every number to the same counts and corrects for noise.
What either choice costs, as a multiple of the least risk: 0/1 targets, 20,000 rows, logit lambda(v) = v - 1, quantile
edges, 200 fine bins, the mean of 20 draws:

{CHOICES}

Values far out have wide bins, of which the formulas for many bins think the worst. Measuring does not mind them.

## Where the edges should be

For K bins, the best density of edges is proportional to (p lambda'^2)^(1/3) for hard bins and (p lambda''^2)^(1/5) for
soft bins, p the density of the values. A column with 40 bins, p = (1 + .8 cos(pi v / 3)) / 6 on [-3, 3] and
lambda(v) = sin 2v + .2 v; squared bias by formula (many bins) and exactly:

{PLACES}

Quantile edges crowd the bulk, and the thin ends pay for it.

## What noise costs in AUC

P coefficients fitted on n rows put noise of variance P/(n E[p(1-p)]) on every logit. The AUC that this leaves, against
what the paper found at 1 % of HIGGS ({N_HIGGS} rows, 28 columns; AUC x 100):

{AUC}
"""


def table(header: str, rows: list[list[str]]) -> str:
    names = header.split(" | ")
    lines = [names, ["---", *["---:"] * (len(names) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def show(x: float) -> str:
    return f"{x:.4g}" if abs(x) >= 1e-12 else "0"


def lemma_text(lemma: Lemma) -> str:
    verdict = f"The sentence is {'true' if lemma.statement_holds else 'false'}, the formulas are "
    verdict += "true." if lemma.formula_holds else "false."
    numbers = [
        [
            n.name,
            "" if n.printed is None else show(n.printed),
            show(n.true),
            f"{show(n.simulated)} ± {n.standard_error:.1g}",
        ]
        for n in lemma.numbers
    ]
    what = "robustness" if lemma.number % 2 == 0 else "correctness"
    return "\n\n".join(
        [
            f"### Lemma {lemma.number}\n\n**Printed.** {lemma.printed}\n\n**True.** {lemma.true}\n\n**{verdict}**",
            f"**Counter-example.** {lemma.counter_example}",
            table(f"{what} | printed | closed form | simulated", numbers),
        ]
    )


def even(n: int) -> np.ndarray:
    return (np.arange(n) + 0.5) / n


def curve(v: np.ndarray) -> np.ndarray:
    return np.sin(4 * v) + 0.3 * v


SLOPE = float(((4 * np.cos(4 * even(100_000)) + 0.3) ** 2).mean())
BEND = float(((16 * np.sin(4 * even(100_000))) ** 2).mean())


def exact_bias(fit: str, n_bins: int) -> float:
    v = even(20_000)
    return squared_bias(Design.of(v, curve(v), 0.0, np.linspace(0, 1, n_bins + 1)), fit).overall


def parameters(fit: str, n_bins: int) -> int:
    return n_bins + (fit == "soft")


def searched(fit: str, n: float, near: int) -> tuple[int, float]:
    """The best number of bins by exact bias, among those around ``near``, and its risk."""
    sizes = sorted({max(1, round(near * factor)) for factor in np.linspace(0.7, 1.4, 25)})
    return min(((k, exact_bias(fit, k) + parameters(fit, k) / n) for k in sizes), key=lambda pair: pair[1])


def off(power: int, factor: float) -> float:
    """The risk of ``factor`` times the best number: bias is 1/power of it and falls with the number to power - 1."""
    return (factor ** (1 - power) + (power - 1) * factor) / power


def inside_table() -> str:
    grid = Design.of(even(40_000), curve(even(40_000)), 1.0, np.linspace(0, 1, 41))
    one = pointwise_variance(grid, "soft").reshape(40, 1000) * 1000
    bins = robustness(grid, "soft").values * 1000
    rows = [
        ["a knot inside", "√3", 3**0.5, one[20, 0]],
        ["the middle of a bin", "(3 - √3)/2", (3 - 3**0.5) / 2, one[20, 500]],
        ["the ends of the data", "2 √3", 2 * 3**0.5, one[0, 0]],
        ["mean prediction of an inner bin", "(3 - √3)/2", (3 - 3**0.5) / 2, bins[20]],
        ["mean prediction of an end bin", "√3/2", 3**0.5 / 2, bins[0]],
    ]
    cells = [[name, formula, f"{limit:.3f}", f"{found:.3f}"] for name, formula, limit, found in rows]
    return table("variance of soft bins, in units of s2/m | formula | is | 40 bins of 1,000 rows", cells)


def best_table() -> str:
    rows = []
    for n in (1e3, 1e4, 1e5, 1e6, 1e7):
        best = best_n_bins(n, 1.0, SLOPE, BEND)
        cells = [f"{n:,.0f}"]
        for fit, found in (("hard", best.hard), ("soft", best.soft)):
            cells += [f"{found.exact:.1f}", str(searched(fit, n, found.n_bins)[0]), f"{found.risk:.2g}"]
        rows.append([*cells, f"{best.risk_ratio:.1f}"])
    head = "rows | hard: formula | exact | risk | soft: formula | exact | risk | ratio of risks"
    return table(head, rows)


def choices_table() -> str:
    random = np.random.default_rng(0)
    n = 20_000
    columns = {
        "even": 3 * random.random(n),
        "normal": random.normal(size=n),
        "lognormal": random.lognormal(size=n),
    }
    return table(
        "values | hard: pilot | measured | soft: pilot | measured",
        [[name, *choices(np.sort(values))] for name, values in columns.items()],
    )


def choices(values: np.ndarray) -> list[str]:
    """The mean cost of both ways to choose, for hard and for soft bins."""
    n = len(values)
    share = 1 / (1 + np.exp(1 - values))
    noise = float((share * (1 - share)).mean())

    @cache
    def risk(fit: str, n_bins: int) -> float:
        design = Design.of(values, share, 0.0, np.quantile(values, np.linspace(0, 1, n_bins + 1)))
        return squared_bias(design, fit).overall + parameters(fit, n_bins) * noise / n

    costs = []
    for seed in range(20):
        ones = np.random.default_rng(seed).random(n) < share
        parts = [part.reshape(200, -1) for part in (values, ones)]
        counts = (parts[0].mean(axis=1), np.full(200, n // 200), parts[1].sum(axis=1), parts[1].sum(axis=1))
        both = pilot(*counts).best_n_bins(), measured_best_n_bins(*counts)
        costs.append([risk(fit, getattr(best, fit).n_bins) for fit in ("hard", "soft") for best in both])
    least = [min(risk(fit, k) for k in range(1, 50)) for fit in ("hard", "soft")]
    return [f"{cost:.2f}" for cost in np.mean(costs, axis=0) / np.repeat(least, 2)]


def places_table() -> str:
    v = np.linspace(-3, 3, 4001)
    p = (1 + 0.8 * np.cos(np.pi * v / 3)) / 6
    below = np.concatenate([[0.0], np.cumsum((p[1:] + p[:-1]) / 2 * np.diff(v))])
    values = np.interp(even(50_000), below / below[-1], v)
    slopes = {"hard": 2 * np.cos(2 * v) + 0.2, "soft": -4 * np.sin(2 * v)}
    rows = []
    for name in ("quantile", "equal width", "best"):
        cells = [name]
        for fit, constant, power in (("hard", 12, 2), ("soft", 720, 4)):
            best = best_density(v, p, slopes[fit], fit)
            g = {"quantile": p, "equal width": np.full(len(v), 1 / 6), "best": best}[name]
            design = Design.of(values, np.sin(2 * values) + 0.2 * values, 0.0, edges_of(v, g, 40))
            formula = roughness(v, p, slopes[fit], g, fit) / (constant * 40**power)
            cells += [f"{formula:.2g}", f"{squared_bias(design, fit).overall:.2g}"]
        rows.append(cells)
    return table("edges | hard: formula | exact | soft: formula | exact", rows)


def auc_table() -> str:
    rows = [
        [name, f"{full:.2f}", f"{100 * auc_with_noise(full / 100, 28 * size, N_HIGGS):.2f}", f"{small:.2f}"]
        for name, (full, small, size) in HIGGS.items()
    ]
    return table("logistic regression | paper, all rows | formula, 1 % | paper, 1 %", rows)


def page() -> str:
    return PAGE.format(
        LEMMAS="\n\n".join(lemma_text(lemma) for lemma in lemmas()),
        INNER_BIN=f"{(3 - 3**0.5) / 2:.3f}",
        INNER_KNOT=f"{3**0.5:.2f}",
        HALF_HARD=f"{off(3, 0.5):.1f}",
        HALF_SOFT=f"{off(5, 0.5):.1f}",
        TWICE_HARD=f"{off(3, 2):.1f}",
        TWICE_SOFT=f"{off(5, 2):.1f}",
        INSIDE=inside_table(),
        BEST=best_table(),
        CHOICES=choices_table(),
        PLACES=places_table(),
        AUC=auc_table(),
        N_HIGGS=f"{N_HIGGS:,}",
    )


def draw_risk(plt, image: Path) -> None:
    n = 10_000
    sizes = np.concatenate([np.arange(1, 40), np.arange(40, 201, 10)])
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), sharey=True, layout="constrained")
    for ax, fit in zip(axes, ("hard", "soft"), strict=True):
        bias = np.array([exact_bias(fit, k) for k in sizes])
        variance = (sizes + (fit == "soft")) / n
        limit = [hard_bias(k, SLOPE) if fit == "hard" else soft_bias(k, BEND) for k in sizes]
        ax.plot(sizes, bias, color="tab:green", label="squared bias")
        ax.plot(sizes, limit, "--", color="tab:green", lw=1, alpha=0.7, label="its formula")
        ax.plot(sizes, variance, color="tab:purple", label="variance")
        ax.plot(sizes, bias + variance, color="black", lw=2, label="risk")
        best = int(np.argmin(bias + variance))
        ax.plot(sizes[best], (bias + variance)[best], "o", color="black")
        ax.annotate(
            f"{sizes[best]} bins",
            (sizes[best], (bias + variance)[best]),
            (0, 9),
            textcoords="offset points",
            ha="center",
        )
        ax.set(xscale="log", yscale="log", ylim=(1e-6, 1), xlabel="number of bins", title=NAMES[fit])
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("squared error")
    axes[1].legend(loc="lower right", fontsize=9)
    save(plt, figure, image)


def draw_variance(plt, image: Path) -> None:
    grid = Design.of(even(1600), even(1600), 1.0, np.linspace(0, 1, 9))
    figure, ax = plt.subplots(figsize=(10, 3.6), layout="constrained")
    for fit in ("lines", "hard", "soft"):
        y = pointwise_variance(grid, fit) * 200
        for k in range(8):  # Why: a line per bin jumps at the edges
            rows = slice(200 * k, 200 * (k + 1))
            ax.plot(
                grid.values[rows],
                y[rows],
                color=COLOURS[fit],
                lw=2.2 if fit == "soft" else 1.4,
                label=None if k else NAMES[fit],
            )
    ax.plot(3 / 8 + even(60) / 8, variance_in_bin(even(60)), ":", color="black", lw=2, label="formula, inner bin")
    for edge in grid.edges:
        ax.axvline(edge, color="black", lw=0.5, alpha=0.25)
    ax.set(xlabel="value (edges of 8 bins)", ylabel="variance of a prediction, s2/m", xlim=(0, 1), ylim=(0, 4.9))
    ax.legend(loc="upper center", ncols=4, fontsize=9)
    save(plt, figure, image)


def draw_best(plt, image: Path) -> None:
    rows = np.geomspace(300, 1e7, 60)
    some = np.geomspace(1e3, 1e7, 9)
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    for fit in ("hard", "soft"):
        found = [getattr(best_n_bins(n, 1.0, SLOPE, BEND), fit) for n in rows]
        axes[0].plot(rows, [best.exact for best in found], color=COLOURS[fit], label=NAMES[fit])
        axes[1].plot(rows, [best.risk for best in found], color=COLOURS[fit], label=NAMES[fit])
        exact = [searched(fit, n, getattr(best_n_bins(n, 1.0, SLOPE, BEND), fit).n_bins) for n in some]
        for ax, part in zip(axes, (0, 1), strict=True):
            ax.plot(some, [pair[part] for pair in exact], "o", ms=4, color=COLOURS[fit])
    axes[0].set(xscale="log", yscale="log", xlabel="rows", title="best number of bins")
    axes[1].set(xscale="log", yscale="log", xlabel="rows", title="risk with that number")
    for ax in axes:
        ax.grid(alpha=0.3)
    axes[0].legend()
    save(plt, figure, image)


def save(plt, figure, image: Path) -> None:
    image.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(image, dpi=100)
    plt.close(figure)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, default=Path("docs"))
    out = options.parse_args().out
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    for draw in (draw_risk, draw_variance, draw_best):
        image = out / "images" / f"theory_{draw.__name__.removeprefix('draw_')}.png"
        draw(plt, image)
        print(image)
    (out / "theory.md").write_text(page(), encoding="utf-8")
    print(out / "theory.md")


if __name__ == "__main__":
    main()
