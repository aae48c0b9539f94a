"""Hard bins as CSR: HardBins.transform against KBinsDiscretizer(encode="onehot").transform."""

from benchmarks.agreement import same_matrix
from benchmarks.measure import Timed, Work
from benchmarks.peers import scikit_learn
from benchmarks.tables import N_BINS, Matrix
from softbin import HardBins


def check(table: Matrix) -> None:
    """On the peer's edges, both must give the same ones."""
    peer = scikit_learn.hard_bins(N_BINS).fit(table)
    hard = HardBins(edges=[edges.tolist() for edges in peer.bin_edges_]).fit(table)
    same_matrix("hard bins, CSR", hard.transform(table), peer.transform(table), tolerance=0)


def ours(table: Matrix, n_jobs: int | None) -> Timed:
    hard = HardBins(N_BINS, n_jobs=n_jobs).fit(table)
    return lambda: hard.transform(table)


def peer(table: Matrix) -> Timed:
    bins = scikit_learn.hard_bins(N_BINS).fit(table)
    return lambda: bins.transform(table)


def n_bytes(table: Matrix) -> int:
    return table.nbytes + HardBins(N_BINS).fit(table[:1000]).estimate_memory(len(table))["sparse"]


WORK = Work(
    name="HardBins, CSR",
    peer_name='KBinsDiscretizer(encode="onehot")',
    target=20,
    check=check,
    checked_rows=100_000,
    ours=ours,
    peer=peer,
    peer_share=1 / 8,
    n_bytes=n_bytes,
)
