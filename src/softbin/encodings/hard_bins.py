"""HardBins: one column per bin, a one in the bin a value falls into."""

from typing import Any, ClassVar

from softbin.encodings.encoder import BinEncoder


class HardBins(BinEncoder):
    """Hard bins (the paper's common discretization) as a scikit-learn transformer.

    Bins are closed on the left, the last one on both sides. Values beyond the training range fall into the end bins.

    Parameters
    ----------
    n_bins : int, "auto", list or dict, default=10
        Bins per column: one number, a list with one per column, or ``{column: number}`` (others get 10). Columns are
        named by name or position here and everywhere. With fewer distinct values, each value has a bin of its own.
        "auto" finds the number: from ``y`` where ``fit`` gets one, the least measured risk of 1 to 1000 bins; else
        n^(1/3) / 2 for n rows. The note in ``fit_report_`` says why. It goes with "quantile", "uniform", "kmeans" and
        "risk".
    strategy : str or a rule object, default="quantile"
        Where the bins are cut. From the column alone: "quantile" (equal weight), "uniform" (equal width), "kmeans"
        (around its centres); and with a number of bins of their own, up to ``n_bins``: "freedman_diaconis", "scott",
        "proportional". From the target (``fit`` needs ``y``): "tree", "optimal", "optimal_linear", "risk", "convex",
        "description_length", and of classes "mdlp", "chimerge", "chi2", "caim", "cacc", "ameva". A value heavier than
        an equal share has a bin of its own in "quantile", and the rest is split equally. An object needs
        ``boundaries(histogram, knots=...)``.
    edges : list or dict, default=None
        Exact edges for some columns: ``{"age": [0, 18, 65]}``, or a list with one list (or None) per column.
    output : {"sparse", "dense", "ordinal"}, default="sparse"
        CSR, a matrix, or the bin number of every value in the smallest unsigned integers.
    missing : {"auto", "level", "zero", "error"}, default="auto"
        What NaN becomes: a level of its own if the training column had any, else an error ("auto"); always a level;
        an all-zero row; always an error. As ordinal code, missing follows the last bin.
    special : list or dict, default=None
        Codes with a level of their own, such as ``[-999]``, for all columns or ``{column: codes}``.
    outside : {"clip", "error"}, default="clip"
        Values beyond the first and last edge: into the end bins, or an error.
    dtype : float32 or float64, default=None
        Of the output; None keeps that of the data (float64 for integers).
    n_jobs : int, default=None
        Threads: None and -1 are all cores.

    Attributes
    ----------
    grid_ : Grid
        The boundaries of every column: read, edit, save, and make encoders from them.
    bin_edges_, n_bins_, n_parameters_
        Edges per column, bins per column, number of output columns.
    fit_report_ : FitReport
        Per column: bins asked and got, distinct values, what was merged and why.

    Examples
    --------
    >>> import numpy as np
    >>> from softbin import HardBins
    >>> ages = np.array([[3.0], [17.0], [25.0], [40.0], [70.0], [np.nan]])
    >>> bins = HardBins(edges=[[0, 18, 65, 120]], output="dense").fit(ages)
    >>> bins.get_feature_names_out(["age"]).tolist()
    ['age[0,18)', 'age[18,65)', 'age[65,120]', 'age[missing]']
    >>> bins.transform([[18.0], [np.nan]])
    array([[0., 1., 0., 0.],
           [0., 0., 0., 1.]])
    """

    _soft: ClassVar[bool] = False
    _outputs: ClassVar[tuple[str, ...]] = ("sparse", "dense", "ordinal")
    _outsides: ClassVar[tuple[str, ...]] = ("clip", "error")

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
        self.dtype = dtype
        self.n_jobs = n_jobs
