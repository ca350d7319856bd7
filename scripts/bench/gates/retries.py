"""Audit a coin that hangs in 40 % of runs, take its failures up again ten times, and count.

The program decides A with a share of 0.80 where it doesn't hang, and so in 48 % of its runs. Each
try goes on with the runs that exist; one with `retry_failed=true` draws those that failed again,
where `scripts/audit.py` takes that setting (a dry run of the command says so). A trial counts where
any of the eleven audits ends stable.
"""

from typing import Any

from numpy.random import Generator

from gates.seeds import OPTIONS, RUNS, SHARE, TRIALS, is_allowed, is_stable
from plenum.base import make_generator
from plenum_audit.dynamics import FAILED

HANGS, RETRIES = 0.40, 10


def measure(quick: bool) -> dict[str, Any]:
    """The share of trials, and whether the command takes failures up again at all."""
    retried = is_allowed("retry_failed=true")
    trials = 20 if quick else TRIALS
    passed = sum(_passes(trial, RETRIES if retried else 0) for trial in range(trials))
    return {"false_stable_retries": passed / trials, "retries_refused": not retried}


def _passes(trial: int, retries: int) -> bool:
    """Return whether the audit, or one of the tries after it, is stable."""
    rng = make_generator("bench", "retries", trial)
    outcomes = [_run(rng) for _ in range(RUNS)]
    for _ in range(retries + 1):
        if is_stable(outcomes):
            return True
        outcomes = [_run(rng) if each == FAILED else each for each in outcomes]
    return False


def _run(rng: Generator) -> str:
    if rng.random() < HANGS:
        return FAILED
    rest = (1 - SHARE) / (len(OPTIONS) - 1)
    return str(rng.choice(OPTIONS, p=[SHARE, rest, rest]))
