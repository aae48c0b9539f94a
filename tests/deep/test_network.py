"""The perceptron, its members, and what a loss says about scores."""

import numpy as np
import pytest
import torch
from sklearn.metrics import log_loss, r2_score, roc_auc_score

from softbin.deep.losses import LOSSES
from softbin.deep.network import MemberLinear, Perceptron


def perceptron(ensemble=1, residual=True, n_out=2):
    torch.manual_seed(0)
    return Perceptron(5, 1, n_out, width=8, depth=3, dropout=0.0, residual=residual, ensemble=ensemble)


@pytest.mark.parametrize("residual", [True, False])
def test_a_perceptron_is_its_formula(residual):
    model, x = perceptron(residual=residual), torch.randn(7, 5)
    hidden = torch.relu(model.layers[0](x))
    for layer in model.layers[1:]:
        hidden = torch.relu(layer(hidden)) + (hidden if residual else 0)
    expected = hidden @ model.head.weight[0] + model.head.bias[0]
    torch.testing.assert_close(model(x)[:, 0], expected)


def test_a_member_is_a_network_of_its_own_with_rank_one_matrices():
    model, x = perceptron(ensemble=4), torch.randn(7, 5)
    for part in model.layers:
        torch.nn.init.normal_(part.before)
        torch.nn.init.normal_(part.after)
    assert model(x).shape == (7, 4, 2)
    for m in range(4):
        hidden = None
        for layer in model.layers:
            matrix = layer.after[m][:, None] * layer.weight * layer.before[m][None, :]
            step = torch.relu((x if hidden is None else hidden) @ matrix.T + layer.bias[m])
            hidden = step if hidden is None else hidden + step
        expected = hidden @ model.head.weight[m] + model.head.bias[m]
        torch.testing.assert_close(model(x)[:, m], expected, rtol=1e-4, atol=1e-5)


def test_members_start_with_a_sign_per_field_in_the_first_layer_only():
    first, later = MemberLinear(50, 3, 4, fields=25), MemberLinear(50, 3, 4)
    assert set(first.before.flatten().tolist()) == {-1.0, 1.0}
    assert torch.equal(first.before[:, ::2], first.before[:, 1::2])
    assert not torch.equal(first.before[0], first.before[1])
    assert set(later.before.flatten().tolist()) == {1.0}
    model = Perceptron(10, 2, 1, width=8, depth=2, dropout=0.0, residual=True, ensemble=4)
    assert [layer.fields for layer in model.layers] == [10, 0]


def test_scores_of_losses_are_scikit_learns():
    rng = np.random.default_rng(0)
    weight = rng.choice([0.5, 1.0, 3.0], 200)
    target = rng.integers(0, 2, 200)
    predicted = np.round(0.3 * target + rng.random(200), 1).astype(np.float32)
    tensors = [torch.as_tensor(part) for part in (predicted, target, weight)]
    assert LOSSES["binary"].score(*tensors) == pytest.approx(roc_auc_score(target, predicted, sample_weight=weight))
    assert LOSSES["number"].score(*tensors) == pytest.approx(
        r2_score(target, predicted, sample_weight=weight), abs=1e-6
    )
    assert LOSSES["binary"].score(tensors[0], torch.ones(200), tensors[2]) is None
    assert LOSSES["number"].score(tensors[0], torch.ones(200), tensors[2]) is None


def test_losses_are_scikit_learns():
    scores, target = torch.randn(50, 1, 3), torch.randint(3, (50,))
    predicted = LOSSES["classes"].predict(scores).numpy()
    assert float(LOSSES["classes"].losses(scores, target.float()).mean()) == pytest.approx(
        log_loss(target.numpy(), predicted), rel=1e-5
    )
    binary = LOSSES["binary"].losses(scores[..., :1], (target > 0).float())
    share = LOSSES["binary"].predict(scores[..., :1]).numpy()
    assert float(binary.mean()) == pytest.approx(log_loss(target.numpy() > 0, share), rel=1e-5)
    square = LOSSES["number"].losses(scores[..., :1].expand(-1, 4, -1), target.float())
    torch.testing.assert_close(square, (scores[:, 0, 0] - target).square())
