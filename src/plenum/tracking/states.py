"""What runs in MLflow are written from: equal states, equal contents."""

import json
from typing import Any

from plenum.base.identity import digest
from plenum.records import Transcript

TAG = "plenum.journal"
"""Tag of a run: what it is written from; of a replicate, what its journal ended with."""


def of_replicate(transcript: Transcript, pending: str) -> str:
    """What a replicate's run is written from: its journal's last entry and length, or why it waits.

    Parameters
    ----------
    pending
        Why a replicate without an end waits, as ``budget`` or ``interrupted``.
    """
    last = transcript.entries[-1] if transcript.entries else transcript.head
    state = f"{digest(last)}-{len(transcript.entries)}"
    return state if transcript.end else f"{state}-{pending}"


def of_condition(estimates: dict[str, Any], condition: dict[str, Any]) -> str:
    """What a condition's run is written from; its accounts may change while the run stays."""
    kept = {key: value for key, value in estimates.items() if key != "accounts"}
    return digest([clean(kept), condition])


def of_run(status: str, tags: dict[str, str]) -> str:
    """What a run was wholly written from; empty where its writer was stopped before the end."""
    return "" if status == "RUNNING" else tags.get(TAG, "")


def accounts_text(accounts: dict[str, Any]) -> str:
    """The artifact that holds a condition's accounts."""
    return json.dumps(clean(accounts), indent=1, ensure_ascii=False)


def clean(value: Any) -> Any:
    """JSON has no NaN: numbers that aren't finite become texts."""
    return json.loads(json.dumps(value), parse_constant=str)
