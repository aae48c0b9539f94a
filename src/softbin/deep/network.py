"""The network on top: a residual perceptron, as one or as an ensemble whose members share all large matrices.

    h_1 = drop(relu(A_1 x))       h_{i+1} = h_i + drop(relu(A_{i+1} h_i))       score = A h_depth

``residual=False`` leaves the sum out. An ensemble of k is k such networks whose matrices differ by rank one only
(BatchEnsemble; TabM, Gorishniy et al. 2025): member m has A x = s_m * (W (r_m * x)) + b_m with one W for all; the
signs of r in the first layer are random, one per member and field, so that a member sees every embedding whole; every
other r and s starts at one, and each member has a head of its own.
Their losses are averaged in training, their predictions afterwards.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional


class MemberLinear(nn.Module):
    """k linear maps that differ by rank one: (batch, k, n_in) -> (batch, k, n_out).

    ``fields``: how many equal parts of the input get a random sign each; 0: none does.
    """

    def __init__(self, n_in: int, n_out: int, n_members: int, *, fields: int = 0) -> None:
        super().__init__()
        self.fields = fields
        self.weight = nn.Parameter(torch.empty(n_out, n_in))
        self.before = nn.Parameter(torch.empty(n_members, n_in))
        self.after = nn.Parameter(torch.empty(n_members, n_out))
        self.bias = nn.Parameter(torch.empty(n_members, n_out))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = self.weight.shape[1] ** -0.5
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.ones_(self.after)
        nn.init.uniform_(self.bias, -bound, bound)
        nn.init.ones_(self.before)
        if self.fields:
            with torch.no_grad():
                parts = self.before.view(len(self.before), self.fields, -1)
                parts *= torch.randint_like(parts[:, :, :1], 2) * 2 - 1

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x * self.before, self.weight) * self.after + self.bias


class Heads(nn.Module):
    """A linear map of its own for every member: (batch, k, n_in) -> (batch, k, n_out)."""

    def __init__(self, n_in: int, n_out: int, n_members: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_members, n_in, n_out))
        self.bias = nn.Parameter(torch.empty(n_members, n_out))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = self.weight.shape[1] ** -0.5
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.uniform_(self.bias, -bound, bound)

    def forward(self, x: Tensor) -> Tensor:
        return torch.matmul(x.transpose(0, 1), self.weight).transpose(0, 1) + self.bias


class Perceptron(nn.Module):
    """(batch, fields * dim) -> scores (batch, ensemble, n_out)."""

    def __init__(
        self, fields: int, dim: int, n_out: int, *, width: int, depth: int, dropout: float, residual: bool,
        ensemble: int,
    ) -> None:  # fmt: skip
        super().__init__()
        self.ensemble = ensemble
        self.residual = residual
        sizes = [fields * dim, *[width] * depth]
        self.layers = nn.ModuleList(
            nn.Linear(sizes[i], sizes[i + 1])
            if ensemble == 1
            else MemberLinear(sizes[i], sizes[i + 1], ensemble, fields=fields if i == 0 else 0)
            for i in range(depth)
        )
        self.dropout = nn.Dropout(dropout)
        self.head = Heads(sizes[-1], n_out, ensemble)

    def reset_parameters(self) -> None:
        for part in (*self.layers, self.head):
            part.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        if self.ensemble > 1:
            x = x[:, None].expand(-1, self.ensemble, -1)
        for i, layer in enumerate(self.layers):
            step = self.dropout(functional.relu(layer(x)))
            x = x + step if self.residual and i > 0 else step
        return self.head(x[:, None] if self.ensemble == 1 else x)


class Network(nn.Module):
    """Embeddings, flattened, into the perceptron: raw values (batch, columns) -> scores (batch, ensemble, n_out)."""

    def __init__(self, embedding: nn.Module, perceptron: Perceptron) -> None:
        super().__init__()
        self.embedding = embedding
        self.perceptron = perceptron

    def forward(self, values: Tensor) -> Tensor:
        return self.perceptron(self.embedding(values).flatten(1))
