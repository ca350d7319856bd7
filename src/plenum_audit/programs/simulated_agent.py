"""The simulated agent of programs: it answers any prompt, in the form that is requested.

Its opinion depends on the wording of its system prompt and the case, on others' arguments, and at a
positive temperature on random draws: ``docs/simulated-backend.md`` has the valence of words.
plenum's own prompts are answered by the agents written for them, so that a program that plays
plenum's committee gets exactly the answers of the native run.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenum.base.errors import UserError
from plenum.calls.chat import Chat
from plenum.calls.raw_requests import ToolCall
from plenum.calls.simulated.backend import read_prompt
from plenum.calls.simulated.opinion import draw_persona, measure_pull
from plenum_audit.programs.forms import RequestedForm, form
from plenum_audit.programs.options import count_advocated, options
from plenum_audit.programs.schema import Pen, fill_schema

MANDATE, CASE, OTHERS, SELF = 1.6, 1.2, 1.8, 1.0
"""Weights of the system prompt, the case, others' arguments, and its own arguments."""
MEMORY = 0.8
"""Factor by which arguments fade with each later message."""
GAIN = 1.5
_READ = 6_000
"""Number of a text's characters whose words count."""
_NOTHING = ("yes", "no")

_LETTER = re.compile(
    r"(?:only|just|single|one)\W+(?:with\W+)?(?:the\W+|a\W+|one\W+|its\W+)?(?:option'?s?\W+)?"
    r"(?:letter|label|word)\b|(?:letter|label|word)\W+(?:only|alone)\b",
    re.IGNORECASE,
)
_FIELD = re.compile(
    r"^[^\w\n]{0,9}([A-Za-z][A-Za-z _-]{1,24}):[ \t]*"
    r"(?:<[^>\n]*>|\[[^\]\n]*\]|\{[^}\n]*\}|(?:LABEL|LETTER|OPTION|X)\b)[ \t]*\W?$"
    r"|[`\"']([A-Za-z][A-Za-z _-]{1,24}):[ \t]*"
    r"(?:<[^>\n]*>|\[[^\]\n]*\]|LABEL|LETTER|OPTION|X)[`\"']"
    r"|\b([A-Z]{3,24}):[ \t]+(?:(?:the|your)[ \t]+)?(?:label|letter|option)\b"
    r"|\b(VOTE|ANSWER|DECISION|CHOICE):[ \t]+(?:(?:and|then|one|of)[ \t]+)*[A-Z]\b",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Mind:
    """An agent's opinion on a prompt.

    Attributes
    ----------
    options
        Names by label.
    shares
        Its preferences, by label.
    choice
        Label of its choice.
    """

    options: Mapping[str, str]
    shares: Mapping[str, float]
    choice: str

    @property
    def argument(self) -> str:
        """Two sentences for the choice."""
        name = self.options[self.choice].rstrip(".")
        second = sorted(self.shares, key=lambda label: -self.shares[label])[1]
        other = self.options[second].rstrip(".")
        if self.choice in _NOTHING:
            return f"{self.choice.capitalize()}: what is known here speaks for it."
        return (
            f"I recommend option {self.choice} ({name}); it answers what matters most here. "
            f"The case for {other} is weaker."
        )


def answer(
    chat: Chat, coupling: float, slips: float, rng: np.random.Generator
) -> str | tuple[ToolCall, ...] | None:
    """Return an agent's answer, or its call of a tool; None for requests not from a program.

    Parameters
    ----------
    chat
        The agent's prompt; its temperature scales the noise on its opinion.
    coupling
        Scale of the influence of others' opinions.
    slips
        Probability of picking an option at random.
    """
    if chat.request is None or _is_plenums(chat):
        return None
    wanted = form(chat.request)
    mind = _mind(chat, coupling, slips, rng)
    pen = Pen(mind.options, mind.shares, mind.choice, mind.argument)
    if wanted.tool is None:
        return _format_answer(chat, wanted, mind, pen)
    arguments = json.dumps(fill_schema(wanted.tool.schema, pen))
    return (ToolCall(wanted.tool.name, arguments),)


def _is_plenums(chat: Chat) -> bool:
    try:
        read_prompt(chat)
    except UserError:
        return False
    return True


def _mind(chat: Chat, coupling: float, slips: float, rng: np.random.Generator) -> Mind:
    texts = [message.content for message in chat.messages]
    named = options("\n".join(texts)) or {word: word for word in _NOTHING}
    labels, names = tuple(named), tuple(named.values())
    who = draw_persona(chat.model)
    system = "\n".join(m.content for m in chat.messages if m.role == "system")
    question = next((m.content for m in chat.messages if m.role == "user"), "")
    field = MANDATE * measure_pull(who, system[:_READ], names)
    field = field + CASE * measure_pull(who, question[:_READ], names)
    field = field + coupling * _heard(chat, named)
    field = field + rng.normal(size=len(labels)) * chat.temperature
    logits = GAIN * who.gain * field
    weights = np.exp(logits - logits.max())
    shares = weights / weights.sum()
    slip, where = rng.random(2)
    best = int(where * len(labels)) if slip < slips * chat.temperature else int(np.argmax(shares))
    rounded = {label: round(float(share), 3) for label, share in zip(labels, shares, strict=True)}
    return Mind(named, rounded, labels[best])


def _heard(chat: Chat, named: Mapping[str, str]) -> NDArray[np.float64]:
    """Return the conversation's arguments by option, latest most; centred, shape (options,)."""
    total, fade = np.zeros(len(named)), 1.0
    for message in reversed(chat.messages[-40:]):
        if message.role == "system":
            continue
        for paragraph in reversed(message.content[-_READ:].split("\n")[-60:]):
            counts = count_advocated(paragraph, named)
            if counts:
                weight = SELF if message.role == "assistant" else OTHERS
                shares = np.array([counts[label] for label in named], dtype=float)
                total += weight * fade * (shares / shares.sum() - 1 / len(named))
                fade *= MEMORY
    return np.asarray(total)


def _format_answer(chat: Chat, wanted: RequestedForm, mind: Mind, pen: Pen) -> str:
    """Return the answer as text: by its schema, as a label, points, fields, or prose."""
    if wanted.schema is not None:
        return json.dumps(fill_schema(wanted.schema, pen))
    task = "\n".join(m.content for m in chat.messages if m.role != "assistant")
    if "100 points" in task:
        points = {label: round(100 * share) for label, share in mind.shares.items()}
        points[mind.choice] += 100 - sum(points.values())
        return json.dumps(points)
    if wanted.json:
        return json.dumps(fill_schema(_find_schema(task), pen))
    if _LETTER.search(task):
        return mind.choice
    fields = [next(filter(None, named)) for named in _FIELD.findall(task)]
    lines = [f"{name.strip()}: {mind.choice}" for name in dict.fromkeys(fields[:4])]
    return "\n".join([mind.argument, *lines])


def _find_schema(task: str) -> dict[str, Any]:
    """Return a schema for the JSON object in a prompt, by its keys."""
    keys: Sequence[str] = re.findall(r'"([A-Za-z_]\w{0,40})"\s*:', task)
    names = dict.fromkeys(keys or ("decision", "confidence", "reason"))
    return {"type": "object", "properties": {name: {} for name in names}}
