"""The ``api`` backend: real providers, through LiteLLM or on the lean path.

Keys come from the environment alone. Neither path retries: the retry policy is ours
(:mod:`plenum.calls.retry`).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import aiohttp

from plenum.base.terminal import say
from plenum.calls.api import (
    answer_forms,
    bodies,
    cache_marks,
    completions,
    exchanges,
    faults,
    rate_headers,
    routes,
)
from plenum.calls.api.interfaces import INTERFACES
from plenum.calls.api.openai_http import Endpoint, call_headers, open_session
from plenum.calls.api.prices import Price, Prices
from plenum.calls.api.routes import Route
from plenum.calls.api.servers import OneServer, Servers, make_servers, replica
from plenum.calls.call_errors import CallError
from plenum.calls.chat import AnswerSchema, Chat, Response
from plenum.design.settings import Calls, Sampling
from plenum.records.failures import Failure


class ApiBackend:
    """Calls providers.

    Parameters
    ----------
    api_base
        Base URL by provider (``openai``, ``hosted_vllm``, ...) for endpoints of one's own, or the
        URLs of a fleet.
    send_seed
        True if each call sends a seed of its own.
    calls
        Timeouts, the size of the connection pool, and the transport.
    prices
        What calls cost.
    say
        Prints a line for the user: what becomes of a fleet's servers.
    answer_form
        The form in which servers that are called directly get the schema of an answer.
    extra
        Further fields of plenum's own requests; one that is ``None`` isn't sent.
    max_tokens_field
        The field that bounds an answer, where LiteLLM's table of models doesn't say another.
    stream
        True if answers are asked for in pieces, where servers are called directly.
    """

    def __init__(
        self,
        api_base: Mapping[str, str | Sequence[str]],
        send_seed: bool,
        calls: Calls | None = None,
        prices: Prices | None = None,
        say: Callable[[str], object] = say,
        answer_form: str = "auto",
        extra: Mapping[str, Any] | None = None,
        max_tokens_field: str = "max_tokens",
        stream: bool = False,
    ) -> None:
        listed = {p: [urls] if isinstance(urls, str) else urls for p, urls in api_base.items()}
        self._servers = {provider: make_servers(urls, say) for provider, urls in listed.items()}
        self._send_seed = send_seed
        self._answer_form = answer_form
        self._extra, self._max_tokens_field = dict(extra or {}), max_tokens_field
        self._stream = _STREAM if stream else {}
        self._calls = calls or Calls()
        self._prices = prices or Prices()
        self._routes: dict[tuple[str, str], Route] = {}
        self._endpoints: dict[tuple[str, str, str], Endpoint] = {}
        self._parameters: dict[
            tuple[str, float, int, bool, AnswerSchema | None], dict[str, Any]
        ] = {}
        self._session: aiohttp.ClientSession | None = None
        self._litellm: Any = None
        if self._calls.transport == "litellm":  # its import would count as time of the first calls
            import plenum.calls.api.litellm_import  # noqa: F401
        self._most = self._calls.max_response_mb * 10**6
        self._reader = bodies.BodyReader(self._most)

    def check(self, models: tuple[str, ...], sampling: Sampling) -> None:
        """Refuse models that can't be routed, lack an endpoint or a key, or refuse a parameter."""
        routes.refuse_unknown_limits(self._calls)
        more = {"seed": 1} if self._send_seed else {}
        for model in models:
            # Each server of a fleet, since each may need another key.
            for base in self._servers_of(model).urls:
                self._route(model, base).parameters(sampling, self._extra, **more)

    def provider(self, model: str) -> str:
        """LiteLLM's name of the provider."""
        return routes.find_provider(model)

    def server(self, chat: Chat) -> str:
        """Choose the server that the call's session goes to."""
        return self._servers_of(chat.model).choose(chat)

    async def attempt(self, chat: Chat, number: int) -> Response:
        """Make one attempt; a program's own request goes out unchanged, on the lean path."""
        ask = partial(self._attempt, chat, number)
        try:
            return await self._servers_of(chat.model).attempt(chat, ask)
        except CallError as error:
            raise answer_forms.note_refused_form(chat, error) from None

    def parameters(self, chat: Chat) -> dict[str, Any]:
        """Collect the fields of a call's request besides the model and the messages."""
        route = self._route(chat.model, self._servers_of(chat.model).urls[0])
        return {**self._sampling(chat, route), **self._seed(chat)}

    def price(self, model: str) -> Price | None:
        """Return the price of a model's calls; ``None`` if it isn't known."""
        return self._prices.of(model)

    def route(self, model: str) -> Route:
        """Return the way to a model, at the first of its provider's URLs."""
        return self._route(model, self._servers_of(model).urls[0])

    @property
    def most_bytes(self) -> int:
        """The size of the longest answer that is read."""
        return self._most

    async def _attempt(self, chat: Chat, number: int, base: str) -> Response:
        route = self._route(chat.model, base)
        # A request that a program wrote goes out as it is, without parameters of ours.
        if chat.request is not None:
            endpoint = self._endpoint(chat.model, base, chat.request.interface)
            return await endpoint.post(self.pool(), chat, number, {})
        seed = self._seed(chat)
        if self._calls.transport == "lean" and route.compatible:
            parameters = {**self._stream, **self._sampling(chat, route), **seed}
            # What isn't set isn't sent, so that the server's own default holds.
            parameters = {name: each for name, each in parameters.items() if each is not None}
            endpoint = self._endpoint(chat.model, base)
            return await endpoint.post(self.pool(), chat, number, parameters)
        return await self._ask_litellm(chat, number, route, seed)

    def environment(self, models: tuple[str, ...], constrained: bool = False) -> Mapping[str, str]:
        """Return nothing, since a provider's environment isn't known."""
        return {}

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None
        if self._litellm is not None:
            await self._litellm.close_litellm_async_clients()

    async def _ask_litellm(
        self, chat: Chat, number: int, route: Route, more: dict[str, Any]
    ) -> Response:
        from plenum.calls.api.litellm_import import limit_litellm_answers, litellm

        if self._litellm is None:
            # Only where it is used: it changes LiteLLM for the whole process.
            limit_litellm_answers(self._most)
            self._litellm = litellm
        if chat.logprobs:
            more = {**more, "logprobs": True}
        form = self._form(chat, route)
        if "response_format" in form:
            more, form = {**more, **form}, {}
        extra = {name: each for name, each in self._extra.items() if each is not None}
        if not route.compatible:  # LiteLLM puts each where the provider's interface has it
            more = {**more, **extra}
        elif body := {**form, **extra}:
            more = {**more, "extra_body": body}
        more = {**more, "extra_headers": call_headers(chat, number)}
        # LiteLLM's openai provider calls the OpenAI-compatible API, as the lean path does.
        self_hosted = route.compatible and route.provider != "openai"
        try:
            response = await litellm.acompletion(
                model=f"openai/{route.wire}" if self_hosted else chat.model,
                messages=_messages(route, chat),
                temperature=chat.temperature,
                api_base=route.base,
                # LiteLLM refuses to call without a key; a server of one's own may need none.
                api_key=route.key or ("none" if route.compatible else None),
                # Both of its ways to retry: attempts are counted, logged and paid for by ours.
                num_retries=0,
                max_retries=0,
                **{self._max_tokens_field: chat.max_tokens, **more},
            )
        # LiteLLM raises classes of its own, of its clients and of Python: all are sorted out below.
        except Exception as error:
            fault = faults.classify_raised(route, error)
            exchanges.note({"model": route.wire}, fault.status, "text/plain", fault.detail.encode())
            raise fault from None
        return self._read(chat, response)

    def _read(self, chat: Chat, response: Any) -> Response:
        try:
            data = _as_completion(response)
            headers = _headers(response)
            exchanges.note({"model": chat.model}, 200, "application/json", data)
            return completions.read_completion(
                data,
                self._prices.of(chat.model),
                logprobs=chat.logprobs,
                hold_s=rate_headers.hold_s(headers),
                server=replica(headers),
                chat=chat,
            )
        except completions.ReportedError as told:
            raise faults.classify_reported(self._route(chat.model, ""), told, {}) from None
        except completions.UnfitReply as why:
            raise CallError(Failure.SERVER, f"the answer is no completion: {why}", 200) from None

    def _seed(self, chat: Chat) -> dict[str, int]:
        # Servers take whole numbers of 31 bits.
        return {"seed": chat.seed % 2**31} if self._send_seed else {}

    def _sampling(self, chat: Chat, route: Route) -> dict[str, Any]:
        key = (chat.model, chat.temperature, chat.max_tokens, chat.logprobs, chat.answer)
        # LiteLLM's table is slow: once for each kind of call is enough.
        if key not in self._parameters:
            more: dict[str, Any] = {"logprobs": True} if chat.logprobs else {}
            form = self._form(chat, route)
            if "response_format" in form:
                more, form = {**more, **form}, {}
            sampling = Sampling(chat.temperature, chat.max_tokens)
            fields = route.parameters(sampling, self._extra, **more)
            if "max_tokens" in fields:
                # Newer models of OpenAI refuse `max_tokens`, older servers know nothing else: a
                # setting says which.
                fields[self._max_tokens_field] = fields.pop("max_tokens")
            self._parameters[key] = {**fields, **form, **self._extra}
        return self._parameters[key]

    def _form(self, chat: Chat, route: Route) -> dict[str, Any]:
        if chat.answer is None:
            return {}
        return answer_forms.make_form(chat.answer, route, self._answer_form)

    def _servers_of(self, model: str) -> Servers:
        return self._servers.get(routes.find_provider(model), _ELSEWHERE)

    def _route(self, model: str, base: str) -> Route:
        key = model, base
        if key not in self._routes:
            bases = {routes.find_provider(model): base} if base else {}
            self._routes[key] = routes.find_route(model, bases)
        return self._routes[key]

    def _endpoint(self, model: str, base: str, interface: str = "") -> Endpoint:
        """Return the endpoint of plenum's own calls, or of a program's calls to an interface."""
        key = model, base, interface
        if key not in self._endpoints:
            route, price = self._route(model, base), self._prices.of(model)
            if interface:
                route = routes.make_forwarding_route(route, interface)
            spoken = INTERFACES[interface or "chat"]
            self._endpoints[key] = Endpoint(route, price, self._reader, spoken)
        return self._endpoints[key]

    def pool(self) -> aiohttp.ClientSession:
        """Return the session that all calls share, and open it if it isn't open."""
        if self._session is None:
            self._session = open_session(self._calls.max_concurrency, self._calls.idle_timeout_s)
        return self._session


_ELSEWHERE = OneServer("")
_STREAM = {"stream": True, "stream_options": {"include_usage": True}}


def _messages(route: Route, chat: Chat) -> list[dict[str, Any]]:
    if route.provider == "anthropic":
        return cache_marks.mark_messages(chat)
    return [{"role": m.role, "content": m.content} for m in chat.messages]


def _as_completion(response: Any) -> dict[str, Any]:
    """Convert LiteLLM's form of an answer to OpenAI's."""
    data: dict[str, Any] = response.model_dump(warnings=False)
    # `or`, since fields that a provider leaves out are None there.
    for choice in data.get("choices") or ():
        message = choice.get("message") or {}
        more = message.get("provider_specific_fields") or {}
        message.setdefault("refusal", more.get("refusal"))
    # LiteLLM writes 0 where a provider says nothing; 0 is true only of an answer without text.
    usage, choices = data.get("usage") or {}, data.get("choices") or []
    has_text = any((choice.get("message") or {}).get("content") for choice in choices)
    for name in ("prompt_tokens", *["completion_tokens"] * has_text):
        if not usage.get(name):
            usage.pop(name, None)
    return data


def _headers(response: Any) -> dict[str, str]:
    hidden = getattr(response, "_hidden_params", None) or {}
    headers = hidden.get("additional_headers") or {}
    # LiteLLM puts the prefix before the headers that came from the provider.
    return {str(k).lower().removeprefix("llm_provider-"): str(v) for k, v in headers.items()}
