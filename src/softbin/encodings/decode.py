"""From an encoding back to values: a hard bin's mean, the point that soft weights stand for."""

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from softbin.encodings.plan import Levels, Plan


def level_values(levels: Levels) -> NDArray[np.float64]:
    """The value each level of a column stands for; NaN for missing, and for no level at all (one past the end)."""
    b = levels.boundaries
    regular = b.edges[: b.n_knots] if levels.soft else b.bin_means
    return np.array([*regular, *b.special, *[np.nan] * (1 + (b.missing == "level"))])


def decode_matrix(matrix: Any, plan: Plan) -> NDArray[np.floating[Any]]:
    """Rows x columns out of rows x levels, sparse or dense: the weighted sum of what the levels stand for."""
    places, present, missing = _decoder(plan)
    values = _dense(matrix @ places)
    values[_dense(matrix @ missing) > 0.5] = np.nan
    # Why the absolute weights: far outside, those of outside="linear" are large and may cancel.
    values[_dense(abs(matrix) @ present) < 0.5] = np.nan
    for j, levels in enumerate(plan.columns):
        if levels.wraps and levels.n_regular > 2:
            first, last = plan.level_start[j], plan.level_start[j] + levels.n_regular - 1
            low_weight, high_weight = (_dense(matrix[:, [at]])[:, 0] for at in (first, last))
            low, high = levels.boundaries.edges[0], levels.boundaries.edges[-1]
            # Between the last knot and the first one the first stands for the end of the period.
            values[:, j] += np.where(high_weight > 0, low_weight * (high - low), 0)
    # Why not always the dtype of the weights: edges of float64 data may lie beyond float32.
    largest = np.max(np.abs(values), initial=0.0, where=np.isfinite(values))
    narrow = matrix.dtype == np.float32 and largest <= np.finfo(np.float32).max
    return values.astype(np.float32 if narrow else np.float64)


def decode_codes(codes: NDArray[Any], plan: Plan) -> NDArray[np.float64]:
    """Rows x columns out of ordinal codes."""
    columns = [level_values(levels)[codes[:, j]] for j, levels in enumerate(plan.columns)]
    return np.stack(columns, axis=1)


def of_table(values: NDArray[np.floating[Any]], plan: Plan) -> NDArray[np.floating[Any]]:
    """Rows x columns of the table out of those of the plan: each from its finest bins, NaN where it has none."""
    if plan.views is None:
        return values
    out = np.full((len(values), plan.n_table_columns), np.nan, values.dtype)
    for j in sorted(range(len(plan.columns)), key=lambda j: plan.columns[j].n_regular):
        out[:, plan.source[j]] = values[:, j]
    return out


def _decoder(plan: Plan) -> tuple[Any, Any, Any]:
    """Levels x columns: each level's value, that it is a level, that it is the missing one."""
    column = np.repeat(np.arange(len(plan.columns)), np.diff(plan.level_start))
    value = np.concatenate([level_values(levels)[: levels.count] for levels in plan.columns])
    shape, at = (plan.n_levels, len(plan.columns)), (np.arange(plan.n_levels), column)
    parts = np.nan_to_num(value), np.ones(plan.n_levels), np.isnan(value).astype(float)
    places, present, missing = (scipy.sparse.csr_array((part, at), shape) for part in parts)
    return places, present, missing


def _dense(product: Any) -> NDArray[np.float64]:
    dense = product.toarray() if scipy.sparse.issparse(product) else product
    return np.array(dense, dtype=np.float64)
