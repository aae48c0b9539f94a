"""What the README shows of ``make demo ARGS="--tables docs/results/paper/demo"``: a figure, and the table.

``python -m benchmarks.readme_demo`` puts them between two markers.
"""

import argparse
from pathlib import Path

from benchmarks.report import write_between_markers

TABLES = Path("docs/results/paper/demo")
MARKERS = ("<!-- demo:start -->", "<!-- demo:end -->")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tables", type=Path, default=TABLES, help="what softbin paper --tables wrote")
    options.add_argument("--page", type=Path, default=Path("README.md"))
    asked = options.parse_args()
    write_between_markers(asked.page, snippet(asked.tables), MARKERS)


def snippet(tables: Path) -> str:
    """The figure, then the table; its notes are one click away."""
    page = (tables / "table_1.md").read_text(encoding="utf-8")
    end = page.index("\n", page.rindex("\n|") + 1)  # of the table
    shown = page[:end]
    figure = f"![AUC against the share of the training rows]({(tables / 'auc_higgs.png').as_posix()})"
    notes = f"Notes: [{(tables / 'table_1.md').as_posix()}]({(tables / 'table_1.md').as_posix()})."
    return f"{figure}\n\n{shown}\n\n{notes}\n"


if __name__ == "__main__":
    main()
