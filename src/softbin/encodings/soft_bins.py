"""SoftBins: a value is shared between the two knots around it, so a linear model becomes a curve."""

from typing import Any, ClassVar

from softbin.encodings.encoder import BinEncoder


class SoftBins(BinEncoder):
    """Soft bins (the paper's local linear encoding, degree-1 splines) as a scikit-learn transformer.

    ``n_bins`` bins have ``n_bins + 1`` edges, here called knots, one output column each. A value between two knots has
    the weights that interpolate between them; the weights of a row sum to one in every column. A linear model on top
    is one continuous piecewise-linear curve per column.

    Parameters
    ----------
    n_bins : int, "auto", list or dict, default=10
        Bins per column: one number, a list with one per column, or ``{column: number}`` (others get 10). Columns are
        named by name or position here and everywhere. With no more distinct values than knots, each value has a knot.
        "auto" finds the number: from ``y`` where ``fit`` gets one, the least measured risk of 1 to 100 bins; else
        n^(1/5) for n rows. The note in ``fit_report_`` says why. It goes with "quantile", "uniform", "kmeans" and
        "risk".
    strategy : str or a rule object, default="quantile"
        Where the knots are. From the column alone: "quantile" (equal weight), "uniform" (equal width), "kmeans" (around
        its centres); and with a number of bins of their own, up to ``n_bins``: "freedman_diaconis", "scott",
        "proportional". From the target (``fit`` needs ``y``): "tree", "optimal", "optimal_linear", "risk", "convex",
        "description_length", and of classes "mdlp", "chimerge", "chi2", "caim", "cacc", "ameva". A value heavier than
        an equal share has a knot of its own in "quantile", and the rest is split equally. An object needs
        ``boundaries(histogram, knots=...)``.
    edges : list or dict, default=None
        Exact knots for some columns: ``{"age": [0, 18, 65]}``, or a list with one list (or None) per column.
    output : {"sparse", "dense"}, default="sparse"
        CSR (two stored entries per value, some may be zeros) or a matrix.
    missing : {"auto", "level", "zero", "error"}, default="auto"
        What NaN becomes: a level of its own if the training column had any, else an error ("auto"); always a level;
        an all-zero row; always an error.
    special : list or dict, default=None
        Codes with a level of their own, such as ``[-999]``, for all columns or ``{column: codes}``.
    outside : {"clip", "linear", "error"}, default="clip"
        Values beyond the first and last knot: as if on it, along the slope of the end bin, or an error.
    period : dict or list, default=None
        ``{"hour": (0, 24)}``: the column wraps; its first and last knot are one level, so 23:59 is next to 00:00.
    dtype : float32 or float64, default=None
        Of the output; None keeps that of the data (float64 for integers).
    n_jobs : int, default=None
        Threads: None and -1 are all cores.

    Attributes
    ----------
    grid_ : Grid
        The boundaries of every column: read, edit, save, and make encoders from them.
    bin_edges_, n_bins_, n_parameters_
        Knots per column, bins per column, number of output columns.
    fit_report_ : FitReport
        Per column: bins asked and got, distinct values, what was merged and why.

    Examples
    --------
    >>> import numpy as np
    >>> from softbin import SoftBins
    >>> ages = np.array([[0.0], [10.0], [20.0], [40.0]])
    >>> soft = SoftBins(edges=[[0, 20, 40]], output="dense").fit(ages)
    >>> soft.get_feature_names_out(["age"]).tolist()
    ['age@0', 'age@20', 'age@40']
    >>> soft.transform([[5.0], [30.0], [99.0]])
    array([[0.75, 0.25, 0.  ],
           [0.  , 0.5 , 0.5 ],
           [0.  , 0.  , 1.  ]])
    """

    _soft: ClassVar[bool] = True
    _outputs: ClassVar[tuple[str, ...]] = ("sparse", "dense")
    _outsides: ClassVar[tuple[str, ...]] = ("clip", "linear", "error")

    def __init__(
        self,
        n_bins: Any = 10,
        strategy: Any = "quantile",
        *,
        edges: Any = None,
        output: str = "sparse",
        missing: str = "auto",
        special: Any = None,
        outside: str = "clip",
        period: Any = None,
        dtype: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_bins = n_bins
        self.strategy = strategy
        self.edges = edges
        self.output = output
        self.missing = missing
        self.special = special
        self.outside = outside
        self.period = period
        self.dtype = dtype
        self.n_jobs = n_jobs
