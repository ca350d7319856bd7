"""Load and check the wordings of a scenario's sentences; ``docs/perturbations.md`` has the format.

``scenarios/variants/<ID>.yaml`` holds two or more ways to say each sentence, and which ways a
rephrasing combines; ``scenarios/variants/<ID>.registers.yaml`` holds each sentence in each
register.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum.base.yaml_files import read_yaml
from plenum.scenarios.scenario import Scenario
from plenum.scenarios.sentences import Sentence, list_sentences, replace_sentences
from plenum.scenarios.variant import Variant
from plenum.scenarios.wording_checks import check_wording

REGISTERS = ("formal", "conversational", "legalistic", "passive", "synonym")
"""The registers besides the canonical wording (section S4.2)."""

REPHRASINGS = 10
"""Rephrasings of a scenario."""

LEAST_WAYS = 2

_KEYS = {
    "rephrase": ("scenario", "sentences", "rephrasings"),
    "register": ("scenario", "sentences"),
}
_ENTRY = {"rephrase": ("sentence", "ways"), "register": ("sentence", *REGISTERS)}


@dataclass(frozen=True)
class Problem:
    """A problem with a wording.

    ``place`` says where, such as ``sentence 3, way 1``; ``message`` says what, and what would mend
    it.
    """

    path: Path
    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}, {self.place}: {self.message}"


@dataclass(frozen=True)
class Wordings:
    """The wordings that a file holds.

    Parameters
    ----------
    path
        The file.
    family
        ``rephrase`` or ``register``.
    sentences
        The scenario's sentences as the file repeats them.
    ways
        For each sentence its other wordings, by what the file calls them.
    rephrasings
        Strings of digits, one a sentence: 0 for the sentence itself, 1 for its first way.
    """

    path: Path
    family: str
    sentences: tuple[str, ...]
    ways: tuple[dict[str, str], ...]
    rephrasings: tuple[str, ...] = ()


def wordings_file(folder: Path, scenario: Scenario, family: str) -> Path:
    """Return the path of a scenario's ways and rephrasings, or of its registers."""
    return folder / f"{scenario.id}{'.registers' if family == 'register' else ''}.yaml"


def read_wordings(path: Path, scenario: Scenario, family: str = "rephrase") -> Wordings:
    """Read the ways of a scenario's sentences, or its sentences in each register.

    Parameters
    ----------
    family
        ``rephrase`` or ``register``.

    Raises
    ------
    UserError
        The file can't be read, or isn't of the format.
    """
    data = _mapping(path, scenario, _KEYS[family])
    texts, ways = [], []
    for number, entry in _entries(path, data, _ENTRY[family]):
        named = {name: text for name, text in entry.items() if name != "sentence"}
        if family == "rephrase":
            named = _number(path, number, entry["ways"])
        texts.append(_text(path, number, "sentence", entry["sentence"]))
        ways.append({name: _text(path, number, name, text) for name, text in named.items()})
    rephrasings = data.get("rephrasings", [])
    if not isinstance(rephrasings, list) or not all(isinstance(r, str) for r in rephrasings):
        raise _refuse(path, "rephrasings", "they are no list of texts; put each in quotes")
    return Wordings(path, family, tuple(texts), tuple(ways), tuple(rephrasings))


def find_problems(wordings: Wordings, scenario: Scenario) -> Iterator[Problem]:
    """Yield problems with wordings, sentence by sentence; none if they pass."""
    registers, labels = wordings.family == "register", "".join(scenario.labels)
    expected = list_sentences(scenario)
    for number, (sentence, text) in enumerate(zip(expected, wordings.sentences, strict=False), 1):
        place = f"sentence {number}"
        if text != sentence.text:
            message = f"the scenario has changed: it says {sentence.text!r} and the file {text!r}"
            yield Problem(wordings.path, place, f"{message}; write the sentence and its ways anew")
            continue
        ways = wordings.ways[number - 1]
        if not registers:
            yield from _alike(wordings.path, place, sentence, ways)
        for name, way in ways.items():
            for message in check_wording(sentence, way, labels):
                yield Problem(wordings.path, f"{place}, {name}", message)
    if len(wordings.sentences) != len(expected):
        message = f"the file has {len(wordings.sentences)} and the scenario has {len(expected)}"
        yield Problem(
            wordings.path, "sentences", f"{message}; write one entry a sentence, in order"
        )
    elif registers:
        yield from _hardly_changed(wordings)
    else:
        yield from _combinations(wordings)


def make_variants(wordings: Wordings, scenario: Scenario) -> tuple[Variant, ...]:
    """Make variants from the rephrasings or registers that a file holds."""
    if wordings.family == "register":
        texts = {f"register_{name}": [ways[name] for ways in wordings.ways] for name in REGISTERS}
    else:
        pairs = zip(wordings.sentences, wordings.ways, strict=True)
        choices = [(text, *ways.values()) for text, ways in pairs]
        texts = {
            f"rephrase{number:02d}": [
                ways[int(digit)] for ways, digit in zip(choices, digits, strict=True)
            ]
            for number, digits in enumerate(wordings.rephrasings, start=1)
        }
    return tuple(
        Variant(name, wordings.family, replace_sentences(scenario, reworded_texts).packet)
        for name, reworded_texts in texts.items()
    )


def _alike(path: Path, place: str, sentence: Sentence, ways: dict[str, str]) -> Iterator[Problem]:
    """Yield ways that differ from the sentence, or from one another, by at most one word."""
    texts = {"the sentence": _split_words(sentence.text)}
    for name, way in ways.items():
        words = _split_words(way)
        for other, other_words in texts.items():
            apart = sum(a != b for a, b in zip(words, other_words, strict=False))
            if len(words) == len(other_words) and apart < 2:
                message = f"it is {other} but for {apart or 'no'} word; change more than one"
                yield Problem(path, f"{place}, {name}", message)
        texts[name] = words


def _combinations(wordings: Wordings) -> Iterator[Problem]:
    count = len(wordings.sentences)
    if wordings.rephrasings and len(wordings.rephrasings) != REPHRASINGS:
        message = f"there are {len(wordings.rephrasings)}; write {REPHRASINGS}"
        yield Problem(wordings.path, "rephrasings", message)
    for number, digits in enumerate(wordings.rephrasings, start=1):
        message = ""
        if len(digits) != count:
            message = f"it has {len(digits)} digits; write one for each of the {count} sentences"
        elif bad := [
            place
            for place, (digit, ways) in enumerate(zip(digits, wordings.ways, strict=True), 1)
            if digit not in "0123456789"[: len(ways) + 1]
        ]:
            message = f"digit {bad[0]} is {digits[bad[0] - 1]!r}; sentence {bad[0]} has "
            message += f"{len(wordings.ways[bad[0] - 1])} ways, and 0 is the sentence itself"
        elif 2 * digits.count("0") > count:
            message = f"it changes {count - digits.count('0')} of {count} sentences; change half"
        elif digits in wordings.rephrasings[: number - 1]:
            message = "it stands twice; write another combination"
        if message:
            yield Problem(wordings.path, f"rephrasing {number}", message)


def _split_words(text: str) -> list[str]:
    return re.findall(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[+%$€£]", text.lower())


def _hardly_changed(wordings: Wordings) -> Iterator[Problem]:
    for name in REGISTERS:
        pairs = zip(wordings.sentences, wordings.ways, strict=True)
        changed = sum(_split_words(text) != _split_words(ways[name]) for text, ways in pairs)
        if 2 * changed < len(wordings.sentences):
            message = f"it changes {changed} of {len(wordings.sentences)} sentences; change half"
            yield Problem(wordings.path, f"register {name}", message)


def _mapping(path: Path, scenario: Scenario, keys: tuple[str, ...]) -> Mapping[str, Any]:
    data = read_yaml(path, "variants file")
    if not isinstance(data, Mapping):
        raise UserError(f"variants file {path}: it is no mapping; give it {', '.join(keys)}")
    for key in data:
        if key not in keys:
            raise _refuse(path, str(key), f"unknown; the keys are {', '.join(keys)}")
    for key in ("scenario", "sentences"):
        if key not in data:
            raise _refuse(path, key, "missing; add it")
    if data["scenario"] != scenario.id:
        raise _refuse(path, "scenario", f"{data['scenario']!r}; write {scenario.id}")
    return data


def _entries(
    path: Path, data: Mapping[str, Any], keys: tuple[str, ...]
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    entries = data["sentences"]
    if not isinstance(entries, list) or not entries:
        raise _refuse(path, "sentences", "it is no list; write one entry a sentence")
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, Mapping) or set(entry) != set(keys):
            mend = f"give it {', '.join(keys)} and nothing else"
            raise _refuse(path, f"sentence {number}", f"malformed; {mend}")
        yield number, entry


def _number(path: Path, number: int, ways: Any) -> dict[str, Any]:
    """Name the listed ways of a sentence as messages call them."""
    if not isinstance(ways, list) or len(ways) < LEAST_WAYS:
        mend = f"write at least {LEAST_WAYS} wordings as a list"
        raise _refuse(path, f"sentence {number}", f"its ways are {ways!r}; {mend}")
    return {f"way {n}": text for n, text in enumerate(ways, start=1)}


def _text(path: Path, number: int, name: str, text: Any) -> str:
    if not isinstance(text, str) or not text.strip():
        place = f"sentence {number}" if name == "sentence" else f"sentence {number}, {name}"
        raise _refuse(path, place, f"{text!r} is no text; put it in quotes")
    return " ".join(text.split())


def _refuse(path: Path, place: str, problem: str) -> UserError:
    return UserError(str(Problem(path, place, problem)))
