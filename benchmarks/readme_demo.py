"""What the README shows of ``make demo ARGS="--tables docs/results/paper/demo"``: the table and a figure.

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
    """The table with its notes, then the figure."""
    table = (tables / "table_1.md").read_text(encoding="utf-8")
    return f"{table}\n![AUC against the share of the training rows]({(tables / 'auc_higgs.png').as_posix()})\n"


if __name__ == "__main__":
    main()
