"""LinearClassifier beside scikit-learn, glum and LightGBM. ``make bench-linear``, or ``python -m benchmarks.linear``.

First the answers: our objective must be no worse than scikit-learn's on the same hats. Then times, all in one run.
glum and LightGBM are compared where they are installed.
"""

import argparse
import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.pipeline import make_pipeline

from benchmarks import report
from benchmarks.agreement import Disagreement
from benchmarks.measure import busy_cores, copy_speed, memory_now, memory_peak, say
from benchmarks.peers import glum, lightgbm, scikit_learn
from benchmarks.tables import BLOCK, N_COLUMNS, Matrix, make_table
from softbin import HardBins, LinearClassifier, SoftBins
from softbin.linear.families import FAMILIES
from softbin.linear.objective import Objective, prepare_rows
from softbin.linear.penalties import ridge
from softbin.linear.pieces import Pieces

RESULTS = Path("docs/results")
README_MARKERS = ("<!-- linear:start -->", "<!-- linear:end -->")
ROWS, LARGE_ROWS, TEST_ROWS = 1_000_000, 11_000_000, 200_000
CHECKED_ROWS = 30_000
RIDGE = 1.0
Row = dict[str, Any]
Labels = NDArray[np.bool_]


def make_data(n_rows: int, seed: int = 0) -> tuple[Matrix, Labels]:
    """The benchmark table, and labels that depend on its columns through curves that are not straight."""
    table = make_table(n_rows, seed)
    random = np.random.default_rng(seed + 1)
    y = np.empty(n_rows, bool)
    for start in range(0, n_rows, BLOCK):
        x = table[start : start + BLOCK]
        score = np.sin(2 * x[:, 0]) + np.minimum(x[:, 1], 4) / 2 - x[:, 2] ** 2 / 2 + np.abs(x[:, 4]) - 0.8
        score += 0.4 * np.tanh(x[:, 8:28]).sum(axis=1) / 4
        y[start : start + BLOCK] = random.random(len(x), dtype=np.float32) < 1 / (1 + np.exp(-score))
    return table, y


def objective(probability: Any, y: Labels, coef: Any) -> float:
    """scikit-learn's objective: summed log-loss plus ridge / 2 times the squared coefficients."""
    return float(log_loss(y, probability, normalize=False) + RIDGE / 2 * np.sum(np.square(coef)))


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def logistic() -> LogisticRegression:
    return LogisticRegression(C=1 / RIDGE, tol=1e-6, max_iter=1000)


def check(table: Matrix, y: Labels, bins: str) -> None:
    """On the same encoding both must reach the same optimum: ours may not be worse by a part in a hundred million."""
    say(f"checking the answers: {bins}")
    model = LinearClassifier(bins, ridge=RIDGE, tol=1e-7).fit(table, y)
    encoded = model.encoder_.transform(table).astype(float)
    peer = LogisticRegression(C=1 / RIDGE, tol=1e-8, max_iter=10_000).fit(encoded, y)
    ours = objective(1 / (1 + np.exp(-(encoded @ model.coef_[0] + model.intercept_))), y, model.coef_)
    theirs = objective(peer.predict_proba(encoded)[:, 1], y, peer.coef_)
    if ours > theirs * (1 + 1e-8):
        raise Disagreement(f"{bins}: our objective {ours:.10g} is above scikit-learn's {theirs:.10g}")


def against_scikit_learn(table: Matrix, y: Labels, bins: str, encoder: Any, target: float, repeats: int) -> Row:
    """A whole fit, boundaries included: ours several times, scikit-learn's pipeline once."""
    check(table[:CHECKED_ROWS], y[:CHECKED_ROWS], bins)
    say(f"{bins}: ours")
    runs = [timed(lambda: LinearClassifier(bins, ridge=RIDGE).fit(table, y)) for _ in range(repeats + 1)]
    seconds, model = sorted(taken for taken, _ in runs[1:])[repeats // 2], runs[-1][1]
    say(f"{bins}: scikit-learn")
    peer_seconds, peer = timed(lambda: make_pipeline(encoder, logistic()).fit(table, y))
    ours = objective(model.predict_proba(table)[:, 1].astype(float), y, model.coef_)
    theirs = objective(peer.predict_proba(table)[:, 1], y, peer[-1].coef_)
    return {
        "work": f"{bins}, {len(table):,} rows",
        "seconds": seconds,
        "passes": len(model.history_),
        "objective": ours,
        "peer": f"{type(encoder).__name__} + LogisticRegression",
        "peer_seconds": peer_seconds,
        "peer_objective": theirs,
        "faster": peer_seconds / seconds,
        "target": target,
    }


def side_by_side(table: Matrix, y: Labels, test: tuple[Matrix, Labels]) -> Iterator[Row]:
    """Time and test AUC of each model on the same rows."""
    from threadpoolctl import threadpool_limits

    def row(name: str, run: Callable[[], Any], score: Callable[[Any], Any]) -> Row:
        say(f"side by side: {name}")
        seconds, model = timed(run)
        return {"model": name, "seconds": seconds, "auc": float(roc_auc_score(test[1], score(model)))}

    for bins in ("soft:10", "soft:20"):
        name = f"LinearClassifier({bins!r})"
        yield row(name, lambda bins=bins: LinearClassifier(bins).fit(table, y), lambda m: m.decision_function(test[0]))
    yield row(
        "LogisticRegression on raw columns",
        lambda: logistic().fit((table - table.mean(0)) / table.std(0), y),
        lambda m: m.decision_function((test[0] - table.mean(0)) / table.std(0)),
    )
    if importlib.util.find_spec("glum"):
        encoder = scikit_learn.soft_bins(10)
        yield row(
            "SplineTransformer + glum",
            lambda: glum.logistic(RIDGE, len(table)).fit(glum.matrix(encoder.fit_transform(table)), y.astype(float)),
            lambda m: m.predict(glum.matrix(encoder.transform(test[0]))),
        )
    if importlib.util.find_spec("lightgbm"):
        with threadpool_limits():
            yield row(
                "LightGBM, 100 trees",
                lambda: lightgbm.classifier().fit(table, y),
                lambda m: m.predict_proba(test[0])[:, 1],
            )


def one_pass(table: Matrix, y: Labels, bandwidth: float) -> Row:
    """One loss and gradient over all rows beside reading the rows once."""
    say("one pass")
    encoder = SoftBins(10).fit(table)
    found: Row = {}
    for name, ordered in (("rows together (C)", table), ("columns together (F)", np.asfortranarray(table))):
        from softbin.engines.threads import count_threads
        from softbin.values.tables import read_table

        rows = prepare_rows(read_table(ordered), encoder.plan_, y, None)
        pieces = Pieces(encoder.plan_)
        penalty = ridge(RIDGE, encoder.n_parameters_)
        call = Objective(rows, pieces, FAMILIES["bernoulli"], penalty, 1, count_threads(None))
        start = np.random.default_rng(0).normal(size=(1, encoder.n_parameters_ + 1)) / 10
        found[name] = min(timed(lambda call=call, start=start: call(start))[0] for _ in range(9))
    floor = table.nbytes / bandwidth
    return {"seconds": found, "floor": floor, "ratio": min(found.values()) / floor, "target": 4.0}


def multi_granularity(table: Matrix, y: Labels) -> Row:
    """28 columns at 10, 100, 1000 and 10000 bins at once: every column four times."""
    say("multi-granularity")
    bins = [n for n in (10, 100, 1000, 10_000) for _ in range(N_COLUMNS)]
    wide = np.hstack([table] * 4)
    bins_seconds, encoder = timed(lambda: HardBins(bins).fit(wide))
    seconds, model = timed(lambda: LinearClassifier(encoder, max_iter=300).fit(wide, y))
    return {
        "rows": len(table),
        "levels": encoder.n_parameters_,
        "bins_seconds": bins_seconds,
        "fit_seconds": seconds,
        "passes": len(model.history_),
        "converged": model.converged_,
        "target": 60.0,
    }


def one_row(table: Matrix, y: Labels) -> Row:
    model = LinearClassifier("soft:10").fit(table[:50_000], y[:50_000])
    row = table[:1].copy()
    runs = [timed(lambda: [model.predict_proba(row) for _ in range(200)])[0] / 200 for _ in range(15)]
    return {"microseconds": sorted(runs)[7] * 1e6, "target": 100.0}


def large(n_rows: int) -> Row:
    """A whole fit in a process of its own: seconds, and the most memory beside the raw data."""
    command = [sys.executable, "-m", "benchmarks.linear", "--only-large", str(n_rows)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: Row = json.loads(done.stdout)
    return found


def only_large(n_rows: int) -> None:
    table, y = make_data(n_rows)
    LinearClassifier("soft:10").fit(table[:150_000], y[:150_000])  # loads what is loaded once
    before = memory_now()
    seconds, model = timed(lambda: LinearClassifier("soft:10", ridge=RIDGE).fit(table, y))
    peak = memory_peak() - before
    again, _ = timed(lambda: LinearClassifier("soft:10", ridge=RIDGE).fit(table, y))
    print(
        json.dumps(
            {
                "rows": n_rows,
                "seconds": min(seconds, again),
                "memory_ratio": 1 + peak / table.nbytes,
                "passes": len(model.history_),
                "converged": bool(model.converged_),
            }
        )
    )


def run(rows: int, large_rows: int, repeats: int) -> report.Outcome:
    busy_before = busy_cores()
    table, y = make_data(rows)
    test = make_data(min(TEST_ROWS, rows), seed=100)
    bandwidth = copy_speed()
    speed = [
        against_scikit_learn(table, y, "soft:10", scikit_learn.soft_bins(10), 40, repeats),
        against_scikit_learn(table, y, "soft:100", scikit_learn.soft_bins(100), 15, min(repeats, 3)),
        against_scikit_learn(table, y, "hard:1000", scikit_learn.hard_bins(1000), 15, min(repeats, 3)),
    ]
    outcome = {
        "circumstances": report.circumstances("python -m benchmarks.linear"),
        "speed": speed,
        "side_by_side": list(side_by_side(table, y, test)),
        "one_pass": one_pass(table, y, bandwidth),
        "one_row": one_row(table, y),
        "multi_granularity": multi_granularity(table, y),
    }
    del table, y
    say("large")
    short, long = large(rows), large(large_rows)
    growth = long["seconds"] / long["rows"] / (short["seconds"] / short["rows"])
    outcome["large"] = {**long, "target_seconds": 8.0, "target_memory": 1.3}
    outcome["growth"] = {"short": short, "ratio": growth, "target": 1.2}
    return {**outcome, "busy_cores": [busy_before, busy_cores()]}


def markdown(outcome: report.Outcome) -> str:
    """The whole report."""
    about, one, large_ = outcome["circumstances"], outcome["one_pass"], outcome["large"]
    multi, single, growth = outcome["multi_granularity"], outcome["one_row"], outcome["growth"]
    met = report.met
    checks = [
        [f"whole fit, {large_['rows']:,} rows", f"{large_['seconds']:.2f} s", "8 s", met(large_["seconds"] <= 8)],
        ["its peak memory / raw data", f"{large_['memory_ratio']:.2f}", "1.3", met(large_["memory_ratio"] <= 1.3)],
        [
            f"time per row, {large_['rows']:,} over {growth['short']['rows']:,} rows",
            f"{growth['ratio']:.2f}",
            "1.2",
            met(growth["ratio"] <= 1.2),
        ],
        *(
            [
                f"one loss and gradient pass / reading the data once, {name}",
                f"{s / one['floor']:.1f}",
                "4",
                met(s <= 4 * one["floor"]),
            ]
            for name, s in one["seconds"].items()
        ),
        [
            f"{multi['levels']:,} levels (28 columns x 10, 100, 1000, 10000 bins), {multi['rows']:,} rows",
            f"{multi['fit_seconds']:.1f} s after {multi['bins_seconds']:.1f} s for the bins, {multi['passes']} passes, "
            + ("converged" if multi["converged"] else "not converged"),
            "60 s",
            met(multi["converged"] and multi["fit_seconds"] + multi["bins_seconds"] <= 60),
        ],
        ["predict_proba of one row", f"{single['microseconds']:.0f} us", "100 us", met(single["microseconds"] <= 100)],
    ]
    speed = [
        [
            row["work"], f"{row['seconds']:.2f} s", f"{row['passes']}", f"{row['objective']:.6g}", f"`{row['peer']}`",
            f"{row['peer_seconds']:.1f} s", f"{row['peer_objective']:.6g}", f"**{row['faster']:.0f}x**",
            f"{row['target']}x", met(row["faster"] >= row["target"]),
        ]
        for row in outcome["speed"]
    ]  # fmt: skip
    models = [[row["model"], f"{row['seconds']:.2f} s", f"{100 * row['auc']:.2f}"] for row in outcome["side_by_side"]]
    head = ["bins", "ours", "passes", "objective", "peer", "its time", "its objective", "faster", "target", "met"]
    machine = about["machine"]
    parts = [
        "# LinearClassifier: time and memory",
        f"Written by `{about['command']}` on {about['date']}, commit {about['commit']}, {machine['cores']} cores "
        f"({machine['cpu']}), Python {about['python']}. Boundaries are part of every time; 28 float32 columns made by "
        "the benchmark; cores that others kept busy before and after: "
        + " and ".join(f"{busy:.1f}" for busy in outcome["busy_cores"])
        + ".",
        report.markdown_table(head, speed),
        "Median of several fits of ours beside one of scikit-learn's (`tol=1e-6, max_iter=1000`). Objectives include "
        "the penalty; the peer's knots lie within one order statistic of ours, so the two differ a "
        f"little; on the same {CHECKED_ROWS:,} encoded rows ours was checked to be no worse by a part in 10^8.",
        report.markdown_table(["model, same training rows", "time", "test AUC x 100"], models),
        report.markdown_table(["what", "measured", "at most", "met"], checks),
        f"Reading the data once: {1e3 * one['floor']:.1f} ms at the copying speed of this run.",
    ]
    return "\n\n".join(parts) + "\n"


def readme_lines(outcome: report.Outcome) -> str:
    """The headline."""
    first, large_ = outcome["speed"][0], outcome["large"]
    return (
        "`LinearClassifier` fits logistic regression on soft bins straight from the raw columns, to the exact optimum: "
        f"{large_['rows'] / 1e6:.0f} million rows x 28 columns in {large_['seconds']:.1f} s with "
        f"{large_['memory_ratio']:.2f} times the memory of the data; a million rows in {first['seconds']:.2f} s, "
        f"{first['faster']:.0f}x faster than scikit-learn's spline pipeline ({first['peer_seconds']:.0f} s). Details: "
        "[docs/results/linear.md](docs/results/linear.md).\n"
    )


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.linear", description=__doc__)
    options.add_argument("--rows", type=int, default=ROWS)
    options.add_argument("--large-rows", type=int, default=LARGE_ROWS)
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument(
        "--out", type=Path, help=f"folder for linear.json and linear.md (default {RESULTS} and README)"
    )
    options.add_argument("--only-large", type=int, help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.only_large:
        only_large(asked.only_large)
        return 0
    try:
        outcome = run(asked.rows, asked.large_rows, asked.repeats)
    except Disagreement as difference:
        print(f"Not timed: {difference}", file=sys.stderr)
        return 1
    folder = asked.out or RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "linear.json").write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
    (folder / "linear.md").write_text(markdown(outcome), encoding="utf-8")
    if asked.out is None:
        report.write_between_markers(Path("README.md"), readme_lines(outcome), README_MARKERS)
    print(markdown(outcome))
    return 0


if __name__ == "__main__":
    sys.exit(main())
