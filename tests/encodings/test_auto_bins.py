"""n_bins="auto" in the encoders: with and without a target, beside all other options, and in models."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator
from tests.columns import OUTPUTS, each_encoder, make

from softbin import HardBins, LinearClassifier, LinearRegressor, SoftBins
from softbin.boundaries import Quantile
from softbin.encodings.short_names import encoder_of
from softbin.errors import OptionError, SoftbinError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 3))
CURVE = np.sin(3 * X[:, 0]) + X[:, 1]
Y = CURVE + RNG.normal(size=3000)
LABEL = RNG.random(3000) < 1 / (1 + np.exp(-2 * CURVE))
each_strategy = pytest.mark.parametrize("strategy", ["quantile", "uniform", "kmeans", "risk"])


def checks():
    for encoder, output in OUTPUTS:
        for estimator, check in estimator_checks_generator(make(encoder, "quantile", "auto", output=output)):
            name = getattr(check, "func", check).__name__
            yield pytest.param(estimator, check, id=f"{encoder}-{output}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
@pytest.mark.filterwarnings("default")
def test_check_estimator(estimator, check):
    check(estimator)


@each_encoder
@each_strategy
@pytest.mark.parametrize("y", [Y, LABEL, np.digitize(Y, [-1, 1]).astype(str)], ids=["number", "two", "three"])
def test_what_tells_something_has_more_bins_than_noise(encoder, strategy, y):
    bins = make(encoder, strategy, "auto").fit(X, y)
    wave, line, noise = bins.n_bins_
    assert wave > noise
    assert line > noise or encoder == "soft"
    assert noise <= 3
    report = bins.fit_report_[0]
    assert report.asked == "auto"
    asked = int(report.note.split()[1])
    assert asked - 2 <= wave <= asked
    assert report.note.startswith(f"auto: {asked} bins, of 1 to ")
    assert "the least measured risk with 3,000 rows" in report.note
    assert str(bins.fit_report_)


@each_encoder
def test_without_a_target_the_rows_decide(encoder):
    bins = make(encoder, "quantile", "auto").fit(X)
    wanted = {"hard": 8, "soft": 5}[encoder]
    assert bins.n_bins_.tolist() == [wanted] * 3
    assert bins.fit_report_[0].note == f"auto: {wanted} bins, by 3,000 rows, without a target"
    assert bins.bin_edges_[0].tolist() == make(encoder, "quantile", wanted).fit(X).bin_edges_[0].tolist()


@each_encoder
def test_edges_are_those_of_the_rule_with_that_number(encoder):
    bins = make(encoder, "quantile", "auto").fit(X, Y)
    fixed = make(encoder, "quantile", bins.n_bins_.tolist()).fit(X)
    for ours, theirs in zip(bins.bin_edges_, fixed.bin_edges_, strict=True):
        assert ours.tolist() == theirs.tolist()


@each_encoder
@pytest.mark.parametrize(
    "n_bins", [{"a": "auto", "b": 4}, ["auto", 4, 10], ("auto", 4, 10)], ids=["dict", "list", "tuple"]
)
def test_some_columns_may_be_automatic(encoder, n_bins):
    bins = make(encoder, "quantile", n_bins).fit(pd.DataFrame(X, columns=list("abc")), Y)
    assert [report.asked for report in bins.fit_report_] == ["auto", 4, 10]
    assert bins.n_bins_[1:].tolist() == [4, 10]
    assert bins.n_bins_[0] == make(encoder, "quantile", "auto").fit(X[:, :1], Y).n_bins_[0]


@each_encoder
def test_edges_of_a_users_own_go_first(encoder):
    bins = make(encoder, "quantile", "auto", edges={0: [-1, 0, 1]}).fit(X, Y)
    assert bins.bin_edges_[0].tolist() == [-1, 0, 1]
    assert bins.fit_report_[0].asked == 2


@each_encoder
def test_special_codes_and_missing_values_are_not_measured(encoder):
    column = X[:, 0].copy()
    column[:300], column[300:600] = -999, np.nan
    bins = make(encoder, "quantile", "auto", special=[-999]).fit(column[:, None], Y)
    plain = make(encoder, "quantile", "auto").fit(column[600:, None], Y[600:])
    assert bins.bin_edges_[0].tolist() == plain.bin_edges_[0].tolist()


@pytest.mark.parametrize("y", [None, Y], ids=["rows", "target"])
def test_a_column_that_wraps(y):
    hours = RNG.uniform(0, 24, (3000, 1))
    y = None if y is None else np.sin(hours[:, 0] / 24 * 4 * np.pi) + RNG.normal(size=3000)
    bins = SoftBins("auto", period={0: (0, 24)}).fit(hours, y)
    number = int(bins.fit_report_[0].note.split()[1])
    assert bins.bin_edges_[0][[0, -1]].tolist() == [0, 24]
    assert bins.n_bins_[0] == number
    assert 4 <= number <= 12


@each_encoder
def test_weights_count_rows(encoder):
    weight = RNG.integers(0, 3, 3000)
    weighed = make(encoder, "quantile", "auto").fit(X, Y, sample_weight=weight)
    repeated = make(encoder, "quantile", "auto").fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    assert weighed.n_bins_.tolist() == repeated.n_bins_.tolist()


def test_rules_of_ones_own():
    assert HardBins("auto", Quantile()).fit(X, Y).n_bins_.tolist() == HardBins("auto").fit(X, Y).n_bins_.tolist()


@pytest.mark.parametrize("strategy", ["tree", "mdlp", "optimal", "scott", "proportional", "description_length"])
@each_encoder
def test_rules_that_choose_by_themselves_want_a_number(encoder, strategy):
    with pytest.raises(
        OptionError, match=r"column 'x0': n_bins: \"auto\" goes with quantile, uniform, kmeans and risk"
    ):
        make(encoder, strategy, "auto").fit(X, LABEL)


@pytest.mark.parametrize("n_bins", ["Auto", "10", "", "automatic", ["auto", "x", 3], {"x0": "many"}])
def test_other_words_are_no_number(n_bins):
    with pytest.raises(OptionError, match=r'n_bins: .* is not a number of bins; pass .* or "auto"$'):
        HardBins(n_bins).fit(X, Y)


@each_encoder
@pytest.mark.parametrize("y", [np.full(3000, np.nan), np.zeros((3000, 2)), np.zeros(5), [None] * 3000])
def test_a_target_that_is_none_is_an_error(encoder, y):
    with pytest.raises((SoftbinError, ValueError)):
        make(encoder, "quantile", "auto").fit(X, y)


def test_knots_by_risk_need_a_target():
    with pytest.raises(SoftbinError, match="y: requires y"):
        SoftBins("auto", "risk").fit(X)


@each_encoder
@pytest.mark.parametrize("n_rows", [1, 2, 3, 9, 30])
def test_very_few_rows(encoder, n_rows):
    for y in (None, Y[:n_rows], LABEL[:n_rows], np.zeros(n_rows)):
        bins = make(encoder, "quantile", "auto").fit(X[:n_rows], y)
        assert bins.n_bins_.max() <= max(1, n_rows - 1)
        bins.transform(X)


def test_short_names():
    assert encoder_of("soft:auto").get_params() == SoftBins("auto").get_params()
    assert encoder_of("hard:auto").get_params() == HardBins("auto").get_params()
    for name in ("multi:auto", "soft:auto,10", "auto", "firm:auto"):
        with pytest.raises(OptionError, match="bins: "):
            encoder_of(name)


@pytest.mark.parametrize("kind", ["soft", "hard"])
def test_models_hand_their_target_on(kind):
    encoder = {"soft": SoftBins, "hard": HardBins}[kind]
    classifier = LinearClassifier(f"{kind}:auto").fit(X, LABEL)
    assert classifier.encoder_.n_bins_.tolist() == encoder("auto").fit(X, LABEL).n_bins_.tolist()
    regressor = LinearRegressor(f"{kind}:auto").fit(X, Y)
    assert regressor.encoder_.n_bins_.tolist() == encoder("auto").fit(X, Y).n_bins_.tolist()
    # Whole numbers are numbers to a regressor.
    counts = np.clip(np.round(Y), -2, 3)
    assert "measured risk" in LinearRegressor(f"{kind}:auto").fit(X, counts).encoder_.fit_report_[0].note


def test_pipelines_hand_their_target_on():
    pipeline = make_pipeline(SoftBins("auto"), LogisticRegression(max_iter=1000)).fit(X, LABEL)
    assert pipeline[0].n_bins_.tolist() == SoftBins("auto").fit(X, LABEL).n_bins_.tolist()
    assert cross_val_score(pipeline, X, LABEL, cv=3, scoring="roc_auc").mean() > 0.8
