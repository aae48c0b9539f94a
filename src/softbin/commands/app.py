"""The subcommands: their arguments, help texts and examples. What they do is in the file named after each."""

from pathlib import Path
from typing import Annotated

import typer

from softbin import __version__
from softbin.commands import data, fit, inspect_model, paper, predict, transform
from softbin.paper.published import SHARES

HELP = {"help_option_names": ["-h", "--help"]}
app = typer.Typer(
    name="softbin",
    help="Hard and soft bins for numeric columns: fit, apply, look at models; compute the paper again.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings=HELP,
)
data_app = typer.Typer(help="Data sets: HIGGS and SUSY, from UCI or simulated.", no_args_is_help=True)
app.add_typer(data_app, name="data")

Table = Annotated[Path, typer.Argument(metavar="TABLE", help="A .parquet, .csv or .csv.gz file.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A folder that softbin fit wrote, or the file in it.")]
Out = Annotated[Path, typer.Option("--out", "-o", help="The file to write: .parquet, .csv or .csv.gz.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")]


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"softbin {__version__}")
        raise typer.Exit


@app.callback()
def softbin(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True)] = False,
    debug: Debug = False,
) -> None:
    """Hard and soft bins for numeric columns: fit, apply, look at models; compute the paper again."""


@app.command(
    "fit",
    epilog="Examples: softbin fit loans.parquet --target default --out model/  |  "
    "softbin fit houses.csv --target price --bins soft:20 --drop id --option ridge=0.1 --out model/",
)
def fit_command(
    table: Table,
    target: Annotated[str, typer.Option("--target", "-t", help="The column to predict.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write: the model and report.html.")],
    model: Annotated[str, typer.Option("--model", "-m", help="linear or deep.")] = "linear",
    bins: Annotated[str, typer.Option("--bins", "-b", help="soft:10, hard:100, multi, ...")] = "soft:10",
    task: Annotated[str, typer.Option("--task", help="classes, number, or auto: as the target looks.")] = "auto",
    weight: Annotated[str | None, typer.Option("--weight", help="A column of row weights.")] = None,
    drop: Annotated[list[str] | None, typer.Option("--drop", help="A column to leave out; may be repeated.")] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", help="name=value of the estimator, as ridge=0.1; may be repeated.")
    ] = None,
    force: Force = False,
) -> None:
    """Fit a model to a table; write it and a report."""
    fit.fit_table_file(
        fit.FitRequest(table, target, out, model, bins, task, weight, tuple(drop or ()), tuple(option or ()), force)
    )


@app.command("transform", epilog="Example: softbin transform model/ new.parquet --out encoded.parquet")
def transform_command(
    model: Model,
    table: Table,
    out: Out,
    form: Annotated[
        str, typer.Option("--form", help="levels: a column per level; compact: bin and place in it, per column.")
    ] = "levels",
    force: Force = False,
) -> None:
    """Encode a table with the bins of a model."""
    transform.transform_table_file(model, table, out, form, force)


@app.command("predict", epilog="Example: softbin predict model/ new.csv --keep id --out predictions.csv")
def predict_command(
    model: Model,
    table: Table,
    out: Out,
    keep: Annotated[list[str] | None, typer.Option("--keep", help="A column to copy; may be repeated.")] = None,
    force: Force = False,
) -> None:
    """Predict the target of every row."""
    predict.predict_table_file(model, table, out, tuple(keep or ()), force)


@app.command(
    "inspect", epilog="Examples: softbin inspect model/  |  softbin inspect model/ test.parquet --out report.html"
)
def inspect_command(
    model: Model,
    table: Annotated[Path | None, typer.Argument(metavar="[TABLE]", help="Rows to measure the model on.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="An HTML page to write.")] = None,
    force: Force = False,
) -> None:
    """Show what a model learned and, on a table with the target, how good it is."""
    inspect_model.inspect(model, table, out, force)


@app.command(
    "paper",
    epilog="Examples: softbin paper --rows 20000 --seeds 1  |  softbin paper --only 'lr * higgs 1%'  |  "
    "softbin paper --data uci --rows 10500000 --device cuda",
)
def paper_command(
    context: typer.Context,
    source: Annotated[str, typer.Option("--data", help="simulated, uci, or a file or folder with HIGGS / SUSY.")] = (
        "simulated"
    ),
    sets: Annotated[str, typer.Option("--sets", help="Data sets: higgs, susy, or both.")] = "higgs,susy",
    rows: Annotated[
        int, typer.Option("--rows", help="Training rows at 100 %; 10500000 is the paper's size.")
    ] = 200_000,
    test_rows: Annotated[int | None, typer.Option("--test-rows", help="A quarter of --rows, at most 500000.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The results folder; run again to go on.")] = Path("results"),
    models: Annotated[str, typer.Option("--models", help="lr, dnn, or both.")] = "lr,dnn",
    seeds: Annotated[int, typer.Option("--seeds", help="Repetitions with other rows and starts.")] = 3,
    folds: Annotated[int, typer.Option("--folds", help="Cross-validation instead of test rows set apart.")] = 0,
    shares: Annotated[str, typer.Option("--shares", help="Shares of the rows, in percent.")] = ",".join(
        f"{100 * share:g}" for share in SHARES
    ),
    network: Annotated[str, typer.Option("--network", help="small, full, or auto: full on a GPU.")] = "auto",
    only: Annotated[str | None, typer.Option("--only", help="Compute only these: 'lr * higgs 1%'.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes.")] = 1,
    device: Annotated[str, typer.Option("--device", help="cpu, cuda, or auto.")] = "auto",
    beside: Annotated[
        float | None, typer.Option("--beside", help="The paper's column to show beside, in percent: 100, 10 or 1.")
    ] = None,
    tables: Annotated[
        Path | None, typer.Option("--tables", help="Where tables, figures and the page go, if not to --out.")
    ] = None,
) -> None:
    """Compute the tables of the paper again; say which of its claims hold."""
    request = paper.PaperRequest(
        source, sets, rows, test_rows, out, models, seeds, folds, shares, network, only, jobs, device, beside, tables,
        context.find_root().obj,
    )  # fmt: skip
    raise typer.Exit(paper.compute_paper(request))


@data_app.command("simulate", epilog="Example: softbin data simulate higgs --rows 1000000 --out higgs.parquet")
def simulate_command(
    name: Annotated[str, typer.Argument(help="higgs or susy.")],
    out: Out,
    rows: Annotated[int, typer.Option("--rows")] = 100_000,
    seed: Annotated[int, typer.Option("--seed")] = 0,
    force: Force = False,
) -> None:
    """Write simulated events. They resemble the UCI files; they are not UCI data."""
    data.simulate_file(name, rows, seed, out, force)


@data_app.command(
    "download", epilog="Example: softbin data download susy  |  softbin data download higgs --file HIGGS.csv.gz"
)
def download_command(
    name: Annotated[str, typer.Argument(help="higgs (2.8 GB) or susy (0.9 GB).")],
    file: Annotated[Path | None, typer.Option("--file", help="A CSV file of it that is here already.")] = None,
) -> None:
    """Download a UCI data set once, check it, and keep it as Parquet."""
    data.download(name, file)
