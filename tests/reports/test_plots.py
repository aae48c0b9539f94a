"""Pictures: what is on them."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt
from tests.linear.tables import encoder, mixed_table, model_of, target

from softbin import LinearRegressor, MultiBins, SoftBins
from softbin.errors import MissingDependencyError, OptionError
from softbin.reports import plots

X = mixed_table(400)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.mark.parametrize("family", ["gaussian", "multinomial"])
@pytest.mark.parametrize("kind", ["soft", "hard"])
@pytest.mark.parametrize("smoothness", [None, 0.1])
def test_a_panel_per_column(smoothness, kind, family, tmp_path):
    model = model_of(family, encoder(kind), smoothness=smoothness).fit(X, target(X, family))
    figure = model.plot()
    panels = [ax for ax in figure.axes if ax.axison]
    assert [ax.get_title() for ax in panels] == ["x0", "x1", "x2", "x3", "x4"]
    bands = [item for item in panels[0].collections if "FillBetween" in type(item).__name__]
    assert len(bands) == (0 if smoothness is None else (3 if family == "multinomial" else 1))
    assert [text.get_text() for text in panels[2].texts] == ["-999"]
    assert [text.get_text() for text in panels[1].texts] == ["missing"]
    figure.savefig(tmp_path / "page.png")


def test_the_line_is_the_curve():
    model = LinearRegressor("soft:8").fit(X[:, [0]], X[:, 0] ** 2)
    line = model.plot(0).axes[0].lines[0]
    curve = model.curve(0)
    np.testing.assert_array_equal(line.get_xydata(), np.column_stack([curve.knots, curve.values]))


def test_columns_and_axes_of_the_caller():
    model = LinearRegressor("soft:8").fit(X[:, [0, 4]], X[:, 0])
    figure, axes = plt.subplots(1, 2)
    assert model.plot(["x1", 0], ax=axes) is figure
    assert [ax.get_title() for ax in axes] == ["x1", "x0"]
    assert model.plot("x1", ax=axes[0]) is figure
    with pytest.raises(OptionError, match="ax: 2 axes for 1 columns"):
        model.plot(0, ax=axes)
    with pytest.raises(OptionError, match="no such column"):
        model.plot("x7")
    with pytest.raises(OptionError, match="none to plot"):
        model.plot([])


def test_a_long_tail_is_cut_and_everything_shown_fits():
    x = np.random.default_rng(0).exponential(size=(2000, 1)) ** 3
    model = LinearRegressor(SoftBins(20), smoothness=1e-3).fit(x, np.sqrt(x[:, 0]))
    panel = model.plot().axes[0]
    assert 2 < panel.get_xlim()[1] < x.max()
    curve = model.curve(0, 0.95)
    seen = curve.knots < panel.get_xlim()[1]
    assert panel.get_ylim()[0] < curve.lower[seen].min()
    assert panel.get_ylim()[1] > curve.upper[seen].max()


def test_the_density_is_weight_over_width():
    model = LinearRegressor(MultiBins((2, 10), keep=1.0)).fit(X[:, [0]], X[:, 0])
    edges, height = plots.density(model, 0)
    counted = np.histogram(X[:, 0], edges)[0]
    np.testing.assert_allclose(height * np.diff(edges), counted)


def test_columns_without_values_or_with_one():
    x = np.column_stack([np.full(50, np.nan), np.full(50, 3.0), np.arange(50.0)])
    model = LinearRegressor("soft:4", smoothness=0).fit(x, x[:, 2])
    figure = model.plot()
    assert figure.axes[0].texts[0].get_text() in ("no values", "missing")


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    model = LinearRegressor("soft:4").fit(X[:, [0]], X[:, 0])

    def fails(name):
        raise ImportError(name)

    monkeypatch.setattr("softbin.optional.importlib.import_module", fails)
    with pytest.raises(MissingDependencyError, match=r"softbin\[plots\]"):
        model.plot()
