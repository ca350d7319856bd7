"""The sentences on a study in worlds, and the facts that they are made of."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from plenum.dynamics.multiplicity import holm, is_shown
from plenum.show.phrases import ci, render, space_words
from plenum.tracking.conditions import TrackedCondition
from plenum_worlds.reports.groups import Group, group_runs
from plenum_worlds.tracking import read_table

_PAGE = "plenum_worlds.reports"
"""The package of the templates."""

_FEW_WORLDS = 10
"""Number of worlds below which a difference that is shown says from how many."""

_FEW = 5
"""Number of episodes, the independent units, below which they are called few."""


def list_findings(played: Sequence[TrackedCondition], *, noticed: bool) -> list[str]:
    """Return sentences on a study in worlds: results, null results, and omissions.

    With ``noticed`` they mention that agents were simulated.
    """
    known = findings(played)
    return render(f"{_PAGE}/findings_of_worlds.md.j2", f=known, unit="run", noticed=noticed)


def findings(played: Sequence[TrackedCondition]) -> dict[str, Any]:
    """Return the facts behind the sentences of a study in worlds, by group.

    Without a completed run there are no groups.
    """
    grouped = [g for g in group_runs(played) if any(c.completed for c in g.played)]
    scripted = any(group.frame["scripted"].any() for group in grouped)
    return collect_facts(played) | {
        "groups": [_compare(group) for group in grouped],
        "scripted": scripted,
    }


def _compare(group: Group) -> dict[str, Any]:
    """Return the mean of every arm, and differences to free action significant after Holm.

    ``least`` is the smallest p of the other differences, before and after the adjustment.
    """
    metric = group.shown.metrics[0]
    tests = group.compare_arms(metric)
    adjusted = holm([estimate.p for _, _, estimate in tests])
    shown = [
        f"{name}: {ci(e, 3)}" + f", from {e.n} worlds" * (e.n < _FEW_WORLDS)
        for (name, _, e), p in zip(tests, adjusted, strict=True)
        if is_shown(float(p), e.ci_low, e.ci_high)
    ]
    missed = [
        (e.p, float(p))
        for (_, _, e), p in zip(tests, adjusted, strict=True)
        if not (is_shown(float(p), e.ci_low, e.ci_high) or math.isnan(e.p))
    ]
    means = group.over_worlds("arm", metric)
    each = [f"{ci(estimate, 3)} ({name})" for name, estimate in means.items() if estimate.n]
    return {
        "world": group.heading,
        "metric": metric,
        "tested": len(tests),
        "shown": shown,
        "means": each,
        "least": min(missed, default=(math.nan, math.nan)),
    }


def collect_facts(played: Sequence[TrackedCondition]) -> dict[str, Any]:
    """Return facts for the sentences: design, outcomes of runs, and limits of the conclusions."""
    failures = sum((Counter(condition.failures) for condition in played), Counter[str]())
    completed = [condition.completed for condition in played]
    episodes = [
        metrics["episode"].nunique() if len(metrics := read_table(condition, "metrics")) else 0
        for condition in played
    ]
    return {
        "conditions": len(played),
        "tiny": 0,
        "simulated": sum(condition.simulated for condition in played),
        "tasks": list(
            dict.fromkeys(space_words(condition.factors["task"]) for condition in played)
        ),
        "rounds": [int(condition.factors["rounds"]) for condition in played],
        "target": sum(condition.target for condition in played),
        "done": sum(completed),
        "failed": failures.total(),
        "pending": sum(condition.pending for condition in played),
        "reasons": [f"{space_words(reason)} ({n:,})" for reason, n in failures.items()],
        "scripted": any(condition.factors["policy"] != "agents" for condition in played),
        "few": sum(n < _FEW for n in episodes),
    }
