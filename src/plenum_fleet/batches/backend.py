"""Batches: calls that replicates in lockstep make together, for half the price.

A call joins the batch that is being collected, and awaits its answer. Calls to a model go out as
one batch once nobody is at work who might join them, and no batch of that model is out.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from plenum.base.errors import UserError
from plenum.calls.api.answer_forms import note_refused_form
from plenum.calls.api.backend import ApiBackend
from plenum.calls.api.routes import find_provider, make_forwarding_route
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Chat, Response
from plenum.design.settings import Api, Calls, Sampling
from plenum.records.failures import Failure
from plenum_fleet.batches import records as batches
from plenum_fleet.batches.anthropic import AnthropicBatches
from plenum_fleet.batches.http_interface import BatchHttp, BatchInterface
from plenum_fleet.batches.line import Call, Late, Line, SentBatch
from plenum_fleet.batches.lockstep import Lockstep
from plenum_fleet.batches.openai import OpenAIBatches
from plenum_fleet.batches.sender import Sender
from plenum_fleet.settings import Batch

_BATCHING = ("openai", "anthropic")


def require_batches(settings: Api, models: Sequence[str]) -> None:
    """Refuse models whose provider has no batches, or several URLs; needs no key.

    Raises
    ------
    UserError
        One of them doesn't go in batches.
    """
    for model in models:
        provider = find_provider(model)
        urls = settings.fleets.get(provider, ())
        if provider not in _BATCHING:
            raise UserError(
                f"calls.batch: {provider} has no batches that plenum knows (model {model}); "
                f"{' and '.join(_BATCHING)} have"
            )
        if len(urls) > 1:
            raise UserError(
                f"calls.batch: backend.api_base.{provider} has {len(urls)} URLs, and a batch "
                "is known at one alone; give one"
            )


class BatchBackend:
    """The ``api`` backend in batches.

    Parameters
    ----------
    api
        Makes the calls that don't go in batches.
    calls, batch
        How often submitting is tried; how long a batch is waited for, and how often it is asked.
    folder
        Of the journals of batches.
    lockstep
        Knows when all replicates wait.
    """

    def __init__(
        self, api: ApiBackend, calls: Calls, batch: Batch, folder: Path, lockstep: Lockstep
    ) -> None:
        self._api, self._timeout_s = api, calls.timeout_s
        self._folder, self._lockstep = folder, lockstep
        self._sender = Sender(calls, batch, lockstep)
        self._lines: dict[str, Line] = {}
        self._taken: set[SentBatch] = set()
        lockstep.call_when_still(self._send)
        lockstep.status = self._status

    def check(self, models: tuple[str, ...], sampling: Sampling) -> None:
        """Refuse as the backend does, and models whose provider has no batches."""
        self._api.check(models, sampling)

    def provider(self, model: str) -> str:
        """LiteLLM's name of the provider."""
        return self._api.provider(model)

    def server(self, chat: Chat) -> str:
        """Return the server that the call goes to if it doesn't go in a batch."""
        return self._api.server(chat)

    def environment(self, models: tuple[str, ...], constrained: bool = False) -> Mapping[str, str]:
        """Return the environment that the backend names."""
        return self._api.environment(models, constrained)

    async def attempt(self, chat: Chat, number: int) -> Response:
        """Make one attempt, in a batch, or at once where a batch was too slow."""
        if not self._lockstep.goes_in_batch(chat):
            return await self._at_once(chat, number)
        line = self._line(chat.model)
        body = line.interface.body(chat, self._api.parameters(chat))
        ident = batches.make_item_id(chat.session, chat.seed, number, body)
        call = Call(ident, body, asyncio.get_running_loop().create_future())
        self._join(line, call)
        try:
            with self._lockstep.wait():
                response = await call.answer
        except Late:
            self._lockstep.send_live(chat)
            self._took(line, call)
            raise
        except CallError as error:
            self._took(line, call)
            raise note_refused_form(chat, error) from None
        self._took(line, call)
        return response

    async def close(self) -> None:
        """Close all connections; batches that are out go on, and are picked up another time."""
        tasks = [s.running for line in self._lines.values() for s in line.out if s.running]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._note_collected()
        await self._api.close()

    def _status(self) -> str:
        """Report the numbers of calls that are collected and that are out."""
        collected = sum(len(line.collected) for line in self._lines.values())
        out = sum(len(sent.waiting) for line in self._lines.values() for sent in line.out)
        return f"in batches {out}, collected {collected}"

    async def _at_once(self, chat: Chat, number: int) -> Response:
        try:
            async with asyncio.timeout(self._timeout_s):
                response = await self._api.attempt(chat, number)
        except TimeoutError:
            late = f"no answer within {self._timeout_s:g} s"
            raise CallError(Failure.TIMEOUT, late) from None
        self._lockstep.forget_call(chat)
        return response

    def _line(self, model: str) -> Line:
        if model not in self._lines:
            price = self._api.price(model)
            interface = self._interface(model)
            self._lines[model] = Line(model, interface, price and price.batched, self._folder)
        return self._lines[model]

    def _interface(self, model: str) -> BatchInterface:
        """Return the interface of a model's provider for batches."""
        route = self._api.route(model)
        if route.provider == "openai":
            return OpenAIBatches(BatchHttp(route, self._api.pool, self._api.most_bytes))
        forward = make_forwarding_route(route, "messages")
        return AnthropicBatches(BatchHttp(forward, self._api.pool, self._api.most_bytes))

    def _join(self, line: Line, call: Call) -> None:
        """Have a call collected, or wait for the batch that an earlier process sent it in."""
        sent = line.known.get(call.key)
        if sent is None:
            line.collected.append(call)
        elif call.key in sent.results:
            call.end(sent.results[call.key])
        else:
            sent.waiting[call.key] = call
            if sent.running is None:
                self._start(line, sent)

    def _took(self, line: Line, call: Call) -> None:
        """Know that a call has its result; it isn't asked for again.

        A batch that never came through, or that can't be asked, has given none.
        """
        sent = line.known.get(call.key)
        if sent is None or call.key not in sent.results:
            return
        del line.known[call.key], sent.results[call.key]
        sent.left.discard(call.key)
        if not sent.left:
            self._taken.add(sent)

    def _send(self) -> None:
        """Nobody is at work: what was answered is journaled; what is collected goes out."""
        self._note_collected()
        for line in self._lines.values():
            collected, line.collected = line.collected, []
            if collected:
                line.learn()  # a process that was killed meanwhile may have left some in a batch
            for call in collected:
                self._join(line, call)
            if line.out:
                continue
            for calls in line.take():
                try:
                    sent = line.begin(calls)
                except OSError as error:
                    for call in calls:
                        call.end(error)
                    continue
                self._start(line, sent, [line.interface.item(c.ident, c.body) for c in calls])

    def _note_collected(self) -> None:
        over = {sent for sent in self._taken if sent.running is None}
        self._taken -= over
        with suppress(OSError):  # the next process looks at it once more
            for sent in over:
                sent.record.note("collected")

    def _start(self, line: Line, sent: SentBatch, items: list[bytes] | None = None) -> None:
        line.out.add(sent)
        sent.running = asyncio.create_task(self._run(line, sent, items))

    async def _run(self, line: Line, sent: SentBatch, items: list[bytes] | None) -> None:
        try:
            await self._sender.run(line, sent, items)
        except Exception as error:  # whoever waits is to know, whatever it is
            sent.fail(error)
        finally:
            line.out.discard(sent)
            sent.running = None
            self._lockstep.look_again()
