"""What the tests of LinearClassifier share: a table, its targets, and scikit-learn's optimum on the encoded matrix."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from tests.linear.tables import mixed_table, penalised, penalised_loss, target

from softbin import LinearClassifier

X = mixed_table(600)
Y = {"bernoulli": target(X, "bernoulli"), "multinomial": target(X, "multinomial")}
WORDS = np.array(["low", "middle", "top"])
each_kind = pytest.mark.parametrize("kind", ["soft", "hard"])
each_family = pytest.mark.parametrize("family", ["bernoulli", "multinomial"])


def fit(X, y, bins="soft:6", sample_weight=None, **options):
    return LinearClassifier(bins, **options).fit(X, y, sample_weight)


def best(encoded, y, ridge=1.0, sample_weight=None, fit_intercept=True):
    """scikit-learn's optimum."""
    model = LogisticRegression(
        C=1 / ridge, tol=1e-10, max_iter=60, solver="newton-cholesky", fit_intercept=fit_intercept
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its line search cannot improve the last digit
        return model.fit(encoded.toarray(), y, sample_weight)


def assert_same_optimum(model, X, y, family, sample_weight=None, objective=1e-8, coefficients=1e-4):
    encoded = model.encoder_.transform(np.asarray(X, np.float64))
    expected = best(encoded, y, model.ridge, sample_weight, model.fit_intercept)
    wanted = penalised(encoded, expected.coef_, expected.intercept_, y, family, model.ridge, sample_weight)
    assert model.converged_
    assert penalised_loss(model, X, y, family, sample_weight) <= wanted * (1 + objective)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=coefficients, atol=coefficients)
    # Why: without a class to compare with, scikit-learn's intercepts are free to move together.
    shift = expected.intercept_.mean() - model.intercept_.mean() if family == "multinomial" else 0
    np.testing.assert_allclose(model.intercept_ + shift, expected.intercept_, rtol=coefficients, atol=coefficients)
