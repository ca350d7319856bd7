"""The screen, which rejects a wording or a layout that changes the content of a scenario.

It detects what patterns can detect: numbers, units, option labels and names, proper names, the
force of a constraint, and the endpoint. Only a judge can tell whether the meaning is the same.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from plenum.base import percent
from plenum.scenarios import (
    Scenario,
    Sentence,
    Variant,
    list_sentences,
    split_words,
    strip_list_marks,
)
from plenum_checks.wordings import amounts, facts, rules

LEAST_COMMON = 0.3
"""Share of content words that a wording of a constraint, case or endpoint must keep."""

_KEPT = ("constraints", "cases", "endpoint")
_FORCEFUL = ("constraints", "endpoint")
_BOUNDS = {"ceiling", "floor", "ban", "leave", "excess", "shortfall", "part"}
_BY_FORCE = {"at most", "at least", "over", "under"}
_FIXED = ("exactly one", "discrete decision")
_STATE = re.compile(r"STATE\s*:", re.IGNORECASE)
_ENUMERATION = r"\b[A-Z](?:(?:, (?:or |and )?|/| or | and )[A-Z])+\b"
_WAY_OUT = re.compile(r"\b(?:or|unless|except|if)\b", re.IGNORECASE)
_MUST = r"(?:must|shall|(?:has|have) to|(?:is|are) (?:required|obliged) to)"
_ASIDE = r"(?:,? (?:as|in|by way of) a single discrete decision,?)?"
_CHOICE = re.compile(
    rf"\b{_MUST}{_ASIDE} (?:adopt|choose|select|pick|take|decide on|give first priority to)"
    rf"{_ASIDE} exactly one of (?:{_ENUMERATION})"
    rf"|\b{_MUST} make a single discrete decision,? (?:adopting|choosing|selecting) exactly one of"
    rf" (?:{_ENUMERATION})"
    rf"|\bexactly one of (?:{_ENUMERATION}){_ASIDE} {_MUST} be"
    r" (?:adopted|chosen|selected|picked|taken|decided on|given first priority)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ScenarioFacts:
    """Facts of the whole scenario that the screen needs to judge a sentence."""

    labels: tuple[str, ...]
    options: tuple[str, ...]
    names: frozenset[str]


@lru_cache(maxsize=64)
def collect_facts(scenario: Scenario) -> ScenarioFacts:
    """Return option labels, option names, and words that are capitalised in mid-sentence."""
    texts = [scenario.title, *(sentence.text for sentence in list_sentences(scenario))]
    names = frozenset().union(*map(facts.list_names, texts))
    return ScenarioFacts(scenario.labels, tuple(option.name for option in scenario.options), names)


def wording(sentence: Sentence, way: str, of: ScenarioFacts) -> list[str]:
    """Return the changes of content that the wording of one sentence makes.

    Parameters
    ----------
    sentence
        The sentence as the scenario has it.
    way
        The other wording.
    of
        Facts of the scenario, by :func:`collect_facts`.

    Returns
    -------
    list of str
        Problems, each with a remedy; empty if the wording passes.
    """
    text = sentence.text
    problems = [*_list_written(text, way), *_numbers(text, way), *_labels(text, way, of)]
    ruled = sentence.field in _FORCEFUL or rules.force(text) & {"ceiling", "floor"}
    problems += _exactness(text, way, _BY_FORCE if ruled else set())
    problems += _names(text, way, of)
    if ruled:
        problems += _force(text, way)
        problems += _denial(rules.denies_more(text), rules.denies_more(way))
    if sentence.field in _KEPT:
        problems += _common(text, way)
    if sentence.field == "cases":
        problems += _denial(rules.denies(text), rules.denies(way))
    if sentence.field == "endpoint":
        problems += _endpoint(text, way)
    return problems


def layout(scenario: Scenario, packet: str) -> list[str]:
    """Return changes by a layout, which must keep the canonical words in their order."""
    problems = []
    if packet == scenario.packet:
        problems.append("it is the canonical packet; change its formatting")
    canonical, mine = _canonical(scenario)[0], split_words(packet)
    if canonical != mine:
        pairs = enumerate(zip([*canonical, "its end"], [*mine, "its end"], strict=False))
        place, (was, now) = next((i, p) for i, p in pairs if p[0] != p[1])
        problems.append(
            f"word {place + 1} is {now!r} and not {was!r}; keep the words in their order"
        )
    return problems + packet_problems(scenario, packet)


def screen(scenario: Scenario, variant: Variant) -> list[str]:
    """Return the changes that a whole variant makes; empty if it passes.

    A ``rephrase`` or ``register`` variant has passed :func:`wording` sentence by sentence.
    """
    if variant.family == "canonical":
        same = variant.packet == scenario.packet
        return [] if same else ["it isn't the packet of the scenario"]
    if variant.family == "format":
        return layout(scenario, variant.packet)
    problems = packet_problems(scenario, variant.packet)
    if split_words(variant.packet) == _canonical(scenario)[0]:
        problems.append("it has the canonical wording; reword at least half of the sentences")
    return problems


def packet_problems(scenario: Scenario, packet: str) -> list[str]:
    """Return what a whole packet lacks: a number, an option in its place, or safe text."""
    problems = []
    if _STATE.search(packet):
        problems.append("it holds 'STATE:'; write that in another way")
    text = strip_list_marks(packet)
    was, now = _canonical(scenario)[1], amounts.numbers(text)
    if was != now:
        problems.append(_differ("numbers", was, now))
    place = 0
    for option in scenario.options:
        name = r"\W+".join(map(re.escape, re.findall(r"\w+", option.name)))
        line = re.compile(rf"^\W*{option.label}\b\W+(?i:{name})\b", re.MULTILINE)
        match = line.search(text, place)
        if match is None:
            problems.append(
                f"option {option.label}, {option.name!r}, isn't in its place; put it there"
            )
        else:
            place = match.end()
    return problems


@lru_cache(maxsize=64)
def _canonical(scenario: Scenario) -> tuple[list[str], Counter[amounts.Number]]:
    """Return the words and the numbers of the canonical packet."""
    return split_words(scenario.packet), amounts.numbers(strip_list_marks(scenario.packet))


def _list_written(text: str, way: str) -> Iterator[str]:
    if _STATE.search(way):
        yield "it holds 'STATE:'; write that in another way"
    if not re.match(r"[A-Z0-9]", way):
        yield "it doesn't begin with a capital or a digit; begin it so"
    if way[-1:] != text[-1:]:
        yield f"it ends with {way[-1:]!r}; end it with {text[-1:]!r} as the sentence does"
    if re.search(r"[*_#|<>]", way):
        yield "it holds a formatting mark; leave formatting to the layouts"


def _numbers(text: str, way: str) -> Iterator[str]:
    was, now = amounts.numbers(text), amounts.numbers(way)
    if was != now:
        yield _differ("numbers", was, now)
        return
    pairs, way_pairs = amounts.quantities(text), amounts.quantities(way)
    units = {unit for _, unit in pairs}
    # "38 percent under A, 56 under B" may become "56 percent under B", a known unit's repetition
    strange = Counter({pair: n for pair, n in (way_pairs - pairs).items() if pair[1] not in units})
    if pairs - way_pairs or strange:
        yield _differ("amounts with their units", pairs - way_pairs, strange)
    for what, find in (("currencies", amounts.currencies), ("periods", amounts.periods)):
        if find(text) != find(way):
            yield _differ(what, Counter(find(text)), Counter(find(way)))


def _exactness(text: str, way: str, apart: set[str]) -> Iterator[str]:
    """Compare bounds and approximations of numbers, except those that :func:`_force` compares."""
    was, now = (
        Counter({pair: n for pair, n in amounts.bounds(t).items() if pair[0] not in apart})
        for t in (text, way)
    )
    if was != now:
        yield _differ("bounds of numbers", was, now)


def _labels(text: str, way: str, of: ScenarioFacts) -> Iterator[str]:
    was, now = facts.labels(text, of.labels), facts.labels(way, of.labels)
    if was != now:
        yield _differ("option labels", was, now)
        return
    # Each number has to stay next to its option's label, on one side of all labels.
    sides = facts.split_numbers(way, of.labels)
    stated = facts.select_sides(facts.split_numbers(text, of.labels))
    if stated and not any(all(was[k] & now[k] for k in was) for was in stated for now in sides):
        yield "its numbers stand by other options; put each by its option, all before or all after"


def _names(text: str, way: str, of: ScenarioFacts) -> Iterator[str]:
    was, now = (Counter(n for n in of.options if _holds(t, n)) for t in (text, way))
    if was != now:
        yield _differ("option names", was, now)
    before, after = facts.words(text), facts.words(way)
    had = Counter(before & of.names)
    has = Counter((after & of.names) | (facts.list_names(way) - before))
    if had != has:
        yield _differ("names", had, has)


def _holds(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def _force(text: str, way: str) -> Iterator[str]:
    was, now = rules.force(text), rules.force(way)
    if was & _BOUNDS != now & _BOUNDS:
        forces = [" and ".join(sorted(f & _BOUNDS)) or "no bound" for f in (was, now)]
        yield f"its force is {forces[1]} and not {forces[0]}; keep the force of the rule"
    elif not was & _BOUNDS and "duty" in was - now:
        yield "the duty is lost; say that it must be done"


def _common(text: str, way: str) -> Iterator[str]:
    content = facts.stems(text)
    kept = content & facts.stems(way)
    if content and len(kept) < LEAST_COMMON * len(content):
        share = f"{len(kept)} of {len(content)}"
        yield f"it keeps {share} content words; keep at least {percent(LEAST_COMMON)} of them"


def _denial(was: bool, now: bool) -> Iterator[str]:
    if was != now:
        change = "added" if now else "lost"
        yield f"a denial is {change}; deny what the sentence denies, and nothing else"


def _endpoint(text: str, way: str) -> Iterator[str]:
    enumerated = max(re.findall(_ENUMERATION, text), key=len, default="")
    if enumerated not in way:
        yield f"the labels aren't enumerated as in the scenario; write {enumerated!r}"
    for phrase in _FIXED:
        if phrase in text.lower() and phrase not in way.lower():
            yield f"{phrase!r} is lost; keep these words"
    if _CHOICE.search(text) and not _CHOICE.search(way):
        duty = f"must adopt exactly one of {enumerated}"
        yield f"it doesn't say that one must be adopted; write {duty!r}"
    was, now = (Counter(_WAY_OUT.findall(t.replace(enumerated, ""))) for t in (text, way))
    if was != now:
        yield _differ("ways out of the choice", was, now)


def _differ(what: str, was: Counter[Any], now: Counter[Any]) -> str:
    lost, added = _list(was - now), _list(now - was)
    changes = [f"{verb} {which}" for verb, which in (("lacks", lost), ("adds", added)) if which]
    return f"{what} differ: it {' and '.join(changes)}; keep them as they are"


def _list(values: Counter[Any]) -> str:
    return ", ".join(_format(fact) for fact in values.elements())


def _format(fact: Any) -> str:
    if isinstance(fact, tuple):
        return " ".join(map(_format, fact))
    return f"{fact:,g}" if isinstance(fact, float) else str(fact)
