"""What a run writes: tables that agree with the cells, figures, claims, and a page that stands alone."""

import csv
import io
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pytest
from tests.paper.small import CELLS, N_METHODS, cell, run, small

from softbin.errors import OptionError
from softbin.paper.claims import FAILS, HOLDS, UNDECIDED, Claim, Part, check_claims
from softbin.paper.experiment import write_results
from softbin.paper.figures import _look
from softbin.paper.methods import METHODS
from softbin.paper.results import Results
from softbin.paper.ridge import RIDGES
from softbin.paper.tables import table_1, table_2

PAPER_ROWS = [method.label for method in METHODS if method.in_paper]


@pytest.fixture(scope="module")
def out(outcome):
    return outcome.results.store.root.parent


def test_everything_is_written(outcome, out):
    names = {path.name for path in out.iterdir() if path.is_file()}
    assert names == {
        *(f"table_{number}.{ending}" for number in (1, 2) for ending in ("md", "csv", "tex")),
        *(f"{name}.{ending}" for name in ("auc_susy", "parameters") for ending in ("svg", "png")),
        "claims.md", "paper.html",
    }  # fmt: skip
    assert {path.name for path in outcome.written} <= names


def test_table_1_holds_means_over_seeds(outcome, out):
    rows = list(csv.DictReader(io.StringIO((out / "table_1.csv").read_text())))
    assert len(rows) == N_METHODS * 2
    row = next(r for r in rows if (r["row"], r["data"], r["share"]) == ("LLE (10)", "SUSY", "0.1"))
    aucs = [report["auc"] for report in outcome.results.reports(("LR", "LLE (10)", "SUSY", 0.1))]
    assert float(row["auc"]) == pytest.approx(100 * np.mean(aucs), abs=1e-9)
    assert float(row["standard_error"]) > 100 * np.std(aucs) / 2
    assert (row["paper_auc"], row["seeds"], row["nominal_parameters"]) == ("86.83", "2", "198.0")


def test_the_paper_stands_beside_and_the_best_is_marked(outcome, out):
    text = (out / "table_1.md").read_text()
    assert "not UCI numbers" in text
    line = next(line for line in text.splitlines() if line.startswith("| LR | LLE (10) |"))
    assert re.fullmatch(r"\| LR \| LLE \(10\) (\| (\*\*)?\d\d\.\d\d ± \d\.\d\d(\*\*)? \(\d\d\.\d\d\) ){2}\|", line)
    for position in range(2, 4):
        column = [row[position] for row in table_1(outcome.results).rows if row[0].ours == "LR"]
        assert sum(text.best for text in column) >= 1
        best = max(float(text.ours.split()[0]) for text in column)
        assert all((float(text.ours.split()[0]) == best) == text.best for text in column)
    latex = (out / "table_1.tex").read_text()
    assert latex.count(r"\\") == 1 + len(table_1(outcome.results).rows)
    assert "±" not in latex


def test_table_2_counts_as_the_paper(outcome):
    rows = {row[1].ours: row for row in table_2(outcome.results).rows}
    assert [text.ours for text in rows["LLE (10)"][2:]] == ["198", "198"]
    assert [text.ours for text in rows["LLE (5)"][2:]] == ["108", "108"]
    assert [text.paper for text in rows["MGD"][2:]] == ["116,820", "41,580"]


class Outside(HTMLParser):
    """Everything a page would load, and how its tags nest."""

    def __init__(self):
        super().__init__()
        self.loads, self.ids = [], []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("src", "href", "xlink:href", "data") and not (value or "").startswith(("#", "data:")):
                self.loads.append((tag, value))
            if name == "id":
                self.ids.append(value)


def test_the_page_stands_alone(out):
    text = (out / "paper.html").read_text()
    page = Outside()
    page.feed(text)
    assert page.loads == []
    assert len(page.ids) == len(set(page.ids))
    assert "<script" not in text
    assert text.count("<svg") == 2
    assert "not UCI numbers" in text
    for used in set(re.findall(r'(?:url\(|href=")#([^)"]+)', text)):
        assert used in page.ids


def test_figures_are_whole_and_show_every_row(out):
    text = (out / "auc_susy.svg").read_text()
    ET.fromstring(text)
    for name in ("CD (5)", "MGD", "LLE (100)", "raw columns"):
        assert name in text


def test_the_same_results_write_the_same_files(outcome, out):
    before = {path.name: path.read_bytes() for path in out.iterdir() if path.suffix in (".svg", ".md", ".html")}
    write_results(small(out, network="small"), outcome.results)
    assert {name: (out / name).read_bytes() for name in before} == before


def test_claims_are_judged_on_every_place(outcome):
    claims = check_claims(outcome.results)
    assert [len(claim.parts) for claim in claims] == [2, 1, 3, 1, 2, 2]
    assert claims[-1].verdict == HOLDS
    assert all(part.verdict in (HOLDS, FAILS, UNDECIDED) for claim in claims for part in claim.parts)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [((HOLDS, HOLDS), HOLDS), ((HOLDS, UNDECIDED), UNDECIDED), ((UNDECIDED, FAILS), FAILS), ((), UNDECIDED)],
)
def test_a_claim_holds_if_all_parts_hold(verdicts, expected):
    assert Claim("", "", tuple(Part("", verdict, "") for verdict in verdicts)).verdict == expected


def test_claims_follow_the_scores(outcome, monkeypatch):
    """With scores that a hard row makes perfect, the first claim fails; with a perfect soft row it holds."""
    for method, verdict in (("CD (10)", FAILS), ("LLE (5)", HOLDS)):
        changed = Results(outcome.results.store, outcome.results.samples, outcome.results.cells)
        honest = changed._place

        def place(cell, method=method, honest=honest):
            placed = honest(cell)
            if cell.method != method:
                return placed
            return type(placed)(np.minimum(placed.positive + 0.3, 1), np.minimum(placed.negative + 0.3, 1))

        monkeypatch.setattr(changed, "_place", place)
        assert check_claims(changed)[0].verdict == verdict


def test_only_leaves_the_rest_open(tmp_path):
    outcome = run(small(tmp_path, seeds=1, only="lr lle* susy 10% paper"))
    assert outcome.progress.done == outcome.progress.total == 3
    assert "| LR | MGD | - (87.08) |" in (tmp_path / "table_1.md").read_text()
    assert [len(claim.parts) for claim in outcome.claims] == [0] * 6


def test_another_column_of_the_paper_may_stand_beside(outcome):
    found = outcome.results
    other = Results(found.store, found.samples, found.cells, 0.01)
    rows = {row[1].ours: [text.paper for text in row[2:]] for row in table_1(other).rows if row[0].ours == "LR"}
    assert rows["LLE (10)"] == ["86.18", "86.18"]
    assert rows["raw columns"] == ["", ""]
    assert {row[1].ours: row for row in table_2(other).rows}["MGD"][2].paper == "21,690"


def test_rows_of_ours_that_were_not_computed_are_left_out(tmp_path):
    outcome = run(small(tmp_path, seeds=1, only="lr susy paper 10% | lr lle(auto) 10%"))
    assert [row[1].ours for row in table_1(outcome.results).rows] == [*PAPER_ROWS, "LLE (auto)"]


def test_rows_of_ours_have_a_look_of_their_own(outcome):
    looks = [_look(outcome.results, method) for method in outcome.results.present("method")]
    assert len({(look["color"], look["linestyle"], look["marker"]) for look in looks}) == len(looks) >= N_METHODS
    own = [row for row in table_1(outcome.results).rows if row[1].ours not in PAPER_ROWS]
    assert len(own) == N_METHODS - len(PAPER_ROWS)
    assert all(text.paper == "" for row in own for text in row)


def test_what_no_seed_changes_runs_once_and_has_the_error_of_test_rows(outcome, out):
    results = outcome.results
    fixed, drawn = (("LR", method, "SUSY", 1.0) for method in ("LLE (10)", "MGD"))
    assert [results.entries[key].n_seeds for key in (fixed, drawn)] == [1, 2]
    assert results.entries["LR", "LLE (10)", "SUSY", 0.1].n_seeds == 2
    placed = results._placements(fixed)[0]
    assert results.entries[fixed].error == pytest.approx(100 * np.sqrt(placed.variance))
    found = results.compare([1, -1], [drawn, fixed])
    aucs = [one.auc for one in results._placements(drawn)]
    assert found.estimate == pytest.approx(100 * (np.mean(aucs) - placed.auc))
    assert found.error > 100 * np.std(aucs, ddof=1) / np.sqrt(2)
    assert np.isinf(results.compare([1, -1], [fixed, ("LR", "CD (10)", "SUSY", 1.0)]).freedom)
    assert "ran once" in (out / "table_1.md").read_text()


def test_tables_may_go_elsewhere_and_name_their_command(tmp_path, outcome):
    there = tmp_path / "docs" / "paper"
    command = "softbin paper --rows 1500 --tables docs/paper"
    run(small(outcome.results.store.root.parent, tables=there, command=command))
    assert {"table_1.md", "table_2.tex", "paper.html", "claims.md", "auc_susy.png"} <= {p.name for p in there.iterdir()}
    for name in ("table_1.md", "paper.html"):
        text = (there / name).read_text()
        assert "softbin paper --rows 1500" in text
        assert re.search(rf"{CELLS} cells in [\d,]+ s with 1 process", text)


def test_ridges_are_in_the_table_of_values(out):
    rows = {(r["row"], r["share"]): r for r in csv.DictReader(io.StringIO((out / "table_1.csv").read_text()))}
    assert rows["LLE (100), smoothed", "0.1"]["ridge"] == "1"
    assert float(rows["MGD", "1.0"]["ridge"].split()[0]) in RIDGES


def test_folds(tmp_path):
    outcome = run(small(tmp_path, folds=2, seeds=1, only="lr soft:5 susy | lr hard:5 susy"))
    assert outcome.progress.done == 2 * 2 * 2
    entry = outcome.results.entries["LR", "LLE (5)", "SUSY", 1.0]
    assert entry.n_seeds == 2
    found = outcome.results.compare([1, -1], [("LR", m, "SUSY", 1.0) for m in ("LLE (5)", "CD (5)")])
    assert found.estimate > 0


@pytest.mark.parametrize(
    "changes",
    [
        {"rows": 5},
        {"seeds": 0},
        {"folds": 1},
        {"models": ("SVM",)},
        {"data_sets": ("IRIS",)},
        {"shares": (2.0,)},
        {"network": "huge"},
        {"beside": 0.5},
        {"jobs": 0},
    ],
)
def test_options_are_checked_before_anything_is_made(tmp_path, changes):
    with pytest.raises(OptionError):
        run(small(tmp_path / "results", **changes))
    assert not (tmp_path / "results").exists()


def test_labels_of_cells_are_readable():
    assert cell().label == "LR LLE (10) HIGGS 10% seed 0"
