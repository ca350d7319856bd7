"""Load and check the wordings of a scenario's sentences; ``docs/perturbations.md`` has the format.

``scenarios/variants/<ID>.yaml`` holds two or more ways to say each sentence, and which ways a
rephrasing combines; ``scenarios/variants/<ID>.registers.yaml`` holds each sentence in each
register.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from plenum.base.errors import UserError
from plenum.scenarios import Scenario, screen
from plenum.scenarios.sentences import Sentence, reworded, sentences
from plenum.scenarios.variant import Variant

REGISTERS = ("formal", "conversational", "legalistic", "passive", "synonym")
"""The registers besides the canonical wording (section S4.2)."""

REPHRASINGS = 10
"""Rephrasings of a scenario."""

LEAST_WAYS = 2


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML that refuses a key that stands twice; in C where there is such a parser."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.YAMLError(f"the key {key} stands twice")
        found: dict[Any, Any] = super().construct_mapping(node, deep)
        return found


@dataclass(frozen=True)
class Problem:
    """What is wrong with a wording.

    ``place`` says where, such as ``sentence 3, way 1``; ``told`` says what, and what would mend it.
    """

    path: Path
    place: str
    told: str

    def __str__(self) -> str:
        return f"{self.path}, {self.place}: {self.told}"


@dataclass(frozen=True)
class Wordings:
    """The wordings that a file holds.

    Parameters
    ----------
    path
        The file.
    sentences
        The scenario's sentences as the file repeats them.
    ways
        For each sentence its other wordings, by what the file calls them.
    rephrasings
        Strings of digits, one a sentence: 0 for the sentence itself, 1 for its first way.
    """

    path: Path
    sentences: tuple[str, ...]
    ways: tuple[dict[str, str], ...]
    rephrasings: tuple[str, ...] = ()


def ways_file(folder: Path, scenario: Scenario) -> Path:
    """Where a scenario's ways and rephrasings lie."""
    return folder / f"{scenario.id}.yaml"


def registers_file(folder: Path, scenario: Scenario) -> Path:
    """Where a scenario's registers lie."""
    return folder / f"{scenario.id}.registers.yaml"


def read_ways(path: Path, scenario: Scenario) -> Wordings:
    """Read the ways of a scenario's sentences.

    Raises
    ------
    UserError
        The file can't be read, or isn't of the format.
    """
    data = _read(path, scenario, ("scenario", "sentences", "rephrasings"))
    texts, ways = [], []
    for number, entry in _entries(path, data, ("sentence", "ways")):
        listed = entry["ways"]
        if not isinstance(listed, list) or len(listed) < LEAST_WAYS:
            mend = f"write at least {LEAST_WAYS} wordings as a list"
            raise _refuse(path, f"sentence {number}", f"its ways are {listed!r}; {mend}")
        texts.append(_text(path, number, "sentence", entry["sentence"]))
        named = {f"way {w}": _text(path, number, f"way {w}", t) for w, t in enumerate(listed, 1)}
        ways.append(named)
    rephrasings = data.get("rephrasings", [])
    if not isinstance(rephrasings, list) or not all(isinstance(r, str) for r in rephrasings):
        raise _refuse(path, "rephrasings", "they are no list of texts; put each in quotes")
    return Wordings(path, tuple(texts), tuple(ways), tuple(rephrasings))


def read_registers(path: Path, scenario: Scenario) -> Wordings:
    """Read a scenario's sentences in each register.

    Raises
    ------
    UserError
        The file can't be read, or isn't of the format.
    """
    data = _read(path, scenario, ("scenario", "sentences"))
    texts, ways = [], []
    for number, entry in _entries(path, data, ("sentence", *REGISTERS)):
        texts.append(_text(path, number, "sentence", entry["sentence"]))
        ways.append({name: _text(path, number, name, entry[name]) for name in REGISTERS})
    return Wordings(path, tuple(texts), tuple(ways))


def problems(wordings: Wordings, scenario: Scenario) -> Iterator[Problem]:
    """What is wrong with wordings, sentence by sentence: none where they pass."""
    known, registers = screen.known(scenario), set(wordings.ways[0]) == set(REGISTERS)
    expected = sentences(scenario)
    for number, (sentence, text) in enumerate(zip(expected, wordings.sentences, strict=False), 1):
        place = f"sentence {number}"
        if text != sentence.text:
            told = f"the scenario has changed: it says {sentence.text!r} and the file {text!r}"
            yield Problem(wordings.path, place, f"{told}; write the sentence and its ways anew")
            continue
        ways = wordings.ways[number - 1]
        if not registers:
            yield from _alike(wordings.path, place, sentence, ways)
        for name, way in ways.items():
            for told in screen.wording(sentence, way, known):
                yield Problem(wordings.path, f"{place}, {name}", told)
    if len(wordings.sentences) != len(expected):
        told = f"the file has {len(wordings.sentences)} and the scenario has {len(expected)}"
        yield Problem(wordings.path, "sentences", f"{told}; write one entry a sentence, in order")
    elif registers:
        yield from _hardly_changed(wordings)
    else:
        yield from _combinations(wordings)


def rephrased(wordings: Wordings, scenario: Scenario) -> tuple[Variant, ...]:
    """The rephrasings that a file documents, as variants."""
    texts = [(text, *ways.values()) for text, ways in zip(*_columns(wordings), strict=True)]
    return tuple(
        _variant(scenario, f"rephrase{number:02d}", "rephrase", said)
        for number, digits in enumerate(wordings.rephrasings, start=1)
        for said in [[ways[int(digit)] for ways, digit in zip(texts, digits, strict=True)]]
    )


def registers(wordings: Wordings, scenario: Scenario) -> tuple[Variant, ...]:
    """The registers, as variants."""
    return tuple(
        _variant(scenario, f"register_{name}", "register", [ways[name] for ways in wordings.ways])
        for name in REGISTERS
    )


def _columns(wordings: Wordings) -> tuple[tuple[str, ...], tuple[dict[str, str], ...]]:
    return wordings.sentences, wordings.ways


def _variant(scenario: Scenario, name: str, family: str, texts: Sequence[str]) -> Variant:
    return Variant(name, family, reworded(scenario, texts).packet)


def _alike(path: Path, place: str, sentence: Sentence, ways: dict[str, str]) -> Iterator[Problem]:
    """Ways that say the same as the sentence, or as one another, but for one word."""
    said = {"the sentence": screen.plain(sentence.text)}
    for name, way in ways.items():
        words = screen.plain(way)
        for other, others in said.items():
            apart = sum(a != b for a, b in zip(words, others, strict=False))
            if len(words) == len(others) and apart < 2:
                told = f"it is {other} but for {apart or 'no'} word; change more than one"
                yield Problem(path, f"{place}, {name}", told)
        said[name] = words


def _combinations(wordings: Wordings) -> Iterator[Problem]:
    count = len(wordings.sentences)
    if wordings.rephrasings and len(wordings.rephrasings) != REPHRASINGS:
        told = f"there are {len(wordings.rephrasings)}; write {REPHRASINGS}"
        yield Problem(wordings.path, "rephrasings", told)
    for number, digits in enumerate(wordings.rephrasings, start=1):
        told = ""
        if len(digits) != count:
            told = f"it has {len(digits)} digits; write one for each of the {count} sentences"
        elif bad := [
            place
            for place, (digit, ways) in enumerate(zip(digits, wordings.ways, strict=True), 1)
            if digit not in "0123456789"[: len(ways) + 1]
        ]:
            told = f"digit {bad[0]} is {digits[bad[0] - 1]!r}; sentence {bad[0]} has "
            told += f"{len(wordings.ways[bad[0] - 1])} ways, and 0 is the sentence itself"
        elif 2 * digits.count("0") > count:
            told = f"it changes {count - digits.count('0')} of {count} sentences; change half"
        elif digits in wordings.rephrasings[: number - 1]:
            told = "it stands twice; write another combination"
        if told:
            yield Problem(wordings.path, f"rephrasing {number}", told)


def _hardly_changed(wordings: Wordings) -> Iterator[Problem]:
    for name in REGISTERS:
        pairs = zip(*_columns(wordings), strict=True)
        changed = sum(screen.plain(text) != screen.plain(ways[name]) for text, ways in pairs)
        if 2 * changed < len(wordings.sentences):
            told = f"it changes {changed} of {len(wordings.sentences)} sentences; change half"
            yield Problem(wordings.path, f"register {name}", told)


def _read(path: Path, scenario: Scenario, keys: tuple[str, ...]) -> Mapping[str, Any]:
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except FileNotFoundError:
        raise UserError(f"variants file {path} does not exist") from None
    except RecursionError:
        raise UserError(f"variants file {path} can't be read as YAML: nested too deeply") from None
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UserError(f"variants file {path} can't be read as YAML: {error}") from None
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
    listed = data["sentences"]
    if not isinstance(listed, list) or not listed:
        raise _refuse(path, "sentences", "it is no list; write one entry a sentence")
    for number, entry in enumerate(listed, start=1):
        if not isinstance(entry, Mapping) or set(entry) != set(keys):
            mend = f"give it {', '.join(keys)} and nothing else"
            raise _refuse(path, f"sentence {number}", f"malformed; {mend}")
        yield number, entry


def _text(path: Path, number: int, name: str, text: Any) -> str:
    if not isinstance(text, str) or not text.strip():
        place = f"sentence {number}" if name == "sentence" else f"sentence {number}, {name}"
        raise _refuse(path, place, f"{text!r} is no text; put it in quotes")
    return " ".join(text.split())


def _refuse(path: Path, place: str, problem: str) -> UserError:
    return UserError(str(Problem(path, place, problem)))
