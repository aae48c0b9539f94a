"""DeepRegressor: a network on bins for numbers."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from softbin.deep.model import DeepModel
from softbin.errors import DataError
from softbin.values.rows import read_rows
from softbin.values.targets import read_labels, read_target

LARGEST = 1e30  # spreads beyond this, or below its inverse, are not for float32
MOST_SHIFT = 1e3  # nor are targets that lie further from zero than so many spreads: they would lose their digits


class DeepRegressor(RegressorMixin, DeepModel):  # type: ignore[misc]
    """A residual network on bin embeddings, least squares. Needs ``pip install "softbin[deep]"``.

    Parameters and attributes are those of DeepClassifier. The target is trained on in units of its spread; early
    stopping looks at the validation rows' R^2. Predictions are float32, or float64 for targets that float32 cannot tell
    apart.
    """

    def __init__(
        self,
        bins: Any = "soft:10",
        *,
        embedding_dim: int = 16,
        width: int = 512,
        depth: int = 3,
        dropout: float = 0.1,
        residual: bool = True,
        ensemble: int = 1,
        learning_rate: float = 2e-3,
        weight_decay: float = 3e-4,
        epochs: int = 30,
        batch_size: Any = "auto",
        device: str = "auto",
        validation_fraction: float = 0.1,
        patience: int | None = 8,
        init: str = "smooth",
        basis: str = "steps",
        smoothness: float = 0.0,
        random_state: Any = 0,
        progress: bool = False,
        checkpoint: Any = None,
        resume: bool = False,
        compile: bool = False,  # noqa: A002
    ) -> None:
        self.bins = bins
        self.embedding_dim = embedding_dim
        self.width = width
        self.depth = depth
        self.dropout = dropout
        self.residual = residual
        self.ensemble = ensemble
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.batch_size = batch_size
        self.device = device
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.init = init
        self.basis = basis
        self.smoothness = smoothness
        self.random_state = random_state
        self.progress = progress
        self.checkpoint = checkpoint
        self.resume = resume
        self.compile = compile

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Finds boundaries (unless ``bins`` is fitted) and trains. Rows of weight 0 count as absent."""
        if y is None:
            raise DataError("y: requires y to be passed, but the target y is None; pass one number per row")
        table, labels, weight = read_rows(X, read_labels(y), sample_weight)
        target = read_target(labels, table.n_rows, "number")
        assert target.number is not None
        shift, scale = _place(target.number, weight)
        self._fit_rows(table, target, (target.number - shift) / scale, weight, "number", 1)
        self._shift, self._scale = shift, scale
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The expected target of every row."""
        scores = self._predict_rows(X).astype(np.float64)
        found = self._shift + self._scale * scores
        narrow = 1 / LARGEST < self._scale < LARGEST and abs(self._shift) < MOST_SHIFT * self._scale
        return found.astype(np.float32) if narrow else found

    def _own_facts(self) -> dict[str, Any]:
        return {"shift": self._shift, "scale": self._scale}

    def _set_own_facts(self, facts: dict[str, Any]) -> None:
        self._shift, self._scale = facts["shift"], facts["scale"]


def _place(number: NDArray[np.float64], weight: NDArray[Any] | None) -> tuple[float, float]:
    """Mean and spread, without overflow; a spread of one where there is none."""
    largest = float(np.max(np.abs(number))) or 1.0
    mean = float(np.average(number / largest, weights=weight))
    spread = float(np.sqrt(np.average((number / largest - mean) ** 2, weights=weight)))
    # Why not spread > 0: what rounding leaves of a constant is no spread.
    return mean * largest, (spread if spread > 1e-12 else 1.0) * largest
