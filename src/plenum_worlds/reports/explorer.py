"""The explorer of worlds: a list of conditions, each with two blocks read when it is opened."""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from plenum.base.identity import digest
from plenum.base.shares import keep_finite
from plenum.dynamics.estimate import Estimate, estimate_mean
from plenum.reports.explorer.contents import Explorer, Records
from plenum.reports.explorer.page import Layout
from plenum.reports.explorer.runs import WorldTalk, make_record
from plenum.reports.labels import origin
from plenum.reports.settings import Settings
from plenum.show.formats import format_share
from plenum.tracking.conditions import TrackedCondition
from plenum_worlds.registry import display
from plenum_worlds.reports.tables import tabulate_warnings
from plenum_worlds.stage import stage_run
from plenum_worlds.tracking import average_episodes, pivot_rounds


def draw_world(
    condition: TrackedCondition, chosen: Settings, head: Mapping[str, Any], records: Records
) -> dict[str, Any]:
    """Collect the mean course and the facts of a condition."""
    looks = display(condition.factors["task"])
    return {
        "rounds": int(condition.factors["rounds"]),
        "view": int(condition.factors["view"] or 0),
        "performance": looks.performance,
        "gaps": looks.gaps.removeprefix("; "),
        "metrics": list(looks.metrics),
        "headline": looks.headline,
        "provenance": origin([condition]),
        "unbegun": max(condition.target - len(records), 0),
        "facts": [[m, _format_estimate(_over(condition, m))] for m in looks.metrics],
        "mean": [keep_finite(value) for value in pivot_rounds(condition, "performance").mean()],
    }


def _describe(condition: TrackedCondition, name: str, head: Mapping[str, Any]) -> dict[str, Any]:
    looks = display(condition.factors["task"])
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
        "estimates": {
            m.replace("_", " "): keep_finite(_over(condition, m).value) for m in looks.metrics
        },
        "world": _world(condition, head),
    }
    if estimate.n:
        low, high = keep_finite(estimate.ci_low), keep_finite(estimate.ci_high)
        data |= {"lambda": estimate.value, "low": low, "high": high}
    return data


def _world(condition: TrackedCondition, head: Mapping[str, Any]) -> str:
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
    Layout(
        "world explorer",
        "explicit high",
        "world.html",
        ("grid", "network", "bars", "scene", "course", "runs", "dialogue", "world"),
    ),
    # Their estimates are means over episodes, of data that outlines lack.
    estimate=lambda conditions, _: [condition.whole for condition in conditions],
    describe=_describe,
    draw=draw_world,
    record=make_record,
    # The first runs, so that those of all conditions are in the same worlds.
    select=lambda records, most: set(sorted(each["n"] for each in records)[:most]),
    collect=partial(WorldTalk, stage_run),
    name_axis=lambda entries: " and ".join(dict.fromkeys(each["symbol"] for each in entries)),
)
"""The explorer of studies of worlds."""
