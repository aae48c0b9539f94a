"""The training step of the usual network, written out: bins, a residual perceptron, one score, AdamW.

The same step as ``training.Step``, for what most trainings are (see ``fits``), without autograd in between. Large
products of matrices stay with cuBLAS; between two of them there is one kernel:

    gather rows | lookup | per layer: product + bias, activation | scores and losses | back through the last activation
    per layer: gradient of its matrix, product back, back through the activation before | table | norm | AdamW, average

Parameters, gradients, both moments and the average lie in one flat buffer each, so that the whole optimiser is one
pass; the parameters of the network, the optimiser's state and ``averages`` are views of them. Weights of the products
are kept in bfloat16 by the optimiser, for the next step. Differs from ``Step`` in rounding and in dropout's coins
alone: the score is a float32 sum, gradients of weights are never rounded to bfloat16. Every run gives the same bits.
"""

import math
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from softbin.deep.embeddings import BinEmbedding
from softbin.deep.kernels.lookup import INSTALLED, arguments, gradient_into, sum_parts
from softbin.deep.losses import Loss
from softbin.deep.network import Network, Perceptron
from softbin.deep.rows import Source
from softbin.deep.training import Step, TrainingOptions

HALF = torch.bfloat16
ALIGNED = 64  # numbers
SCORED_ROWS = 8  # in one tile
TILE = {"ROWS": 32, "COLUMNS": 128}
MOST_PARTS = 2048
WIDEST = 2048


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
        self.flat, self.grads, self.first, self.second, self.flat_average = flat
        self.half = torch.zeros(end, dtype=HALF, device=self.device)
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
            views = {"exp_avg": self._view(self.first, parameter), "exp_avg_sq": self._view(self.second, parameter)}
            views["step"] = self.t
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
            return torch.empty(shape, dtype=HALF, device=self.device)

        depth, width, held = len(self.layers), self.width, self.held
        self.values = torch.empty((n_rows, held.values.shape[1]), device=self.device)
        self.target, self.weight, self.slope = (torch.empty(n_rows, device=self.device) for _ in range(3))
        self.before = half(n_rows, width)
        self.hidden = [half(n_rows, width) for _ in range(depth)]
        self.alive = [torch.empty((n_rows, width), dtype=torch.int8, device=self.device) for _ in range(depth)]
        self.back, self.sent, self.passed = half(n_rows, width), half(n_rows, width), half(n_rows, width)
        self.sent_in = half(n_rows, self.layers[0].weight.shape[1])
        # The numbers of parts are laid out as those of the gradient are, from the head's weights to its bias.
        self.base = self.at[self.head.weight]
        self.n_summed = self.at[self.head.bias] + ALIGNED - self.base
        n_parts = min(MOST_PARTS, -(-n_rows // TILE["ROWS"]))
        self.parts = torch.zeros((n_parts, self.n_summed + ALIGNED), device=self.device)
        self.sums = torch.zeros(self.n_summed + ALIGNED, device=self.device)
        self.square_block = max(1024, 1 << (-(-self.n_numbers // 1024) - 1).bit_length())
        self.squares = torch.zeros(-(-self.n_numbers // self.square_block), device=self.device)

    def __call__(self, rows: Tensor, rate: float) -> None:
        if self.graph is None:
            self._adopt()
        super().__call__(rows, rate)

    @torch.no_grad()
    def _run(self) -> None:
        self._gather()
        given = self._forward()
        self._backward(given)
        self._update()

    def _gather(self) -> None:
        numbers = self.values.numel()
        _device().gather_kernel[(-(-numbers // 512),)](
            self.held.values, self.held.target, self.held.weight, self.rows, self.values, self.target, self.weight,
            numbers, N_COLUMNS=self.values.shape[1], BLOCK=512,
        )  # fmt: skip

    def _forward(self) -> tuple[Any, ...]:
        values, given = arguments(self.embedding.locate, self.values)
        self.located = values
        self.embedded = torch.ops.softbin.lookup(values, self.embedding.table(), *given, HALF).flatten(1)
        keys = torch.randint(2**31 - 1, (len(self.layers),), device=self.device, dtype=torch.int32)
        x = self.embedded
        for i, layer in enumerate(self.layers):
            weight, bias = self._view(self.half, layer.weight), self._view(self.half, layer.bias)
            torch.addmm(bias, x, weight.t(), out=self.before)
            numbers = self.before.numel()
            _device().activate_kernel[(-(-numbers // 2048),)](
                self.before, x, self.hidden[i], self.alive[i], keys, numbers, round(self.dropout * 2**24), self._scale,
                LAYER=i, RESIDUAL=self.residual and i > 0, DROPS=self.dropout > 0, BLOCK=2048, num_warps=8,
            )  # fmt: skip
            x = self.hidden[i]
        return given

    def _backward(self, given: tuple[Any, ...]) -> None:
        last = len(self.layers) - 1
        n_rows, stride = len(self.values), self.parts.shape[1]
        n_scored = min(len(self.parts), -(-n_rows // SCORED_ROWS))
        _device().score_kernel[(n_scored,)](
            self.hidden[last], self.head.weight, self.head.bias, self.target, self.weight, self.slope, self.parts,
            n_rows, stride, self.at[self.head.bias] - self.base, self.n_summed, WIDTH=self.width,
            BINARY=self.loss.name == "binary", ROWS=SCORED_ROWS, BLOCK=1 << (self.width - 1).bit_length(),
        )  # fmt: skip
        self._back(last)
        for i in range(last, 0, -1):
            self._weight_gradient(i, self.hidden[i - 1])
            torch.mm(self.back, self._view(self.half, self.layers[i].weight), out=self.sent)
            self._back(i - 1)
        self._weight_gradient(0, self.embedded)
        torch.mm(self.back, self._view(self.half, self.layers[0].weight), out=self.sent_in)
        table = self._view(self.grads, self.embedding.weight)
        shape = (n_rows, self.embedding.n_fields, self.embedding.dim)
        gradient_into(table, self.sent_in.view(shape), self.located, given)
        if self.embedding.steps is not None:
            table.copy_(self.embedding.steps.gradient(table))
        sum_parts(self.parts, self.sums)
        self.grads[self.base : self.base + self.n_summed].copy_(self.sums[: self.n_summed])

    def _back(self, i: int) -> None:
        """The gradient before the activation of layer i into ``back``."""
        last, n_rows = len(self.layers) - 1, len(self.values)
        n_tiles = -(-self.width // TILE["COLUMNS"])
        _device().back_kernel[(min(MOST_PARTS, -(-n_rows // TILE["ROWS"])) * n_tiles,)](
            self.sent, self.passed, self.slope, self.head.weight, self.hidden[i], self.alive[i], self.passed, self.back,
            self.parts, n_rows, self.parts.shape[1], self._at_bias(i), self._scale, WIDTH=self.width, LAST=i == last,
            FROM_HEAD=i == last - 1, RESIDUAL=self.residual, KEEPS=self.residual and 0 < i < last, **TILE,
        )  # fmt: skip

    def _weight_gradient(self, i: int, x: Tensor) -> None:
        into = self._view(self.grads, self.layers[i].weight)
        torch.mm(self.back.t(), x, out_dtype=torch.float32, out=into)

    def _update(self) -> None:
        group = self.optimizer.param_groups[0]
        (beta1, beta2), options = group["betas"], self.options
        n_squares = len(self.squares)
        self.t.add_(1)
        _device().squares_kernel[(n_squares,)](self.grads, self.squares, self.n_numbers, BLOCK=self.square_block)
        _device().adamw_kernel[(-(-self.n_numbers // 1024),)](
            self.flat, self.grads, self.first, self.second, self.flat_average, self.half, self.squares,
            self.sums[self.n_summed :], self.rate, self.t, self.loss_sum, self.n_numbers, n_squares, len(self.values),
            self.n_decaying, self.at[self.embedding.weight], options.weight_decay, options.clip, self.keep, beta1,
            beta2, group["eps"], math.log(beta1), math.log(beta2), BLOCK=1024,
            SQUARES=max(2, 1 << (n_squares - 1).bit_length()),
        )  # fmt: skip

    def _at_bias(self, i: int) -> int:
        return self.at[self.layers[i].bias] - self.base

    @property
    def _scale(self) -> float:
        return 1 / (1 - self.dropout)


def _device() -> Any:
    # Why not at the top: without Triton there is nothing to import, and everything else works.
    from softbin.deep.kernels import device_step

    return device_step
