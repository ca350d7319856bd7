"""The law of size: a capability enters when one of its size leaves."""

import doctest
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts/bench"))

import house  # noqa: E402

LIMIT = 52_500
"""Lines of code in src at most, without blanks, comments and docstrings; it only ever falls."""
LIMIT_OF_WORDS = 75_000
"""Words of docs at most; it only ever falls."""


def test_the_code_keeps_to_its_limit() -> None:
    assert house.count_code_lines(ROOT) <= LIMIT


def test_the_docs_keep_to_their_limit() -> None:
    assert house.count_docs_words(ROOT) <= LIMIT_OF_WORDS


def test_packages_offer_few_names() -> None:
    assert len(house.list_face_names(ROOT)) <= 250
    assert list((ROOT / "src").rglob("*.pyi")) == []


def test_explaining_costs_nothing() -> None:
    tried = doctest.testmod(house)
    assert tried.attempted == 1
    assert tried.failed == 0
