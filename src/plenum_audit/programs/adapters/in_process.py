"""A function in this process: light, and with nothing that keeps it from what this process has."""

import asyncio
import inspect
import threading
from collections import abc
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Any

from plenum.records import Failure
from plenum_audit.programs.adapters.program import ProgramFailed, Running
from plenum_audit.programs.case import Case
from plenum_audit.programs.client import plenum_run
from plenum_audit.programs.importing import provide_client
from plenum_audit.programs.reported import Refused
from plenum_audit.programs.session import NoAnswer


def load(target: str) -> Any:
    """What ``FILE.py:NAME`` or ``MODULE:NAME`` names, imported into this process."""
    provide_client()
    return plenum_run.load(target)


class Callable:
    """A function, async or not, or an object with a method ``deliberate``.

    One that isn't async runs in a thread of its own; at the end of its time it is left to itself,
    since a thread can't be killed.
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

    async def run(self, case: Case, session: Running) -> None:
        """Run once; the decision is in the session.

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
            await _called(self._function, plenum_run.Case(**given["case"]), run)
        except asyncio.CancelledError as error:
            if (task := asyncio.current_task()) and task.cancelling():
                raise
            raise ProgramFailed(Failure.PROGRAM, f"it was cancelled: {error}") from None
        except (Exception, SystemExit) as error:
            raise ProgramFailed(Failure.PROGRAM, plenum_run.in_one_line(error)) from None

    async def close(self) -> None:
        """Nothing is held."""


async def _called(function: abc.Callable[[Any, Any], Any], case: Any, run: Any) -> None:
    if inspect.iscoroutinefunction(function):
        result = await function(case, run)
    else:
        result = await _in_thread(function, case, run)
        if inspect.isawaitable(result):
            result = await result
    run.decide(result)


async def _in_thread(function: abc.Callable[..., Any], *arguments: Any) -> Any:
    """Run a function in a thread that nobody waits for at the end of the process."""
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
    """Call from whatever thread this is; what the call raises is raised here."""
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


def _deliver(session: Running, what: str, message: dict[str, Any]) -> None:
    """As the proxy does with what comes over the wire."""
    try:
        if what == "decision":
            session.decide(message)
        else:
            session.report(what, message)
    except (Refused, NoAnswer) as problem:
        raise plenum_run.Refused(str(problem)) from None
