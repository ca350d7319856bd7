"""An audit in MLflow: its own run, and verdicts in the runs of its conditions."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from plenum.base.text import flatten
from plenum.reports.settings import Settings
from plenum_verdicts.reports.audit import AuditReport, CaseAudit
from plenum_verdicts.suites.assessment import SuiteAssessment
from plenum_verdicts.tracking.audits import Verdict, log_audit, metric_part

_MOST_METRICS = 500
"""Number of cases up to which each has a metric; `audit.csv` has the shares of more."""

_STOPPED = "stopped"
"""Tag of an audit without a verdict: a single value for filters, whatever the evidence."""


def log(audit: AuditReport, chosen: Settings, files: Sequence[Path]) -> None:
    """Log the audit as its own run, and its verdicts to the runs of conditions."""
    # Cases of a suite have no verdict of their own that their runs could be tagged with.
    every = () if audit.suite else audit.cases
    metrics: dict[str, float] = {
        f"cases_{verdict}": len(audit.of(verdict))
        for verdict in ("stable", "unstable", "undecided")
    }
    if len(audit.cases) <= _MOST_METRICS:
        metrics |= {
            f"share/{metric_part(case.id)}": case.share.value for case in audit.cases if case.share
        }
    metrics |= {
        "runs": audit.cost.runs,
        "dollars": audit.cost.dollars,
        "tokens": audit.cost.tokens_in + audit.cost.tokens_out,
    }
    verdict = audit.verdict or _STOPPED
    if audit.suite:
        verdict = audit.suite.found.verdict.verdict
        metrics = {"runs": audit.cost.runs, **_measure_suite(audit.suite.found)}
    log_audit(
        chosen.study,
        chosen.uri,
        Verdict(verdict, audit.cost.runs, metrics),
        {case.run_id: _log(case) for case in every if case.run_id},
        _params(audit),
        files,
        audit.controlled.simulated,
    )


def _measure_suite(suite: SuiteAssessment) -> dict[str, float]:
    """Return the estimates of a suite, so that they can be followed over time."""
    apart, score = suite.disagreement, suite.score
    metrics = {
        "cases": suite.cases,
        "cases_contradicted": len(suite.contradicted),
        "disagreement": apart.value,
        "disagreement_low": apart.like[0],
        "disagreement_high": apart.like[1],
        "score": score.score.value if score else math.nan,
        "noise_floor": score.floor.value if score else math.nan,
    }
    return {name: float(each) for name, each in metrics.items() if math.isfinite(each)}


def _params(audit: AuditReport) -> Mapping[str, object]:
    if audit.suite:
        rule = audit.suite.found.rule
        return {
            "suite": flatten(audit.committee),
            "acceptable_disagreement": rule.acceptable,
            "unacceptable_disagreement": rule.unacceptable,
            "alpha": rule.alpha,
        }
    return {
        "committee": flatten(audit.committee),
        "program": " ".join(audit.controlled.identities),
        "max_runs": audit.max_runs,
        **vars(audit.rule),
    }


def _log(case: CaseAudit) -> Verdict:
    shown = case.share
    shares = {"value": shown.value, "ci_low": shown.low, "ci_high": shown.high} if shown else {}
    return Verdict(
        case.in_family,
        case.runs,
        {
            **{f"audit.share_{name}": value for name, value in shares.items()},
            "audit.e_stable": case.e_stable,
            "audit.e_unstable": case.e_unstable,
            "audit.runs": case.runs,
        },
    )
