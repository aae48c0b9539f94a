"""softbin paper: the experiment with a progress display, then what came out."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from softbin.errors import OptionError
from softbin.paper.experiment import Experiment, Outcome, checked, run_experiment
from softbin.paper.schedule import Progress as State
from softbin.paper.schedule import Watch


@dataclass(frozen=True)
class PaperRequest:
    """The arguments of the command."""

    data: str
    sets: str
    rows: int
    test_rows: int | None
    out: Path
    models: str
    seeds: int
    folds: int
    shares: str
    network: str
    only: str | None
    jobs: int
    device: str
    beside: float | None
    tables: Path | None
    command: str

    def experiment(self) -> Experiment:
        models, sets = (_names(words) for words in (self.models, self.sets))
        try:
            shares = tuple(float(share) / 100 for share in self.shares.split(","))
        except ValueError:
            raise OptionError(f"shares: {self.shares!r} is not a list of percents; pass for example 100,10,1") from None
        return Experiment(
            self.out, self.data, sets, self.rows, self.test_rows, shares, self.seeds, self.folds, models, self.network,
            self.only, self.jobs, self.device, None if self.beside is None else self.beside / 100,
            self.tables, self.command,
        )  # fmt: skip


def compute_paper(request: PaperRequest) -> int:
    """Runs the experiment; 1 if cells failed."""
    console = Console(stderr=True)
    experiment = checked(request.experiment())
    with _display(console) as watch:
        outcome = run_experiment(experiment, console.print, watch)
    _show(Console(), outcome)
    for label, error in outcome.progress.failed.items():
        console.print(f"failed: {label}: {error}", style="red", markup=False, soft_wrap=True)
    console.print(f"{(request.tables or request.out) / 'paper.html'}", markup=False, soft_wrap=True)
    return 1 if outcome.progress.failed else 0


@contextmanager
def _display(console: Console) -> Iterator[Watch]:
    """A line that is rewritten; where nobody watches a terminal, a line for every tenth of the cells."""
    if not console.is_terminal:
        yield _Lines(console)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as display:
        task = display.add_task("cells", total=None, state="")

        def watch(state: State) -> None:
            display.update(task, total=state.total, completed=state.done, state=_state(state))

        yield watch


class _Lines:
    """Prints where a run is when that has changed by a tenth."""

    def __init__(self, console: Console) -> None:
        self.console, self.tenth = console, -1

    def __call__(self, state: State) -> None:
        tenth = 10 * state.done // max(state.total, 1)
        if tenth > self.tenth:
            self.tenth = tenth
            self.console.print(_state(state), markup=False, soft_wrap=True)


def _names(words: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip().upper() for word in words.split(",") if word.strip()))


def _state(state: State) -> str:
    left = "" if state.seconds_left is None else f", {state.seconds_left:.0f} s left"
    running = f", {state.running[0]}" if state.running else ""
    return f"{state.done} of {state.total} done{left}{running}"


def _show(console: Console, outcome: Outcome) -> None:
    """Table 1 with the paper's figures, then one line per claim."""
    from softbin.paper.tables import table_1

    text = table_1(outcome.results)
    shown = Table(*text.head, caption=text.caption)
    for row in text.rows:
        shown.add_row(*(f"[bold]{t.ours}[/]" if t.best else t.ours for t in row))
    console.print(shown)
    for claim in outcome.claims:
        style = {"holds": "green", "fails": "red"}.get(claim.verdict, "yellow")
        console.print(f"[{style}]{claim.verdict:9}[/] {claim.words}", soft_wrap=True)
