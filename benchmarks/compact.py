"""Soft bins as (bin, fraction): SoftBins.encode_compact against the sparse SplineTransformer, the nearest there is."""

from benchmarks import hat
from benchmarks.agreement import same_matrix
from benchmarks.measure import Timed, Work
from benchmarks.peers import scikit_learn
from benchmarks.tables import N_BINS, Matrix
from softbin import SoftBins


def check(table: Matrix) -> None:
    """Written out as CSR again, it must be what the peer gives on the same knots."""
    soft = SoftBins(N_BINS).fit(table)
    peer = scikit_learn.soft_bins_on(list(soft.bin_edges_)).fit(table)
    written_out = soft.compact_to_csr(*soft.encode_compact(table))
    same_matrix("soft bins, compact", written_out, peer.transform(table), tolerance=1e-6)


def ours(table: Matrix, n_jobs: int | None) -> Timed:
    soft = SoftBins(N_BINS, n_jobs=n_jobs).fit(table)
    return lambda: soft.encode_compact(table)


def n_bytes(table: Matrix) -> int:
    return table.nbytes + SoftBins(N_BINS).fit(table[:1000]).estimate_memory(len(table))["compact"]


WORK = Work(
    name="SoftBins, compact",
    peer_name=hat.WORK.peer_name,
    target=60,
    check=check,
    checked_rows=100_000,
    ours=ours,
    peer=hat.peer,
    peer_share=1 / 8,
    n_bytes=n_bytes,
)
