"""A table with difficult columns: hard and soft bins, what they learn, what becomes of ties, and what they cost."""

import argparse
import shutil
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, SplineTransformer, StandardScaler

from softbin import HardBins, SoftBins

OUTPUT = Path("example_output")
PERIOD = {"hour": (0, 24)}
SPECIAL = {"days_since_visit": [-999]}
CONTINUOUS = ["income", "hour", "distance"]  # the columns without ties, where scikit-learn's answers are right too


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=200_000)
    options.add_argument("--out", type=Path, default=OUTPUT, help=f"folder for the picture (default {OUTPUT})")
    options.add_argument("--image", type=Path, help="also put a copy of the picture here")
    asked = options.parse_args()
    began = time.perf_counter()

    title(1, f"A table of {asked.rows:,} customers; will one buy?")
    table, bought = make_table(asked.rows)
    print(table.head(4).to_string(index=False, float_format="{:.2f}".format))

    title(2, "Bins for every column, and what was done about ties, codes and missing values")
    show_bins(table)

    title(3, "Logistic regression on the columns as they are, on hard bins, on soft bins")
    models = compare_models(table, bought)

    title(4, "Beside scikit-learn")
    compare_columns(table)
    compare_speed(table)

    title(5, "The picture")
    picture = draw(table, models, asked.out)
    if asked.image:
        shutil.copyfile(picture, asked.image)
    print(f"{picture}: hats on a skewed column, and the daily curve that each model learned.")
    print(f"\nDone in {time.perf_counter() - began:.0f} s. Next: README.md, then docs/how_it_works.md")


def title(number: int, text: str) -> None:
    print(f"\n{number}. {text}\n", flush=True)


def make_table(n_rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns as they come in practice, and an outcome that depends on them in curves, not lines."""
    random = np.random.default_rng(7)
    visited = random.random(n_rows) < 0.8
    member = random.random(n_rows) < 0.35
    distance = random.gamma(2, 6, n_rows)
    table = pd.DataFrame(
        {
            "income": random.lognormal(10.4, 0.7, n_rows),  # skewed
            "hour": random.normal(15, 6.5, n_rows) % 24,  # wraps at midnight
            "member": member.astype(float),  # 0 or 1
            "savings": np.where(random.random(n_rows) < 0.9, 0, random.lognormal(8, 1, n_rows)),  # 90 % zeros
            "days_since_visit": np.where(visited, random.integers(0, 365, n_rows), -999),  # a code: never came
            "distance": np.where(random.random(n_rows) < 0.07, np.nan, distance),  # some are missing
        }
    )
    score = (
        -1.6
        + 1.6 * np.exp(-(((np.log(table["income"]) - 10.6) / 0.45) ** 2))
        + daily_curve(table["hour"])
        + 0.5 * table["member"]
        + np.where(table["savings"] > 0, 0.9, 0)
        + np.where(visited, 1.5 * np.exp(-table["days_since_visit"] / 40), -0.8)
        + np.where(np.isnan(table["distance"]), 0.9, -np.abs(distance - 12) / 10)
    )
    bought = random.random(n_rows) < 1 / (1 + np.exp(-score.to_numpy()))
    return table, bought


def daily_curve(hour: Any) -> Any:
    """What the hour truly adds to the score: a peak at lunch, a higher one late in the evening."""
    around = [np.minimum(np.abs(hour - peak), 24 - np.abs(hour - peak)) for peak in (12.5, 22)]
    return 1.1 * np.exp(-((around[0] / 1.8) ** 2)) + 1.7 * np.exp(-((around[1] / 3.2) ** 2))


def show_bins(table: pd.DataFrame) -> None:
    soft = SoftBins(10, special=SPECIAL, period=PERIOD).fit(table)
    print(soft.fit_report_)
    names = soft.get_feature_names_out()
    picked = [name for name in names if name.startswith(("member", "days")) or "missing" in name]
    print(f"\n{soft.n_parameters_} output columns, such as: {', '.join([*picked[:3], '...', *picked[-3:]])}")
    print("\nOne row, its income as two weights that sum to one:")
    row = soft.transform(table[:1]).toarray()[0]
    for name, weight in zip(names, row, strict=True):
        if weight > 0 and name.startswith("income"):
            print(f"    {name:<18} {weight:.3f}")


def compare_models(table: pd.DataFrame, bought: np.ndarray) -> dict[str, Any]:
    """AUC on rows that no model saw; returns the fitted pipelines on bins."""
    train, test, bought_train, bought_test = train_test_split(table, bought, test_size=0.3, random_state=0)
    # Why: the raw columns get what good practice gives them: codes made missing, an indicator for what is missing.
    no_codes = FunctionTransformer(lambda rows: rows.replace(-999, np.nan))
    raw = make_pipeline(no_codes, SimpleImputer(add_indicator=True), StandardScaler())
    encoders = {
        "raw columns": raw,
        "HardBins(10)": HardBins(10, special=SPECIAL),
        "SoftBins(10)": SoftBins(10, special=SPECIAL, period=PERIOD),
    }
    models = {}
    print(f"{'':14}{'AUC':>8}{'seconds':>10}")
    for name, encoder in encoders.items():
        began = time.perf_counter()
        model = make_pipeline(encoder, LogisticRegression(C=10, max_iter=300)).fit(train, bought_train)
        auc = roc_auc_score(bought_test, model.decision_function(test))
        print(f"{name:14}{auc:8.4f}{time.perf_counter() - began:10.1f}", flush=True)
        models[name] = model
    return models


def compare_columns(table: pd.DataFrame) -> None:
    """What becomes of the columns with ties."""
    tied = table[["member", "savings"]]
    hard = HardBins(10).fit(tied)
    spline = SplineTransformer(degree=1, n_knots=11, knots="quantile")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bins = KBinsDiscretizer(10, quantile_method="averaged_inverted_cdf", subsample=None).fit(tied)
        empty = [np.mean(spline.fit_transform(tied[[name]]).sum(axis=1) == 0) for name in tied]
    soft_empty = [np.mean(SoftBins(10).fit_transform(tied[[name]]).sum(axis=1) == 0) for name in tied]
    print(f"{'':42}{'member (0/1)':>14}{'savings (90% 0)':>18}")
    for name, counts in (("HardBins", hard.n_bins_), ("KBinsDiscretizer", bins.n_bins_)):
        print(f"{name + ': bins, of 10 asked for':42}{counts[0]:14}{counts[1]:18}")
    for name, shares in (("SoftBins", soft_empty), ("SplineTransformer", empty)):
        print(f"{name + ': rows encoded as all zeros':42}{shares[0]:14.0%}{shares[1]:18.0%}")


def compare_speed(table: pd.DataFrame) -> None:
    """The same work by both, on columns that both get right: the best of three runs each."""
    values = table[CONTINUOUS].fillna(0).to_numpy(np.float32)
    values = np.tile(values, (1, 9))  # a table of a usual width
    bins = KBinsDiscretizer(10, quantile_method="averaged_inverted_cdf", subsample=None)
    spline = SplineTransformer(degree=1, n_knots=11, knots="quantile", sparse_output=True)
    hard, soft = HardBins(10).fit(values), SoftBins(10).fit(values)
    print(f"\n{f'{len(values):,} x {values.shape[1]} float32, 10 bins':30}{'softbin':>10}{'scikit-learn':>15}{'':>10}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bins.fit(values)
        spline.fit(values)
        for name, ours, peer in (
            ("exact quantile fit", lambda: hard.fit(values), lambda: bins.fit(values)),
            ("hard bins, sparse", lambda: hard.transform(values), lambda: bins.transform(values)),
            ("soft bins, sparse", lambda: soft.transform(values), lambda: spline.transform(values)),
        ):
            seconds, peer_seconds = best_of(ours), best_of(peer)
            faster = f"{peer_seconds / seconds:.0f}x faster"
            print(f"{name:30}{seconds:8.3f} s{peer_seconds:13.2f} s{faster:>14}", flush=True)


def best_of(work: Callable[[], Any], runs: int = 3) -> float:
    seconds = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def learned_curve(model: Any, table: pd.DataFrame, column: str, values: np.ndarray) -> np.ndarray:
    """What a model on bins adds to the score for these values of one column, above its average over the table."""
    encoder, regression = model[0], model[-1]
    names = encoder.get_feature_names_out()
    mine = np.array([name.startswith((f"{column}@", f"{column}[")) for name in names])
    weights = np.where(mine, regression.coef_[0], 0)
    asked = table.iloc[[0] * len(values)].assign(**{column: values})
    curve = encoder.transform(asked) @ weights
    return curve - np.mean(encoder.transform(table) @ weights)


def draw(table: pd.DataFrame, models: dict[str, Any], folder: Path) -> Path:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    style = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left"}
    with plt.rc_context(style):
        figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
        draw_hats(left, table)
        draw_curves(right, table, models)
        folder.mkdir(parents=True, exist_ok=True)
        picture = folder / "softbin.png"
        figure.savefig(picture, dpi=110)
        plt.close(figure)
    return picture


def draw_hats(axes: Any, table: pd.DataFrame) -> None:
    """Every soft bin of income as the weight it gives to a value, over the values' histogram."""
    from matplotlib import pyplot as plt

    income = table[["income"]] / 1000
    soft = SoftBins(6, output="dense").fit(income)
    end = float(np.quantile(income, 0.985))
    values = np.linspace(float(income.min().iloc[0]), end, 1201)
    weights = soft.transform(pd.DataFrame({"income": values}))
    heights, edges = np.histogram(income, 90, range=(0, end))
    axes.bar(edges[:-1], heights / heights.max(), np.diff(edges), align="edge", color="#d9dde3")
    colors = plt.get_cmap("viridis")(np.linspace(0.02, 0.88, weights.shape[1]))
    for hat, knot, color in zip(weights.T, soft.bin_edges_[0], colors, strict=True):
        reached = hat > 0
        axes.plot(values[reached], hat[reached], color=color, lw=2)
        if knot < end:
            axes.plot(knot, 1, "o", color=color, ms=5)
    axes.set(
        title="SoftBins: equal-weight knots on a skewed column",
        xlabel="income, thousands",
        ylabel="weight of each knot",
        xlim=(0, end),
        ylim=(0, 1.08),
    )
    axes.text(0.97, 0.62, "histogram in grey", transform=axes.transAxes, ha="right", color="#7a828e")


def draw_curves(axes: Any, table: pd.DataFrame, models: dict[str, Any]) -> None:
    """The true daily curve and what the two models on ten bins made of it."""
    hours = np.linspace(0, 23.999, 1200)
    truth = daily_curve(hours) - np.mean(daily_curve(table["hour"].to_numpy()))
    hard = learned_curve(models["HardBins(10)"], table, "hour", hours)
    soft = learned_curve(models["SoftBins(10)"], table, "hour", hours)
    axes.plot(hours, truth, color="#b4bac4", lw=6, solid_capstyle="round", label="truth")
    axes.plot(hours, hard, color="#d1495b", lw=1.6, label="hard bins")
    axes.plot(hours, soft, color="#1b6ca8", lw=2.2, label="soft bins, midnight wraps")
    axes.set(
        title="Logistic regression on 10 bins: the effect of the hour",
        xlabel="hour of day",
        ylabel="added to the log-odds",
        xlim=(0, 24),
        xticks=range(0, 25, 4),
    )
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.28, 1.0))


if __name__ == "__main__":
    main()
