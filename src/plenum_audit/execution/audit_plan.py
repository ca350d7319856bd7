"""The plan of an audit: its expected cost, from the first run with a decision."""

import math
from collections.abc import Iterator, Mapping

from plenum.base.shares import percent
from plenum.execution.condition_folder import find_journal
from plenum.records.transcript import Transcript
from plenum_audit.execution import no_decision
from plenum_audit.programs.compose import Audit
from plenum_audit.programs.condition import require_program
from plenum_verdicts.dynamics.audit_runs import horizon, simulate_audits
from plenum_verdicts.dynamics.audits import StabilityRule

_MOST_EQUAL = 10_000
"""Number of equal runs up to which it is looked how many show a case to be stable."""


def plan_audit(audit: Audit, rule: StabilityRule, first: Transcript | None) -> list[str]:
    """Return lines on the minimal, maximal and expected runs; the cost needs a decision.

    Parameters
    ----------
    first
        A run that has ended; ``None`` if there is none yet.
    """
    cases = len(audit.jobs)
    there = f"There {'is 1 case' if cases == 1 else f'are {cases} cases'}."
    if first is None:
        known = "Nothing is known of a run before the first one has ended."
        return [f"{there} {known}", *_forecast(audit, rule, {})]
    of = f"run {first.head['replicate']} of {first.head['case']}"
    if not no_decision.has_decision(first):
        job = next(j for j in audit.jobs if j.condition.identity == first.head["condition"])
        why = no_decision.explain_no_decision(first, find_journal(job, first.head["replicate"]))
        return [f"{there} There is no forecast, as {of} came to no decision: {why}"]
    spent = first.totals()
    tokens = spent["tokens_in"] + spent["tokens_out"]
    takes = f"{spent['calls']:.0f} calls, {tokens:,.0f} tokens, {_dollars(spent['cost'])}"
    return [f"{there} A run takes {takes}, as {of} did.", *_forecast(audit, rule, spent)]


def _forecast(audit: Audit, rule: StabilityRule, spent: Mapping[str, float]) -> Iterator[str]:
    """Yield the lines on the number of runs, with their cost if that of a run is known."""
    cases, most = len(audit.jobs), audit.settings.max_runs
    options = max(len(require_program(job.condition).case.options) for job in audit.jobs)

    def runs(number: float) -> str:
        if not spent:
            return f"{number:.0f} runs a case"
        calls, cost = (number * cases * spent[name] for name in ("calls", "cost"))
        return f"{number:.0f} runs a case, {calls:,.0f} calls, {_dollars(cost)}"

    labels = [str(option) for option in range(options)]
    yield f"The audit takes at least {runs(min(horizon((), labels, rule), most))}."
    (equal,) = simulate_audits(rule, options, _MOST_EQUAL, (1.0,))
    if equal.most > most:
        yield (
            f"With max_runs={most} no case can be shown stable: {equal.most:,} equal runs are "
            "needed."
        )
    for end in simulate_audits(rule, options, most):
        yield (
            f"If {100 * end.share:.3g} % of runs decide alike, it takes {runs(end.runs)}; "
            f"it ends stable in {percent(end.stable)} and unstable in {percent(end.unstable)} of "
            "such audits."
        )
    yield f"It takes at most {runs(most)}."


def _dollars(cost: float) -> str:
    return "price unknown" if math.isnan(cost) else f"${cost:,.4f}"
