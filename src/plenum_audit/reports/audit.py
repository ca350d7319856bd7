"""An audit as data: what `audit.json` holds, and what every other output is made of."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from plenum.base import text
from plenum_audit.dynamics.audit_runs import Further
from plenum_audit.dynamics.audits import FAILED, NO_DECISION, STABLE, UNDECIDED, UNSTABLE, Rule
from plenum_audit.dynamics.parting_calls import Place
from plenum_audit.reports.beside import Beside
from plenum_audit.reports.causes import Cause

SCHEMA = "plenum.audit/1"
"""Raised when a field changes its meaning or goes; new fields alone don't raise it."""

_INDENTED = 1_000
"""Cases up to which `audit.json` is written for eyes, too; indenting takes most of the time."""

LOGS = "logs"
"""The backend of runs that were logged elsewhere: nothing was called."""

LONG = 60
"""Letters of a name that tables show."""


@dataclass(frozen=True)
class Share:
    """A share with its interval, each side at the rule's ``alpha``; all from 0 to 1."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Accuracy:
    """The share of right decisions over the cases with a right answer, each of the same weight.

    Its 95 % interval is robust to what the runs of a case share; ``None`` for a single
    case, and for cases that are all alike.
    """

    cases: int
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Cost:
    """What runs took, failed ones among them.

    Attributes
    ----------
    dollars
        Of the calls whose price is known.
    unpriced
        Runs with calls whose price isn't.
    """

    runs: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    dollars: float = 0.0
    unpriced: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        more = vars(other)
        return Cost(**{name: value + more[name] for name, value in vars(self).items()})


@dataclass(frozen=True)
class Pair:
    """Two completed runs that decided differently.

    Attributes
    ----------
    left, right
        Their numbers; the left one decided like the mode.
    message
        The first message in which they differ, from 1; ``None`` where none is kept.
    """

    left: int
    right: int
    message: int | None


@dataclass(frozen=True)
class Source:
    """Where the runs of a case part, by their calls.

    Attributes
    ----------
    pairs, parted
        Pairs of runs, and those whose calls aren't all alike.
    repeated, endpoint
        Pairs of calls of different runs with equal prompts, and the share of them that got
        different answers.
    amplification
        Share of what is answered differently after the first parting that was asked differently.
    places
        Calls at which pairs first part, the most frequent first; three at most.
    """

    pairs: int
    parted: int
    repeated: int
    endpoint: float | None
    amplification: float | None
    places: tuple[Place, ...]


@dataclass(frozen=True)
class CaseAudit:
    """A program, as it is set, on one case.

    Attributes
    ----------
    id, question, answer
        Of the case; its right option, where one is known.
    knobs
        Settings that the program was given; ``default`` for none.
    condition, run_id
        Its identity, and its run in MLflow.
    options
        Names by label.
    verdict
        ``stable``, ``unstable`` or ``undecided``, by the case alone.
    in_family
        The same with all cases taken together: what is unstable alone may be chance among many.
    decided_after
        After how many runs the verdict stood; all of them where it doesn't.
    runs, completed, pending
        Runs that count, completed ones, and ones that haven't ended; a run counts once all before
        it have ended.
    failures
        Failed runs by reason.
    decisions
        Ended runs by outcome, the most frequent first; ``none`` and ``failed`` are outcomes.
    mode
        The most frequent decision; ``None`` where there is none.
    share
        Of the mode, with the interval that the evidence leaves.
    disagreement, all_of_five
        Chances that two runs end differently, and that five end alike; ``None`` for fewer runs.
    halves_p
        Of the hypothesis that runs could have come in any order.
    e_stable, e_unstable
        The largest e-values against a share of at most ``unacceptable``, at least ``acceptable``.
    further
        What an undecided case would take if its runs went on as they did.
    right
        Share of runs with the right option; ``None`` where none is known.
    warnings
        What a reader of the verdict has to know, by name.
    begun_again
        Runs that were begun more than once: after a kill, a stop, or a replay that differed.
    earlier
        How many other versions of the program have runs on the case; ``None`` where nobody looked.
    causes
        Why runs that count failed or came to no decision, the most frequent first; three at most.
    """

    id: str
    question: str
    answer: str | None
    knobs: str
    condition: str
    run_id: str
    options: Mapping[str, str]
    verdict: str
    in_family: str
    decided_after: int
    runs: int
    completed: int
    pending: int
    failures: Mapping[str, int]
    decisions: Mapping[str, int]
    mode: str | None
    share: Share | None
    disagreement: float | None
    all_of_five: float | None
    halves_p: float
    e_stable: float
    e_unstable: float
    further: Further | None
    right: float | None
    cost: Cost
    pair: Pair | None
    source: Source | None
    warnings: tuple[str, ...] = ()
    begun_again: int = 0
    earlier: int | None = None
    causes: tuple[Cause, ...] = ()

    @property
    def name(self) -> str:
        """Its id as one short line that a reader can see all of."""
        return short(self.id)

    @property
    def rightly(self) -> int:
        """How many of its runs reached the right option; none where it isn't known."""
        return self.decisions.get(self.answer or "", 0)

    @property
    def decided(self) -> bool:
        """Whether any of its runs came to a decision."""
        return bool(self.decisions.keys() - {FAILED, NO_DECISION})

    @property
    def unexplained(self) -> int:
        """Runs that failed or came to no decision for other causes than those it names."""
        without = sum(self.decisions.get(outcome, 0) for outcome in (FAILED, NO_DECISION))
        return without - sum(cause.count for cause in self.causes)

    @property
    def reach(self) -> int:
        """Runs, those that ended among them, with which an undecided case would have a verdict."""
        return self.runs + (self.further.runs if self.further else 0)


@dataclass(frozen=True)
class Controlled:
    """What was held, what was recorded, and what neither was.

    Attributes
    ----------
    identities
        Of the program as it is set, whatever the case; several where it changed.
    program
        What names it: digests of its code, command, interpreter, versions of packages.
    prompts
        System prompts by seat, as the first run of the first case had them.
    overrides, seed
        What the audit changed in requests, and the seed of its own draws.
    models, temperatures
        As the program's requests had them; ``not sent`` where a request had no temperature.
    fingerprints
        Answers by the provider's system fingerprint.
    backend, simulated
        What answered, and whether agents were simulated.
    versions
        Of plenum.
    messages
        Whether runs have messages, which tell who said what.
    begun, written
        When the first case was begun and the last one ended, in UTC.
    """

    identities: tuple[str, ...]
    program: Mapping[str, object]
    prompts: Mapping[str, str]
    overrides: str
    seed: str
    models: tuple[str, ...]
    temperatures: tuple[str, ...]
    fingerprints: Mapping[str, int]
    backend: str
    simulated: bool
    versions: tuple[str, ...]
    begun: str
    written: str
    origin: str
    messages: bool = True


@dataclass(frozen=True)
class Audit:
    """The audit of a program on its cases.

    Attributes
    ----------
    cases
        Of the program as it was given.
    variants
        The same cases under other settings of the program's own knobs.
    verdict
        ``stable``: every case is; ``unstable``: some case is, among all; else ``undecided``.
        ``None`` where the audit ended before it had one.
    stable, unstable
        Ids of the cases that are shown so with all cases taken together: 1 / e by Holm, and by
        Benjamini and Hochberg.
    max_runs
        The most runs of a case; ``None`` where none was set.
    accuracy
        Beside stability; ``None`` where no right answer is known.
    beside
        What would steady it, an earlier program, a control.
    exit_status
        With which the audit ended; ``None`` where its study was read again.
    doubts
        On how decisions of a log were read, a sentence each.
    stopped
        Why it ended before a verdict; empty where there is one.
    """

    study: str
    committee: str
    verdict: str | None
    rule: Rule
    max_runs: int | None
    cases: tuple[CaseAudit, ...]
    variants: tuple[CaseAudit, ...]
    stable: tuple[str, ...]
    unstable: tuple[str, ...]
    cost: Cost
    controlled: Controlled
    accuracy: Accuracy | None = None
    beside: Beside = field(default_factory=Beside)
    exit_status: int | None = None
    stopped: str = ""
    doubts: tuple[str, ...] = ()
    schema: str = SCHEMA

    @property
    def name(self) -> str:
        """What the audited program is called, as one short line."""
        return short(self.committee)

    @property
    def decided(self) -> bool:
        """Whether any run came to a decision; without one they show nothing of its share."""
        return any(case.decided for case in self.cases)

    @property
    def logged(self) -> bool:
        """Whether its runs were read from a log."""
        return self.controlled.backend == LOGS

    @property
    def spent(self) -> bool:
        """Whether it is known what runs used up: a log may not say it."""
        return not self.logged or bool(self.cost.calls)

    @property
    def so_far(self) -> str:
        """What the runs made show of all cases; it is the verdict where there is one."""
        if self.unstable:
            return UNSTABLE
        return STABLE if len(self.of(STABLE)) == len(self.cases) else UNDECIDED

    @property
    def worse(self) -> frozenset[str]:
        """Ids of the cases that are shown to decide less alike than before."""
        return frozenset(each.case for each in self.beside.baseline if each.worse)

    @property
    def passed(self) -> bool | None:
        """What the exit status says; ``None`` for neither. It is the verdict's without one."""
        usual = {STABLE: 0, UNSTABLE: 1}.get(self.verdict or UNDECIDED, 3)
        if self.beside.baseline:
            usual = int(bool(self.worse))
        return {0: True, 1: False}.get(usual if self.exit_status is None else self.exit_status)

    @property
    def by_need(self) -> tuple[CaseAudit, ...]:
        """The cases that need a look first: unstable ones, undecided ones, and by disagreement."""
        order = (UNSTABLE, UNDECIDED, STABLE)
        return tuple(
            sorted(
                self.cases,
                key=lambda case: (order.index(case.in_family), -(case.disagreement or 0)),
            )
        )

    def of(self, verdict: str) -> tuple[CaseAudit, ...]:
        """The cases with a verdict, all taken together."""
        return tuple(case for case in self.cases if case.in_family == verdict)

    def json(self) -> str:
        """What `audit.json` holds."""
        held = {"schema": self.schema, **vars(self)}
        indent = 1 if len(self.cases) <= _INDENTED else None
        return json.dumps(held, indent=indent, allow_nan=False, default=vars) + "\n"


def short(name: str) -> str:
    """A name as one line of a table."""
    line = text.flatten(name) or "-"
    return line if len(line) <= LONG else f"{line[: LONG - 1]}…"
