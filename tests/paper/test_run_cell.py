"""One cell: which rows it sees, what its report says, that it is a function of its configuration."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from tests.paper.small import cell

from softbin import SoftBins
from softbin.paper.methods import NETWORKS
from softbin.paper.run_cell import rows_of, run_cell
from softbin.paper.samples import Source, prepare

N_TRAIN, N_TEST = 1200, 600


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return prepare(Source("HIGGS", N_TRAIN, N_TEST), tmp_path_factory.mktemp("data"))


def of(sample, **changes):
    return cell(data_hash=sample.hash, **changes)


def test_rows_of_shares_and_seeds(sample):
    whole, tenth, other = (rows_of(of(sample, **c), sample) for c in ({"share": 1.0}, {}, {"seed": 1}))
    everything = np.arange(N_TRAIN + N_TEST)
    assert everything[whole.train].tolist() == list(range(N_TRAIN))
    assert everything[whole.test].tolist() == list(range(N_TRAIN, N_TRAIN + N_TEST))
    assert len(tenth.train) == len(set(tenth.train)) == N_TRAIN // 10
    assert tenth.train.max() < N_TRAIN
    assert set(tenth.train) != set(other.train)
    assert np.array_equal(tenth.train, rows_of(of(sample), sample).train)


def test_folds_share_out_all_rows(sample):
    folds = [rows_of(of(sample, folds=3, seed=seed, share=1.0), sample) for seed in range(3)]
    assert np.sort(np.concatenate([fold.test for fold in folds])).tolist() == list(range(N_TRAIN + N_TEST))
    for fold in folds:
        assert not set(fold.test) & set(fold.train)


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
