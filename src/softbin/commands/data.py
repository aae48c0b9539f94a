"""softbin data: the UCI files, and tables of simulated events."""

from pathlib import Path

from softbin.commands.say import say
from softbin.datasets import load_higgs, load_susy, simulate_higgs, simulate_susy
from softbin.datasets.cache import cache_directory
from softbin.encodings.options import one_of
from softbin.optional import need
from softbin.values.table_files import check_ending, write_table_file
from softbin.whole_files import check_free, whole_file

SIMULATORS = {"higgs": simulate_higgs, "susy": simulate_susy}
LOADERS = {"higgs": load_higgs, "susy": load_susy}


def simulate_file(name: str, rows: int, seed: int, out: Path, force: bool) -> None:
    """Writes ``label`` and the columns of simulated events."""
    one_of("name", name, tuple(SIMULATORS))
    ending = check_ending(out)
    check_free(out, force)
    made = SIMULATORS[name](rows, seed=seed)
    arrays = [made.y, *(made.X[:, position] for position in range(made.X.shape[1]))]
    table = need("pyarrow").table(arrays, names=["label", *made.columns])
    out.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(out, overwrite=force) as temporary:
        write_table_file(table, temporary, ending)
    say(f"{rows:,} simulated {name.upper()} events: {out} (these are not UCI data)")


def download(name: str, file: Path | None) -> None:
    """Downloads and converts a data set of UCI, or converts a file of it, unless the cache has it already."""
    one_of("name", name, tuple(LOADERS))
    LOADERS[name](file, rows=0)
    say(f"{name.upper()}: ready in {cache_directory()}; softbin paper --data uci reads it")
