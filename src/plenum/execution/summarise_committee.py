"""Estimates of a finished condition of committees."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from plenum.base.shares import format_number_between
from plenum.dynamics.branching import estimate_branching
from plenum.dynamics.decisions import tally
from plenum.dynamics.fragility import VariantOutcome, estimate_families, name_numbers
from plenum.dynamics.right_answers import estimate_right_answers
from plenum.dynamics.summary import Summary, summarise
from plenum.execution.summarise import SETTINGS, Report, report_nothing
from plenum.records.said_facts import share_said
from plenum.records.transcript import Transcript

METRICS = {"se": "lambda_se", "ci_low": "lambda_ci_low", "ci_high": "lambda_ci_high"}
"""Names in the tracking store of columns whose names are unclear outside a table."""


def estimate_committee(completed: Sequence[Transcript]) -> Report:
    """Estimate λ̂ and the other quantities of a committee; of branches their growth."""
    if "branch" in completed[0].head:
        return _of_branches(completed)
    preferences = np.stack([t.preferences() for t in completed])
    seats = [seat["seat"] for seat in completed[0].head["seats"]]
    decisions = [str(t.decision) for t in completed]
    votes = [t.votes() for t in completed]
    said = [share_said(t) for t in completed] if "private_facts" in completed[0].head else ()
    answer = completed[0].head.get("right_answer", "")
    answers = estimate_right_answers(preferences, decisions, answer, said)
    known: Any = {"votes": votes, "answers": answers}
    report = report_committee(summarise(preferences, decisions, **known, **SETTINGS), seats)
    if "variants" not in completed[0].head:
        return report
    numbers = name_numbers(
        # As `summarise` takes them: means of the seats that are present.
        estimate_families(np.nanmean(preferences, axis=2), [_pair_reading(t) for t in completed])
    )
    fragility = {f"more.fragility.{name}": value for name, value in numbers.items()}
    line = report["line"].replace("λ̂", "λ̂_pert")
    return {**report, "metrics": {**report["metrics"], **fragility}, "line": line}


def _pair_reading(transcript: Transcript) -> VariantOutcome:
    """Return the wording that a replicate of a perturbed condition read, and its decision."""
    head = transcript.head
    repetition = head["replicate"] // len(head["variants"])
    return VariantOutcome(head["variant"], head["family"], repetition, str(transcript.decision))


def report_committee(summary: Summary, seats: Sequence[str]) -> Report:
    """Convert the estimates of an ensemble to metrics, with D(t) by round."""
    exponent, groups = summary.lyapunov, summary.record()
    metrics = {METRICS.get(name, name): value for name, value in groups.pop("estimates").items()}
    # MLflow's UI shows charts in the order of their names, and names with a slash before all
    # others: D, flip_rate and lambda are to stay on top.
    for group, numbers in groups.items():
        metrics |= {f"more.{group}.{name}": value for name, value in numbers.items()}
    switches = zip(seats, summary.switches.mean, strict=True)
    metrics |= {f"more.switches.{seat}": float(mean) for seat, mean in switches}
    line = f"λ̂ = {format_number_between(exponent.value, exponent.ci_low, exponent.ci_high)}"
    return {
        "metrics": metrics,
        "divergence": summary.divergence.tolist(),
        "interval": exponent.interval,
        "status": exponent.status,
        "warnings": list(exponent.warnings),
        "decisions": summary.decisions,
        "line": line if exponent.status == "ok" else f"no λ̂: {exponent.status}",
    }


def _of_branches(completed: Sequence[Transcript]) -> Report:
    branch = completed[0].head["branch"]
    decided = {"decisions": tally([str(t.decision) for t in completed])}
    growth = estimate_branching(
        np.stack([t.preferences().mean(axis=1) for t in completed]),
        [t.head["replicate"] // branch["continuations"] for t in completed],
        branch["after_round"],
    )
    if growth is None:
        none = report_nothing("no_replicates", "no base has two completed branches")
        return {**none, **decided}
    gamma, signed = growth.gamma, growth.signed
    return {
        **report_nothing("branching", ""),
        **decided,
        "metrics": {
            "gamma": gamma.value,
            "gamma_ci_low": gamma.ci_low,
            "gamma_ci_high": gamma.ci_high,
            "signed_growth": signed.value,
            "signed_growth_ci_low": signed.ci_low,
            "signed_growth_ci_high": signed.ci_high,
            "c_in": float(np.nanmean(growth.c_in)),
            "c_out": float(np.nanmean(growth.c_out)),
            "c_p": growth.c_p,
        },
        "line": f"Γ̂ = {format_number_between(gamma.value, gamma.ci_low, gamma.ci_high)}",
    }
