"""The training step of the usual network, written out: bins, a residual perceptron, one score, AdamW.

The same step as ``training.Step``, for what most trainings are (see ``fits``), without autograd in between:

    gather rows, hats or lookup | per layer: product, bias, activation | scores, losses, back through the last one
    per layer: product back, back through the activation before | gradients of all matrices | sums | AdamW, average

Every product finishes its tile itself (device_layers.py), or cuBLAS makes it and a kernel behind it does the rest:
``Ways`` says which, and whether the first layer is folded into the table.

Parameters, gradients, both moments and the average lie in one flat buffer each, so that the whole optimiser is one
pass; the parameters of the network, the optimiser's state and ``averages`` are views of them. Weights of the products
are kept in bfloat16 by the optimiser, for the next step. Differs from ``Step`` in rounding and in dropout's coins
alone: the score is a float32 sum, gradients of weights are never rounded to bfloat16; a folded layer rounds weights of
bins and products of table and matrix instead of embeddings. Every run gives the same bits.
"""

import math
from contextlib import nullcontext
from dataclasses import dataclass, replace
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
SCORED_ROWS = 8  # in one tile
JOINT_ROWS = 4
COLLECTED = 1024  # numbers of a program that sums parts of matrices
SUMMED = 16  # numbers of one that sums many parts
TILE = {"ROWS": 32, "COLUMNS": 128}
MOST_PARTS = 2048
WIDEST = 2048
MOST_FOLDED = 1024  # levels of a table that the first layer is folded into
MOST_SPLITS = 16
# Of the products: rows and columns of a tile, how deep a bite is, and what Triton makes of it.
TILES: dict[str, dict[str, int]] = {
    "layer": {"ROWS": 128, "COLUMNS": 256, "DEEP": 64, "HALVES": 1, "num_warps": 8, "num_stages": 3},
    "last": {"ROWS": 64, "COLUMNS": 512, "DEEP": 64, "num_warps": 8, "num_stages": 3},
    "back": {"ROWS": 128, "COLUMNS": 256, "DEEP": 64, "num_warps": 8, "num_stages": 3},
    "matrices": {"ROWS": 128, "COLUMNS": 256, "DEEP": 64, "num_warps": 8, "num_stages": 3},
}
SPREAD = 132  # programs that run side by side


@dataclass(frozen=True)
class Ways:
    """Who makes the products: "own" kernels, or the "library" and a kernel behind it.

    ``head``: "own" scores inside the last layer's product, "joint" in one kernel behind it, "library" in two.
    ``folded`` None: where the table is small.
    """

    folded: bool | None = None
    layers: str = "own"
    head: str = "own"
    back: str = "own"
    matrices: str = "own"


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
    ways: ClassVar[Ways] = Ways()
    tiles: ClassVar[dict[str, dict[str, int]]] = TILES

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
        self._choose()
        self._flatten()
        self._allocate(options.batch_size)

    def _choose(self) -> None:
        """Which ways this network can go."""
        few = can_fold(self.embedding)
        asked = few if self.ways.folded is None else self.ways.folded and few
        fits_one_tile = self.width <= self.tiles["last"]["COLUMNS"]
        head = "joint" if self.ways.head == "own" and not fits_one_tile else self.ways.head
        self.way = replace(self.ways, folded=asked, head=head)
        self.name = f"fused kernels, first layer {'folded' if asked else 'not folded'}"  # type: ignore[misc]

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

        depth, width, held = len(self.layers), self.width, self.held
        self.values = torch.empty((n_rows, held.values.shape[1]), device=self.device)
        self.target, self.weight, self.slope = (torch.empty(n_rows, device=self.device) for _ in range(3))
        self.hidden = half(depth, n_rows, width)
        self.alive = torch.zeros((depth, n_rows, width), dtype=torch.int8, device=self.device)
        self.backs, self.passed = half(depth, n_rows, width), half(n_rows, width)
        self.scratch = half(n_rows, width)  # products of the library
        self.side = torch.cuda.Stream(self.device) if self.device.type == "cuda" else None  # type: ignore[no-untyped-call]
        n_in = self.layers[0].weight.shape[1]
        if self.way.folded:
            plan = self.embedding.plan
            self.level_start = torch.as_tensor(plan.level_start, dtype=torch.int64).to(self.device)
            self.most_levels = max(16, power_of_two(int(max(plan.level_start[1:] - plan.level_start[:-1]))))
            # Why padded: every row of the hats starts where the copying of tiles likes it.
            n_in = -(-plan.n_levels // ALIGNED) * ALIGNED
            self.hats, self.folded = half(n_rows, n_in), half(width, n_in)
        else:
            self.level_start = torch.zeros(1, dtype=torch.int64, device=self.device)  # never followed
            self.most_levels = 16
            self.sent_in = half(n_rows, n_in)
        self._lay_out_parts(n_rows, n_in)

    def _lay_out_parts(self, n_rows: int, n_in: int) -> None:
        """Where every program leaves its share of a sum over the batch."""
        # The numbers of parts are laid out as those of the gradient are, from the head's weights to its bias.
        self.base = self.at[self.head.weight]
        self.n_summed = self.at[self.head.bias] + ALIGNED - self.base
        self.n_scored = min(MOST_PARTS, -(-n_rows // JOINT_ROWS), 4 * SPREAD)
        counts = [min(MOST_PARTS, -(-n_rows // TILE["ROWS"])), self.n_scored, -(-n_rows // self.tiles["last"]["ROWS"])]
        counts += [-(-n_rows // self.tiles[kind]["ROWS"]) for kind in ("back",)]
        if self.way.head == "library":
            counts.append(min(MOST_PARTS, -(-n_rows // SCORED_ROWS)))
        self.parts = torch.zeros((max(counts), self.n_summed + ALIGNED), device=self.device)
        self.sums = torch.zeros(self.n_summed + ALIGNED, device=self.device)
        # Matrices: the first layer's behind the others, which are laid out as in the gradient.
        self.n_in = n_in
        self.at_rest = self.at[self.layers[1].weight] if len(self.layers) > 1 else self.base
        self.n_rest = self.base - self.at_rest
        self.n_first = -(-self.width * n_in // ALIGNED) * ALIGNED
        self.n_splits, self.rows_each = self._splits(n_rows)
        self.matrix_parts = torch.zeros((self.n_splits, self.n_rest + self.n_first), device=self.device)
        own = self.way.matrices == "own"
        self.n_rest_programs = -(-self.n_rest // COLLECTED) if own else 0
        if self.way.folded:
            self.n_first_programs = self.embedding.n_fields
        else:
            self.n_first_programs = -(-self.layers[0].weight.numel() // COLLECTED) if own else 0
        self.n_collectors = self.n_rest_programs + self.n_first_programs + -(-self.parts.shape[1] // SUMMED)
        # What nobody took the squares of yet: matrices of the library, a table that is not folded.
        left = [] if own else [(self.at_rest if self.way.folded else 0, self.base)]
        left += [] if self.way.folded else [(self.at[self.embedding.weight], self.n_numbers)]
        total = sum(to - from_ for from_, to in left)
        self.square_block = max(1024, 1 << (-(-total // 1024) - 1).bit_length()) if total else 1024
        self.unsquared, n = list[tuple[int, int, int]](), self.n_collectors
        for from_, to in left:
            self.unsquared.append((from_, to, n))
            n += -(-(to - from_) // self.square_block)
        self.squares = torch.zeros(n, device=self.device)

    def _splits(self, n_rows: int) -> tuple[int, int]:
        """Into how many parts the batch is split for gradients of matrices, and the rows of one."""
        if self.way.matrices != "own":
            return 1, n_rows
        tile = self.tiles["matrices"]
        across = -(-self.width // tile["ROWS"])
        n_tiles = across * -(-self.n_in // tile["COLUMNS"])
        n_tiles += (len(self.layers) - 1) * across * -(-self.width // tile["COLUMNS"])
        slots = SPREAD * (2 if tile["ROWS"] * tile["COLUMNS"] <= 128 * 128 else 1)
        most = max(1, min(MOST_SPLITS, n_rows // 512))
        asked = tile.get("SPLITS", 0)
        # Measured: another part costs about as much as a thirtieth of all the work.
        cost = {n: -(-n_tiles * n // slots) * slots / (n_tiles * n) + n / 30 for n in range(1, most + 1)}
        n = min(asked, most) if asked else min(cost, key=lambda n: cost[n])
        rows_each = -(-n_rows // (n * tile["DEEP"])) * tile["DEEP"]
        return -(-n_rows // rows_each), rows_each

    def __call__(self, rows: Tensor, rate: float) -> None:
        if self.graph is None:
            self._adopt()
        super().__call__(rows, rate)

    @torch.no_grad()
    def _run(self) -> None:
        given = self._forward()
        self._backward(given)
        self._update()

    def _forward(self) -> tuple[Any, ...]:
        # Why four each: a kernel is compiled again for a pointer that is aligned in another way.
        keys = torch.randint(2**31 - 1, (len(self.layers), 4), device=self.device, dtype=torch.int32)
        x, given = self._first_input()
        last = len(self.layers) - 1
        for i, layer in enumerate(self.layers):
            weight = self.folded if i == 0 and self.way.folded else self._view(self.half, layer.weight)
            bias = self._view(self.half, layer.bias)
            if i == last and self.way.head == "own":
                self._last_layer(x, weight, bias, keys[i])
            elif self.way.layers == "own":
                self._layer(i, x, weight, bias, keys[i])
            else:
                torch.addmm(bias, x, weight.t(), out=self.scratch)
                numbers = self.scratch.numel()
                _device().activate_kernel[(-(-numbers // 2048),)](
                    self.scratch, x, self.hidden[i], self.alive[i], keys[i], numbers, self._least, self._scale,
                    LAYER=0, RESIDUAL=self.residual and i > 0, DROPS=self.dropout > 0, BLOCK=2048, num_warps=8,
                )  # fmt: skip
            x = self.hidden[i]
        return given

    def _first_input(self) -> tuple[Tensor, tuple[Any, ...]]:
        """What goes into the first layer: hats if it is folded, else embeddings."""
        circles = bool(self.embedding.locate.circles)
        if not self.way.folded or circles:
            self._gather()
        if not self.way.folded:
            self.located, given = arguments(self.embedding.locate, self.values)
            self.first = torch.ops.softbin.lookup(self.located, self.embedding.weight, *given, self.half_type)
            self.first = self.first.flatten(1)
            return self.first, given
        # Why the whole table's values: hats gather their rows themselves, unless a circle moves values first.
        source = self.values if circles else self.held.values
        located, given = arguments(self.embedding.locate, source if circles else source[: len(self.rows)])
        tensors, constants = launch(located, given, self.embedding.dim)
        n_rows, block = len(self.rows), 64
        layers, n_fields = _layers(), self.embedding.n_fields
        layers.hats_kernel[(-(-n_rows // block) * n_fields,)](
            self.rows, located if circles else source, self.held.target, self.held.weight, self.target, self.weight,
            self.hats, n_rows, self.level_start, *tensors, **constants, GATHERS=not circles, STRIDE=self.n_in,
            LEVELS=self.most_levels, BLOCK=block, num_warps=1,
        )  # fmt: skip
        dim = self.embedding.dim
        layers.fold_kernel[(n_fields * -(-self.width // 64),)](
            self._view(self.flat, self.embedding.weight), self._view(self.flat, self.layers[0].weight), self.folded,
            self.level_start, N_FIELDS=n_fields, DIM=dim, WIDTH=self.width, STRIDE=self.n_in, LEVELS=self.most_levels,
            BLOCK=64, BLOCK_DIM=max(16, power_of_two(dim)),
        )  # fmt: skip
        self.first = self.hats
        return self.first, given

    def _gather(self) -> None:
        numbers = self.values.numel()
        _device().gather_kernel[(-(-numbers // 512),)](
            self.held.values, self.held.target, self.held.weight, self.rows, self.values, self.target, self.weight,
            numbers, N_COLUMNS=self.values.shape[1], BLOCK=512,
        )  # fmt: skip

    def _layer(self, i: int, x: Tensor, weight: Tensor, bias: Tensor, key: Tensor) -> None:
        tile, n_rows = self.tiles["layer"], len(x)
        _layers().layer_kernel[(-(-n_rows // tile["ROWS"]) * -(-self.width // tile["COLUMNS"]),)](
            x, weight, bias, self.hidden[i], self.alive[i], key, n_rows, self._least, self._scale,
            RESIDUAL=self.residual and i > 0, DROPS=self.dropout > 0, WIDTH=self.width, SIZE=x.shape[1], **tile,
        )  # fmt: skip

    def _last_layer(self, x: Tensor, weight: Tensor, bias: Tensor, key: Tensor) -> None:
        tile, n_rows, i = self.tiles["last"], len(x), len(self.layers) - 1
        _layers().last_layer_kernel[(-(-n_rows // tile["ROWS"]),)](
            x, weight, bias, self.head.weight, self.head.bias, self.target, self.weight, self.slope, self.backs[i],
            self.parts, key, n_rows, self.parts.shape[1], self._at_bias(i), self.at[self.head.bias] - self.base,
            self.n_summed, self._least, self._scale, RESIDUAL=self.residual and i > 0,
            DROPS=self.dropout > 0, BINARY=self.loss.name == "binary", WIDTH=self.width, SIZE=x.shape[1], **tile,
        )  # fmt: skip

    def _backward(self, given: tuple[Any, ...]) -> None:
        last = len(self.layers) - 1
        self._head()
        for i in range(last - 1, -1, -1):
            if self.way.back == "own":
                self._back_layer(i)
            else:
                after = self._view(self.half, self.layers[i + 1].weight)
                torch.mm(self.backs[i + 1], after, out=self.scratch)
                self._back(i)
        with self._beside():
            if not self.way.folded:
                self._table_gradient(given)
        self._matrices()
        if self.side is not None and not self.way.folded:
            torch.cuda.current_stream(self.device).wait_stream(self.side)

    def _head(self) -> None:
        """Scores and the gradient before the last activation, unless the last layer did it all."""
        last, n_rows, stride = len(self.layers) - 1, len(self.rows), self.parts.shape[1]
        at_head_bias, block = self.at[self.head.bias] - self.base, 1 << (self.width - 1).bit_length()
        binary = self.loss.name == "binary"
        if self.way.head == "joint":
            _layers().score_back_kernel[(self.n_scored,)](
                self.hidden[last], self.alive[last], self.head.weight, self.head.bias, self.target, self.weight,
                self.slope, self.backs[last], self.parts, n_rows, stride, self._at_bias(last), at_head_bias,
                self.n_summed, self._scale, WIDTH=self.width, BINARY=binary, ROWS=JOINT_ROWS, BLOCK=block,
            )  # fmt: skip
        elif self.way.head == "library":
            _device().score_kernel[(min(len(self.parts), -(-n_rows // SCORED_ROWS)),)](
                self.hidden[last], self.head.weight, self.head.bias, self.target, self.weight, self.slope, self.parts,
                n_rows, stride, at_head_bias, self.n_summed, WIDTH=self.width, BINARY=binary, ROWS=SCORED_ROWS,
                BLOCK=block,
            )  # fmt: skip
            self._back(last)

    def _back_layer(self, i: int) -> None:
        tile, n_rows, last = self.tiles["back"], len(self.rows), len(self.layers) - 1
        _layers().back_layer_kernel[(-(-n_rows // tile["ROWS"]) * -(-self.width // tile["COLUMNS"]),)](
            self.backs[i + 1], self._view(self.half, self.layers[i + 1].weight), self.passed, self.slope,
            self.head.weight, self.alive[i], self.passed, self.backs[i], self.parts, n_rows, self.parts.shape[1],
            self._at_bias(i), self._scale, WIDTH=self.width, FROM_HEAD=i == last - 1, RESIDUAL=self.residual,
            KEEPS=self.residual and i > 0, **tile,
        )  # fmt: skip

    def _back(self, i: int) -> None:
        """The gradient before the activation of layer i, from what the library's product sent."""
        last, n_rows = len(self.layers) - 1, len(self.rows)
        n_tiles = -(-self.width // TILE["COLUMNS"])
        _device().back_kernel[(min(MOST_PARTS, -(-n_rows // TILE["ROWS"])) * n_tiles,)](
            self.scratch, self.passed, self.slope, self.head.weight, self.hidden[i], self.alive[i], self.passed,
            self.backs[i], self.parts, n_rows, self.parts.shape[1], self._at_bias(i), self._scale, WIDTH=self.width,
            LAST=i == last, FROM_HEAD=i == last - 1, RESIDUAL=self.residual,
            KEEPS=self.residual and 0 < i < last, **TILE,
        )  # fmt: skip

    def _beside(self) -> Any:
        """Beside the products, on another stream: what a table gets takes no tensor cores."""
        if self.side is None or self.way.folded:
            return nullcontext()
        self.side.wait_stream(torch.cuda.current_stream(self.device))
        return torch.cuda.stream(self.side)

    def _table_gradient(self, given: tuple[Any, ...]) -> None:
        torch.mm(self.backs[0], self._view(self.half, self.layers[0].weight), out=self.sent_in)
        table = self._view(self.grads, self.embedding.weight)
        shape = (len(self.rows), self.embedding.n_fields, self.embedding.dim)
        gradient_into(table, self.sent_in.view(shape), self.located, given)

    def _matrices(self) -> None:
        if self.way.matrices == "own":
            tile = {name: of for name, of in self.tiles["matrices"].items() if name != "SPLITS"}
            across = -(-self.width // tile["ROWS"])
            n_tiles = across * -(-self.n_in // tile["COLUMNS"])
            n_tiles += (len(self.layers) - 1) * across * -(-self.width // tile["COLUMNS"])
            step = 0 if len(self.layers) < 3 else self.at[self.layers[2].weight] - self.at_rest
            _layers().matrices_kernel[(n_tiles * self.n_splits,)](
                self.backs, self.first, self.hidden, self.matrix_parts, len(self.rows), self.rows_each,
                self.matrix_parts.shape[1], self.n_rest, step, WIDTH=self.width, SIZE=self.n_in,
                DEPTH=len(self.layers), **tile,
            )  # fmt: skip
            return
        for i, layer in enumerate(self.layers):
            if i == 0 and self.way.folded:
                into = self.matrix_parts[0, self.n_rest : self.n_rest + self.width * self.n_in]
                into = into.view(self.width, self.n_in)
            else:
                into = self._view(self.grads, layer.weight)
            x = self.first if i == 0 else self.hidden[i - 1]
            if self.half_type == HALF:
                torch.mm(self.backs[i].t(), x, out_dtype=torch.float32, out=into)
            else:
                torch.mm(self.backs[i].t(), x, out=into)

    def _update(self) -> None:
        group = self.optimizer.param_groups[0]
        (beta1, beta2), options = group["betas"], self.options
        dim, n_squares, at_table = self.embedding.dim, len(self.squares), self.at[self.embedding.weight]
        _layers().collect_kernel[(self.n_collectors,)](
            self.matrix_parts, self.parts, self.grads, self.flat, self.sums, self.squares, self.t, self.level_start,
            self.n_rest, self.layers[0].weight.numel(), self.n_summed, self.n_rest, self.at_rest, self.base,
            at_table, self.n_rest_programs, self.n_first_programs, self.matrix_parts.shape[1], self.parts.shape[1],
            len(self.parts), N_MATRIX_PARTS=self.n_splits, FOLDED=self.way.folded, N_FIELDS=self.embedding.n_fields,
            DIM=dim, WIDTH=self.width, STRIDE=self.n_in, LEVELS=self.most_levels,
            BLOCK_DIM=max(16, power_of_two(dim)), UNFOLD=64, BLOCK=COLLECTED, NUMBERS=SUMMED, PARTS=128, num_stages=1,
        )  # fmt: skip
        for from_, to, at in self.unsquared:
            _device().squares_kernel[(-(-(to - from_) // self.square_block),)](
                self.grads[from_:], self.squares[at:], to - from_, BLOCK=self.square_block
            )
        _device().adamw_kernel[(-(-self.n_numbers // 1024),)](
            self.flat, self.grads, self.first_moment, self.second, self.flat_average, self.half, self.squares,
            self.sums[self.n_summed :], self.rate, self.t, self.loss_sum, self.n_numbers, n_squares, len(self.rows),
            self.n_decaying, at_table, options.weight_decay, options.clip, self.keep, beta1,
            beta2, group["eps"], math.log(beta1), math.log(beta2), BLOCK=1024,
            SQUARES=max(2, 1 << (n_squares - 1).bit_length()),
        )  # fmt: skip

    def _at_bias(self, i: int) -> int:
        return self.at[self.layers[i].bias] - self.base

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


def _layers() -> Any:
    from softbin.deep.kernels import device_layers

    return device_layers
