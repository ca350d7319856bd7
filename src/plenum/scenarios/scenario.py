"""Load and check the policy scenarios.

A scenario is a YAML file; ``docs/scenarios.md`` describes its fields. The check names the file,
the field and what would mend it.
"""

import re
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum.base.identity import digest
from plenum.base.yaml_files import read_yaml

KINDS = ("choice", "allocation")
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
"""The pattern of ids."""

_TEXTS = ("id", "title", "domain", "type", "question", "situation", "endpoint")
LISTS = ("affected", "numbers", "constraints", "cases")
_FIELDS = (*_TEXTS, *LISTS, "options")
_WHOLE = ("id", "title", "domain", "type", "question", "options", "packet")
"""Fields of a scenario whose whole packet is given word for word."""
_MORE = ("edition", "labels", "answer", "private")
"""Fields that a scenario may have or not."""

_LABEL = r"(?<![A-Za-z])[A-Z](?![A-Za-z])"
_BETWEEN = r"\s*(?:[,、，;/]\s*)?(?:[^\W\d_A-Z]{1,5}\s*)?(?:[ld]['’])?(?:[Oo]p[ctz]\w+\s+)?"
_ENUMERATION = re.compile(rf"{_LABEL}(?:{_BETWEEN}{_LABEL})+")


@dataclass(frozen=True)
class Option:
    """One option of a scenario."""

    label: str
    name: str
    description: str


@dataclass(frozen=True)
class Scenario:
    """A policy case with two to twenty-six options and one discrete endpoint."""

    id: str
    title: str
    domain: str
    type: str
    question: str
    situation: str
    affected: tuple[str, ...]
    numbers: tuple[str, ...]
    constraints: tuple[str, ...]
    cases: tuple[str, ...]
    options: tuple[Option, ...]
    endpoint: str
    wording: str | None = None
    """The whole packet, if it isn't made of the fields: another wording, or a given text."""
    edition: str = ""
    """A text that distinguishes the scenario from others with its id."""
    named: str = ""
    """The name that prompts use for the scenario instead of its id."""
    answer: str = ""
    """The label of the right option, which no prompt shows; empty where none is known."""
    private: tuple[tuple[str | int, tuple[str, ...]], ...] = ()
    """Facts that a seat alone reads, by its name, or its number from 1."""

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The option labels, ``A`` first."""
        return tuple(option.label for option in self.options)

    @cached_property
    def packet(self) -> str:
        """The scenario as every member of the committee reads it."""
        if self.wording is not None:
            return self.wording
        parts = [
            f"{self.id}: {self.title}",
            f"Domain: {self.domain}",
            f"Situation: {self.situation}",
            _bullets("Who is affected", self.affected),
            _bullets("Numbers", self.numbers),
            _bullets("Constraints", self.constraints),
            _bullets("Cases", self.cases),
            "Options:\n" + "\n".join(f"{o.label}. {o.name}: {o.description}" for o in self.options),
            f"Decision question: {self.question}",
            f"Endpoint: {self.endpoint}",
        ]
        if self.type == "allocation":
            parts.append(
                "Preferences are shares of the fund; the decision is the option that comes first."
            )
        return "\n\n".join(parts)

    @property
    def digest(self) -> str:
        """The digest of the packet: two scenarios with equal digests read the same."""
        return digest(self.packet)


def _bullets(head: str, items: tuple[str, ...]) -> str:
    return f"{head}:\n" + "\n".join(f"- {item}" for item in items)


def load_scenario(path: Path) -> Scenario:
    """Read and check one scenario file.

    Raises
    ------
    UserError
        The file can't be read or a field is missing, unknown, empty or inconsistent.
    """
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        changed = 0
    return _load(path, changed)


@lru_cache(maxsize=256)
def _load(path: Path, changed: int) -> Scenario:
    """Load a scenario as its file was at a time; cached, since a sweep reads each many times."""
    return check_scenario(read_yaml(path, "scenario file"), path)


def check_scenario(data: Any, path: Path) -> Scenario:
    """Check a file's data and make its scenario.

    Raises
    ------
    UserError
        A field is missing, unknown, empty or inconsistent; the line names all of them.
    """
    if not isinstance(data, Mapping):
        raise UserError(f"scenario file {path}: it is no mapping; give it the fields {_FIELDS}")
    wrong = list(_mistakes(data))
    if len(wrong) == 1:
        raise UserError(f"scenario file {path}, {wrong[0]}")
    if wrong:
        numbered = "; ".join(f"({n}) {mistake}" for n, mistake in enumerate(wrong, 1))
        raise UserError(f"scenario file {path}, {len(wrong)} mistakes: {numbered}")
    fields: dict[str, Any] = {field: " ".join(data.get(field, "").split()) for field in _TEXTS}
    for field in LISTS:
        fields[field] = tuple(" ".join(item.split()) for item in data.get(field, ()))
    fields |= {"wording": data.get("packet"), "edition": data.get("edition", "")}
    fields["answer"] = data.get("answer", "")
    fields["private"] = tuple(
        (seat, tuple(" ".join(fact.split()) for fact in facts))
        for seat, facts in data.get("private", {}).items()
    )
    options = tuple(
        Option(label, *(" ".join(entry[key].split()) for key in ("name", "description")))
        for label, entry in data["options"].items()
    )
    return Scenario(**fields, options=options)


def _mistakes(data: Mapping[Any, Any]) -> Iterator[str]:
    """Yield all mistakes in a scenario, one line each: field, problem, and how to mend it."""
    fields = _WHOLE if "packet" in data else _FIELDS
    for field in data:
        if field not in (*fields, *_MORE):
            yield f"field {field}: unknown; the fields are {', '.join(fields)}"
    for field in fields:
        if field not in data:
            yield f"field {field}: missing; add it"
        elif re.search(r"STATE\s*:", str(data[field])):
            yield f"field {field}: it holds 'STATE:'; write that in another way"
    for field in (*_TEXTS, "packet", "edition"):
        if field in data and not _is_text(data[field]):
            yield f"field {field}: {data[field]!r} is no text; write it as a non-empty text"
        elif field in data:
            yield from _word_mistakes(field, data[field])
    for field in LISTS:
        if field in data:
            yield from _list_mistakes(field, data[field])
    if "options" in data:
        yield from _option_mistakes(data["options"])
        labels = [str(o) for o in data["options"]] if isinstance(data["options"], Mapping) else []
        if "labels" in data and data["labels"] != labels:
            yield f"field labels: {data['labels']!r}; list those of the options: {labels}"
        elif "labels" not in data and labels and _is_text(data.get("endpoint")):
            yield from _endpoint_mistakes(data["endpoint"], labels)
        if "answer" in data and data["answer"] not in labels:
            yield f"field answer: {data['answer']!r}; it is one of {', '.join(labels)}"
    if "private" in data:
        yield from _private_mistakes(data["private"])


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _word_mistakes(field: str, text: str) -> Iterator[str]:
    if field in ("id", "edition") and not re.fullmatch(NAME, text):
        yield f"field {field}: {text!r}; use letters, digits, '.', '_' and '-'"
    if field == "type" and text not in KINDS:
        yield f"field type: {text!r}; it is one of {', '.join(KINDS)}"


def _list_mistakes(field: str, items: Any) -> Iterator[str]:
    if not isinstance(items, list) or not items:
        yield f"field {field}: it is no list; write one sentence an item, at least one"
        return
    for item in items:
        if not _is_text(item):
            yield f"field {field}: {item!r} is no text; put the sentence in quotes"


def _private_mistakes(data: Any) -> Iterator[str]:
    if not isinstance(data, Mapping) or not data:
        yield "field private: it is no mapping; write a seat's name or number, and its facts"
        return
    for seat, facts in data.items():
        # True is a whole number to Python, and what YAML makes of a seat that is called Yes.
        if not _is_text(seat) and (type(seat) is not int or seat < 1):
            yield f"field private: {seat!r} is no seat; write its name, or its number from 1"
        elif str(seat).isdecimal() and type(seat) is not int:
            yield f"field private: seat {seat!r} is a text; write the number without quotes"
        yield from _list_mistakes(f"private.{seat}", facts)
        if re.search(r"STATE\s*:", str(facts)):
            yield f"field private.{seat}: it holds 'STATE:'; write that in another way"


def _option_mistakes(data: Any) -> Iterator[str]:
    if not isinstance(data, Mapping) or len(data) < 2:
        yield "field options: fewer than two; write them as A, B, ... with name, description"
        return
    expected = list(string.ascii_uppercase[: len(data)])
    if list(data) != expected:
        labels = ", ".join(map(str, data))
        yield f"field options: labels {labels}; label them {', '.join(expected)} in order"
    for label, entry in data.items():
        if not isinstance(entry, Mapping) or set(entry) != {"name", "description"}:
            yield f"field options.{label}: malformed; give it name and description only"
            continue
        for key, text in entry.items():
            if not _is_text(text):
                yield f"field options.{label}.{key}: {text!r} is no text; write a text"
        if ":" in str(entry["name"]):
            yield f"field options.{label}.name: it holds a colon; put that into description"


def _endpoint_mistakes(endpoint: str, labels: list[str]) -> Iterator[str]:
    """Yield mistakes in the endpoint, which must name every option's label and no other."""
    # "A" alone may be an article, so a label counts where it stands in an enumeration: `A oder B`,
    # `A、B 或 C`. The word between two may be any short one, since its language isn't known.
    lists = [found[0] for found in _ENUMERATION.finditer(endpoint)]
    named = re.findall(_LABEL, max(lists, key=len, default=""))
    if named != labels and len(labels) > 1:
        yield (
            f"field endpoint: it names the labels {', '.join(named) or 'of no option'} "
            f"but the options are {', '.join(labels)}; "
            f"say that exactly one of {', '.join(labels[:-1])} or {labels[-1]} is chosen, or "
            f"add labels: [{', '.join(labels)}] where it says so in other words"
        )
