"""Runs of programs for tests: real processes, the real proxy, the simulated model behind it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from plenum.calls import backends
from plenum.calls.admission import Admission, Ticket
from plenum.calls.budget import Ledger
from plenum.calls.call_log import CallLog
from plenum.calls.caller import Caller
from plenum.calls.chat import ChatModel
from plenum.calls.simulated import SimulatedBackend
from plenum.design.settings import Backend, Budget, Calls, Sampling, Simulated
from plenum.records.transcript import Transcript, read_transcript
from plenum_audit.design import CommitteeConfig
from plenum_audit.execution.program_run import ProgramRun
from plenum_audit.programs.adapters.committee import Program, find_program
from plenum_audit.programs.condition import ProgramCondition
from plenum_audit.programs.proxy import Proxy
from plenum_verdicts.cases.case import AuditCase

CASE = AuditCase(
    id="hiring",
    text="Three candidates applied.\nWhom do we hire?",
    options={"A": "the engineer", "B": "the engineer with a degree", "C": "nobody"},
    answer="B",
    extras={"budget": 3},
)
CALL = """
def call(run, question="Which option?", model="openai/gpt-x", seat=""):
    body = {"model": model, "temperature": 1, "messages": [{"role": "user", "content": question}]}
    request = urllib.request.Request(
        f"{run.base_url}/chat/completions",
        json.dumps(body).encode(),
        {**run.headers, "Content-Type": "application/json", "X-Plenum-Seat": seat},
    )
    answer = json.load(urllib.request.urlopen(request))
    return answer["choices"][0]["message"]["content"]
"""
"""A program's function that calls a model, with the standard library alone."""


@dataclass(frozen=True)
class Audit:
    """Everything that runs of one program share."""

    folder: Path
    settings: CommitteeConfig
    program: Program
    model: ChatModel
    budget: Budget = field(default_factory=Budget)
    backend: Backend = field(default_factory=Simulated)

    def condition(self, **knobs: Any) -> ProgramCondition:
        """The program on the case."""
        return ProgramCondition(
            committee=self.program.name,
            program=self.program.identity,
            case=CASE,
            knobs=knobs,
            overrides={"model": "openai/gpt-x"} if self.backend.name == "hosted" else {},
            model="own",
            sampling=Sampling(),
            backend=self.backend,
            rounds=1,
            seed=1,
        )

    def journal(self, index: int) -> Path:
        """A run's."""
        return self.folder / f"{index:03d}.jsonl"

    async def start(self, indices: Sequence[int], **knobs: Any) -> list[Any]:
        """Run concurrently; what each raised, or whether it wrote anything."""
        calls, condition, proxy = Calls(max_attempts=1), self.condition(**knobs), Proxy()
        self.folder.mkdir(parents=True, exist_ok=True)
        admission = Admission(calls, Ledger(self.budget, lambda model: None))
        await proxy.start()
        log = CallLog(self.folder / "calls.jsonl")

        def caller(index: int) -> Caller:
            ticket = Ticket(admission, self.model.provider, condition.folder, index)
            return Caller(self.model, backends.make_retry_policy(calls), ticket, log)

        runs = [
            ProgramRun(
                condition=condition,
                index=index,
                journal=self.journal(index),
                callers=partial(caller, index),
                program=self.program,
                settings=self.settings,
                proxy=proxy,
            ).run()
            for index in indices
        ]
        try:
            return await asyncio.gather(*runs, return_exceptions=True)
        finally:
            await self.program.close()
            await proxy.stop()
            log.close()

    def run(self, runs: int = 1, **knobs: Any) -> list[Transcript]:
        """Run concurrently to the end; an error of the code is raised."""
        for result in asyncio.run(self.start(range(runs), **knobs)):
            if isinstance(result, BaseException):
                raise result
        return [read_transcript(self.journal(index)) for index in range(runs)]


def audit_of(folder: Path, model: ChatModel | None = None, **settings: Any) -> Audit:
    """The audit of a program that settings name."""
    committee = CommitteeConfig(**settings)
    program = find_program(committee)
    return Audit(folder / "runs", committee, program, model or SimulatedBackend(Simulated()))


def script(folder: Path, body: str, name: str = "team.py") -> str:
    """A file with a function ``committee``; what it needs to call a model is in it."""
    imports = "import asyncio, json, os, signal, sys, time, urllib.error, urllib.request\n"
    imports += "from plenum_run import Case, Decision, Refused, Run\n"
    (folder / name).write_text(f"{imports}{CALL}\n{body}")
    return f"{folder / name}:committee"
