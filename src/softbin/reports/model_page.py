"""A fitted model as a page: facts, what became of every column, and the curves of a linear model."""

import io
from typing import Any

import numpy as np

from softbin.optional import need
from softbin.reports.page import Section, html_table, inline_svg, make_page

MOST_CURVES = 60
ACROSS = 4


def model_page(model: Any, title: str, facts: dict[str, str]) -> str:
    """The page, without anything beside it."""
    shown = html_table(["", ""], [[name, value] for name, value in facts.items()])
    sections = [Section("Columns", html_table(*column_rows(model)))]
    if hasattr(model, "curve"):
        sections.append(Section("Curves", _curves(model)))
    return make_page(title, shown, sections)


def column_rows(model: Any) -> tuple[list[str], list[list[str]]]:
    """A row per column of the grid: what the fit found; for linear models the widest spread comes first."""
    encoder = model.encoder_
    asked = {column.column: column for column in encoder.fit_report_}
    rows = []
    for label, boundaries in zip(encoder.grid_.labels, encoder.grid_, strict=True):
        column = asked.get(label)
        ends = f"{boundaries.edges[0]:g} to {boundaries.edges[-1]:g}" if boundaries.edges else "-"
        distinct = "-" if column is None else f"{'≥ ' if column.distinct_at_least else ''}{column.distinct:,}"
        rows.append([label, f"{boundaries.n_bins}", ends, distinct, f"{boundaries.missing_weight:g}", boundaries.note])
    head = ["column", "bins", "range", "distinct", "missing", "note"]
    if not hasattr(model, "curve"):
        return head, rows
    spread = spreads(model)
    table_labels = encoder.plan_.table_labels
    of_row = [spread[table_labels[at]] for at in encoder.plan_.source]
    order = sorted(range(len(rows)), key=lambda at: -of_row[at])
    return ["column", "spread", *head[1:]], [[rows[at][0], f"{of_row[at]:.4g}", *rows[at][1:]] for at in order]


def spreads(model: Any) -> dict[str, float]:
    """By how much the score changes along the curve of each column, from its lowest to its highest point."""
    return {
        label: float(np.max(np.ptp(np.atleast_2d(values), axis=1), initial=0.0))
        if (values := model.curve(label).values).size
        else 0.0
        for label in model.encoder_.plan_.table_labels
    }


def _curves(model: Any) -> str:
    spread = spreads(model)
    labels = sorted((label for label in spread if spread[label] > 0), key=lambda label: -spread[label])
    if not labels:
        return "<p>Every curve is flat.</p>"
    kept = labels[:MOST_CURVES]
    note = f"<p>The {len(kept)} widest of {len(labels)}.</p>" if len(kept) < len(labels) else ""
    note += "<p>What each column adds to the score, centred on the training rows; the widest first.</p>"
    return note + inline_svg(_draw(model, kept), "curves")


def _draw(model: Any, labels: list[str]) -> str:
    figures = need("matplotlib.figure")
    down = -(-len(labels) // ACROSS)
    with need("matplotlib").rc_context({"svg.hashsalt": "softbin", "font.size": 7, "svg.fonttype": "none"}):
        figure = figures.Figure(figsize=(3 * ACROSS, 1.9 * down), layout="constrained")
        panels = figure.subplots(down, ACROSS, squeeze=False).ravel()
        for axes, label in zip(panels, labels, strict=False):
            _draw_curve(axes, model.curve(label))
        for axes in panels[len(labels) :]:
            axes.set_axis_off()
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def _draw_curve(axes: Any, curve: Any) -> None:
    for values in np.atleast_2d(curve.values):
        if len(values) == len(curve.knots):
            axes.plot(curve.knots, values, lw=1.2, marker="." if len(values) <= 25 else None, ms=3)
        else:
            axes.stairs(values, curve.knots, baseline=None, lw=1.2)
    axes.axhline(0, color="0.7", lw=0.6, zorder=0)
    axes.set_xlim(*_window(curve.knots))
    axes.set_title(curve.column.replace("$", r"\$"), fontsize=8)


def _window(knots: Any) -> tuple[float, float]:
    """The part of a column to show: long tails would leave one corner for everything else."""
    low, high = float(knots[0]), float(knots[-1])
    if len(knots) >= 4:
        inner = float(knots[-2] - knots[1])
        low, high = max(low, float(knots[1]) - inner / 2), min(high, float(knots[-2]) + inner / 2)
    return (low, high) if high > low else (low - 0.5, low + 0.5)
