"""Attack plenum, and count what it withstands.

    python scripts/bench/hostile.py [answers|kills|fuzz|quick]

- answers  a server on loopback gives each kind of hostile answer to a real sweep; a kind is held
           where nothing breaks, leaks, blocks, or is paid twice
- kills    first runs in empty folders are killed at 40 moments; the same command must heal each
- fuzz     1,000,000 odd replies are read by plenum and by an independent reading of
           docs/protocol.md

Without a word all three run, one after the other. `quick` plays all answers, 4 kills and 20,000
replies. Everything that wasn't held is listed.
"""

import json
import os
import platform
import time
from typing import Any

from attacks import answers, fuzz, kills
from measuring import mode
from rich import box
from rich.console import Console
from rich.table import Table

Row = tuple[str, str, str]

_SHOWN = 20
"""So many problems of a part are listed."""


def main() -> None:
    """Measure, print a table for people, and one JSON line for machines."""
    chosen = mode(__doc__, "answers", "kills", "fuzz", "quick")
    quick = chosen == "quick"
    figures: dict[str, Any] = {}
    rows: list[Row] = []
    problems: list[str] = []
    for name, attack in (("answers", _answers), ("kills", _kills), ("fuzz", _fuzz)):
        if chosen not in ("", "quick", name):
            continue
        print(f"{name} ...", flush=True)
        began = time.monotonic()
        more, measured, wrong = attack(quick)
        rows += measured
        problems += [f"{name}: {problem}" for problem in wrong[:_SHOWN]]
        figures |= {**more, f"{name}_s": round(time.monotonic() - began, 1)}
    table = Table(box=box.SIMPLE_HEAD, title=f"{platform.processor() or platform.machine()}, "
                  f"{os.cpu_count()} cores, Python {platform.python_version()}")  # fmt: skip
    for head in ("figure", "measured", "to reach"):
        table.add_column(head)
    for row in rows:
        table.add_row(*row)
    console = Console(width=120)
    console.print(table)
    for problem in problems:
        console.print(problem, markup=False, highlight=False)
    print(json.dumps(figures))


def _answers(quick: bool) -> tuple[dict[str, Any], list[Row], list[str]]:
    result = answers.run()
    total = result["kinds"]
    figures = {
        "hostile_held": result["held"],
        "hostile_kinds": total,
        "hostile_peak_mb": result["peak_mb"],
    }
    rows = [
        ("kinds of hostile answers held", f"{result['held']} of {total}", "all of at least 60"),
        ("peak memory of a sweep", f"{result['peak_mb']} MB", "700 MB"),
    ]
    return figures, rows, [f"{kind}: {wrong}" for kind, wrong in result["wrong"].items()]


def _kills(quick: bool) -> tuple[dict[str, Any], list[Row], list[str]]:
    result = kills.run(4 if quick else 40)
    figures = {"first_run_healed": result.healed, "first_run_kills": result.kills}
    healed = ("killed first runs healed", f"{result.healed} of {result.kills}", "all of 40")
    return figures, [healed], list(result.problems)


def _fuzz(quick: bool) -> tuple[dict[str, Any], list[Row], list[str]]:
    result = fuzz.run(20_000 if quick else 1_000_000)
    figures = {key: value for key, value in result.items() if key.startswith("fuzz_")}
    accepted = f"{result['fuzz_accepted']:,} of {result['fuzz_replies']:,}"
    rows = [
        ("replies read differently", str(result["fuzz_misread"]), "0 of 1,000,000"),
        ("replies accepted by the page", accepted, "-"),
    ]
    return figures, rows, [str(example) for example in result["examples"]]


if __name__ == "__main__":
    main()
