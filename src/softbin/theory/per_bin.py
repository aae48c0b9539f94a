"""A number for every bin of a grid, and their mean over the rows."""

from dataclasses import dataclass

from softbin.theory.design import Floats, Positions


@dataclass(frozen=True, eq=False)
class PerBin:
    """``values`` per bin, ``overall`` for the grid, and the standard errors of both: zero unless simulated."""

    values: Floats
    rows: Positions
    overall: float
    standard_errors: Floats
    overall_standard_error: float
