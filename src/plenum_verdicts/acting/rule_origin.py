"""The origin of a rule of acting alone: the program, the cases and the day it is bound to."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from plenum.base.identity import digest
from plenum_verdicts.suites.suite_runs import SuiteRuns
from plenum_verdicts.suites.undecided_runs import drop_number

VALID_DAYS = 90
"""Days for which a rule is valid: the model behind a name may change, which no identity shows. The
number is plenum's own: longer ones meet more changes of models, shorter ones make a user learn
rules anew more often."""

Options = Mapping[str, str]
Source = Literal["log", "program", "simulated"]


@dataclass(frozen=True)
class RuleOrigin:
    """The program, the options and the runs from which a rule was learnt.

    Attributes
    ----------
    program
        Name of the program, or of the log of its runs.
    identity
        Its identity with its settings; of a log, of which no program is known, that of the log.
    source
        Whose runs these were: those of a log, of which the user alone can say what program made
        them, of the program itself, or of it with simulated agents.
    options
        By the labels of a case: a digest of their names; empty if names vary, or none is known.
    rows
        Digest of cases, outcomes and scores, whatever their order.
    day
        The day on which it was learnt, in UTC.
    """

    program: str
    identity: str
    source: Source
    options: Mapping[str, str]
    rows: str
    day: date

    @classmethod
    def of(
        cls, runs: SuiteRuns, cases: Iterable[Options], program: str, identity: str, source: Source
    ) -> "RuleOrigin":
        """Return what a rule is learnt from today.

        Parameters
        ----------
        cases
            The options of each case, names by label.
        program, identity, source
            As for the class.
        """
        ended = zip(runs.case, runs.outcome, runs.score, strict=True)
        # Sorted, and by names instead of numbers: the same runs in any order have one digest.
        rows = sorted(
            [runs.cases[case], drop_number(runs.outcomes[outcome]), str(score)]
            for case, outcome, score in ended
        )
        # Options may be named otherwise in each case, such as in a quiz: then labels are all that a
        # rule can be held to.
        options: dict[str, str] = {}
        for labels, names in map(_name, cases):
            # Once names differ between cases they stay unknown, whatever comes later.
            options[labels] = names if options.get(labels, names) == names else ""
        today = datetime.now(UTC).date()
        return cls(program, identity, source, options, digest(rows), today)

    @property
    def until(self) -> date:
        """The last day on which the rule may be applied."""
        return self.day + timedelta(VALID_DAYS)

    def refuse(self, identity: str, named: str, cases: Mapping[str, Options]) -> str:
        """Return why a rule can't be applied to a program and its cases; empty if it can.

        Parameters
        ----------
        identity
            The identity of the program.
        named
            The name that the user gave it, empty without one: the rule of a log, which has no
            program, is applied to the program that its user calls as the log was.
        cases
            The options of each case.
        """
        if self.source == "simulated":
            return "it was learnt from simulated agents, which are no evidence"
        if not self.day <= datetime.now(UTC).date() <= self.until:
            return f"it was learnt on {self.day}, and is valid from then until {self.until}"
        # A log doesn't identify its program, so a person has to say that it is this one.
        if self.source == "log" and named != self.program:
            name = json.dumps(self.program)
            return f"it was learnt from a log; if that is of this program say committee.name={name}"
        if self.source == "program" and identity != self.identity:
            return f"it was learnt from another program or other settings of it ({self.program})"
        for case, (labels, names) in zip(cases, map(_name, cases.values()), strict=True):
            if self.options.get(labels) not in ("", names):
                return f"case {case} has other options than the cases that it was learnt from"
        return ""


def _name(options: Options) -> tuple[str, str]:
    """Return the labels of a case, and a digest of their names, if they aren't the labels."""
    known = any(label != name for label, name in options.items())
    return json.dumps(sorted(options)), digest(dict(options)) if known else ""
