"""Bins in a network of your own, and the network that comes with softbin."""

import numpy as np
import torch
from torch import nn

from softbin import DeepClassifier, SoftBins
from softbin.deep import SoftBinEmbedding

rng = np.random.default_rng(0)
X = rng.normal(size=(3_000, 4)).astype(np.float32)
X[rng.random(3_000) < 0.1, 3] = np.nan
y = (np.sin(3 * X[:, 0]) + np.abs(X[:, 1]) + np.isnan(X[:, 3]) > 1).astype(int)

# A layer like any other: raw values (batch, columns) in, embeddings (batch, columns, dim) out.
bins = SoftBins(10).fit(X)
network = nn.Sequential(SoftBinEmbedding(bins, dim=8), nn.Flatten(), nn.Linear(4 * 8, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.AdamW(network.parameters(), 1e-2)
values, target = torch.as_tensor(X), torch.as_tensor(y, dtype=torch.float32)
for _ in range(100):
    loss = nn.functional.binary_cross_entropy_with_logits(network(values)[:, 0], target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"by hand: loss {loss.item():.3f}")

# The same as a scikit-learn estimator, with validation, early stopping and checkpoints.
model = DeepClassifier("soft:10", embedding_dim=8, width=64, depth=2, epochs=10, device="cpu").fit(X[:2_000], y[:2_000])
print(f"DeepClassifier: {model.score(X[2_000:], y[2_000:]):.2%} of the other rows right, {model.n_parameters_}")
