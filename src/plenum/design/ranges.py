"""Which values a setting may have: stated at its field, and checked by one walker.

A field says so in its type, as in ``window: Annotated[int, Range(1)]``.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Protocol, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

from plenum.base.errors import UserError
from plenum.base.secret_input import refuse_in_url


class Rule(Protocol):
    """Something that a value has to obey."""

    def check(self, key: str, value: Any) -> None:
        """Refuse a value under its key."""


@dataclass(frozen=True)
class Range:
    """A finite number within bounds; ``above`` is for one that the lower bound itself isn't in."""

    least: float = -math.inf
    most: float = math.inf
    above: bool = False

    def check(self, key: str, value: float) -> None:
        """Refuse what is too small or too large, or no number."""
        require(type(value) in (int, float), f"{key}: {value!r}; it must be a number")
        low = value <= self.least if self.above else value < self.least
        if low or not math.isfinite(value) or value > self.most:
            raise UserError(f"{key}: {value} is not allowed; it must be {self}")

    def __str__(self) -> str:
        if self.above:
            return f"above {self.least}"
        if math.isinf(self.most):
            return f"{self.least} or more"
        return f"{self.least} to {self.most}"


@dataclass(frozen=True)
class Whole:
    """A whole number that is not too small, and what else is allowed in words."""

    least: int
    also: str = ""

    def check(self, key: str, value: object) -> None:
        """Refuse what is too small, or no whole number."""
        if type(value) is not int or value < self.least:
            raise UserError(f"{key}: {value}; a whole number from {self.least} on{self.also}")


@dataclass(frozen=True)
class Share:
    """What somebody takes of a cluster's CPUs or GPUs, which are dealt out in small parts.

    More than one is a whole number where they are ``apart``, as GPUs are.
    """

    apart: bool = False
    least: float = 1e-4

    def check(self, key: str, value: float) -> None:
        """Refuse what can't be dealt out."""
        Range(0).check(key, value)
        allowed = f"it is 0, or {self.least} or more{', and above 1 whole' * self.apart}"
        dealt = value == 0 or (value >= self.least and not (self.apart and value > 1 and value % 1))
        require(dealt, f"{key}: {value}; {allowed}")


@dataclass(frozen=True)
class Choice:
    """One of several values."""

    allowed: tuple[str, ...]

    def check(self, key: str, value: str) -> None:
        """Refuse what isn't among them."""
        one_of(key, value, self.allowed)


@dataclass(frozen=True)
class OneOf:
    """One of several values of several types; 1 is not ``True``."""

    allowed: tuple[bool | str, ...]

    def check(self, key: str, value: object) -> None:
        """Refuse what isn't among them."""
        known = any(type(value) is type(each) and value == each for each in self.allowed)
        names = ", ".join(str(each).lower() for each in self.allowed)
        require(known, f"{key}: {value!r} is not one of {names}")


@dataclass(frozen=True)
class Pattern:
    """A text that a regular expression matches, and what that allows in words."""

    expression: str
    allowed: str

    def check(self, key: str, value: str) -> None:
        """Refuse what doesn't match."""
        require(bool(re.fullmatch(self.expression, value)), f"{key}: {value!r}; {self.allowed}")


@dataclass(frozen=True)
class Url:
    """An address without a secret in it; one of a web server must have a host that can be read."""

    web: bool = False
    """Whether it is a web server's in any case."""

    def check(self, key: str, value: str) -> None:
        """Refuse what can't be read, and what would betray a secret."""
        refuse_in_url(key, value)
        if not value.startswith(("http://", "https://")):
            refused = self.web and value != ""
            require(not refused, f"{key}: {value!r}; it starts with http:// or https://")
            return
        try:
            parts = urlsplit(value)
            readable = bool(parts.hostname) and parts.port != 0 and re.search(r"\s", value) is None
        except ValueError:
            readable = False
        require(readable, f"{key}: {value!r} is no URL; it is written as http://host:port/path")


@dataclass(frozen=True)
class Urls:
    """The URL of a web server, or a list of those of a fleet; or none."""

    def check(self, key: str, value: Any) -> None:
        """Refuse what :class:`Url` refuses, and a server that is listed twice."""
        if value is None or value == "":
            return
        several = isinstance(value, str) and re.search(r"[,;\s]\s*https?://", value) is not None
        require(not several, f"{key}: several URLs are a list, in brackets: '{key}=[URL,URL]'")
        urls = value if isinstance(value, list) else [value]
        require(len(urls) > 0, f"{key}: []; it is a URL, or a list of at least one")
        for url in urls:
            require(isinstance(url, str) and url != "", f"{key}: {url!r} is no URL")
            Url(web=True).check(key, url)
        once = {url.rstrip("/") for url in urls}
        require(len(once) == len(urls), f"{key}: a fleet can't have the same server twice")


def refuse_unused(key: str, settings: Any, needs: str) -> None:
    """Refuse settings off their defaults that do nothing without what they need.

    Parameters
    ----------
    key
        What they stand under.
    settings
        A dataclass.
    needs
        What would use them, as it is written on the command line.
    """
    for field in fields(settings):
        value = getattr(settings, field.name)
        said = f"{key}.{field.name}: {value}; nothing uses it without {needs}"
        require(value == field.default, said)


_hints: Any = cache(get_type_hints)


def check_ranges(key: str, settings: object) -> None:
    """Refuse the first setting of a dataclass that breaks a rule of its field.

    Parameters
    ----------
    key
        What the settings stand under; empty for the top of a config.
    settings
        An instance. Of a dict or a list each value is checked. Where ``None`` is allowed, it obeys
        all rules.

    Raises
    ------
    UserError
        With the key, the value and what is allowed.
    """
    for name, hint in _hints(type(settings), include_extras=True).items():
        path, value = f"{key}.{name}".strip("."), getattr(settings, name)
        if get_origin(hint) is dict:
            for entry, each in value.items():
                _check(f"{path}.{entry}", each, get_args(hint)[1])
        elif get_origin(hint) is list:
            for each in value:
                _check(path, each, get_args(hint)[0])
        else:
            _check(path, value, hint)


def _check(key: str, value: Any, hint: Any) -> None:
    rules: Sequence[Rule] = getattr(hint, "__metadata__", ())
    if value is None and rules and type(None) in get_args(hint.__origin__):
        return
    for rule in rules:
        rule.check(key, value)


def is_study(name: object) -> bool:
    """Whether a study may be called so."""
    return (
        isinstance(name, str)
        and name != "Default"  # MLflow's own
        and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name) is not None
    )


def require(holds: bool, message: str) -> None:
    """Refuse with the message where something doesn't hold."""
    if not holds:
        raise UserError(message)


def one_of(key: str, value: str, allowed: Sequence[str]) -> None:
    """Refuse a value that isn't among those allowed."""
    require(value in allowed, f"{key}: {value!r} is not one of {', '.join(allowed)}")
