"""The ``api`` backend: real providers through LiteLLM.

Keys come from the environment alone. LiteLLM is told to fetch nothing, to report nothing and not
to retry: the retry policy is ours (:mod:`plenum.models.retry`).
"""

import logging
import os
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

# Without this the import fetches a price list over the network.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
# In its default mode the import reads a .env file: keys come from the environment alone.
os.environ.setdefault("LITELLM_MODE", "PRODUCTION")

import litellm
from litellm import exceptions

from plenum.errors import UserError
from plenum.models.chat import CallError, Chat, Reply
from plenum.records import Failure

litellm.telemetry = False
litellm.suppress_debug_info = True
for _name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "openai"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)

_BY_TYPE: tuple[tuple[type[Exception], Failure], ...] = (
    (exceptions.ContentPolicyViolationError, Failure.CONTENT_FILTER),
    (exceptions.Timeout, Failure.TIMEOUT),
    (exceptions.APIConnectionError, Failure.SERVER),
)
_SELF_HOSTED = ("hosted_vllm", "vllm", "openai_like", "custom_openai", "lm_studio", "llamafile")
_BY_STATUS = {
    401: Failure.AUTH,
    403: Failure.AUTH,
    408: Failure.TIMEOUT,
    429: Failure.RATE_LIMIT,
}


class ApiBackend:
    """Calls providers through LiteLLM.

    Parameters
    ----------
    api_base
        Base URL by provider (``openai``, ``hosted_vllm``, ...) for endpoints of one's own.
    send_seed
        Whether each call sends a seed of its own.
    """

    def __init__(self, api_base: Mapping[str, str | None], send_seed: bool) -> None:
        self._api_base = {provider: url for provider, url in api_base.items() if url}
        self._send_seed = send_seed

    def check(self, models: tuple[str, ...]) -> None:
        """Refuse models that LiteLLM can't route, and those that lack an endpoint or a key."""
        problems = [problem for model in models if (problem := self._lacks(model))]
        if problems:
            raise UserError("; ".join(problems))

    def _lacks(self, model: str) -> str | None:
        provider = self._provider(model)
        missing = [
            key
            for key in litellm.validate_environment(model)["missing_keys"]
            if not (provider in self._api_base and key.endswith("_BASE"))
        ]
        if missing:
            # Gemini takes either of its two names; every other provider needs all it lists.
            names = (" or " if provider == "gemini" else " and ").join(missing)
            return f"model {model}: set the environment variable {names}"
        if provider in _SELF_HOSTED and not self._endpoint(provider):
            # LiteLLM would send the prompts to OpenAI.
            return f"model {model}: set backend.api_base.{provider} to your server's URL"
        return None

    def _endpoint(self, provider: str) -> str | None:
        return self._api_base.get(provider) or os.environ.get(f"{provider.upper()}_API_BASE")

    async def attempt(self, chat: Chat, number: int) -> Reply:
        """Make one attempt."""
        extra: dict[str, Any] = {"seed": chat.seed % 2**31} if self._send_seed else {}
        try:
            response = await litellm.acompletion(
                model=chat.model,
                messages=[{"role": m.role, "content": m.content} for m in chat.messages],
                temperature=chat.temperature,
                max_tokens=chat.max_tokens,
                api_base=self._api_base.get(self._provider(chat.model)),
                num_retries=0,
                max_retries=0,
                **extra,
            )
        except Exception as error:
            raise _call_error(error) from None
        return _reply(chat.model, response)

    async def close(self) -> None:
        """Close LiteLLM's connections."""
        await litellm.close_litellm_async_clients()  # type: ignore[attr-defined,no-untyped-call]

    @staticmethod
    def _provider(model: str) -> str:
        try:
            return str(litellm.get_llm_provider(model)[1])
        except exceptions.BadRequestError:
            raise UserError(
                f"model {model}: LiteLLM knows no provider for it; write it as provider/model, "
                "for example openai/gpt-4.1-mini"
            ) from None


def _reply(model: str, response: Any) -> Reply:
    if not response.choices:
        raise CallError(Failure.SERVER, "the provider answered without choices", 200)
    choice, usage = response.choices[0], response.usage
    tokens_in, tokens_out = usage.prompt_tokens, usage.completion_tokens
    return Reply(
        text=choice.message.content or "",
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        finish=choice.finish_reason or "stop",
        cost=_cost(model, tokens_in, tokens_out),
    )


def _cost(model: str, tokens_in: int, tokens_out: int) -> float | None:
    try:
        prices = litellm.cost_per_token(
            model=model, prompt_tokens=tokens_in, completion_tokens=tokens_out
        )
    except Exception:  # LiteLLM raises several types for a model without a price
        return None
    return float(sum(prices))


def _call_error(error: Exception) -> CallError:
    status = getattr(error, "status_code", None)
    return CallError(
        _failure(error, status),
        _redact(f"{type(error).__name__}: {getattr(error, 'message', error)}"),
        status,
        _seconds(_headers(error).get("retry-after")),
    )


def _failure(error: Exception, status: int | None) -> Failure:
    for kind, failure in _BY_TYPE:
        if isinstance(error, kind):
            return failure
    if status is None:
        return Failure.BUG
    return _BY_STATUS.get(status, Failure.SERVER if status >= 500 else Failure.REQUEST)


def _headers(error: Exception) -> dict[str, str]:
    for holder in (
        getattr(error, "litellm_response_headers", None),
        getattr(getattr(error, "response", None), "headers", None),
    ):
        if holder:
            return {str(k).lower(): str(v) for k, v in dict(holder).items()}
    return {}


def _seconds(value: str | None) -> float | None:
    """Retry-After in either of its forms: seconds, or the date to wait for."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def _redact(text: str) -> str:
    for name, value in os.environ.items():
        if len(value) >= 8 and name.endswith(("_KEY", "_TOKEN", "_SECRET")):
            text = text.replace(value, f"<{name}>")
    return text
