"""The answers of simulated agents: an argument of varied wording, and its STATE line.

Which phrase is taken depends on the agent's state through a phase that turns fast as its leading
preference moves, so that a small difference between two committees now and then becomes another
sentence, and that sentence is read by everybody else.
"""

import json
from collections.abc import Sequence

import numpy as np

from plenum.calls.simulated.opinion import Field
from plenum.calls.simulated.prompt_parser import Prompt, read_arguments

_OPENINGS = (
    "I come down on the side of {best}.",
    "My view remains that {best} serves this case better than the rest.",
    "On balance {best} is the course I would take.",
    "Weighing what was said, I lean towards {best}.",
    "The strongest case so far is the one for {best}.",
    "I would settle on {best}, with some reservations.",
    "After this exchange {best} looks more solid to me.",
)
_GROUNDS = (
    "It keeps the burden where it can be carried and the gains where they are needed.",
    "It is the only course whose cost we can state in advance.",
    "It leaves room to correct mistakes without starting again.",
    "It treats like cases alike, and that matters more here than speed.",
    "It protects those who would otherwise pay for a choice they did not make.",
    "It can be run with the staff and the money that exist.",
    "It does less harm if our forecasts turn out wrong.",
)
_FACTS = (
    "The decisive figure for me: {fact}",
    "Consider this: {fact}",
    "One fact weighs heavily: {fact}",
    "What settles it is plain: {fact}",
    "I keep returning to a single point: {fact}",
)
_REPLIES_FOR = (
    "I agree with {other} on the essentials.",
    "{other} has put the main reason well.",
    "The point made by {other} strengthens this.",
    "I can follow {other} most of the way.",
)
_REPLIES_AGAINST = (
    "I do not share the confidence of {other} in another course.",
    "{other} leaves the hard part of the bill unanswered.",
    "Against {other} I would say that the risk is larger than admitted.",
    "The reasoning of {other} proves less than it claims.",
)
_RIVALS = (
    "The best rival, {rival}, asks too much for what it gives.",
    "I see the appeal of {rival}, yet its cost falls in the wrong place.",
    "{rival} would be my second choice.",
    "Should the numbers shift, {rival} deserves another look.",
    "{rival} answers a different question from the one before us.",
)
_CLOSINGS = (
    "I ask the committee to decide on that basis.",
    "I remain open to a better number.",
    "My doubt is small but real.",
    "We should not pretend that this is free.",
    "That is reason enough for me.",
)
UNITS = 1000
"""Preferences are stated in thousandths. Hundredths would swallow many steps of an agent, whose
openness is 0.015 to 0.045."""
SLIP = 40
"""Thousandths that move to another option together when an answer slips. The number is the model's
own: single ones would nearly cancel out, see `slip_units`."""
_TAGS = (
    "cost_control", "fair_process", "equal_access", "public_trust", "long_term_risk", "feasibility",
    "accountability", "protection", "flexibility", "reversibility",
)  # fmt: skip
_SYNONYMS = {
    "view": "opinion", "solid": "sound", "strongest": "best", "matters": "counts", "harm": "damage",
    "mistakes": "errors", "risk": "danger", "larger": "greater", "appeal": "attraction",
    "cost": "price", "reason": "ground", "small": "slight", "real": "genuine", "plain": "clear",
    "heavily": "greatly", "agree": "concur", "essentials": "basics", "claims": "asserts",
    "course": "path", "money": "means",
}  # fmt: skip


class _Phase:
    """A picker of phrases: a point on a circle, turned after every pick."""

    def __init__(self, prompt: Prompt, pref: Field) -> None:
        # Also the length of what was just said: equal states after other words take other phrases.
        spoken = sum(len(argument) for _, argument in prompt.arguments[-3:])
        # Numbers without a meaning, but large: 0.01 more preference turns it by a quarter or more.
        self._angle = float(23.0 * pref.max() + 11.0 * pref.min() + 0.013 * spoken)
        self._picks = 0

    def pick(self, bank: tuple[str, ...]) -> str:
        self._picks += 1
        # By another factor for each pick, so that one angle doesn't fix all phrases of an argument
        # alike.
        turn = (self._angle * (1 + 0.37 * self._picks)) % 1.0
        return bank[int(turn * len(bank))]


def compose_argument(prompt: Prompt, pref: Field) -> str:
    """Write an argument for the leading option, within the word limit."""
    case, phase = prompt.case, _Phase(prompt, pref)
    # Stable: ties go by the order of the labels, the same in each rerun.
    ranking = np.argsort(-pref, kind="stable")
    best, rival = (f"option {case.labels[i]} ({case.names[i]})" for i in ranking[:2])
    sentences = [
        phase.pick(_OPENINGS).format(best=best),
        phase.pick(_FACTS).format(fact=phase.pick(case.numbers + case.cases)),
        phase.pick(_GROUNDS),
    ]
    # Of the last four, so that it answers somebody who has just spoken.
    others = [(label, text) for label, text in prompt.arguments[-4:] if label != prompt.me]
    if others:
        label, text = others[-1]
        # Agents name their option first, with its name in brackets behind it.
        agrees = f"option {case.labels[ranking[0]]} " in text[: text.find(")") + 1]
        bank = _REPLIES_FOR if agrees else _REPLIES_AGAINST
        sentences.append(phase.pick(bank).format(other=label))
    sentences.append(phase.pick(_RIVALS).format(rival=rival))
    sentences.append(phase.pick(_CLOSINGS))
    return _within([s[0].upper() + s[1:] for s in sentences], prompt.words)


def compose_summary(task: str) -> str:
    """Write a moderator's summary: who spoke, and how each argument began."""
    said = read_arguments(task.partition("\n\n")[0].partition("\n")[2])
    begun = " ".join(f"{label}: {argument.split('. ')[0]}." for label, argument in said)
    return f"A simulated summary, in the members' first words. {begun}"


def format_state_line(pref: Field, units: tuple[int, ...]) -> str:
    """Write the STATE line; ``units`` are the preferences in thousandths."""
    first, second = _tags(pref)
    numbers = ",".join(f"{value / UNITS:.3f}" for value in units)
    return f'STATE: pref=[{numbers}]; conf={_confidence(pref)}; tags=["{first}","{second}"]'


def compose_turn(argument: str, labels: Sequence[str], pref: Field, units: tuple[int, ...]) -> str:
    """Write a constrained turn: a JSON object whose weights are the preferences in hundredths."""
    weights = [round(value * 100 / UNITS) for value in units]
    state = {
        "weights": dict(zip(labels, weights, strict=True)),
        "confidence": _confidence(pref),
        "tags": _tags(pref),
    }
    return json.dumps({"argument": argument, "state": state}, ensure_ascii=False)


def _confidence(pref: Field) -> int:
    order = np.sort(pref)
    # From 45, where two options are even, to 93, where one has it all: the numbers are the model's
    # own, and only weigh peers.
    return round(float(45 + 50 * np.tanh(2.0 * (order[-1] - order[-2]))))


def _tags(pref: Field) -> tuple[str, str]:
    # 97 and 53 are primes: tags change with each hundredth or two of preference, and not together.
    first = int(pref[0] * 97) % len(_TAGS)
    # 1 to n - 1 places further on: never the first one again.
    second = (first + 1 + int(pref[-1] * 53) % (len(_TAGS) - 1)) % len(_TAGS)
    return _TAGS[first], _TAGS[second]


def round_units(pref: Field) -> tuple[int, ...]:
    """Round to whole thousandths that add up to 1 (largest remainders)."""
    scaled = pref * UNITS
    floored = np.floor(scaled).astype(int)
    missing = UNITS - int(floored.sum())
    # The largest remainders get the thousandths that rounding down left over.
    floored[np.argsort(floored - scaled, kind="stable")[:missing]] += 1
    return tuple(int(value) for value in floored)


def slip_units(units: tuple[int, ...], rate: float, rng: np.random.Generator) -> tuple[int, ...]:
    """Move every forty thousandths to another option, each as likely, at the given rate."""
    # In groups: single thousandths, each with its own chance, would nearly cancel out.
    leaving, size = rng.binomial(np.array(units) // SLIP, rate), len(units)
    arriving = np.zeros(size, int)
    for option, count in enumerate(leaving):
        others = np.full(size, 1 / (size - 1))
        others[option] = 0.0
        arriving += rng.multinomial(count, others)
    return tuple(map(int, np.array(units) + SLIP * (arriving - leaving)))


def swap_word(text: str, draw: float) -> str:
    """Replace one word by a near-synonym, if there is one to replace."""
    words = text.split(" ")
    places = [n for n, word in enumerate(words) if word.strip(".,") in _SYNONYMS]
    if not places:
        return text
    place = places[int(draw * len(places))]
    bare = words[place].strip(".,")
    words[place] = words[place].replace(bare, _SYNONYMS[bare])
    return " ".join(words)


def _within(sentences: list[str], limit: int) -> str:
    """Join the sentences that the words left have room for; at least a cut first one."""
    kept: list[str] = []
    for sentence in sentences:
        if sum(len(s.split()) for s in [*kept, sentence]) <= limit:
            kept.append(sentence)
    return " ".join(kept) or " ".join(sentences[0].split()[:limit])
