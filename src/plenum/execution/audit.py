"""An audit from top to bottom: check, plan, pilot, run, verdict."""

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from plenum.base.errors import UserError
from plenum.dynamics.audit_runs import Further, expected, further, horizon
from plenum.dynamics.audits import (
    STABLE,
    UNDECIDED,
    UNSTABLE,
    CaseVerdict,
    FamilyVerdict,
    Rule,
    family,
)
from plenum.dynamics.parting_calls import cached, uncalled
from plenum.execution import preflight
from plenum.execution.audit_runs import AuditRuns, ended_run
from plenum.execution.condition_folder import begun, folder_of, journal_of
from plenum.execution.outcomes import Outcome
from plenum.execution.sweep import run_sweep
from plenum.models.api.prices import how_to_state
from plenum.programs.compose import Audit
from plenum.programs.condition import require_program
from plenum.records import Transcript
from plenum.tracking.programs import tables

STATUSES = {STABLE: 0, UNSTABLE: 1, UNDECIDED: 3}
"""Exit statuses."""


@dataclass(frozen=True)
class AuditResult:
    """What an audit came to.

    Attributes
    ----------
    study, program
        The study, and the identity of the program as it was set.
    cases
        Verdicts by case.
    family
        The verdict on all of them.
    further
        What an undecided case would take, where an end is in sight.
    errors
        What went wrong or cut it short, one line each.
    """

    study: str
    program: str
    cases: Mapping[str, CaseVerdict]
    family: FamilyVerdict
    further: Mapping[str, Further | None] = field(default_factory=dict)
    errors: tuple[str, ...] = ()

    def status(self, undecided: str | None) -> int:
        """The exit status: 0 stable, 1 unstable, 3 undecided, which may count as either."""
        if self.family.verdict == UNDECIDED and undecided:
            return STATUSES[STABLE if undecided == "pass" else UNSTABLE]
        return STATUSES[self.family.verdict]

    def lines(self) -> list[str]:
        """The verdicts in words: a line a case, and one for all."""
        lines = [self._line(name, case) for name, case in self.cases.items()]
        if len(lines) > 1:
            shown = ", ".join(self.family.unstable)
            lines.append(
                f"{len(self.cases)} cases: {self.family.verdict}"
                + (f"; shown unstable: {shown}" if shown else "")
            )
        drifts = ", ".join(self.family.not_exchangeable)
        drift = f"not_exchangeable: {drifts}: the halves of the runs differ, so the order matters"
        return [*lines, *([drift] if drifts else []), *self.errors]

    def _line(self, name: str, case: CaseVerdict) -> str:
        counts = ", ".join(f"{outcome} {n}" for outcome, n in case.counts.items() if n)
        if not case.runs:
            return f"{name}: undecided, no runs"
        share = f"decides alike {case.share:.0%} [{case.low:.0%}, {case.high:.0%}]"
        return f"{name}: {case.verdict}, {share}, {case.runs} runs: {counts}{self._more(name)}"

    def _more(self, name: str) -> str:
        if name not in self.further:
            return ""
        more = self.further[name]
        if more is None:
            return "; no end is in sight: its share lies between the two thresholds"
        return f"; {more.verdict} after {more.runs} more if it goes on like this"


def run(audit: Audit) -> AuditResult | None:
    """Run a program until the verdict on each case stands, or its runs are used up.

    Returns
    -------
    AuditResult or None
        ``None`` of a dry run, which prints the plan.

    Raises
    ------
    UserError
        Something can't work; nothing has been run then but a pilot.
    KeyboardInterrupt, Stopped
        As :func:`plenum.execution.sweep.run_sweep`.
    """
    # Check.
    preflight.check(audit.jobs)
    rule = Rule(audit.settings.acceptable, audit.settings.unacceptable)

    # Take over runs that exist.
    for logged, job in zip(audit.logged, audit.jobs, strict=bool(audit.logged)):
        logged.write(folder_of(job))

    # Plan, from a run that exists.
    if audit.jobs[0].dry_run:
        pilot = ended_run(journal_of(audit.jobs[0], 0))
        print("\n".join(plan(audit, rule, pilot)))
        return None

    # Run the pilot, then what is due.
    runs = AuditRuns(audit, rule, lambda pilot: _announce(audit, rule, pilot))
    outcomes = run_sweep(audit.jobs, runs)
    if runs.refused:
        raise UserError(runs.refused)
    _refuse_cached(audit)

    # Say what it came to.
    return result(audit, rule, runs, outcomes)


def plan(audit: Audit, rule: Rule, pilot: Transcript | None) -> list[str]:
    """What an audit takes at both ends, and between them.

    Parameters
    ----------
    pilot
        A run that has ended; ``None`` where there is none yet.
    """
    cases, most = len(audit.jobs), audit.settings.max_runs
    options = max(len(require_program(job.condition).case.options) for job in audit.jobs)
    each = {"calls": 1.0, "tokens_in": 0.0, "tokens_out": 0.0, "cost": 0.0}
    first = f"{cases} case{'s' * (cases > 1)}; nothing is known of a run before the pilot"
    if pilot is not None:
        each = {**each, **pilot.totals()}
        tokens = each["tokens_in"] + each["tokens_out"]
        first = (
            f"{cases} case{'s' * (cases > 1)}; a run takes {each['calls']:.0f} calls, "
            f"{tokens:,.0f} tokens, {_dollars(each['cost'])}, as run 0 of "
            f"{require_program(audit.jobs[0].condition).case.id} did"
        )

    def line(what: str, runs: float) -> str:
        total = runs * cases
        spent = f", {total * each['calls']:,.0f} calls, {_dollars(total * each['cost'])}"
        return f"{what}: {runs:.0f} runs a case" + (spent if pilot is not None else "")

    labels = [str(option) for option in range(options)]
    lines = [line("at least", min(horizon((), labels, rule), most))]
    for end in expected(rule, options, most):
        chances = f"stable {end.stable:.0%}, unstable {end.unstable:.0%}"
        lines.append(line(f"if {end.share:.1%} decide alike ({chances})", end.runs))
    return [first, *lines, line("at most", most)]


def result(audit: Audit, rule: Rule, runs: AuditRuns, outcomes: list[Outcome]) -> AuditResult:
    """The verdicts on runs that have ended."""
    cases = {case.id: case.verdict for case in runs.cases.values()}
    left = [case for case in runs.cases.values() if case.evidence.verdict == UNDECIDED]
    stopped = {f"stopped: {o.stopped}" for o in outcomes if o.stopped}
    errors = {f"error: {o.name}: {error}" for o in outcomes for error in o.errors}
    return AuditResult(
        study=audit.jobs[0].study,
        program=require_program(audit.jobs[0].condition).program_identity,
        cases=cases,
        family=family(cases, rule),
        further={case.id: further(case.outcomes, case.options, rule) for case in left},
        errors=(*sorted(stopped), *sorted(errors)),
    )


def _refuse_cached(audit: Audit) -> None:
    """Refuse runs that are no draws of their own.

    Raises
    ------
    UserError
        A cache answered in them.
    """
    for job in audit.jobs:
        ended = (ended_run(journal_of(job, index)) for index in begun(job))
        completed = [run for run in ended if run is not None and run.status == "completed"]
        calls = tables(completed)["calls"].to_dict("list")
        why = uncalled(calls, len(completed))
        if job.condition.backend.name != "simulated":  # whose agents have few words
            why = why or cached(calls)
        if why:
            name = require_program(job.condition).case.id
            raise UserError(
                f"case {name}: no verdict: {why}; switch it off, and move {folder_of(job)} away"
            )


def _announce(audit: Audit, rule: Rule, pilot: Transcript) -> str:
    """Print the plan; why the audit can't go on, or an empty text."""
    if audit.program is not None:
        print("\n".join(plan(audit, rule, pilot)), file=sys.stderr)
    if audit.jobs[0].budget.dollars is not None and math.isnan(pilot.totals()["cost"]):
        models = sorted({call["model"] for call in pilot.calls if call["cost"] is None})
        return (
            f"budget.dollars: no price is known for {', '.join(models)}; state dollars per million "
            f"tokens: {how_to_state(models)}"
        )
    return ""


def _dollars(cost: float) -> str:
    return "price unknown" if math.isnan(cost) else f"${cost:,.4f}"
