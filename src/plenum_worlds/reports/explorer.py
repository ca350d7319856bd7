"""The explorer of worlds: a list of conditions, each with two blocks read when it is opened."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from plenum.base.identity import digest
from plenum.base.shares import keep_finite
from plenum.dynamics.estimate import Estimate, estimate_mean
from plenum.reports.explorer.contents import (
    Explorer,
    Replicates,
    make_index,
    name_keys,
    select_seat,
)
from plenum.reports.explorer.page import Layout
from plenum.reports.explorer.runs import collect_dialogue, make_record
from plenum.reports.labels import origin
from plenum.reports.settings import Settings
from plenum.show.formats import format_share
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.transcripts import StoredTranscript
from plenum_worlds.definition import Display
from plenum_worlds.registry import display
from plenum_worlds.reports.tables import tabulate_warnings
from plenum_worlds.stage import stage_run
from plenum_worlds.tracking import average_episodes, pivot_rounds


def gather_data(
    chosen: Settings,
    conditions: Sequence[TrackedCondition],
    kept: Mapping[str, Sequence[StoredTranscript]],
    most: int | None = None,
) -> dict[str, Any]:
    """Return the page's data by id: the index, and figures and dialogue of every condition.

    Parameters
    ----------
    chosen
        Settings with the study's name.
    conditions
        The conditions to show.
    kept
        Their transcripts, by run.
    most
        Maximal number of a condition's completed runs that are drawn and read. They are the first
        ones, so that those of all conditions are in the same worlds; ``None`` for all.
    """
    data: dict[str, Any] = {"index": {}}
    entries = []
    for at, (condition, name) in enumerate(zip(conditions, name_keys(conditions), strict=True)):
        stored = kept.get(condition.run_id, ())
        replicates = {transcript.replicate: transcript.read() for transcript in stored}
        shown = _select_shown(replicates, most)
        readable = {n: t for n, t in replicates.items() if t is not None}
        drawn = {n: t for n, t in readable.items() if n in shown}
        head = next(iter(readable.values())).head if readable else {}
        looks = display(condition.factors["task"])
        entries.append(_entry(condition, name, looks, head, len(drawn)))
        data[f"figures-{at}"] = {
            "seats": [select_seat(each) for each in head.get("seats", ())],
            "rounds": int(condition.factors["rounds"]),
            "view": int(condition.factors["view"] or 0),
            "performance": looks.performance,
            "gaps": looks.gaps.removeprefix("; "),
            "metrics": list(looks.metrics),
            "headline": looks.headline,
            "provenance": origin([condition]),
            "replicates": [make_record(n, t, n in shown) for n, t in replicates.items()],
            "unbegun": max(condition.target - len(replicates), 0),
            "facts": [[m, _format_estimate(_over(condition, m))] for m in looks.metrics],
            "mean": [keep_finite(value) for value in pivot_rounds(condition, "performance").mean()],
        }
        data[f"talk-{at}"] = collect_dialogue(drawn, stage_run)
    axis = " and ".join(dict.fromkeys(entry["symbol"] for entry in entries))
    return data | {"index": make_index(chosen.study, conditions, entries, axis)}


def _select_shown(replicates: Replicates, most: int | None) -> set[int]:
    """Return the runs to draw, always including those that didn't complete."""
    ended = [n for n, t in replicates.items() if t is not None and t.status == "completed"]
    return (replicates.keys() - ended) | set(sorted(ended)[:most])


def _entry(
    condition: TrackedCondition, name: str, looks: Display, head: dict[str, Any], drawn: int
) -> dict[str, Any]:
    estimate = _over(condition, looks.headline)
    data: dict[str, Any] = {
        "id": name,
        "name": condition.name,
        "factors": {n: condition.factors[n] for n in condition.kind.distinct_factors},
        "symbol": looks.headline.replace("_", " "),
        "status": "ok" if condition.completed else "no_replicates",
        "n": condition.completed,
        "failed": condition.failed,
        "pending": condition.pending,
        "target": condition.target,
        "warnings": tabulate_warnings(condition),
        "transcripts": drawn,
        "estimates": {
            m.replace("_", " "): keep_finite(_over(condition, m).value) for m in looks.metrics
        },
        "world": _world(condition, head),
    }
    if estimate.n:
        low, high = keep_finite(estimate.ci_low), keep_finite(estimate.ci_high)
        data |= {"lambda": estimate.value, "low": low, "high": high}
    return data


def _world(condition: TrackedCondition, head: dict[str, Any]) -> str:
    """Return a digest that is equal for conditions whose episodes take place in the same worlds."""
    factors = condition.factors
    drawn = [factors["task"], factors["seed"], factors["agents"], head.get("numbers", {})]
    return digest(json.dumps(drawn, sort_keys=True))


def _over(condition: TrackedCondition, metric: str) -> Estimate:
    return estimate_mean(
        average_episodes(condition, metric).to_numpy(dtype=float), "t over episodes"
    )


def _format_estimate(estimate: Estimate) -> str:
    return format_share(estimate.value, estimate.ci_low, estimate.ci_high)


EXPLORER = Explorer(
    gather_data,
    Layout(
        "world explorer",
        "explicit high",
        "world.html",
        ("grid", "network", "bars", "scene", "course", "runs", "dialogue", "world"),
    ),
)
"""The explorer for studies of worlds."""
