"""A readable model on ten million rows: fit curves straight from the raw columns, read them, draw them."""

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from softbin import LinearClassifier, SoftBins


def truth(age, income, hour):
    """What the made-up customers really do: three curves, none of them a line."""
    return (
        1.2 * np.exp(-(((age - 42) / 14) ** 2)),
        0.5 * np.log1p(income / 2e4),
        0.7 * np.sin((hour - 13) / 24 * 2 * np.pi),
    )


def make_table(n_rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(0)
    age = random.uniform(18, 90, n_rows).astype(np.float32)
    income = random.lognormal(10, 0.8, n_rows).astype(np.float32)
    hour = random.uniform(0, 24, n_rows).astype(np.float32)
    noise = [random.normal(size=n_rows).astype(np.float32) for _ in range(5)]
    score = sum(truth(age, income, hour)) - 2.0
    income[random.random(n_rows) < 0.1] = np.nan  # a tenth did not say
    columns = {"age": age, "income": income, "hour": hour} | {f"noise_{i}": x for i, x in enumerate(noise)}
    return pd.DataFrame(columns, copy=False), random.random(n_rows) < 1 / (1 + np.exp(-score))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=10_000_000)
    options.add_argument("--image", type=Path, default=Path("example_output/curves.png"))
    asked = options.parse_args()
    table, bought = make_table(asked.rows)

    began = time.perf_counter()
    model = LinearClassifier(SoftBins(20, period={"hour": (0, 24)}), verbose=1).fit(table, bought)
    print(f"{asked.rows:,} rows, {model.n_parameters_} coefficients: {time.perf_counter() - began:.1f} s")
    print(f"AUC {roc_auc_score(bought[:500_000], model.decision_function(table[:500_000])):.3f}")

    row = table[:1]
    print("why this row scores as it does:")
    for name, share in zip(table.columns, model.explain(row)[0], strict=True):
        print(f"  {name:10}{float(row[name].iloc[0]):12.1f}{share:8.2f}")
    print(f"  {'intercept':10}{'':12}{model.intercept_[0]:8.2f}")
    print(f"  {'score':10}{'':12}{model.decision_function(row)[0]:8.2f}")
    draw(model, asked.image)
    print(f"curves: {asked.image}")


def draw(model: LinearClassifier, image: Path) -> None:
    """Learned curves beside the true ones, centred alike."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(13, 3.2), sharey=True, layout="constrained")
    for position, (name, ax) in enumerate(zip(("age", "income", "hour", "noise_0"), axes, strict=True)):
        curve = model.curve(name)
        ax.plot(curve.knots, curve.values, "o-", ms=3, color="tab:blue", label="learned")
        if position < 3:
            shares = truth(curve.knots, curve.knots, curve.knots)[position]
            weight = np.asarray(model.grid_[name].weight)
            centre = np.average((shares[1:] + shares[:-1]) / 2, weights=weight)
            ax.plot(curve.knots, shares - centre, "--", color="tab:orange", label="truth")
        else:
            ax.axhline(0, ls="--", color="tab:orange", label="truth")
        if curve.missing is not None:
            ax.axhline(curve.missing, color="tab:gray", lw=1, label="missing")
        if name == "income":
            ax.set_xscale("log")
        ax.set(title=name, ylim=(-1.3, 1.3))
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("share of the log-odds")
    axes[1].legend(loc="lower right", fontsize=8)
    image.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(image, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
