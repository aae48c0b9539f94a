"""The training step of the usual network, written out: bins, a residual perceptron, one score, AdamW.

The same step as ``training.Step``, for what most trainings are (see ``fits``), without autograd in between:

    gather rows, hats or lookup | per layer: product, activation | scores, losses, and back through the last activation
    per layer: product back, back through the activation before | gradients of all matrices | sums | AdamW, average

Products of matrices are cuBLAS's, everything between two of them is one kernel. A small table is folded into the first
layer (device_fold.py). What goes around the layers (residuals) is never stored on its way back: products add up in
``sent``, and the head's share, slope x head, comes on top wherever it is read.

Parameters, gradients, both moments and the average lie in one flat buffer each, so that the whole optimiser is one
pass; the parameters of the network, the optimiser's state and ``averages`` are views of them. Weights of the products
are kept in bfloat16 by the optimiser, for the next step. Differs from ``Step`` in rounding and in dropout's coins
alone: the score is a float32 sum, gradients of weights are never rounded to bfloat16; a folded layer rounds weights of
bins and products of table and matrix instead of embeddings. Every run gives the same bits.
"""

import math
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from softbin.deep.embeddings import BinEmbedding
from softbin.deep.kernels.lookup import (
    FEW_LEVELS,
    INSTALLED,
    LARGEST_BLOCK_DIM,
    arguments,
    gradient_into,
    launch,
    power_of_two,
)
from softbin.deep.losses import Loss
from softbin.deep.network import Network, Perceptron
from softbin.deep.rows import Source
from softbin.deep.training import Step, TrainingOptions

HALF = torch.bfloat16
ALIGNED = 64  # numbers
WIDEST = 2048
MOST_FOLDED = 1024  # levels of a table that the first layer is folded into
MOST_SPLITS = 8  # parts of a batch whose products make a matrix' gradient, side by side
MOST_PARTS = 512
PADDED = 64  # columns of hats: cuBLAS likes rows that start at multiples of 128 bytes
HATS = {"BLOCK": 64, "num_warps": 1}
ACTIVATED = {"ROWS": 4, "COLUMNS": 512, "num_warps": 8}
LAST = {"STAGES": 1, "num_warps": 4}
LAST_NUMBERS = 2048  # of a program at once
BACK = {"ROWS": 32, "COLUMNS": 128, "num_warps": 4}
COLLECTED = 1024  # numbers of a program that sums parts of matrices
SUMMED = 16  # numbers of one that sums many parts


def fits(network: nn.Module, source: Source, loss: Loss, options: TrainingOptions, device: torch.device) -> bool:
    """Whether this step can stand in for ``Step``."""
    if device.type != "cuda" or not INSTALLED or options.compile or not isinstance(network, Network):
        return False
    embedding, perceptron = network.embedding, network.perceptron
    one_process = not (torch.distributed.is_available() and torch.distributed.is_initialized())
    return (
        one_process
        and isinstance(embedding, BinEmbedding)
        and embedding.knots is None
        and embedding.smoothness == 0
        and isinstance(perceptron, Perceptron)
        and perceptron.ensemble == 1
        and perceptron.head.weight.shape[2] == 1
        and perceptron.head.weight.shape[1] <= WIDEST
        and loss.name in ("binary", "number")
        and source.held.values.dtype == source.held.weight.dtype == torch.float32
        and all(p.dtype == torch.float32 and p.requires_grad for p in network.parameters())
    )


def can_fold(embedding: BinEmbedding) -> bool:
    """Whether the first layer may be folded into the table: few levels, and every weight between zero and one."""
    sizes = embedding.plan.level_start[1:] - embedding.plan.level_start[:-1]
    # Why not along slopes: weights far from one, rounded, no longer add up to one. A field without levels has nowhere
    # to put what is wrong with a value.
    few = embedding.plan.n_levels <= min(MOST_FOLDED, 1.5 * embedding.n_fields * embedding.dim)
    own = min(sizes) > 0 and max(sizes) <= FEW_LEVELS
    return few and own and embedding.dim <= LARGEST_BLOCK_DIM and embedding.locate.linear is None


class FusedStep(Step):
    """``Step`` for networks that ``fits`` is true of."""

    name: ClassVar[str] = "fused kernels"

    def __init__(
        self, network: Network, source: Source, loss: Loss, options: TrainingOptions, device: torch.device, keep: float
    ) -> None:
        super().__init__(network, source, loss, options, device, keep)
        self.layers: list[Any] = list(network.perceptron.layers)
        self.head: Any = network.perceptron.head
        self.embedding: Any = network.embedding
        self.dropout = float(network.perceptron.dropout.p)
        self.residual = network.perceptron.residual
        self.width = int(self.head.weight.shape[1])
        self.half_type = HALF if device.type == "cuda" else torch.float32  # Triton's interpreter has no half products
        self.folds = can_fold(network.embedding)  # type: ignore[arg-type]
        self.name = f"fused kernels, first layer {'folded' if self.folds else 'not folded'}"  # type: ignore[misc]
        self._flatten()
        self._allocate(options.batch_size)

    def _flatten(self) -> None:
        """Moves every parameter into one buffer: those that decay, then biases, then the table."""
        decaying = [*(layer.weight for layer in self.layers), self.head.weight]
        others = [*(layer.bias for layer in self.layers), self.head.bias, self.embedding.weight]
        # Why: as in decay_groups, "weight" of the network decays and nothing else.
        self.at: dict[nn.Parameter, int] = {}
        end = 0
        for parameter in (*decaying, *others):
            if parameter is others[0]:
                self.n_decaying = end
            self.at[parameter] = end
            end += -(-parameter.numel() // ALIGNED) * ALIGNED
        self.n_numbers = end
        flat = [torch.zeros(end, device=self.device) for _ in range(5)]
        self.flat, self.grads, self.first_moment, self.second, self.flat_average = flat
        self.half = torch.zeros(end, dtype=self.half_type, device=self.device)
        self.t = torch.zeros((), device=self.device)
        with torch.no_grad():
            for parameter in self.at:
                self._view(self.flat, parameter).copy_(parameter)
                parameter.data = self._view(self.flat, parameter)
        self.averages = [self._view(self.flat_average, parameter) for parameter in self.parameters]
        self._adopt()

    @torch.no_grad()
    def _adopt(self) -> None:
        """The optimiser's state as views; what a checkpoint put there is copied first."""
        for parameter in self.parameters:
            flats = {"exp_avg": self.first_moment, "exp_avg_sq": self.second}
            views = {"step": self.t, **{name: self._view(flat, parameter) for name, flat in flats.items()}}
            state = self.optimizer.state[parameter]
            for name, view in views.items():
                if name in state and state[name].data_ptr() != view.data_ptr():
                    view.copy_(state[name])
                state[name] = view
        self.half.copy_(self.flat)

    def _view(self, flat: Tensor, parameter: nn.Parameter) -> Tensor:
        start = self.at[parameter]
        return flat[start : start + parameter.numel()].view(parameter.shape)

    def _allocate(self, n_rows: int) -> None:
        def half(*shape: int) -> Tensor:
            return torch.zeros(shape, dtype=self.half_type, device=self.device)

        depth, width = len(self.layers), self.width
        self.values = torch.empty((n_rows, self.held.values.shape[1]), device=self.device)
        self.target, self.weight, self.slope = (torch.empty(n_rows, device=self.device) for _ in range(3))
        self.before, self.sent = half(n_rows, width), half(n_rows, width)
        self.hidden, self.backs = half(depth - 1, n_rows, width), half(depth, n_rows, width)
        self.n_bytes = -(-width // 8)
        self.alive = torch.zeros((depth - 1, n_rows, self.n_bytes), dtype=torch.uint8, device=self.device)
        self._allocate_table(n_rows, half)
        self._allocate_parts(n_rows)

    def _allocate_table(self, n_rows: int, half: Any) -> None:
        """Which rows of the table are whose, and what goes into the first layer."""
        plan, steps, dim = self.embedding.plan, self.embedding.steps, self.embedding.dim
        level_start = torch.as_tensor(plan.level_start, dtype=torch.int64)
        sizes = level_start.diff()
        summed = level_start[:-1]  # Rows before this one are sums of steps.
        if steps is not None:
            summed = torch.minimum(steps.last.cpu()[summed.clamp(max=plan.n_levels - 1)], level_start[1:])
        self.level_start, self.summed = level_start.to(self.device), summed.to(self.device)
        fours = torch.cat([sizes.new_zeros(1), (-(-sizes // 4)).cumsum(0)]).to(torch.int32)
        self.hat_start = fours.to(self.device)
        self.most_levels = max(16, power_of_two(int(sizes.max())))
        self.block_dim = max(16, power_of_two(dim))
        if self.folds:
            self.n_in = -(-4 * int(fours[-1]) // PADDED) * PADDED
            self.first, self.folded = half(n_rows, self.n_in), half(self.width, self.n_in)
            self.first_grad = torch.zeros((self.width, self.n_in), device=self.device)
        else:
            self.n_in = self.embedding.n_fields * dim
            self.sent_in = half(n_rows, self.n_in)
            self.first_grad = self._view(self.grads, self.layers[0].weight)
            self.table, self.table_grad = (torch.empty_like(self.embedding.weight) for _ in range(2))
            self.dims = min(4, power_of_two(dim))  # of a program that adds up steps
            self.n_dims = -(-dim // self.dims)

    def _allocate_parts(self, n_rows: int) -> None:
        """Where every program leaves its share of a sum over the batch, and how many programs add them up."""
        # The numbers of parts are laid out as those of the gradient are, from the head's weights to its bias.
        self.base = self.at[self.head.weight]
        self.n_summed = self.at[self.head.bias] + ALIGNED - self.base
        self.last_rows = max(1, LAST_NUMBERS // power_of_two(self.width))
        n_parts = min(MOST_PARTS, -(-n_rows // min(self.last_rows, BACK["ROWS"])))
        self.parts = torch.zeros((n_parts, self.n_summed + ALIGNED), device=self.device)
        self.sums = torch.zeros(self.n_summed + ALIGNED, device=self.device)
        n_rest, self.n_splits = len(self.layers) - 1, math.gcd(n_rows, MOST_SPLITS)
        self.rest_parts = torch.zeros((n_rest * self.n_splits, self.width, self.width), device=self.device)
        self.n_rest_each = -(-self.width * self.width // COLLECTED)
        n_fields = self.embedding.n_fields
        first = n_fields * -(-self.width // 64) if self.folds else -(-self.first_grad.numel() // COLLECTED)
        # Programs for the table, for the first matrix, for those behind it.
        self.programs = (n_fields if self.folds else 0, first, n_rest * self.n_rest_each)
        self.n_collectors = sum(self.programs) + -(-self.parts.shape[1] // SUMMED)
        n_squares = self.n_collectors + (0 if self.folds else n_fields * self.n_dims)
        self.squares = torch.zeros(n_squares, device=self.device)

    def __call__(self, rows: Tensor, rate: float) -> None:
        if self.graph is None:
            self._adopt()
        super().__call__(rows, rate)

    @torch.no_grad()
    def _run(self) -> None:
        given = self._first_input()
        self._forward()
        self._backward()
        if not self.folds:
            self._table_gradient(given)
        self._matrices()
        self._update()

    def _first_input(self) -> tuple[Any, ...]:
        """What goes into the first layer: hats if it is folded, else embeddings."""
        circles = bool(self.embedding.locate.circles)
        if not self.folds or circles:
            self._gather()
        if self.folds:
            # Why the whole table's values: hats gather their rows themselves, unless a circle moves values first.
            self._hats(self.values if circles else self.held.values, gathers=not circles)
            return ()
        table = self._view(self.flat, self.embedding.weight)
        if self.embedding.steps is not None:
            self._steps(table, self.table, reverse=False)
            table = self.table
        self.located, given = arguments(self.embedding.locate, self.values)
        self.first = torch.ops.softbin.lookup(self.located, table, *given, self.half_type).flatten(1)
        return given

    def _gather(self) -> None:
        numbers = self.values.numel()
        _device().gather_kernel[(-(-numbers // 512),)](
            self.held.values, self.held.target, self.held.weight, self.rows, self.values, self.target, self.weight,
            numbers, N_COLUMNS=self.values.shape[1], BLOCK=512,
        )  # fmt: skip

    def _hats(self, values: Tensor, gathers: bool) -> None:
        n_rows, embedding = len(self.rows), self.embedding
        located, given = arguments(embedding.locate, values[:n_rows] if gathers else values)
        tensors, constants = launch(located, given, embedding.dim)
        _fold().hats_kernel[(-(-n_rows // HATS["BLOCK"]) * embedding.n_fields,)](
            self.rows, values if gathers else located, self.held.target, self.held.weight, self.target, self.weight,
            self.first, n_rows, self.level_start, self.hat_start, *tensors, **constants, GATHERS=gathers,
            STRIDE=self.n_in, LEVELS=self.most_levels, **HATS,
        )  # fmt: skip
        _fold().fold_kernel[(embedding.n_fields * -(-self.width // 64),)](
            self._view(self.flat, embedding.weight), self._view(self.flat, self.layers[0].weight), self.folded,
            self.level_start, self.hat_start, self.summed, N_FIELDS=embedding.n_fields, DIM=embedding.dim,
            WIDTH=self.width, STRIDE=self.n_in, LEVELS=self.most_levels, BLOCK=64, BLOCK_DIM=self.block_dim,
        )  # fmt: skip

    def _steps(self, numbers: Tensor, out: Tensor, reverse: bool) -> None:
        _fold().steps_kernel[(self.embedding.n_fields * self.n_dims,)](
            numbers, out, self.squares[self.n_collectors :], self.level_start, self.summed, N_DIMS=self.n_dims,
            DIM=self.embedding.dim, REVERSE=reverse, BLOCK=min(1024, self.most_levels), DIMS=self.dims, num_warps=8,
        )  # fmt: skip

    def _forward(self) -> None:
        x, last = self.first, len(self.layers) - 1
        for i, layer in enumerate(self.layers):
            weight = self.folded if i == 0 and self.folds else self._view(self.half, layer.weight)
            torch.addmm(self._view(self.half, layer.bias), x, weight.t(), out=self.before)
            if i == last:
                self._last(x)
            else:
                self._activate(i, x)
                x = self.hidden[i]

    def _activate(self, i: int, x: Tensor) -> None:
        tile = {**ACTIVATED, "COLUMNS": max(8, min(ACTIVATED["COLUMNS"], power_of_two(self.width)))}
        _device().activate_kernel[(-(-len(x) // tile["ROWS"]) * -(-self.width // tile["COLUMNS"]),)](
            self.before, x, self.hidden[i], self.alive[i], self.t, self._seed, len(x), self._least, self._scale,
            WIDTH=self.width, BYTES=self.n_bytes, LAYER=i, RESIDUAL=self.residual and i > 0, DROPS=self.dropout > 0,
            **tile,
        )  # fmt: skip

    def _last(self, x: Tensor) -> None:
        i, n_rows = len(self.layers) - 1, len(x)
        _device().last_kernel[(min(len(self.parts), -(-n_rows // self.last_rows)),)](
            self.before, x, self.head.weight, self.head.bias, self.target, self.weight, self.slope, self.backs[i],
            self.parts, self.t, self._seed, n_rows, self.parts.shape[1], self._at_bias(i),
            self.at[self.head.bias] - self.base, self.n_summed, self._least, self._scale, WIDTH=self.width, LAYER=i,
            RESIDUAL=self.residual and i > 0, DROPS=self.dropout > 0, BINARY=self.loss.name == "binary",
            ROWS=self.last_rows, BLOCK=power_of_two(self.width), **LAST,
        )  # fmt: skip

    def _backward(self) -> None:
        last = len(self.layers) - 1
        for i in range(last - 1, -1, -1):
            after = self._view(self.half, self.layers[i + 1].weight)
            if self.residual and i + 1 < last:
                self.sent.addmm_(self.backs[i + 1], after)
            else:
                torch.mm(self.backs[i + 1], after, out=self.sent)
            self._back(i)

    def _table_gradient(self, given: tuple[Any, ...]) -> None:
        """Of a table that is not folded."""
        torch.mm(self.backs[0], self._view(self.half, self.layers[0].weight), out=self.sent_in)
        shape = (len(self.rows), self.embedding.n_fields, self.embedding.dim)
        gradient_into(self.table_grad, self.sent_in.view(shape), self.located, given)
        # Why also where rows are trained: nobody took the squares yet.
        self._steps(self.table_grad, self._view(self.grads, self.embedding.weight), reverse=True)

    def _back(self, i: int) -> None:
        n_rows, n_tiles = len(self.rows), -(-self.width // BACK["COLUMNS"])
        _device().back_kernel[(min(len(self.parts), -(-n_rows // BACK["ROWS"])) * n_tiles,)](
            self.sent, self.slope, self.head.weight, self.alive[i], self.backs[i], self.parts, n_rows,
            self.parts.shape[1], self._at_bias(i), self._scale, WIDTH=self.width, BYTES=self.n_bytes,
            RESIDUAL=self.residual, **BACK,
        )  # fmt: skip

    def _matrices(self) -> None:
        """Gradients of the matrices: the first's, and parts of all others in one call."""
        # Why out_dtype only there: the CPU has products of one type alone.
        whole: dict[str, Any] = {"out_dtype": torch.float32} if self.half_type == HALF else {}
        torch.mm(self.backs[0].t(), self.first, out=self.first_grad, **whole)
        if len(self.layers) > 1:
            shape = (len(self.rest_parts), -1, self.width)
            of, x = self.backs[1:].reshape(shape), self.hidden.view(shape)
            torch.bmm(of.transpose(1, 2), x, out=self.rest_parts, **whole)

    def _update(self) -> None:
        group = self.optimizer.param_groups[0]
        (beta1, beta2), options = group["betas"], self.options
        at_table, n_squares = self.at[self.embedding.weight], len(self.squares)
        at_rest = [self.at[layer.weight] for layer in self.layers[1:]] + [0, 0]
        n_table, n_first, n_rest = self.programs
        _device().collect_kernel[(self.n_collectors,)](
            self.first_grad, self.rest_parts, self.parts, self.grads, self.flat, self.sums, self.squares, self.t,
            self.level_start, self.hat_start, self.summed, self.width * self.width, self.first_grad.numel(),
            at_rest[1] - at_rest[0], self.n_summed, at_rest[0], self.base, at_table, self.n_rest_each, n_rest, n_first,
            n_table, self.parts.shape[1], len(self.parts), N_SPLITS=self.n_splits, FOLDED=self.folds,
            N_FIELDS=self.embedding.n_fields, DIM=self.embedding.dim, WIDTH=self.width, STRIDE=self.n_in,
            LEVELS=self.most_levels if self.folds else 16, BLOCK_DIM=self.block_dim, UNFOLD=64, BLOCK=COLLECTED,
            NUMBERS=SUMMED, PARTS=128, num_stages=1,
        )  # fmt: skip
        _device().adamw_kernel[(-(-self.n_numbers // 1024),)](
            self.flat, self.grads, self.first_moment, self.second, self.flat_average, self.half, self.squares,
            self.sums[self.n_summed :], self.rate, self.t, self.loss_sum, self.n_numbers, n_squares, len(self.rows),
            self.n_decaying, at_table, options.weight_decay, options.clip, self.keep, beta1,
            beta2, group["eps"], math.log(beta1), math.log(beta2), BLOCK=1024, SQUARES=max(2, power_of_two(n_squares)),
        )  # fmt: skip

    def _at_bias(self, i: int) -> int:
        return self.at[self.layers[i].bias] - self.base

    @property
    def _seed(self) -> int:
        """Of dropout's coins."""
        return 2**30 + self.options.seed % 2**30  # Why never one: Triton makes another kernel for that.

    @property
    def _least(self) -> int:
        return round(self.dropout * 2**24)

    @property
    def _scale(self) -> float:
        return 1 / (1 - self.dropout)


def _device() -> Any:
    # Why not at the top: without Triton there is nothing to import, and everything else works.
    from softbin.deep.kernels import device_step

    return device_step


def _fold() -> Any:
    from softbin.deep.kernels import device_fold

    return device_fold
