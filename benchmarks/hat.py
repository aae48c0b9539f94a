"""Soft bins as CSR: SoftBins.transform against SplineTransformer(degree=1, sparse_output=True).transform."""

from benchmarks.agreement import same_matrix
from benchmarks.measure import Timed, Work
from benchmarks.peers import scikit_learn
from benchmarks.tables import N_BINS, Matrix
from softbin import SoftBins


def check(table: Matrix) -> None:
    """On our knots, both must give the same weights, up to float32 rounding."""
    soft = SoftBins(N_BINS).fit(table)
    peer = scikit_learn.soft_bins_on(list(soft.bin_edges_)).fit(table)
    same_matrix("soft bins, CSR", soft.transform(table), peer.transform(table), tolerance=1e-6)


def ours(table: Matrix, n_jobs: int | None) -> Timed:
    soft = SoftBins(N_BINS, n_jobs=n_jobs).fit(table)
    return lambda: soft.transform(table)


def peer(table: Matrix) -> Timed:
    spline = scikit_learn.soft_bins(N_BINS).fit(table)
    return lambda: spline.transform(table)


def n_bytes(table: Matrix) -> int:
    return table.nbytes + SoftBins(N_BINS).fit(table[:1000]).estimate_memory(len(table))["sparse"]


WORK = Work(
    name="SoftBins, CSR",
    peer_name="SplineTransformer(degree=1, sparse_output=True)",
    target=25,
    check=check,
    checked_rows=100_000,
    ours=ours,
    peer=peer,
    peer_share=1 / 8,
    n_bytes=n_bytes,
)
