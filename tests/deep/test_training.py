"""Training: repeatable to the bit, resumable after any kill, and honest when it cannot go on."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.deep.tables import TINY, two_classes

import softbin.deep.network
import softbin.deep.progress
import softbin.deep.rows
import softbin.deep.tensor_file
import softbin.deep.training
from softbin import DeepClassifier, DeepRegressor, SoftBins
from softbin.deep.losses import LOSSES
from softbin.deep.progress import EpochReport
from softbin.deep.rows import Resident, Rows, Streamed, source_of
from softbin.deep.training import Best, Step, TrainingOptions, judge, keep_of, learning_rate
from softbin.errors import DataError, DeviceMemoryError, DivergedError, OptionError, SavedFileError

X, Y = two_classes()
ROOT = Path(__file__).parents[2]


def classifier(**options):
    return DeepClassifier("soft:4", **{**TINY, "batch_size": 64, **options})


def same(model, other):
    return np.array_equal(model.predict_proba(X), other.predict_proba(X))


def test_a_fit_repeats_to_the_bit_and_leaves_torchs_generator_alone():
    torch.manual_seed(7)
    before = torch.get_rng_state()
    model = classifier().fit(X, Y)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(8)
    assert same(model, classifier().fit(X, Y))
    assert not same(model, classifier(random_state=1).fit(X, Y))


def test_a_model_learns():
    model = classifier(epochs=20, batch_size=32, learning_rate=1e-2).fit(X, Y)
    other, labels = two_classes(seed=1)
    assert model.score(other, labels) > 0.88
    history = model.history_
    assert history[-1].loss < 0.7 * history[0].loss
    assert max(report.score for report in history) == history[model.best_epoch_ - 1].score


# Rows


def rows(n):
    return Rows(torch.arange(n * 2.0).view(n, 2), torch.arange(float(n)), torch.ones(n))


@pytest.mark.parametrize("n", [1, 7, 64, 65])
@pytest.mark.parametrize("chunk", [1, 16, 48, 1000])
def test_streamed_rows_come_in_the_order_of_resident_ones(n, chunk):
    device = torch.device("cpu")
    resident, streamed = Resident(rows(n), 8, device), Streamed(rows(n), 8, device, chunk)
    seen = []
    batches = zip(resident.epoch(3), streamed.epoch(3), strict=True)
    for first, second in batches:
        assert len(first) == len(second) == 8
        ours, theirs = resident.held.take(first), streamed.held.take(second)
        assert torch.equal(ours.values, theirs.values)
        assert torch.equal(ours.weight, theirs.weight)
        seen += ours.target[ours.weight > 0].tolist()
    assert sorted(seen) == list(range(n))


def test_streaming_changes_no_bit_of_the_result(monkeypatch):
    model = classifier().fit(X, Y)
    monkeypatch.setattr(softbin.deep.training, "source_of", lambda r, b, d: Streamed(r, b, d, 128))
    streamed = classifier().fit(X, Y)
    assert (model.implementation_["rows"], streamed.implementation_["rows"]) == ("resident", "streamed")
    assert same(model, streamed)


def test_rows_of_a_single_batch():
    assert classifier(batch_size=1, epochs=1).fit(X[:20], Y[:20]).predict(X).shape == (400,)
    assert classifier(batch_size=10**9).fit(X, Y).batch_size_ < 400


# Checkpoints


class Killed(BaseException):
    pass


@pytest.mark.parametrize("epoch", [1, 3])
def test_a_resumed_training_gives_the_same_model(tmp_path, monkeypatch, epoch):
    whole = classifier(epochs=6).fit(X, Y)
    path = tmp_path / "state"

    def kill(line, report, *rest):
        if report.epoch == epoch + 1:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(softbin.deep.progress.ProgressLine, "__call__", kill)
        with pytest.raises(Killed):
            classifier(epochs=6, checkpoint=path).fit(X, Y)
    resumed = classifier(epochs=6, checkpoint=path, resume=True).fit(X, Y)
    assert same(whole, resumed)
    assert [report.loss for report in resumed.history_] == [report.loss for report in whole.history_]
    assert resumed.best_epoch_ == whole.best_epoch_
    again = classifier(epochs=6, checkpoint=path, resume=True).fit(X, Y)  # nothing left to do
    assert same(whole, again)


def test_a_killed_process_leaves_a_checkpoint_to_go_on_from(tmp_path):
    path = tmp_path / "state"
    options = {**TINY, "batch_size": 8, "epochs": 40, "patience": None, "checkpoint": str(path)}
    code = f"""
        import sys; sys.path.insert(0, {str(ROOT)!r})
        import torch; torch.set_num_threads(1)
        from tests.deep.tables import two_classes
        from softbin import DeepClassifier
        DeepClassifier("soft:4", **{options!r}).fit(*two_classes())
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)])
    deadline = time.monotonic() + 120
    while not path.exists() and time.monotonic() < deadline and child.poll() is None:
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert path.exists()
    resumed = DeepClassifier("soft:4", **options, resume=True).fit(X, Y)
    whole = DeepClassifier("soft:4", **{**options, "checkpoint": None}).fit(X, Y)
    assert same(whole, resumed)


def test_checkpoints_of_other_trainings_and_broken_ones_are_refused(tmp_path):
    path = tmp_path / "state"
    classifier(checkpoint=path).fit(X, Y)
    for other, table in ((classifier(width=17), X), (classifier(random_state=4), X), (classifier(), X + 1)):
        with pytest.raises(OptionError, match="is of another training"):
            other.set_params(checkpoint=path, resume=True).fit(table, Y)
    classifier(checkpoint=path).fit(X + 1, Y)  # without resume it is replaced
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(SavedFileError, match="cut off"):
        classifier(checkpoint=path, resume=True).fit(X + 1, Y)
    with pytest.raises(OptionError, match="there is no folder"):
        classifier(checkpoint=tmp_path / "no" / "state").fit(X, Y)


def test_a_regressor_does_not_go_on_where_a_classifier_stopped(tmp_path):
    y = (Y == "in").astype(int)
    classifier(checkpoint=tmp_path / "state").fit(X, y)
    with pytest.raises(OptionError, match="estimator differ"):
        DeepRegressor("soft:4", **TINY, batch_size=64, checkpoint=tmp_path / "state", resume=True).fit(X, y)


def test_checkpoints_that_cannot_be_written_are_refused_before_the_training(tmp_path, monkeypatch):
    monkeypatch.setattr(softbin.deep.progress.ProgressLine, "__call__", lambda *rest: pytest.fail("it trained"))
    for path in (tmp_path, "/proc/state", 3):
        with pytest.raises(OptionError, match="checkpoint: "):
            classifier(checkpoint=path).fit(X, Y)
    with pytest.raises(OptionError, match="resume: there is no checkpoint"):
        classifier(resume=True).fit(X, Y)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_writer_left_is_removed(tmp_path):
    leftover = tmp_path / ".state.123.456.tmp"
    leftover.mkdir()
    (leftover / "whole").write_bytes(b"half")
    classifier(checkpoint=tmp_path / "state", resume=True).fit(X, Y)
    assert [entry.name for entry in tmp_path.iterdir()] == ["state"]


def test_a_disk_that_fills_up_is_named(tmp_path, monkeypatch):
    def full(*rest):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(softbin.deep.tensor_file, "save_file", full)
    with pytest.raises(SavedFileError, match=r"state: cannot be written \(.*No space left"):
        classifier(checkpoint=tmp_path / "state").fit(X, Y)


# What can go wrong


def test_a_training_that_runs_off_says_so():
    with pytest.raises(DivergedError, match=r"learning_rate=1e\+25"):
        DeepRegressor("soft:4", **TINY, batch_size=64, learning_rate=1e25, patience=None).fit(X[:, :2], X[:, 0])


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    model = DeepRegressor("soft:4", **TINY, batch_size=64).fit(X[:, :2], X[:, 0])
    before = model.predict(X[:, :2])
    with pytest.raises(DivergedError):
        model.set_params(learning_rate=1e25).fit(X[:, :2], 5 * X[:, 0])
    assert np.array_equal(model.predict(X[:, :2]), before)


def test_too_little_memory_halves_the_batches(monkeypatch):
    run = softbin.deep.training.Step._run

    def limited(step, limit):
        if len(step.rows) > limit:
            raise torch.OutOfMemoryError("out of memory")
        run(step)

    monkeypatch.setattr(softbin.deep.training.Step, "_run", lambda step: limited(step, 20))
    model = classifier(batch_size=64).fit(X, Y)
    assert model.batch_size_ == 16
    monkeypatch.undo()
    assert same(model, classifier(batch_size=16).fit(X, Y))
    monkeypatch.setattr(softbin.deep.training.Step, "_run", lambda step: limited(step, 0))
    with pytest.raises(DeviceMemoryError, match="too little memory for batches of 1 rows"):
        classifier(batch_size=64).fit(X, Y)


def test_too_little_memory_judges_and_predicts_in_smaller_portions(monkeypatch):
    whole, forward = classifier().fit(X, Y), softbin.deep.network.Network.forward
    wanted = whole.predict_proba(X)

    def limited(network, values):
        if not network.training and len(values) > 7:
            raise torch.OutOfMemoryError("out of memory")
        return forward(network, values)

    monkeypatch.setattr(softbin.deep.network.Network, "forward", limited)
    model = classifier().fit(X, Y)
    assert model.batch_size_ == 64
    np.testing.assert_allclose(model.predict_proba(X), wanted, atol=1e-6)
    monkeypatch.setattr(softbin.deep.network.Network, "forward", lambda *rest: limited(rest[0], X))
    with pytest.raises(DeviceMemoryError, match="too little memory"):
        whole.predict_proba(X)


def test_a_batch_whose_weights_vanish_beside_the_others_changes_nothing():
    weight = np.where(np.arange(400) < 80, 1e30, 1e-30)
    model = classifier(batch_size=4, validation_fraction=0).fit(X, Y, weight)
    assert np.all(np.isfinite(model.predict_proba(X)))


def test_predictions_that_are_no_numbers_are_an_error():
    model = DeepClassifier(SoftBins(4, outside="linear"), **TINY).fit(X[:, :2].astype(float), Y)
    with pytest.raises(DataError, match=r"2 rows .* too far out, the first of them row 1"):
        model.predict(np.array([[0, 0], [1e300, 0], [0, 1], [0, -1e300]]))


def test_validation_rows_of_one_class_are_judged_by_their_loss():
    y = np.zeros(400, int)
    y[:2] = 1  # each class keeps its rows: a tenth of two is none
    model = classifier().fit(X, y)
    assert {report.score for report in model.history_} == {None}
    best = min(model.history_, key=lambda report: report.validation_loss)
    assert model.best_epoch_ == best.epoch


def test_without_validation_the_last_epoch_is_kept():
    model = classifier(validation_fraction=0, patience=1).fit(X, Y)
    assert model.best_epoch_ == len(model.history_) == TINY["epochs"]
    assert model.history_[0].validation_loss is None


def test_patience_stops_and_the_best_epoch_is_restored():
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 2, 400)
    model = classifier(epochs=40, patience=3, learning_rate=0.02).fit(X, noise)
    assert len(model.history_) == model.best_epoch_ + 3 < 40


# The pieces


def test_the_learning_rate_rises_then_falls_to_zero():
    options = TrainingOptions(learning_rate=1.0, warm_up=0.1)
    rates = [learning_rate(step, 100, options) for step in range(100)]
    assert rates[9] == rates[10] == 1.0
    assert all(a < b for a, b in pairwise(rates[:10]))
    assert all(a > b for a, b in pairwise(rates[10:]))
    assert rates[-1] < 1e-3
    assert learning_rate(0, 1, options) == 1.0
    assert keep_of(10, options) == 0
    assert keep_of(10**6, options) == 0.99


def test_the_best_epoch_has_the_higher_score_then_the_lower_loss():
    best = Best.none(torch.nn.Linear(1, 1))
    for epoch, (score, loss) in enumerate([(0.8, 0.5), (0.9, 0.6), (0.9, 0.55), (0.9, 0.7), (None, 0.1)], 1):
        best = best.or_better(EpochReport(epoch, 0.0, loss, score, 1.0), torch.nn.Linear(1, 1))
    assert best.epoch == 3
    assert not best.is_old(5, None)
    assert best.is_old(5, 2)
    assert not best.is_old(5, 3)


def test_judging_is_by_weighted_means():
    model = classifier().fit(X, Y)
    valid = Rows(torch.as_tensor(X[:50]), torch.arange(50) % 2.0, torch.arange(50.0))
    twice = valid.take(torch.arange(50).repeat_interleave(torch.arange(50)))
    twice = Rows(twice.values, twice.target, torch.ones(len(twice)))
    assert judge(model.network_, valid, LOSSES["binary"]) == pytest.approx(
        judge(model.network_, twice, LOSSES["binary"])
    )


def test_the_progress_line_says_loss_score_and_speed(capsys, monkeypatch):
    classifier(progress=True, epochs=2).fit(X, Y)
    text = capsys.readouterr().err
    assert [line.partition(",")[0] for line in text.splitlines()] == [f"DeepClassifier: epoch {i}/2" for i in (1, 2)]
    assert "\r" not in text  # nobody watches
    assert "DeepClassifier: epoch 2/2, loss 0." in text
    assert "AUC 0." in text
    assert "rows/s" in text
    classifier(epochs=2).fit(X, Y)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    classifier(progress=True, epochs=2).fit(X, Y)
    text = capsys.readouterr().err
    assert text.count("\r") == 2
    assert text.endswith("\n")


def test_smoothness_straightens_the_tables():
    def bends(smoothness):
        model = DeepClassifier("soft:20", **{**TINY, "epochs": 20}, batch_size=64, smoothness=smoothness).fit(X, Y)
        table = model.network_.embedding.table()[:21]  # the knots of the first column
        return float(table.diff(n=2, dim=0).square().sum())

    assert bends(1.0) < 0.4 * bends(0.0)


def test_compiled_training(monkeypatch):
    """The loop's side of compile=True; the compiler itself is torch's."""
    seen = []
    monkeypatch.setattr(torch, "compile", lambda network: seen.append(network) or network)
    model = classifier(compile=True).fit(X, Y)
    assert len(seen) == 1
    assert same(model, classifier().fit(X, Y))


def test_compile_holds_with_several_processes_too(monkeypatch):
    seen, network = [], torch.nn.Linear(2, 1)
    monkeypatch.setattr(torch, "compile", lambda given: seen.append(given) or given)
    monkeypatch.setattr("softbin.deep.training._n_ranks", lambda: 2)
    monkeypatch.setattr(torch.nn.parallel, "DistributedDataParallel", lambda given: ("shared", given))
    rows = Rows(torch.zeros(8, 2), torch.zeros(8), torch.ones(8))
    cpu, options = torch.device("cpu"), TrainingOptions(batch_size=4, compile=True)
    step = Step(network, source_of(rows, 4, cpu), LOSSES["number"], options, cpu, 0.9)
    assert seen == [("shared", network)]
    assert step.how == "torch.compile"


def test_two_processes_train_the_same_network_as_one(tmp_path):
    options = {**TINY, "batch_size": 64, "dropout": 0.0}
    script = tmp_path / "train.py"
    script.write_text(
        textwrap.dedent(f"""
        import os, sys; sys.path.insert(0, {str(ROOT)!r})
        import numpy as np, torch; torch.set_num_threads(1)
        from tests.deep.tables import two_classes
        from softbin import DeepClassifier
        X, Y = two_classes()
        model = DeepClassifier("soft:4", **{options!r}).fit(X, Y)
        np.save({str(tmp_path)!r} + "/" + os.environ["RANK"], model.predict_proba(X))
        torch.distributed.destroy_process_group()
    """)
    )
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone", str(script)]
    subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True)
    first, second = (np.load(tmp_path / f"{rank}.npy") for rank in (0, 1))
    assert np.array_equal(first, second)
    np.testing.assert_allclose(first, DeepClassifier("soft:4", **options).fit(X, Y).predict_proba(X), atol=1e-5)
