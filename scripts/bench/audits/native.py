"""Audit plenum's committee as a program, run it natively, and compare what the two came to.

Both are the real command lines, on the simulated model: `scripts/audit.py` with the committee of
`examples/plenum_committee.py`, whose calls go over HTTP, and `run.py` with as many replicates.
"""

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenum.dynamics import summarise
from plenum.tracking import Study
from plenum_audit.tracking import collect_ensemble

ROOT = Path(__file__).resolve().parents[3]
SCENARIO = "CL-04"
SETTINGS = ("rounds=6", "temperature=t0.7")
"""With these three of ten replicates decide otherwise than most."""

_PROGRAM = """
import sys
sys.path.insert(0, {examples!r})
from plenum_committee import Committee
committee = Committee({settings})
"""


@dataclass(frozen=True)
class Came:
    """What runs came to: λ̂, D(t), flip rate, decisions and preferences, by run."""

    growth: float
    divergence: tuple[float, ...]
    flips: float
    decisions: tuple[str, ...]
    preferences: NDArray[np.float64]


@dataclass(frozen=True)
class Both:
    """The audit's runs and the native ones."""

    audited: Came
    native: Came

    @property
    def equal(self) -> bool:
        """True if they are the same to the last bit, and worth comparing: some run flips."""
        a, n = self.audited, self.native
        numbers = (a.growth, a.divergence, a.flips) == (n.growth, n.divergence, n.flips)
        same = a.decisions == n.decisions and np.array_equal(a.preferences, n.preferences)
        return numbers and same and n.flips > 0


def measure(runs: int = 20) -> dict[str, Any]:
    """Compare so many runs."""
    with tempfile.TemporaryDirectory() as folder:
        both = compare(Path(folder), runs)
    return {
        "native_equal": both.equal,
        "native_lambda": [both.audited.growth, both.native.growth],
        "native_flips": [both.audited.flips, both.native.flips],
        "native_runs": len(both.audited.decisions),
    }


def compare(folder: Path, runs: int) -> Both:
    """Run an audit, of at most so many runs, and then as many replicates as it made."""
    (folder / "program.py").write_text(
        _PROGRAM.format(examples=str(ROOT / "examples"), settings=", ".join(map(repr, SETTINGS)))
    )
    shares = (
        "unacceptable=0.69",
        "acceptable=0.71",
    )  # on both sides of the truth: nothing stops it
    _command(
        folder,
        "scripts/audit.py",
        "committee=program.py:committee",
        f"case={ROOT}/scenarios/{SCENARIO}.yaml",
        *("backend=simulated", f"max_runs={runs}", "study=audited", *shares),
    )
    uri = f"sqlite:///{folder}/mlruns/mlflow.db"
    (condition,) = Study("audited", uri).conditions
    table, labels = condition.tables["messages"], ("A", "B", "C")
    array, _, _ = collect_ensemble(table, labels, condition.indices)
    audited = _came(array, condition.decisions)
    _command(
        folder,
        "run.py",
        f"scenario={SCENARIO}",
        *SETTINGS,
        f"replicates={len(array)}",
        "study=native",
    )
    (native,) = Study("native", uri).conditions
    return Both(audited, _came(native.preferences, native.decisions))


def _came(preferences: NDArray[np.float64], decisions: tuple[str, ...]) -> Came:
    made = tuple("none" if decision == "NONE" else decision for decision in decisions)
    summary = summarise(preferences, made)
    return Came(
        growth=summary.lyapunov.value,
        divergence=tuple(summary.divergence),
        flips=summary.flip_rate.value,
        decisions=made,
        preferences=preferences,
    )


def _command(folder: Path, script: str, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / script), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
    )
    if done.returncode not in (0, 1, 3):
        raise RuntimeError(
            f"{script}: status {done.returncode}\n{(done.stdout + done.stderr)[-2000:]}"
        )
