"""The page of long tests names the files that hold them, and these exist."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
PAGE = (TESTS.parent / "docs/appendix/tests.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`([\w/*]+(?:\.py|/))`", PAGE)
"""Files, by name or by path from `tests`, and folders, with a slash at their end."""

LONG = [
    file
    for file in sorted(TESTS.rglob("test_*.py"))
    if file != Path(__file__) and "mark.long" in file.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("file", LONG, ids=lambda file: file.name)
def test_a_file_with_long_tests_is_on_the_page(file: Path) -> None:
    place = file.relative_to(TESTS)
    folders = {f"{folder}/" for folder in place.parents}
    assert folders & {*NAMED} or any(str(place).endswith(name) for name in NAMED)


@pytest.mark.parametrize("name", sorted({*NAMED}))
def test_what_the_page_names_exists(name: str) -> None:
    assert list(TESTS.glob(name) if "/" in name else TESTS.rglob(name))
