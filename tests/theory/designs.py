"""Designs to hold formulas against: random ones, even ones; and the smoother of each fit as a dense matrix."""

import numpy as np

from softbin.theory import Design


def random_design(seed, rows_per_bin=8):
    """Uneven values far from zero, uneven bins, a rough curve; every bin has rows enough for a line."""
    random = np.random.default_rng(seed)
    n_bins = int(random.integers(1, 8))
    values = random.uniform(-2, 5) + random.gamma(2.0, size=n_bins * rows_per_bin + int(random.integers(0, 30)))
    inner = np.quantile(values, np.arange(1, n_bins) / n_bins)
    edges = np.concatenate([[values.min() - random.random()], inner, [values.max() + random.random()]])
    truth = random.normal() * np.sin(values * random.uniform(0.5, 4)) + random.normal() * values
    return Design.of(values, truth, random.uniform(0.05, 2.0), edges)


def even(n):
    return (np.arange(n) + 0.5) / n


def even_design(n, n_bins, curve=np.sin, noise_variance=1.0):
    return Design.of(even(n), curve(even(n)), noise_variance, np.linspace(0, 1, n_bins + 1))


def dense_smoother(design, fit):
    """S in p = S o, by dense linear algebra that shares nothing with the library."""
    v, n = design.values, len(design.values)
    bins = [np.flatnonzero((v >= low) & (v < high)) for low, high in zip(design.edges, design.edges[1:], strict=False)]
    bins[-1] = np.flatnonzero(v >= design.edges[-2])
    if fit == "soft":
        hats = np.stack([np.interp(v, design.edges, unit) for unit in np.eye(len(design.edges))], axis=1)
        return hats @ np.linalg.pinv(hats)
    smoother = np.zeros((n, n))
    for rows in bins:
        x, m = v[rows], len(rows)
        if fit == "paper_lines":
            slope = x / (x @ x)
            block = np.outer(x, slope) + np.ones((m, 1)) @ (np.ones(m) / m - x.mean() * slope)[None]
        else:
            columns = np.ones((m, 1)) if fit == "hard" else np.stack([np.ones(m), x - x.mean()], axis=1)
            block = columns @ np.linalg.pinv(columns)
        smoother[np.ix_(rows, rows)] = block
    return smoother


def counted(values, targets, n_bins):
    """Centres, rows, sums and squares of equal-frequency fine bins; values sorted."""
    parts = [np.array_split(x, n_bins) for x in (values, targets)]
    return (
        [part.mean() for part in parts[0]],
        [len(part) for part in parts[0]],
        [part.sum() for part in parts[1]],
        [(part**2).sum() for part in parts[1]],
    )
