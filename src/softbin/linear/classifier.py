"""LinearClassifier: logistic and multinomial regression on bins, straight from the raw columns."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from softbin.errors import DataError, DataTypeError, OptionError, SavedFileError
from softbin.linear.families import FAMILIES
from softbin.linear.fit import LinearFit
from softbin.linear.model import LinearModel
from softbin.values.rows import read_rows
from softbin.values.targets import read_labels


class LinearClassifier(ClassifierMixin, LinearModel):  # type: ignore[misc]
    """Logistic regression on hard or soft bins, to the exact optimum, without ever building the encoded matrix.

    The model is one step function (hard bins) or one piecewise-linear curve (soft bins) per column; their sum is the
    log-odds. The objective is scikit-learn's, so the result equals ``LogisticRegression(C=1 / ridge)`` on the
    encoder's output.

    Parameters
    ----------
    bins : encoder or str, default="soft:10"
        ``SoftBins(...)``, ``HardBins(...)`` or a short name: ``"soft:10"``, ``"hard:100"``. An unfitted encoder is
        fitted inside on the same rows; a fitted one is used as it is (``sklearn.frozen.FrozenEstimator`` keeps it
        fitted through ``clone`` and grid searches).
    ridge : float, default=1.0
        Strength of the penalty ridge / 2 * sum of squared coefficients. The intercept is free.
    smoothness : None, float, dict or "auto", default=None
        Strength of a penalty on how much each column's curve bends (hard bins: on its steps); straight lines
        (constants) are free. A number for all columns, ``{column: number}`` (others get 0), or "auto": one for each
        column, by restricted likelihood (REML), in which a row of weight 2 counts as two. Many bins and "auto" make
        the choice of their number unnecessary. At most 4,000 levels for "auto".
    monotonic : None or dict, default=None
        ``{column: shape}`` with "increasing", "decreasing", "convex" or "concave": the column's curve has that shape
        exactly. Not for several classes, nor for more than 4,000 levels.
    fit_intercept : bool, default=True
    class_weight : None, "balanced" or dict, default=None
    tol : float, default=1e-6
        Largest gradient entry per unit of weight at which the fit stops.
    max_iter : int, default=100
    warm_start : bool, default=False
        Start from the last fit, if it had as many coefficients.
    n_jobs : int, default=None
        Threads: None and -1 are all cores. The result does not depend on it.
    random_state : int or None, default=0
        Of the sample that the fit starts on; it changes the way to the optimum, not the optimum.
    verbose : int, default=0
        1 shows a progress line.

    Attributes
    ----------
    classes_, coef_, intercept_, grid_, n_parameters_
    encoder_ : the fitted encoder
    n_iter_, converged_, history_
        ``history_`` has objective, gradient and seconds of every pass.
    smoothness_, edf_
        For every column of ``grid_``: the strength, and the effective degrees of freedom it left (about 1 is a
        straight line). None without smoothness; no ``edf_`` above 4,000 levels.

    Examples
    --------
    >>> import numpy as np
    >>> from softbin import LinearClassifier
    >>> x = np.linspace(-3, 3, 600)[:, None]
    >>> y = np.where(abs(x[:, 0]) < 1, "in", "out")
    >>> model = LinearClassifier("soft:12").fit(x, y)
    >>> model.predict([[0.0], [2.5]]).tolist()
    ['in', 'out']
    """

    def __init__(
        self,
        bins: Any = "soft:10",
        *,
        ridge: float = 1.0,
        smoothness: Any = None,
        monotonic: Any = None,
        fit_intercept: bool = True,
        class_weight: Any = None,
        tol: float = 1e-6,
        max_iter: int = 100,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.bins = bins
        self.ridge = ridge
        self.smoothness = smoothness
        self.monotonic = monotonic
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Finds boundaries (unless ``bins`` is fitted) and the best curves. Rows of weight 0 count as absent."""
        if y is None:
            raise DataError("y: requires y to be passed, but the target y is None; pass one class per row")
        y = read_labels(y)
        if y.dtype.kind == "f" and not np.all(np.isfinite(y)):
            raise DataError(f"y: {np.sum(~np.isfinite(y))} values are NaN or infinity; drop these rows")
        if y.dtype.kind == "O":
            _classes(y)  # Why here: scikit-learn would call classes of two kinds continuous
        if y.dtype.kind not in "bui":  # whole numbers are classes, and looking again takes time
            check_classification_targets(y)
        table, y, weight = read_rows(X, y, sample_weight)
        classes = _classes(y)
        if len(classes) < 2:
            raise DataError(f"y: there is only one class, {classes.tolist()[0]!r}; a classifier needs two or more")
        boundary_weight = weight
        if self.class_weight is not None:
            class_weight = self._class_weights(classes, y, weight)
            if not np.all(class_weight > 0):
                raise OptionError("class_weight: a class has no weight; drop its rows instead")
            if not np.all(np.isfinite(class_weight)):
                raise OptionError(f"class_weight: {class_weight.tolist()} are not all finite; pass finite weights")
            weight = class_weight[np.searchsorted(classes, y)] * (1.0 if weight is None else weight)
        target = np.zeros(len(y), table.dtype)
        for number, label in enumerate(classes[1:], start=1):
            target[y == label] = number
        family = FAMILIES["bernoulli" if len(classes) == 2 else "multinomial"]
        n_outputs = 1 if len(classes) == 2 else len(classes)
        encoder, fit = self._fit_table(table, target, weight, boundary_weight, family, n_outputs)
        self._set_fitted(encoder, family, fit)
        self._set_classes(classes, fit)
        return self

    def decision_function(self, X: Any) -> NDArray[Any]:
        """The log-odds of the second class, or one score per class."""
        check_is_fitted(self)
        scores = self._scores(self._read(X))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Rows x classes."""
        check_is_fitted(self)
        scores = self._scores(self._read(X))
        if scores.shape[1] > 1:
            share = np.exp(scores - scores.max(axis=1, keepdims=True))
            share /= share.sum(axis=1, keepdims=True)
            return share
        share = np.empty((len(scores), 2), scores.dtype)
        with np.errstate(over="ignore"):
            np.divide(1, 1 + np.exp(scores[:, 0]), out=share[:, 0])
            np.divide(1, 1 + np.exp(-scores[:, 0]), out=share[:, 1])
        return share

    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Logarithms of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of every row."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)]

    def _set_classes(self, classes: NDArray[Any], fit: LinearFit) -> None:
        self.classes_ = classes
        self.coef_ = fit.coef
        self.intercept_ = fit.intercept

    def _own_facts(self) -> dict[str, Any]:
        classes = self.classes_
        if classes.dtype.kind not in "biufU" and not all(isinstance(label, str) for label in classes.tolist()):
            raise SavedFileError(
                f"classes: {classes[:3].tolist()} are neither text nor numbers; save knows no other classes"
            )
        dtype = "object" if classes.dtype.kind == "O" else classes.dtype.str
        return {"classes": classes.tolist(), "classes_dtype": dtype}

    def _set_own_facts(self, facts: dict[str, Any], fit: LinearFit) -> None:
        classes = np.array(facts["classes"], np.dtype(facts["classes_dtype"]))
        if len(classes) < 2 or len(fit.parameters) != (1 if len(classes) == 2 else len(classes)):
            raise ValueError(f"{len(classes)} classes for {len(fit.parameters)} scores")
        self._set_classes(classes, fit)

    def _class_weights(self, classes: Any, y: Any, weight: Any) -> NDArray[np.float64]:
        try:
            found = compute_class_weight(self.class_weight, classes=classes, y=y, sample_weight=weight)
        except (ValueError, TypeError) as error:
            raise OptionError(f"class_weight: {error}") from None
        return np.asarray(found, np.float64)


def _classes(y: NDArray[Any]) -> NDArray[Any]:
    try:
        return np.unique(y)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in y})
        raise DataTypeError(
            f"y: the classes are of several kinds ({', '.join(kinds)}), which have no order; make them one kind and "
            "drop rows without a class"
        ) from error
