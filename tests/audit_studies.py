"""Studies of programs for tests of audits: real journals, and conditions in MLflow if asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from plenum.base.identity import digest
from plenum.design.job import Job
from plenum.design.settings import Backend, Budget, Calls, Sampling, Simulated
from plenum.execution.summarise import report_condition
from plenum.execution.usage import count_usage
from plenum.records.journal import Journal
from plenum.records.transcript import read_transcript
from plenum.records.usage import Usage
from plenum.reports.settings import Settings
from plenum.tracking.writer import StudyWriter
from plenum_audit.design import AuditConfig
from plenum_audit.programs.condition import ProgramCondition
from plenum_audit.reports.publish import publish_audited
from plenum_verdicts.cases.case import AuditCase
from plenum_verdicts.dynamics.audit_result import AuditResult, plan_each
from plenum_verdicts.dynamics.audits import (
    StabilityRule,
    judge_cases,
    judge_family,
    select_ended,
)
from plenum_verdicts.reports.audit import AuditReport
from plenum_verdicts.reports.record import AuditSubject

OPTIONS = {"A": "Hire", "B": "Don't hire"}
SPENT = {"tokens_in": 100, "tokens_out": 20, "cost": 0.001}

Entries = list[dict[str, Any]]


def conversation(decision: str, rounds: int = 2, *, part: int = 2, shares: bool = True) -> Entries:
    """Two seats' calls and messages, alike for all decisions before round ``part``."""
    entries: Entries = []
    for number in range(1, rounds + 1):
        for seat in ("Chair", "Advocate"):
            leaning = decision if number >= part else "A"
            words = f"In round {number} the {seat} weighs the case and leans to {leaning} for now."
            here = {"round": number, "seat": seat}
            entries.append(
                {
                    **{"kind": "call", **here, "model": "gpt-x", "text": words, **SPENT},
                    **{"finish": "stop", "prompt": digest([number, seat]), "occurrence": 0},
                    **{"interface": "chat", "temperature": 0.7, "question": "What now?"},
                    "system": f"You are the {seat}.",
                }
            )
            held = 0.5 + 0.04 * number
            preferences = {"A": held, "B": 1 - held} if leaning == "A" else {"A": 0.2, "B": 0.8}
            say = {"kind": "say", **here, "text": words}
            entries.append({**say, "preferences": preferences} if shares else say)
    return entries


@dataclass
class AuditStudy:
    """A study whose cases and runs a test decides.

    With ``tracked`` an audit is logged, and with ``stored`` MLflow also has the conditions.
    """

    folder: Path
    name: str = "hiring"
    committee: str = "hiring.py:committee"
    backend: Backend = field(default_factory=Simulated)
    program: Mapping[str, Any] = field(
        default_factory=lambda: {"code": "c0ffee", "python": "3.11", "packages": {"langgraph": "1"}}
    )
    tracked: bool = False
    stored: bool = False
    jobs: list[Job] = field(default_factory=list)
    tried: list[Job] = field(default_factory=list)

    @property
    def uri(self) -> str:
        """The tracking store."""
        return f"sqlite:///{self.folder}/mlflow.db"

    @property
    def chosen(self) -> Settings:
        """What reports are given."""
        return Settings(self.name, self.uri, self.folder / self.name)

    def case(
        self,
        id: str,
        decisions: Sequence[str],
        *,
        runs: Sequence[Entries] | None = None,
        text: str = "Shall we hire this person?",
        options: Mapping[str, str] = OPTIONS,
        answer: str | None = None,
        knobs: Mapping[str, Any] | None = None,
    ) -> None:
        """Run a case; a decision ``failed:REASON`` is a run that failed, ``pending`` waits.

        ``failed:REASON:DETAIL`` says why, and so does ``none:DETAIL`` of an unread decision. With
        ``knobs`` the case has other settings, whose runs don't count.
        """
        condition = ProgramCondition(
            committee=self.committee,
            program=self.program,
            case=AuditCase(id, text, options, answer),
            knobs=knobs or {},
            overrides={},
            model="as sent",
            sampling=Sampling(),
            backend=self.backend,
            rounds=1,
            seed=0,
        )
        job = Job(
            condition=condition,
            study=self.name,
            replicates=len(decisions),
            calls=Calls(),
            budget=Budget(),
            prices={},
            tracking_uri=self.uri if self.tracked or self.stored else None,
            journals=str(self.folder / "journals" / self.name),
            dry_run=False,
            retry_failed=False,
            config="",
            traces="none",
        )
        (self.tried if knobs else self.jobs).append(job)
        given = runs or [conversation(decision) for decision in decisions]
        for number, (decision, entries) in enumerate(zip(decisions, given, strict=True)):
            self._journal(job, number, decision, entries)
        if self.stored:
            self._store(job)

    def judge(self, rule: StabilityRule | None = None, **beside: Any) -> AuditResult:
        """What an audit of the cases came to, with what it has beside its verdicts."""
        rule = rule or StabilityRule()
        outcomes, options = {}, {}
        for job in self.jobs:
            runs = [read_transcript(path) for path in journals(job)]
            rows = ((run.head["replicate"], run.status, str(run.decision)) for run in runs)
            head = job.condition.as_mapping()
            outcomes[head["case"]], options[head["case"]] = select_ended(rows), [*head["options"]]
        cases = judge_cases(outcomes, options, rule)
        further = plan_each(cases, outcomes, options, rule)
        return AuditResult(self.name, "", cases, judge_family(cases, rule), further, **beside)

    def publish(
        self,
        results: AuditResult | None = None,
        subjects: tuple[AuditSubject, ...] = (),
        **settings: Any,
    ) -> AuditReport:
        """Publish the audit of the cases as it has ended, and read its ``audit.json``."""
        out = self.chosen.out
        given = AuditConfig(out=str(out), **settings)
        results = results or self.judge(StabilityRule(given.acceptable, given.unacceptable))
        publish_audited(self.jobs, given, results, subjects)
        written = (out / "audit.json").read_text(encoding="utf-8")
        return TypeAdapter(AuditReport).validate_json(written, strict=True)

    def _store(self, job: Job) -> None:
        """Write a condition to MLflow, as a sweep does."""
        written = journals(job)
        transcripts = [read_transcript(path) for path in written]
        writer = StudyWriter(self.uri, self.name, "v1").open(
            {**job.condition.as_mapping(), "cell": job.condition.cell}, len(written)
        )
        for path in written:
            writer.replicate(path, Usage())
        accounts = count_usage(transcripts, (), len(written), "")
        writer.close(written, report_condition(transcripts, accounts), "")

    def _journal(self, job: Job, number: int, decision: str, entries: Entries) -> None:
        path = Path(job.journals) / job.condition.folder / f"{number:03d}.jsonl"
        with Journal(path, {**job.condition.as_mapping(), "replicate": number}) as journal:
            for entry in entries:
                journal.append(entry)
            status, _, reason = decision.partition(":")
            reason, _, detail = reason.partition(":") if status == "failed" else (reason, "", "")
            if status == "failed":
                why = {"reason": reason, **({"detail": detail} if detail else {})}
                journal.append({"kind": "end", "status": "failed", **why})
            elif status != "pending":
                unread = {"unread": reason} if reason else {}
                ended = {"status": "completed", "decision": status, **unread}
                journal.append({"kind": "end", **ended})


def journals(job: Job) -> list[Path]:
    """The journals of a job, in the order of its runs."""
    return sorted((Path(job.journals) / job.condition.folder).glob("*.jsonl"))
