"""The shared contents of all kinds' pages: the list of conditions, and the rest's gathering."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plenum.design.factors import list_varying
from plenum.dynamics.warnings import WARNINGS
from plenum.records.transcript import Transcript
from plenum.reports.explorer.page import Layout
from plenum.reports.labels import origin
from plenum.reports.settings import Settings
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.transcripts import StoredTranscript

Replicates = Mapping[int, Transcript | None]
"""Transcripts by the replicate's number; ``None`` where the journal doesn't verify."""

Gather = Callable[
    [Settings, Sequence[TrackedCondition], Mapping[str, Sequence[StoredTranscript]], int | None],
    dict[str, Any],
]
"""From the settings, the conditions to show, their transcripts by run, and the most completed
transcripts of a condition (``None`` for all) to the page's data by id."""


@dataclass(frozen=True)
class Explorer:
    """The explorer of a kind's studies: their data, and the page that shows them."""

    gather: Gather
    layout: Layout


def make_index(
    study: str,
    conditions: Sequence[TrackedCondition],
    entries: Sequence[dict[str, Any]],
    axis: str,
) -> dict[str, Any]:
    """Make the list of conditions and the facts about the whole page.

    Parameters
    ----------
    axis
        What the estimates of the list are.
    """
    names = conditions[0].kind.distinct_factors
    differing = list_varying((condition.factors for condition in conditions), names)
    own, every = (conditions[0].settings, conditions[0].factors.get("settings", ""))
    alike = [word for word in every.split(" ") if own and word not in own.split(" ")]
    warned = {name for entry in entries for name in entry["warnings"]}
    return {
        "study": study,
        "provenance": origin(conditions),
        "differing": differing,
        "common": [[n, conditions[0].factors[n]] for n in names if n not in differing]
        + ([["settings", " ".join(alike)]] if "settings" in differing and alike else []),
        "axis": axis,
        "meanings": {n: WARNINGS[n].short for n in sorted(warned) if n in WARNINGS},
        "conditions": entries,
    }


def name_keys(conditions: Sequence[TrackedCondition]) -> list[str]:
    """List identities; one that occurs under several labels gets a number."""
    met: Counter[str] = Counter()
    numbered = []
    for identity in (condition.identity for condition in conditions):
        met[identity] += 1
        numbered.append(identity if met[identity] == 1 else f"{identity}.{met[identity]}")
    return numbered


def select_seat(named: Mapping[str, Any]) -> dict[str, Any]:
    """Select the page's fields of a seat or an agent."""
    return {key: named[key] for key in ("seat", "label", "mandate", "model") if key in named}
