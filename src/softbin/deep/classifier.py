"""DeepClassifier: a network on bins for classes."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from softbin.deep.model import DeepModel
from softbin.errors import DataError, SavedFileError
from softbin.values.rows import read_rows
from softbin.values.targets import read_labels, read_target


class DeepClassifier(ClassifierMixin, DeepModel):  # type: ignore[misc]
    """A residual network on bin embeddings (the paper's DNN). Needs ``pip install "softbin[deep]"``.

    Parameters
    ----------
    bins : encoder or str, default="soft:10"
        ``SoftBins(...)``, ``HardBins(...)``, ``MultiBins(...)`` or a short name, as in LinearClassifier. Unfitted ones
        are fitted inside, on all rows. Without bins: ``"plain"`` (normal scores of the columns), or a peer's embedding
        of these, ``"ple:48"``, ``"periodic"``, ``"pbld"``, ``"autodis"``.
    embedding_dim : int, default=16
        Numbers per level. ``"plain"`` has none.
    width, depth, dropout, residual
        Of the network: units of a layer (512), layers (3), 0.1, True.
    ensemble : int, default=1
        Members that share all matrices but for a rank-one part each (TabM); 32 are better than one and take longer.
    learning_rate, weight_decay : float, default=2e-3 and 3e-4
        Of AdamW, with warm-up and a cosine down to zero. Tables do not decay.
    epochs : int, default=30
    batch_size : int or "auto", default="auto"
        Rows per step; "auto" is about a 64th of them. Halved where the device has too little memory (``batch_size_``).
    device : str, default="auto"
        A CUDA GPU where there is one, else the CPU.
    validation_fraction : float, default=0.1
        Rows held out (decided by what a row holds) to stop early and to keep the best epoch; 0 keeps the last.
    patience : int or None, default=8
        Epochs without a better validation score after which it stops; None never stops.
    init : {"smooth", "random"}, default="smooth"
        How tables start: as a smooth function of the knot, or with unrelated rows.
    basis : {"steps", "rows"}, default="steps"
        What is trained of a table: the steps from each row to the next, or the rows themselves.
    smoothness : float, default=0.0
        Penalty on second differences of the tables.
    random_state : int, RandomState or None, default=0
        The same one gives the same model, on the CPU bit for bit (with as many threads).
    progress : bool, default=False
        Shows a line with loss, validation score and rows per second.
    checkpoint : path, default=None
        File that the state is written to after every epoch.
    resume : bool, default=False
        Go on from that file, if it is there: the result is that of a training never interrupted.
    compile : bool, default=False
        Run the network through ``torch.compile``.

    Attributes
    ----------
    classes_, grid_, encoder_, n_features_in_
    network_ : torch.nn.Module
        Raw values (batch, columns) to scores (batch, ensemble, outputs).
    n_parameters_ : (table_rows, embedding, network)
        Levels with a row of their own (the paper's count), trained numbers in the embedding, and in the network.
    history_ : list of EpochReport
        Per epoch: loss, validation loss and score, rows per second. ``best_epoch_`` is the one that was kept.
    implementation_ : dict
        What ran: device, precision, where the rows were, eager or CUDA graph, which lookup.
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
            raise DataError("y: requires y to be passed, but the target y is None; pass one class per row")
        labels = read_labels(y)
        if labels.dtype.kind == "f" and not np.all(np.isfinite(labels)):
            raise DataError(f"y: {np.sum(~np.isfinite(labels))} values are NaN or infinity; drop these rows")
        check_classification_targets(labels)
        table, labels, weight = read_rows(X, labels, sample_weight)
        target = read_target(labels, table.n_rows, "classes")
        assert target.classes is not None
        assert target.code is not None
        classes = target.classes
        if len(classes) < 2:
            raise DataError(f"y: there is only one class, {classes[0]!r}; a classifier needs two or more")
        two = len(classes) == 2
        self._fit_rows(table, target, target.code, weight, "binary" if two else "classes", 1 if two else len(classes))
        self.classes_ = classes
        return self

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Rows x classes."""
        share = self._predict_rows(X)
        return np.stack([1 - share, share], axis=1) if share.ndim == 1 else share

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of every row."""
        share = self._predict_rows(X)
        return self.classes_[(share > 0.5).astype(np.intp) if share.ndim == 1 else share.argmax(axis=1)]

    def _own_facts(self) -> dict[str, Any]:
        classes = self.classes_
        words = classes.dtype.kind in "OUS"
        if words and not all(isinstance(label, str) for label in classes.tolist()):
            raise SavedFileError(
                f"classes: {classes[:3].tolist()} are neither text nor numbers; save knows no other classes"
            )
        dtype = "object" if classes.dtype.kind == "O" else classes.dtype.str
        return {"classes": classes.tolist(), "classes_dtype": dtype}

    def _set_own_facts(self, facts: dict[str, Any]) -> None:
        self.classes_ = np.array(facts["classes"], np.dtype(facts["classes_dtype"]))
