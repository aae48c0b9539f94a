"""The figures: AUC against the share of rows, a figure per data set, and AUC against parameters. Needs matplotlib.

A colour is a family of the paper's rows (hard, soft, multi), a line style a number of bins, so that both can be read
without the colours. Each row of ours has a colour of its own.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from softbin.optional import need
from softbin.paper.cells import percent
from softbin.paper.methods import IN_PAPER
from softbin.paper.results import Results
from softbin.whole_files import whole_file

COLORS = {"CD": "#c4622d", "LLE": "#1f6fb4", "MGD": "#4f8f3a"}
OWN = ("#8fbc5a", "#7b4fa3", "#008b8b", "#b8860b", "#4d4d4d", "#d16ba5", "#a0522d", "#6a8caf")
OWN_MARKERS = ("d", "D", "P", "X", "x", "*", "h", "<")
STYLES = {"(5)": ":", "(10)": "-", "(100)": "--"}
MARKERS = {"(5)": "v", "(10)": "o", "(100)": "s"}


def draw_figures(results: Results, folder: Path) -> list[Path]:
    """Writes every figure as SVG and PNG; returns the SVG files."""
    drawn: list[tuple[str, Callable[[Any, Results], None]]] = [
        (f"auc_{data.lower()}", lambda figure, found, data=data: _by_share(figure, found, data))  # type: ignore[misc]
        for data in results.present("data")
    ]
    drawn.append(("parameters", _by_parameters))
    return [_draw(results, folder / name, draw) for name, draw in drawn]


def _draw(results: Results, path: Path, draw: Callable[[Any, Results], None]) -> Path:
    figures = need("matplotlib.figure")
    # Why the salt: the same results give the same file.
    with need("matplotlib").rc_context({"svg.hashsalt": "softbin", "font.size": 9, "svg.fonttype": "none"}):
        figure = figures.Figure(figsize=(9, 4), layout="constrained")
        draw(figure, results)
        for kind, metadata in (("svg", {"Date": None}), ("png", {})):
            with whole_file(path.with_suffix(f".{kind}"), overwrite=True) as temporary:
                figure.savefig(temporary, format=kind, dpi=110, metadata=metadata)
    return path.with_suffix(".svg")


def _by_share(figure: Any, results: Results, data: str) -> None:
    models = [model for model in results.present("model") if any(key[0] == model for key in results.entries)]
    panels = figure.subplots(1, max(len(models), 1), squeeze=False)[0]
    for axes, model in zip(panels, models, strict=False):
        for method in results.present("method"):
            points = [
                (share, entry)
                for share in sorted(results.present("share"))
                if (entry := results.entries.get((model, method, data, share)))
            ]
            if points:
                shares = [share for share, _ in points]
                aucs, errors = [entry.auc for _, entry in points], [entry.error for _, entry in points]
                axes.errorbar(shares, aucs, errors, label=method, capsize=2, lw=1.4, ms=4, **_look(results, method))
        axes.set_xscale("log")
        axes.set_xticks(sorted(results.present("share")), [percent(s) for s in sorted(results.present("share"))])
        axes.minorticks_off()
        axes.set(title=f"{data}, {model}", xlabel="share of the training rows", ylabel="AUC x 100")
        axes.grid(alpha=0.25)
    found = [pair for axes in figure.axes for pair in zip(*axes.get_legend_handles_labels(), strict=True)]
    _legend(figure, {label: handle for handle, label in reversed(found)})


def _by_parameters(figure: Any, results: Results) -> None:
    share = max(results.present("share"))
    names = results.present("data")
    for axes, data in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        for (model, method, of_data, of_share), entry in results.entries.items():
            if (of_data, of_share) != (data, share):
                continue
            look = {**_look(results, method), "linestyle": "none"}
            filled = {"LR": "none", "DNN": "full", "trees": "left"}[model]
            name = f"{model} {method}"
            axes.errorbar([entry.nominal], [entry.auc], [entry.error], fillstyle=filled, ms=6, label=name, **look)
        axes.set_xscale("log")
        axes.margins(x=0.2)
        axes.set(title=f"{data}, {percent(share)}", xlabel="parameters, counted as in the paper", ylabel="AUC x 100")
        axes.grid(alpha=0.25)
    _legend(figure, {label: handle for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)})


def _legend(figure: Any, handles: dict[str, Any]) -> None:
    """Beside the panels, where it hides nothing."""
    if handles:
        figure.legend(handles.values(), handles.keys(), loc="outside right upper", fontsize=7)


def _look(results: Results, method: str) -> dict[str, Any]:
    if method in IN_PAPER:
        family, _, bins = method.partition(" ")
        return {"color": COLORS[family], "linestyle": STYLES.get(bins, "-."), "marker": MARKERS.get(bins, "D")}
    own = [name for name in results.present("method") if name not in IN_PAPER].index(method) % len(OWN)
    return {"color": OWN[own], "linestyle": (0, (3, 1, 1, 1)), "marker": OWN_MARKERS[own]}
