"""Random grids and tables that reach every branch of the kernels."""

import numpy as np

from softbin import Boundaries, Grid
from softbin.values.tables import Table

FEW_AND_MANY = [0, 1, 2, 3, 4, 11, 32, 33, 34, 35, 70, 300]  # edges; counting turns into searching after 34


def random_edges(rng: np.random.Generator, n_edges: int) -> np.ndarray:
    kind = rng.choice(["normal", "integers", "tiny", "huge", "neighbours", "float32"])
    if kind == "integers":
        edges = np.arange(n_edges) - float(n_edges // 2)
    elif kind == "neighbours":
        edges = [float(rng.normal())]
        while len(edges) < n_edges:
            edges.append(float(np.nextafter(edges[-1], np.inf)))
        edges = np.array(edges[:n_edges])
    else:
        scale = {"tiny": 1e-40, "huge": 1e37}.get(kind, 1.0)
        edges = rng.normal(size=n_edges) * scale
        if kind == "float32":
            edges = edges.astype(np.float32).astype(np.float64)
    return np.unique(edges)


def random_boundaries(rng: np.random.Generator, soft: bool) -> Boundaries:
    edges = random_edges(rng, int(rng.choice(FEW_AND_MANY)))
    period = (edges[0], edges[-1]) if soft and len(edges) > 1 and rng.random() < 0.3 else None
    outside = rng.choice(["clip", "linear", "error"] if soft else ["clip", "error"])
    special = [(), (-999.0,), (0.1, -999.0, 0.0)][rng.integers(3)]
    missing = rng.choice(["level", "zero", "error"], p=[0.5, 0.3, 0.2])
    return Boundaries(tuple(edges), str(missing), special, str(outside), period)


def random_values(rng: np.random.Generator, boundaries: Boundaries, n_rows: int, dtype, odd: bool) -> np.ndarray:
    """Values inside, on, beside and beyond the edges; if odd, NaN, infinities and codes among them."""
    edges = np.array(boundaries.edges or [0.0])
    low, high = edges[0], edges[-1]
    width = max(high - low, abs(low) * 0.1, 1e-300)
    with np.errstate(over="ignore"):
        on = rng.choice(edges, n_rows).astype(dtype)
        spread = (low + width * rng.uniform(-0.2, 1.2, n_rows)).astype(dtype)
    beside = np.nextafter(on, rng.choice([-1, 1], n_rows).astype(dtype) * dtype(np.inf))
    zeros = rng.choice([-0.0, 0.0], n_rows).astype(dtype)
    values = np.choose(rng.integers(0, 8, n_rows), [on, beside, zeros, spread, spread, spread, spread, spread])
    values = np.clip(values, -np.finfo(dtype).max, np.finfo(dtype).max)
    if odd:
        others = rng.choice([np.nan, np.inf, -np.inf, -999.0, 0.1], n_rows).astype(dtype)
        values = np.where(rng.random(n_rows) < 0.2, others, values)
    return values.astype(dtype)


def random_table(seed: int, soft: bool, dtype) -> tuple[Table, Grid]:
    rng = np.random.default_rng(seed)
    grid = Grid(tuple(random_boundaries(rng, soft) for _ in range(rng.integers(1, 8))))
    n_rows = int(rng.choice([1, 2, 15, 255, 256, 257, 700]))
    columns = [random_values(rng, b, n_rows, dtype, bool(rng.random() < 0.7)) for b in grid]
    order = rng.choice(["C", "F"])
    array = np.array(np.stack(columns, axis=1), order=order)
    return Table(tuple(array.T), None, n_rows, array.dtype), grid
