"""The figure of D(t) for an audit's cases whose runs report preferences by round."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from plenum.design import Job
from plenum.dynamics import divergence
from plenum.records import ELICITED
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
from plenum_audit.reports.gather import describe_condition, read_runs
from plenum_audit.tracking import collect_ensemble

MOST = 12
"""Number of cases whose runs are read again, beginning with the least agreement."""

_ELICITED = "; preferences that a run doesn't report were asked of its models after it"
_LEFT_OUT = "cases whose runs report no preferences, or are equal in every round, aren't drawn"


def draw_drift(jobs: Sequence[Job], folder: Path, simulated: bool) -> list[Picture]:
    """Draw divergence by round, for at most twelve cases; empty if no runs diverge.

    Parameters
    ----------
    jobs
        Jobs, one per case, beginning with the least agreement.
    simulated
        True if agents were simulated.
    """
    read = (_read_preferences(job, simulated) for job in jobs[:MOST])
    drawn = [each for each in read if each is not None]
    if not drawn:
        return []
    shown = [condition for condition, _ in drawn]
    chosen = Settings(jobs[0].study, "", folder)
    rows = estimate_study(shown, chosen)
    with apply_style():
        pages = draw_divergence(rows, chosen.window)
    elicited = _ELICITED if any(asked for _, asked in drawn) else ""
    title = "D(t), the mean distance between two runs' mean preferences, by round"
    return [
        Picture(
            number,
            "divergence",
            tuple(save_figure(figure, folder, f"audit_D{number}", ["svg"])),
            title,
            caption=f"{title}; {_LEFT_OUT}{elicited} ({origin(shown)}).",
            alt=f"{title}, of {len(shown)} of {len(jobs)} cases",
        )
        for number, figure in enumerate(pages, start=1)
    ]


def _read_preferences(job: Job, simulated: bool) -> tuple[TrackedCondition, bool] | None:
    """Return the condition for figures of ensembles, and whether models were asked after a run.

    Its case is the scenario. ``None`` if its runs report too little, or never differ.
    """
    completed = [run for run in read_runs(job) if run.status == "completed"]
    ensemble = collect_ensemble(completed)
    if ensemble is None or not divergence(ensemble[0].mean(axis=2)).any():
        return None
    array, seats, runs = ensemble
    condition = describe_condition(job, simulated)
    drawn = replace(
        condition,
        completed=len(completed),
        preferences=array,
        seats=seats,
        indices=runs,
        decisions=tuple(str(t.decision) for t in completed if t.head["replicate"] in runs),
        factors={**condition.factors, "scenario": condition.factors["case"]},
    )
    return drawn, any(entry["kind"] == ELICITED for run in completed for entry in run.entries)
