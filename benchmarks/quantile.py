"""Exact quantile edges of every column: HardBins.fit against KBinsDiscretizer.fit, no rows sampled."""

from benchmarks.agreement import same_cuts
from benchmarks.measure import Timed, Work
from benchmarks.peers import scikit_learn
from benchmarks.tables import N_BINS, Matrix
from softbin import HardBins


def check(table: Matrix) -> None:
    ours = HardBins(N_BINS).fit(table).bin_edges_
    peer = scikit_learn.hard_bins(N_BINS).fit(table).bin_edges_
    for column, pair in enumerate(zip(ours, peer, strict=True)):
        same_cuts(f"edges of column {column}", table[:, column], *pair)


def ours(table: Matrix, n_jobs: int | None) -> Timed:
    return lambda: HardBins(N_BINS, n_jobs=n_jobs).fit(table)


def peer(table: Matrix) -> Timed:
    return lambda: scikit_learn.hard_bins(N_BINS).fit(table)


WORK = Work(
    name="exact quantile fit",
    peer_name="KBinsDiscretizer(subsample=None).fit",
    target=8,
    check=check,
    checked_rows=10_000_000,
    ours=ours,
    peer=peer,
    peer_share=1,
    n_bytes=lambda table: table.nbytes,
)
