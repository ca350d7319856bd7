"""The estimates of a finished condition, computed for the tracking store, and in one line."""

from collections.abc import Sequence
from typing import Any

from plenum.base.errors import UserError
from plenum.base.extensions import blame_part
from plenum.base.identity import digest
from plenum.design.kinds import find_kind
from plenum.dynamics.fit import WINDOW
from plenum.dynamics.resampling import DRAWS
from plenum.dynamics.summary import ESTIMATORS_VERSION
from plenum.execution.usage import Accounts
from plenum.records.transcript import SIMULATED, Transcript
from plenum.records.transcript import collect_environments as environments_of

Report = dict[str, Any]

SETTINGS: dict[str, Any] = {"window": WINDOW, "interval": "jackknife", "draws": DRAWS, "seed": 0}
"""The settings of a sweep's estimates, as :func:`plenum.dynamics.summary.summarise` takes them."""


def report_condition(transcripts: Sequence[Transcript], accounts: Accounts) -> Report:
    """Make the report that the tracking process writes; ``line`` is a summary for people."""
    completed = [t for t in transcripts if t.status == "completed"]
    ends = [t.end for t in completed if t.end]
    counts = {
        "n_target": accounts["target"],
        "n_completed": accounts["completed"],
        "n_failed": sum(accounts["failed"].values()),
        "n_pending": sum(accounts["pending"].values()),
        "n_clerk_disagrees": sum(not end.get("clerk_agrees", True) for end in ends),
    }
    estimated = report_nothing("no_replicates", "no completed replicate")
    kind = find_kind(transcripts[0].head) if transcripts else None
    if kind and (counted := [t for t in transcripts if t.status in kind.outcomes]):
        part = f"kind of study {kind.name}: estimate"
        with blame_part(part):
            made = kind.estimate(counted)
        # Said here: in the tracking process it would be taken for an error of the store's.
        if lacking := ", ".join(sorted(estimated.keys() - made.keys())):
            raise UserError(f"{part} returns no {lacking}")
        estimated = made
    if environments := sorted(environments_of(transcripts)):
        estimated["environments"] = environments
    return {
        **estimated,
        "metrics": {**counts, **estimated["metrics"]},
        "failures": accounts["failed"],
        "simulated": _is_simulated(transcripts, accounts),
        "accounts": accounts,
        "made_from": _digest_input(transcripts, accounts),
    }


def _digest_input(transcripts: Sequence[Transcript], accounts: Accounts) -> str:
    """Digest the input of a report; equal on every machine, unlike computed floats."""
    return digest(
        {
            "estimators": ESTIMATORS_VERSION,
            "settings": SETTINGS,
            # A journal's last link names all that it holds.
            "replicates": [[t.head["replicate"], t.link] for t in transcripts],
            "counts": [accounts["target"], accounts["failed"], accounts["pending"]],
            "simulated": _is_simulated(transcripts, accounts),
        }
    )


def _is_simulated(transcripts: Sequence[Transcript], accounts: Accounts) -> bool:
    """Return whether agents were simulated, here or by a server with a fingerprint that says so."""
    fingerprints = {f for model in accounts["models"].values() for f in model["fingerprints"]}
    here = any(t.head["backend"] == "simulated" for t in transcripts)
    return here or SIMULATED in fingerprints


def report_nothing(status: str, line: str) -> Report:
    """Make the report of a condition that has nothing to estimate."""
    return {
        "metrics": {},
        "divergence": [],
        "interval": "",
        "status": status,
        "warnings": [],
        "line": line,
    }
