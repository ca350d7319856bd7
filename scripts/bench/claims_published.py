"""The part of `claims.py` on the released runs: values and claims checked, and every rule applied.

It runs the commands that a user runs, in a folder of its own.
"""

import csv
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from plenum_papers.published import Release

_SCRIPTS = Path(__file__).resolve().parents[1]
_WORDINGS = "semantic"
"""The study of six runs, which all read different wordings: `docs/rules.md` leaves it out."""


def measure_published(clone: Path | None, quick: bool) -> dict[str, Any]:
    """Count what is recomputed and decided, and time all rules in all conditions."""
    if clone is None:
        return {"compared": "needs published=CLONE"}
    given = f"published={clone.resolve()}"
    with tempfile.TemporaryDirectory() as folder:
        checked = _run(folder, "papers.py", given, "check=true")
        figures: dict[str, Any] = json.loads(checked.splitlines()[-1])
        only = ["study=landscape"] if quick else []
        _run(folder, "import.py", given, *only)
        names = ["landscape"] if quick else Release(clone).studies
        studies = [f"published_{name}" for name in names if name != _WORDINGS]
        began = time.perf_counter()
        _run(folder, "tables.py", f"study={','.join(studies)}", "rules=all", "out=rules")
        figures["rules_s"] = round(time.perf_counter() - began, 1)
        with (Path(folder) / "rules/rules_conditions.csv").open(encoding="utf-8") as file:
            figures["rules"] = sum(1 for _ in csv.DictReader(file))
    return figures


def _run(folder: str, script: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, _SCRIPTS / script, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout
