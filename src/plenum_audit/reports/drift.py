"""The figure of D(t) for an audit's cases whose runs report preferences by round."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pandas as pd

from plenum.dynamics import divergence
from plenum.reports import (
    Picture,
    Settings,
    apply_style,
    draw_divergence,
    estimate_study,
    origin,
    save_figure,
)
from plenum.tracking import TrackedCondition
from plenum_audit.reports.gather import AuditedCondition
from plenum_audit.tracking import collect_ensemble

MOST = 12
"""Number of cases that are drawn, beginning with the least agreement."""

_LEAST_ROUNDS = 3

_ELICITED = "; preferences that a run doesn't report were asked of its models after it"
_LEFT_OUT = "cases whose runs report no preferences, or are equal in every round, aren't drawn"


def draw_drift(
    conditions: Sequence[AuditedCondition], chosen: Settings, folder: Path, kinds: Sequence[str]
) -> list[Picture]:
    """Draw divergence by round, for at most twelve cases; empty if no runs diverge.

    Parameters
    ----------
    kinds
        Formats of the files: ``svg``, ``png``.
    """
    ensembles = map(select_preferences, conditions)
    shown = list(islice((each for each in ensembles if each is not None), MOST))
    if not shown:
        return []
    rows = estimate_study(shown, chosen)
    with apply_style():
        pages = draw_divergence(rows, chosen.window)
    elicited = _ELICITED if any(len(_read_elicited(condition)) for condition in shown) else ""
    title = "D(t), the mean distance between two runs' mean preferences, by round"
    return [
        Picture(
            number,
            "divergence",
            tuple(save_figure(figure, folder, f"audit_D{number}", kinds)),
            title,
            caption=f"{title}; {_LEFT_OUT}{elicited} ({origin(shown)}).",
            alt=f"{title}, of {len(shown)} of {len(conditions)} cases",
        )
        for number, figure in enumerate(pages, start=1)
    ]


def select_preferences(each: AuditedCondition) -> TrackedCondition | None:
    """Return the condition for figures of ensembles, with its case as the scenario.

    ``None`` if its runs report too little, or never differ.
    """
    tables = (_read_elicited(each.tracked), each.tracked.tables.get("messages"))
    reported = [table for table in tables if table is not None and len(table)]
    if not reported:
        return None
    messages = pd.concat(reported)  # what a program reports goes before what its models answer
    array, seats, runs = collect_ensemble(messages, each.options, each.tracked.indices)
    if len(runs) < 2 or array.shape[1] < _LEAST_ROUNDS or not divergence(array.mean(axis=2)).any():
        return None
    decisions = dict(zip(each.tracked.indices, each.tracked.decisions, strict=True))
    return replace(
        each.tracked,
        preferences=array,
        seats=seats,
        indices=runs,
        decisions=tuple(decisions[run] for run in runs),
        factors={**each.tracked.factors, "scenario": each.case},
    )


def _read_elicited(condition: TrackedCondition) -> pd.DataFrame:
    """Return the preferences that its seats' models gave after the runs."""
    return condition.tables.get("elicited", pd.DataFrame())
