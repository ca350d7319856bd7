"""A run of a program for tests: a proxy that listens, a session, and the callers behind it."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plenum.calls import backends
from plenum.calls.admission import Admission, Ticket
from plenum.calls.api.prices import Prices
from plenum.calls.budget import Ledger
from plenum.calls.call_log import CallLog
from plenum.calls.caller import Caller
from plenum.calls.chat import ChatModel
from plenum.design.settings import Api, Budget, Calls, Sampling, Simulated
from plenum.records.journal import Journal
from plenum_audit.programs.condition import ProgramCondition
from plenum_audit.programs.proxy import Proxy
from plenum_audit.programs.session import Session
from plenum_verdicts.cases.case import AuditCase

Play = Callable[..., Any]
"""The fixture that runs a test's coroutine with a bench: see ``conftest.py``."""

CASE = AuditCase(
    "bridge",
    "The bridge over the river is cracked. Options:\nA: close it\nB: repair it at night\nC: wait",
    {"A": "close it", "B": "repair it at night", "C": "wait"},
)


def condition_of(backend: Any = None, **more: Any) -> ProgramCondition:
    """A condition of the case, on the simulated backend unless another is given."""
    fields: dict[str, Any] = {
        "model": "program's own",
        "sampling": Sampling(),
        "backend": backend or Simulated(),
        "rounds": 1,
        "seed": 0,
        "committee": "board",
        "program": {"code": "0"},
        "case": CASE,
        "knobs": {},
        "overrides": {},
    }
    return ProgramCondition(**{**fields, **more})


@dataclass
class Bench:
    """A proxy and the backend behind it."""

    proxy: Proxy
    model: ChatModel
    admission: Admission
    folder: Path
    log: CallLog
    condition: ProgramCondition
    calls: Calls

    def session(
        self, index: int = 0, overrides: Mapping[str, Any] | None = None, patience_s: float = 5.0
    ) -> Session:
        """A session of a run, served by the proxy."""
        head = {**self.condition.as_mapping(), "replicate": index}
        journal = Journal(self.journal(index), head)

        def caller() -> Caller:
            ticket = Ticket(self.admission, self.model.provider, self.condition.folder, index)
            return Caller(self.model, backends.make_retry_policy(self.calls), ticket, self.log)

        session = Session(self.condition, index, journal, caller, overrides, patience_s)
        self.proxy.open(session)
        return session

    def journal(self, index: int = 0) -> Path:
        """Where a run's journal is."""
        return self.folder / f"{index:03d}.jsonl"


@asynccontextmanager
async def serving(
    folder: Path, backend: Simulated | Api | None = None, **calls: Any
) -> AsyncIterator[Bench]:
    """A proxy that listens, for as long as the context lasts."""
    condition = condition_of(backend)
    settings = Calls(**{"backoff_s": 0.0, "start_concurrency": 1000, **calls})
    prices = Prices(charged=isinstance(condition.backend, Api))
    model = backends.build_backend(condition.backend, settings, prices)
    admission = Admission(settings, Ledger(Budget(), prices.of))
    proxy = Proxy()
    await proxy.start()
    with CallLog(folder / "calls.jsonl") as log:
        yield Bench(proxy, model, admission, folder, log, condition, settings)
    await proxy.stop()
    await model.close()
