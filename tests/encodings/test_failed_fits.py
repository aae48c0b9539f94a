"""A fit that fails or is interrupted leaves the encoder as it was: unfitted, or with the old fit."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from tests.columns import each_encoder, make, only_compiled
from tests.same import assert_same_matrix

import softbin.boundaries.fit
from softbin.errors import SoftbinError

X = np.random.default_rng(9).normal(size=(100, 2))
FRAME = pd.DataFrame(X, columns=["a", "b"])


class Broken:
    """A rule that fails on its second column."""

    def __init__(self):
        self.calls = 0

    def boundaries(self, histogram, *, knots=False):
        self.calls += 1
        if self.calls > 1:
            raise ZeroDivisionError("the rule is broken")
        return softbin.Boundaries((0, 1))


def fail_by_data(encoder):
    with pytest.raises(SoftbinError):
        encoder.fit(np.array([["a", "b"]]))


def fail_by_option(encoder):
    bins, encoder.n_bins = encoder.n_bins, [1, 2, 3]
    with pytest.raises(SoftbinError):
        encoder.fit(FRAME)
    encoder.n_bins = bins


def fail_by_rule(encoder):
    strategy, encoder.strategy = encoder.strategy, Broken()
    with pytest.raises(ZeroDivisionError, match="the rule is broken"):
        encoder.fit(FRAME)
    encoder.strategy = strategy


def fail_by_weight(encoder):
    with pytest.raises(SoftbinError):
        encoder.fit(FRAME, sample_weight=[1.0])


def fail_by_interrupt(encoder):
    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(softbin.boundaries.fit, "bin_totals", interrupt)
        with pytest.raises(KeyboardInterrupt):
            encoder.fit(FRAME)


each_failure = pytest.mark.parametrize(
    "fail", [fail_by_data, fail_by_option, fail_by_rule, fail_by_weight, fail_by_interrupt]
)


@each_encoder
@each_failure
def test_an_unfitted_encoder_stays_unfitted(encoder, fail):
    made = make(encoder, "quantile")
    before = dict(vars(made))
    fail(made)
    assert vars(made) == before
    with pytest.raises(NotFittedError):
        check_is_fitted(made)
    with pytest.raises(NotFittedError):
        made.transform(X)


@each_encoder
@each_failure
def test_a_fitted_encoder_keeps_its_fit(encoder, fail):
    made = make(encoder, "quantile").fit(X)
    grid, report, encoded = made.grid_, made.fit_report_, made.transform(X)
    fail(made)
    assert made.grid_ == grid
    assert made.fit_report_ == report
    assert not hasattr(made, "feature_names_in_")
    assert_same_matrix(made.transform(X), encoded)


@each_encoder
def test_a_failed_transform_changes_nothing(encoder):
    made = make(encoder, "quantile").fit(X)
    encoded = made.transform(X)
    with pytest.raises(SoftbinError):
        made.transform([[np.nan, 0.0]])
    assert_same_matrix(made.transform(X), encoded)


LONG_FIT = """
    import sys, time
    import numpy as np
    from softbin import {encoder}

    # 8 columns of 4 billion rows, all the same few numbers: hours of work and no memory.
    row = np.arange(8, dtype=np.float32)
    X = np.broadcast_to(row, (4_000_000_000, 8))
    encoder = {encoder}(n_jobs={n_jobs})
    print("fitting", flush=True)
    try:
        encoder.{method}(X)
    except KeyboardInterrupt:
        print("interrupted", hasattr(encoder, "fit_report_"), flush=True)
"""


@only_compiled
@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX ones")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("encoder", ["HardBins", "SoftBins"])
def test_ctrl_c_ends_a_long_fit_within_a_second(encoder, n_jobs):
    script = textwrap.dedent(LONG_FIT.format(encoder=encoder, n_jobs=n_jobs, method="fit"))
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "fitting\n"
        time.sleep(0.7)
        assert process.poll() is None
        sent = time.perf_counter()
        process.send_signal(signal.SIGINT)
        answer = process.stdout.readline()
        waited = time.perf_counter() - sent
        assert answer == "interrupted False\n"
        assert waited < 1
        assert process.wait(timeout=5) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
