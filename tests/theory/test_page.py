"""docs/theory.md is what examples/theory.py writes today: the same words, and the same numbers up to rounding."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]\d+)?")
COMMITTED = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def written():
    return runpy.run_path(str(ROOT / "examples" / "theory.py"))["page"]()


def numbers(text):
    return [float(number) for number in NUMBER.findall(text)]


def test_the_page_has_the_words_that_the_command_writes(written):
    assert NUMBER.sub("#", COMMITTED) == NUMBER.sub("#", written)


def test_the_page_has_the_numbers_that_the_command_writes(written):
    assert numbers(COMMITTED) == pytest.approx(numbers(written), rel=0.002, abs=1e-9)


def test_another_number_would_be_noticed(written):
    changed = written.replace("0.340", "0.350", 1)
    assert numbers(changed) != pytest.approx(numbers(written), rel=0.002, abs=1e-9)


def test_pictures_of_the_page_are_there_and_small():
    pictures = re.findall(r"\((images/\S+\.png)\)", COMMITTED)
    assert len(pictures) == 3
    for picture in pictures:
        assert 0 < (ROOT / "docs" / picture).stat().st_size < 150_000
