"""Measure how large the house is, how long its tests take, and what an idle sweep costs.

    python scripts/bench/house.py [CHECKOUT] [--quick] [--suite]

- code_lines     lines of Python in src without blanks, comments and docstrings
- source_lines   all lines of Python in src
- test_lines, script_lines  lines of Python in tests and in scripts
- docs_words, docs_pages    words of all pages in docs, and their number
- packages       packages in src beside plenum; Hydra's plugins don't count
- groups         groups of entry points in pyproject.toml
- idle_sweep_s   the default sweep again when nothing is left to do, with its tables: the median of
                 three, in seconds; not with --quick
- quick_s, test_s, test_all_s  seconds of `make quick`, `make test` and `make test-all` with an
                 environment that is ready; only with --suite

Beside each figure stands its value at version 0.2.0. `tests/test_size.py` holds the first and the
fifth. With the path of another CHECKOUT, that one is measured.
"""

import argparse
import ast
import io
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
import tokenize
import tomllib
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parents[2]
SWEEP = ("-m", "roles=on,off", "model=uniform,mixed")
FIGURES: dict[str, tuple[float | None, float | None]] = {
    "code_lines": (58_200, 52_000),
    "source_lines": (92_526, None),
    "test_lines": (57_920, 53_000),
    "script_lines": (12_035, 6_000),
    "docs_words": (134_111, 75_000),
    "docs_pages": (90, 54),
    "packages": (10, 7),
    "groups": (20, 13),
    "idle_sweep_s": (1.74, None),
    "quick_s": (None, 60),
    "test_s": (314, 270),
    "test_all_s": (1_362, 1_100),
}
"""Each figure at version 0.2.0, and how much it is to be at most."""

_LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
"""Tokens that make no line a line of code."""


def main() -> None:
    """Measure, print a table for people, and one JSON line for machines."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", nargs="?", type=Path, default=HERE)
    parser.add_argument("--quick", action="store_true", help="count only")
    parser.add_argument("--suite", action="store_true", help="run the tests too")
    given = parser.parse_args()
    root, busy = given.checkout.resolve(), os.getloadavg()[0]
    if not (root / "src/plenum").is_dir():
        parser.error(f"{given.checkout}: no checkout of plenum")

    figures: dict[str, float | None] = dict(count_sizes(root))
    figures["idle_sweep_s"] = None if given.quick else _time_idle_sweep(root)
    for target in ("quick", "test", "test-all"):
        name = f"{target.replace('-', '_')}_s"
        figures[name] = _time_tests(root, target) if given.suite else None
    console = Console(width=100)
    console.print(_make_table(root, figures))
    if busy > 1 and not given.quick:
        console.print(f"load average {busy:.1f} before this began: its seconds are no measure")
    print(json.dumps({name: figures[name] for name in FIGURES}))


def count_sizes(root: Path) -> dict[str, int]:
    """Count what needs no run, by the names of the figures."""
    sources = list_python(root / "src")
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = {path.name for path in (root / "src").glob("plenum_*") if any(path.glob("*.py"))}
    return {
        "code_lines": count_code_lines(root),
        "source_lines": _count_lines(sources),
        "test_lines": _count_lines(list_python(root / "tests")),
        "script_lines": _count_lines(list_python(root / "scripts")),
        "docs_words": count_docs_words(root),
        "docs_pages": len(list_pages(root)),
        "packages": len(packages),
        "groups": len(project["entry-points"]),
    }


def list_python(folder: Path) -> list[Path]:
    """List the Python files below a folder, in the order of their paths."""
    return sorted(folder.rglob("*.py"))


def list_pages(root: Path) -> list[Path]:
    """List the pages of the docs."""
    return sorted((root / "docs").rglob("*.md"))


def count_docs_words(root: Path) -> int:
    """Count the words of all pages of the docs, as ``wc -w`` does."""
    return sum(len(page.read_text(encoding="utf-8").split()) for page in list_pages(root))


def count_code_lines(root: Path) -> int:
    """Count the lines of code in ``src``, as :func:`find_code_lines` finds them."""
    files = list_python(root / "src")
    return sum(len(find_code_lines(path.read_text(encoding="utf-8"))) for path in files)


def find_code_lines(source: str) -> set[int]:
    """Find the numbers of the lines that hold code: no blank, comment or docstring.

    A text that stands alone as a statement is a docstring, also that of an attribute.

    >>> sorted(find_code_lines('x=1 # why\\n\\n"What."\\ndef f():\\n    "F."\\n    return 1'))
    [1, 4, 6]
    """
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _LAYOUT:
            held |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        constant = node.value if isinstance(node, ast.Expr) else None
        if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
            held -= set(range(constant.lineno, (constant.end_lineno or 0) + 1))
    return held


def _count_lines(files: list[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def _make_table(root: Path, figures: dict[str, float | None]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title=str(root))
    for head in ("figure", "measured", "to reach", "0.2.0"):
        table.add_column(head, justify="left" if head == "figure" else "right")
    for name, (before, most) in FIGURES.items():
        value = figures[name]
        over = value is not None and most is not None and value > most
        shown = "-" if value is None else f"{value:,}" + (" !" if over else "")
        reach = "-" if most is None else f"≤ {most:,}"
        table.add_row(name, shown, reach, "-" if before is None else f"{before:,}")
    return table


def _time_idle_sweep(root: Path) -> float:
    """Time the default sweep when all its replicates are there, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        _run(root, [str(root / "run.py"), *SWEEP], folder)
        again = [_run(root, [str(root / "run.py"), *SWEEP], folder) for _ in range(3)]
    return round(statistics.median(again), 2)


def _time_tests(root: Path, target: str) -> float | None:
    """Time pytest as a target of the Makefile runs it; None where there is no such target."""
    show = ["make", "--dry-run", "--assume-old=.venv/.all", target]
    shown = subprocess.run(show, cwd=root, capture_output=True, text=True).stdout
    lines = shown.replace("\\\n", " ")  # as the shell reads a line that goes on
    match = re.search(r"^\S+/python (-m pytest .*)$", lines, re.MULTILINE)
    return None if match is None else round(_run(root, shlex.split(match[1]), str(root)), 1)


def _run(root: Path, arguments: list[str], folder: str) -> float:
    """Time a command of the checkout, in seconds; it must succeed."""
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    environment.pop("PLENUM_ROOT", None)
    began = time.perf_counter()
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        last = f"{done.stdout[-2000:]}{done.stderr[-4000:]}"
        raise RuntimeError(f"{' '.join(arguments)} ended with {done.returncode}:\n{last}")
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
