"""Pictures of a linear model: a panel per column with its curve, its band, its knots and where the data are.

Soft bins are drawn as the line they are, hard bins as steps; knots are ticks on the upper frame; the density of the
training rows stands at the bottom, each bin's weight over its width. Special codes and missing values stand right of
the frame. A panel shows the middle of the data; a long tail is cut where next to no row is left.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbin.boundaries.boundaries import Boundaries
from softbin.errors import OptionError
from softbin.linear.curve import Curve
from softbin.linear.model import LinearModel
from softbin.optional import need
from softbin.values.columns import column_position

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
PANEL = (3.2, 2.4)  # inches
MOST_ACROSS = 4
DENSITY_HEIGHT = 0.18  # of a panel
FURTHEST = 3.0  # times as far into an end bin as the mean of its rows


def plot_model(model: LinearModel, columns: Any = None, ax: Any = None) -> Any:
    """The figure with a panel for each of the columns (by name or position; all by default).

    ``ax``: matplotlib axes to draw on, as many as columns. Bands are 95 %, where the fit knows standard errors
    (``smoothness``).
    """
    labels = model.encoder_.plan_.table_labels
    positions = _positions(columns, labels)
    pyplot = need("matplotlib.pyplot")
    if ax is None:
        across = min(MOST_ACROSS, len(positions))
        down = -(-len(positions) // across)
        figure, axes = pyplot.subplots(
            down, across, figsize=(PANEL[0] * across, PANEL[1] * down), layout="constrained", squeeze=False
        )
        panels = list(axes.flat)
        for empty in panels[len(positions) :]:
            empty.set_axis_off()
    else:
        panels = list(np.ravel(np.asarray(ax, object)))
        if len(panels) != len(positions):
            raise OptionError(f"ax: {len(panels)} axes for {len(positions)} columns; pass as many, or none")
        figure = panels[0].figure
    for position, panel in zip(positions, panels, strict=False):
        _draw(panel, model, position, legend=panel is panels[0])
    return figure


def _positions(columns: Any, labels: Sequence[str]) -> list[int]:
    if columns is None:
        return list(range(len(labels)))
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        columns = [columns]
    found = [column_position(column, labels) for column in columns]
    if not found:
        raise OptionError("columns: there is none to plot; name one, or leave it out for all")
    return found


def _draw(panel: Any, model: LinearModel, position: int, *, legend: bool) -> None:
    soft = model.encoder_.plan_.soft
    confidence = CONFIDENCE if model.has_bands else None
    curve = model.curve(position, confidence)
    panel.set_title(curve.column, fontsize="medium")
    if len(curve.knots) == 0:
        panel.text(0.5, 0.5, "no values", transform=panel.transAxes, ha="center", va="center")
        return
    low, high = shown(model, position, curve.knots)
    values = np.atleast_2d(curve.values)
    names = getattr(model, "classes_", [])
    lines = list(values)
    for k, line in enumerate(values):
        label = str(names[k]) if len(values) > 1 else None
        band = None
        if curve.lower is not None and curve.upper is not None:
            band = np.atleast_2d(curve.lower)[k], np.atleast_2d(curve.upper)[k]
            lines += band
        _draw_line(panel, curve.knots, line, band, soft=soft, colour=f"C{k}", label=label)
    margin = 0.02 * (high - low) or 0.5
    panel.set_xlim(low - margin, high + margin)
    panel.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    panel.vlines(curve.knots, 0.97, 1, transform=panel.get_xaxis_transform(), color="0.5", linewidth=0.6)
    others = _draw_others(panel, curve)
    bottom, top = visible(curve.knots, lines, low, high, soft=soft)
    bottom, top = min(bottom, *others, 0.0), max(top, *others, 0.0)
    height = (top - bottom) or 1.0
    # Why more below: the density has a floor of its own under the curve.
    panel.set_ylim(bottom - (DENSITY_HEIGHT + 0.1) * height, top + 0.07 * height)
    _draw_density(panel, *density(model, position), low, high)
    if len(values) > 1 and legend:
        panel.legend(fontsize="x-small")


def _draw_density(panel: Any, edges: Floats, height: Floats, low: float, high: float) -> None:
    inside = (edges[1:] > low) & (edges[:-1] < high)
    if not np.any(height[inside] > 0):
        return
    share = DENSITY_HEIGHT * np.minimum(height / height[inside].max(), 1)
    panel.stairs(share, edges, transform=panel.get_xaxis_transform(), fill=True, color="0.85", zorder=0)


def _draw_line(
    panel: Any, knots: Floats, line: Floats, band: tuple[Floats, Floats] | None, *, soft: bool, colour: str, label: Any
) -> None:
    if soft and len(knots) > 1:
        panel.plot(knots, line, color=colour, label=label)
        if band is not None:
            panel.fill_between(knots, *band, color=colour, alpha=0.2, linewidth=0)
        return
    if len(knots) == 1:
        error = None if band is None else [[line[0] - band[0][0]], [band[1][0] - line[0]]]
        panel.errorbar(knots, line, yerr=error, fmt="o", color=colour, label=label)
        return
    panel.stairs(line, knots, baseline=None, color=colour, label=label)
    if band is not None:
        ends = [np.append(side, side[-1:]) for side in band]
        panel.fill_between(knots, *ends, step="post", color=colour, alpha=0.2, linewidth=0)


def _draw_others(panel: Any, curve: Curve) -> list[float]:
    """Special codes and missing values, right of the frame; returns how far they reach."""
    others = [(f"{code:g}", value, (curve.special_band or {}).get(code)) for code, value in curve.special.items()]
    if curve.missing is not None:
        others.append(("missing", curve.missing, curve.missing_band))
    beside = panel.get_yaxis_transform()
    reach: list[float] = []
    for number, (name, value, band) in enumerate(others):
        at = 1.05 + 0.08 * number
        reach += [float(one) for one in np.ravel([value, *(band or ())])]
        for k, one in enumerate(np.atleast_1d(value)):
            colour = f"C{k}"
            panel.plot([at], [one], "o", markersize=4, color=colour, transform=beside, clip_on=False)
            if band is not None:
                ends = [np.atleast_1d(end)[k] for end in band]
                panel.plot([at, at], ends, color=colour, transform=beside, clip_on=False)
        panel.text(at, -0.03, name, transform=panel.transAxes, rotation=90, ha="center", va="top", fontsize="x-small")
    return reach


def finest_bins(model: LinearModel, position: int) -> Boundaries:
    """Of the columns of the plan that read this column of the table."""
    plan = model.encoder_.plan_
    found = [b for b, at in zip(plan.grid, plan.source, strict=True) if at == position]
    return max(found, key=lambda boundaries: boundaries.n_bins)


def density(model: LinearModel, position: int) -> tuple[Floats, Floats]:
    """Edges of the column's finest bins, and in each the training weight over the width; nothing where unknown."""
    finest = finest_bins(model, position)
    edges = np.array(finest.edges)
    if len(edges) < 2 or not finest.weight:
        return edges[:0], edges[:0]
    return edges, np.array(finest.weight) / np.diff(edges)


def shown(model: LinearModel, position: int, knots: Floats) -> tuple[float, float]:
    """The part of a column that is worth showing: not what lies far beyond the mean of an end bin's rows."""
    finest = finest_bins(model, position)
    low, high = float(knots[0]), float(knots[-1])
    if len(finest.edges) < 3 or not finest.mean:
        return low, high
    second, last = finest.edges[1], finest.edges[-2]
    low = max(low, second - FURTHEST * (second - finest.mean[0]))
    return low, min(high, last + FURTHEST * (finest.mean[-1] - last))


def visible(knots: Floats, lines: Sequence[Floats], low: float, high: float, *, soft: bool) -> tuple[float, float]:
    """The least and the largest value of these lines between two places of the column."""
    if soft:
        inside = np.concatenate([[low], knots[(knots > low) & (knots < high)], [high]])
        found = np.concatenate([np.interp(inside, knots, line) for line in lines])
    else:
        found = np.concatenate(
            [line[(knots[1:] >= low) & (knots[:-1] <= high)] if len(knots) > 1 else line for line in lines]
        )
    return float(found.min()), float(found.max())
