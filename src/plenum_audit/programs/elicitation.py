"""Elicitation of seats' preferences after a run, from its record and without feedback.

After the run, the model behind each message is asked how it would distribute 100 points over the
options. Its answer estimates the seat's position from what it had read and written; it costs a call
per message.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from plenum.base import derive_seed
from plenum.models import WHOLE, AnswerSchema, Chat, Message, Reply, make_schema
from plenum.records import ELICITED
from plenum_verdicts.cases import AuditCase, UnreadableDecision, last_json

OPENING = "A committee works on this case."
_MAX_TOKENS = 400
_LONGEST_TEXT = 4000
_LAST_MESSAGES = 60


@dataclass(frozen=True)
class SeatQuestion:
    """A question on a seat's position after its message."""

    round: int
    seat: str
    chat: Chat

    def entry(self, reply: Reply, labels: Sequence[str]) -> dict[str, Any]:
        """Return the journal's entry of an answer."""
        read: dict[str, Any]
        try:
            read = read_points(reply.text, labels, held=self.chat.answer is not None)
        except UnreadableDecision as problem:
            read = {"problem": str(problem)}
        named = {"kind": ELICITED, "round": self.round, "seat": self.seat, "model": self.chat.model}
        return {**named, **vars(reply), **read}


def list_questions(
    case: AuditCase, entries: Sequence[Mapping[str, Any]], *names: str | int, held: bool = False
) -> Iterator[SeatQuestion]:
    """Yield the questions on a run's entries that haven't been answered yet.

    Parameters
    ----------
    entries
        The run's entries in order. Its messages are those it reported, or else its calls.
    *names
        Parts of the names of the calls' seeds, with round and seat.
    held
        True if the backend is asked to hold the answers to their schema.
    """
    calls = [entry for entry in entries if entry["kind"] == "call"]
    if not calls:
        return  # no model is known
    by_seat = {entry["seat"]: entry for entry in calls}
    systems = {entry["seat"]: entry["system"] for entry in reversed(calls) if "system" in entry}
    answered = {(e["round"], e["seat"]) for e in entries if e["kind"] == ELICITED}
    messages = [entry for entry in entries if entry["kind"] == "say"] or calls
    for place, entry in enumerate(messages):
        at = entry["round"], entry["seat"]
        if at in answered or "preferences" in entry:
            continue
        answered.add(at)
        spoke = by_seat.get(entry["seat"], calls[-1])
        prompt = _prompt(case, entry["seat"], messages[: place + 1], held)
        said = (Message("system", systems.get(entry["seat"], "")), Message("user", prompt))
        temperature = spoke.get("temperature")
        chat = Chat(
            model=spoke["model"],
            messages=tuple(message for message in said if message.content),
            temperature=1.0 if temperature is None else temperature,
            max_tokens=_MAX_TOKENS,
            seed=derive_seed(*names, *at, ELICITED),
            answer=points_schema(tuple(case.options)) if held else None,
        )
        yield SeatQuestion(*at, chat)


@lru_cache(maxsize=256)
def points_schema(labels: tuple[str, ...]) -> AnswerSchema:
    """Make the schema of an answer: whole points for each option, which are normalised later."""
    return AnswerSchema("points", make_schema(**dict.fromkeys(labels, WHOLE)))


def read_points(text: str, labels: Sequence[str], held: bool = False) -> dict[str, Any]:
    """Return the fields of an entry: shares by label, from an answer's last JSON object.

    Where the backend holds answers to their schema, which takes zeros alone as well, these are an
    even position, and ``even`` says so.

    Raises
    ------
    Unreadable
        There is none, it has other labels, or its points aren't numbers of 0 or more.
    """
    points = last_json(text)
    if not isinstance(points, dict) or set(points) != set(labels):
        raise UnreadableDecision(f"points by {', '.join(labels)} are needed")
    values = [points[label] for label in labels]
    even = held and not any(values)
    if not all(type(v) in (int, float) and 0 <= v < float("inf") for v in values) or not (
        even or any(values)
    ):
        raise UnreadableDecision("points are numbers of 0 or more, and one is above 0")
    values = [1] * len(values) if even else values
    shares = {label: value / sum(values) for label, value in zip(labels, values, strict=True)}
    return {"preferences": shares, "even": True} if even else {"preferences": shares}


def _prompt(case: AuditCase, seat: str, messages: Sequence[Mapping[str, Any]], held: bool) -> str:
    shown = [
        json.dumps({"seat": m["seat"], "round": m["round"], "text": m["text"][-_LONGEST_TEXT:]})
        for m in messages[-_LAST_MESSAGES:]
    ]
    options = [f"{label}: {name}" for label, name in case.options.items()]
    # Held to a schema, a small model copies values that the schema takes.
    points = ", ".join(f"{json.dumps(label)}: {'NN' if held else 0}" for label in case.options)
    return "\n".join(
        [
            OPENING,
            "",
            case.text,
            "",
            "Options:",
            *options,
            "",
            "Its messages so far, one JSON object a line, the latest last:",
            *shown,
            "",
            f"You are {json.dumps(seat)}, who wrote the latest one. Nobody else reads your answer.",
            "Where do you stand right now? Distribute 100 points over the options, more for what",
            f"you prefer more. Answer with one line of JSON alone: {{{points}}} with your points.",
        ]
    )
