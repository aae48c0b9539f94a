"""LinearRegressor: least squares, Poisson and gamma regression on bins, straight from the raw columns."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from softbin.encodings.options import one_of
from softbin.errors import DataError, DataTypeError
from softbin.linear.families import FAMILIES, REGRESSION, Family, average
from softbin.linear.fit import LinearFit
from softbin.linear.model import LinearModel
from softbin.linear.units import power_of_two
from softbin.values.rows import read_rows
from softbin.values.targets import read_labels


class LinearRegressor(RegressorMixin, LinearModel):  # type: ignore[misc]
    """Regression on hard or soft bins, to the exact optimum, without ever building the encoded matrix.

    The model is one step function (hard bins) or one piecewise-linear curve (soft bins) per column; their sum is the
    mean ("gaussian") or its logarithm ("poisson", "gamma"). The objective is the sum of weighted losses plus
    ridge / 2 * sum of squared coefficients: scikit-learn's ``Ridge(alpha=ridge)``, or ``PoissonRegressor`` and
    ``GammaRegressor`` with ``alpha = ridge / sum of weights``, on the encoder's output.

    Parameters
    ----------
    bins : encoder or str, default="soft:10"
        As in LinearClassifier.
    family : {"gaussian", "poisson", "gamma"}, default="gaussian"
    ridge, smoothness, monotonic, fit_intercept, tol, max_iter, warm_start, n_jobs, random_state, verbose
        As in LinearClassifier.

    Examples
    --------
    >>> import numpy as np
    >>> from softbin import LinearRegressor
    >>> x = np.linspace(0, 6, 600)[:, None]
    >>> model = LinearRegressor("soft:20", ridge=0.01).fit(x, np.sin(x[:, 0]))
    >>> float(model.score(x, np.sin(x[:, 0]))) > 0.999
    True
    """

    def __init__(
        self,
        bins: Any = "soft:10",
        *,
        family: str = "gaussian",
        ridge: float = 1.0,
        smoothness: Any = None,
        monotonic: Any = None,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 100,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.bins = bins
        self.family = family
        self.ridge = ridge
        self.smoothness = smoothness
        self.monotonic = monotonic
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Finds boundaries (unless ``bins`` is fitted) and the best curves. Rows of weight 0 count as absent."""
        family = FAMILIES[one_of("family", self.family, REGRESSION)]
        table, target, weight = read_rows(X, read_target(y), sample_weight)
        family.check(target)
        encoder, fit = self._fit_table(table, target, weight, weight, family, 1)
        self._set_fitted(encoder, family, fit)
        self._set_own_facts({}, fit)
        return self

    def _own_facts(self) -> dict[str, Any]:
        return {}

    def _set_own_facts(self, facts: dict[str, Any], fit: LinearFit) -> None:
        self.coef_ = fit.coef[0]
        self.intercept_ = float(fit.intercept[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.family != "gaussian"
        return tags

    def predict(self, X: Any) -> NDArray[Any]:
        """The expected target of every row."""
        check_is_fitted(self)
        return self._family.mean(self._scores(self._read(X)))[:, 0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of deviance explained: R^2 for "gaussian", D^2 for the others."""
        check_is_fitted(self)
        family = self._family
        table, target, weight = read_rows(X, read_target(y), sample_weight)
        family.check(target)
        scores = self._scores(self._read(table)).astype(np.float64)
        if family.name == "gaussian":  # Why: squares of large targets are no numbers, their ratio is
            scale = power_of_two(float(np.max(np.abs(target))))
            target, scores = target / scale, scores / scale
        null = np.broadcast_to(family.start(target, weight), (len(target), 1))
        best = _perfect_loss(family, target)
        loss, worst = (float(average(family.loss(s, target) - best, weight)) for s in (scores, null))
        return 1 - loss / worst if worst > 0 else (1.0 if loss <= 0 else 0.0)


def _perfect_loss(family: Family, y: NDArray[np.float64]) -> Any:
    """The loss of predicting every target exactly."""
    if family.name == "gaussian":
        return 0.0
    if family.name == "gamma":
        return np.log(y) + 1
    return np.where(y > 0, y - y * np.log(np.where(y > 0, y, 1)), 0)


def read_target(y: Any) -> NDArray[np.float64]:
    """A target of finite numbers, or an error."""
    if y is None:
        raise DataError("y: requires y to be passed, but the target y is None; pass one number per row")
    y = read_labels(y)
    if np.iscomplexobj(y):
        raise DataTypeError("y: Complex data not supported; pass real numbers")
    try:
        if y.dtype.kind not in "biufO":
            raise TypeError(f"they are {y.dtype}")
        target = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataTypeError(f"y: not numbers ({error}); pass one number per row") from None
    bad = int(np.sum(~np.isfinite(target)))
    if bad:
        raise DataError(f"y: {bad} values are NaN or infinity (inf); drop these rows")
    return target
