"""Scheduling of an audit's runs: which ones are due, and how each is executed.

A run begins only if every possible verdict needs it, so that no run is wasted, however many are in
flight. Run 0 of the first case is a pilot: the others wait for it, and for the plan.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Self

from plenum.base.errors import Stopped
from plenum.design.job import Job
from plenum.dynamics.multiplicity import benjamini_hochberg
from plenum.execution.condition_folder import find_condition_folder, find_journal, list_begun
from plenum.execution.executors import Deliberations, Playable, Scene
from plenum.execution.outcomes import ReplicateResult, list_problems
from plenum.execution.sweep import run_sweep
from plenum.records.chain import DamagedJournal
from plenum.records.transcript import Transcript, read_transcript
from plenum_audit.dynamics.parting_calls import (
    LEAST_REPEATS,
    LEAST_TOKENS,
    describe_kept_results,
    find_cache,
    find_cache_without_calls,
    find_change,
)
from plenum_audit.execution.program_run import ProgramRun
from plenum_audit.programs.compose import Audit
from plenum_audit.programs.condition import require_program
from plenum_audit.programs.proxy import Proxy
from plenum_audit.tracking.programs import collect_calls
from plenum_verdicts.dynamics.audit_baseline import compute_worsening
from plenum_verdicts.dynamics.audit_runs import horizon
from plenum_verdicts.dynamics.audits import (
    FAILED,
    NO_DECISION,
    STABLE,
    UNDECIDED,
    UNSTABLE,
    CaseVerdict,
    StabilityRule,
    begin_evidence,
    encode_outcomes,
    judge_case,
    p_value,
    select_ended,
)

_ENOUGH = 6
"""Number of runs of a case after which a cache can be detected."""

_SHOWN = 3
"""Number of cases up to which running verdicts are shown individually."""


class CaseRuns:
    """The runs of one case: those that ended, and those that wait to begin.

    Attributes
    ----------
    outcomes, evidence
        Outcomes and evidence of ended runs, in the order of their index.
    examined
        True if its answers were searched for signs of a cache.
    before, worse
        Outcomes of the program to compare with, and the log evidence that this one is less stable.
    """

    def __init__(self, job: Job, rule: StabilityRule, before: Sequence[str] = ()) -> None:
        self.job, self._rule, self.before = job, rule, before
        self.id, self.options = _case_of(job)
        self._ended: dict[int, tuple[str, str]] = {}
        self._waiting: dict[int, asyncio.Future[bool]] = {}
        self._again: set[int] = set()
        self._horizon, self._over = 0, False
        self.examined = False
        self.outcomes: list[str] = []
        self._running = begin_evidence(self.options, rule)
        self._update()

    def load(self) -> list[Transcript]:
        """Load the runs from journals; return those that ended."""
        ended = list_ended(self.job)
        for transcript in ended:
            self._count(transcript.head["replicate"], transcript)
        self._update()
        return ended

    def end(self, index: int, transcript: Transcript | None) -> None:
        """Record a run that has ended; without a transcript no further run begins."""
        if transcript is None:
            self._over = True
            return
        self._count(index, transcript)
        self._update()

    def _count(self, index: int, transcript: Transcript) -> None:
        self._ended[index] = transcript.status, str(transcript.decision)
        if transcript.begun_again:
            self._again.add(index)

    @property
    def begun_again(self) -> int:
        """Number of runs that count and were started more than once."""
        return sum(index < len(self.outcomes) for index in self._again)

    def stop(self) -> None:
        """Begin no further run."""
        self._over = True

    @property
    def so_far(self) -> str:
        """The running verdict; without any decision it says so instead."""
        if self.outcomes and not set(self.outcomes) - {FAILED, NO_DECISION}:
            return "without a decision"
        return self.evidence.verdict

    @property
    def verdict(self) -> CaseVerdict:
        """The verdict on the ended runs."""
        return judge_case(self.outcomes, self.options, self._rule)

    def _update(self) -> None:
        statuses = ((index, *end) for index, end in self._ended.items())
        self.outcomes = select_ended(statuses)
        self._running.add(encode_outcomes(self.outcomes[self._running.tally.runs :], self.options))
        self.evidence = self._running.evidence
        self.worse = compute_worsening(self.outcomes, self.before, self.options)
        if self.evidence.verdict == UNDECIDED:
            self._horizon = horizon((), self.options, self._rule, self._running.tally)
        else:  # it takes more to be shown among many cases
            self._horizon = len(self.outcomes) + 1

    def turn(self, index: int) -> asyncio.Future[bool]:
        """Return a future that tells whether a run is due, as soon as that is known."""
        waits: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting[index] = waits
        return waits

    def release(self, stands: bool) -> None:
        """Start waiting runs that are due, or cancel them if the verdict is reached."""
        for index, waits in list(self._waiting.items()):
            if waits.done():
                del self._waiting[index]
            elif self._over or stands:
                waits.set_result(False)
            elif index < self._horizon:
                waits.set_result(True)


class AuditRuns(Deliberations):
    """The runs of an audit, as what executes the replicates of its sweep.

    Parameters
    ----------
    audit
        The audit: its program, and a job for each case.
    rule
        The criterion of stability.
    before
        Outcomes of the program to compare with, by case.
    plan
        Called with the pilot run, before others begin.

    Attributes
    ----------
    refused
        The reason why the audit didn't go on.
    """

    def __init__(
        self,
        audit: Audit,
        rule: StabilityRule,
        plan: Callable[[Transcript], object],
        before: Mapping[str, Sequence[str]],
    ) -> None:
        self._audit, self._rule, self._plan = audit, rule, plan
        self.slots: int | None = audit.settings.concurrency
        self.cases = {
            job.condition.folder: CaseRuns(job, rule, before.get(_case_of(job)[0], ()))
            for job in audit.jobs
        }
        self._pilot: CaseRuns | None = next(iter(self.cases.values()))
        self._proxy = Proxy()
        self.refused = ""

    async def __aenter__(self) -> Self:
        await self._proxy.start()
        for case in self.cases.values():
            for transcript in case.load()[:1]:
                self._start_rest(transcript)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._proxy.stop()
        await self._audit.program.close()

    def play(self, scene: Scene) -> Playable:
        """Return one run of the program."""
        return ProgramRun(
            condition=require_program(scene.job.condition),
            index=scene.index,
            journal=scene.journal,
            callers=scene.callers,
            program=self._audit.program,
            settings=self._audit.committee,
            proxy=self._proxy,
            observe=scene.observe,
            complain=scene.complain,
        )

    async def due(self, job: Job, index: int) -> bool:
        """Return whether a verdict may need a run; runs that were begun always count."""
        case = self.cases[job.condition.folder]
        if find_journal(job, index).exists() or (case is self._pilot and index == 0):
            return True
        turn = case.turn(index)
        self._release(case)
        return await turn

    def note_result(self, job: Job, result: ReplicateResult) -> None:
        """Record a run that has ended, and start the runs that are due now."""
        case = self.cases[job.condition.folder]
        usable = result.usable and not result.pending
        transcript = read_ended(result.journal) if usable else None
        case.end(result.index, transcript)
        if transcript is not None:
            self._start_rest(transcript)
            if len(case.outcomes) >= _ENOUGH and not case.examined:
                case.examined = True
                self._refuse(find_answer_cache(case))
        elif case is self._pilot:
            self._pilot = None
        self._release_all()

    def over(self, job: Job) -> None:
        """Begin no further run of a case."""
        case = self.cases[job.condition.folder]
        case.stop()
        if case is self._pilot:
            self._pilot = None
        self._release_all()

    def status(self) -> str:
        """Return the running verdicts."""
        cases = list(self.cases.values())
        if len(cases) <= _SHOWN:
            return "; ".join(f"{c.id} {c.so_far}, {len(c.outcomes)} runs" for c in cases)
        verdicts = Counter(case.so_far for case in cases)
        return ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))

    def _start_rest(self, pilot: Transcript) -> None:
        if self._pilot is not None:
            self._pilot = None
            self._plan(pilot)

    def _refuse(self, why: str) -> None:
        """End the audit, if there is a reason."""
        self.refused = self.refused or why
        if why:
            for case in self.cases.values():
                case.stop()

    def _release_all(self) -> None:
        for case in self.cases.values():
            self._release(case)

    def _release(self, case: CaseRuns) -> None:
        if self._pilot is None:
            case.release(self._stands(case))

    def _stands(self, case: CaseRuns) -> bool:
        """Return whether a case needs no further run; instability must hold among all cases."""
        if case.evidence.verdict != UNSTABLE:
            return case.evidence.verdict == STABLE
        if len(case.outcomes) < len(case.before) - 1 and not self._shows(case, attrgetter("worse")):
            return False  # runs that the comparison has a use for
        return self._shows(case, attrgetter("evidence.log_unstable"))

    def _shows(self, case: CaseRuns, log_e: Callable[[CaseRuns], float]) -> bool:
        """Return whether the evidence on a case is significant among all cases."""
        if p_value(log_e(case)) > self._rule.alpha:
            return False  # not even by itself
        cases = list(self.cases.values())
        p = benjamini_hochberg([p_value(log_e(each)) for each in cases])
        return bool(p[cases.index(case)] <= self._rule.alpha)


class EveryRun(AuditRuns):
    """An audit in which every run is due, such as a control with a fixed number of runs."""

    async def due(self, job: Job, index: int) -> bool:
        """Return true for every run."""
        return True


def play_runs(
    jobs: Sequence[Job], runs: AuditRuns, paid: Sequence[Job], of: str = ""
) -> tuple[str, ...]:
    """Execute runs, and return the reasons of an early end.

    Parameters
    ----------
    paid
        All jobs that the budget covers.
    of
        Precedes each reason.
    """
    try:
        return list_problems(run_sweep(jobs, runs, paid), of)
    except Stopped as error:  # a refused key, an exhausted account: what was run counts
        return (f"{of}stopped: {error}; the same command continues from here",)


def find_answer_cache(case: CaseRuns) -> str:
    """Return the evidence that a case's answers come from a cache; or empty."""
    ended = list_ended(case.job)
    completed = [run for run in ended if run.status == "completed"]
    calls = collect_calls(completed)
    why = find_cache_without_calls(calls, len(completed)) or describe_kept_results(calls)
    if case.job.condition.backend.name != "simulated":  # whose agents have few words
        why = why or find_cache(calls) or _find_handed_on(completed)
    systems = [
        frozenset((c["model"], c["system"]) for c in run.calls if "system" in c) for run in ended
    ]
    if not why and (first := find_change(systems)) is not None:
        runs = [run.head["replicate"] for run in ended]
        why = (
            f"from run {runs[first]} on its models or system prompts are others than before, "
            "though its code is the same: these are runs of two programs"
        )
        return f"case {case.id}: no verdict: {why}; move {find_condition_folder(case.job)} away"
    if not why:
        return ""
    folder = find_condition_folder(case.job)
    return f"case {case.id}: no verdict: {why}; switch it off, and move {folder} away"


def _find_handed_on(runs: Sequence[Transcript]) -> str:
    """Return the evidence that answers of the first run reach later runs; empty if none.

    They must if the prompts of at least :data:`LEAST_REPEATS` runs contain them although these runs
    never got such an answer. Short answers, and words of the first question, prove nothing.
    """
    if len(runs) <= LEAST_REPEATS or not runs[0].calls:
        return ""
    asked = str(runs[0].calls[0].get("question", ""))
    texts = [str(c["text"]).strip() for c in runs[0].calls if c["tokens_out"] >= LEAST_TOKENS]
    foreign = 0
    for run in runs[1:]:
        own = {str(call["text"]).strip() for call in run.calls}
        others = [text for text in texts if text and text not in own and text not in asked]
        questions = [str(call.get("question", "")) for call in run.calls]
        foreign += any(text in question for text in others for question in questions)
    if foreign < LEAST_REPEATS:
        return ""
    return (
        f"prompts of {foreign} runs hold answers that only the first run got: the program keeps "
        "them from run to run"
    )


def list_ended(job: Job) -> list[Transcript]:
    """Return the runs of a job that have ended, in order."""
    journals = (find_journal(job, index) for index in list_begun(job))
    return [run for run in map(read_ended, journals) if run is not None]


def read_ended(journal: Path) -> Transcript | None:
    """Return the transcript of an ended run; ``None`` if it is open or unreadable."""
    try:
        transcript = read_transcript(journal)
    except (DamagedJournal, OSError):
        return None
    return transcript if transcript.end else None


def _case_of(job: Job) -> tuple[str, tuple[str, ...]]:
    case = require_program(job.condition).case
    return case.id, tuple(case.options)
