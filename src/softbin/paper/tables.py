"""Tables 1 and 2 with the paper's figures beside ours, as Markdown, LaTeX, CSV and HTML.

A table is made once, as rows of text; the formats only differ in how they write them.
"""

import csv
import html
import io
from dataclasses import dataclass

from softbin.paper.cells import percent
from softbin.paper.methods import IN_PAPER, SOFT
from softbin.paper.published import SHARES, TABLE_1, TABLE_2
from softbin.paper.results import Entry, Key, Results


@dataclass(frozen=True)
class Text:
    """What stands in one place of a table: our figure, the paper's where it has one, and whether ours is the best."""

    ours: str
    paper: str = ""
    best: bool = False


@dataclass(frozen=True)
class TextTable:
    """A head and rows of the same length; the first two columns are names."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Text, ...], ...]


def table_1(results: Results) -> TextTable:
    """AUC x 100 with standard errors. The best of every column and model is marked, rounded ties included."""
    columns = _columns(results)
    best = _best(results)
    rows = []
    for model, method in _rows(results):
        cells = [_auc(results, (model, method, data, share), best) for data, share in columns]
        rows.append((Text(model), Text(method), *cells))
    head = ("model", "row", *(f"{data} {percent(share)}" for data, share in columns))
    return TextTable("AUC x 100 ± standard error (the paper's figure)", head, tuple(rows))


def table_2(results: Results) -> TextTable:
    """Nominal parameters. The row "LLE" is the best of the LLE rows, which is what the paper seems to count."""
    columns = _columns(results)
    rows = []
    for model, method in _rows(results):
        entries = [results.entries.get((model, method, data, share)) for data, share in columns]
        if model == "trees" or not any(entries):
            continue
        cells = [
            Text(
                "-" if entry is None else f"{entry.nominal:,.0f}", _published(method, data, results.paper_share(share))
            )
            for entry, (data, share) in zip(entries, columns, strict=True)
        ]
        rows.append((Text(model), Text(method), *cells))
    for model in results.present("model"):
        best = [_best_soft(results, model, data, share) for data, share in columns]
        if any(best):
            cells = [
                Text(
                    "-" if entry is None else f"{entry.nominal:,.0f}",
                    _published("LLE", data, results.paper_share(share)),
                )
                for entry, (data, share) in zip(best, columns, strict=True)
            ]
            rows.append((Text(model), Text("LLE, the best"), *cells))
    head = ("model", "row", *(f"{data} {percent(share)}" for data, share in columns))
    return TextTable("Model parameters, counted as in the paper (the paper's figure)", head, tuple(rows))


def as_markdown(table: TextTable) -> str:
    """A pipe table."""

    def cell(text: Text) -> str:
        ours = f"**{text.ours}**" if text.best else text.ours
        return f"{ours} ({text.paper})" if text.paper else ours

    lines = [table.head, tuple("---" if i < 2 else "--:" for i in range(len(table.head)))]
    lines += [tuple(cell(text) for text in row) for row in table.rows]
    return f"{table.caption}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def as_latex(table: TextTable) -> str:
    """A table for booktabs."""

    def cell(text: Text) -> str:
        ours = rf"\textbf{{{_tex(text.ours)}}}" if text.best else _tex(text.ours)
        return f"{ours} ({text.paper})" if text.paper else ours

    body = [" & ".join(cell(text) for text in row) + r" \\" for row in table.rows]
    return "\n".join(
        [
            r"\begin{table}[htbp]", r"  \centering", rf"  \caption{{{_tex(table.caption)}}}",
            rf"  \begin{{tabular}}{{ll{'r' * (len(table.head) - 2)}}}", r"    \toprule",
            "    " + " & ".join(map(_tex, table.head)) + r" \\", r"    \midrule",
            *("    " + line for line in body),
            r"    \bottomrule", r"  \end{tabular}", r"\end{table}", "",
        ]
    )  # fmt: skip


def as_html(table: TextTable) -> str:
    """A table element."""

    def cell(text: Text) -> str:
        ours = html.escape(text.ours)
        ours = f"<b>{ours}</b>" if text.best else ours
        return f"<td>{ours}" + (f" <small>({html.escape(text.paper)})</small>" if text.paper else "") + "</td>"

    head = "".join(f"<th>{html.escape(name)}</th>" for name in table.head)
    body = "\n".join("<tr>" + "".join(map(cell, row)) + "</tr>" for row in table.rows)
    return f"<table><caption>{html.escape(table.caption)}</caption><tr>{head}</tr>\n{body}</table>"


def as_csv(results: Results) -> str:
    """Everything that was measured, a line per place of Table 1, in full precision."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ["model", "row", "data", "share", "training_rows", "seeds", "auc", "standard_error", "paper_auc", "log_loss",
         "nominal_parameters", "actual_parameters", "ridge", "seconds", "peak_memory_bytes"]
    )  # fmt: skip
    for key, entry in results.entries.items():
        paper = TABLE_1.get(_paper_key(results, key), "")
        writer.writerow(
            [*key, entry.n_train, entry.n_seeds, entry.auc, entry.error, paper, entry.log_loss,
             entry.nominal, entry.actual, entry.ridge, entry.seconds, entry.peak_memory]
        )  # fmt: skip
    return out.getvalue()


def table_2_csv(results: Results) -> str:
    """Nominal and actual parameters beside the paper's."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["model", "row", "data", "share", "nominal_parameters", "actual_parameters", "paper"])
    for (model, method, data, share), entry in results.entries.items():
        paper = _published(method, data, results.paper_share(share)).replace(",", "")
        writer.writerow([model, method, data, share, entry.nominal, entry.actual, paper])
    return out.getvalue()


def _rows(results: Results) -> list[tuple[str, str]]:
    """The paper's, and those of ours that have something to show."""
    shown = {(model, method) for model, method, _, _ in results.entries}
    planned = dict.fromkeys((cell.model, cell.method) for cell in results.cells)
    return [row for row in planned if row in shown or row[1] in IN_PAPER]


def _columns(results: Results) -> list[tuple[str, float]]:
    shares = sorted(results.present("share"), reverse=True)
    return [(data, share) for data in results.present("data") for share in shares]


def _best(results: Results) -> dict[tuple[str, str, float], str]:
    """The highest rounded AUC of every model, data set and share."""
    found: dict[tuple[str, str, float], list[float]] = {}
    for (model, _, data, share), entry in results.entries.items():
        found.setdefault((model, data, share), []).append(entry.auc)
    return {place: f"{max(aucs):.2f}" for place, aucs in found.items() if len(aucs) > 1}


def _auc(results: Results, key: Key, best: dict[tuple[str, str, float], str]) -> Text:
    model, _, data, share = key
    beside = _paper_key(results, key)
    paper = f"{TABLE_1[beside]:.2f}" if beside in TABLE_1 else ""
    entry = results.entries.get(key)
    if entry is None:
        return Text("-", paper)
    rounded = f"{entry.auc:.2f}"
    return Text(f"{rounded} ± {entry.error:.2f}", paper, rounded == best.get((model, data, share)))


def _paper_key(results: Results, key: Key) -> Key:
    return *key[:3], results.paper_share(key[3])


def _best_soft(results: Results, model: str, data: str, share: float) -> Entry | None:
    found = [entry for method in SOFT if (entry := results.entries.get((model, method, data, share)))]
    return max(found, key=lambda entry: entry.auc, default=None)


def _published(method: str, data: str, share: float) -> str:
    if (method, data) not in TABLE_2 or share not in SHARES:
        return ""
    return f"{TABLE_2[method, data][SHARES.index(share)]:,}"


def _tex(text: str) -> str:
    for plain, code in (("%", r"\%"), ("±", r"$\pm$"), (" x 100", r" $\times$ 100")):
        text = text.replace(plain, code)
    return text


def formats(table: TextTable, as_values: str) -> dict[str, str]:
    """What to write under which ending."""
    return {"md": as_markdown(table), "tex": as_latex(table), "csv": as_values}
