"""Readers of a provider's answer: its JSON, and the fields of a completion.

Both paths of the ``api`` backend read by this module alone. An answer that came whole is read,
whatever it came in: text in parts, in a tool's call or in the field for reasoning, and token counts
that are written otherwise or missing, which are counted here then. Where there is no answer at all,
the attempt fails; anything else that doesn't fit is left out, and named in
:attr:`~plenum.calls.chat.Response.dropped`.
"""

import json
import math
import re
from datetime import UTC, datetime
from typing import Any, NoReturn

from plenum.base.text import flatten, replace_surrogates
from plenum.calls.api import bodies
from plenum.calls.api.prices import Price
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Chat, Reply, Response
from plenum.records.failures import Failure

MOST_TOKENS = 10**8
"""More input or output tokens than any call can have."""
MOST_TEXT = 10**6
"""More characters than any answer can have."""
_LONGEST_FINISH, _LONGEST_LABEL = 64, 128
"""Such texts go into journals and logs, once for every call."""
_BAD_GATEWAY = 502
"""The status of an error that names none: one that another attempt may mend."""
_COUNTS = ("prompt_tokens", "completion_tokens")
_REASONING = ("reasoning_content", "reasoning", "thinking")
"""Fields of a message in which servers return what a model wrote before it answered."""

_ENDED = ("stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete")
"""Names that servers give to the end of an answer that came whole."""


class UnfitReply(ValueError):
    """Raised for a body that is no completion; the message says why."""


def parse_body(raw: bytes | bytearray) -> Any:
    """Parse the JSON of a body, without NaN, Infinity, or so many values that they fill the memory.

    Raises
    ------
    UnfitReply
        It is none.
    """
    bound_values(raw)
    try:
        # As `json.loads` decodes bytes; lone surrogates are replaced later, where texts are read.
        return _DECODER.decode(raw.decode(json.detect_encoding(raw), "surrogatepass"))
    except (ValueError, RecursionError) as error:  # ValueError: an endless number, no UTF-8
        kind = "nested too deeply" if isinstance(error, RecursionError) else "no JSON"
        raise UnfitReply(kind) from None


def bound_values(raw: bytes | bytearray) -> None:
    """Refuse a body with so many values that they fill the memory.

    Raises
    ------
    UnfitReply
        It has.
    """
    # A value takes a byte at least: shorter bodies needn't be counted.
    if len(raw) > bodies.MOST_VALUES and bodies.count_values(raw) > bodies.MOST_VALUES:
        raise UnfitReply(f"more than {bodies.MOST_VALUES} values")


class ReportedError(Exception):
    """Raised for a body with status 200 that reports an error; ``error`` is its object."""

    def __init__(self, error: Any) -> None:
        super().__init__("the body reports an error")
        self.error = error if isinstance(error, dict) else {"message": str(error)}

    @property
    def status(self) -> int:
        """The status that the error should have had."""
        for name in ("code", "status"):
            if re.fullmatch("[45][0-9]{2}", code := str(self.error.get(name))):
                return int(code)
        return _BAD_GATEWAY


def read_completion(
    data: Any,
    price: Price | None,
    *,
    logprobs: bool,
    hold_s: float,
    server: str = "",
    chat: Chat | None = None,
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
    chat
        The call, by which tokens are counted that the body doesn't count; ``None`` where it must.

    Raises
    ------
    CallError
        ``empty`` where it has no choices.
    ReportedError
        It is an error, or its choice ended in one.
    UnfitReply
        A field that a call needs is missing, or doesn't fit.
    """
    choices = _mapping(data, "the body").get("choices")
    if not choices and (error := _find_error(data)):
        raise ReportedError(error)
    if not isinstance(choices, list):
        raise UnfitReply("choices is no list")
    if not choices:
        raise CallError(Failure.EMPTY, "the provider answered without choices", 200)
    # plenum asks for one; a program that asked for more reads them in its own body.
    choice = _mapping(choices[0], "choices[0]")
    said = choice.get("message", {"content": choice["text"]} if "text" in choice else None)
    message = _mapping(said, "message")
    dropped: list[str] = []
    text = _join_parts(message.get("content"), "text")
    # An error beside a text is passed over: what was written counts.
    if not text and (choice.get("error") or choice.get("finish_reason") == "error"):
        raise ReportedError(choice.get("error") or data.get("error") or "its choice is an error")
    # An answer that came without a reason came whole: a server that cuts says so.
    finish = _label(choice, "finish_reason", _LONGEST_FINISH, dropped) or "stop"
    finish = "stop" if finish.lower() in _ENDED else finish
    if not text and message.get("refusal"):
        text, finish = _text(message["refusal"], "refusal"), "refusal"
    reasoning, reasoned = _read_reasoning(message), False
    if not text and (chat is None or chat.request is None):  # a program reads its own body
        text = _read_tool_call(message)
        # It said `tool_calls`; as an answer it came whole, and `reasoned` mustn't look further.
        finish = "stop" if text else finish
        # Reasoning that was cut off isn't what the model meant to say.
        reasoned = not text and bool(reasoning) and finish == "stop"
        text, reasoning = (reasoning, "") if reasoned else (text, reasoning)
    # Counts that the body doesn't say are made from the call. A batch's lines come without calls.
    usage = data.get("usage")
    usage = _mapping(usage, "usage") if chat is None or isinstance(usage, dict) else {}
    tokens_in, tokens_out = (_tokens(usage, name, chat) for name in _COUNTS)
    counted = tokens_in is None or tokens_out is None
    if chat is not None and tokens_in is None:
        tokens_in = _count_tokens("\n".join(message.content for message in chat.messages))
    if tokens_out is None:
        tokens_out = _count_tokens(text + reasoning)
    assert tokens_in is not None
    cached, written, hour = _read_cached(usage, tokens_in, dropped)
    cost = price.of(tokens_in, tokens_out, cached, written, hour) if price else None
    labels = ("model", "provider", "system_fingerprint")
    model, host, system = (_label(data, name, _LONGEST_LABEL, dropped) or "" for name in labels)
    # Answers of one day may resemble each other, so that the journal says it.
    day = datetime.now(UTC).date().isoformat()
    return Response(
        Reply(
            text, tokens_in, tokens_out, finish, cost, reasoning, reasoned, model, host, system, day
        ),
        hold_s=hold_s,
        fingerprint=system or None,
        logprobs=_logprobs(choice, dropped) if logprobs else (),
        dropped=tuple(dropped),
        server=server,
        cached=cached,
        written=written,
        counted=counted,
    )


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def _mapping(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UnfitReply(f"{name} is no object")
    return value


def _tokens(usage: dict[str, Any], name: str, chat: Chat | None) -> int | None:
    """Read a number of tokens, also from a text or a float.

    ``None`` where there is none that can be, and the call says what is to be counted.
    """
    value = usage.get(name)
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        # A long text isn't converted: int() takes quadratic time in the digits, or refuses.
        value = int(value) if len(value) <= _LONGEST_FINISH else value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    # By its exact type: in Python true is an int.
    if type(value) is not int or not 0 <= value <= MOST_TOKENS:
        # With the chat at hand its tokens can be counted here, and the answer is kept.
        if chat is not None:
            return None
        raise UnfitReply(f"{name} is no whole number from 0 to {MOST_TOKENS}")
    return value


def _count_tokens(text: str) -> int:
    """Count the tokens of a text by a common vocabulary, since the model's isn't known."""
    from plenum.calls.api.litellm_import import litellm  # few servers leave the counting to us

    return int(litellm.token_counter(model="", text=text))


def _join_parts(content: Any, kind: str) -> str:
    """Join the parts of a message of one kind, ``text`` or ``thinking``; a text is one part."""
    content = [content] if isinstance(content, dict) else content
    if not isinstance(content, list):
        return _text(content, "content") if kind == "text" else ""
    texts = []
    for part in content:
        said = part if isinstance(part, dict) else {"type": "text", "text": part}
        if kind in str(said.get("type", "text")):  # `output_text` is one, too
            inner = said.get(kind)
            # thinking may be parts again, and a text never is: nesting can't go on
            texts.append(_join_parts(inner, "text") if kind == "thinking" else _text(inner, kind))
    return _text("".join(texts), "content")


def _find_error(data: dict[str, Any]) -> Any:
    """Find the error that a body reports in place of choices, wherever its server puts it."""
    named, base = data.get("error"), data.get("base_resp")
    if isinstance(base, dict):  # MiniMax
        return {"code": base.get("status_code"), "message": base.get("status_msg")}
    if isinstance(named, str):
        return {"message": named, "code": data.get("code", data.get("status"))}
    own = data.get("message") or data.get("msg") or data.get("detail")
    return named or (data | {"message": own} if isinstance(own, str) else None)


def _read_reasoning(message: dict[str, Any]) -> str:
    """Read what the model wrote before its answer; in another form than text it is left out."""
    given = [message.get(name) for name in _REASONING]
    texts = [text for text in given if isinstance(text, str) and len(text) <= MOST_TEXT]
    if texts:
        return replace_surrogates(texts[0])
    try:
        details = message.get("reasoning_details")
        return (
            _join_parts(message.get("content"), "thinking")
            or _join_parts(details, "text")
            or _join_parts(details, "summary")
        )
    except UnfitReply:  # the answer came whole all the same
        return ""


def _read_tool_call(message: dict[str, Any]) -> str:
    """Read an answer that came as the call of a tool, though none was offered."""
    calls: Any = message.get("tool_calls")
    try:
        # Of several calls nothing says which one is the answer.
        (call,) = calls
        arguments = call["function"]["arguments"]
        given = json.loads(arguments) if isinstance(arguments, str) else arguments
    # Whatever is missing or of another form: it is no answer by a tool then.
    except (ValueError, TypeError, KeyError, RecursionError):
        return ""
    if not given or not isinstance(given, dict):
        return ""
    # one text is the answer itself; several fields are the object that was asked for
    (first, *others) = given.values()
    return _text(first if isinstance(first, str) and not others else json.dumps(given), "arguments")


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
    if "prompt_cache_hit_tokens" in usage:  # DeepSeek's name
        counts = {"cached_tokens": usage["prompt_cache_hit_tokens"], **counts}

    def count(name: str, most: int) -> int:
        value = counts.get(name)
        if value is not None and not (type(value) is int and 0 <= value <= most):
            dropped.append(name)
            value = None
        return value or 0

    # Bounded by what is left of the prompt: tokens are cached, written or neither.
    cached = count("cached_tokens", tokens_in)
    written = count("cache_creation_tokens", tokens_in - cached)
    return cached, written, count("cache_creation_1h_tokens", written)


def _logprobs(choice: dict[str, Any], dropped: list[str]) -> tuple[tuple[str, float], ...]:
    """Read tokens with their log-probabilities; all of them, or none."""
    try:
        content = (choice.get("logprobs") or {}).get("content") or []
        pairs = tuple((_text(entry["token"], "token"), entry["logprob"]) for entry in content)
    except (AttributeError, KeyError, TypeError, UnfitReply):
        # NaN marks them all as unfit below: half of an answer's tokens say nothing of it.
        pairs = (("", math.nan),)
    if all(type(value) in (int, float) and math.isfinite(value) for _, value in pairs):
        return tuple((token, float(value)) for token, value in pairs)
    dropped.append("logprobs")
    return ()
