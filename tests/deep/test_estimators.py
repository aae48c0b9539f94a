"""DeepClassifier and DeepRegressor: scikit-learn's contract, any table, any input, saved and loaded."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.estimator_checks import estimator_checks_generator
from tests.deep.tables import TINY, mixed_values, two_classes

from softbin import DeepClassifier, DeepRegressor, HardBins, MultiBins, SoftBins
from softbin.deep.embeddings import SoftBinEmbedding
from softbin.deep.tensor_file import read_tensors, write_tensors
from softbin.errors import DataError, OptionError, SavedFileError

X, Y = two_classes()
INPUTS = [
    "soft:4", "hard:4", "multi:3,8", "plain", "ple:5", "periodic", "pbld", "autodis", SoftBins([2, 3, 4]),
    HardBins(3, "uniform"), MultiBins((3, 6), soft=True),
]  # fmt: skip
each_input = pytest.mark.parametrize("bins", INPUTS, ids=str)


def classifier(bins="soft:4", **options):
    return DeepClassifier(bins, **{**TINY, **options})


def regressor(bins="soft:4", **options):
    return DeepRegressor(bins, **{**TINY, **options})


def checks():
    # One batch of all rows and no dropout: then rows are a sum, as the checks of weights and order expect.
    options = {**TINY, "epochs": 30, "depth": 1, "width": 32, "dropout": 0.0, "learning_rate": 0.02, "batch_size": 512}
    for model in (DeepClassifier, DeepRegressor):
        for estimator, check in estimator_checks_generator(model("soft:5", **options)):
            name = getattr(check, "func", check).__name__
            yield pytest.param(estimator, check, id=f"{model.__name__}-{name}")


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_check_estimator(estimator, check):
    check(estimator)


@each_input
def test_every_input_learns_saves_and_loads(bins, tmp_path):
    model = classifier(bins, epochs=15, learning_rate=0.02).fit(X, Y)
    assert model.score(X, Y) > 0.7
    path = tmp_path / "model.softbin"
    model.save(path)
    loaded = DeepClassifier.load(path, device="cpu")
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    for name in ("n_parameters_", "history_", "best_epoch_", "implementation_", "grid_", "n_features_in_", "seed_"):
        assert getattr(loaded, name) == getattr(model, name), name
    assert loaded.get_params()["width"] == TINY["width"]
    assert loaded.fit(X, Y).score(X, Y) > 0.7


@each_input
def test_every_input_takes_any_value(bins):
    """Missing everywhere, nowhere, in part; infinities; a constant; one value a row."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(120, 5))
    table[:, 1] = np.nan
    table[::3, 2] = np.nan
    table[:, 3] = 7
    table[::10, 4] = np.inf
    target = (table[:, 0] > 0).astype(int)
    if isinstance(bins, SoftBins):
        bins = "soft:3"
    model = classifier(bins, epochs=2).fit(table, target)
    assert np.all(np.isfinite(model.predict_proba(table)))
    assert model.predict_proba(table[:1]).shape == (1, 2)


def test_targets_of_other_kinds():
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    model = classifier(epochs=20, learning_rate=0.02).fit(X, np.array(["low", "middle", "top"])[three])
    assert model.predict_proba(X).shape == (400, 3)
    np.testing.assert_allclose(model.predict_proba(X).sum(1), 1, rtol=1e-5)
    assert model.score(X, np.array(["low", "middle", "top"])[three]) > 0.8
    assert model.classes_.tolist() == ["low", "middle", "top"]
    for scale, shift in ((1, 0), (1e-6, 5), (1e200, 0), (1e-200, 0), (1, 1e6)):
        target = X[:, 0].astype(float) * scale + shift
        fitted = regressor(epochs=20, learning_rate=0.02).fit(X, target)
        found = fitted.predict(X).astype(float)
        assert np.corrcoef((found - shift) / scale, X[:, 0])[0, 1] > 0.95
    assert regressor().fit(X, np.full(400, 3.25)).predict(X[:3]) == pytest.approx(3.25, rel=0.05)


@pytest.mark.parametrize("bad", [np.zeros(400), np.full(400, np.nan), X[:, 0], np.zeros(3), None, X])
def test_targets_that_are_no_classes_are_refused(bad):
    with pytest.raises(ValueError, match=r"."):
        classifier().fit(X, bad)


def test_frames_give_the_same_as_arrays():
    names = ["a", "b", "c"]
    plain = classifier().fit(X, Y).predict_proba(X)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names, orient="row")):
        model = classifier().fit(frame, pd.Series(Y))
        assert np.array_equal(model.predict_proba(frame), plain)
        assert model.feature_names_in_.tolist() == names
        with pytest.raises(DataError, match="feature names"):
            model.predict(frame[["b", "a", "c"]])


def test_weight_zero_is_a_row_absent_and_weights_matter():
    weight = np.where(np.arange(400) % 3 == 1, 0.0, 1.0)
    kept = weight > 0
    model = classifier(batch_size=64).fit(X, Y, weight)
    assert np.array_equal(model.predict_proba(X), classifier(batch_size=64).fit(X[kept], Y[kept]).predict_proba(X))
    tilted = classifier(epochs=10, learning_rate=0.02).fit(X, Y, np.where(Y == "in", 50.0, 1.0))
    assert (tilted.predict(X) == "in").mean() > (Y == "in").mean()


def test_parameters_are_counted():
    model = classifier(depth=2, width=16, embedding_dim=3).fit(X, Y)
    assert model.n_parameters_ == (5 + 5 + 6, 16 * 3, 9 * 16 + 16 + 16 * 16 + 16 + 16 + 1)
    assert classifier("plain").fit(X, Y).n_parameters_[:2] == (0, 0)


def test_an_ensemble_shares_its_matrices():
    one, many = classifier(), classifier(ensemble=8)
    assert many.fit(X, Y).n_parameters_.network < 3 * one.fit(X, Y).n_parameters_.network
    assert many.predict_proba(X).shape == (400, 2)
    assert many.network_(torch.as_tensor(X)).shape == (400, 8, 1)


def test_fitted_encoders_are_used_as_they_are_and_faults_are_named():
    bins = SoftBins(edges=[[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]], missing="level").fit(X)
    model = classifier(FrozenEstimator(bins)).fit(X, Y)
    assert model.grid_ == bins.grid_
    strict = classifier(SoftBins(4)).fit(X[:, :2], Y)
    with pytest.raises(DataError, match="column 'x1': 1 missing values"):
        strict.predict(np.array([[0.0, np.nan]]))
    frozen = SoftBins(edges=[[0.0, 1.0]] * 2, outside="error").from_grid(
        SoftBins(edges=[[-9.0, 9.0]] * 2, outside="error").fit(X[:, :2]).grid_
    )
    with pytest.raises(DataError, match="lie outside"):
        classifier(frozen).fit(X[:, :2] * 100, Y)


def test_special_codes_and_circles_reach_the_network():
    table, target = mixed_values(200), np.arange(200) % 2
    table = table[:, [0, 3, 4]]
    table[:, 2] = np.nan_to_num(table[:, 2])
    model = classifier(SoftBins(4, special={1: [-999]}, period={2: (0, 24)})).fit(table, target)
    turned = table.copy()
    turned[:, 2] += 240
    np.testing.assert_allclose(model.predict_proba(turned), model.predict_proba(table), rtol=1e-4)


def test_a_float64_column_keeps_its_digits():
    """A clock in seconds: in float32 all of these rows would be one."""
    moment = 1.7e9 + np.arange(400) / 100
    model = classifier(epochs=20, learning_rate=0.02).fit(moment[:, None], moment > moment[200])
    assert model.score(moment[:, None], moment > moment[200]) > 0.95


def test_models_can_be_cloned_and_pickled():
    model = classifier().fit(X, Y)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))
    assert np.array_equal(clone(model).fit(X, Y).predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    "options",
    [
        {"bins": "soft:x"}, {"bins": "ple:0"}, {"bins": "plain:3"}, {"bins": "magic"}, {"bins": 3},
        {"embedding_dim": 0}, {"width": 0}, {"depth": 0}, {"dropout": 1.0}, {"dropout": -0.1}, {"ensemble": 0},
        {"learning_rate": 0}, {"learning_rate": np.nan}, {"weight_decay": -1}, {"epochs": 0}, {"epochs": 2.5},
        {"batch_size": 0}, {"batch_size": "big"}, {"validation_fraction": 1.0}, {"patience": 0}, {"init": "zero"},
        {"smoothness": -1}, {"random_state": -1}, {"device": "abacus"}, {"device": "mps"}, {"basis": "hats"},
        {"learning_rate": 1e300}, {"batch_size": np.array([3, 4])}, {"random_state": 2**70},
    ],
    ids=str,
)  # fmt: skip
def test_options_that_cannot_be_used_are_named(options):
    (name,) = options
    with pytest.raises(OptionError, match=name):
        DeepClassifier(**{**TINY, **options}).fit(X, Y)


def test_saved_files_are_whole_or_refused(tmp_path):
    path = tmp_path / "model"
    model = regressor().fit(X, X[:, 0])
    model.save(path)
    with pytest.raises(SavedFileError, match="overwrite=True"):
        model.save(path)
    model.save(path, overwrite=True)
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]
    assert np.array_equal(DeepRegressor.load(path).predict(X), model.predict(X))
    with pytest.raises(SavedFileError, match="holds a DeepRegressor"):
        DeepClassifier.load(path)
    with pytest.raises(SavedFileError, match="no such file"):
        DeepRegressor.load(tmp_path / "other")
    whole = path.read_bytes()
    header = json.loads(whole[8 : 8 + int.from_bytes(whole[:8], "little")])
    assert json.loads(header["__metadata__"]["softbin"])["estimator"] == "DeepRegressor"
    for broken in (whole[:50], whole[:-9], b"", b"{}" * 50):
        path.write_bytes(broken)
        with pytest.raises(SavedFileError):
            DeepRegressor.load(path)


def test_files_that_say_nothing_of_the_basis_have_rows(tmp_path):
    """They were written when there was no other one."""
    path = tmp_path / "model"
    model = classifier(basis="rows").fit(X, Y)
    model.save(path)
    tensors, facts = read_tensors(path, "softbin.deep")
    del facts["options"]["basis"], facts["input"]["basis"]
    write_tensors(path, tensors, facts)
    loaded = DeepClassifier.load(path, device="cpu")
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.basis == loaded.network_.embedding.basis == "rows"
    assert np.array_equal(loaded.fit(X, Y).predict_proba(X), model.predict_proba(X))


def test_files_without_all_weights_are_refused(tmp_path):
    path = tmp_path / "model"
    classifier().fit(X, Y).save(path)
    tensors, facts = read_tensors(path, "softbin.deep")
    for broken in ({**tensors, "embedding.weight": tensors["embedding.weight"][1:]}, dict(list(tensors.items())[1:])):
        write_tensors(path, broken, facts)
        with pytest.raises(SavedFileError, match="weights"):
            DeepClassifier.load(path)
    with pytest.raises(SavedFileError, match="cannot be written"):
        classifier().fit(X, Y).save(tmp_path / "no" / "model")


def test_without_torch_the_message_says_what_to_install():
    code = """
import sys
class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ImportError(name)
sys.meta_path.insert(0, NoTorch())
from softbin import *
from softbin.errors import MissingDependencyError
model = DeepClassifier(width=8)
print(model)
try:
    model.fit([[0.0], [1.0]] * 9, [0, 1] * 9)
except MissingDependencyError as error:
    print(error)
try:
    from softbin.deep import SoftBinEmbedding
except ImportError as error:
    print(error)
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    message = 'torch is not installed; install it with: pip install "softbin[deep]"'
    assert out == ["DeepClassifier(width=8)", message, message]


def test_the_network_is_a_plain_module_for_other_uses():
    model = classifier().fit(X, Y)
    out = torch.sigmoid(model.network_(torch.as_tensor(X)))[:, 0, 0]
    np.testing.assert_allclose(out.detach().numpy(), model.predict_proba(X)[:, 1], rtol=1e-5)
    assert isinstance(model.network_.embedding, SoftBinEmbedding)
