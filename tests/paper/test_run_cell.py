"""One cell: which rows it sees, what its report says, that it is a function of its configuration."""

from collections import Counter

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from tests.paper.small import cell

from softbin import LinearClassifier, MultiBins, SoftBins
from softbin.encodings.short_names import encoder_of
from softbin.paper import run_cell as run_cell_module
from softbin.paper.methods import METHODS, NETWORKS, PER_COLUMN, settings
from softbin.paper.run_cell import rows_to_test, rows_to_train, run_cell
from softbin.paper.samples import Source, prepare

N_TRAIN, N_TEST = 1200, 600


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return prepare(Source("HIGGS", N_TRAIN, N_TEST), tmp_path_factory.mktemp("data"))


def of(sample, **changes):
    return cell(data_hash=sample.hash, **changes)


def test_rows_of_shares_and_seeds(sample):
    whole, tenth, other = (rows_to_train(of(sample, **c), sample) for c in ({"share": 1.0}, {}, {"seed": 1}))
    everything = np.arange(N_TRAIN + N_TEST)
    assert everything[whole].tolist() == list(range(N_TRAIN))
    assert everything[rows_to_test(of(sample), sample)].tolist() == list(range(N_TRAIN, N_TRAIN + N_TEST))
    assert len(tenth) == len(set(tenth)) == N_TRAIN // 10
    assert tenth.max() < N_TRAIN
    assert set(tenth) != set(other)
    assert np.array_equal(tenth, rows_to_train(of(sample), sample))


def test_folds_share_out_all_rows(sample):
    folds = [of(sample, folds=3, seed=seed, share=share) for seed in range(3) for share in (1.0, 0.1)]
    tests = [rows_to_test(fold, sample) for fold in folds if fold.share == 1]
    assert np.sort(np.concatenate(tests)).tolist() == list(range(N_TRAIN + N_TEST))
    for fold in folds:
        train = rows_to_train(fold, sample)
        assert len(train) == len(set(train)) == round(fold.share * (N_TRAIN + N_TEST) * 2 / 3)
        assert not set(rows_to_test(fold, sample)) & set(train)


def test_cells_on_the_same_rows_read_them_once(sample, monkeypatch):
    calls = []
    honest = run_cell_module.rows_to_train
    monkeypatch.setattr(run_cell_module, "rows_to_train", lambda *of: calls.append(of) or honest(*of))
    run_cell_module._training_rows.cache_clear()
    for changes in ({"bins": "soft:5"}, {"bins": "hard:5"}, {"bins": "soft:5", "seed": 1}):
        run_cell(of(sample, **changes), sample, "cpu", None)
    assert len(calls) == 2


def test_a_report_is_that_of_scikit_learn_on_the_same_encoding(sample):
    asked = of(sample, share=1.0)
    report, scores = run_cell(asked, sample, "cpu", None)
    pipeline = make_pipeline(SoftBins(10), LogisticRegression(C=1.0, max_iter=2000, tol=1e-8))
    pipeline.fit(sample.X[:N_TRAIN], sample.y[:N_TRAIN])
    expected = roc_auc_score(sample.y[N_TRAIN:], pipeline.predict_proba(sample.X[N_TRAIN:])[:, 1])
    assert report["auc"] == pytest.approx(expected, abs=2e-4)
    assert report["auc"] == roc_auc_score(sample.y[N_TRAIN:], scores)
    assert report["data"] == {"name": "HIGGS", "sha256": sample.hash, "simulated": True}
    assert report["rows"] == {"train": N_TRAIN, "test": N_TEST}
    assert report["peak_memory_bytes"] > 10 << 20
    assert report["versions"]["numpy"] == np.__version__


@pytest.mark.parametrize(
    ("changes", "nominal"),
    [
        ({"bins": "soft:10"}, 308),
        ({"bins": "soft:5"}, 168),
        ({"bins": "hard:100"}, 2800),
        ({"bins": "raw"}, 28),
    ],
)
def test_nominal_parameters_are_counted_as_in_table_2(sample, changes, nominal):
    report, _ = run_cell(of(sample, **changes), sample, "cpu", None)
    assert report["parameters"]["nominal"] == nominal
    # Columns of b-tags have three values, so hard bins have fewer levels than they were asked for.
    assert report["parameters"]["actual"] <= nominal + 1


def test_mgd_keeps_half_of_112_pairs(sample):
    report, _ = run_cell(of(sample, bins="multi", share=1.0), sample, "cpu", None)
    nominal = report["parameters"]["nominal"]
    kept = [
        (a, b, c, 56 - a - b - c)
        for a in range(29)
        for b in range(29)
        for c in range(29)
        if 0 <= 56 - a - b - c <= 28 and 10 * a + 100 * b + 1000 * c + 10000 * (56 - a - b - c) == nominal
    ]
    assert kept


def test_mgd_per_column_keeps_half_of_every_column(sample):
    report, _ = run_cell(of(sample, bins=PER_COLUMN, share=1.0), sample, "cpu", None)
    encoder = MultiBins(scope="column").fit(sample.X[:N_TRAIN], sample.y[:N_TRAIN])
    assert report["parameters"]["nominal"] == encoder.n_nominal_parameters_
    assert Counter(name for name, _ in encoder.kept_) == dict.fromkeys((f"x{at}" for at in range(28)), 2)


def test_susy_counts_198(tmp_path):
    susy = prepare(Source("SUSY", 600, 300), tmp_path)
    report, _ = run_cell(cell(data="SUSY", data_hash=susy.hash, share=1.0), susy, "cpu", None)
    assert report["parameters"]["nominal"] == 198


@pytest.mark.parametrize("model", ["LR", "DNN"])
def test_a_cell_is_a_function_of_its_configuration(sample, model):
    options = {"LR": (("ridge", 1.0),), "DNN": (*NETWORKS["small"][:3], ("epochs", 2), ("width", 16))}[model]
    asked = of(sample, model=model, options=options, bins="hard:5")
    runs = [run_cell(asked, sample, "cpu", None) for _ in range(2)]
    assert np.array_equal(runs[0][1], runs[1][1])
    assert runs[0][0]["auc"] == runs[1][0]["auc"]
    if model == "DNN":
        assert runs[0][0]["parameters"]["nominal"] == 140
        assert runs[0][0]["parameters"]["actual"] > 140


def test_other_rows_than_the_cells_are_refused(sample):
    with pytest.raises(AssertionError, match="these are rows"):
        run_cell(cell(data_hash="0" * 64), sample, "cpu", None)


@pytest.mark.parametrize("bins", ["soft:auto", "hard:auto"])
@pytest.mark.parametrize("model", ["LR", "DNN"])
def test_automatic_bins_count_as_they_were_chosen(sample, bins, model):
    options = {"LR": (("ridge", 1.0),), "DNN": (*NETWORKS["small"][:2], ("epochs", 1), ("width", 8))}[model]
    asked = of(sample, share=1.0, bins=bins, model=model, options=options)
    report, _ = run_cell(asked, sample, "cpu", None)
    encoder = encoder_of(bins).fit(sample.X[:N_TRAIN], sample.y[:N_TRAIN])
    assert report["parameters"]["nominal"] == encoder.n_bins_.sum() + 28 * bins.startswith("soft")


def test_the_smoothed_row_is_smoothed(sample):
    asked = next(method for method in METHODS if method.label == "LLE (100), smoothed")
    options = settings(asked, "LR", "small")
    report, scores = run_cell(of(sample, share=1.0, bins="soft:100", options=options), sample, "cpu", None)
    model = LinearClassifier("soft:100", ridge=1.0, smoothness="auto").fit(sample.X[:N_TRAIN], sample.y[:N_TRAIN])
    assert np.allclose(scores, model.predict_proba(sample.X[N_TRAIN:])[:, 1], atol=1e-3)
    assert report["parameters"]["nominal"] == 28 * 101
    assert report["chosen"] == {}
