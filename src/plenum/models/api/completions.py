"""Checks of a provider's answer: its JSON, and the fields of a completion.

Both paths of the ``api`` backend read by this module alone. What a call needs (text, token counts)
must fit, else the attempt fails as ``server``; anything else that doesn't fit is left out, and
named in :attr:`~plenum.models.chat.Response.dropped`.
"""

import json
import math
from typing import Any, NoReturn

from plenum.base import flatten, replace_surrogates
from plenum.models.api import bodies
from plenum.models.api.prices import Price
from plenum.models.call_errors import CallError
from plenum.models.chat import Reply, Response
from plenum.records import Failure

MOST_TOKENS = 10**8
"""More input or output tokens than any call can have."""
MOST_TEXT = 10**6
"""More characters than any answer can have."""
_LONGEST_FINISH, _LONGEST_FINGERPRINT = 64, 128


class UnfitReply(ValueError):
    """Raised for a body that is no completion; the message says why."""


def parse_body(raw: bytes | bytearray) -> Any:
    """Parse the JSON of a body, without NaN, Infinity, or so many values that they fill the memory.

    Raises
    ------
    Unfit
        It is none.
    """
    if len(raw) > bodies.MOST_VALUES and bodies.count_values(raw) > bodies.MOST_VALUES:
        raise UnfitReply(f"more than {bodies.MOST_VALUES} values")
    try:
        return _DECODER.decode(raw.decode(json.detect_encoding(raw), "surrogatepass"))
    except (ValueError, RecursionError) as error:  # ValueError: an endless number, no UTF-8
        kind = "nested too deeply" if isinstance(error, RecursionError) else "no JSON"
        raise UnfitReply(kind) from None


def read_completion(
    data: Any, price: Price | None, *, logprobs: bool, hold_s: float, server: str = ""
) -> Response:
    """Read a completion as OpenAI's protocol has it.

    Parameters
    ----------
    data
        The parsed body.
    price
        What its tokens cost; ``None`` where nobody knows.
    logprobs
        True if log-probabilities were asked for.
    hold_s
        Seconds for which the provider wants to be left alone.
    server
        Which of several servers a router says has answered.

    Raises
    ------
    CallError
        ``empty`` where it has no choices.
    Unfit
        A field that a call needs is missing, or doesn't fit.
    """
    choices = _mapping(data, "the body").get("choices")
    if not isinstance(choices, list):
        raise UnfitReply("choices is no list")
    if not choices:
        raise CallError(Failure.EMPTY, "the provider answered without choices", 200)
    choice = _mapping(choices[0], "choices[0]")
    message = _mapping(choice.get("message"), "message")
    usage = _mapping(data.get("usage"), "usage")
    tokens_in = _tokens(usage, "prompt_tokens")
    tokens_out = _tokens(usage, "completion_tokens")
    dropped: list[str] = []
    text = _text(message.get("content"), "content")
    finish = _label(choice, "finish_reason", _LONGEST_FINISH, dropped) or "stop"
    if not text and message.get("refusal"):
        text, finish = _text(message["refusal"], "refusal"), "refusal"
    cached, written, hour = _read_cached(usage, tokens_in, dropped)
    return Response(
        Reply(
            text,
            tokens_in,
            tokens_out,
            finish,
            price.of(tokens_in, tokens_out, cached, written, hour) if price else None,
        ),
        hold_s=hold_s,
        fingerprint=_label(data, "system_fingerprint", _LONGEST_FINGERPRINT, dropped),
        logprobs=_logprobs(choice, dropped) if logprobs else (),
        dropped=tuple(dropped),
        server=server,
        cached=cached,
        written=written,
    )


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def _mapping(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UnfitReply(f"{name} is no object")
    return value


def _tokens(usage: dict[str, Any], name: str) -> int:
    value = usage.get(name)
    if type(value) is not int or not 0 <= value <= MOST_TOKENS:
        raise UnfitReply(f"{name} is no whole number from 0 to {MOST_TOKENS}")
    return value


def _text(value: Any, name: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UnfitReply(f"the answer's {name} is no text")
    if len(value) > MOST_TEXT:
        raise UnfitReply(f"the answer's {name} is longer than {MOST_TEXT} characters")
    return replace_surrogates(value)


def _label(holder: dict[str, Any], name: str, longest: int, dropped: list[str]) -> str | None:
    """Return a provider's name for something, if it is one short line of visible text."""
    value = holder.get(name)
    if value is None:
        return None
    if isinstance(value, str) and len(value) <= longest and flatten(value) == value:
        return value
    dropped.append(name)
    return None


def _read_cached(usage: dict[str, Any], tokens_in: int, dropped: list[str]) -> tuple[int, int, int]:
    """Read the prompt's tokens that came from the provider's cache, and that went there.

    The third number are those of the latter that it keeps for an hour.
    """
    details = usage.get("prompt_tokens_details")
    counts = {} if details is None else _mapping(details, "prompt_tokens_details")

    def count(name: str, most: int) -> int:
        value = counts.get(name)
        if value is not None and not (type(value) is int and 0 <= value <= most):
            dropped.append(name)
            value = None
        return value or 0

    cached = count("cached_tokens", tokens_in)
    written = count("cache_creation_tokens", tokens_in - cached)
    return cached, written, count("cache_creation_1h_tokens", written)


def _logprobs(choice: dict[str, Any], dropped: list[str]) -> tuple[tuple[str, float], ...]:
    """Read tokens with their log-probabilities; all of them, or none."""
    try:
        content = (choice.get("logprobs") or {}).get("content") or []
        pairs = tuple((_text(entry["token"], "token"), entry["logprob"]) for entry in content)
    except (AttributeError, KeyError, TypeError, UnfitReply):
        pairs = (("", math.nan),)
    if all(type(value) in (int, float) and math.isfinite(value) for _, value in pairs):
        return tuple((token, float(value)) for token, value in pairs)
    dropped.append("logprobs")
    return ()
