"""The outcome as a value, as JSON, and as the Markdown tables of docs/results/ and the README."""

import datetime
import importlib.metadata
import json
import platform
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psutil

from benchmarks.measure import n_cores

PACKAGES = ("softbin", "numpy", "scipy", "scikit-learn", "narwhals")
MARKERS = ("<!-- benchmark:start -->", "<!-- benchmark:end -->")
BUSY = "Other processes were busy on these cores: measure again when they are not."
Outcome = dict[str, Any]


def circumstances(command: str) -> Outcome:
    """What a reader needs to judge the numbers; nothing that names this machine."""
    from softbin import kernels

    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "command": command,
        "commit": _commit(),
        "kernels": kernels.implementation(),
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in PACKAGES},
        "machine": {
            "cpu": _cpu(),
            "cores": n_cores(),
            "memory_gib": round(psutil.virtual_memory().total / 2**30),
            "system": platform.system(),
        },
    }


def origin(about: Outcome) -> Outcome:
    """What a row keeps of the circumstances where others are measured another day."""
    return {"date": about["date"], "commit": about["commit"]}


def origins(rows: Iterable[Outcome]) -> str:
    """When rows were measured, and on which commits."""
    return " and ".join(dict.fromkeys(f"on {row['date']}, commit {row['commit']}" for row in rows))


def _commit() -> str:
    try:
        commit = _git("rev-parse", "--short", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no", "--", "src", "cpp", "benchmarks")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return commit + (" with changes" if changed else "")


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()


def write(outcome: Outcome, folder: Path) -> None:
    """core.json and core.md in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "core.json").write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
    (folder / "core.md").write_text(markdown(outcome), encoding="utf-8")


def write_between_markers(page: Path, text: str, markers: tuple[str, str] = MARKERS) -> None:
    """Puts ``text`` between two markers of a page."""
    before, start, rest = page.read_text(encoding="utf-8").partition(markers[0])
    _, end, after = rest.partition(markers[1])
    if not (start and end):
        raise ValueError(f"{page}: the markers {markers[0]} and {markers[1]} are not there; add them")
    page.write_text(f"{before}{start}\n{text}{end}{after}", encoding="utf-8")


def markdown(outcome: Outcome) -> str:
    """The whole report."""
    about = outcome["circumstances"]
    machine, packages = about["machine"], about["packages"]
    parts = [
        "# softbin and scikit-learn: time and memory",
        "Written by a command, not by hand. Before anything was timed, both libraries were checked to give the same "
        "answers.",
        _list(
            f"command: `{about['command']}`, {about['date']}, commit {about['commit']}",
            f"machine: {machine['cpu']}, {machine['cores']} cores, {machine['memory_gib']} GiB, {machine['system']}",
            f"Python {about['python']}, " + ", ".join(f"{name} {version}" for name, version in packages.items()),
            f"softbin kernels: {about['kernels']}; threads: softbin's default (all cores) beside scikit-learn's "
            "default settings, and softbin with one thread",
            "cores that other processes kept busy before and after: "
            + " and ".join(f"{busy:.1f}" for busy in outcome["busy_cores"]),
            f"table: {outcome['columns']} float32 columns, {outcome['bins']} bins",
        ),
        "## Speed",
        _speed_table(outcome),
        "Seconds per million rows: the median of the runs, the best run in brackets. *Floor*: reading the input and "
        f"writing the output once at the copying speed of this run, {outcome['copy_gb_per_s']:.1f} GB/s (bytes read "
        "plus bytes written, all cores). *Faster* is per row, by medians or by best runs, whichever is less; the slow "
        "peer gets fewer rows, as shown. Before every run, of either library, memory of the output's size is written "
        "to and freed, so that a virtual machine's host handing out pages is not timed; where memory "
        "has never been used before, runs that write much take several times as long. A target is judged from a "
        "million rows on.",
        "## Memory",
        _memory_table(outcome),
        "Peak resident memory during `transform` above the loaded table, in a process of its own, as a multiple of "
        "the CSR output's size.",
        "## Growth",
        _growth_table(outcome),
        "Seconds per million rows, best run. The ratio is the long table's over the short one's: 1 is linear.",
        "## Import",
        _import_table(outcome),
        "Each in a new interpreter, median (best). softbin loads its parts when they are first used, so the second "
        "line is what a first use costs; nearly all of it is scikit-learn and SciPy.",
    ]
    return "\n\n".join(parts) + "\n"


def readme_table(outcome: Outcome) -> str:
    """The speed table in short, with where it was measured."""
    about = outcome["circumstances"]
    machine = about["machine"]
    rows = [
        [
            f"{row['work']}, {row['ours']['rows']:,} rows",
            _seconds(row["ours"]["median_per_million_rows"]),
            _seconds(row["floor_per_million_rows"]),
            _seconds(row["peer"]["median_per_million_rows"]),
            f"{row['faster']:.0f}x",
        ]
        for row in outcome["speed"]
    ]
    head = ["seconds per million rows", "softbin", "memory-speed floor", "scikit-learn", "faster"]
    where = (
        f"{outcome['columns']} float32 columns, {outcome['bins']} bins, {machine['cores']} cores ({machine['cpu']}), "
        f"scikit-learn {about['packages']['scikit-learn']} with its defaults, commit {about['commit']}, "
        f"{about['date']}. Details: [docs/results/core.md](docs/results/core.md)."
    )
    busy = f" {BUSY}" if _was_busy(outcome) else ""
    return f"{markdown_table(head, rows)}\n\n{where}{busy}\n"


def summary(outcome: Outcome) -> str:
    """For the terminal: one line per target."""
    lines = [
        f"{row['work']:<22}{row['faster']:6.1f}x faster, target {row['target']:g}x, "
        f"{row['ours']['median_per_million_rows'] / row['floor_per_million_rows']:.1f}x the memory-speed floor: "
        f"{met(row['met'])}"
        for row in outcome["speed"]
    ]
    for part, unit in (("memory", "x the output's size at the peak"), ("growth", "x the time per row")):
        for row in outcome[part]:
            if row["target"] is not None:
                name = row.get("work") or f"{row['encoder']}, memory"
                lines.append(f"{name:<22}{row['ratio']:6.2f}{unit}, target {row['target']:g}: {met(row['met'])}")
    first = outcome["imports"][0]
    lines.append(f"{first['statement']:<22}{first['median']:6.3f} s, target {first['target']:g} s: {met(first['met'])}")
    if _was_busy(outcome):
        lines.append(BUSY)
    return "\n".join(lines)


def _was_busy(outcome: Outcome) -> bool:
    return max(outcome["busy_cores"]) > 0.2


def _speed_table(outcome: Outcome) -> str:
    rows = [
        [
            row["work"],
            f"{row['ours']['rows']:,}",
            _both(row["ours"]),
            _both(row["one_thread"]),
            _seconds(row["floor_per_million_rows"]),
            f"`{row['peer_name']}`",
            f"{row['peer']['rows']:,}",
            _both(row["peer"]),
            f"**{row['faster']:.1f}x** ({row['faster_one_thread']:.1f}x)",
            f"{row['target']:g}x",
            met(row["met"]),
        ]
        for row in outcome["speed"]
    ]
    head = ["work", "rows", "softbin", "one thread", "floor", "peer", "its rows", "peer's time"]
    return markdown_table([*head, "faster (one thread)", "target", "met"], rows)


def _memory_table(outcome: Outcome) -> str:
    rows = [
        [
            row["encoder"],
            f"{row['rows']:,}",
            f"{row['output_bytes'] / 2**20:,.0f} MiB",
            f"{row['ratio']:.2f}",
            "" if row["target"] is None else f"{row['target']:g}",
            "" if row["target"] is None else met(row["met"]),
        ]
        for row in outcome["memory"]
    ]
    return markdown_table(["encoder", "rows", "output", "peak / output", "at most", "met"], rows)


def _growth_table(outcome: Outcome) -> str:
    rows = [
        [
            row["work"],
            *(f"{row[t]['rows']:,}: {_seconds(row[t]['best_per_million_rows'])}" for t in ("short", "long")),
            f"{row['ratio']:.2f}",
            f"{row['target']:g}",
            met(row["met"]),
        ]
        for row in outcome["growth"]
    ]
    return markdown_table(["work", "short table", "long table", "ratio", "at most", "met"], rows)


def _import_table(outcome: Outcome) -> str:
    rows = [
        [
            f"`{row['statement']}`",
            f"{row['median']:.3f} s ({row['best']:.3f})",
            ", ".join(row["loaded"]) or "none",
            "" if row["target"] is None else f"{row['target']:g} s",
            "" if row["target"] is None else met(row["met"]),
        ]
        for row in outcome["imports"]
    ]
    return markdown_table(["statement", "time", "large packages loaded", "under", "met"], rows)


def _both(taken: dict[str, Any]) -> str:
    return f"{_seconds(taken['median_per_million_rows'])} ({_seconds(taken['best_per_million_rows'])})"


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f}" if seconds >= 1 else f"{seconds:.3f}"


def met(met: bool | None) -> str:
    return {True: "yes", False: "NO", None: "not judged"}[met]


def _list(*lines: str) -> str:
    return "\n".join(f"- {line}" for line in lines)


def markdown_table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
