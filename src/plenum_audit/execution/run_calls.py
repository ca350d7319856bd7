"""The calls of a program's run: any number at a time, each admitted by its own ticket."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from plenum.calls.call_errors import CallError
from plenum.calls.caller import Caller
from plenum.calls.chat import Answer, Chat
from plenum.records.failures import Failure
from plenum_audit.programs.adapters.program import ProgramFailed


class RunCalls:
    """The calls of a session.

    Parameters
    ----------
    callers
        Returns a caller, which makes one call at a time.
    most
        Maximal number of calls in a run.
    observe
        Called with the kind, the round, the seat, and the reply's tokens and cost of each answer.

    Attributes
    ----------
    failed
        The error of a call that failed, as long as none has begun since; else ``None``.
    """

    def __init__(
        self, callers: Callable[[], Caller], most: int, observe: Callable[[dict[str, Any]], object]
    ) -> None:
        self._callers, self._most, self._observe = callers, most, observe
        self._idle: list[Caller] = []
        self._begun = self._in_flight = 0
        self._waited = self._since = 0.0
        self.failed: CallError | None = None

    @property
    def waited_s(self) -> float:
        """Seconds in which at least one call was in flight."""
        return self._waited + (_now() - self._since if self._in_flight else 0.0)

    async def ask(self, chat: Chat, labels: Mapping[str, Any]) -> Answer:
        """Call until there is an answer or a final failure; raises as :meth:`Caller.ask`.

        Raises
        ------
        ProgramFailed
            The limit of calls is exceeded.
        """
        self.failed = None
        if self._begun == self._most:
            raise ProgramFailed(Failure.PROGRAM, f"it made more than {self._most} calls")
        self._begun += 1
        caller = self._idle.pop() if self._idle else self._callers()
        self._since = self._since if self._in_flight else _now()
        self._in_flight += 1
        try:
            return await caller.ask(chat, labels)
        except CallError as error:
            self.failed = error
            raise
        finally:
            self._idle.append(caller)
            self._in_flight -= 1
            self._waited += 0.0 if self._in_flight else _now() - self._since

    def note_answer(self, chat: Chat, labels: Mapping[str, Any], answer: Answer) -> None:
        """Log the attempt that was answered."""
        (self._idle[-1] if self._idle else self._callers()).note_answer(chat, labels, answer)
        named = {"kind": labels["call"], "round": labels["round"], "seat": labels["seat"]}
        self._observe({**named, **vars(answer.response.reply)})


def _now() -> float:
    return asyncio.get_running_loop().time()
