"""MultiBins: what it keeps is what brute force keeps, and what it encodes is what the single encoders encode."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.columns import ugly_columns

from softbin import Grid, HardBins, LinearClassifier, LinearRegressor, MultiBins, SoftBins
from softbin.boundaries import KMeans, Tree
from softbin.errors import DataError, OptionError
from softbin.values.held_out import held_out
from softbin.values.tables import read_table
from softbin.values.targets import read_target

GRANULARITIES = (3, 10, 40, 200)


def table(n_rows=4000, seed=0):
    """Columns that want different granularities: a step, a wave, a slope, noise, three values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    X[:, 4] = rng.integers(0, 3, n_rows)
    score = 2 * (X[:, 0] > 0.4) + 1.5 * np.sin(7 * X[:, 1]) + 0.7 * X[:, 2] + 0.5 * (X[:, 4] == 1)
    return X, rng.random(n_rows) < 1 / (1 + np.exp(0.8 - score)), score


X, y, SIGNAL = table()


@parametrize_with_checks([MultiBins(granularities=(2, 5), scope="column"), MultiBins((3,), keep=1, output="dense")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_brute_force_ranks_the_candidates_the_same_way():
    bins = MultiBins(GRANULARITIES).fit(X, y)
    fold = held_out(read_table(X), read_target(y, len(y)), 0.2, bins._seed())
    expected = []
    for column in range(5):
        for granularity in GRANULARITIES:
            encoded = HardBins(granularity).fit(X[:, [column]]).transform(X[:, [column]])
            model = LogisticRegression(C=1.0, tol=1e-8, max_iter=1000).fit(encoded[fold == 0], y[fold == 0])
            expected.append(roc_auc_score(y[fold == 1], model.decision_function(encoded[fold == 1])))
    expected = np.array(expected)
    # Where brute force tells two candidates apart, so do we, and in the same order.
    for i in range(len(expected)):
        for j in range(len(expected)):
            if expected[i] > expected[j] + 0.004:
                assert bins.scores_.score[i] > bins.scores_.score[j]
    np.testing.assert_allclose(bins.scores_.score, expected, atol=0.01)


@pytest.mark.parametrize("keep", [0.1, 0.25, 0.5, 0.55, 0.75, 1.0])
def test_as_many_are_kept_as_asked(keep):
    bins = MultiBins(GRANULARITIES, keep=keep).fit(X, y)
    assert len(bins.kept_) == bins.scores_.kept.sum() == round(keep * 20)
    assert bins.scores_.score[bins.scores_.kept].min() >= bins.scores_.score[~bins.scores_.kept].max(initial=0)


@pytest.mark.parametrize("keep", [0.5, 0.75, 1.0])
def test_within_columns_each_keeps_its_share(keep):
    bins = MultiBins(GRANULARITIES, keep=keep, scope="column").fit(X, y)
    kept = pd.DataFrame(bins.scores_).groupby("column").kept.sum()
    assert kept.tolist() == [round(keep * 4)] * 5


def test_ties_go_to_the_coarser_and_then_to_the_left():
    same = np.tile(np.random.default_rng(1).integers(0, 3, 300)[:, None], (1, 3)).astype(float)
    bins = MultiBins((50, 5, 10)).fit(same, same[:, 0] > 0)
    assert len(set(bins.scores_.score)) == 1
    assert bins.kept_ == [("x0", 5), ("x0", 10), ("x1", 5), ("x2", 5)]


@pytest.mark.parametrize("strategy", ["quantile", "uniform", "kmeans", KMeans()])
@pytest.mark.parametrize("soft", [False, True])
def test_what_is_kept_is_what_the_single_encoder_makes(strategy, soft):
    bins = MultiBins(GRANULARITIES, strategy, soft=soft).fit(X, y)
    single = SoftBins if soft else HardBins
    parts = []
    for (label, granularity), boundaries in zip(bins.kept_, bins.grid_, strict=True):
        column = X[:, [int(label[1:])]]
        encoder = single(granularity, strategy if isinstance(strategy, str) else KMeans(granularity)).fit(column)
        assert boundaries == encoder.grid_[0]
        parts.append(encoder.transform(column).toarray())
    np.testing.assert_array_equal(bins.transform(X).toarray(), np.hstack(parts))
    assert bins.n_parameters_ == sum(part.shape[1] for part in parts)


def test_parameters_are_counted_as_the_paper_does_and_as_they_are():
    bins = MultiBins(GRANULARITIES, keep=1).fit(X, y)
    assert bins.n_nominal_parameters_ == 5 * sum(GRANULARITIES)
    assert bins.n_parameters_ == 4 * sum(GRANULARITIES) + 4 * 3
    assert MultiBins(GRANULARITIES, keep=1, soft=True).fit(X, y).n_nominal_parameters_ == 5 * (sum(GRANULARITIES) + 4)


def test_half_of_the_papers_pairs_are_kept():
    wide = np.random.default_rng(2).normal(size=(500, 28))
    bins = MultiBins().fit(wide, wide[:, 0] > 0)
    assert (len(bins.scores_), len(bins.kept_)) == (112, 56)


def test_any_number_of_threads_and_any_layout_keep_the_same():
    one = MultiBins(GRANULARITIES, n_jobs=1).fit(X, y)
    other = MultiBins(GRANULARITIES, n_jobs=3).fit(np.asfortranarray(X), y)
    assert one.grid_ == other.grid_
    assert np.array_equal(one.scores_, other.scores_)


def test_a_long_column_has_the_same_boundaries_as_in_hard_bins():
    rng = np.random.default_rng(3)
    long = rng.normal(size=(150_000, 1)).astype(np.float32)
    bins = MultiBins((10, 1000), keep=1).fit(long, long[:, 0] + rng.normal(size=150_000) > 0)
    for granularity, boundaries in zip((10, 1000), bins.grid_, strict=True):
        assert boundaries.edges == HardBins(granularity).fit(long).grid_[0].edges


def test_numbers_and_many_classes_have_scores_of_their_own():
    assert MultiBins(GRANULARITIES).fit(X, SIGNAL).score_name_ == "r2"
    several = MultiBins(GRANULARITIES).fit(X, np.digitize(SIGNAL, [-1, 0, 1]))
    assert several.score_name_ == "log_loss"
    assert {name for name, _ in several.kept_} >= {"x0", "x1"}
    assert "x3" not in {name for name, _ in several.kept_}


def test_weights_count():
    weight = np.where(X[:, 2] > 0, 1e-3, 1.0)
    by_hand = MultiBins((5, 20), keep=0.75).fit(X, y, sample_weight=weight)
    assert by_hand.grid_ != MultiBins((5, 20), keep=0.75).fit(X, y).grid_
    assert MultiBins((5, 20)).fit(X, y, sample_weight=np.full(len(y), 2.0)).scores_.score == pytest.approx(
        MultiBins((5, 20)).fit(X, y).scores_.score
    )


@pytest.mark.parametrize("target", [y, SIGNAL, np.digitize(SIGNAL, [-1, 0, 1])], ids=["two", "number", "four"])
@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_how_heavy_all_rows_are_does_not_matter(target, scale):
    weight = np.random.default_rng(0).random(len(y))
    plain, scaled = (MultiBins((5, 20)).fit(X, target, sample_weight=weight * factor) for factor in (1.0, scale))
    np.testing.assert_allclose(scaled.scores_.score, plain.scores_.score, rtol=1e-6)
    assert scaled.kept_ == plain.kept_


def test_ugly_columns_and_special_codes():
    ugly = np.stack(list(ugly_columns().values()), axis=1)
    ugly[:50, 0] = -999
    bins = MultiBins((2, 20), special=[-999], keep=1).fit(ugly, np.arange(len(ugly)) % 7 > 3)
    assert np.all(np.isfinite(bins.scores_.score))
    names = bins.get_feature_names_out()
    assert len(set(names)) == len(names) == bins.transform(ugly).shape[1]
    assert {"x0:2[=-999]", "x5:20[missing]"} <= set(names)


def test_the_inverse_is_that_of_the_finest_kept():
    bins = MultiBins((3, 40), keep=0.5).fit(X[:, :2], y)
    back = bins.inverse_transform(bins.transform(X[:, :2]))
    assert back.shape == (len(X), 2)
    for j, name in enumerate(("x0", "x1")):
        kept = [granularity for label, granularity in bins.kept_ if label == name]
        if not kept:
            assert np.isnan(back[:, j]).all()
            continue
        encoder = HardBins(max(kept)).fit(X[:, [j]])
        expected = encoder.inverse_transform(encoder.transform(X[:, [j]]))[:, 0]
        np.testing.assert_allclose(back[:, j], expected)


def test_names_follow_the_table():
    frame = pd.DataFrame(X, columns=list("abcde"))
    bins = MultiBins((3, 10), scope="column").fit(frame, y)
    assert bins.grid_.names[0].startswith("a:")
    assert all(name.split(":")[0] in "abcde" for name in bins.get_feature_names_out())
    assert bins.feature_names_in_.tolist() == list("abcde")


@pytest.mark.parametrize("soft", [False, True])
def test_a_saved_grid_makes_an_equal_encoder(soft, tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b:c", "d", "e", "f"])
    bins = MultiBins((3, 10), soft=soft).fit(frame, y)
    bins.grid_.save(tmp_path / "grid.json")
    again = MultiBins.from_grid(Grid.load(tmp_path / "grid.json"), list(frame), soft=soft)
    assert again.kept_ == bins.kept_
    assert (again.transform(frame) != bins.transform(frame)).nnz == 0
    plain = MultiBins((3, 10)).fit(X, y)
    assert (MultiBins.from_grid(plain.grid_, 5).transform(X) != plain.transform(X)).nnz == 0
    with pytest.raises(OptionError, match="columns: pass the names"):
        MultiBins.from_grid(bins.grid_)
    with pytest.raises(OptionError, match="is not column:granularity"):
        MultiBins.from_grid(bins.grid_, ["a"])


@pytest.mark.parametrize("bins", ["multi:3,20", MultiBins((3, 20)), MultiBins((3, 20), soft=True), "fitted"])
def test_linear_models_take_it(bins):
    bins = MultiBins((3, 20)).fit(X, y) if bins == "fitted" else bins
    model = LinearClassifier(bins).fit(X, y)
    assert roc_auc_score(y, model.decision_function(X)) > 0.8
    np.testing.assert_allclose(
        model.explain(X[:50]).sum(axis=1) + model.intercept_, model.decision_function(X[:50]), atol=1e-6
    )
    assert LinearRegressor("multi:3,20").fit(X, SIGNAL).score(X, SIGNAL) > 0.7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"granularities": ()}, "granularities"),
        ({"granularities": (10, 10)}, "names one twice"),
        ({"granularities": 10}, "granularities"),
        ({"granularities": (0, 10)}, "n_bins"),
        ({"keep": 0}, "keep"),
        ({"keep": 1.5}, "keep: 1.5 .* 1 at most"),
        ({"keep": True}, "keep"),
        ({"keep": np.nan}, "keep"),
        ({"keep": "half"}, "keep"),
        ({"keep": 0.01, "granularities": (5,)}, "keep: 0.01 of 5 pairs is none"),
        ({"scope": "row"}, "scope"),
        ({"scoring": "accuracy"}, "scoring"),
        ({"validation_fraction": 0}, "validation_fraction"),
        ({"validation_fraction": 1}, "validation_fraction: 1 leaves no rows"),
        ({"strategy": "tree"}, "looks at the target"),
        ({"strategy": Tree()}, "looks at the target"),
        ({"strategy": object()}, "strategy"),
        ({"soft": True, "output": "ordinal"}, "output"),
        ({"missing": "maybe"}, "missing"),
        ({"random_state": "x"}, "x"),
    ],
)
def test_options_that_cannot_be_used(options, message):
    with pytest.raises(ValueError, match=message):
        MultiBins(**{"granularities": (3, 10), **options}).fit(X, y)


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        (None, {}, "requires y"),
        (np.zeros(len(X)), {}, "only one class"),
        (np.full(len(X), np.nan), {}, "NaN"),
        (np.arange(len(X)) % 3, {"scoring": "auc"}, "3 classes"),
        (SIGNAL, {"scoring": "auc"}, "continuous"),
        (y[:-1], {}, "inconsistent"),
    ],
)
def test_targets_that_cannot_be_used(target, options, message):
    with pytest.raises(DataError, match=message):
        MultiBins((3, 10), **options).fit(X, target)


def test_one_row_cannot_be_split():
    with pytest.raises(DataError, match="cannot be split"):
        MultiBins((3,), keep=1).fit([[1.0]], [0.5])


def test_rows_without_weight_do_not_decide_what_the_target_is():
    target, weight = np.append(0.5, y[1:]), np.append(0.0, np.ones(len(y) - 1))
    absent = MultiBins((5, 20)).fit(X[1:], y[1:])
    assert np.array_equal(MultiBins((5, 20)).fit(X, target, sample_weight=weight).scores_, absent.scores_)
    found = HardBins(5, "mdlp").fit(X, target, sample_weight=weight)
    assert found.bin_edges_[0].tolist() == HardBins(5, "mdlp").fit(X[1:], y[1:]).bin_edges_[0].tolist()
