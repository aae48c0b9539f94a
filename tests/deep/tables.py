"""Small tables, grids and estimators for these tests."""

import numpy as np

from softbin import Boundaries, Grid

TINY = {"width": 16, "depth": 2, "embedding_dim": 3, "epochs": 4, "device": "cpu"}


def mixed_grid() -> Grid:
    """Knots with ties of neighbours, a constant, a column without bins, missing, special, a circle, end slopes."""
    return Grid(
        (
            Boundaries((-1.0, -0.5, 0.0, 2.0), missing="level"),
            Boundaries((3.0,), missing="zero"),
            Boundaries((), missing="level"),
            Boundaries((0.0, 1.0, 4.0, 9.0), special=(-999.0, 5.0), missing="error"),
            Boundaries((0.0, 6.0, 18.0, 24.0), period=(0, 24), missing="level"),
            Boundaries((0.0, 1.0), outside="linear", missing="level"),
        )
    )


def mixed_values(n_rows: int = 60, dtype=np.float64) -> np.ndarray:
    rng = np.random.default_rng(3)
    X = np.stack([rng.normal(size=n_rows), rng.normal(size=n_rows), np.full(n_rows, np.nan),
                  rng.choice([-999.0, 5.0, 0.3, 2.0, 20.0], n_rows), rng.uniform(-30, 50, n_rows),
                  rng.normal(size=n_rows)], axis=1)  # fmt: skip
    X[::5, 0] = X[::7, 1] = X[::4, 4] = X[::6, 5] = np.nan
    return X.astype(dtype)


def two_classes(n_rows: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A table with missing values, and words that depend on a bend and a slope."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)).astype(np.float32)
    y = np.where(np.abs(X[:, 0]) + 0.5 * X[:, 1] + 0.2 * rng.normal(size=n_rows) > 0.8, "out", "in")
    X[::9, 2] = np.nan
    return X, y
