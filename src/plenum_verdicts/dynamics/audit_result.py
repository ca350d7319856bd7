"""The result of an audit, with its description in words and its exit status."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from plenum.base.shares import format_percent_between, format_signed_percent, percent
from plenum_verdicts.dynamics.audit_baseline import CaseComparison, worse_cases
from plenum_verdicts.dynamics.audit_runs import Further, plan_further
from plenum_verdicts.dynamics.audits import (
    FAILED,
    STABLE,
    UNDECIDED,
    UNSTABLE,
    CaseVerdict,
    FamilyVerdict,
    StabilityRule,
)

STATUSES = {STABLE: 0, UNSTABLE: 1, UNDECIDED: 3}
"""Exit statuses of verdicts. 2 is left out, as which command lines report bad input."""


STOPPED = 4
"""Exit status of an audit that was stopped before a verdict."""


_SHOWN = 10
"""Number of lines and names of cases that are printed; the others are only counted. The number is
plenum's own: about what a reader goes through; files have all."""


def exit_status(verdict: str, undecided: str | None) -> int:
    """Return the exit status of a verdict; undecided may count as ``pass`` or ``fail``."""
    if verdict == UNDECIDED and undecided:
        verdict = STABLE if undecided == "pass" else UNSTABLE
    return STATUSES[verdict]


@dataclass(frozen=True)
class AuditResult:
    """The result of an audit.

    Attributes
    ----------
    study, program
        The study, and the identity of the program with its settings.
    cases
        Verdicts by case.
    family
        The verdict on all cases together.
    systems
        Models with answers from several systems, with the systems' fingerprints.
    further
        Further runs that an undecided case needs, if an end is foreseeable.
    control
        The same cases decided by the program's seats without interaction; ``None`` if that wasn't
        run.
    comparisons
        Comparisons with an earlier program by case; ``None`` if none is named.
    errors
        Errors and reasons of an early end, one line each.
    begun_again
        Number of runs that were started more than once, only for cases with such runs.
    doubts
        Sentences on doubtful readings of a log's decisions.
    earlier
        Number of other versions of the program with runs on a case, only for cases that have any.
    """

    study: str
    program: str
    cases: Mapping[str, CaseVerdict]
    family: FamilyVerdict
    further: Mapping[str, Further | None] = field(default_factory=dict)
    systems: Mapping[str, Sequence[str]] = field(default_factory=dict)
    comparisons: Mapping[str, CaseComparison] | None = None
    control: Mapping[str, CaseVerdict] | None = None
    errors: tuple[str, ...] = ()
    begun_again: Mapping[str, int] = field(default_factory=dict)
    earlier: Mapping[str, int] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()

    @property
    def stopped(self) -> str:
        """The reason of an end before a verdict; empty if there is a verdict.

        Undecided is a verdict only if nothing interrupted the audit and each case has a completed
        run. Otherwise a gate that lets undecided pass would do so whenever the provider is down.
        """
        # What was shown stands, whatever broke off later.
        if self.worse if self.comparisons else self.family.verdict != UNDECIDED:
            return ""
        if self.errors:
            return self.errors[0]
        unrun = [name for name, case in self.cases.items() if case.runs <= case.counts[FAILED]]
        return f"no run was completed of {', '.join(unrun)}" if unrun else ""

    @property
    def worse(self) -> tuple[str, ...]:
        """The cases that are shown to be less stable than before."""
        return worse_cases(self.comparisons or {}, self.family.rule.alpha)

    def status(self, undecided: str | None) -> int:
        """Return the exit status: 0 stable, 1 unstable, 3 undecided, which may count as either.

        It is 4 if the audit was stopped before a verdict, whatever undecided counts as. With an
        earlier program that decided some of the cases, it is 1 if this one is shown to be worse, 3
        if so few runs would have shown no drop in any case and it isn't stable, and otherwise 0.
        """
        if self.stopped:
            return STOPPED
        if self.comparisons:
            # No drop would have been shown, however large: that none was shown says nothing.
            blind = all(each.least_drop is None for each in self.comparisons.values())
            # What is stable by itself may have been less so before, in however few runs.
            blind = blind and self.family.verdict != STABLE
            found = UNSTABLE if self.worse else UNDECIDED if blind else STABLE
            return exit_status(found, undecided)
        return exit_status(self.family.verdict, undecided)

    def lines(self) -> list[str]:
        """Return the verdicts in words: a line per case, and one for all."""
        lines = self._case_lines()
        if len(self.cases) > 1:
            shown = _some(self.family.unstable)
            lines.append(
                f"{len(self.cases):,} cases: {self.family.verdict}"
                + (f"; shown unstable: {shown}" if shown else "")
            )
        return [*lines, *self.notes()]

    def notes(self) -> list[str]:
        """Return further findings in words: comparisons, drifts, errors."""
        control = self.control or {}
        lines = [_describe_control(name, self.cases[name], each) for name, each in control.items()]
        compared = [
            _describe_baseline(name, each) for name, each in (self.comparisons or {}).items()
        ]
        lines += compared[:_SHOWN]
        if len(compared) > _SHOWN:
            lines.append(f"and {len(compared) - _SHOWN:,} more cases")
        if self.comparisons:
            why = " (by a one-sided test; the brackets are wider, two-sided and may hold 0)"
            worse = f"{_some(self.worse)}{why}" if self.worse else "not shown of any case"
            lines.append(f"worse than before: {worse}")
        elif self.comparisons is not None:
            lines.append("no earlier program to compare with: the verdict stands alone")
        drifts = _some(self.family.not_exchangeable)
        drift = f"not_exchangeable: {drifts}: the halves of the runs differ, so the order matters"
        lines += [drift] if drifts else []
        lines += [
            f"not_exchangeable: {model} answered from several systems: {', '.join(fingerprints)}"
            for model, fingerprints in self.systems.items()
        ]
        lines += self._history()
        lines += (*self.doubts, *self.errors)
        if self.stopped:
            lines.append(f"no verdict: {self.stopped}")
        return lines

    def _history(self) -> list[str]:
        """Return lines on runs that were restarted, and on other versions of the program."""
        lines = []
        if again := self.begun_again:
            runs = sum(self.cases[name].runs for name in again)
            lines.append(
                f"{_on(again)}: {sum(again.values())} of {runs} runs were begun more than once, "
                "after a kill or a stop: the program's own random draws are made again then"
            )
        if self.earlier:
            most = max(self.earlier.values())
            up_to = "up to " if most > min(self.earlier.values()) else ""
            others = "version of this program has" if most == 1 else "versions of this program have"
            lines.append(
                f"{_on(self.earlier)}: {up_to}{most} other {others} "
                f"runs on {'this case' if len(self.earlier) == 1 else 'these'}: each had its own "
                "5 % of error"
            )
        return lines

    def _case_lines(self) -> list[str]:
        """Return a line per case; with many cases, join equal lines and count the rest."""
        if len(self.cases) <= _SHOWN:
            return [f"{name}: {self._line(name, case)}" for name, case in self.cases.items()]
        alike: dict[str, list[str]] = {}
        for name, case in self.cases.items():
            alike.setdefault(self._line(name, case), []).append(name)
        lines = [
            f"{names[0]}{f' and {len(names) - 1:,} more' if len(names) > 1 else ''}: {line}"
            for line, names in alike.items()
        ]
        left = sum(len(names) for names in list(alike.values())[_SHOWN:])
        more = [f"and {left:,} more cases that differ from these"] if left else []
        return lines[:_SHOWN] + more

    def _line(self, name: str, case: CaseVerdict) -> str:
        counts = ", ".join(f"{outcome} {n}" for outcome, n in case.counts.items() if n)
        if not case.runs:
            return "undecided, no runs"
        share = f"decides alike {format_percent_between(case.share, case.low, case.high)}"
        return (
            f"{self.family.of(name, case)}, {share}, {case.runs} runs: {counts}{self._more(name)}"
        )

    def _more(self, name: str) -> str:
        if name not in self.further:
            return ""
        more = self.further[name]
        if more is None:
            return "; no end is in sight: its share lies between the two thresholds"
        return (
            f"; {more.runs} more may show it {more.verdict}, if {more.agreeing} of them end alike"
        )


def _some(names: Sequence[str]) -> str:
    """Return the first of some names, and the number of the others."""
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _on(cases: Mapping[str, int]) -> str:
    """Return the name of a single case, or the number of cases."""
    return next(iter(cases)) if len(cases) == 1 else f"{len(cases):,} cases"


def _describe_baseline(name: str, each: CaseComparison) -> str:
    """Describe the comparison of a case with an earlier program."""
    now, before = each.now, each.before
    moved = ""
    if each.decides_otherwise:
        moved = f"; it decides {now.mode or '-'}, not {before.mode or '-'}"
    return (
        f"{name}: {percent(now.share)} of {now.runs} runs alike, {percent(before.share)} of "
        f"{before.runs} before, difference {format_signed_percent(each.difference)} "
        f"[{100 * each.low:+.0f}, {100 * each.high:+.0f}]{moved}"
    )


def _describe_control(name: str, case: CaseVerdict, control: CaseVerdict) -> str:
    """Describe the comparison of a case with its control."""
    added = case.disagreement - control.disagreement
    return (
        f"{name}: two runs end differently in {percent(case.disagreement)}; its seats without "
        f"interaction, voting, in {percent(control.disagreement)} of {control.runs}: interaction "
        f"adds {format_signed_percent(added)}"
    )


def plan_each(
    cases: Mapping[str, CaseVerdict],
    outcomes: Mapping[str, Sequence[str]],
    options: Mapping[str, Sequence[str]],
    rule: StabilityRule,
) -> dict[str, Further | None]:
    """Return what each undecided case needs; cases with equal runs are evaluated once."""
    plan, left = cache(plan_further), [c for c, each in cases.items() if each.verdict == UNDECIDED]
    return {case: plan(tuple(outcomes[case]), tuple(options[case]), rule) for case in left}
