"""The reliability profile of a program: as a table, and in sentences."""

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from plenum.base import percent
from plenum.reports import NONE, Column, Table
from plenum_audit.profiles import (
    FAULTS,
    ORDER,
    WORDINGS,
    Predictability,
    ProfileEstimate,
    ReliabilityProfile,
    Robustness,
)
from plenum_audit.reports.outputs import REHEARSAL

ANCHOR = "Princeton"
"""Heading of the names that Rabanser et al. (2026) give to the nearest of their metrics."""

CHANGES = {
    WORDINGS: ("other wordings", "R_prompt"),
    ORDER: ("options reversed", "R_env"),
    FAULTS: ("requests that fail", "R_fault"),
}
"""Each change in words, and the metric that is nearest to it."""


def tabulate_profile(profile: ReliabilityProfile, simulated: bool = False) -> Table:
    """Return a line for each measure, with its interval and the anchor's name.

    Parameters
    ----------
    simulated
        Simulated agents answered, which the title says.
    """
    rows = [*_consistency(profile)]
    for each in profile.robustness:
        rows += _robustness(each)
    if profile.predictability is not None:
        rows += _predictability(profile.predictability)
    columns = (
        Column("measure", key=True),
        Column("value", "estimate [95 %]"),
        Column("best", "best"),
        Column("anchor", ANCHOR),
    )
    title = (
        f"Reliability for cases like these; changes are percentage points\n"
        f"({ANCHOR}: the nearest metric of Rabanser et al. 2026)"
    )
    if simulated:
        title += f"\n({REHEARSAL})"
    return Table("profile", title, pd.DataFrame(rows), columns)


def explain_profile(profile: ReliabilityProfile) -> Iterator[str]:
    """Yield what the table can't show, and what was left out and why."""
    if profile.partings:
        pairs = sum(profile.partings.values())
        place, most = next(iter(profile.partings.items()))
        yield (
            f"Where two runs of a case part, {100 * most / pairs:.0f} % of the pairs do so at "
            f"{place}."
        )
    failing = [each for each in profile.robustness if each.undecided > each.undecided_before]
    if failing:
        shares = (f"{percent(each.undecided)} with {CHANGES[each.change][0]}" for each in failing)
        before = percent(failing[0].undecided_before)
        yield f"Runs fail or come to no decision: {', '.join(shares)}, {before} without."
    told = profile.predictability
    if told is not None:
        yield f"Confidences are those of {told.stated_by}{_explain_missing(told)}."
        if min(told.calibration.reliability.value, told.calibration.resolution.value) < 0:
            yield (
                "Reliability and resolution are estimated without bias, so that they may fall "
                "below 0 by chance; their intervals don't."
            )
    yield from _list_left_out(profile)


def _list_left_out(profile: ReliabilityProfile) -> Iterator[str]:
    changes = {each.change for each in profile.robustness}
    if WORDINGS not in changes:
        yield "Other wordings were left out: no case has a list wordings (columns.wordings=COLUMN)."
    if FAULTS not in changes:
        yield "The program makes no calls of models, so faults of a provider were left out."
    if ORDER not in changes:
        yield "No case has options, so the other order was left out."
    if not profile.scored:
        yield ("Not every case has a right answer, so the score and predictability were left out.")
    elif profile.predictability is None:
        yield (
            "The program states no confidence in two cases or more, so predictability was left "
            "out: return Decision(..., confidence=80), or ask its seats with committee.elicit=true."
        )
    if profile.spread is None:
        yield "No run has a cost, so its spread was left out."
    if any(each.differ_more.interval is None for each in profile.robustness):
        yield "Fewer than ten cases give a change no interval."


def _explain_missing(told: Predictability) -> str:
    if told.stated == told.runs:
        return ""
    return f"; {told.runs - told.stated:,} of {told.runs:,} runs state none and aren't counted"


def _consistency(profile: ReliabilityProfile) -> Iterator[dict[str, Any]]:
    yield _row("two runs decide differently", _percent(profile.disagreement), "0 %", "-")
    if profile.consistency is not None:
        yield _row("right and wrong repeat, 1 - 2 G", _plain(profile.consistency), "1", "C_out")
    if profile.alike is not None:
        yield _row("calls alike before runs part", _percent(profile.alike), "100 %", "C_traj")
    if profile.spread is not None:
        measure = f"two runs differ in {profile.unit}"
        yield _row(measure, _percent(profile.spread), "0 %", "C_res")


def _robustness(each: Robustness) -> Iterator[dict[str, Any]]:
    words, anchor = CHANGES[each.change]
    yield _row(f"{words}: differ more", _points(each.differ_more), "0", anchor)
    if each.score is not None:
        yield _row(f"{words}: score", _points(each.score), "0", anchor)


def _predictability(told: Predictability) -> Iterator[dict[str, Any]]:
    parts = told.calibration
    yield _row("Brier score of confidences", _plain(parts.brier, 3), "0", "P_brier")
    yield _row("= reliability", _plain(parts.reliability, 3), "0", "P_cal")
    yield _row("- resolution", _plain(parts.resolution, 3), "high", "-")
    yield _row("+ uncertainty", _plain(parts.uncertainty, 3), "-", "-")
    if told.area is not None:
        yield _row("the right run is more confident", _percent(told.area), "100 %", "P_auroc")
    if told.half.coverage < 1:
        share = f"{100 * told.half.coverage:.0f} %"
        measure = f"wrong among the {share} most confident"
        yield _row(measure, _percent(told.half.wrong), "0 %", "-")


def _row(measure: str, value: str, best: str, anchor: str) -> dict[str, Any]:
    return {"measure": measure, "value": value, "best": best, "anchor": anchor}


def _percent(each: ProfileEstimate) -> str:
    return _show(each, "{:.1f}", 100, " %")


def _points(each: ProfileEstimate) -> str:
    return _show(each, "{:+.1f}", 100, "")


def _plain(each: ProfileEstimate, digits: int = 2) -> str:
    return _show(each, f"{{:.{digits}f}}", 1, "")


def _show(each: ProfileEstimate, number: str, factor: float, unit: str) -> str:
    if not math.isfinite(each.value):
        return NONE
    value = number.format(factor * each.value + 0.0) + unit
    if each.interval is None:
        return value
    low, high = (number.format(factor * limit + 0.0) for limit in each.interval)
    return f"{value} [{low}, {high}]"
