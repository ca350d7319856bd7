"""An audit in MLflow: a run of its own, and the verdicts at the runs of its conditions."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from plenum.base import text
from plenum.reports.settings import Settings
from plenum_audit.dynamics.audits import Rule
from plenum_audit.reports.audit import Audit, CaseAudit
from plenum_audit.tracking import audits

_LONGEST = 6_000
"""Letters of a param that MLflow keeps."""

_MOST_METRICS = 500
"""Cases up to which each has a metric; the shares of more are in `audit.csv`."""

_STOPPED = "stopped"
"""The tag of an audit without a verdict: one value that filters find, whatever was seen so far."""

_RULE = ("acceptable", "unacceptable", "alpha")


def terms_of(chosen: Settings) -> tuple[Rule, int | None, list[str]]:
    """The rule of a study's last audit, its most runs, and its conditions.

    The usual rule and no condition where there was none.
    """
    params = audits.latest(chosen.study, chosen.uri)
    shares = {name: float(params[name]) for name in _RULE if name in params}
    most = params.get("max_runs", "")
    conditions = params.get("conditions", "").split()
    return Rule(**shares), int(most) if most.isdecimal() else None, conditions


def log(audit: Audit, chosen: Settings, files: Sequence[Path]) -> None:
    """Log the audit as a run of its own, and its verdicts to the runs of conditions."""
    every = (*audit.cases, *audit.variants)
    metrics: dict[str, float] = {
        f"cases_{verdict}": len(audit.of(verdict))
        for verdict in ("stable", "unstable", "undecided")
    }
    if len(audit.cases) <= _MOST_METRICS:
        metrics |= {
            f"share/{audits.metric(case.id)}": case.share.value
            for case in audit.cases
            if case.share
        }
    metrics |= {
        "runs": audit.cost.runs,
        "dollars": audit.cost.dollars,
        "tokens": audit.cost.tokens_in + audit.cost.tokens_out,
    }
    audits.log(
        chosen.study,
        chosen.uri,
        audits.Verdict(audit.verdict or _STOPPED, audit.cost.runs, metrics),
        {case.run_id: _logged(case) for case in every if case.run_id},
        _params(audit),
        files,
        audit.controlled.simulated,
    )


def _params(audit: Audit) -> Mapping[str, object]:
    conditions = " ".join(case.condition for case in audit.cases)
    return {
        "committee": text.flatten(audit.committee),
        "program": " ".join(audit.controlled.identities),
        "max_runs": audit.max_runs,
        "conditions": conditions if len(conditions) <= _LONGEST else "",
        **{name: getattr(audit.rule, name) for name in _RULE},
    }


def _logged(case: CaseAudit) -> audits.Verdict:
    shown = case.share
    shares = {"value": shown.value, "ci_low": shown.low, "ci_high": shown.high} if shown else {}
    return audits.Verdict(
        case.in_family,
        case.runs,
        {
            **{f"audit.share_{name}": value for name, value in shares.items()},
            "audit.e_stable": case.e_stable,
            "audit.e_unstable": case.e_unstable,
            "audit.runs": case.runs,
        },
    )
