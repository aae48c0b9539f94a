"""A small table with everything a linear model meets, targets of every family, and the objective by definition."""

import numpy as np

from softbin import HardBins, LinearClassifier, LinearRegressor, SoftBins
from softbin.linear import penalties
from softbin.linear.families import FAMILIES
from softbin.linear.objective import Objective, prepare_rows
from softbin.linear.pieces import Pieces
from softbin.values.tables import read_table

KINDS = {"soft": SoftBins, "hard": HardBins}


def mixed_table(n_rows: int = 600, dtype=np.float64, seed: int = 0) -> np.ndarray:
    """Columns: normal, skewed with missing values, whole numbers with a special code, zero-one, an hour of the day."""
    rng = np.random.default_rng(seed)
    skewed = rng.exponential(size=n_rows)
    whole = rng.integers(0, 9, n_rows).astype(float)
    skewed[rng.random(n_rows) < 0.15] = np.nan
    whole[rng.random(n_rows) < 0.1] = -999
    X = np.stack([rng.normal(size=n_rows), skewed, whole, rng.random(n_rows) < 0.3, rng.uniform(0, 24, n_rows)], axis=1)
    return X.astype(dtype)


def encoder(kind: str, **options):
    """Specials in column 2; a period for column 4, where the kind knows one."""
    circle = {"period": {4: (0, 24)}} if kind == "soft" else {}
    return KINDS[kind](6, **{"special": {2: [-999]}, **circle, **options})


def signal(X: np.ndarray) -> np.ndarray:
    """A score that bends in every column."""
    X = X.astype(float)
    score = np.sin(2 * X[:, 0]) + np.where(np.isnan(X[:, 1]), 0.8, np.minimum(np.nan_to_num(X[:, 1]), 2) - 1)
    return score + np.where(X[:, 2] == -999, -1, 0.1 * X[:, 2]) + 0.5 * X[:, 3] + np.cos(X[:, 4] / 24 * 2 * np.pi) - 0.8


def target(X: np.ndarray, family: str, seed: int = 1) -> np.ndarray:
    rng, score = np.random.default_rng(seed), signal(X)
    if family == "gaussian":
        return score + 0.3 * rng.normal(size=len(X))
    if family == "bernoulli":
        return (rng.random(len(X)) < 1 / (1 + np.exp(-score))).astype(float)
    if family == "poisson":
        return rng.poisson(np.exp(0.5 * score)).astype(float)
    if family == "gamma":
        return rng.gamma(2.0, np.exp(0.5 * score)) + 1e-3
    return np.digitize(score + 0.5 * rng.normal(size=len(X)), [-0.5, 0.5]).astype(float)


def weights(n_rows: int, seed: int = 2) -> np.ndarray:
    return np.random.default_rng(seed).choice([0.25, 1.0, 3.0], n_rows)


def model_of(family: str, bins, **options):
    if family in ("bernoulli", "multinomial"):
        return LinearClassifier(bins, **options)
    return LinearRegressor(bins, family=family, **options)


def objective_of(X, y, family: str, bins, weight=None, ridge: float = 1.0, n_threads: int = 1) -> Objective:
    """The objective that a fit on these rows minimises; ``bins`` is fitted here."""
    table = read_table(X)
    plan = bins.fit(X, sample_weight=weight).plan_
    n_outputs = int(y.max()) + 1 if family == "multinomial" else 1
    rows = prepare_rows(table, plan, y, weight)
    return Objective(rows, Pieces(plan), FAMILIES[family], penalties.ridge(ridge, plan.n_levels), n_outputs, n_threads)


def penalised_loss(model, X, y, family: str, weight=None) -> float:
    """Sum of weighted losses plus ridge / 2 * squared coefficients, in double precision on the encoded matrix."""
    encoded = model.encoder_.transform(np.asarray(X, np.float64))
    return penalised(encoded, model.coef_, model.intercept_, y, family, model.ridge, weight)


def penalised(encoded, coef, intercept, y, family: str, ridge: float, weight=None) -> float:
    coef = np.atleast_2d(np.asarray(coef, np.float64))
    score = encoded @ coef.T + np.atleast_1d(intercept)
    units = 1.0 if weight is None else weight
    return float(np.sum(FAMILIES[family].loss(score, y) * units) + 0.5 * ridge * np.sum(coef**2))
