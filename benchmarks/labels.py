"""Rules that look at the label, and MultiBins. ``make bench-labels``, or ``python -m benchmarks.labels``.

First the answers: the bins must tell no less of the label than the peer's (log-loss of the bins' class shares, on the
same rows), and MultiBins must score candidates as fitted models do. Then times, all in one run. optbinning is compared
where it is installed.
"""

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from benchmarks import report
from benchmarks.agreement import Disagreement
from benchmarks.linear import make_data
from benchmarks.measure import busy_cores, copy_speed, say
from benchmarks.peers import optbinning
from softbin import HardBins, MultiBins
from softbin.boundaries import STRATEGIES
from softbin.boundaries.fine_bins import fine_bins
from softbin.boundaries.rule import asked_target
from softbin.engines.threads import count_threads, map_items
from softbin.summaries.questions import ask_columns
from softbin.summaries.target_counts import count_targets
from softbin.values.held_out import held_out
from softbin.values.tables import read_table
from softbin.values.targets import read_target, statistics

RESULTS = Path("docs/results")
ROWS = 1_000_000
PEER_COLUMNS = 3
N_BINS = 10
GRANULARITIES = (10, 100, 1000, 10_000)
JOINT = ("convex",)  # works on all columns at once, and has no target time
Row = dict[str, Any]


def timed(run: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """The median time, and what the last run returned."""
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        taken.append(time.perf_counter() - start)
    return float(np.median(taken)), result


def bins_log_loss(column: NDArray[Any], y: NDArray[np.bool_], cuts: Sequence[float]) -> float:
    """The log-loss per row of each bin's share of true labels, counted from the rows."""
    bins = np.searchsorted(np.asarray(cuts), column, side="right")
    total, true = (np.bincount(bins, weight) for weight in (np.ones(len(y)), y.astype(float)))
    return float(np.sum(xlogy(total, total) - xlogy(true, true) - xlogy(total - true, total - true)) / len(y))


def counting(table: NDArray[Any], y: NDArray[np.bool_], bandwidth: float) -> tuple[Row, list[Any]]:
    """The pass that counts the target in the fine bins of every column, beside reading the table once."""
    say("counting pass")
    source = read_table(table)
    seen = statistics(read_target(y, len(y)), None, 1.0)
    threads = count_threads(None)
    questions = [fine_bins] * len(source.columns)
    fine_seconds, answers = timed(lambda: ask_columns(source, questions, 1.0, threads))
    fine = [bins for bins, _ in answers]
    seconds, counts = timed(lambda: count_targets(source, fine, seen, threads), 9)
    floor = table.nbytes / bandwidth
    row = {"fine_bins_seconds": fine_seconds, "seconds": seconds, "floor": floor, "ratio": seconds / floor, "target": 4}
    return row, counts


def rules(table: NDArray[Any], y: NDArray[np.bool_], counts: list[Any], repeats: int) -> list[Row]:
    """Each rule on all columns, once they are counted, and the whole fit."""
    found = []
    for name, rule in STRATEGIES.items():
        made = rule(N_BINS)  # type: ignore[call-arg]
        if asked_target(made) is None:
            continue
        say(f"rule: {name}")
        whole, encoder = timed(lambda name=name: HardBins(N_BINS, name).fit(table, y), repeats)
        alone = None
        if name not in JOINT:
            alone, _ = timed(lambda made=made: map_items(made.boundaries, counts, count_threads(None)), repeats)
        n_bins = [boundaries.n_bins for boundaries in encoder.grid_]
        found.append({"rule": name, "alone": alone, "whole": whole, "target": 3.0, "bins": sum(n_bins)})
    return found


def against_optbinning(table: NDArray[Any], y: NDArray[np.bool_], repeats: int) -> list[Row]:
    """mdlp and optimal beside optbinning's on the same columns: whole fits, and how much the bins tell."""
    columns = table[:, :PEER_COLUMNS]
    peers: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
        "mdlp": lambda column: optbinning.mdlp(column, y),
        "optimal": lambda column: optbinning.optimal(column, y, N_BINS),
    }
    found = []
    for name, peer in peers.items():
        say(f"beside optbinning: {name}")
        cap = 1000 if name == "mdlp" else N_BINS  # optbinning's MDLP has no cap
        HardBins(cap, name).fit(columns[:1000], y[:1000])
        seconds, encoder = timed(lambda cap=cap, name=name: HardBins(cap, name).fit(columns, y), repeats)
        peer_seconds, cuts = timed(lambda peer=peer: [peer(column) for column in columns.T])
        losses = []
        for j, (boundaries, theirs) in enumerate(zip(encoder.grid_, cuts, strict=True)):
            ours = bins_log_loss(columns[:, j], y, boundaries.edges[1:-1])
            peers_loss = bins_log_loss(columns[:, j], y, theirs)
            losses.append((ours, peers_loss, boundaries.n_bins, len(theirs) + 1))
            if ours > peers_loss + 1e-9 and boundaries.n_bins >= len(theirs) + 1:
                raise Disagreement(f"{name}, column {j}: log-loss {ours:.8g} of our bins, {peers_loss:.8g} of theirs")
        found.append(
            {
                "rule": name,
                "columns": len(losses),
                "seconds": seconds,
                "peer_seconds": peer_seconds,
                "faster": peer_seconds / seconds,
                "target": 50.0,
                "log_loss": sum(row[0] for row in losses) / len(losses),
                "peer_log_loss": sum(row[1] for row in losses) / len(losses),
                "bins": sum(row[2] for row in losses),
                "peer_bins": sum(row[3] for row in losses),
            }
        )
    return found


def multi(table: NDArray[Any], y: NDArray[np.bool_], repeats: int) -> Row:
    """MultiBins beside fitting the one-field models: measured for one column, scaled to all."""
    say("MultiBins")
    encoder = MultiBins(GRANULARITIES)
    encoder.fit(table[:2000], y[:2000])
    seconds, encoder = timed(lambda: MultiBins(GRANULARITIES).fit(table, y), repeats)
    say("one-field models")
    fold = held_out(read_table(table), read_target(y, len(y)), 0.2, encoder._seed())
    column = table[:, [0]]
    peer_seconds, differences = 0.0, []
    for granularity in GRANULARITIES:

        def fit(granularity: int = granularity) -> float:
            encoded = HardBins(granularity).fit(column).transform(column)
            model = LogisticRegression(max_iter=1000).fit(encoded[~fold], y[~fold])
            return float(roc_auc_score(y[fold], model.decision_function(encoded[fold])))

        taken, score = timed(fit)
        peer_seconds += taken
        scores = encoder.scores_
        ours = scores.score[(scores.column == "x0") & (scores.granularity == granularity)][0]
        differences.append(abs(ours - score))
    if max(differences) > 0.002:
        raise Disagreement(f"MultiBins scores differ from fitted models by {max(differences):.4f} AUC")
    scaled = peer_seconds * table.shape[1]
    return {
        "seconds": seconds,
        "target_seconds": 10.0,
        "models": table.shape[1] * len(GRANULARITIES),
        "peer_seconds": scaled,
        "faster": scaled / seconds,
        "target": 100.0,
        "largest_difference": max(differences),
    }


def run(rows: int, repeats: int) -> report.Outcome:
    before = busy_cores()
    table, y = make_data(rows)
    counting_row, counts = counting(table, y, copy_speed())
    outcome = {
        "circumstances": report.circumstances("python -m benchmarks.labels"),
        "rows": rows,
        "counting": counting_row,
        "rules": rules(table, y, counts, repeats),
        "multi": multi(table, y, repeats),
        "optbinning": against_optbinning(table, y, repeats) if importlib.util.find_spec("optbinning") else [],
    }
    return {**outcome, "busy_cores": [before, busy_cores()]}


def markdown(outcome: report.Outcome) -> str:
    """The whole report."""
    about, counting_, multi_ = outcome["circumstances"], outcome["counting"], outcome["multi"]
    machine, met = about["machine"], report.met
    rule_rows = [
        [
            f"`{row['rule']}`",
            "joint" if row["alone"] is None else f"{row['alone']:.2f} s",
            "" if row["alone"] is None else f"{row['target']:g} s",
            met(None if row["alone"] is None else row["alone"] <= row["target"]),
            f"{row['whole']:.2f} s",
            str(row["bins"]),
        ]
        for row in outcome["rules"]
    ]
    peer_rows = [
        [
            f"`{row['rule']}`, {row['columns']} columns", f"{row['seconds']:.2f} s", f"{row['peer_seconds']:.1f} s",
            f"**{row['faster']:.0f}x**", f"{row['target']:g}x", met(row["faster"] >= row["target"]),
            f"{row['log_loss']:.6f} ({row['bins']})", f"{row['peer_log_loss']:.6f} ({row['peer_bins']})",
        ]
        for row in outcome["optbinning"]
    ]  # fmt: skip
    checks = [
        [
            "counting pass / reading the table once",
            f"{counting_['ratio']:.1f} ({1e3 * counting_['seconds']:.0f} ms / {1e3 * counting_['floor']:.1f} ms)",
            f"{counting_['target']}",
            met(counting_["ratio"] <= counting_["target"]),
        ],
        [
            f"MultiBins, {multi_['models']} candidates",
            f"{multi_['seconds']:.2f} s",
            f"{multi_['target_seconds']:g} s",
            met(multi_["seconds"] <= multi_["target_seconds"]),
        ],
        [
            f"fitting {multi_['models']} one-field models (one column measured, scaled) / MultiBins",
            f"{multi_['faster']:.0f}x ({multi_['peer_seconds']:.0f} s)",
            f"{multi_['target']:g}x",
            met(multi_["faster"] >= multi_["target"]),
        ],
    ]
    parts = [
        "# Rules that look at the label: time",
        f"Written by `{about['command']}` on {about['date']}, commit {about['commit']}, {machine['cores']} cores "
        f"({machine['cpu']}), Python {about['python']}: {outcome['rows']:,} rows, 28 float32 columns, two classes; "
        f"cores that others kept busy before and after: {' and '.join(f'{b:.1f}' for b in outcome['busy_cores'])}.",
        report.markdown_table(
            ["rule", "all columns, once counted", "at most", "met", "whole fit", "bins in all"], rule_rows
        ),
        report.markdown_table(["what", "measured", "target", "met"], checks),
        f"Scores of MultiBins differ from those of fitted models by {multi_['largest_difference']:.5f} AUC at most.",
    ]
    if peer_rows:
        head = ["rule", "ours, whole fit", "optbinning", "faster", "target", "met"]
        parts.append(report.markdown_table([*head, "log-loss per row (bins)", "its log-loss (bins)"], peer_rows))
    return "\n\n".join(parts) + "\n"


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.labels", description=__doc__)
    options.add_argument("--rows", type=int, default=ROWS)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--out", type=Path, default=RESULTS, help="folder for labels.json and labels.md")
    asked = options.parse_args()
    try:
        outcome = run(asked.rows, asked.repeats)
    except Disagreement as difference:
        print(f"Not timed: {difference}", file=sys.stderr)
        return 1
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "labels.json").write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
    (asked.out / "labels.md").write_text(markdown(outcome), encoding="utf-8")
    print(markdown(outcome))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
