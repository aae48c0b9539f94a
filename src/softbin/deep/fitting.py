"""From options and rows to a trained network, and to predictions: the part of the estimators that needs torch."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from softbin.boundaries.grid import Grid
from softbin.deep.checkpoints import Checkpoint
from softbin.deep.embeddings import fixed_tables
from softbin.deep.inputs import make_embedding, make_ple_grid
from softbin.deep.locate import Locate
from softbin.deep.lookup import implementation
from softbin.deep.losses import LOSSES
from softbin.deep.network import Network, Perceptron
from softbin.deep.options import Input, Shape
from softbin.deep.progress import ProgressLine
from softbin.deep.rows import rows_of
from softbin.deep.scoring import scores_of
from softbin.deep.training import Trained, TrainingOptions, train_within_memory
from softbin.encodings.plan import Plan
from softbin.errors import DataError, OptionError
from softbin.values.tables import Table

PREDICTED_ROWS = {"cpu": 2**12, "cuda": 2**16}


@dataclass(frozen=True)
class Blueprint:
    """All that a network is made from, before training; saved beside the weights."""

    plan: Plan
    asked: Input
    shape: Shape
    n_outputs: int
    loss: str
    ple_grid: Grid | None = None


class ParameterCounts(NamedTuple):
    """``table_rows``: levels with a row of their own (the paper's count; 0 without bins); trained numbers otherwise."""

    table_rows: int
    embedding: int
    network: int


def with_ple(plan: Plan, asked: Input, table: Table) -> Grid | None:
    return make_ple_grid(plan, table, asked.n_bins) if asked.peer == "ple" else None


def make_network(blueprint: Blueprint, seed: int) -> Network:
    """An untrained network; the same for the same seed. Leaves torch's generators alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        embedding = make_embedding(blueprint.plan, blueprint.asked, blueprint.ple_grid, seed)
        shape = blueprint.shape
        perceptron = Perceptron(
            embedding.n_fields, embedding.dim, blueprint.n_outputs,  # type: ignore[arg-type]
            width=shape.width, depth=shape.depth, dropout=shape.dropout, residual=shape.residual,
            ensemble=shape.ensemble,
        )  # fmt: skip
    return Network(embedding, perceptron)


def fit_network(
    blueprint: Blueprint, table: Table, target: NDArray[Any], weight: NDArray[Any] | None,
    valid: NDArray[np.bool_] | None, options: TrainingOptions, device: str, line: ProgressLine,
    checkpoint: Checkpoint | None,
) -> Trained:  # fmt: skip
    """A trained network. ``valid`` says which rows it is judged on instead of trained on (None: no row)."""
    if "WORLD_SIZE" in os.environ and int(os.environ["WORLD_SIZE"]) > 1 and not torch.distributed.is_initialized():
        torch.distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    found = device_of(device)
    trained = rows_of(table, target, weight, None if valid is None else np.flatnonzero(~valid))
    judged = None if valid is None else rows_of(table, target, weight, np.flatnonzero(valid))
    # Why: with all rows in one batch, rounding is all that tells a weight of two from the row twice, and one order of
    # rows from another. In float64 it tells nothing, and so few rows are as fast.
    dtype = torch.float64 if found.type == "cpu" and len(trained) <= options.batch_size else torch.float32
    trained, judged = trained.in_dtype(dtype), None if judged is None else judged.in_dtype(dtype)
    make: Callable[[], Network] = lambda: make_network(blueprint, options.seed).to(dtype)  # noqa: E731
    with torch.random.fork_rng(devices=[found.index or 0] if found.type == "cuda" else []):
        done = train_within_memory(make, trained, judged, LOSSES[blueprint.loss], options, found, line, checkpoint)
    done.ran["lookup"] = _lookup_of(done.network, trained.values[:1].to(found))
    return done


def _lookup_of(network: torch.nn.Module, values: torch.Tensor) -> str:
    """The implementation that looks values up for this network."""
    locate = next(part for part in network.modules() if isinstance(part, Locate))
    return implementation(locate, values, next(network.parameters()))


def predict_rows(network: torch.nn.Module, loss: str, table: Table) -> NDArray[np.float32]:
    """Predictions of all rows, in the form of the loss: (rows,) or (rows, classes)."""
    device = next(network.parameters()).device
    parts = []
    with torch.inference_mode(), fixed_tables(network):
        for block in table.blocks(PREDICTED_ROWS.get(device.type, 2**12)):
            values = torch.from_numpy(np.stack(block.columns, axis=1)).to(device)
            parts += [LOSSES[loss].predict(scores).cpu() for scores in scores_of(network, values, len(values))]
    found: NDArray[np.float32] = torch.cat(parts).float().numpy()
    lost = ~np.isfinite(found).reshape(len(found), -1).all(axis=1)
    if lost.any():
        raise DataError(
            f"X: {lost.sum()} rows have values too far out, the first of them row {lost.argmax()}: what is predicted "
            "for them is no number; bring them closer, or fit bins with outside='clip'"
        )
    return found


def count_parameters(blueprint: Blueprint, network: torch.nn.Module) -> ParameterCounts:
    numbers = {name: parameter.numel() for name, parameter in network.named_parameters()}
    own = sum(count for name, count in numbers.items() if name.startswith("embedding."))
    total = sum(numbers.values())
    return ParameterCounts(0 if blueprint.asked.peer else blueprint.plan.n_levels, own, total - own)


def device_of(asked: str) -> torch.device:
    """The device asked for; "auto" is a CUDA GPU where there is one (under torchrun, this process's own)."""
    if asked == "auto":
        asked = f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if torch.cuda.is_available() else "cpu"
    try:
        found = torch.device(asked)
    except (RuntimeError, TypeError) as error:
        raise OptionError(f'device: {asked!r} is not a device ({error}); pass "auto", "cpu" or "cuda"') from None
    if found.type == "cuda" and not torch.cuda.is_available():
        raise OptionError(f'device: {asked!r}, and torch sees no GPU here; pass "auto" or "cpu"')
    if found.type not in ("cpu", "cuda"):
        raise OptionError(f'device: {asked!r} has no float64, which edges need; pass "auto", "cpu" or "cuda"')
    return found
