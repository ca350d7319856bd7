"""A verdict on 200,000 logged runs: seconds and memory of the real command, with all it writes.

2,000 cases of 100 runs each, whose shares of the usual decision are 1, 0.97, 0.9, 0.8 and 0.6.
`logs_shapes_s` has the same number of runs in one case, and in 50,000 cases of 4 runs.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from measuring import watch

from plenum.base import make_generator

_ROOT = Path(__file__).resolve().parents[3]
_SHARES = (1.0, 0.97, 0.9, 0.8, 0.6)
_SHAPES = {"2000 x 100": (2_000, 100), "1 x 200000": (1, 200_000), "50000 x 4": (50_000, 4)}
_VERDICTS = (0, 1, 3)


def measure(quick: bool) -> dict[str, Any]:
    """Seconds and megabytes of the first shape and the others; a tenth of the cases if quick."""
    seconds, megabytes = {}, {}
    for name, (cases, runs) in _SHAPES.items():
        few = max(cases // 10, 1) if quick else cases
        seconds[name], megabytes[name] = _audited(few, runs // 10 if quick and few == 1 else runs)
    first = next(iter(_SHAPES))
    return {
        "logs_200k_s": seconds[first],
        "logs_200k_mb": megabytes[first],
        "logs_shapes_s": seconds,
        "logs_shapes_mb": megabytes,
    }


def _audited(cases: int, runs: int) -> tuple[float, float]:
    """How long a log is audited, and the most memory that it took."""
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch) / "runs.jsonl"
        _write(log, cases, runs)
        script = str(_ROOT / "scripts" / "audit.py")
        command = [sys.executable, script, f"logs={log}", "study=logs"]
        used = watch(command, cwd=scratch, allowed=_VERDICTS)
        found = json.loads(next(Path(scratch).rglob("audit.json")).read_text())
        if found["cost"]["runs"] != cases * runs:
            raise RuntimeError(f"{found['cost']['runs']} of {cases * runs} runs were counted")
    return round(used.wall_s, 1), round(used.peak_mb)


def _write(log: Path, cases: int, runs: int) -> None:
    drawn = make_generator("bench", "logs", cases, runs).random((runs, cases))
    with log.open("w", encoding="utf-8") as file:
        for run in drawn:
            for case, draw in enumerate(run):
                decision = "approve" if draw < _SHARES[case % len(_SHARES)] else "refuse"
                row = {"case": f"case-{case:05d}", "decision": decision, "cost": 0.01}
                file.write(json.dumps(row) + "\n")
