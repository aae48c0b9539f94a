"""The ridge of a cell: found by descent, judged on training rows alone, worth it where levels are many."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from tests.paper.small import cell

from softbin.paper.methods import HELD_OUT
from softbin.paper.ridge import RIDGES, choose_ridge, descend
from softbin.paper.run_cell import run_cell
from softbin.paper.samples import Source, prepare


@pytest.mark.parametrize("start", range(6))
@pytest.mark.parametrize("lowest", range(6))
def test_the_descent_ends_where_nothing_around_is_lower(start, lowest):
    asked = []
    assert descend(lambda at: asked.append(at) or abs(at - lowest), start, 6) == lowest
    assert len(asked) == len(set(asked)) <= 6


def straight_rows(n=4000, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3)).astype(np.float32)
    return X, (X[:, 0] + random.logistic(size=n) > 0).astype(np.int8)


class Spy:
    """A classifier that notes which rows it sees, the best with a ridge of 30."""

    def __init__(self):
        self.fitted, self.judged, self.ridge = [], [], None

    def with_ridge(self, ridge):
        self.ridge = ridge
        return self

    def fit(self, X, y):
        self.fitted.append(X[:, 0].astype(int))
        return self

    def predict_proba(self, X):
        self.judged.append(X[:, 0].astype(int))
        sure = 0.6 + 0.1 * abs(np.log10(self.ridge / 30))
        return np.tile([sure, 1 - sure], (len(X), 1))


@pytest.mark.parametrize("n_levels", [3, 30_000])
def test_rows_that_judge_are_held_out_and_the_best_ridge_is_found(n_levels, monkeypatch):
    monkeypatch.setattr("softbin.paper.ridge.MOST_ROWS", 1000)
    X, y = np.arange(5000.0)[:, None], np.ones(5000, np.int8)
    spy = Spy()
    assert choose_ridge(spy.with_ridge, X, y, n_levels, 0) == 30.0
    for fitted, judged in zip(spy.fitted, spy.judged, strict=True):
        assert not set(fitted) & set(judged)
        assert len(judged) == len(fitted) / 4 == (200 if n_levels == 3 else 1000)
    other = Spy()
    choose_ridge(other.with_ridge, X, y, 3, 1)
    assert len(other.fitted[0]) == 800
    assert not np.array_equal(other.fitted[0], spy.fitted[0])


def test_a_weak_signal_gets_a_strong_ridge():
    X, y = straight_rows()
    noise = np.random.default_rng(1).normal(size=(4000, 300)).astype(np.float32)

    def chosen(columns):
        model = LogisticRegression(max_iter=500)
        return choose_ridge(lambda ridge: model.set_params(C=1 / ridge), columns, y, columns.shape[1], 0)

    assert chosen(np.hstack([X, noise])) >= 30 * chosen(X)


def test_mgd_is_better_with_a_ridge_of_its_own(tmp_path):
    """And test rows take no part in the choice: with other labels there, the same ridge is chosen."""
    sample = prepare(Source("HIGGS", 6000, 4000), tmp_path)
    reports = {
        ridge: run_cell(cell(method="MGD", bins="multi", data_hash=sample.hash, share=1.0, options=(("ridge", ridge),)),
                        sample, "cpu", None)[0]
        for ridge in (HELD_OUT, 1.0)
    }  # fmt: skip
    assert reports[HELD_OUT]["chosen"]["ridge"] in RIDGES
    assert reports[HELD_OUT]["chosen"]["ridge"] >= 3
    assert reports[HELD_OUT]["auc"] > reports[1.0]["auc"] + 0.01
    assert reports[HELD_OUT]["log_loss"] < reports[1.0]["log_loss"]
    labels = sample.folder / "y.npy"
    y = np.load(labels)
    y[sample.n_train :] = 1 - y[sample.n_train :]
    np.save(labels, y)
    again = cell(method="MGD", bins="multi", data_hash=sample.hash, share=1.0, options=(("ridge", HELD_OUT),))
    assert run_cell(again, sample, "cpu", None)[0]["chosen"] == reports[HELD_OUT]["chosen"]
