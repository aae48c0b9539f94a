"""Training rows where the steps can reach them: all on the device, or streamed to it in large chunks.

Both give the same batches in the same order. Every batch has the same number of rows (a step of fixed shapes can be
captured in a CUDA graph): what is missing in the last one is filled with a row of weight zero, the one after the last.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from softbin.values.tables import BLOCK_ROWS, Table

CHUNK_ROWS = 2**20
DEVICE_SHARE = 0.5  # of the free memory of a GPU that rows may take; the network needs the rest


@dataclass(frozen=True)
class Rows:
    """Raw values (rows, columns), target (rows,) and weight (rows,), the mean weight being one."""

    values: Tensor
    target: Tensor
    weight: Tensor

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def n_bytes(self) -> int:
        return sum(part.numel() * part.element_size() for part in (self.values, self.target, self.weight))

    def take(self, rows: Tensor) -> "Rows":
        return Rows(self.values[rows], self.target[rows], self.weight[rows])

    def to(self, device: torch.device) -> "Rows":
        return Rows(self.values.to(device), self.target.to(device), self.weight.to(device))

    def in_dtype(self, dtype: torch.dtype) -> "Rows":
        """The same with target and weight in ``dtype``; values stay as precise as they came."""
        return Rows(self.values, self.target.to(dtype), self.weight.to(dtype))


def rows_of(table: Table, target: Any, weight: Any, chosen: Any = None) -> Rows:
    """The rows of a table, or those ``chosen``, on the CPU; target and weight in float64."""
    chosen = np.arange(table.n_rows) if chosen is None else chosen
    target, weight = (None if part is None else part[chosen] for part in (target, weight))
    values = np.empty((len(chosen), len(table.columns)), table.dtype)
    # Why block by block: a run of rows stays in a core's own cache while every column writes its part of them.
    for start in range(0, len(chosen), BLOCK_ROWS):
        block = chosen[start : start + BLOCK_ROWS]
        for j, column in enumerate(table.columns):
            values[start : start + len(block), j] = column[block]
    weight = np.ones(len(target)) if weight is None else weight / np.mean(weight)
    return Rows(
        torch.from_numpy(values),
        torch.as_tensor(target, dtype=torch.float64),
        torch.as_tensor(weight, dtype=torch.float64),
    )


def with_filler(rows: Rows) -> Rows:
    """The same rows and one more, of weight zero."""
    last = torch.cat([rows.weight, rows.weight.new_zeros(1)])
    return Rows(torch.cat([rows.values, rows.values[:1]]), torch.cat([rows.target, rows.target[:1]]), last)


class Source(Protocol):
    """Where batches come from: ``held`` stays in place, an epoch yields positions in it."""

    held: Rows
    name: str

    def epoch(self, seed: int) -> Iterator[Tensor]: ...


class Resident:
    """All rows on the device, shuffled there."""

    name = "resident"

    def __init__(self, rows: Rows, batch_size: int, device: torch.device) -> None:
        self.n_rows, self.batch_size = len(rows), batch_size
        self.held = with_filler(rows).to(device)

    def epoch(self, seed: int) -> Iterator[Tensor]:
        yield from torch.split(shuffled(self.n_rows, self.batch_size, seed, self.held.weight.device), self.batch_size)


class Streamed:
    """Rows on the host, brought to the device chunk by chunk; the next chunk is gathered while one is trained on."""

    name = "streamed"

    def __init__(self, rows: Rows, batch_size: int, device: torch.device, chunk_rows: int = CHUNK_ROWS) -> None:
        self.n_rows, self.batch_size = len(rows), batch_size
        self.rows = with_filler(rows)
        self.chunk = min(max(1, chunk_rows // batch_size), -(-len(rows) // batch_size)) * batch_size
        self.pin = device.type == "cuda"
        self.held = self.rows.take(torch.zeros(self.chunk, dtype=torch.int64)).to(device)

    def epoch(self, seed: int) -> Iterator[Tensor]:
        chunks = torch.split(shuffled(self.n_rows, self.batch_size, seed, torch.device("cpu")), self.chunk)
        with ThreadPoolExecutor(1) as pool:
            coming = pool.submit(self._gather, chunks[0])
            for i, chunk in enumerate(chunks):
                ready = coming.result()
                if i + 1 < len(chunks):
                    coming = pool.submit(self._gather, chunks[i + 1])
                for ours, theirs in zip(_parts(self.held), _parts(ready), strict=True):
                    ours[: len(chunk)].copy_(theirs, non_blocking=True)
                yield from torch.split(torch.arange(len(chunk), device=self.held.weight.device), self.batch_size)

    def _gather(self, chunk: Tensor) -> Rows:
        found = self.rows.take(chunk)
        return Rows(*(part.pin_memory() for part in _parts(found))) if self.pin else found


def source_of(rows: Rows, batch_size: int, device: torch.device) -> Source:
    """Rows on the device where they fit beside the network, else streamed."""
    fits = True
    if device.type == "cuda":
        fits = rows.n_bytes <= DEVICE_SHARE * torch.cuda.mem_get_info(device)[0]
    return Resident(rows, batch_size, device) if fits else Streamed(rows, batch_size, device)


def shuffled(n_rows: int, batch_size: int, seed: int, device: torch.device) -> Tensor:
    """All rows in random order, filled up to whole batches with the filler's position."""
    generator = torch.Generator(device).manual_seed(seed)
    order = torch.randperm(n_rows, generator=generator, device=device)
    missing = -n_rows % batch_size
    return torch.cat([order, order.new_full((missing,), n_rows)])


def _parts(rows: Rows) -> tuple[Tensor, Tensor, Tensor]:
    return rows.values, rows.target, rows.weight
