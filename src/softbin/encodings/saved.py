"""A fitted encoder as plain data: the grid, how it is laid out, and the fit report. No data of the rows, no pickle."""

import json
from dataclasses import asdict
from typing import Any

from softbin.boundaries.grid import Grid
from softbin.encodings.encoder import BinEncoder
from softbin.encodings.fit_report import ColumnReport, FitReport
from softbin.encodings.hard_bins import HardBins
from softbin.encodings.multi_bins import MultiBins
from softbin.encodings.soft_bins import SoftBins


def encoder_state(encoder: BinEncoder) -> dict[str, Any]:
    """What ``encoder_from_state`` needs, as JSON can hold it."""
    plan = encoder.plan_
    return {
        "soft": plan.soft,
        "views": None if plan.views is None else asdict(plan.views),
        "grid": json.loads(plan.grid.to_json()),
        "fit_report": [asdict(column) for column in encoder.fit_report_],
    }


def encoder_from_state(state: dict[str, Any]) -> BinEncoder:
    """A fitted encoder with the same boundaries, levels and names. Its other options are the defaults."""
    grid, views, soft = Grid.from_json(json.dumps(state["grid"])), state["views"], bool(state["soft"])
    encoder: BinEncoder
    if views is None:
        encoder = (SoftBins if soft else HardBins).from_grid(grid)
    else:
        encoder = MultiBins.from_grid(grid, views["n_columns"] if views["names"] is None else views["names"], soft=soft)
    encoder.fit_report_ = FitReport(tuple(ColumnReport(**column) for column in state["fit_report"]))
    return encoder
