"""Load and check the policy scenarios.

A scenario is a YAML file; ``docs/scenarios.md`` describes its fields. The check names the file,
the field and what would mend it.
"""

import re
import string
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from plenum.errors import UserError
from plenum.identity import digest

KINDS = ("choice", "allocation")


class _Loader(yaml.SafeLoader):
    """YAML that refuses a key that stands twice; the later one would silently win."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.YAMLError(f"the key {key} stands twice")
        return super().construct_mapping(node, deep)


_TEXTS = ("id", "title", "domain", "type", "question", "situation", "endpoint")
_LISTS = ("affected", "numbers", "constraints", "cases")
_FIELDS = (*_TEXTS, *_LISTS, "options")


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
    """Another wording of the whole packet, where a replicate reads one."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The option labels, ``A`` first."""
        return tuple(option.label for option in self.options)

    @property
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
        """Names the packet: two scenarios with one digest read the same."""
        return digest(self.packet)


def _bullets(head: str, items: tuple[str, ...]) -> str:
    return f"{head}:\n" + "\n".join(f"- {item}" for item in items)


def load(path: Path) -> Scenario:
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
    """The scenario of a file as it was at a time: a sweep reads each many times."""
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except FileNotFoundError:
        raise UserError(f"scenario file {path} does not exist") from None
    except RecursionError:
        raise UserError(f"scenario file {path} can't be read as YAML: nested too deeply") from None
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UserError(f"scenario file {path} can't be read as YAML: {error}") from None
    return _check(data, path)


def _check(data: Any, path: Path) -> Scenario:
    def refuse(field: str, problem: str, mend: str) -> UserError:
        return UserError(f"scenario file {path}, field {field}: {problem}; {mend}")

    if not isinstance(data, Mapping):
        raise UserError(f"scenario file {path}: it is no mapping; give it the fields {_FIELDS}")
    for field in data:
        if field not in _FIELDS:
            raise refuse(str(field), "unknown", f"the fields are {', '.join(_FIELDS)}")
    for field in _FIELDS:
        if field not in data:
            raise refuse(field, "missing", "add it")
    for field in _TEXTS:
        if not isinstance(data[field], str) or not data[field].strip():
            raise refuse(field, f"{data[field]!r} is no text", "write it as a non-empty text")
    for field in _FIELDS:
        if re.search(r"STATE\s*:", str(data[field])):
            raise refuse(field, "it holds 'STATE:'", "write that in another way")
    for field in _LISTS:
        items = data[field]
        if not isinstance(items, list) or not items:
            raise refuse(field, "it is no list", "write one sentence an item, at least one")
        for item in items:
            if not isinstance(item, str) or not item.strip():
                raise refuse(field, f"{item!r} is no text", "put the sentence in quotes")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", data["id"]):
        raise refuse("id", f"{data['id']!r}", "use letters, digits, '.', '_' and '-'")
    if data["type"] not in KINDS:
        raise refuse("type", f"{data['type']!r}", f"it is one of {', '.join(KINDS)}")
    options = _options(data["options"], refuse)
    _check_endpoint(data["endpoint"], [o.label for o in options], refuse)
    fields: dict[str, Any] = {field: " ".join(data[field].split()) for field in _TEXTS}
    for field in _LISTS:
        fields[field] = tuple(" ".join(item.split()) for item in data[field])
    return Scenario(**fields, options=options)


def _options(data: Any, refuse: Any) -> tuple[Option, ...]:
    if not isinstance(data, Mapping) or len(data) < 2:
        raise refuse("options", "fewer than two", "write them as A, B, ... with name, description")
    expected = list(string.ascii_uppercase[: len(data)])
    if list(data) != expected:
        labels = ", ".join(map(str, data))
        raise refuse("options", f"labels {labels}", f"label them {', '.join(expected)} in order")
    options = []
    for label, entry in data.items():
        if not isinstance(entry, Mapping) or set(entry) != {"name", "description"}:
            raise refuse(f"options.{label}", "malformed", "give it name and description only")
        for key, text in entry.items():
            if not isinstance(text, str) or not text.strip():
                raise refuse(f"options.{label}.{key}", f"{text!r} is no text", "write a text")
        if ":" in entry["name"]:
            raise refuse(f"options.{label}.name", "it holds a colon", "put that into description")
        words = {key: " ".join(text.split()) for key, text in entry.items()}
        options.append(Option(label, words["name"], words["description"]))
    return tuple(options)


def _check_endpoint(endpoint: str, labels: list[str], refuse: Any) -> None:
    """The endpoint names every label, and none that has no option."""
    # "A" alone may be an article, so a label counts where it stands in an enumeration.
    lists = re.findall(r"\b[A-Z](?:(?:, (?:or |and )?|/| or | and )(?:option )?[A-Z])+\b", endpoint)
    named = re.findall(r"\b[A-Z]\b", max(lists, key=len, default=""))
    if named != labels:
        raise refuse(
            "endpoint",
            f"it names the labels {', '.join(named) or 'of no option'} "
            f"but the options are {', '.join(labels)}",
            f"say that exactly one of {', '.join(labels[:-1])} or {labels[-1]} is chosen",
        )
