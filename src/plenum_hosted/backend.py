"""The hosted backend under the chat contract: calls become rows of an engine, and rows replies."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.metadata import version

import torch

from plenum.base.errors import Stopped, UserError
from plenum.base.identity import digest, make_generator
from plenum.base.text import flatten
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Chat, Message, Reply, Response
from plenum.calls.pace import Pace
from plenum.design.settings import Sampling
from plenum.records.failures import Failure
from plenum_hosted import environment, memory
from plenum_hosted.engine import Engine
from plenum_hosted.forms import Form
from plenum_hosted.loader import LoadedModel, load
from plenum_hosted.rows import DecodingRow
from plenum_hosted.settings import Hosted
from plenum_hosted.shapes import Shapes, room


class HostedBackend:
    """A backend that answers with models on this machine, one engine per model.

    Parameters
    ----------
    settings
        Shapes, precision and device.
    """

    def __init__(self, settings: Hosted) -> None:
        self._settings = settings
        self._shapes = Shapes(settings.slots, settings.prefill_rows, settings.bucket, settings.rung)
        self._loaded: dict[str, LoadedModel] = {}
        self._engines: dict[str, Engine] = {}
        self._here: dict[str, str] = {}

    def check(self, models: tuple[str, ...], sampling: Sampling) -> None:
        """Load the models; refuse one that can't be loaded, can't repeat, or fits no prompt."""
        device = environment.choose(self._settings.device)
        environment.settle(self._settings, device)
        memory.require((self._settings, name) for name in models if name not in self._loaded)
        for model in models:
            if model not in self._loaded:
                # In a thread that ends: OpenMP's threads of one that stays would make it take
                # the machine for oversubscribed, and the engine's threads sleep between products.
                with ThreadPoolExecutor(1) as loading:
                    loaded = loading.submit(load, model, self._settings, device)
                    self._loaded[model] = loaded.result()
            if sampling.max_tokens >= self._loaded[model].context:
                raise UserError(
                    f"sampling.max_tokens: {sampling.max_tokens}, but model {model} has a context "
                    f"of {self._loaded[model].context} tokens for a prompt and its answer together"
                )
        self._here = environment.fingerprint(self._settings, device)

    def environment(self, models: tuple[str, ...], constrained: bool = False) -> Mapping[str, str]:
        """Return device, versions, settings, and digests of these checked models' weights.

        Constrained answers depend on the library that makes their masks, too, and the weights of a
        GGUF file on the one that reads it.
        """
        used = {"llguidance": constrained, "gguf": any(self._loaded[m].written_out for m in models)}
        libraries = {name: version(name) for name, needed in used.items() if needed}
        weights = {f"model {name}": self._loaded[name].content for name in models}
        return self._here | libraries | weights

    def count(self, model: str, messages: tuple[Message, ...]) -> int:
        """Return the number of tokens of a prompt of a checked model."""
        prefix, rest = self._loaded[model].tokens.prompt(messages)
        return len(prefix) + len(rest)

    def context(self, model: str) -> int:
        """Return the number of tokens that a prompt and its answer may have together."""
        return self._loaded[model].context

    def provider(self, model: str) -> str:
        """Return ``hosted``, the provider's name for this machine."""
        return "hosted"

    def server(self, chat: Chat) -> str:
        """Return an empty name, since this machine is the only server."""
        return ""

    async def attempt(self, chat: Chat, number: int) -> Response:
        """Have the model's engine answer a call."""
        loaded = self._loaded[chat.model]
        prefix, rest = loaded.tokens.prompt(chat.messages)
        length = len(prefix) + len(rest)
        if length + chat.max_tokens > loaded.context:
            raise CallError(
                Failure.REQUEST,
                f"the prompt has {length} tokens and the answer may have {chat.max_tokens}; the "
                f"model's context is {loaded.context}; a smaller window or max_tokens makes room",
            )
        row = await self._answer(chat, number, prefix, rest)
        # The stop token is no text; it was computed, and counts as a token.
        answer = row.answer[:-1] if row.answer[-1] in loaded.stops else row.answer
        reply = Reply(loaded.tokens.text(answer), length, len(row.answer), row.finish)
        pieces = loaded.tokens.pieces(row.answer) if chat.logprobs else []
        scores = tuple(zip(pieces, row.scores, strict=False))
        here = self.environment((chat.model,), chat.answer is not None)
        fingerprint = f"env_{digest(dict(here))}"
        return Response(reply, fingerprint=fingerprint, logprobs=scores)

    def pace(self) -> Pace:
        """Return the engines' total work so far."""
        worked = [engine.work for engine in self._engines.values()]
        slots = self._settings.slots
        paces = (
            Pace(
                rows=w.rows,
                slots=slots,
                tokens=w.answer_tokens,
                prefill_s=w.prefill_s,
                decode_s=w.decode_s,
            )
            for w in worked
        )
        return sum(paces, Pace())

    async def close(self) -> None:
        """Stop the engines."""
        for engine in self._engines.values():
            await asyncio.to_thread(engine.close)
        self._engines.clear()

    async def _answer(
        self, chat: Chat, number: int, prefix: tuple[int, ...], rest: tuple[int, ...]
    ) -> DecodingRow:
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[DecodingRow] = loop.create_future()

        def done(row: DecodingRow) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits
                loop.call_soon_threadsafe(lambda: None if ended.done() else ended.set_result(row))

        row = DecodingRow(
            prefix=prefix,
            rest=rest,
            room=room(self._shapes, len(prefix), len(rest), chat.max_tokens),
            limit=chat.max_tokens,
            temperature=chat.temperature,
            # Each row draws from a stream of its own: neighbours change nothing.
            noise=make_generator("hosted", chat.seed, number),
            scored=chat.logprobs,
            done=done,
            form=self._form(chat),
        )
        self.engine(chat.model).submit(row)
        try:
            await ended
        finally:
            # Also where the wait was cancelled: the row leaves its slot at the next step.
            row.given_up = True
        if row.error is not None:
            # 300 characters, since torch adds pages of advice to an error.
            error = " ".join(f"{type(row.error).__name__}: {row.error}".split())[:300]
            raise Stopped(f"model {chat.model}: the engine broke: {error}")
        return row

    def _form(self, chat: Chat) -> Form | None:
        """Start the form of a constrained answer."""
        if chat.answer is None:
            return None
        try:
            return self._loaded[chat.model].forms.start(chat.answer, chat.max_tokens)
        except ValueError as error:
            raise Stopped(
                f"model {chat.model}: its tokens can't be constrained: "
                f"{flatten(str(error))[:300]}; protocol.answers=free runs it"
            ) from None

    def engine(self, model: str) -> Engine:
        """Return the engine of a checked model, starting it with the first call."""
        if model not in self._engines:
            loaded = self._loaded[model]
            self._engines[model] = Engine(
                loaded.network,
                self._shapes,
                loaded.stops,
                memory.limit_prefixes(self._settings, loaded.network.device),
                lambda: torch.set_num_threads(self._settings.threads),
            )
        return self._engines[model]
