"""load_higgs and load_susy: what comes back, what is kept, and every way a file can be damaged."""

import gzip
import hashlib
import re
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from tests.datasets.web import serving

import softbin
from softbin.datasets import uci
from softbin.datasets.cache import cache_directory, locked
from softbin.datasets.download import Patience, Remote
from softbin.datasets.parquet_table import GROUP
from softbin.errors import CacheError, DataError, DownloadError, MissingDependencyError, OptionError

ROWS, TEST_ROWS, COLUMNS = 1000, 200, 28
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(ROWS, COLUMNS)).astype(np.float32)
Y = RANDOM.integers(0, 2, ROWS).astype(np.int8)
# As UCI writes them.
LINES = [",".join(f"{value:.18e}" for value in (y, *x)) + "\n" for x, y in zip(X, Y, strict=True)]
TEXT = "".join(LINES)
ZIPPED = gzip.compress(TEXT.encode(), mtime=0)
PUBLISHED = replace(
    uci.HIGGS,
    remote=Remote("http://127.0.0.1:9/HIGGS.csv.gz", len(ZIPPED), hashlib.sha256(ZIPPED).hexdigest()),
    rows=ROWS,
    test_rows=TEST_ROWS,
)
PATIENCE = Patience(stall=0.3, pauses=(0.0,))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("SOFTBIN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def load(file=None, rows=None, part="train", published=PUBLISHED, verbose=False):
    return uci.load(published, file, rows, part, verbose, PATIENCE)


def at(site):
    return replace(PUBLISHED, remote=replace(PUBLISHED.remote, url=site.url))


def left(cache):
    return sorted(path.name for path in cache.iterdir() if path.suffix != ".lock")


@pytest.fixture
def own_file(tmp_path):
    def write(content, name="HIGGS.csv.gz"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(content.encode()) if isinstance(content, str) else content)
        return path

    return write


class TestWhatComesBack:
    def test_the_numbers_of_the_file_to_the_bit(self, own_file):
        data = load(own_file(ZIPPED), part="all")
        assert data.X.dtype == np.float32
        assert data.y.dtype == np.int8
        assert np.array_equal(data.X, X)
        assert np.array_equal(data.y, Y)
        assert data.columns == uci.HIGGS_COLUMNS
        assert list(data.to_frame().columns) == ["label", *data.columns]

    def test_test_rows_are_the_last_ones(self, own_file):
        path = own_file(ZIPPED)
        train, test = load(path), load(path, part="test")
        assert np.array_equal(train.X, X[:-TEST_ROWS])
        assert np.array_equal(test.X, X[-TEST_ROWS:])
        assert np.array_equal(test.y, Y[-TEST_ROWS:])

    @pytest.mark.parametrize("part", ["train", "test", "all"])
    @pytest.mark.parametrize("rows", [0, 1, 150])
    def test_fewer_rows_are_the_first_of_their_part(self, own_file, part, rows):
        path = own_file(ZIPPED)
        few, many = load(path, rows, part), load(path, part=part)
        assert few.X.shape == (rows, COLUMNS)
        assert np.array_equal(few.X, many.X[:rows])

    def test_rows_across_groups(self, own_file, monkeypatch):
        monkeypatch.setattr("softbin.datasets.parquet_table.GROUP", 64)
        monkeypatch.setattr("softbin.datasets.csv_file.BLOCK", 20_000)
        path = own_file(ZIPPED)
        for rows in (0, 63, 64, 65, 800):
            assert np.array_equal(load(path, rows).X, X[:rows])
        assert np.array_equal(load(path, 130, "test").X, X[800:930])
        assert GROUP > 64

    def test_plain_text_and_other_ends_of_lines_are_read_too(self, own_file):
        with pytest.warns(UserWarning, match="may not be UCI HIGGS: its sha256 is"):
            plain = load(own_file(TEXT.encode(), "HIGGS.csv"))
        with pytest.warns(UserWarning, match="may not be UCI HIGGS"):
            windows = load(own_file(TEXT.replace("\n", "\r\n")))
        assert np.array_equal(plain.X, X[:-TEST_ROWS])
        assert np.array_equal(windows.X, X[:-TEST_ROWS])

    def test_susy_has_columns_of_its_own(self, own_file):
        line = "1," + ",".join("0.5" for _ in range(18)) + "\n"
        with pytest.warns(UserWarning, match="may not be UCI SUSY.*it has 3 rows, not 5,000,000"):
            data = softbin.load_susy(own_file(line * 3), verbose=False)
        assert data.X.shape == (3, 18)
        assert data.columns[-1] == "cos_theta_r1"

    def test_an_excerpt_is_reported_and_has_no_test_rows(self, own_file):
        path = own_file("".join(LINES[:10]))
        for _ in range(2):
            with pytest.warns(UserWarning, match="10 rows, not 11,000,000, so no rows are set apart") as record:
                assert len(softbin.load_higgs(path, verbose=False).X) == 10
            assert record[0].filename == __file__
        with (
            pytest.warns(UserWarning, match="may not be"),
            pytest.raises(DataError, match="10 rows instead of 11,000,000, so which of them are test rows is not"),
        ):
            softbin.load_higgs(path, part="test", verbose=False)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"rows": -1}, "rows: -1 is not a whole number"),
            ({"rows": 1.5}, "rows: 1.5 is not a whole number"),
            ({"rows": True}, "rows: True is not a whole number"),
            ({"rows": 801}, "rows: 801 is more than the 800 of part='train'"),
            ({"part": "valid"}, "part: 'valid' is none of 'train', 'test', 'all'"),
        ],
    )
    def test_options_that_cannot_be(self, own_file, options, message):
        with pytest.raises(OptionError, match=message):
            load(own_file(ZIPPED), **options)


def test_memory_is_that_of_a_few_blocks(own_file, monkeypatch):
    held = []

    def watch(self, block):
        held.append(pyarrow.total_allocated_bytes())

    monkeypatch.setattr("softbin.datasets.parquet_table.GROUP", 1024)
    monkeypatch.setattr("softbin.datasets.csv_file.BLOCK", 1 << 14)
    monkeypatch.setattr("softbin.datasets.csv_file.CsvFile._check", watch)
    path = own_file(ZIPPED * 40)
    with pytest.warns(UserWarning, match="40,000 rows"):
        data = load(path, 0)
    assert len(held) > 100
    assert max(held) - held[0] < 40 * X.nbytes / 4
    assert len(data.X) == 0


class TestWhatIsKept:
    def test_a_download_is_converted_once(self, cache):
        with serving(ZIPPED, "cuts off") as site:
            first = load(published=at(site))
            second = load(published=at(site), part="test")
        assert len(site.asked) == 2
        assert left(cache) == ["HIGGS.parquet"]
        assert np.array_equal(np.concatenate([first.X, second.X]), X)

    def test_a_hash_that_nobody_knows_is_reported(self):
        with serving(ZIPPED) as site, pytest.warns(UserWarning, match=r"its sha256 is [0-9a-f]{64}, .* is not known"):
            load(published=replace(PUBLISHED, remote=Remote(site.url, None, None)))

    def test_a_local_file_is_converted_once_and_again_when_it_changes(self, cache, own_file, capsys):
        path = own_file(ZIPPED)
        load(path, verbose=True)
        assert "reading HIGGS.csv.gz: " in capsys.readouterr().err
        load(path, verbose=True)
        assert capsys.readouterr().err == ""
        own_file("".join(LINES[:10]))
        with pytest.warns(UserWarning, match="10 rows"):
            assert len(load(path).X) == 10
        assert len(left(cache)) == 1

    def test_files_in_different_places_are_kept_apart(self, cache, own_file, tmp_path):
        (tmp_path / "other").mkdir()
        load(own_file(ZIPPED))
        load(own_file(ZIPPED, "other/HIGGS.csv.gz"))
        assert len(left(cache)) == 2

    def test_a_download_whose_conversion_was_interrupted_is_not_repeated(self, cache, monkeypatch):
        with serving(ZIPPED) as site:
            with monkeypatch.context() as patched:
                patched.setattr("softbin.datasets.csv_file.CsvFile._check", interrupt)
                with pytest.raises(KeyboardInterrupt):
                    load(published=at(site))
            assert left(cache) == ["HIGGS.csv.gz"]
            load(published=at(site))
        assert len(site.asked) == 1

    def test_an_interrupted_download_goes_on(self, cache):
        with serving(ZIPPED, "cuts off", "hangs up", "hangs up") as site:
            with pytest.raises(DownloadError, match="a new byte"):
                load(published=at(site))
            load(published=at(site))
        assert site.asked[-1] == f"bytes={len(ZIPPED) // 2}-"

    def test_a_damaged_table_is_not_used(self, cache, own_file):
        path = own_file(ZIPPED)
        load(path)
        table = cache / left(cache)[0]
        content = bytearray(table.read_bytes())
        content[len(content) // 2] ^= 255
        table.write_bytes(content)
        with pytest.raises(CacheError, match=r"cannot be read: .*; delete it, it will be made again"):
            load(path)
        table.write_bytes(content[: len(content) // 2])
        with pytest.raises(CacheError, match=r"cannot be read: .*; delete it, it will be made again"):
            load(path)

    def test_a_table_of_another_schema_is_made_again(self, own_file, monkeypatch):
        path = own_file(ZIPPED)
        with monkeypatch.context() as patched:
            patched.setattr("softbin.datasets.parquet_table.SCHEMA", 0)
            load(path)
        assert np.array_equal(load(path).X, X[:-TEST_ROWS])

    @pytest.mark.skipif(sys.platform == "win32", reason="no limits of this kind")
    def test_a_full_disk(self, cache, own_file):
        import resource

        path = own_file(ZIPPED)
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
        try:
            with pytest.raises(CacheError, match="cannot be written: File too large; free some space, or set SOFTB"):
                load(path)
            assert left(cache) == []
            with serving(ZIPPED) as site, pytest.raises(CacheError, match="part: cannot be written: File too large"):
                load(published=at(site))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        with serving(ZIPPED) as site:
            load(published=at(site))
        assert site.asked == ["bytes=20000-"]

    def test_a_cache_that_cannot_be_written(self, own_file, tmp_path, monkeypatch):
        (tmp_path / "file").touch()
        monkeypatch.setenv("SOFTBIN_CACHE", str(tmp_path / "file" / "cache"))
        with pytest.raises(CacheError, match="cannot be written: Not a directory; check the permissions, or set"):
            load(own_file(ZIPPED))

    def test_where_the_cache_is(self, tmp_path, monkeypatch):
        assert cache_directory() == tmp_path / "cache"
        monkeypatch.delenv("SOFTBIN_CACHE")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
        monkeypatch.setattr("sys.platform", "linux")
        assert cache_directory() == tmp_path / "xdg" / "softbin"
        monkeypatch.setattr("sys.platform", "darwin")
        assert cache_directory().parts[-3:] == ("Library", "Caches", "softbin")
        monkeypatch.setattr("sys.platform", "win32")
        monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
        assert cache_directory() == tmp_path / "local" / "softbin" / "Cache"

    def test_without_pyarrow_the_extra_is_named(self, own_file, monkeypatch):
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
        with pytest.raises(MissingDependencyError, match=r'pip install "softbin\[files\]"'):
            load(own_file(ZIPPED))


def interrupt(*_):
    raise KeyboardInterrupt


def changed(line, column, text):
    fields = line.rstrip("\n").split(",")
    fields[column] = text
    return ",".join(fields) + "\n"


DAMAGED = {
    "too few fields": ("".join(LINES[:5]) + "1,2\n", "a row has 2 fields, not 29: '1,2'; repair that row"),
    "too many fields": ("".join(LINES[:5]) + LINES[5][:-1] + ",1\n", "a row has 30 fields, not 29"),
    "text": (LINES[0] + changed(LINES[1], 3, "abc"), "column 'lepton_phi': 'abc' is not a number; repair that row"),
    "a gap": (LINES[0] + changed(LINES[1], 1, ""), "column 'lepton_pt': an empty field is not a number"),
    "a header": ("".join(["label," + ",".join(uci.HIGGS_COLUMNS) + "\n", *LINES]), "'label' is not a number"),
    "an empty line": (LINES[0] + "\n" + LINES[1], "column 'label': an empty field"),
    "nan": (LINES[0] + changed(LINES[1], 28, "nan"), "column 'm_wwbb', row 2: nan is not a finite float32"),
    "beyond float32": (changed(LINES[0], 2, "1e99"), "column 'lepton_eta', row 1: inf is not a finite float32"),
    "a label of 2": (LINES[0] + changed(LINES[1], 0, "2"), "column 'label', row 2: 2.0 is not 0 or 1"),
    "nothing in gzip": ("", "the file is cut off or damaged .Empty CSV file"),
    "nothing": (b"", "the file is empty"),
    "cut off": (ZIPPED[:-5], "the file is cut off or damaged .Truncated"),
    "half": (ZIPPED[: len(ZIPPED) // 2], "the file is cut off or damaged"),
    "only the beginning": (ZIPPED[:6], "the file is cut off or damaged"),
    "a wrong checksum": (ZIPPED[:-6] + b"ab" + ZIPPED[-4:], "the file is cut off or damaged"),
    "a wrong byte": (ZIPPED[:50_000] + bytes([ZIPPED[50_000] ^ 1]) + ZIPPED[50_001:], "damaged|not a number|fields"),
    "more behind it": (ZIPPED + b"hello", "the file is cut off or damaged"),
    "a page": (b"<!DOCTYPE html>", "starts with b'<!DOCTYPE html>', neither a gzip file nor a row of numbers"),
    "a zip archive": (b"PK\x03\x04abc", "neither a gzip file nor a row of numbers; unpack it first"),
    "text cut off": (TEXT[:-3].encode(), "ends in the middle of a line"),
}


class TestDamage:
    @pytest.mark.parametrize("damage", DAMAGED)
    def test_a_damaged_file_is_an_error_and_leaves_nothing(self, cache, own_file, damage):
        content, message = DAMAGED[damage]
        path = own_file(content)
        with pytest.raises(DataError, match=message) as caught:
            load(path)
        assert str(caught.value).startswith(str(path))
        assert left(cache) == []

    def test_the_rows_before_the_damage_are_counted(self, own_file, monkeypatch):
        monkeypatch.setattr("softbin.datasets.csv_file.BLOCK", 20_000)
        with pytest.raises(DataError, match=r"somewhere after row [1-9][0-9]{2}: the file is cut off or damaged"):
            load(own_file(ZIPPED[:-5]))

    @pytest.mark.parametrize("name", ["nowhere.csv.gz", "."])
    def test_no_file(self, tmp_path, name):
        with pytest.raises(DataError, match=r"cannot be read: .*; pass the path of a CSV file"):
            load(tmp_path / name)


PROCESS = """
import sys, time
sys.path.insert(0, {root!r})
from tests.datasets.test_load_files import PATIENCE, PUBLISHED, replace, uci
from softbin.datasets.csv_file import CsvFile
check = CsvFile._check
def slow(*args):
    print("converting", flush=True)
    time.sleep({pause})
    check(*args)
CsvFile._check = slow
published = replace(PUBLISHED, remote=replace(PUBLISHED.remote, url={url!r}))
print(uci.load(published, None, None, "train", True, PATIENCE).X.shape)
"""


class TestSeveralAtOnce:
    def start(self, url, pause):
        code = PROCESS.format(root=str(Path(__file__).parents[2]), url=url, pause=pause)
        return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_two_processes_share_one_download(self, cache, capsys):
        with serving(ZIPPED) as site:
            other = self.start(site.url, 0.5)
            assert other.stdout.readline() == "converting\n"
            data = load(published=at(site), verbose=True)
            assert other.communicate(timeout=60)[0] == "(800, 28)\n"
        assert capsys.readouterr().err == "HIGGS: another process is at it; waiting until it is done\n"
        assert np.array_equal(data.X, X[:-TEST_ROWS])
        assert len(site.asked) == 1
        assert left(cache) == ["HIGGS.parquet"]

    def test_what_a_killed_process_leaves_is_no_obstacle(self, cache):
        with serving(ZIPPED) as site:
            process = self.start(site.url, 60)
            assert process.stdout.readline() == "converting\n"
            process.kill()
            process.communicate()
            assert left(cache) == ["HIGGS.csv.gz", "HIGGS.parquet.tmp"]
            assert np.array_equal(load(published=at(site)).X, X[:-TEST_ROWS])
        assert len(site.asked) == 1
        assert left(cache) == ["HIGGS.parquet"]

    def test_threads_take_turns(self, tmp_path):
        inside, waited, most = [], [], []

        def work():
            with locked(tmp_path / "table", lambda: waited.append(1)):
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.05)
                inside.pop()

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert most == [1, 1, 1]
        assert waited


def test_the_page_about_it_says_what_works(tmp_path, monkeypatch, own_file):
    page = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 2
    own_file(ZIPPED)
    monkeypatch.chdir(tmp_path)
    names = {}
    with serving(ZIPPED) as site:
        monkeypatch.setattr(uci, "HIGGS", at(site))
        for block in blocks:
            exec(block.replace("rows=1_000_000", "rows=100"), names)
    assert len(names["test"].X) == TEST_ROWS
    assert len(names["train"].X) == ROWS - TEST_ROWS
