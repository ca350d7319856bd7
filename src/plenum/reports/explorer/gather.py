"""The explorer of committees: a list of conditions, and two blocks for each, read on demand."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenum.base.shares import keep_finite
from plenum.dynamics.branching import Branching
from plenum.dynamics.divergence import divergence
from plenum.dynamics.fragility import FamilyEstimate
from plenum.dynamics.summary import Summary
from plenum.reports.estimates import estimate_study
from plenum.reports.explorer.contents import Explorer, Records
from plenum.reports.explorer.page import Layout
from plenum.reports.explorer.replicates import CommitteeTalk, collect_paths, record, select_farthest
from plenum.reports.labels import describe_provenance
from plenum.reports.rows import Row, symbol
from plenum.reports.settings import Settings
from plenum.show.formats import (
    format_growth,
    format_interval,
    format_number,
    format_p_value,
    format_tally,
)


def draw_committee(
    row: Row, chosen: Settings, head: Mapping[str, Any], records: Records
) -> dict[str, Any]:
    """Collect D(t), the fit and the facts of a condition."""
    seats = {} if head else {"seats": [{"seat": name} for name in row.tracked.seats]}
    options = _options(row, head)
    return {
        **seats,
        "options": options,
        "rounds": int(row.tracked.factors["rounds"]),
        "after": row.tracked.after_round,
        "provenance": describe_provenance([row]),
        "unbegun": max(row.tracked.target - len(records), 0),
        "facts": facts(row),
        "switches": [[seat, keep_finite(mean)] for seat, mean in row.switches],
        **_divergence(row, chosen.window, collect_paths(records, len(options))),
    }


def _options(row: Row, head: Mapping[str, Any]) -> list[list[str]]:
    """List labels and names; bare letters if no transcript names them."""
    if head:
        return [[label, name] for label, name in head["options"].items()]
    count = row.tracked.played[1] or 3
    return [[chr(ord("A") + k), ""] for k in range(count)]


def _describe(row: Row, name: str) -> dict[str, Any]:
    data: dict[str, Any] = {
        "id": name,
        "name": row.tracked.name,
        "factors": row.tracked.factors,
        "symbol": symbol([row]),
        "status": row.status,
        "n": row.n,
        "failed": row.failed,
        "pending": row.pending,
        "target": row.tracked.target,
        "warnings": list(row.warnings),
        "decisions": row.decisions,
        "split": len(row.decisions) > 1,
        "estimates": _estimates(row),
    }
    if row.summary is not None and math.isfinite(row.exponent):
        exponent = row.summary.lyapunov
        low, high = keep_finite(exponent.ci_low), keep_finite(exponent.ci_high)
        data |= {"lambda": exponent.value, "low": low, "high": high}
    return data


def _estimates(row: Row) -> dict[str, float | None]:
    """Collect the numbers besides λ̂ by which conditions are sorted."""
    if row.summary is None:
        return {}
    median = row.summary.time_to_majority.median
    return {
        "share off the modal decision": keep_finite(row.summary.flip_rate.value),
        "median rounds to a majority": keep_finite(median),
    }


def _divergence(row: Row, window: tuple[int, int], so_far: NDArray[np.float64]) -> dict[str, Any]:
    """Collect D(t) and the line that λ̂ fits to its logarithm; nothing without an ensemble.

    ``so_far`` is the ensemble of the replicates that have completed, for a condition that hasn't.
    """
    whole = row.tracked.whole  # an outline has no arrays
    ensemble = whole.ensemble if whole.preferences.size else so_far
    if not ensemble.size:
        return {"D": []}
    level = divergence(ensemble)
    data: dict[str, Any] = {"D": [keep_finite(value) for value in level]}
    if row.summary is None or not math.isfinite(row.exponent):
        return data
    exponent = row.summary.lyapunov
    rounds = np.arange(1, len(level) + 1)
    used = (rounds >= window[0]) & (rounds <= window[1]) & (level > 0)
    data["window"] = [window[0], min(window[1], len(level))]
    data["fit"] = {
        "slope": exponent.value,
        "low": keep_finite(exponent.ci_low),
        "high": keep_finite(exponent.ci_high),
        "interval": exponent.interval,
        "x": float(rounds[used].mean()),
        "log": float(np.log(level[used]).mean()),
        "rounds": rounds[used].tolist(),
    }
    return data


COMMITTEE_EXPLORER = Explorer(
    Layout(
        "divergence explorer",
        "HL-01 mixed",
        "committee.html",
        (
            "marks", "plane", "simplex", "coordinates", "divergence", "replicates", "transcripts",
            "committee",
        ),
        views=("watch", "compare", "search"),
    ),
    estimate=estimate_study,
    describe=lambda row, name, _: _describe(row, name),
    draw=draw_committee,
    record=record,
    select=select_farthest,
    collect=CommitteeTalk,
    name_axis=lambda _: "λ̂ per round",
)  # fmt: skip
"""The explorer of studies of committees."""


# --- what the page lists next to λ̂: pairs of a name and a value ------------------------------


def facts(row: Row) -> list[list[str]]:
    """List a condition's further estimates in words and numbers, each with its uncertainty."""
    if row.branches is not None:
        return _list_branches(row.branches)
    if row.summary is None:
        return []
    return [
        *_list_decisions(row.summary),
        *(_list_wordings(family) for family in row.wordings.values()),
    ]


def _list_decisions(estimates: Summary) -> list[list[str]]:
    metrics = estimates.record()["decisions"]
    ends = (metrics[f"time_to_majority_ci_{end}"] for end in ("low", "high"))
    low, high = (format_number(end, 1) for end in ends)
    rounds = f"{format_number(estimates.time_to_majority.median, 1)} [{low}, {high}]"
    chosen = format_tally(estimates.decisions)
    growth = estimates.growth.value, estimates.growth.ci_low, estimates.growth.ci_high
    lines = [
        ["decisions (none: no majority)", chosen],
        ["share of decisions off the modal one", _with_limits(estimates.flip_rate)],
        ["chance that two replicates decide differently", _with_limits(estimates.disagreement)],
        ["median rounds to a majority", rounds],
        ["growth of a typical pair, a round", format_growth(*growth)],
        ["p of no growth (time reversal)", format_p_value(estimates.reversal.p)],
    ]
    return lines if chosen else lines[1:]


def _list_wordings(family: FamilyEstimate) -> list[str]:
    estimates = family.exponent
    interval = format_interval(estimates.ci_low, estimates.ci_high)
    exponent = f"{format_number(estimates.value, 4)} {interval}"
    fragility = family.reason or _with_limits(family.fragility)
    return [
        f"{family.family}: canonical and {family.wordings} others",
        f"λ̂_pert {exponent}; fragility {fragility}",
    ]


def _list_branches(estimates: Branching) -> list[list[str]]:
    return [
        [f"Γ̂, mean over {estimates.bases} base states", _with_limits(estimates.gamma)],
        ["growth after branching, against diffusion", _with_limits(estimates.signed)],
        ["p of memory of the base state (c_in > c_out)", format_p_value(estimates.c_p)],
    ]


def _with_limits(estimate: Any) -> str:
    interval = format_interval(estimate.ci_low, estimate.ci_high, 3)
    return f"{format_number(estimate.value, 3)} {interval}"
