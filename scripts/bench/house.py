"""Measure how the house is built: size, packages, doors, names, and what an idle sweep costs.

    python scripts/bench/house.py [CHECKOUT] [--quick] [--suite] [--list FIGURE]

- core_lines             lines of Python in `src/plenum`
- source_lines           lines of Python in all packages and Hydra's plugins
- heart_lines            lines of the 25 files that a committee's way from config to table needs
- heart_foreign_words    words in them that belong to another capability, such as batch or world
- core_imports_siblings  imports of a sibling in `src/plenum`, inside functions too
- imports_past_faces     imports of a module from outside its room, past the room's `__init__.py`
- modules_loaded         modules of ours that `from plenum.committee import Deliberation` loads
- public_names           names that users may import: `__all__` of `plenum` and `plenum_audit`
- names_without_underscore  names at the top of all modules that have no underscore
- import_circles         groups of modules that import each other, under TYPE_CHECKING too
- kind_branches          places in code and templates, outside the kinds' own, that ask for the kind
- loose_files            Python files at the top of `src/plenum`
- duplicate_class_names  class names that are defined more than once
- docstrings_question    docstrings that begin with What, Who, Whether and the like
- frames_per_call        frames of ours between `run.py` and the answer of a simulated agent
- world_files            source files outside a world's folder whose code names it
- test_lines, doc_words  lines of Python in `tests`; words of README, CONTRIBUTING and docs
- test_s, test_all_s     seconds of `make test` and `make test-all`; only with --suite
- idle_sweep_s           the default sweep again when nothing is left to do, with its tables, median
                         of three; not with --quick

Beside each stands its value at commit abd4588, counted by the same rules. With the path of another
CHECKOUT, that one is measured. `tests/architecture.py` says what exactly is counted; `--list`
prints the places that a figure counts.
"""

import argparse
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(HERE / "tests"))

import architecture  # noqa: E402

SWEEP = ("run.py", "-m", "roles=on,off", "model=uniform,mixed")
FIGURES: dict[str, tuple[float | None, float | None]] = {
    "core_lines": (65184, 26000),
    "source_lines": (65755, 59000),
    "heart_lines": (4728, 4700),
    "heart_foreign_words": (81, 0),
    "core_imports_siblings": (None, 0),
    "imports_past_faces": (814, 0),
    "modules_loaded": (47, 20),
    "public_names": (None, 80),
    "names_without_underscore": (2290, None),
    "import_circles": (1, 0),
    "kind_branches": (0, 0),
    "loose_files": (3, 3),
    "duplicate_class_names": (50, 0),
    "docstrings_question": (659, 0),
    "frames_per_call": (15, 14),
    "world_files": (1, 1),
    "test_lines": (43406, None),
    "doc_words": (28826, None),
    "test_s": (1064, 300),  # these seconds on another, idle machine
    "test_all_s": (1064, 1200),  # there was one suite
    "idle_sweep_s": (1.6, 4),
}
"""Each figure at commit abd4588, where it was counted, and how much it is to be at most."""

LISTED: dict[str, Callable[[Path], Iterable[object]]] = {
    "heart_foreign_words": architecture.foreign_words,
    "core_imports_siblings": lambda root: _of_the_core(root),
    "imports_past_faces": architecture.imports_past_faces,
    "import_circles": architecture.import_circles,
    "kind_branches": architecture.kind_branches,
    "loose_files": architecture.loose_files,
    "duplicate_class_names": lambda root: architecture.repeated_class_names(root).items(),
    "docstrings_question": architecture.questions,
    "world_files": architecture.world_files,
}
"""Figures that count places, and the places."""


def main() -> None:
    """Measure, print a table for people, and one JSON line for machines."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", nargs="?", type=Path, default=HERE)
    parser.add_argument("--quick", action="store_true", help="count only")
    parser.add_argument("--suite", action="store_true", help="run the tests too")
    parser.add_argument("--list", choices=LISTED, help="print the places of a figure, and end")
    given = parser.parse_args()
    root, busy = given.checkout.resolve(), os.getloadavg()[0]
    if not (root / "src/plenum").is_dir():
        parser.error(f"{given.checkout}: no checkout of plenum")
    if given.list:
        for place in LISTED[given.list](root):
            print(place)
        return

    counts = {name: len(list(places(root))) for name, places in LISTED.items()}
    figures: dict[str, float | None] = {
        "core_lines": architecture.lines(sorted((root / "src/plenum").rglob("*.py"))),
        "source_lines": architecture.lines(architecture.sources(root)),
        "heart_lines": architecture.lines(architecture.heart(root)),
        "modules_loaded": architecture.modules_loaded(root),
        "public_names": len(architecture.public_names(root)),
        "names_without_underscore": architecture.names_without_underscore(root),
        "frames_per_call": architecture.frames_per_call(root),
        "test_lines": architecture.lines(sorted((root / "tests").rglob("*.py"))),
        "doc_words": architecture.doc_words(root),
        "test_s": _suite_s(root, "test") if given.suite else None,
        "test_all_s": _suite_s(root, "test-all") if given.suite else None,
        "idle_sweep_s": None if given.quick else _idle_sweep_s(root),
        **counts,
    }
    console = Console(width=120)
    console.print(_table(root, figures))
    if busy > 1 and not given.quick:
        console.print(f"load average {busy:.1f} before this began: its seconds are no measure")
    print(json.dumps({name: figures[name] for name in FIGURES}))


def _of_the_core(root: Path) -> list[tuple[str, str]]:
    """Imports of siblings in the laboratory: importer and imported."""
    pairs = architecture.package_imports(root)
    return [each for (package, _), found in pairs.items() if package == "plenum" for each in found]


def _table(root: Path, figures: dict[str, float | None]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title=str(root))
    for head in ("figure", "measured", "to reach", "abd4588"):
        table.add_column(head, justify="left" if head == "figure" else "right")
    for name, (before, most) in FIGURES.items():
        value = figures[name]
        over = value is not None and most is not None and value > most
        shown = "-" if value is None else f"{value:,}" + (" !" if over else "")
        reach = "-" if most is None else f"≤ {most:,}"
        table.add_row(name, shown, reach, "-" if before is None else f"{before:,}")
    return table


def _idle_sweep_s(root: Path) -> float:
    """Seconds of the default sweep when all its replicates are there."""
    with tempfile.TemporaryDirectory() as folder:
        _run(root, [str(root / SWEEP[0]), *SWEEP[1:]], folder)
        again = [_run(root, [str(root / SWEEP[0]), *SWEEP[1:]], folder) for _ in range(3)]
    return round(statistics.median(again), 2)


def _suite_s(root: Path, target: str) -> float | None:
    """Seconds of pytest as a target of the Makefile runs it; None where there is no such target."""
    show = ["make", "--dry-run", "--assume-old=.venv/.all", target]
    shown = subprocess.run(show, cwd=root, capture_output=True, text=True).stdout
    match = re.search(r"^\S+/python (-m pytest .*)$", shown, re.MULTILINE)
    return None if match is None else round(_run(root, shlex.split(match[1]), str(root)), 1)


def _run(root: Path, arguments: list[str], folder: str) -> float:
    """Seconds that a command of the checkout takes; it must succeed."""
    began = time.perf_counter()
    architecture.call_python(root, arguments, folder)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
