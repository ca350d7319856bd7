"""Measure how the house is built: size, kinds, circles, docs, and what an idle sweep costs.

    python scripts/bench/house.py [CHECKOUT] [--quick] [--suite]

- source_lines   lines of Python in `src/plenum` and `src/hydra_plugins`
- test_lines     lines of Python in `tests`
- suite_s        seconds of the suite as `make test` runs it; only with --suite
- kind_branches  places in code and templates, outside the kinds' own, that ask for the kind
- loose_files    Python files at the top of the package
- import_circles groups of modules that import each other, under TYPE_CHECKING too
- world_files    source files outside `worlds/NAME/` whose code names a world
- doc_words      words of README, CONTRIBUTING and docs, without generated pages and appendices
- idle_sweep_s   the default sweep again when nothing is left to do, with its tables, median of
                 three; not with --quick

Beside each stands its value at commit 46711e4, counted by the same rules. With the path of another
CHECKOUT, that one is measured. `tests/architecture.py` says what exactly is counted.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(HERE / "tests"))

import architecture  # noqa: E402

SWEEP = ("run.py", "-m", "roles=on,off", "model=uniform,mixed")
FIGURES: dict[str, tuple[float, float]] = {
    "source_lines": (39454, 28000),
    "test_lines": (31526, 23000),
    "suite_s": (1110, 420),
    "kind_branches": (23, 0),
    "loose_files": (19, 3),
    "import_circles": (4, 0),
    "world_files": (18, 2),
    "doc_words": (54000, 30000),
    "idle_sweep_s": (8.7, 4),
}
"""What each figure was at commit 46711e4, as issue 17 gives it, and at most should be."""

SHOWN = ("kind_branches", "world_files", "import_circles")


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

    places = {
        "kind_branches": architecture.kind_branches(root),
        "world_files": [str(path.relative_to(root)) for path in architecture.world_files(root)],
        "import_circles": [" - ".join(circle) for circle in architecture.import_circles(root)],
    }
    figures: dict[str, float | None] = {
        "source_lines": architecture.lines(architecture.sources(root)),
        "test_lines": architecture.lines(sorted((root / "tests").rglob("*.py"))),
        "suite_s": _suite_s(root) if given.suite else None,
        "kind_branches": len(places["kind_branches"]),
        "loose_files": len(architecture.loose_files(root)),
        "import_circles": len(places["import_circles"]),
        "world_files": len(places["world_files"]),
        "doc_words": architecture.doc_words(root),
        "idle_sweep_s": None if given.quick else _idle_sweep_s(root),
    }
    console = Console(width=120)
    console.print(_table(root, figures))
    if busy > 1 and not given.quick:
        console.print(f"load average {busy:.1f} before this began: its seconds are no measure")
    for name in SHOWN:
        for place in places[name]:
            console.print(f"{name}: {place}", highlight=False)
    print(json.dumps(figures))


def _table(root: Path, figures: dict[str, float | None]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title=str(root))
    for head in ("figure", "measured", "to reach", "46711e4"):
        table.add_column(head, justify="left" if head == "figure" else "right")
    for name, (before, most) in FIGURES.items():
        value = figures[name]
        shown = "-" if value is None else f"{value:,}" + ("" if value <= most else " !")
        table.add_row(name, shown, f"≤ {most:,}", f"{before:,}")
    return table


def _idle_sweep_s(root: Path) -> float:
    """Seconds of the default sweep when all its replicates are there."""
    with tempfile.TemporaryDirectory() as folder:
        _run(root, [str(root / SWEEP[0]), *SWEEP[1:]], folder)
        again = [_run(root, [str(root / SWEEP[0]), *SWEEP[1:]], folder) for _ in range(3)]
    return round(statistics.median(again), 2)


def _suite_s(root: Path) -> float:
    """Seconds of pytest with the arguments that the Makefile's target ``test`` gives it."""
    match = re.search(r"^test:.*\n\t\$\(BIN\)/python (-m pytest.*)$", _makefile(root), re.MULTILINE)
    if match is None:
        sys.exit("Makefile: its target test runs no pytest")
    return round(_run(root, match[1].split(), str(root)), 1)


def _makefile(root: Path) -> str:
    return (root / "Makefile").read_text(encoding="utf-8")


def _run(root: Path, arguments: list[str], folder: str) -> float:
    """Seconds that a command of the checkout takes; it must succeed."""
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    environment.pop("PLENUM_ROOT", None)
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{' '.join(arguments)} ended with {done.returncode}:\n{done.stderr[-4000:]}")
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
