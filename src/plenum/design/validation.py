"""Settings from a config's plain data: pydantic checks them, and a refusal is one line.

The line names the key, the value and what is allowed; a key that isn't known, the nearest one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException
from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from plenum.base.errors import UserError
from plenum.base.removed import refuse_removed
from plenum.base.secret_input import refuse_keys

T = TypeVar("T")

BY_NAME = "values stand by name in braces: {NAME: VALUE}"
"""The notation for a mapping, in error messages."""
_TYPES = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "dict": BY_NAME,
    "dataclass": "it holds values of its own",
    "list": "several values stand in brackets, as does a single one: [...]",
    "string": "it must be a text; YAML reads a bare on or off as a boolean: put it in quotes",
}
"""Words for types, by how pydantic's errors begin."""


def read_settings(kind: type[T], cfg: DictConfig, **given: Any) -> T:
    """Read settings from a script's config: each field has the name of its key.

    Parameters
    ----------
    kind
        A dataclass that is :class:`plenum.design.ranges.StrictSettings`.
    cfg
        The composed config, which may have other keys too.
    given
        Values that don't come from the key of their name.

    Raises
    ------
    UserError
        A value is missing, of the wrong type or not allowed.
    """
    names = [field.name for field in fields(kind) if field.name in cfg]  # type: ignore[arg-type]
    try:
        data = {str(name): make_plain(cfg[name]) for name in names if name not in given}
    except OmegaConfBaseException as error:
        raise UserError(reason(error)) from None
    for name, value in data.items():
        refuse_keys(name, value)
    return validate(kind, {**data, **given})


def drop_settings(cfg: DictConfig, *kinds: Any) -> DictConfig:
    """Return the part of a config that isn't settings of these types, such as that of a study."""
    own = {field.name for kind in kinds for field in fields(kind)}
    return OmegaConf.masked_copy(cfg, [str(key) for key in cfg if key not in own])


def validate(kind: type[T], data: object, key: str = "") -> T:
    """Return plain data as a value of a type.

    Parameters
    ----------
    key
        What the data stands under; empty for the top of a config.

    Raises
    ------
    UserError
        A value is missing, unknown, of the wrong type or not allowed.
    """
    try:
        value: T = _adapter(kind).validate_python(data)  # type: ignore[arg-type]
        return value
    except ValidationError as error:
        first = error.errors()[0]
        path, hint, parent = _find(kind, first["loc"])
        names = ".".join(filter(None, (key, *path)))
        refuse_removed([names, f"{names}={first['input']}"])  # maybe of a file for version 0.2.0
        line = _reason(first, path, hint, parent)
        raise UserError(f"{names}: {line}" if names else line) from None


def make_plain(value: Any) -> Any:
    """Return a value of a config as plain data, all of it resolved."""
    if not OmegaConf.is_config(value):
        return value
    return OmegaConf.to_container(value, resolve=True, enum_to_str=True, throw_on_missing=True)


def reason(error: OmegaConfBaseException) -> str:
    """Return an error of OmegaConf's as key and reason."""
    key, first = error.full_key or "", str(error).splitlines()[0].rstrip(".")
    first = "missing; it needs a value" if isinstance(error, MissingMandatoryValue) else first
    return f"{key}: {first}" if key else first


def open_mappings(kind: Any, above: str = "") -> Iterator[str]:
    """Yield the keys of settings that hold a mapping which takes any name."""
    for name, hint in get_type_hints(kind, include_extras=True).items():
        member, *others = map(_bare, _members(hint))
        if get_origin(member) is dict:
            yield f"{above}{name}"
        elif is_dataclass(member) and not others:
            yield from open_mappings(member, f"{above}{name}.")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _find(kind: Any, places: Sequence[int | str]) -> tuple[list[str], Any, Any]:
    """Return the key of a place in settings, its type, and the type that holds it."""
    names: list[str] = []
    parent = None
    for place in places:
        parent, kind = kind, None
        members = [m for m in _members(parent) if m is not NoneType]
        if len(members) > 1:  # pydantic names the type that it tried, which is no key
            kind = parent if place == places[-1] else None
            continue
        parent = _bare(members[0]) if members else None
        if is_dataclass(parent):
            kind = get_type_hints(parent, include_extras=True).get(str(place))
        elif get_args(parent):
            kind = get_args(parent)[-1]
        names += [str(place)] if isinstance(place, str) else []
    return names, kind, parent


def _members(hint: Any) -> tuple[Any, ...]:
    """Return the types that a hint allows."""
    hint = _bare(hint)
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _bare(hint: Any) -> Any:
    """Return a type without what is said about it."""
    return _bare(get_args(hint)[0]) if get_origin(hint) is Annotated else hint


def _reason(error: Any, path: Sequence[str], hint: Any, parent: Any) -> str:
    """Return the value of an error and what is allowed instead."""
    sort, value, context = error["type"], error["input"], error.get("ctx", {})
    if sort == "value_error":  # one of our own, which knows whether the value may be shown
        return str(context["error"])
    if sort == "missing":
        return "missing; it needs a value"
    if sort == "unexpected_keyword_argument":
        *above, name = path
        near = get_close_matches(name, [field.name for field in fields(parent)], 1)
        meant = f"; did you mean {'.'.join((*above, *near))}?" if near else ""
        return f"no such setting{meant}"
    if listed := context.get("expected"):
        names = listed.replace("'", "").replace(" or ", ", ").replace("True", "true")
        return f"{value!r} is not one of {names.replace('False', 'false')}"
    words, bounds = _describe_allowed(hint)
    if words:
        return f"{value!r}; {words}"
    if sort.startswith(("greater", "less", "finite")):
        return f"{value} is not allowed; it must be {bounds or 'finite'}"
    words = next((w for name, w in _TYPES.items() if sort.startswith(name)), error["msg"])
    if value is None and not sort.startswith(("int", "float", "bool")):
        words = "it needs a value"
    shown = "null" if value is None else str(value).lower() if isinstance(value, bool) else value
    return f"{shown}; {words}{f', {bounds}' if bounds else ''}"


def _describe_allowed(hint: Any) -> tuple[str, str]:
    """Return what the type of a field allows: its description, and the bounds of a number."""
    rules: dict[str, Any] = {}
    while get_origin(hint) is Annotated or NoneType in _members(hint):
        for part in getattr(hint, "__metadata__", ()):
            if isinstance(part, FieldInfo):
                rules |= {"words": part.description} if part.description else {}
                for rule in filter(is_dataclass, part.metadata):
                    rules |= asdict(rule)  # type: ignore[arg-type]
        hint = next(m for m in get_args(hint) if m is not NoneType)
    above, below, least, most = (rules.get(name) for name in ("gt", "lt", "ge", "le"))
    end = f" and below {below}" if below else f" and at most {most}" if most else ""
    bounds = f"above {above}{end}" if above is not None else ""
    if least is not None:
        bounds = f"{least} or more" if most is None else f"{least} to {most}"
    return rules.get("words", ""), bounds
