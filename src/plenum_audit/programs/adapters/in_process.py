"""Functions in this process as programs: fast, but without isolation from this process."""

import asyncio
import inspect
import threading
from collections import abc
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Any

from plenum.records.failures import Failure
from plenum_audit.programs.adapters.program import ProgramFailed, RunSession
from plenum_audit.programs.client import plenum_run
from plenum_audit.programs.client_modules import provide_client
from plenum_audit.programs.self_reports import RefusedReport
from plenum_audit.programs.session import NoAnswer
from plenum_verdicts.cases.case import AuditCase


def load(target: str) -> Any:
    """Import ``FILE.py:NAME`` or ``MODULE:NAME`` into this process."""
    provide_client()
    return plenum_run.load(target)


class Callable:
    """A program that is a function, async or not, or an object with a method ``deliberate``.

    A function that isn't async runs in its own thread; after its time limit the thread is
    abandoned, since it can't be killed.
    """

    def __init__(
        self,
        name: str,
        committee: Any,
        identity: Mapping[str, Any],
        knobs: Mapping[str, Sequence[Any]] | None = None,
    ) -> None:
        self.name, self.identity = name, identity
        self.knobs = plenum_run.knobs_of(committee) if knobs is None else knobs
        self._function = plenum_run.function_of(committee)

    async def run(self, case: AuditCase, session: RunSession) -> None:
        """Run once; the decision is stored in the session.

        Raises
        ------
        ProgramFailed
            It raised an error.
        """
        loop, given = asyncio.get_running_loop(), session.case()
        run = plenum_run.Run(
            index=given["index"],
            seed=given["seed"],
            base_url=session.base_url,
            token=session.token,
            knobs=given["knobs"],
            _send=lambda what, message: _in_loop(loop, lambda: _deliver(session, what, message)),
        )
        try:
            await _call(self._function, plenum_run.Case(**given["case"]), run)
        except asyncio.CancelledError as error:
            if (task := asyncio.current_task()) and task.cancelling():
                raise
            raise ProgramFailed(Failure.PROGRAM, f"it was cancelled: {error}") from None
        except (Exception, SystemExit) as error:
            raise ProgramFailed(Failure.PROGRAM, plenum_run.in_one_line(error)) from None

    async def close(self) -> None:
        """Do nothing, since no resources are held."""


async def _call(function: abc.Callable[[Any, Any], Any], case: Any, run: Any) -> None:
    if inspect.iscoroutinefunction(function):
        result = await function(case, run)
    else:
        result = await _in_thread(function, case, run)
        if inspect.isawaitable(result):
            result = await result
    run.decide(result)


async def _in_thread(function: abc.Callable[..., Any], *arguments: Any) -> Any:
    """Run a function in a daemon thread, which doesn't delay the end of the process."""
    future: Future[Any] = Future()

    def work() -> None:
        try:
            result = function(*arguments)
        except BaseException as error:
            _settle(future, error if isinstance(error, Exception) else RuntimeError(repr(error)))
        else:
            _settle(future, None, result)

    threading.Thread(target=work, daemon=True).start()
    return await asyncio.wrap_future(future)


def _settle(future: "Future[Any]", error: Exception | None, result: Any = None) -> None:
    with suppress(InvalidStateError):  # nobody waits any longer
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)


def _in_loop(loop: asyncio.AbstractEventLoop, call: abc.Callable[[], None]) -> None:
    """Call a function in the loop from any thread; its exceptions are raised here."""
    try:
        here = asyncio.get_running_loop() is loop
    except RuntimeError:
        here = False
    if here:
        call()
        return
    future: Future[Any] = Future()

    def work() -> None:
        try:
            call()
        except Exception as error:
            _settle(future, error)
        else:
            _settle(future, None)

    loop.call_soon_threadsafe(work)
    future.result()


def _deliver(session: RunSession, what: str, message: dict[str, Any]) -> None:
    """Pass a report to the session, as the proxy does for those sent over HTTP."""
    try:
        if what == "decision":
            session.decide(message)
        else:
            session.report(what, message)
    except (RefusedReport, NoAnswer) as problem:
        raise plenum_run.Refused(str(problem)) from None
