"""One run of a program under audit: its calls, messages, decision, and journal.

Every answer is journaled before the program gets it. An existing journal is replayed first: the
n-th call with a prompt gets its n-th recorded answer, so that a killed run continues where it was
and nothing is paid twice, even with concurrent calls.
"""

import asyncio
import secrets
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn, Protocol

from plenum.base.identity import derive_seed, digest
from plenum.base.secrets import redact
from plenum.base.text import flatten
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Answer, Chat, Message, Response
from plenum.records.chain import DamagedJournal
from plenum.records.failures import Failure
from plenum.records.journal import REFUSED, Journal
from plenum_audit.programs.call_entries import entry as call_entry
from plenum_audit.programs.call_entries import find_seat, read_response, redact_response
from plenum_audit.programs.condition import ProgramCondition
from plenum_audit.programs.journal_replay import Numbers, RecordedRun
from plenum_audit.programs.overrides import FAULT_RATE, fault
from plenum_audit.programs.request_conversion import RequestConverter
from plenum_audit.programs.self_reports import as_decision, as_message, as_vote
from plenum_audit.programs.wire import INTERFACES, ModelRequest
from plenum_audit.programs.wire.request import format_tool_call

PATIENCE_S = 20.0
"""Seconds without activity for which an unrecorded call waits for recorded ones."""
_STATUS = {
    Failure.RATE_LIMIT: 429,
    Failure.TIMEOUT: 504,
    Failure.AUTH: 401,
    Failure.REQUEST: 400,
    Failure.CONTENT_FILTER: 400,
}
Entry = dict[str, Any]


class CallMaker(Protocol):
    """A caller that makes one call at a time, as :class:`plenum.calls.caller.Caller`."""

    async def ask(self, chat: Chat, labels: Mapping[str, Any]) -> Answer:
        """Call until there is an answer or a final failure."""

    def note_answer(self, chat: Chat, labels: Mapping[str, Any], answer: Answer) -> None:
        """Log the attempt that was answered."""


class NoAnswer(Exception):
    """Raised for a call without an answer, with the status and message for the program.

    ``again`` says whether the program's client may retry by itself.
    """

    def __init__(self, status: int, message: str, again: bool = False) -> None:
        super().__init__(message)
        self.status, self.again = status, again


class Session:
    """The record of a run.

    Parameters
    ----------
    condition, index
        The run.
    journal
        The journal, opened for this run; recorded answers are taken from it.
    calls
        Returns a caller for each call, since a program may make several at once.
    overrides
        The audit's changes of requests, by field; ``model`` names the model that answers.
    patience_s
        See :data:`PATIENCE_S`.

    Attributes
    ----------
    token
        Identifier of the run for the proxy, and the only key that its program sees.
    base_url
        URL of models, ``.../v1``; set by the proxy.
    decision
        A future with the program's decision: ``option``, ``text``, ``extract`` by name.
    stopped
        A future with the reason that makes further calls pointless: a spent budget, a refused key.
    diverged
        Reason why the run must start anew, since the program asked something else on replay; else
        empty.
    recorded
        The content of its journal when it was opened.
    problems
        Irregularities, one line each.
    """

    def __init__(
        self,
        condition: ProgramCondition,
        index: int,
        journal: Journal,
        calls: Callable[[], CallMaker],
        overrides: Mapping[str, Any] | None = None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        loop = asyncio.get_running_loop()
        self.condition, self.index = condition, index
        self.token, self.base_url = secrets.token_hex(16), ""
        self.decision: asyncio.Future[dict[str, Any]] = loop.create_future()
        self.stopped: asyncio.Future[Exception] = loop.create_future()
        self.diverged = ""
        self.problems: list[str] = []
        self.ended = False
        self._journal, self._calls, self._patience_s = journal, calls, patience_s
        self._fault_rate = (overrides or {}).get(FAULT_RATE, 0.0)
        self._outgoing = RequestConverter(condition, index, overrides or {})
        self.recorded = RecordedRun(journal.entries)
        self._occurrences = Numbers(0)  # of each prompt, by its digest
        self._seats: dict[str, str] = {}
        self._conversations: dict[Any, tuple[Message, ...]] = {}  # by the id of its last answer
        # By prompt and occurrence: a request that comes again after an error keeps its occurrence,
        # and is told from the earlier ones by how often it failed.
        self._failed: defaultdict[tuple[str, int], int] = defaultdict(int)
        self._faults: defaultdict[tuple[str, int], int] = defaultdict(int)
        self._under_way: set[asyncio.Task[Response]] = set()

    @property
    def seed(self) -> int:
        """Seed of the run, for a program that needs one."""
        return derive_seed(self.condition.identity, self.index, "program")

    @property
    def path(self) -> Path:
        """The run's journal."""
        return self._journal.path

    @property
    def decided(self) -> bool:
        """True if the program has decided."""
        return self.decision.done()

    def case(self) -> dict[str, Any]:
        """Return the program's input."""
        case = self.condition.case
        given = {"id": case.id, "text": case.text, "options": dict(case.options)}
        knobs = dict(self.condition.knobs)
        run = {"index": self.index, "seed": self.seed, "knobs": knobs}
        return {"case": {**given, "extras": dict(case.extras)}, **run}

    async def call(
        self, interface: str, body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> tuple[ModelRequest, dict[str, Any]]:
        """Answer a request, from the journal or by a call.

        Returns
        -------
        Request, dict
            The parsed request, and the answer's body in its interface.

        Raises
        ------
        BadRequest
            It can't be read.
        NoAnswer
            There is no answer.
        """
        request = INTERFACES[interface].read(body)
        if request.previous in self._conversations:
            request = request.after(self._conversations[request.previous])
        elif request.previous:
            self.problem(f"it goes on from an answer that isn't of its run: {request.previous}")
        self.require_open()
        self.recorded.move()
        seat = find_seat(request, headers, self._seats)
        occurrence = self._occurrences.next(request.digest)
        self._order_fault(request.digest, occurrence)
        try:
            if refusal := self.recorded.refusal(request.digest, occurrence):
                self._failed[request.digest, occurrence] += 1
                raise NoAnswer(refusal["status"], refusal["detail"])
            entry = self.recorded.answer(request.digest, occurrence)
            if entry is None:
                await self._until_replayed(seat)
                task = asyncio.create_task(self._call(request, headers, seat, occurrence))
                self._under_way.add(task)
                task.add_done_callback(self._forget_task)
                # A program that hangs up doesn't cut the call: it is paid, and is journaled.
                response = await asyncio.shield(task)
            else:
                response = read_response(entry)
        except NoAnswer:
            # The program's next try is the same call, not one more with this prompt.
            self._occurrences.release(request.digest, occurrence)
            raise
        answer = self._write_body(request, occurrence, response)
        # Without the system message, which the next request of a conversation states anew.
        heard = (message for message in request.messages if message.role != "system")
        self._conversations[answer.get("id")] = (
            *heard,
            Message("assistant", _format_answer(response)),
        )
        return request, answer

    def report(self, kind: str, message: Mapping[str, Any]) -> None:
        """Journal a ``say`` or ``vote``.

        Raises
        ------
        RefusedReport
            The message isn't well-formed.
        """
        self.require_open()
        self.recorded.move()
        options = self.condition.case.options
        entry = (as_message if kind == "say" else as_vote)(message, options)
        if not self.recorded.holds(entry):
            self._append(entry)

    def decide(self, decision: Any) -> None:
        """Record the decision: a text, or ``option``, ``text``, ``extract`` by name.

        Only the first one counts.
        """
        self.require_open()
        self.recorded.move()
        read = as_decision(decision, self.condition.case.options)
        if not self.decision.done():
            self.decision.set_result(read)
        elif self.decision.result() != read:
            self.problem("it decided twice, and differently: the first decision counts")

    def problem(self, line: str) -> None:
        """Note an irregularity once."""
        line = redact(line)
        if line not in self.problems:
            self.problems.append(line)

    def require_open(self) -> None:
        """Refuse requests that are too late.

        Raises
        ------
        NoAnswer
            The run has ended, must start anew, or can't continue.
        """
        if self.ended:
            self.problem("it went on calling after its end: refused")
            raise NoAnswer(410, "this run has ended: nothing more is answered")
        if self.diverged:
            raise NoAnswer(409, f"this run starts again: {self.diverged}")
        if self.stopped.done():
            raise NoAnswer(503, f"the audit stops: {self.stopped.result()}")

    async def end(self) -> None:
        """Refuse further requests, and cancel those in progress."""
        self.ended = True
        under_way = list(self._under_way)
        for task in under_way:
            task.cancel()
        if under_way:
            self.problem("it ended with calls under way: they were cut short")
            await asyncio.wait(under_way)
        left = self.recorded.left
        if left and not (self.diverged or self.stopped.done()):
            again = "ended" if self.decision.done() else "gave up"
            self._diverge(f"it {again} without {left} of its recorded calls and messages")

    def _forget_task(self, task: asyncio.Task[Response]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # nobody may be waiting for it any longer

    def _append(self, entry: Entry) -> None:
        """Journal an entry; what can't be recorded stops the audit."""
        try:
            self._journal.append(entry)
        except (OSError, DamagedJournal) as error:
            self._stop(error)

    def _order_fault(self, prompt: str, occurrence: int) -> None:
        """Raise the fault for a request, if the audit injects one."""
        again = self._faults[prompt, occurrence]
        names = (self.condition.identity, self.index, prompt, occurrence, again)
        ordered = fault(self._fault_rate, *names) if self._fault_rate else None
        if ordered is not None:
            self._faults[prompt, occurrence] += 1
            self._occurrences.release(prompt, occurrence)
            raise NoAnswer(ordered[0], f"{ordered[1]}: ordered by overrides.{FAULT_RATE}", True)

    async def _call(
        self, request: ModelRequest, headers: Mapping[str, str], seat: str, occurrence: int
    ) -> Response:
        """Make a call, and journal the answer."""
        number = self.recorded.rounds.next(seat)
        again = self._failed[request.digest, occurrence]
        chat = self._outgoing.chat(request, headers, occurrence, again)
        labels = {"replicate": self.index, "call": "call", "round": number, "seat": seat}
        caller = self._calls()
        try:
            answer = await caller.ask(chat, labels)
        except CallError as error:
            self.recorded.rounds.release(seat, number)  # rounds count answers
            self._failed[request.digest, occurrence] += 1
            status = error.status if (error.status or 0) >= 400 else _STATUS.get(error.failure)
            status, detail = status or 502, f"{error.failure}: {error.detail}"
            at = {"seat": seat, "prompt": request.digest, "occurrence": occurrence}
            self._append({"kind": REFUSED, **at, "status": status, "detail": detail})
            raise NoAnswer(status, detail) from None
        except asyncio.CancelledError:
            raise NoAnswer(410, "this run has ended: nothing more is answered") from None
        except Exception as error:  # what ends the audit: a budget, a key, a bug
            self._stop(error)
        response = redact_response(answer.response)
        try:
            at = {"round": number, "seat": seat, "occurrence": occurrence}
            new_seat = seat not in self.recorded.seats
            self.recorded.seats.add(seat)
            self._append(call_entry(request, chat, response, at, new_seat))
        finally:  # it is paid, whatever becomes of its entry
            caller.note_answer(chat, labels, answer)
        return response

    def _write_body(
        self, request: ModelRequest, occurrence: int, response: Response
    ) -> dict[str, Any]:
        """Return the body of an answer, with the model's name as requested."""
        if response.body is not None:
            return {**response.body, "model": request.model}
        name = digest([self.index, request.digest, occurrence])
        return INTERFACES[request.interface].answer(request, response, name)

    async def _until_replayed(self, seat: str) -> None:
        """Delay a new call until all recorded answers have been replayed.

        If there is no activity for long, the program's requests differ from the recorded ones.
        """
        while self.recorded.answers:
            self.require_open()
            try:
                await self.recorded.moves(self._patience_s)
            except TimeoutError:
                if (left := self.recorded.answers) and not self.diverged:
                    self._diverge(f"{seat} asks what isn't recorded, with {left} answers left")
        self.require_open()

    def _diverge(self, what: str) -> None:
        """Have the run start anew, and wake all that wait for recorded answers to be refused."""
        self.diverged = f"run {self.index}: on replay the program differs: {what}"
        self.problem(self.diverged)
        self.recorded.move()

    def _stop(self, error: Exception) -> NoReturn:
        """End the audit for the first such error, and refuse the call."""
        if not self.stopped.done():
            self.stopped.set_result(error)
        raise NoAnswer(503, f"the audit stops: {flatten(str(error))}") from None


def _format_answer(response: Response) -> str:
    """Return an answer as text, as the next request of its conversation would contain it."""
    calls = (format_tool_call(tool.name, tool.arguments) for tool in response.tools)
    return "\n".join(filter(None, [response.reply.text, *calls]))
