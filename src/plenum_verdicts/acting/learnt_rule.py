"""A rule with what it was learnt from: it belongs to one program, and to cases of one kind."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from plenum_verdicts.acting.act_rule import ActRule
from plenum_verdicts.suites import SuiteRuns, drop_number

VALID_DAYS = 90
"""Days for which a rule is valid: the model behind a name may change, which no identity shows."""

Options = Mapping[str, str]


@dataclass(frozen=True)
class Learnt:
    """What a rule was learnt from.

    Attributes
    ----------
    program
        Name of the program, or of the log of its runs.
    identity
        Its identity with its settings; of a log, of which no program is known, that of the log.
    logged
        True if runs of a log were read, so that the user alone can say of which program they are.
    simulated
        True if simulated agents decided.
    options
        The different options of cases, names by label; a name is empty if cases differ in it, or if
        none is known.
    rows
        SHA-256 digest of cases, outcomes and scores, whatever their order.
    date, valid_until
        The day on which it was learnt, and the last one on which it may be applied, in UTC.
    """

    program: str
    identity: str
    logged: bool
    simulated: bool
    options: tuple[Options, ...]
    rows: str
    date: str
    valid_until: str

    def __post_init__(self) -> None:
        for each in (self.date, self.valid_until):
            try:
                date.fromisoformat(each)
            except ValueError:
                raise ValueError(f"{each!r} is no day") from None

    @classmethod
    def of(
        cls,
        runs: SuiteRuns,
        program: str,
        identity: str,
        cases: Iterable[Options],
        *,
        logged: bool = False,
        simulated: bool = False,
    ) -> "Learnt":
        """Return what a rule is learnt from today.

        Parameters
        ----------
        cases
            The options of each case, names by label.
        """
        ended = zip(runs.case, runs.outcome, runs.score, strict=True)
        rows = sorted(
            json.dumps([runs.cases[case], drop_number(runs.outcomes[outcome]), float(score)])
            for case, outcome, score in ended
        )
        held, today = hashlib.sha256("\n".join(rows).encode()), datetime.now(UTC).date()
        until, options = today + timedelta(VALID_DAYS), join_options(cases)
        given = program, identity, logged, simulated, options, held.hexdigest()
        return cls(*given, today.isoformat(), until.isoformat())


@dataclass(frozen=True)
class LearntRule:
    """A rule that was shown to hold a risk.

    Attributes
    ----------
    risk
        The share of its acts that is wrong at most, as was shown.
    known
        True if right answers were known; else an act counted as wrong if it contradicted the most
        frequent decision of the case's other runs.
    """

    rule: ActRule
    risk: float
    known: bool
    learnt: Learnt

    def refuse(
        self, identity: str, named: str, cases: Mapping[str, Options], today: date | None = None
    ) -> str:
        """Return why the rule can't be applied to a program and its cases; empty if it can.

        Parameters
        ----------
        identity
            The identity of the program.
        named
            The name that the user gave it, empty without one: the rule of a log, which has no
            program, is applied to the program that its user calls as the log was.
        cases
            The options of each case.
        today
            By default this day, in UTC.
        """
        learnt, today = self.learnt, today or datetime.now(UTC).date()
        begin, end = date.fromisoformat(learnt.date), date.fromisoformat(learnt.valid_until)
        if learnt.simulated:
            return "it was learnt from simulated agents, which are no evidence"
        if not begin <= today <= end <= begin + timedelta(VALID_DAYS):
            return (
                f"it was learnt on {begin}, is valid until {end}, {VALID_DAYS} days at most, and "
                f"today is {today}: learn it anew"
            )
        if learnt.logged and named != learnt.program:
            return (
                f"it was learnt from the log {learnt.program!r}, which names no program; if the "
                f"runs are this program's, say so: committee.name={json.dumps(learnt.program)}"
            )
        if not learnt.logged and identity != learnt.identity:
            return (
                f"it was learnt from another program, or from other settings of it "
                f"({learnt.program}, {learnt.identity}; this one is {identity})"
            )
        for case, options in cases.items():
            if not any(_fits(each, options) for each in learnt.options):
                return f"case {case} has other options than those that it was learnt from"
        return ""


def join_options(cases: Iterable[Options]) -> tuple[Options, ...]:
    """Return the different options of cases, with the names that all with these labels share.

    Examples
    --------
    >>> join_options([{"A": "Hire", "B": "Wait"}, {"A": "Hire", "B": "Stop"}, {"yes": "yes"}])
    ({'A': 'Hire', 'B': ''}, {'yes': ''})
    """
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for options in cases:
        # A name that is its label is none: the log had no more.
        named = {label: "" if name == label else name for label, name in options.items()}
        seen = found.setdefault(tuple(sorted(options)), named)
        for label, name in named.items():
            seen[label] = name if seen[label] == name else ""
    return tuple(dict(sorted(each.items())) for _, each in sorted(found.items()))


def _fits(known: Options, options: Options) -> bool:
    return known.keys() == options.keys() and all(
        name in ("", options[label]) for label, name in known.items()
    )
