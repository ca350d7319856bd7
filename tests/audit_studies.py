"""Studies of programs for tests and benchmarks of audits: real journals, tracked by the writer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plenum.base.identity import digest
from plenum.design.settings import Backend, Sampling, Simulated
from plenum.execution.summarise import report_condition
from plenum.execution.usage import count_usage
from plenum.records import Journal, Usage, read
from plenum.reports.settings import Settings
from plenum.tracking.writer import StudyWriter
from plenum_audit.programs.condition import ProgramCondition
from plenum_verdicts.cases.case import AuditCase

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
    """A study whose cases and runs a test decides."""

    folder: Path
    name: str = "hiring"
    committee: str = "hiring.py:committee"
    backend: Backend = field(default_factory=Simulated)
    program: Mapping[str, Any] = field(
        default_factory=lambda: {"code": "c0ffee", "python": "3.11", "packages": {"langgraph": "1"}}
    )

    def __post_init__(self) -> None:
        self.writer = StudyWriter(self.uri, self.name, "v1")

    @property
    def uri(self) -> str:
        """The tracking store."""
        return f"sqlite:///{self.folder}/mlflow.db"

    @property
    def chosen(self) -> Settings:
        """What reports are given."""
        return Settings(self.name, self.uri, self.folder / self.name, window=(1, 20), draws=100)

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
        target: int | None = None,
    ) -> None:
        """Run a case; a decision ``failed:REASON`` is a run that failed, ``pending`` waits.

        ``failed:REASON:DETAIL`` says why, and so does ``none:DETAIL`` of an unread decision.
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
        head = condition.as_mapping()
        given = runs or [conversation(decision) for decision in decisions]
        journals = [
            self._journal(head, number, decision, entries)
            for number, (decision, entries) in enumerate(zip(decisions, given, strict=True))
        ]
        transcripts = [read(journal) for journal in journals]
        wanted = target or len(journals)
        writer = self.writer.open({**head, "cell": condition.cell}, wanted)
        for journal in journals:
            writer.replicate(journal, Usage())
        writer.close(
            journals, report_condition(transcripts, count_usage(transcripts, (), wanted, "")), ""
        )

    def _journal(self, head: dict[str, Any], number: int, decision: str, entries: Entries) -> Path:
        folder = self.folder / "journals" / self.name / str(head["condition"])
        path = folder / f"{number:03d}.jsonl"
        with Journal(path, {**head, "replicate": number}) as journal:
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
        return path
