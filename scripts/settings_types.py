"""Settings as their classes have them: keys, allowed values and meanings, for settings_page.py."""

import re
from collections.abc import Iterator
from dataclasses import MISSING, asdict, dataclass, is_dataclass
from inspect import cleandoc
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

from pydantic.fields import FieldInfo
from settings_options import NAMED

from plenum.committee.ballots import RULES
from plenum.design.settings import Backend


@dataclass(frozen=True)
class Setting:
    """A key of the config: its type, its default in code, and what its class says about it.

    Attributes
    ----------
    together
        Names that the class explains in one entry.
    words
        What is allowed, where the class says so; of several names one after the other.
    """

    key: str
    hint: Any
    default: Any
    together: tuple[str, ...]
    words: str
    meaning: str


def walk(kind: type[Any], above: str = "") -> Iterator[Setting]:
    """Yield the settings of a dataclass, and of those in it, except for the names of groups."""
    hints = get_type_hints(kind, include_extras=True)
    explained = read_attributes(kind)
    for name, field in kind.__dataclass_fields__.items():
        hint, key = getattr(hints[name], "type", hints[name]), f"{above}{name}"
        inner = bare(hint)
        if get_origin(hint) is ClassVar or inner is Backend or (name == "name" and above in NAMED):
            continue
        if is_dataclass(inner):
            yield from walk(inner, f"{key}.")  # type: ignore[arg-type]
            continue
        if name not in explained:
            raise ValueError(f"{kind.__name__}.{name}: its class has no Attributes entry for it")
        made = field.default_factory
        default = field.default if made is MISSING else made()
        yield Setting(key, hint, None if default is MISSING else default, *explained[name])


def read_attributes(kind: type[Any]) -> dict[str, tuple[tuple[str, ...], str, str]]:
    """Read the numpydoc `Attributes` of a class and of those above it.

    Returns
    -------
    dict
        By name: the names of its entry, what is allowed as the entry says it, and the meaning,
        which is its first paragraph.

    Raises
    ------
    ValueError
        An entry is about no field.
    """
    found: dict[str, tuple[tuple[str, ...], str, str]] = {}
    for each in reversed(kind.__mro__):
        text = cleandoc(vars(each).get("__doc__") or "")
        section = text.partition("Attributes\n----------\n")[2]
        section = re.split(r"\n\n\w+\n-+\n", section)[0]
        for entry in filter(None, re.split(r"\n(?=\w)", section)):
            head, _, body = entry.partition("\n")
            names, _, words = head.partition(" : ")
            together = tuple(names.split(", "))
            if left := {*together} - kind.__dataclass_fields__.keys():
                raise ValueError(f"{each.__name__}: its Attributes have {left}, which is no field")
            meaning = as_cell(body.partition("\n\n")[0])
            found |= dict.fromkeys(together, (together, words.replace("``", "`"), meaning))
    return found


def as_cell(text: str) -> str:
    """Return a sentence of a docstring as it stands in a table."""
    line = " ".join(text.split()).replace("``", "`").removesuffix(".").removeprefix("The ")
    return line if line[1:2].isupper() else line[:1].lower() + line[1:]


def describe_allowed(setting: Setting) -> str:
    """Return what is allowed: as the type says it, or as the class does where any text fits.

    Raises
    ------
    ValueError
        Neither does.
    """
    if setting.key == "protocol.decision":
        return ", ".join(f"`{name}`" for name in RULES)
    *_, name = setting.key.split(".")
    several, inner = len(setting.together) > 1, bare(setting.hint)
    parts = setting.words.split("; ") if several else [setting.words]
    if get_origin(inner) is dict and setting.words.startswith("by "):
        return f"{setting.words}: {describe_type(get_args(inner)[1])}"
    own = dict(zip(setting.together, parts, strict=False)).get(name)
    words = own or describe_type(setting.hint) or parts[-1]
    if not words:
        raise ValueError(f"{setting.key}: neither its type nor its class says what is allowed")
    return words


def describe_type(hint: Any) -> str:
    """Return what a type allows in words; empty where that can be any text."""
    rules, words = read_rules(hint)
    inner = bare(hint)
    if words:
        return words.removeprefix("it is ")
    if get_origin(inner) is Literal:
        return ", ".join(show(value) for value in get_args(inner))
    if get_origin(inner) in (Union, UnionType):
        return ", ".join(describe_type(each) for each in get_args(inner))
    if get_origin(inner) is list and get_origin(get_args(inner)[0]) is Literal:
        return f"{describe_type(get_args(inner)[0])}, or a list"
    if inner is bool:
        return "`true`, `false`"
    if inner not in (int, float):
        return ""
    # Whether a number is whole shows in its bounds.
    least, above, most = (
        None if rules.get(name) is None else f"{inner(rules[name]):,}"
        for name in ("ge", "gt", "le")
    )
    if above:
        return f"above {above}" + (f", to {most}" if most else "")
    return f"{least} to {most}" if most else f"from {least}" if least else ""


def read_rules(hint: Any) -> tuple[dict[str, Any], str]:
    """Return the bounds that a type has, such as `ge`, and its description."""
    rules: dict[str, Any] = {}
    words = ""
    while get_origin(hint) is Annotated or is_optional(hint):
        for part in getattr(hint, "__metadata__", ()):
            if isinstance(part, FieldInfo):
                words = part.description or words
                for rule in filter(is_dataclass, part.metadata):
                    rules |= asdict(rule)  # type: ignore[arg-type]
        hint = next(each for each in get_args(hint) if each is not NoneType)
    return rules, words


def is_optional(hint: Any) -> bool:
    """Return whether a type is another one, or null."""
    return NoneType in get_args(hint) and len(get_args(hint)) == 2


def bare(hint: Any) -> Any:
    """Return a type without null and what is said about it."""
    while get_origin(hint) is Annotated or is_optional(hint):
        hint = next(each for each in get_args(hint) if each is not NoneType)
    return hint


def show(value: Any) -> str:
    """Return a value as the command line has it."""
    if isinstance(value, bool) or value is None:
        return "`null`" if value is None else f"`{value}`".lower()
    if isinstance(value, int | float):
        return f"{value:g}" if value < 1e5 else f"{value:.0f}"
    text = re.sub(r"\$\{(\w+)\}", lambda found: found[1].upper(), str(value))
    return f"`{text}`" if value else "none"
