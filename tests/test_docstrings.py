"""The examples in docstrings give what they say."""

import doctest
import importlib
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src"
ELSEWHERE = {"plenum/base/errors.py", "plenum/reports/notebook.py"}
"""Examples that need a study: `tests/plenum/e2e/test_notebook.py` has one for them."""
SHOWN = [
    path.relative_to(SOURCE)
    for path in sorted(SOURCE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
    and path.relative_to(SOURCE).as_posix() not in ELSEWHERE
]


@pytest.mark.parametrize("file", SHOWN, ids=str)
def test_an_example_gives_what_it_says(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some write a file
    module = importlib.import_module(".".join(file.with_suffix("").parts))
    tried = doctest.testmod(module)
    assert tried.attempted > 0
    assert tried.failed == 0
