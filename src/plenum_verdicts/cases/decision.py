"""Reading of a program's decision: a label, or a text and a rule."""

import json
import re
import signal
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from plenum.base.reasoning import strip_reasoning
from plenum.base.text import flatten, visible_text
from plenum_verdicts.cases.case import NO_DECISION

RULES = ("regex:PATTERN", "json:PATH", "name")
LONGEST = 100_000
"""Number of characters of a text, from its end, that a decision is read from."""

_EDGES = " \t\r\n\"'`*_.,:;()[]<>"
_END = "\x01"
"""A mark after a word that ends a sentence; visible texts contain no control characters."""

_SHORT_WORD = 3
"""Length up to which a word with a full stop counts as an abbreviation, such as ``Mr.``."""

_DENIES = re.compile(
    r"(?<!\w)(?:not|never|neither|nor|no|cannot|without|against|rather than|instead of)(?!\w)"
    r"|n['\u2019]t(?!\w)"
)
_WORDS_BEFORE = 7
"""Number of words before a mention that are searched for a negation."""

_SHOWN = 80
_SEARCH_S = 1.0
_LONGEST_RULE = 1000


class UnreadableDecision(ValueError):
    """Raised for a text that names no option, more than one, or denies one."""


@dataclass(frozen=True)
class GivenDecision:
    """A decision as a program sent it.

    Attributes
    ----------
    option
        A label, if the program names one.
    text
        A text to read it from otherwise.
    extract
        The rule, one of :data:`RULES`; empty if the text is a label or an option's name.
    confidence
        How likely the decision is right, 0 to 100; ``None`` if that isn't stated.
    """

    option: str = ""
    text: str = ""
    extract: str = ""
    confidence: float | None = None


def rule_problem(rule: str) -> str:
    """Return the reason that a rule is invalid; empty if it is valid."""
    name, _, rest = rule.partition(":")
    if rule in ("", "name") or (name == "json" and rest):
        return ""
    if name != "regex" or not rest or len(rule) > _LONGEST_RULE:
        return f"{_show(rule)}; {', '.join(RULES)} are allowed"
    try:
        re.compile(rest)
    except (re.error, RecursionError, OverflowError) as error:
        return f"{_show(rule)}: {error}"
    return ""


def read_decision(given: GivenDecision, options: Mapping[str, str], rule: str = "") -> str:
    """Return the label of the decision; :data:`~.case.NO_DECISION` for an empty text.

    Parameters
    ----------
    given
        The decision as the program sent it.
    options
        Names by label.
    rule
        The audit's rule, used if the program gives none.

    Raises
    ------
    Unreadable
        It names none of the options, or several, or denies one.
    """
    if given.option:
        option = strip_reasoning(given.option)
        return _one(_find_named(option, options), option)
    text = strip_reasoning(given.text[-LONGEST:])
    if not text.strip():
        return NO_DECISION
    name, _, rest = (given.extract or rule).partition(":")
    if name == "regex":
        with _limit_time():
            matches = list(re.finditer(rest, text, re.MULTILINE))
        hits = (m[1] if m.re.groups else m[0] for m in matches)
        return _one(set().union(*(_find_named(hit or "", options) for hit in hits)), text)
    if name == "json":
        value = at(last_json(text), rest)
        plain = not (value is None or isinstance(value, list | dict))
        return _one(_find_named(str(value), options) if plain else set[str](), text)
    if name == "name":
        return _one(_find_mentioned(text, options), text)
    return _one(_find_named(text, options), text)


def look_alike(options: Mapping[str, str]) -> tuple[str, str, str] | None:
    """Return two options that the same text would name, and that text; ``None`` if none.

    Texts are compared ignoring case, width, and marks at their edges: ``Yes`` and ``yes.`` are the
    same name, and the label of an option may be another's name.

    Parameters
    ----------
    options
        Names by label.

    Returns
    -------
    tuple or None
        Both labels, and the text in its compared form, which is empty for names that consist of
        marks.
    """
    held: dict[str, str] = {}
    for label, name in options.items():
        for form in _forms(label, name):
            other = held.setdefault(form, label)
            if other != label:
                return other, label, form
    return None


def comparable(text: str) -> str:
    """Return a text in the form for inexact comparison: see :func:`look_alike`."""
    return _plain(text)


def at(value: Any, path: str) -> Any:
    """Return the part of a JSON value at a path, such as ``choices.0.label``.

    Raises
    ------
    Unreadable
        There is none.
    """
    for key in filter(None, path.removeprefix("$").split(".")):
        try:
            value = value[int(key)] if isinstance(value, list) else value[key]
        except (KeyError, IndexError, TypeError, ValueError):
            raise UnreadableDecision(f"json:{path}: nothing lies at {key}") from None
    return value


def last_json(text: str) -> Any:
    """Return the JSON value of a text, or of its last line that is JSON.

    Raises
    ------
    Unreadable
        There is none.
    """
    for candidate in (text, *reversed(text.splitlines())):
        try:
            return json.loads(candidate)
        except (ValueError, RecursionError):
            continue
    raise UnreadableDecision(f"no JSON: {_show(text)}")


@contextmanager
def _limit_time() -> Iterator[None]:
    """Interrupt a search that takes too long, since a program may send a slow pattern.

    This works only in the main thread.
    """

    def interrupt(*_: object) -> None:
        raise UnreadableDecision(f"its pattern takes more than {_SEARCH_S:g} s")

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, _SEARCH_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _find_named(text: str, options: Mapping[str, str]) -> set[str | None]:
    """Return options whose label or name a text is; ``None`` stands for an ambiguous form.

    An exact label has precedence over an exact name, and that over inexact forms.
    """
    exact = text.strip()
    if exact in options:
        return {exact}
    labels = {label for label, name in options.items() if name == exact}
    plain = _plain(text)
    if not labels and plain:
        labels = {label for label, name in options.items() if plain in _forms(label, name)}
    return {*labels} or {None}


def _forms(label: str, name: str) -> tuple[str, ...]:
    """Return the texts that name an option, in compared form."""
    label, name = _plain(label), _plain(name)
    return label, name, f"{label} {name}", f"option {label}"


def _find_mentioned(text: str, options: Mapping[str, str]) -> set[str]:
    """Return options whose name, or label as in ``option A``, is in a text as whole words.

    A text that denies an option is unreadable: it may not say which one it is for.
    """
    plain = _plain(text, end=_END)
    found: set[str] = set()
    names: defaultdict[str, set[str]] = defaultdict(set)
    for label, name in options.items():
        names[_plain(name)].add(label)
        names[f"option {_plain(label)}"].add(label)
    names.pop("", None)  # of a name that is all marks, which any text holds
    for words in sorted(names, key=len, reverse=True):  # a longer name may hold a shorter one
        name = f"{_END}? ".join(map(re.escape, words.split(" ")))
        plain, hits = re.subn(rf"(?<!\w){name}(?!\w)", "\0", plain)
        if hits:
            found |= names[words]
    if _is_denied(plain):
        raise UnreadableDecision(f"it denies an option that it names: {_show(text)}")
    return found


def _is_denied(text: str) -> bool:
    """Return whether a negation precedes a mention, a ``NUL``, closely in the same sentence."""
    return any(
        _DENIES.search(" ".join(before.split()[-_WORDS_BEFORE:]))
        for sentence in re.split(f"[!?{_END}]", text)
        for before in sentence.split("\0")[:-1]
    )


def _plain(text: str, end: str = "") -> str:
    """Normalise a text: visible characters, without case, marks at edges, or double spaces.

    ``end`` is added to every word that ends a sentence with a full stop.
    """
    words = []
    for seen in visible_text(text).casefold().split():
        if word := seen.strip(_EDGES):
            stops = len(word) > _SHORT_WORD and "." in seen[seen.rindex(word) + len(word) :]
            words.append(f"{word}{end}" if stops else word)
    return " ".join(words)


def _one(labels: set[str | None] | set[str], text: str) -> str:
    if len(labels) == 1 and (label := next(iter(labels))) is not None:
        return label
    if len(labels) > 1:
        several = " and ".join(sorted(label or "something else" for label in labels))
        raise UnreadableDecision(f"it names {several}: {_show(text)}")
    raise UnreadableDecision(f"it names no option: {_show(text)}")


def _show(text: str) -> str:
    line = flatten(text)
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."
