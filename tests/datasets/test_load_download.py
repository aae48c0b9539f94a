"""Downloads from a server that stalls, cuts off, ignores Range, and sends what nobody asked for."""

import hashlib
import random
import time

import pytest
from tests.datasets.web import serving

from softbin.datasets.download import Patience, Remote, fetch
from softbin.errors import CacheError, DownloadError

CONTENT = b"\x1f\x8b" + random.Random(0).randbytes(300_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
PATIENCE = Patience(stall=0.3, pauses=(0.0, 0.0))


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def target(tmp_path):
    return tmp_path / "cache" / "HIGGS.csv.gz"


def known(site, **changes):
    return Remote(**{"url": site.url, "size": len(CONTENT), "sha256": SHA256} | changes)


def left(target):
    return sorted(path.name for path in target.parent.iterdir())


@pytest.mark.parametrize("size", [len(CONTENT), None])
@pytest.mark.parametrize("tricks", [(), ("no length",)], ids=str)
def test_a_file_is_fetched_whole(target, size, tricks):
    with serving(CONTENT, *tricks) as site:
        fetch(known(site, size=size), target, False, PATIENCE)
    assert target.read_bytes() == CONTENT
    assert left(target) == ["HIGGS.csv.gz"]
    assert site.asked == [None]


@pytest.mark.parametrize("trouble", ["cuts off", "stalls", "hangs up", "ends without length", "503", "429"])
def test_trouble_is_tried_again_from_where_it_stopped(target, trouble):
    with serving(CONTENT, trouble) as site:
        fetch(known(site), target, False, PATIENCE)
    assert target.read_bytes() == CONTENT
    came = len(CONTENT) // 2 if trouble in ("cuts off", "stalls", "ends without length") else 0
    assert site.asked == [None, f"bytes={came}-" if came else None]


def test_any_number_of_tries_as_long_as_each_brings_something(target):
    with serving(CONTENT, *["cuts off"] * 8) as site:
        fetch(known(site), target, False, PATIENCE)
    assert len(site.asked) == 9 > 3 * len(PATIENCE.pauses)
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("trouble", ["hangs up", "502"])
def test_tries_that_bring_nothing_come_to_an_end(target, trouble):
    with (
        serving(CONTENT, "cuts off", *[trouble] * 50) as site,
        pytest.raises(DownloadError, match=r"3 times in a row without a new byte; 150\.0 kB are kept: try again later"),
    ):
        fetch(known(site), target, False, PATIENCE)
    assert left(target) == ["HIGGS.csv.gz.part"]
    with serving(CONTENT) as site:
        fetch(known(site), target, False, PATIENCE)
    assert site.asked == ["bytes=150001-"]
    assert target.read_bytes() == CONTENT


def test_pauses_grow_and_are_kept(target):
    began = time.perf_counter()
    with serving(CONTENT, *["503"] * 9) as site, pytest.raises(DownloadError):
        fetch(known(site), target, False, Patience(0.3, (0.05, 0.2)))
    assert time.perf_counter() - began >= 0.25
    assert len(site.asked) == 3


def test_a_server_that_ignores_range_loses_nothing(target):
    with serving(CONTENT, "cuts off", "ignores range") as site:
        fetch(known(site), target, False, PATIENCE)
    assert site.asked == [None, "bytes=150001-"]
    assert target.read_bytes() == CONTENT


def test_bytes_from_elsewhere_are_not_appended(target):
    with serving(CONTENT, "cuts off", "wrong start") as site:
        fetch(known(site), target, False, PATIENCE)
    assert target.read_bytes() == CONTENT


def test_a_complete_part_of_unknown_size_is_noticed(target):
    target.parent.mkdir()
    target.with_name("HIGGS.csv.gz.part").write_bytes(CONTENT)
    with serving(CONTENT) as site:
        fetch(known(site, size=None), target, False, PATIENCE)
    assert left(target) == ["HIGGS.csv.gz"]


@pytest.mark.parametrize("size", [len(CONTENT), None])
def test_a_part_that_is_too_long_is_begun_again(target, size):
    target.parent.mkdir()
    target.with_name("HIGGS.csv.gz.part").write_bytes(CONTENT + b"and more")
    with serving(CONTENT) as site:
        fetch(known(site, size=size), target, False, PATIENCE)
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("size", [len(CONTENT), None])
def test_a_page_instead_of_the_rest_is_refused_and_spoils_nothing(target, size):
    target.parent.mkdir()
    target.with_name("HIGGS.csv.gz.part").write_bytes(CONTENT[:1000])
    with serving(CONTENT, "garbage") as site, pytest.raises(DownloadError, match=r"page of a\s+proxy"):
        fetch(known(site, size=size), target, False, PATIENCE)
    with serving(CONTENT) as site:
        fetch(known(site, size=size), target, False, PATIENCE)
    assert site.asked == ["bytes=1000-"]
    assert target.read_bytes() == CONTENT


def test_a_page_at_first_is_refused(target):
    with serving(CONTENT, "garbage") as site, pytest.raises(DownloadError, match=r"starts with b'<html>.*not gzip"):
        fetch(known(site, size=None), target, False, PATIENCE)
    assert len(site.asked) == 1


def test_another_size_is_refused_before_anything_is_kept(target):
    with (
        serving(CONTENT, "other size") as site,
        pytest.raises(DownloadError, match="has 300,006 bytes instead"),
    ):
        fetch(known(site), target, False, PATIENCE)
    assert left(target) == []


@pytest.mark.parametrize("code", ["404", "403"])
def test_a_file_that_is_not_there_is_not_tried_again(target, code):
    with (
        serving(CONTENT, code) as site,
        pytest.raises(DownloadError, match=f"answered {code} .*by hand"),
    ):
        fetch(known(site), target, False, PATIENCE)
    assert len(site.asked) == 1


def test_another_hash_sets_the_file_aside(target):
    with (
        serving(CONTENT, "flips a byte") as site,
        pytest.raises(DownloadError, match=r"sha256 [0-9a-f]{64} instead of [0-9a-f]{64}; try again, or look at"),
    ):
        fetch(known(site), target, False, PATIENCE)
    assert left(target) == ["HIGGS.csv.gz.rejected"]


def test_nobody_there(target):
    with serving(CONTENT) as site:
        pass
    with pytest.raises(DownloadError, match="the connection failed"):
        fetch(known(site), target, False, PATIENCE)


def test_too_little_space_is_said_before_the_download(target, monkeypatch):
    monkeypatch.setattr("softbin.datasets.download.shutil.disk_usage", lambda _: type("Usage", (), {"free": 1000}))
    with serving(CONTENT) as site, pytest.raises(CacheError, match=r"1\.0 kB are free, the download needs 300\.0 kB"):
        fetch(known(site), target, False, PATIENCE)
    assert site.asked == []


def test_progress_is_shown_on_a_terminal_and_in_a_log(target, capsys, monkeypatch):
    monkeypatch.setattr("softbin.datasets.progress.TERMINAL_SECONDS", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with serving(CONTENT, "cuts off") as site:
        fetch(known(site), target, True, PATIENCE)
    shown = capsys.readouterr().err
    assert "the connection ended after 150,001 of 300,002 bytes; trying again in 0 s\n" in shown
    assert "\rdownloading HIGGS.csv.gz: 300.0 kB in " in shown
    monkeypatch.setattr("sys.stderr.isatty", lambda: False)
    target.unlink()
    with serving(CONTENT) as site:
        fetch(known(site), target, True, PATIENCE)
    assert capsys.readouterr().err.count("\n") == 1
