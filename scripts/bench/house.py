"""Measure how large the house is, how long its tests take, and what an idle sweep costs.

    python scripts/bench/house.py [CHECKOUT] [--quick] [--suite]

- code_lines     lines of Python in src without blanks, comments and docstrings
- source_lines   all lines of Python in src
- test_lines, script_lines  lines of Python in tests and in scripts
- docs_words, docs_pages    words of all pages in docs, and their number
- contributing_words        words of CONTRIBUTING.md
- face_names     names that the ``__init__.py`` files of packages offer; stubs: files ``*.pyi``
- one_word_names of these, those of one word
- packages       packages in src beside plenum; Hydra's plugins don't count
- entry_point_groups        groups of entry points in pyproject.toml
- walk_call      rooms of plenum on the stack between sweep.py and what answers a call, in a traced
                 call of a sweep; not with --quick
- idle_sweep_s   the default sweep again when nothing is left to do, with its tables: the median of
                 three, in seconds; not with --quick
- audit_start_s  the time until `scripts/verdict.py` has begun to print its verdict on a log of 40
                 rows: the median of three, in seconds; not with --quick
- quick_s, test_s, test_all_s  seconds of `make quick`, `make test` and `make test-all` with an
                 environment that is ready; only with --suite

Beside each figure stands its value at version 0.2.0. `tests/test_size.py` holds the lines of code
and the words of docs. With the path of another CHECKOUT, that one is measured.
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
    "code_lines": (58_200, 49_500),
    "source_lines": (92_526, None),
    "test_lines": (57_920, None),
    "script_lines": (12_035, None),
    "docs_words": (134_111, 75_000),
    "docs_pages": (90, 54),
    "contributing_words": (3_512, 1_500),
    "face_names": (1_049, 250),
    "stubs": (45, 0),
    "one_word_names": (None, 40),
    "packages": (10, None),
    "entry_point_groups": (20, 8),
    "walk_call": (6, 3),
    "idle_sweep_s": (1.74, 4),
    "audit_start_s": (3.4, 2),
    "quick_s": (None, 60),
    "test_s": (314, 240),
    "test_all_s": (1_362, 900),
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
    figures["walk_call"] = None if given.quick else _count_rooms_of_a_call(root)
    figures["audit_start_s"] = None if given.quick else _time_verdict(root)
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
    names = list_face_names(root)
    return {
        "code_lines": count_code_lines(root),
        "source_lines": _count_lines(sources),
        "test_lines": _count_lines(list_python(root / "tests")),
        "script_lines": _count_lines(list_python(root / "scripts")),
        "docs_words": count_docs_words(root),
        "docs_pages": len(list_pages(root)),
        "contributing_words": len((root / "CONTRIBUTING.md").read_text(encoding="utf-8").split()),
        "face_names": len(names),
        "stubs": len(list((root / "src").rglob("*.pyi"))),
        "one_word_names": sum("_" not in name and name.islower() for name in names),
        "packages": len(packages),
        "entry_point_groups": len(project["entry-points"]),
    }


def list_face_names(root: Path) -> list[str]:
    """List the names that packages offer: public ones that an ``__init__.py`` defines or lists.

    One that is imported counts where it is imported under its own name (``import x as x``).
    """
    return [
        name
        for path in list_python(root / "src")
        if path.name == "__init__.py"
        for name in sorted(_find_offered(ast.parse(path.read_text(encoding="utf-8"))))
    ]


def _find_offered(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {alias.name for alias in node.names if alias.asname == alias.name}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        targets = node.targets if isinstance(node, ast.Assign) else []
        found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name for name in found if not name.startswith("_")}


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


_TRACED = """
import runpy, sys, traceback
from plenum.calls.simulated.backend import SimulatedBackend
answer = SimulatedBackend.attempt
async def trace(self, chat, number):
    files = [frame.filename for frame in traceback.extract_stack()]
    below = max(i for i, file in enumerate(files) if file.endswith("execution/sweep.py"))
    inside = [file.partition("src/plenum/")[2] for file in files[below:]]
    with open("rooms.txt", "w") as file:
        file.write(" ".join(sorted({name.split("/")[0] for name in inside if name})))
    return await answer(self, chat, number)
SimulatedBackend.attempt = trace
sys.argv = ["run.py", "replicates=1", "rounds=1", "tracking=none"]
runpy.run_path({run!r}, run_name="__main__")
"""
"""A sweep of one replicate that notes the rooms on the stack of its last call."""


def _count_rooms_of_a_call(root: Path) -> int:
    """Count the rooms that a call passes from the sweep to what answers it."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "traced.py"
        script.write_text(_TRACED.replace("{run!r}", repr(str(root / "run.py"))))
        _run(root, [str(script)], folder)
        return len((Path(folder) / "rooms.txt").read_text().split())


def _time_idle_sweep(root: Path) -> float:
    """Time the default sweep when all its replicates are there, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        _run(root, [str(root / "run.py"), *SWEEP], folder)
        again = [_run(root, [str(root / "run.py"), *SWEEP], folder) for _ in range(3)]
    return round(statistics.median(again), 2)


def _time_verdict(root: Path) -> float | None:
    """Time a verdict until its first words, in seconds; None where there is no such script."""
    script = root / "scripts/verdict.py"
    if not script.is_file():
        return None
    rows = [{"case": f"c{row % 8}", "decision": "AB"[row % 3 == 0]} for row in range(40)]
    taken = []
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "x.jsonl")
        log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        for _ in range(3):
            began = time.perf_counter()
            command = [sys.executable, "-u", str(script), "logs=x.jsonl"]
            with subprocess.Popen(
                command,
                cwd=folder,
                env=_make_environment(root),
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            ) as started:
                assert started.stdout is not None
                if not started.stdout.read(1):
                    raise RuntimeError(f"{' '.join(command)} printed no verdict")
                taken.append(time.perf_counter() - began)
                started.stdout.read()  # so that it can go on
    return round(statistics.median(taken), 2)


def _time_tests(root: Path, target: str) -> float | None:
    """Time pytest as a target of the Makefile runs it; None where there is no such target."""
    show = ["make", "--dry-run", "--assume-old=.venv/.all", target]
    shown = subprocess.run(show, cwd=root, capture_output=True, text=True).stdout
    lines = shown.replace("\\\n", " ")  # as the shell reads a line that goes on
    match = re.search(r"^\S+/python (-m pytest .*)$", lines, re.MULTILINE)
    return None if match is None else round(_run(root, shlex.split(match[1]), str(root)), 1)


def _make_environment(root: Path) -> dict[str, str]:
    """Return the variables of a command that imports the checkout's packages."""
    kept = {name: value for name, value in os.environ.items() if name != "PLENUM_ROOT"}
    return {**kept, "PYTHONPATH": str(root / "src")}


def _run(root: Path, arguments: list[str], folder: str) -> float:
    """Time a command of the checkout, in seconds; it must succeed."""
    environment = _make_environment(root)
    began = time.perf_counter()
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        last = f"{done.stdout[-2000:]}{done.stderr[-4000:]}"
        raise RuntimeError(f"{' '.join(arguments)} ended with {done.returncode}:\n{last}")
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
