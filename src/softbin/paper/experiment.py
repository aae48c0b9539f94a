"""The experiment from data to page: prepare rows, compute the cells that are missing, write what they say.

out/data/     the rows, as every process maps them
out/cells/    a folder per cell
out/table_1.{md,csv,tex}, table_2.*, claims.md, auc_higgs.{svg,png}, ..., paper.html: in ``tables`` where that is given
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from softbin.errors import OptionError
from softbin.optional import need
from softbin.paper.cells import Cell, percent, plan_cells, select_cells
from softbin.paper.claims import Claim, check_claims
from softbin.paper.figures import draw_figures
from softbin.paper.methods import HELD_OUT, METHODS, MODELS, NETWORKS, installed, settings
from softbin.paper.page import SIMULATED, claims_markdown, paper_page
from softbin.paper.published import DATA_SETS, SHARES
from softbin.paper.results import Results
from softbin.paper.ridge import RIDGES
from softbin.paper.samples import Sample, prepare, sources
from softbin.paper.schedule import Progress, Watch, Work, run_cells
from softbin.paper.store import Store
from softbin.paper.tables import as_csv, as_markdown, formats, table_1, table_2, table_2_csv
from softbin.whole_files import whole_file

Say = Callable[[str], None]


@dataclass(frozen=True)
class Experiment:
    """All options. ``rows`` are training rows at 100 % per data set; ``folds`` 0 tests on rows set apart."""

    out: Path
    data: str = "simulated"
    data_sets: tuple[str, ...] = DATA_SETS
    rows: int = 200_000
    test_rows: int | None = None
    shares: tuple[float, ...] = SHARES
    seeds: int = 3
    folds: int = 0
    models: tuple[str, ...] = MODELS
    network: str = "auto"
    only: str | None = None
    jobs: int = 1
    device: str = "auto"
    beside: float | None = None  # the share of the paper's figures; None: the same share
    tables: Path | None = None  # where tables, figures and the page go; None: to ``out``
    command: str | None = None  # that made them, for the reader


@dataclass(frozen=True)
class Outcome:
    """What came of a run."""

    results: Results
    progress: Progress
    claims: list[Claim]
    written: list[Path]


def run_experiment(experiment: Experiment, say: Say, watch: Watch) -> Outcome:
    """Computes what is missing, then writes tables, figures and the page from all that is done."""
    experiment = checked(experiment)
    for folder in (experiment.out, experiment.tables):
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
    samples: dict[str, Sample] = {}
    asked = (experiment.data, experiment.rows, experiment.test_rows, experiment.folds, experiment.data_sets)
    for source in sources(*asked):
        say(f"{source.name}: {'simulating' if source.path is None else 'reading'} rows")
        samples[source.name] = prepare(source, experiment.out / "data")
    cells = _plan(experiment, samples)
    work = Work(samples, experiment.out / "cells", experiment.device, None)
    store, began = Store(work.root), time.perf_counter()
    chosen = select_cells(cells, experiment.only)
    before = sum(map(store.is_done, chosen))
    progress = run_cells(chosen, work, experiment.jobs, watch)
    store.add_run(progress.done - before, time.perf_counter() - began, experiment.jobs)
    say("writing tables and figures")
    results = Results(store, samples, cells, experiment.beside)
    claims, written = write_results(experiment, results)
    return Outcome(results, progress, claims, written)


def write_results(experiment: Experiment, results: Results) -> tuple[list[Claim], list[Path]]:
    """Everything but the cells. Files of an earlier run in this folder are replaced, each of them whole."""
    out = experiment.tables or experiment.out
    tables, claims = (table_1(results), table_2(results)), check_claims(results)
    notes = _notes(experiment, results)
    warning = [SIMULATED] if any(sample.simulated for sample in results.samples.values()) else []
    texts = {
        **{f"table_1.{end}": text for end, text in formats(tables[0], as_csv(results)).items()},
        **{f"table_2.{end}": text for end, text in formats(tables[1], table_2_csv(results)).items()},
        "claims.md": "\n\n".join([*warning, claims_markdown(claims)]),
    }
    for name, table in (("table_1.md", tables[0]), ("table_2.md", tables[1])):
        texts[name] = "\n\n".join([*warning, as_markdown(table), *notes]) + "\n"
    figures = draw_figures(results, out)
    texts["paper.html"] = paper_page(results, tables, figures, claims, notes)
    for name, text in texts.items():
        with whole_file(out / name, overwrite=True) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return claims, [*(out / name for name in texts), *figures]


def checked(experiment: Experiment) -> Experiment:
    """The experiment with every choice made, or an OptionError."""
    for name, least in (("rows", 1000), ("seeds", 1), ("jobs", 1)):
        if getattr(experiment, name) < least:
            raise OptionError(f"{name}: {getattr(experiment, name)} is too small; pass {least} or more")
    if experiment.folds == 1 or experiment.folds < 0:
        raise OptionError(f"folds: {experiment.folds} is not a number of folds; pass 0 (none), 2 or more")
    for name, known in (("models", MODELS), ("data_sets", DATA_SETS)):
        given = getattr(experiment, name)
        if not given or not set(given) <= set(known):
            raise OptionError(f"{name}: {', '.join(given)!r} is not some of {', '.join(known)}")
    if experiment.network not in ("auto", *NETWORKS):
        raise OptionError(f"network: {experiment.network!r} is not one of auto, {', '.join(NETWORKS)}")
    if experiment.beside is not None and experiment.beside not in SHARES:
        raise OptionError(
            f"beside: the paper has no column for {experiment.beside:.3g} of the rows; pass 1, 0.1 or 0.01"
        )
    if not all(0 < share <= 1 for share in experiment.shares):
        raise OptionError(f"shares: {experiment.shares} are not all above 0 and up to 1")
    return replace(experiment, network=_network(experiment))


def _network(experiment: Experiment) -> str:
    """The full network where there is a GPU for it."""
    if experiment.network != "auto" or "DNN" not in experiment.models:
        return "small" if experiment.network == "auto" else experiment.network
    on_gpu = experiment.device.startswith("cuda") or (experiment.device == "auto" and need("torch").cuda.is_available())
    return "full" if on_gpu else "small"


def _plan(experiment: Experiment, samples: dict[str, Sample]) -> list[Cell]:
    methods = [method for method in METHODS if installed(method)]
    hashes = {name: sample.hash for name, sample in samples.items()}
    return plan_cells(
        methods, experiment.models, experiment.shares, experiment.seeds, experiment.folds, experiment.network, hashes
    )


def _notes(experiment: Experiment, results: Results) -> list[str]:
    """What the reader of a table has to know; the paper does not state these things."""
    tested = f"{experiment.folds} folds" if experiment.folds else f"the same test rows for {experiment.seeds} seed(s)"
    notes = [
        "; ".join(_rows_of(sample) for sample in results.samples.values()) + ".",
        f"Each figure is a mean over {tested}; standard errors cover test rows and seeds. Bins are equal-frequency.",
    ]
    if experiment.beside is not None:
        notes.append(f"The paper's figures beside are those of its {percent(experiment.beside)} of the rows.")
    if not experiment.folds and 1.0 in experiment.shares:
        notes.append(
            "At 100 % nothing but MGD and networks depends on a seed: the rest ran once, its errors are of test rows."
        )
    notes += [_note_of_model(model, experiment) for model in experiment.models]
    absent = [method for method in METHODS if not installed(method)]
    notes += [f"{method.label}: left out, {method.needs} is not installed." for method in absent]
    notes += _note_of_runs(results)
    if experiment.command is not None:
        notes.append(f"Made by `{experiment.command}`.")
    return notes


def _rows_of(sample: Sample) -> str:
    tested = f" and {sample.n_test:,} test" if sample.n_test else ""
    return f"{sample.name}: {sample.n_train:,}{' training' if tested else ''}{tested} rows"


def _note_of_model(model: str, experiment: Experiment) -> str:
    options = dict(settings(METHODS[0], model, experiment.network))
    chosen = ", ".join(f"{name}={value}" for name, value in options.items() if value != HELD_OUT)
    kind = {"LR": "LinearClassifier", "DNN": "DeepClassifier"}[model]
    note = f"{model} is {kind}({chosen or 'defaults'})"
    if HELD_OUT in options.values():
        note += f"; each cell took the ridge from {RIDGES[0]:g} to {RIDGES[-1]:g} that was best on rows held out of "
        note += "its training rows (table_1.csv names it)"
    if model == "DNN":
        note += "; in our own rows tables start smooth and are trained by their steps (init='smooth', basis='steps')"
    return note + "."


def _note_of_runs(results: Results) -> list[str]:
    """How long the cells took, where the runs that are on record computed all of them."""
    runs = [run for run in results.store.runs() if run["cells"]]
    done = sum(map(results.store.is_done, results.cells))
    if not runs or sum(run["cells"] for run in runs) != done:
        return []
    seconds = sum(run["seconds"] for run in runs)
    on = " or ".join(dict.fromkeys(f"{run['jobs']} process(es) on {run['cores']} cores" for run in runs))
    return [f"{done} cells in {seconds:,.0f} s with {on}; making the rows, tables and figures apart."]
