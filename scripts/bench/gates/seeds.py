"""Audit a coin of 0.80 with ten seeds, and count the trials in which some seed calls it stable.

What a seed does is asked of the command itself, by a dry run, and of the condition's identity. A
seed that is refused gives no verdict; seeds of one identity share their runs; another identity
draws anew. Outcomes are drawn by identity, and judged by the audit's verdict.
"""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plenum.base import make_generator
from plenum.design import Sampling, Simulated
from plenum_audit.dynamics import STABLE, StabilityRule, begin_evidence, encode_outcomes
from plenum_audit.programs import AuditCase, ProgramCondition

SHARE, SEEDS, TRIALS, RUNS = 0.80, 10, 200, 100
OPTIONS = ("A", "B", "C")
ROOT = Path(__file__).resolve().parents[3]
_PROGRAM = "def coin(case, run):\n    return 'A'\n"
_CASE = "{id: coin, text: Which?, options: {A: plan A, B: plan B, C: plan C}}"


def measure(quick: bool) -> dict[str, Any]:
    """The share of trials, and how many seeds are refused."""
    allowed = [seed for seed in range(SEEDS) if is_allowed(f"seed={seed}")]
    trials = 20 if quick else TRIALS
    passed = sum(
        any(is_stable(_outcomes(_identity(trial, seed))) for seed in allowed)
        for trial in range(trials)
    )
    return {"false_stable_seeds": passed / trials, "seeds_refused": SEEDS - len(allowed)}


def is_allowed(*settings: str) -> bool:
    """Return whether `scripts/audit.py` takes settings: a dry run of it, which runs nothing."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "app.py").write_text(_PROGRAM)
        (Path(folder) / "coin.yaml").write_text(_CASE)
        given = ("committee=app.py:coin", "case=coin.yaml", "tracking=none", "backend=simulated")
        command = (sys.executable, str(ROOT / "scripts/audit.py"), *given, "dry_run=true")
        done = subprocess.run([*command, *settings], cwd=folder, capture_output=True, text=True)
    named = settings[0].partition("=")[0]
    if done.returncode not in (0, 2) or (done.returncode and f"error: {named}" not in done.stderr):
        raise RuntimeError(f"{' '.join(settings)}: status {done.returncode}: {done.stderr}")
    return done.returncode == 0


def _identity(trial: int, seed: int) -> str:
    condition = ProgramCondition(
        model="its own",
        sampling=Sampling(),
        backend=Simulated(),
        rounds=1,
        seed=seed,
        committee="coin",
        program={"trial": trial},
        case=AuditCase("coin", "Which?", {o: f"plan {o}" for o in OPTIONS}),
        knobs={},
        overrides={},
    )
    return condition.identity


def _outcomes(identity: str) -> list[str]:
    """The decisions of a coin."""
    rng = make_generator("bench", "seeds", identity)
    rest = (1 - SHARE) / (len(OPTIONS) - 1)
    return [OPTIONS[n] for n in rng.choice(len(OPTIONS), p=[SHARE, rest, rest], size=RUNS)]


def is_stable(outcomes: Sequence[str]) -> bool:
    """Return whether an audit that looks after every run ends stable; its interval isn't needed."""
    evidence = begin_evidence(OPTIONS, StabilityRule())
    evidence.add(encode_outcomes(outcomes, OPTIONS))
    return evidence.evidence.verdict == STABLE
