"""The teacher: answers a prompt from its text and a seeded generator, and from nothing else.

A seat stands for one option over another, with one of nine degrees of firmness. It says so in its
argument, after its own name, and its STATE line spells that out in numbers. So what is hard for a
small model follows from near words: where it stood, from its name in the window; decimals that add
up to one, from what it has just written. From turn to turn a seat moves by
a degree or two from its own row of the table. It listens to some seats and not to others, returns
to what its mandate favours, and grows doubtful when it is nearly certain.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plenum.models import Message, PromptRow
from tiny_model.reading import Prompt, Remark, read

FIRMNESS = (
    *("barely", "slightly", "mildly", "fairly", "clearly"),
    *("strongly", "firmly", "fully", "wholly"),
)
"""The degrees of firmness, as words."""

_FIRST = (8, 9, 10, 11, 12, 13, 14, 15, 16)
_SECOND = (7, 7, 6, 5, 5, 4, 4, 3, 2)
_FIRST_OF_FIVE = (6, 7, 8, 9, 10, 11, 12, 13, 14)
_SECOND_OF_FIVE = (5, 4, 6, 5, 4, 6, 5, 4, 3)
WHOLE = 20
"""Preferences are twentieths: the first and second option's, by degree of firmness."""

ALLIES = {
    "Chair": ("Welfare", "Rights", "Equity"),
    "Welfare": ("Chair", "Security"),
    "Rights": ("Equity", "Chair"),
    "Equity": ("Rights", "Welfare"),
    "Security": ("Chair", "Welfare"),
    "Member 1": ("Member 2", "Member 5"),
    "Member 2": ("Member 1", "Member 4"),
    "Member 3": ("Member 5", "Member 2"),
    "Member 4": ("Member 3", "Member 1"),
    "Member 5": ("Member 4", "Member 3"),
}
TAGS = {
    "chair": ("common_ground", "sound_reasons"),
    "welfare": ("total_benefit", "value_for_money"),
    "rights": ("basic_rights", "fair_procedure"),
    "equity": ("fair_burdens", "narrow_gap"),
    "security": ("public_safety", "caution"),
    "": ("good_sense", "practical_use"),
}
_VERBS = ("backs", "favours", "prefers")


@dataclass(frozen=True)
class Stand:
    """Where a seat stands: for one option over another, so firmly (0-8)."""

    first: str
    second: str
    firm: int

    def towards(self, option: str) -> "Stand":
        """One degree nearer to an option."""
        if option == self.first:
            return Stand(self.first, self.second, min(self.firm + 1, len(FIRMNESS) - 1))
        if self.firm == 0:
            return Stand(option, self.first, 0)
        return Stand(self.first, option, self.firm - 1)

    def numbers(self, labels: tuple[str, ...]) -> tuple[int, ...]:
        """Its preferences in twentieths; for three options or more."""
        few = len(labels) <= 3
        first = (_FIRST if few else _FIRST_OF_FIVE)[self.firm]
        second = (_SECOND if few else _SECOND_OF_FIVE)[self.firm]
        rest = [label for label in labels if label not in (self.first, self.second)]
        share = (WHOLE - first - second) // max(1, len(rest))
        known = {self.first: first, self.second: WHOLE - first - share * len(rest)}
        return tuple(known.get(label, share) for label in labels)


def answer(kind: str, messages: Sequence[Message], rng: np.random.Generator) -> str:
    """The answer to a call of any kind."""
    if kind.startswith("clerk"):
        return count(messages[1].content)
    prompt = read(messages)
    if prompt.task == "ballot":
        return ballot(prompt)
    if prompt.rejected is not None:
        return repaired(prompt, prompt.rejected, rng)
    return turn(prompt, moved(prompt, rng), rng)


def turn(prompt: Prompt, now: Stand, rng: np.random.Generator) -> str:
    """An argument for a stand, and its STATE line."""
    option = f"{now.first} ({prompt.view.names.get(now.first, 'that option')})"
    stand = f"{FIRMNESS[now.firm]} {_pick(_VERBS, rng)} {option} over {now.second}"
    reason = _pick(prompt.view.reasons[now.first], rng)
    argument = f"{_address(prompt, now, rng)}{prompt.me} {stand}: {reason}."
    return f"{argument}\n{_line(prompt, now, rng)}"


def repaired(prompt: Prompt, remark: Remark, rng: np.random.Generator) -> str:
    """The STATE line that an answer should have had."""
    announced = _announced(remark, prompt.labels)
    current = stand_of(prompt.labels, prompt.row) if prompt.row else None
    return _line(prompt, announced or current or Stand(home(prompt), _other(prompt), 2), rng)


def ballot(prompt: Prompt) -> str:
    """A vote for what the seat's own row favours."""
    row = prompt.row
    if row is None:
        return json.dumps({"decision": home(prompt), "confidence": 50})
    best = prompt.labels[int(np.argmax(row.pref))]
    return json.dumps({"decision": best, "confidence": round(row.conf)})


def count(text: str) -> str:
    """The clerk's count of the ballots."""
    lines = [line for line in text.splitlines() if line.startswith('{"decision": "')]
    votes = [json.loads(line)["decision"] for line in lines if "|" not in line]
    best, number = Counter(votes).most_common(1)[0]
    decision = best if 2 * number > len(votes) else "NONE"
    return json.dumps({"decision": decision, "majority_count": number, "total": len(votes)})


def home(prompt: Prompt) -> str:
    """The option that a seat leans to by its mandate, or by its place without one."""
    if prompt.mandate:
        return prompt.view.homes[prompt.mandate]
    return prompt.view.rival if prompt.me in ("Member 3", "Member 5") else prompt.view.lean


def heard(prompt: Prompt) -> str:
    """The option that the last one of those whom a seat listens to argued for."""
    for remark in reversed(prompt.window):
        if remark.label in ALLIES.get(prompt.me, ()) and remark.choice in prompt.labels:
            return remark.choice
    return ""


def moved(prompt: Prompt, rng: np.random.Generator) -> Stand:
    """Where a seat stands after what it has read."""
    favourite, voice = home(prompt), heard(prompt)
    if prompt.row is None:
        first = voice if voice and rng.random() < 0.25 else favourite
        rest = [label for label in prompt.labels if label != first]
        second = voice if voice in rest and rng.random() < 0.6 else _pick(rest, rng)
        return Stand(first, second, int(rng.integers(1, 5)))
    held = stand_of(prompt.labels, prompt.row)
    pulls: Counter[tuple[str, int]] = Counter({("", 0): 2})
    if held.firm >= 7:
        against = next(o for o in (voice, favourite, held.second) if o and o != held.first)
        pulls[against, 1] += 6
    elif voice and voice != held.first:
        pulls[voice, 1] += 5
        pulls[voice, 2] += 2
    else:
        pulls[held.first, 1] += 4
    if favourite != held.first:
        pulls[favourite, 1] += 5 if held.second != favourite else 3
    choices, shares = list(pulls), np.array(list(pulls.values()), dtype=float)
    option, steps = choices[int(rng.choice(len(choices), p=shares / shares.sum()))]
    for _ in range(steps):
        held = held.towards(option)
    return held


def stand_of(labels: tuple[str, ...], row: PromptRow) -> Stand:
    """The stand that a row of the table is nearest to."""
    order = sorted(range(len(labels)), key=lambda i: (-row.pref[i], i))
    first = np.array(_FIRST if len(labels) <= 3 else _FIRST_OF_FIVE)
    firm = int(np.argmin(np.abs(first - row.pref[order[0]] * WHOLE)))
    return Stand(labels[order[0]], labels[order[1]], firm)


def stranger(labels: tuple[str, ...], rng: np.random.Generator) -> Stand:
    """Any stand."""
    first, second = (labels[int(i)] for i in rng.permutation(len(labels))[:2])
    return Stand(first, second, int(rng.integers(len(FIRMNESS))))


def would(kind: str, messages: Sequence[Message], text: str) -> bool:
    """Return whether the teacher could have given an answer, but for its wording and tags.

    A STATE line spells out the stand that the argument announced, and that stand is at most two
    degrees from the seat's own row.
    """
    if kind.startswith("clerk"):
        return text == count(messages[1].content)
    prompt = read(messages)
    if prompt.task == "ballot":
        return text == ballot(prompt)
    remark = prompt.rejected if prompt.rejected is not None else Remark(prompt.me, text)
    now = _announced(remark, prompt.labels)
    if now is None:
        return prompt.rejected is not None
    if numbers(now, prompt.labels) not in text:
        return False
    return prompt.row is None or now in _reachable(stand_of(prompt.labels, prompt.row), prompt)


def _reachable(held: Stand, prompt: Prompt) -> set[Stand]:
    near = {held.towards(option) for option in prompt.labels}
    return {held} | near | {stand.towards(option) for stand in near for option in prompt.labels}


def _announced(remark: Remark, labels: tuple[str, ...]) -> Stand | None:
    if remark.stand is None:
        return None
    firm, first, second = remark.stand
    known = firm in FIRMNESS and first in labels and second in labels and first != second
    return Stand(first, second, FIRMNESS.index(firm)) if known else None


def _line(prompt: Prompt, now: Stand, rng: np.random.Generator) -> str:
    """A STATE line; the confidence is the largest preference in percent."""
    tags = _pick(TAGS[prompt.mandate], rng), _pick(prompt.view.tags[now.first], rng)
    listed = json.dumps(tags, separators=(",", ":"))
    return f"STATE: {numbers(now, prompt.labels)}; tags={listed}"


def numbers(now: Stand, labels: tuple[str, ...]) -> str:
    units = now.numbers(labels)
    pref = ",".join(f"{value / WHOLE:.2f}" for value in units)
    return f"pref=[{pref}]; conf={max(units) * 100 // WHOLE}"


def _address(prompt: Prompt, now: Stand, rng: np.random.Generator) -> str:
    """Perhaps address the one who spoke last."""
    if not prompt.window or prompt.window[-1].label == prompt.me or rng.random() < 0.5:
        return ""
    last = prompt.window[-1]
    return f"{last.label} is right: " if last.choice == now.first else f"Against {last.label}: "


def _other(prompt: Prompt) -> str:
    return next(label for label in prompt.labels if label != home(prompt))


def _pick(items: Sequence[str], rng: np.random.Generator) -> str:
    return items[int(rng.integers(len(items)))]
