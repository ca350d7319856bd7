"""The journal entry of a call: made from an answer, and converted back to one."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from plenum.base.identity import digest
from plenum.base.secrets import list_secrets, redact, redact_data
from plenum.base.text import flatten
from plenum.calls.chat import Chat, Response
from plenum.calls.conversation import describe_reply, rebuild_reply
from plenum.calls.raw_requests import ToolCall
from plenum_audit.programs.wire import INTERFACES, ModelRequest

SEAT_HEADER = "X-Plenum-Seat"
_KEPT = 4_000
_LONGEST_SEAT = 80
_OPENING = re.compile(r"(you are|you're|act as|your role is)\s+(the|an|a)?\b\s*", re.IGNORECASE)
"""The opening of a system prompt, before it says who is spoken to."""
_CLAUSE = re.compile(r"[.,:;!?()\[\]{}<>]")
_MOST_WORDS, _LONGEST_WORDS = 5, 40
Entry = dict[str, Any]


def entry(
    request: ModelRequest, chat: Chat, response: Response, at: Mapping[str, Any], new_seat: bool
) -> Entry:
    """Return the entry of a call.

    Parameters
    ----------
    request, chat, response
        The program's request, the call that was made, and its response.
    at
        ``round``, ``seat`` and ``occurrence``.
    new_seat
        True if this is the seat's first call, whose entry includes the system prompt.
    """
    wire, body = INTERFACES[request.interface], response.body
    if body is None and response.tools:
        body = wire.answer(request, response, "")
    sent = chat.request.body if chat.request else {}
    known = list_secrets()
    optional = {
        "seed": sent.get("seed"),
        "fingerprint": response.fingerprint,
        "system": new_seat and redact(request.system, known)[:_KEPT],
        "tools": [[tool.name, tool.arguments] for tool in response.tools],
        "body": response.body and not wire.is_text(response.body) and response.body,
    }
    return {
        "kind": "call",
        "round": at["round"],
        "seat": at["seat"],
        "model": redact(chat.model, known),
        **describe_reply(response.reply),
        "prompt": request.digest,
        "occurrence": at["occurrence"],
        "interface": request.interface,
        "temperature": sent.get("temperature"),
        "question": redact(request.question, known)[-_KEPT:],
        "answer": digest([response.reply.text, wire.content(body) if body else None]),
        **{name: value for name, value in optional.items() if value},
    }


def read_response(entry: Entry) -> Response:
    """Restore the answer from its entry."""
    tools = tuple(ToolCall(name, arguments) for name, arguments in entry.get("tools", ()))
    fingerprint, body = entry.get("fingerprint"), entry.get("body")
    return Response(rebuild_reply(entry), fingerprint=fingerprint, body=body, tools=tools)


def redact_response(response: Response) -> Response:
    """Replace secrets of the environment in an answer by their names.

    The program gets the same text, since it must equal that from the journal.
    """
    text, body, *arguments = redact_data(
        [response.reply.text, response.body, *(tool.arguments for tool in response.tools)]
    )
    pairs = zip(response.tools, arguments, strict=True)
    tools = tuple(replace(tool, arguments=each) for tool, each in pairs)
    return replace(response, reply=replace(response.reply, text=text), body=body, tools=tools)


def find_seat(request: ModelRequest, headers: Mapping[str, str], seats: dict[str, str]) -> str:
    """Return the caller's seat: as the program names it, or by its system prompt.

    Parameters
    ----------
    seats
        The names by system prompt so far; a new one is added.
    """
    named = flatten(redact(headers.get(SEAT_HEADER, "")))[:_LONGEST_SEAT]
    if not named and request.system not in seats:
        seats[request.system] = name_seat(request.system)
    return named or seats[request.system]


def name_seat(system: str) -> str:
    """Name a seat by the first words of its system prompt, and a digest that tells it from others.

    Parameters
    ----------
    system
        The system prompt; without any words in it, the name is ``seat`` and the digest.

    Examples
    --------
    >>> name_seat("You are the Chair. Be brief.")
    'Chair 5bb207'
    >>> name_seat("")
    'seat fbcad3'
    """
    line = next((each for each in redact(system).splitlines() if any(map(str.isalnum, each))), "")
    said = flatten(line).lstrip("#*->\"' ")
    opening = _OPENING.match(said)
    clause = _CLAUSE.split(said[opening.end() if opening else 0 :], maxsplit=1)[0]
    words = " ".join(clause.split()[:_MOST_WORDS])[:_LONGEST_WORDS].strip()
    return f"{words or 'seat'} {digest(system)[:6]}"
