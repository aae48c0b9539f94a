"""The command line end to end, in this process: what it writes, what it says, how it fails."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import softbin
from softbin import DeepClassifier, LinearClassifier, LinearRegressor, SoftBins, simulate_higgs, simulate_susy
from softbin.commands.main import run
from softbin.values.table_files import read_table_file

RNG = np.random.default_rng(1)
N = 400
FRAME = pd.DataFrame({"id": np.arange(N), "age": RNG.normal(40, 12, N).round(1), "size": RNG.lognormal(0, 1, N)})
FRAME["price"] = np.sin(FRAME["age"] / 8) + FRAME["size"] + 0.1 * RNG.normal(size=N)
FRAME["sold"] = np.where(FRAME["price"] > 1.5, "yes", "no")


FAST = ("--option", "epochs=2", "--option", "width=16", "--option", "depth=1")


@pytest.fixture
def table(tmp_path):
    FRAME.to_parquet(tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("commands")
    FRAME.to_parquet(folder / "t.parquet")
    assert (
        softbin_run("fit", folder / "t.parquet", "-t", "sold", "--drop", "id", "--drop", "price", "-o", folder / "m")
        == 0
    )
    return folder / "m"


def softbin_run(*words):
    return run([str(word) for word in words], debug=False)


def failure(capsys, *words):
    """The exit code, and the one line that says what is wrong."""
    capsys.readouterr()
    code = softbin_run(*words)
    error = capsys.readouterr().err
    assert error.startswith("softbin: ")
    assert error.count("\n") == 1
    assert "Traceback" not in error
    return code, error


def test_fit_writes_the_model_that_the_library_fits(model):
    assert sorted(path.name for path in model.iterdir()) == ["facts.json", "model.json", "report.html"]
    again = LinearClassifier.load(model / "model.json")
    expected = LinearClassifier("soft:10").fit(FRAME[["age", "size"]], FRAME["sold"])
    assert np.array_equal(
        again.decision_function(FRAME[["age", "size"]]), expected.decision_function(FRAME[["age", "size"]])
    )
    page = (model / "report.html").read_text()
    assert "<svg" in page
    assert "age" in page
    assert "http://" not in page.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    )


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("-t", "price", "--drop", "sold", "--bins", "hard:4"), LinearRegressor),
        (("-t", "sold", "--model", "deep", "--bins", "soft:4", *FAST), DeepClassifier),
        (("-t", "sold", "--bins", "multi:4,10", "--weight", "size"), LinearClassifier),
    ],
)
def test_every_kind_of_model_goes_through_all_commands(tmp_path, table, words, kind, capsys):
    out = tmp_path / "models" / "m"
    assert softbin_run("fit", table, *words, "--out", out) == 0
    name = "model.safetensors" if kind is DeepClassifier else "model.json"
    assert isinstance(kind.load(out / name), kind)
    assert softbin_run("predict", out, table, "--out", tmp_path / "p.parquet") == 0
    assert len(read_table_file(tmp_path / "p.parquet")) == N
    assert softbin_run("transform", out, table, "--out", tmp_path / "e.parquet") == 0
    assert softbin_run("transform", out, table, "--out", tmp_path / "c.csv", "--form", "compact") == 0
    capsys.readouterr()
    assert softbin_run("inspect", out, table, "--out", tmp_path / "page.html") == 0
    shown = capsys.readouterr().out
    assert ("R2" if kind is LinearRegressor else "AUC") in shown
    assert "age" in shown
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")


def test_predictions_are_the_models(model, table, tmp_path):
    assert softbin_run("predict", model, table, "--keep", "id", "--out", tmp_path / "p.csv") == 0
    got = pd.read_csv(tmp_path / "p.csv")
    again = LinearClassifier.load(model / "model.json")
    assert got.columns.tolist() == ["id", "prediction", "p[no]", "p[yes]"]
    assert got["prediction"].tolist() == again.predict(FRAME[["age", "size"]]).tolist()
    assert np.allclose(got["p[yes]"], again.predict_proba(FRAME[["age", "size"]])[:, 1], rtol=1e-12)


def test_columns_may_stand_in_another_order(model, tmp_path):
    FRAME[["size", "id", "age"]].to_csv(tmp_path / "t.csv", index=False)
    assert softbin_run("predict", model, tmp_path / "t.csv", "--out", tmp_path / "p.csv") == 0
    again = LinearClassifier.load(model / "model.json")
    assert pd.read_csv(tmp_path / "p.csv")["prediction"].tolist() == again.predict(FRAME[["age", "size"]]).tolist()


def test_transform_is_the_encoders(model, table, tmp_path):
    assert softbin_run("transform", model, table, "--out", tmp_path / "e.parquet") == 0
    encoder = SoftBins(10, output="dense").fit(FRAME[["age", "size"]])
    got = pd.read_parquet(tmp_path / "e.parquet")
    assert got.columns.tolist() == encoder.get_feature_names_out().tolist()
    assert np.array_equal(got.to_numpy(), encoder.transform(FRAME[["age", "size"]]))


def test_inspect_measures_a_table(model, table, capsys):
    assert softbin_run("inspect", model, table) == 0
    shown = capsys.readouterr().out
    again = LinearClassifier.load(model / "model.json")
    assert f"{again.score(FRAME[['age', 'size']], FRAME['sold']):.4f}" in shown


def test_simulate_writes_the_simulation(tmp_path):
    assert softbin_run("data", "simulate", "higgs", "--rows", 500, "--seed", 3, "--out", tmp_path / "h.parquet") == 0
    got, made = pd.read_parquet(tmp_path / "h.parquet"), simulate_higgs(500, seed=3)
    assert got.columns.tolist() == ["label", *made.columns]
    assert np.array_equal(got.iloc[:, 1:].to_numpy(), made.X)


@pytest.mark.filterwarnings("ignore:.*may not be UCI SUSY:UserWarning")
def test_download_converts_a_local_file_once(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOFTBIN_CACHE", str(tmp_path / "cache"))
    made = simulate_susy(50, seed=0)
    np.savetxt(tmp_path / "SUSY.csv", np.column_stack([made.y, made.X]), delimiter=",", fmt="%.9e")
    assert softbin_run("data", "download", "susy", "--file", tmp_path / "SUSY.csv") == 0
    assert "cache" in capsys.readouterr().err
    assert len(list((tmp_path / "cache").glob("SUSY-*.parquet"))) == 1
    code, error = failure(capsys, "data", "download", "higgs", "--file", tmp_path / "none.csv")
    assert (code, "cannot be read" in error) == (1, True)


def test_paper_computes_and_goes_on(tmp_path, capsys):
    words = ("paper", "--rows", 1000, "--test-rows", 500, "--seeds", 1, "--models", "lr", "--sets", "susy")
    words = (*words, "--shares", 100, "--only", "soft:5 | hard:5", "--out", tmp_path / "r")
    for _ in range(2):
        assert softbin_run(*words) == 0
        shown = capsys.readouterr()
        assert "LLE" in shown.out
        assert "holds" in shown.out or "undecided" in shown.out
    assert len(list((tmp_path / "r" / "cells").glob("*/DONE"))) == 2
    assert (tmp_path / "r" / "paper.html").exists()


def test_nothing_is_overwritten_without_force(model, table, tmp_path, capsys):
    code, error = failure(capsys, "fit", table, "-t", "sold", "--out", model)
    assert (code, "--force" in error) == (1, True)
    (tmp_path / "p.csv").write_text("mine")
    for command in ("predict", "transform"):
        assert failure(capsys, command, model, table, "--out", tmp_path / "p.csv")[0] == 1
    assert failure(capsys, "inspect", model, "--out", tmp_path / "p.csv")[0] == 1
    assert failure(capsys, "data", "simulate", "susy", "--out", tmp_path / "p.csv")[0] == 1
    assert (tmp_path / "p.csv").read_text() == "mine"
    assert softbin_run("predict", model, table, "--out", tmp_path / "p.csv", "--force") == 0
    assert (tmp_path / "p.csv").read_text() != "mine"


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("fit", "{table}", "-t", "soldd", "-o", "{tmp}/m"), 1, "no column 'soldd'; there are id, age"),
        (("fit", "{table}", "-t", "sold", "-o", "{tmp}/m", "--bins", "soft:x"), 1, "not a short name"),
        (("fit", "{table}", "-t", "sold", "-o", "{tmp}/m", "--model", "forest"), 1, "forest"),
        (("fit", "{table}", "-t", "price", "-o", "{tmp}/m"), 1, "sold"),
        (("fit", "{tmp}/none.csv", "-t", "sold", "-o", "{tmp}/m"), 1, "no such file"),
        (("fit", "{tmp}/none.xlsx", "-t", "sold", "-o", "{tmp}/m"), 1, "ends in none of"),
        (("fit", "{table}", "-t", "sold", "-o", "{tmp}/m", "--option", "ridg=1"), 1, "'ridg=1' is not name=value"),
        (("fit", "{table}", "-o", "{tmp}/m"), 2, "--target"),
        (("fitt",), 2, "fitt"),
        (("fit", "--colour"), 2, "--colour"),
        (("predict", "{tmp}/nowhere", "{table}", "-o", "{tmp}/p.csv"), 1, "no model here"),
        (("predict", "{model}", "{table}", "-o", "{tmp}/p.txt"), 1, "ends in none of"),
        (("predict", "{model}", "{table}", "-o", "{tmp}/p.csv", "--keep", "x"), 1, "no column 'x'"),
        (("transform", "{model}", "{table}", "-o", "{tmp}/p.csv", "--form", "wide"), 1, "wide"),
        (("data", "simulate", "iris", "-o", "{tmp}/p.csv"), 1, "iris"),
        (("paper", "--out", "{tmp}/r", "--shares", "ten"), 1, "not a list of percents"),
        (("paper", "--out", "{tmp}/r", "--models", "svm"), 1, "SVM"),
    ],
)
def test_failures_are_one_line_and_leave_nothing(model, table, tmp_path, capsys, words, code, says):
    before = sorted(tmp_path.rglob("*"))
    found, error = failure(capsys, *(word.format(table=table, tmp=tmp_path, model=model) for word in words))
    assert (found, says in error) == (code, True), error
    assert sorted(tmp_path.rglob("*")) == before


def test_a_damaged_model_is_an_error(model, table, tmp_path, capsys):
    folder = tmp_path / "m"
    folder.mkdir()
    for name in ("model.json", "facts.json"):
        (folder / name).write_text((model / name).read_text())
    (folder / "facts.json").write_text(json.dumps({"schema": 9}))
    assert "damaged" in failure(capsys, "predict", folder, table, "-o", tmp_path / "p.csv")[1]
    (folder / "facts.json").write_text((model / "facts.json").read_text())
    (folder / "model.json").write_text("{")
    assert "cut off" in failure(capsys, "predict", folder, table, "-o", tmp_path / "p.csv")[1]


def test_faults_of_ours_say_so(monkeypatch, model, table, tmp_path, capsys):
    def fail(*_):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("softbin.commands.predict.read_model", fail)
    code, error = failure(capsys, "predict", model, table, "-o", tmp_path / "p.csv")
    assert (code, "fault of softbin itself, ZeroDivisionError" in error) == (3, True)
    with pytest.raises(ZeroDivisionError):
        run(["predict", str(model), str(table), "-o", str(tmp_path / "p.csv")], debug=True)


def in_a_process(*words):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "COLUMNS": "100"}
    return subprocess.run(
        [sys.executable, "-m", "softbin", *words], capture_output=True, text=True, env=environment, check=False
    )


def test_the_module_is_the_command():
    done = in_a_process("--version")
    assert (done.returncode, done.stdout.strip()) == (0, f"softbin {softbin.__version__}")


def test_debug_shows_where_an_error_comes_from(tmp_path):
    words = ("fit", str(tmp_path / "none.csv"), "-t", "y", "-o", str(tmp_path / "m"))
    short, long = in_a_process(*words), in_a_process(*words, "--debug")
    assert "Traceback" not in short.stderr
    assert "Traceback" in long.stderr
    assert "read_table_file" in long.stderr
    assert short.returncode == long.returncode == 1


@pytest.mark.parametrize(
    "command", ["fit", "transform", "predict", "inspect", "paper", "data simulate", "data download"]
)
def test_help_has_an_example(command, capsys):
    assert softbin_run(*command.split(), "--help") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"softbin {command}" in shown.split("Example")[1]
