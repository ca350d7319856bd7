"""The simulated backend under the chat contract, with faults on request."""

import asyncio
import json
import math
import re
from collections import Counter
from collections.abc import Mapping

import numpy as np

from plenum.base.errors import UserError
from plenum.base.identity import make_generator
from plenum.calls.call_errors import CallError
from plenum.calls.chat import Chat, Reply, Response
from plenum.calls.raw_requests import ToolCall
from plenum.calls.simulated import opinion, prompt_parser, speech, unsectioned_parser
from plenum.calls.simulated.prompt_parser import Prompt
from plenum.design.kinds import KINDS
from plenum.design.settings import Sampling, Simulated
from plenum.records.failures import Failure
from plenum.records.transcript import SIMULATED

_VOTE = re.compile(r'^\{"decision": "([A-Z])", "confidence": [0-9]+\}$', re.MULTILINE)
# The look-behind keeps out a vote that is quoted within a reason, whose quotes are escaped.
_REASONED_VOTE = re.compile(r'^\{.*(?<!\\)"vote": "([A-Z])".*\}$', re.MULTILINE)
# One answer of each way to break the form: its separators, its line, its sum.
_MALFORMED = (
    'STATE: pref=[0.5;0.5]; conf=high; tags=["one"]',
    "My preferences are as before.",
    'STATE: pref=[0.9,0.9,0.9]; conf=80; tags=["too_much","to_sum"]',
)


def build(settings: Simulated, *_: object) -> "SimulatedBackend":
    """Build the backend."""
    return SimulatedBackend(settings)


class SimulatedBackend:
    """A backend that answers turns, repairs, ballots and counts from the prompt's text alone.

    Parameters
    ----------
    knobs
        Gain, coupling, noise and the rates of misbehaviour.
    """

    def __init__(self, knobs: Simulated) -> None:
        self._knobs = knobs

    def check(self, models: tuple[str, ...], sampling: Sampling) -> None:
        """Accept everything, since any model id has a persona."""

    def provider(self, model: str) -> str:
        """Name the one provider."""
        return "simulated"

    def server(self, chat: Chat) -> str:
        """Return no server, since there is no fleet."""
        return ""

    async def attempt(self, chat: Chat, number: int) -> Response:
        """Make one attempt."""
        await asyncio.sleep(0)  # nothing here waits, and the other replicates are to go on too
        # By attempt as well: a repeated call draws another fate, and a rerun the same one.
        rng = make_generator("simulated", chat.seed, number)
        # Both are always drawn: what follows in the stream doesn't depend on the rates.
        fault, detail = rng.random(2)
        self._fail(float(fault))
        answer = self._misbehave(float(detail)) or self._answer(chat, rng)
        words = sum(len(message.content.split()) for message in chat.messages)
        fingerprint = None if chat.request is None else SIMULATED
        if isinstance(answer, str):
            reply = Reply(answer, _tokens(words), _tokens(len(answer.split())))
            return Response(reply, fingerprint=fingerprint)
        written = _tokens(sum(len(tool.arguments.split()) + 1 for tool in answer))
        reply = Reply("", _tokens(words), written, finish="tool_calls")
        return Response(reply, fingerprint=fingerprint, tools=answer)

    async def close(self) -> None:
        """Do nothing, since nothing is held."""

    def environment(self, models: tuple[str, ...], constrained: bool = False) -> Mapping[str, str]:
        """Return nothing: the answers are plain arithmetic."""
        return {}

    def _fail(self, draw: float) -> None:
        if draw < self._knobs.timeout_rate:
            raise CallError(Failure.TIMEOUT, "simulated timeout")
        if draw < self._knobs.timeout_rate + self._knobs.rate_limit_rate:
            raise CallError(Failure.RATE_LIMIT, "simulated rate limit", 429, retry_after=0.01)

    def _misbehave(self, draw: float) -> str | None:
        malformed = self._knobs.malformed_rate
        if draw < malformed:
            return _MALFORMED[int(draw / malformed * len(_MALFORMED))]
        if draw < malformed + self._knobs.refusal_rate:
            return "I'm sorry, but I can't take a position on this matter."
        return None

    def _answer(self, chat: Chat, rng: np.random.Generator) -> str | tuple[ToolCall, ...]:
        task = chat.messages[1].content if len(chat.messages) > 1 else ""
        # By the first words of the prompts, as `read_prompt` does: an agent is told no more than a
        # model.
        if task.startswith("The private ballots"):
            return _count(task)
        if task.startswith("The committee's arguments of this round"):
            return speech.compose_summary(task)
        if task.startswith("CLERK TASK"):
            return _answer_reasoned_count(task)
        for kind in KINDS.values():
            answer = kind.answer(chat, self._knobs.coupling, self._knobs.noise, rng)
            if answer is not None:
                return answer
        prompt = read_prompt(chat)
        # System and task are two messages; a repair adds the answer and what is wrong with it.
        repair = len(chat.messages) > 2
        if prompt.task == "ballot":
            return _ballot(prompt)
        kick = rng.normal(size=len(prompt.case.labels)) * chat.temperature
        pref = opinion.update(prompt, chat.model, self._knobs.gain, self._knobs.coupling, kick)
        noise = self._knobs.noise
        values = speech.slip_units(speech.round_units(pref), noise, rng)
        # A repair asks for the state alone; a held form always has both.
        argument = "" if repair and chat.answer is None else speech.compose_argument(prompt, pref)
        slip, where = rng.random(2)
        if slip < noise:
            argument = speech.swap_word(argument, where)
        if chat.answer is not None:
            return speech.compose_turn(argument, prompt.case.labels, pref, values)
        return f"{argument}\n{speech.format_state_line(pref, values)}".strip()


def read_prompt(chat: Chat) -> Prompt:
    """Read a committee's prompt; its first line tells which of the known frames it has.

    Raises
    ------
    UserError
        It has none of them.
    """
    try:
        sectioned = chat.messages[1].content.startswith("## ")
        return (
            prompt_parser.read_sections(chat)
            if sectioned
            else unsectioned_parser.read_unsectioned(chat)
        )
    # What parsers raise on a text of another form: a part that is missing, or no number.
    except (LookupError, StopIteration, ValueError):
        raise UserError(
            "backend: simulated; its agents can't read these prompts; they know those of "
            "prompts=plenum and prompts=published"
        ) from None


def _ballot(prompt: Prompt) -> str:
    labels, pref = prompt.case.labels, prompt.table[prompt.me].pref
    best = int(np.argmax(pref)) if pref else 0
    confidence = round(100 * pref[best]) if pref else 0
    if prompt.reasoned:
        reasons = {"principle": "As I argued.", "top_reason": "My last argument."}
        vote = {"vote": labels[best], "confidence_0_100": confidence}
        return json.dumps({"agent": prompt.me, **vote, **reasons})
    return json.dumps({"decision": labels[best], "confidence": confidence})


def _count(text: str) -> str:
    votes = _VOTE.findall(text)
    label, most = Counter(votes).most_common(1)[0]
    decision = label if 2 * most > len(votes) else "NONE"
    return json.dumps({"decision": decision, "majority_count": most, "total": len(votes)})


def _answer_reasoned_count(text: str) -> str:
    votes = Counter(_REASONED_VOTE.findall(text))
    return json.dumps({"decision": votes.most_common(1)[0][0], "vote": dict(sorted(votes.items()))})


def _tokens(words: int) -> int:
    """Estimate tokens: four for three words."""
    return math.ceil(words * 4 / 3)
