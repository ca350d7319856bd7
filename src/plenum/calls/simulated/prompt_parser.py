"""Parsing of a prompt from its text alone, as a model would have to."""

import json
import re
from dataclasses import dataclass, replace
from functools import lru_cache

from plenum.calls.chat import Chat

# The packet may stand in another layout: its lines begin and end with all kinds of marks.
_OPTIONS = re.compile(r"^\W*options\W*$", re.MULTILINE | re.IGNORECASE)
_OPTION = re.compile(r"^[^\w\n]*([A-Z])[.)] +([^:|\n]+?)(?::\**| \|)\s+\"?(.+)$", re.MULTILINE)
_BARE_OPTION = re.compile(r"^([A-Z])\. (.+)$", re.MULTILINE)
"""An option without a description, in packets that stand word for word."""
_OWN_FACTS = re.compile(r"^Facts that only you know:((?:\n- .+)+)", re.MULTILINE)
_MARKER = re.compile(r"^\W*(?:\d+\. )?")
"""The mark of a list before an item: a dash, a bullet, or a number with a point."""
_WORDS = re.compile(r"at most (\d+) words")


@dataclass(frozen=True)
class ScenarioSection:
    """The scenario section: its whole text, its options and its quotable sentences."""

    text: str
    labels: tuple[str, ...]
    names: tuple[str, ...]
    numbers: tuple[str, ...]
    cases: tuple[str, ...]


@dataclass(frozen=True)
class PromptRow:
    """A row of the committee table; ``pref`` is empty before the seat's first turn."""

    pref: tuple[float, ...]
    conf: float


@dataclass(frozen=True)
class Prompt:
    """Everything a seat reads."""

    case: ScenarioSection
    mandate: str
    words: int
    me: str
    arguments: tuple[tuple[str, str], ...]
    table: dict[str, PromptRow]
    task: str
    reasoned: bool = False
    """True if a ballot is to give its reasons."""


def read_sections(chat: Chat) -> Prompt:
    """Take a turn's or ballot's prompt apart."""
    system, user = chat.messages[0].content, chat.messages[1].content
    sections = dict(_split(section) for section in user.removeprefix("## ").split("\n\n## "))
    task = "ballot" if "Private ballot" in sections else "turn"
    instruction = sections["Private ballot" if task == "ballot" else "Your turn"]
    me = instruction.partition("You are ")[2].partition(".")[0]
    case = _parse_case(sections["Scenario"])
    if known := _OWN_FACTS.search(system):
        own = tuple(line.removeprefix("- ") for line in known[1].strip().splitlines())
        case = replace(case, numbers=own)
    return Prompt(
        case=case,
        mandate=system.rpartition("\nYour mandate: ")[2] if "\nYour mandate: " in system else "",
        words=_read_word_limit(system),
        me=me,
        arguments=read_arguments(sections["Recent arguments"]),
        table=read_rows(sections["Committee table"], len(case.labels)),
        task=task,
    )


def _split(section: str) -> tuple[str, str]:
    head, _, body = section.partition("\n")
    return head, body


# The packet returns in every prompt of a scenario, and its patterns are slow.
@lru_cache(maxsize=64)
def _parse_case(text: str) -> ScenarioSection:
    head = _OPTIONS.search(text)
    listed = text[head.start() :] if head else text
    options = [(label, name) for label, name, _ in _OPTION.findall(listed)]
    bare = _BARE_OPTION.findall(listed)
    # A bare option may hold a colon, too: the form by which more are found is the packet's.
    options = bare if len(bare) > len(options) else options
    return ScenarioSection(
        text=text,
        labels=tuple(label for label, _ in options),
        names=tuple(name for _, name in options),
        # Agents quote a fact: of a packet without any the case itself.
        numbers=_list_bullets(text, "Numbers") or ("the case",),
        cases=_list_bullets(text, "Cases"),
    )


def _list_bullets(text: str, head: str) -> tuple[str, ...]:
    """List the items under a heading, up to the next paragraph that holds words."""
    block = re.search(
        rf"^\W*{head}\W*\n(.+?)(?=\n\n[^\n]*[^\W\d]|\Z)", text, re.MULTILINE | re.I | re.DOTALL
    )
    lines = block[1].strip().splitlines() if block else []
    return tuple(_MARKER.sub("", line).strip('"') for line in lines if line.strip())


# One preamble serves a whole condition.
@lru_cache(maxsize=64)
def _read_word_limit(system: str) -> int:
    match = _WORDS.search(system)
    # The usual length, where a preamble names none.
    return int(match[1]) if match else 110


def read_arguments(text: str) -> tuple[tuple[str, str], ...]:
    """List the window's arguments, each with its speaker's label."""
    pairs = []
    for line in text.splitlines():
        label, colon, quoted = line.partition(": ")
        if colon:
            pairs.append((label, json.loads(quoted)))
    return tuple(pairs)


def read_rows(text: str, options: int) -> dict[str, PromptRow]:
    """Read the committee table's rows by label, under its line of heads."""
    rows = {}
    for line in text.splitlines()[1:]:
        label, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        if cells[0] == "-":
            rows[label] = PromptRow((), 0.0)
        else:
            pref = tuple(float(cell) for cell in cells[:options])
            rows[label] = PromptRow(pref, float(cells[options]))
    return rows
