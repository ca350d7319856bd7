"""An audit as data: the content of `audit.json`, from which all other outputs are made."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from pydantic import InstanceOf

from plenum.base.identity import digest
from plenum.base.project import code_version
from plenum.base.shares import keep_finite
from plenum_verdicts.dynamics.accuracy import estimate_accuracy
from plenum_verdicts.dynamics.audit_runs import Further
from plenum_verdicts.dynamics.audits import (
    FAILED,
    NO_DECISION,
    STABLE,
    UNDECIDED,
    UNSTABLE,
    CaseVerdict,
    FamilyVerdict,
    StabilityRule,
)
from plenum_verdicts.dynamics.parting_place import Place
from plenum_verdicts.reports.causes import Cause
from plenum_verdicts.reports.names import short
from plenum_verdicts.reports.record import AuditRecord
from plenum_verdicts.reports.sections import OptionalSections
from plenum_verdicts.reports.suite import SuiteReport

SCHEMA = "plenum.audit/2"
"""Version of the format, raised when a field is removed or changes its meaning."""

_UNWRITTEN = ("schema", "suite", "files")
"""Fields that the JSON has in another form."""

_INDENTED = 1_000
"""Number of cases up to which `audit.json` is indented, which takes most of the time."""

AUDIT, SUITE, VERDICT = "audit", "suite", "verdict"
"""The names of the files of a verdict on cases, on all of them together, and on both."""

_SCHEMAS = {AUDIT: SCHEMA, SUITE: "plenum.suite/2", VERDICT: "plenum.verdict/1"}
"""Versions of the formats, raised when a field is removed or changes its meaning."""

LOGS = "logs"
"""Backend of runs that were logged elsewhere, without calls."""


@dataclass(frozen=True)
class ShareInterval:
    """A share from 0 to 1 with its interval, each side at the rule's ``alpha``."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Accuracy:
    """The share of right decisions over the cases with a right answer, equally weighted.

    Its 95 % interval is robust to dependence within cases; ``None`` for a single case, and for
    cases with equal shares.
    """

    cases: int
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Cost:
    """Usage of runs, including failed ones.

    Attributes
    ----------
    dollars
        Cost of the calls whose price is known.
    unpriced
        Number of runs with calls whose price is unknown.
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
class DifferingRuns:
    """Two completed runs that decided differently.

    Attributes
    ----------
    left, right
        Their numbers; the left one decided like the mode.
    message
        Number of the first message in which they differ, from 1; ``None`` if none is stored.
    """

    left: int
    right: int
    message: int | None


@dataclass(frozen=True)
class DivergenceSource:
    """Sources of divergence between the runs of a case, by their calls.

    Attributes
    ----------
    pairs, parted
        Numbers of pairs of runs, and of those whose calls differ.
    repeated, endpoint
        Number of pairs of calls of different runs with equal prompts, and the share of them with
        different answers.
    amplification
        Share of later differing answers whose prompts differed as well.
    places
        Calls at which pairs first differ, the most frequent first; three at most.
    """

    pairs: int
    parted: int
    repeated: int
    endpoint: float | None
    amplification: float | None
    places: tuple[Place, ...]


@dataclass(frozen=True)
class CaseAudit:
    """The audit of a program with its settings on one case.

    Attributes
    ----------
    id, question, answer
        Fields of the case; the answer is its right option, if known.
    knobs
        Settings given to the program; ``default`` for none.
    condition, run_id
        Its identity, and its run in MLflow.
    options
        Names by label.
    verdict
        ``stable``, ``unstable`` or ``undecided``, by this case alone.
    in_family
        The verdict among all cases: instability of a single one may be chance among many.
    decided_after
        Number of runs after which the verdict was reached; all of them if it wasn't.
    runs, completed, pending
        Numbers of runs that count, of completed ones, and of open ones; a run counts once all
        before it have ended.
    failures
        Failed runs by reason.
    decisions
        Ended runs by outcome, the most frequent first; ``none`` and ``failed`` are outcomes.
    mode
        The most frequent decision; ``None`` if there is none.
    share
        Share of the mode, with the interval that the evidence leaves.
    disagreement, all_of_five
        Probabilities that two runs end differently, and that five end alike; ``None`` with fewer
        runs.
    halves_p
        The p-value of exchangeability of the runs.
    e_stable, e_unstable
        The largest e-values against a share of at most ``unacceptable``, at least ``acceptable``.
    further
        Further runs that an undecided case needs, assuming that its runs repeat.
    right
        Share of runs with the right outcome; ``None`` if unknown.
    score
        Mean score of its runs, from 0 to 1; ``None`` if it isn't known of every run.
    warnings
        Names of warnings about the verdict.
    begun_again
        Number of runs that were started more than once: after a kill, a stop, or a diverging
        replay.
    earlier
        Number of other versions of the program with runs on the case; ``None`` if they weren't
        searched.
    causes
        Reasons of failed runs and of runs without a decision, the most frequent first; three at
        most.
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
    share: ShareInterval | None
    disagreement: float | None
    all_of_five: float | None
    halves_p: float
    e_stable: float
    e_unstable: float
    further: Further | None
    right: float | None
    cost: Cost
    pair: DifferingRuns | None
    source: DivergenceSource | None
    warnings: tuple[str, ...] = ()
    begun_again: int = 0
    earlier: int | None = None
    causes: tuple[Cause, ...] = ()
    score: float | None = None

    @property
    def name(self) -> str:
        """The id as one short printable line."""
        return short(self.id)

    @property
    def rightly(self) -> int:
        """Number of its runs with the right outcome; 0 if that is unknown."""
        return round((self.right or 0) * self.runs)

    @property
    def unanimous_and_wrong(self) -> bool:
        """True if two runs or more ended alike, and none was right to any degree."""
        return self.disagreement == 0 and (self.right if self.score is None else self.score) == 0

    @property
    def decided(self) -> bool:
        """True if any of its runs reached a decision."""
        return bool(self.decisions.keys() - {FAILED, NO_DECISION})

    @property
    def unexplained(self) -> int:
        """Number of failed or undecided runs with other causes than the named ones."""
        without = sum(self.decisions.get(outcome, 0) for outcome in (FAILED, NO_DECISION))
        return without - sum(cause.count for cause in self.causes)

    @property
    def reach(self) -> int:
        """Total number of runs with which an undecided case would have a verdict."""
        return self.runs + (self.further.runs if self.further else 0)


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class Circumstances:
    """The controlled, recorded, and uncontrolled circumstances of an audit.

    Attributes
    ----------
    identities
        Identities of the program with its settings, independent of the case; several if it changed.
    program
        Its description: digests of its code, command, interpreter, versions of packages.
    prompts
        System prompts by seat, in the first run of the first case.
    overrides, seed
        The audit's changes of requests, and the seed of its own draws.
    models, temperatures
        Values in the program's requests; ``not sent`` for a missing temperature.
    fingerprints
        Numbers of answers by the provider's system fingerprint.
    backend, simulated
        The backend, and whether agents were simulated.
    versions
        Versions of plenum.
    messages
        True if runs have messages, with their speakers.
    begun, written
        Start of the first case and end of the last one, in UTC.
    """

    identities: tuple[str, ...] = ()
    program: Mapping[str, object] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    overrides: str = "default"
    seed: str = "0"
    models: tuple[str, ...] = ()
    temperatures: tuple[str, ...] = ()
    fingerprints: Mapping[str, int] = field(default_factory=dict)
    backend: str = "none"
    simulated: bool = False
    versions: tuple[str, ...] = field(default_factory=lambda: (code_version(),))
    begun: str = field(default_factory=now)
    written: str = field(default_factory=now)
    origin: str = "nothing answered"
    messages: bool = False


@dataclass(frozen=True)
class AuditReport:
    """The audit of a program on its cases.

    Attributes
    ----------
    cases
        Cases of the program with the given settings.
    verdict
        ``stable``: every case is; ``unstable``: some case is, among all; else ``undecided``.
        ``None`` if the audit ended before a verdict.
    stable, unstable
        Ids of the cases shown so among all cases: 1 / e by Holm, and by Benjamini and Hochberg.
    max_runs
        Maximal number of runs of a case; ``None`` if it isn't set.
    accuracy
        Accuracy of decisions; ``None`` if no right answer is known.
    beside
        Optional sections: an earlier program, a control.
    exit_status
        Exit status of the audit; ``None`` as long as it isn't known.
    doubts
        Sentences on doubtful readings of a log's decisions.
    stopped
        Reason of an end before a verdict; empty if there is a verdict.
    record
        Who tested what, with digests.
    suite
        The verdict on all cases together, which then comes first; ``None`` if it wasn't asked for.
    files
        The name of its files without their endings.
    """

    study: str
    committee: str
    rule: StabilityRule
    verdict: str | None = None
    max_runs: int | None = None
    cases: tuple[CaseAudit, ...] = ()
    stable: tuple[str, ...] = ()
    unstable: tuple[str, ...] = ()
    cost: Cost = field(default_factory=Cost)
    controlled: Circumstances = field(default_factory=Circumstances)
    accuracy: Accuracy | None = None
    beside: OptionalSections = field(default_factory=OptionalSections)
    exit_status: int | None = None
    stopped: str = ""
    doubts: tuple[str, ...] = ()
    record: AuditRecord = field(default_factory=AuditRecord)
    suite: InstanceOf[SuiteReport] | None = None
    files: str = AUDIT
    schema: str = SCHEMA  # of what is read again

    @property
    def name(self) -> str:
        """The name of the audited program, as one short line."""
        return short(self.committee)

    @property
    def decided(self) -> bool:
        """True if any run reached a decision; without one they show nothing about shares."""
        return any(case.decided for case in self.cases)

    @property
    def logged(self) -> bool:
        """True if its runs were read from a log."""
        return self.controlled.backend == LOGS

    @property
    def spent(self) -> bool:
        """True if usage is known, which a log may not contain."""
        return not self.logged or bool(self.cost.calls)

    @property
    def so_far(self) -> str:
        """The state of evidence on all cases, equal to the verdict if there is one."""
        if self.unstable:
            return UNSTABLE
        return STABLE if len(self.of(STABLE)) == len(self.cases) else UNDECIDED

    @property
    def worse(self) -> frozenset[str]:
        """Ids of the cases shown to agree less than before."""
        return frozenset(each.case for each in self.beside.baseline if each.worse)

    @property
    def blind(self) -> bool:
        """True if the comparison would have shown no drop, and it isn't stable by itself."""
        return self.least_drop is None and self.verdict != STABLE

    @property
    def least_drop(self) -> float | None:
        """The smallest drop that the comparison with an earlier program would have shown."""
        drops = [each.least_drop for each in self.beside.baseline if each.least_drop is not None]
        return min(drops, default=None)

    @property
    def passed(self) -> bool | None:
        """True or false by the exit status; ``None`` for neither."""
        return self.exit_status == 0 if self.exit_status in (0, 1) else None

    @cached_property
    def by_need(self) -> tuple[CaseAudit, ...]:
        """Cases in order of urgency: unstable ones, undecided ones, and by disagreement.

        Those of a suite, whose single cases have few runs, are by disagreement and score alone.
        """
        order = (UNSTABLE, UNDECIDED, STABLE)

        def rank(case: CaseAudit) -> tuple[float, ...]:
            first = 0 if self.suite else order.index(case.in_family)
            return first, -(case.disagreement or 0), 1.0 if case.score is None else case.score

        return tuple(sorted(self.cases, key=rank))

    def of(self, verdict: str) -> tuple[CaseAudit, ...]:
        """Return the cases with a verdict, among all cases."""
        return tuple(case for case in self.cases if case.in_family == verdict)

    def json(self) -> str:
        """Return the content of its JSON: on cases, on all of them together, or on both."""
        schema, suite = _SCHEMAS[self.files], self._hold_suite()
        named = (each.name for each in fields(self) if each.name not in _UNWRITTEN)
        held = {name: getattr(self, name) for name in named}
        held = {"schema": schema, **held}
        if self.files == SUITE:
            held = {"schema": schema, "study": self.study, **suite}
        elif self.files == VERDICT:
            held["suite"] = suite if self.suite else None
        indent = 1 if len(self.cases) <= _INDENTED else None
        return json.dumps(held, indent=indent, allow_nan=False, default=vars) + "\n"

    def _hold_suite(self) -> dict[str, Any]:
        """Return what is said of all cases together; without a verdict why there is none."""
        held: dict[str, Any] = {"exit_status": self.exit_status}
        if self.suite is None:
            return {**held, "verdict": None, "why": [self.stopped]}
        record = self.record
        signed = {"tested_by": record.tested_by, "responsible": record.responsible}
        held |= {role: who for role, who in signed.items() if who}
        held["logs"] = [each.name for each in record.subjects if each.role == LOGS]
        asked = {part.name: part.held for part in self.suite.parts}
        found = {**held, **asdict(self.suite.found), **asked, "doubts": self.doubts}
        written = {name: _drop_infinite(value) for name, value in found.items()}
        if rule := written.get("acting"):
            rule["digest"] = digest(rule)  # of what is written: an edited rule isn't applied
        return written


def _drop_infinite(value: Any) -> Any:
    """Replace numbers that JSON doesn't have by ``None``."""
    if isinstance(value, dict):
        return {key: _drop_infinite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_drop_infinite(each) for each in value]
    return keep_finite(value) if isinstance(value, float) else value


def list_verdict_fields(
    case: str, verdict: CaseVerdict, answer: str | None, together: FamilyVerdict | None
) -> dict[str, Any]:
    """Return the fields of a case's audit that follow from its verdict."""
    proof, runs = verdict.evidence, verdict.runs
    ordered = sorted(verdict.counts.items(), key=lambda count: -count[1])
    return {
        "verdict": verdict.verdict,
        "in_family": together.of(case, verdict) if together else verdict.verdict,
        "decided_after": proof.runs,
        "runs": runs,
        "decisions": {outcome: count for outcome, count in ordered if count},
        "mode": verdict.mode or None,
        "share": ShareInterval(verdict.share, verdict.low, verdict.high) if runs else None,
        "disagreement": verdict.disagreement if runs > 1 else None,
        "all_of_five": verdict.all_alike(5) if runs >= 5 else None,
        "halves_p": verdict.halves_p,
        "e_stable": proof.stable,
        "e_unstable": proof.unstable,
        "right": verdict.counts.get(answer, 0) / runs if answer and runs else None,
    }


def measure_accuracy(
    outcomes: Mapping[str, Sequence[str]], answers: Mapping[str, str]
) -> Accuracy | None:
    """Return the share of right outcomes over cases; ``None`` if no answer is known."""
    measured = estimate_accuracy(outcomes, answers)
    if not measured.n:
        return None
    if math.isnan(measured.se):  # one case, or cases that are all alike
        return Accuracy(measured.n, measured.value, None, None)
    low, high = max(measured.ci_low, 0.0), min(measured.ci_high, 1.0)
    return Accuracy(measured.n, measured.value, low, high)
