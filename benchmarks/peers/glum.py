"""glum: L2-penalised logistic regression on the same hats as CSR, its own objective scaled to ours."""

from typing import Any

import scipy.sparse

NAME = "glum"


def logistic(ridge: float, n_rows: int) -> Any:
    """glum divides the loss by the rows, so its alpha is ridge / rows."""
    from glum import GeneralizedLinearRegressor

    return GeneralizedLinearRegressor(family="binomial", alpha=ridge / n_rows, l1_ratio=0, gradient_tol=1e-6)


def matrix(encoded: Any) -> Any:
    return scipy.sparse.csc_matrix(encoded)
