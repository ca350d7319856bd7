"""Types of settings with the values that each may have; pydantic checks them.

A field says it in its type, as in ``window: Count``. :mod:`plenum.design.validation` reads settings
and words what is refused, with the ``description`` of a field's type where it has one.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Annotated, Any, ClassVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, GetPydanticSchema
from pydantic_core import PydanticKnownError
from pydantic_core.core_schema import any_schema

from plenum.base.errors import UserError
from plenum.base.secret_input import refuse_in_url
from plenum.base.secrets import is_secret_name


class StrictSettings:
    """Settings that take no keys but their fields', and no infinite number."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid",
        allow_inf_nan=False,
        coerce_numbers_to_str=True,  # study=2024 names a study
        regex_engine="python-re",
    )


def _no_truth_value(value: Any) -> Any:
    if isinstance(value, bool):  # which Python counts among the whole numbers
        raise PydanticKnownError("float_type")
    return value


Int = Annotated[int, BeforeValidator(_no_truth_value)]
Float = Annotated[float, BeforeValidator(_no_truth_value)]
Count = Annotated[Int, Field(ge=1)]
Seed = Annotated[Int, Field(ge=0)]
Positive = Annotated[Float, Field(gt=0)]
NotNegative = Annotated[Float, Field(ge=0)]
Fraction = Annotated[Float, Field(gt=0, le=1)]
Probability = Annotated[Float, Field(ge=0, le=1)]
Agents = Annotated[Int, Field(ge=1, le=100)]
Whole = Annotated[Int, Field(strict=True)]
"""A whole number that a script reads: no text."""
Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
"""A text that is empty where a config says null."""

GivenByCode = GetPydanticSchema(lambda *_: any_schema())
"""The rule of a value that no config has: code gives it, and its type isn't looked at."""


def match_rule(expression: str, words: str) -> Any:
    """Return the rule of a text that matches a regular expression, which allows what words say."""
    return Field(pattern=rf"\A(?:{expression})\Z", description=words)


def check_url(value: str, web: bool = False) -> str:
    """Refuse a URL with a secret in it; that of a web server must have a host that can be read.

    Parameters
    ----------
    web
        True if it is a web server's in any case.

    Raises
    ------
    ValueError
        With what is allowed; a secret isn't shown.
    """
    try:
        refuse_in_url("", value)
    except UserError as refused:  # whose message begins with the key, which pydantic knows
        raise ValueError(str(refused).removeprefix(": ")) from None
    if not value.startswith(("http://", "https://")):
        if web and value:
            raise ValueError(f"{value!r}; it starts with http:// or https://")
        return value
    try:
        parts = urlsplit(value)
        readable = bool(parts.hostname) and parts.port != 0 and re.search(r"\s", value) is None
    except ValueError:
        readable = False
    if not readable:
        raise ValueError(f"{value!r} is no URL; it is written as http://host:port/path")
    return value


def _check_urls(value: Any) -> Any:
    """Check the URL of a web server, or those of a fleet, of which none is there twice."""
    if value is None or value == "":
        return value
    if isinstance(value, str) and re.search(r"[,;\s]\s*https?://", value):
        raise ValueError("several URLs are a list, in brackets: '=[URL,URL]'")
    urls = value if isinstance(value, list) else [value]
    if not urls:
        raise ValueError("[]; it is a URL, or a list of at least one")
    for url in urls:
        if not isinstance(url, str) or not url:
            raise ValueError(f"{url!r} is no URL")
        check_url(url, web=True)
    if len({url.rstrip("/") for url in urls}) < len(urls):
        raise ValueError("a fleet can't have the same server twice")
    return value


_OWN_FIELDS = {
    "model": "model.default", "messages": "protocol and prompts", "stream": "backend.stream",
    "temperature": "sampling.temperature", "max_tokens": "sampling.max_tokens",
    "max_completion_tokens": "sampling.max_tokens, with backend.max_tokens_field",
    "seed": "backend.send_seed", "response_format": "protocol.answers", "n": "replicates",
    "structured_outputs": "backend.answer_form", "logprobs": "scripts/probe.py",
}  # fmt: skip
"""Fields of a request that plenum writes, with what sets them."""


def _check_fields(value: dict[str, Any]) -> dict[str, Any]:
    """Refuse fields that plenum writes, and keys, which every journal and table would show."""
    for name in value:
        if name in _OWN_FIELDS:
            raise ValueError(f"{name}: plenum writes this field, by {_OWN_FIELDS[name]}")
    _refuse_secrets(value)
    return value


def _refuse_secrets(value: Any) -> None:
    """Refuse names of secrets at any depth, also as headers are written: ``x-api-key``."""
    for each in value.values() if isinstance(value, Mapping) else value:
        if isinstance(each, Mapping | list):
            _refuse_secrets(each)
    for name in value if isinstance(value, Mapping) else ():
        if is_secret_name(str(name).replace("-", "_")) and name != "prompt_cache_key":
            raise ValueError(f"{name}: a secret belongs in an environment variable")


RequestFields = Annotated[dict[str, Any], AfterValidator(_check_fields)]
"""Fields that are added to the requests of an interface."""
Url = Annotated[str, AfterValidator(check_url)]
WebUrl = Annotated[str, AfterValidator(lambda value: check_url(value, web=True))]
Urls = Annotated[Any, AfterValidator(_check_urls)]


def _check_study(name: str) -> str:
    if name == "Default":
        raise ValueError("'Default' is MLflow's own; choose another")
    if not is_study(name):
        raise ValueError(f"{name!r}; use letters from a to z, digits, '.', '_' and '-'")
    return name


StudyName = Annotated[str, AfterValidator(_check_study)]


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


def is_study(name: object) -> bool:
    """Return whether a study may have this name."""
    return (
        isinstance(name, str)
        and name != "Default"  # MLflow's own
        and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name) is not None
    )


def require(holds: bool, message: str) -> None:
    """Refuse with the message where something doesn't hold."""
    if not holds:
        raise UserError(message)


def require_one_of(key: str, value: str, allowed: Sequence[str]) -> None:
    """Refuse a value that isn't among those allowed."""
    require(value in allowed, f"{key}: {value!r} is not one of {', '.join(allowed)}")
