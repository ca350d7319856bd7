"""Routes to models: provider, endpoint, key, and accepted parameters."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from ipaddress import ip_address
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from plenum.base.errors import UserError
from plenum.calls.api import model_table
from plenum.calls.api.model_table import COMPATIBLE, SELF_HOSTED
from plenum.design.settings import Calls, Sampling

OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com/v1"
_DECISIVE = ("reasoning_effort",)
"""Further fields of a request that decide which others a model takes."""
_OF_LITELLM = (
    *("timeout", "base_url", "deployment_id", "extra_body", "extra_headers", "model_list"),
    *("drop_params", "additional_drop_params"),
)
"""Arguments of LiteLLM's that its own list leaves out."""
NOTHING: Mapping[str, Any] = MappingProxyType({})
_ASKED_BY = {"seed": "backend.send_seed", "response_format": "protocol.answers"}
"""Settings that ask for a parameter, for the message where a model refuses it."""


@dataclass(frozen=True)
class Route:
    """The way to reach a model.

    Parameters
    ----------
    model
        As the condition names it.
    provider
        LiteLLM's name of the provider.
    wire
        The model's name as the endpoint wants it.
    base
        Base URL of the endpoint; ``None`` where LiteLLM knows it.
    key
        The API key, for OpenAI-compatible endpoints.
    """

    model: str
    provider: str
    wire: str
    base: str | None
    key: str | None = field(default=None, repr=False)

    @property
    def compatible(self) -> bool:
        """True if the endpoint has OpenAI's protocol."""
        return self.provider in COMPATIBLE

    def parameters(
        self, sampling: Sampling, extra: Mapping[str, Any] = NOTHING, **more: Any
    ) -> dict[str, Any]:
        """Map sampling parameters to the model's, by LiteLLM's table.

        ``extra`` are further fields of the request, as they will be sent.

        Raises
        ------
        UserError
            The model refuses one of them, for instance any temperature but its own.
        """
        names = _DECISIVE if self.compatible else ()
        more |= {name: extra[name] for name in names if extra.get(name) is not None}
        given = {"temperature": sampling.temperature, "max_tokens": sampling.max_tokens, **more}
        if self.compatible and (plain := model_table.map_parameters(self.wire, given)) is not None:
            return plain
        from plenum.calls.api.litellm_import import litellm

        try:
            mapped = litellm.utils.get_optional_params(
                model=self.wire,
                custom_llm_provider="openai" if self.compatible else self.provider,
                **given,
            )
        except litellm.exceptions.UnsupportedParamsError as error:
            # Without LiteLLM's advice to drop parameters, by which another study would be run.
            reason = str(error.message).partition("To drop")[0].partition("Error: ")[2].strip()
            if "temperature" in reason:  # LiteLLM's advice goes on about its own arguments
                reason = f"{reason.partition(' unless ')[0].strip('.')}; set sampling.temperature=1"
            asks = (key for n, key in _ASKED_BY.items() if n in more and f"'{n}'" in reason)
            see = "".join(f" (see {key})" for key in asks)
            raise UserError(f"model {self.model}: {reason}{see}") from None
        return {k: v for k, v in mapped.items() if k not in ("stream", "extra_body")}


def is_direct(model: str, calls: Calls) -> bool:
    """Return whether a model is called directly, on the lean path."""
    return calls.transport == "lean" and not calls.batch and find_provider(model) in COMPATIBLE


def find_foreign_fields(model: str, fields: Iterable[str]) -> list[str]:
    """Find the fields of a request that LiteLLM, which a model is called through, would keep."""
    if find_provider(model) in COMPATIBLE:
        return []
    from plenum.calls.api.litellm_import import all_litellm_params

    return [name for name in fields if name in {*all_litellm_params, *_OF_LITELLM}]


def require_model_parameters(
    model: str, sampling: Sampling, extra: Mapping[str, Any] = NOTHING, **more: Any
) -> None:
    """Refuse parameters that a model doesn't take; needs neither key nor endpoint.

    Parameters
    ----------
    extra
        Further fields of the request, some of which decide what else a model takes.

    Raises
    ------
    UserError
        LiteLLM can't route it, or it refuses one of them.
    """
    wire, provider, _ = _route(model)
    Route(model, provider, wire, None, "").parameters(sampling, extra, **more)


def find_route(model: str, api_base: Mapping[str, str]) -> Route:
    """Find the route of a model.

    Parameters
    ----------
    api_base
        Base URL by provider, for endpoints of one's own.

    Raises
    ------
    UserError
        LiteLLM can't route it, or an endpoint or a key is missing. No key is asked for where the
        endpoint lies on this machine; one that is set is sent there.
    """
    wire, provider, known = _route(model)
    _check_environment(model, provider, api_base)
    base = api_base.get(provider)
    if provider in COMPATIBLE:
        if provider in SELF_HOSTED and not base:
            # LiteLLM would send the prompts to OpenAI.
            raise UserError(f"model {model}: set backend.api_base.{provider} to your server's URL")
        base = _complete_url(provider, base or known or OPENAI)
    return Route(model, provider, wire, base, _key(model, provider))


def make_forwarding_route(route: Route, interface: str) -> Route:
    """Make the route of requests that a program wrote for an interface.

    Raises
    ------
    UserError
        The provider speaks none of the interfaces.
    """
    if route.compatible:
        return route
    if route.provider != "anthropic":
        raise UserError(
            f"model {route.model}: a program's own requests go to {', '.join(COMPATIBLE)} or "
            f"anthropic, not to {route.provider}; give a gateway's URL as backend.api_base.openai"
        )
    base = (route.base or ANTHROPIC).rstrip("/")
    base = base if base.endswith("/v1") else f"{base}/v1"
    return replace(route, base=base, key=_read_key(route.model, "ANTHROPIC_API_KEY"))


def litellm_name(model: str, interface: str) -> str:
    """Return LiteLLM's name for a model that a program names.

    The interface says whose it is: ``openai/`` is put before a name that LiteLLM doesn't know if
    the interface is OpenAI's, ``anthropic/`` if it is Anthropic's.
    """
    try:
        find_provider(model)
    except UserError:
        return f"{'anthropic' if interface == 'messages' else 'openai'}/{model}"
    return model


def find_provider(model: str) -> str:
    """Return LiteLLM's name of a model's provider; needs no key.

    Raises
    ------
    UserError
        LiteLLM can't route it.
    """
    return _route(model)[1]


def is_model(name: str) -> bool:
    """Return whether LiteLLM can route a model of this name."""
    try:
        _route(name)
    except UserError:
        return False
    return True


def refuse_unknown_limits(calls: Calls) -> None:
    """Refuse limits of a name that is neither a provider nor a model.

    Raises
    ------
    UserError
        LiteLLM doesn't know the name.
    """
    for key in ("rpm", "tpm"):
        for name, most in getattr(calls, key).items():
            if most is None or name in COMPATIBLE or is_model(name):
                continue
            from plenum.calls.api.litellm_import import litellm

            if name not in litellm.provider_list:
                raise UserError(f"calls.{key}.{name}: LiteLLM knows no such provider or model")


@cache
def _route(model: str) -> tuple[str, str, str | None]:
    """Return the name on the wire, the provider, and the endpoint if LiteLLM knows it."""
    if (listed := model_table.find_route(model)) is not None:
        return listed
    from plenum.calls.api.litellm_import import litellm

    try:
        wire, provider, _, known = litellm.get_llm_provider(model)
    except litellm.exceptions.BadRequestError:
        raise UserError(
            f"model {model}: LiteLLM knows no provider for it; write it as provider/model, "
            "for example openai/gpt-4.1-mini"
        ) from None
    return wire, provider, known


def _check_environment(model: str, provider: str, api_base: Mapping[str, str]) -> None:
    if provider in COMPATIBLE:  # of these, LiteLLM wants a key for OpenAI's alone
        local = _is_loopback(api_base.get(provider))
        needed = ["OPENAI_API_KEY"] * (provider == "openai" and not local)
        missing = [key for key in needed if key not in os.environ]
    else:
        from plenum.calls.api.litellm_import import litellm

        missing = litellm.validate_environment(model)["missing_keys"]
        missing = [k for k in missing if not (k.endswith("_BASE") and provider in api_base)]
    if missing:
        # Gemini takes either of its two names; every other provider needs all it lists.
        names = (" or " if provider == "gemini" else " and ").join(missing)
        own = f", or name your own server: backend.api_base.{provider}=URL"
        raise UserError(
            f"model {model}: set the environment variable {names}"
            + (own if provider in COMPATIBLE else "")
        )


def _is_loopback(url: str | None) -> bool:
    """Return whether a URL leads to this machine, where a server of one's own needs no key."""
    host = urlsplit(url or "").hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:  # any other name
        return False


def _complete_url(provider: str, base: str) -> str:
    """Complete a base URL; Ollama's is given without the path of its compatible side."""
    base = base.rstrip("/")
    return f"{base}/v1" if provider == "ollama" and not base.endswith("/v1") else base


def _key(model: str, provider: str) -> str | None:
    # LiteLLM calls this one as it calls OpenAI, with OpenAI's key.
    name = "OPENAI_API_KEY" if provider == "custom_openai" else f"{provider.upper()}_API_KEY"
    key = _read_key(model, name)
    return key if provider in COMPATIBLE else None  # LiteLLM reads the others


def _read_key(model: str, name: str) -> str | None:
    key = os.environ.get(name, "").strip()
    # It goes out as a header, in which a line break would begin another one.
    if any(not 32 < ord(character) < 127 for character in key):
        raise UserError(f"model {model}: {name} holds a character that no key has")
    return key or None
