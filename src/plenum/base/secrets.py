"""Removal of secrets from everything that is written or printed; they belong in the environment."""

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

_NAMES = re.compile(
    r"(?:\w*(?:TOKEN|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|PWD|DSN|HOOK|APIKEYS?)"
    r"|(?:\w*_)?(?:KEYS?|PASS|PW|PAT|BEARER|PEM|JWT|AUTH|AUTHORIZATION|COOKIE|CREDENTIALS?"
    r"|CONN|CONN(?:ECTION)?_?STR(?:ING)?))"
    r"(?:_(?:URL|URI|STR|STRING|ID|VALUE|B64|BASE64|JSON|\d+))*",
    re.IGNORECASE,
)
"""Variables that hold a secret, by the usual conventions; ``PATH`` doesn't match."""

_MAYBE = re.compile(
    r"KEY|TOKEN(?!IZER)|SECRET|PASS|PWD|CREDENTIAL|AUTH|COOKIE|SESSION|DSN|BEARER|PEM|HOOK|CONN|JWT"
    r"|(?:^|_)(?:PAT|PW)(?:_|$)",
    re.IGNORECASE,
)
"""Variables that may hold a secret; they are passed only to processes that need them."""

_FOLDERS = ("PWD", "OLDPWD")
_SHORTEST = 8
_SHORTEST_LINE = 16

_LOGIN = re.compile(r"://[^\s/:@]*:(?P<value>[^\s/@]+)@")
_INSIDE = re.compile(r"(?:password|passwd|pwd|\w+key)\s*=\s*(?P<value>[^\s;&,\"']+)", re.IGNORECASE)
"""Passwords within a variable's value: of a URL, and of a connection string."""

SECRET_WORD = re.compile(
    r"api[._-]?key|auth|bearer|conn$|credential|dsn$|hook$|jwt|key$|pass$|passw|(?<![a-z])(?:pat|pw)$|pem$|pwd"
    r"|secret|session|sig$|signature|token$",
    re.IGNORECASE,
)
"""Names of URL parameters whose values are secrets."""

PARAMETER = re.compile(r"(?P<name>[?&#;][\w.%~-]{1,64})=(?P<value>[^\s&#;\"'<>]+)")


@cache
def is_secret_name(name: str) -> bool:
    """Return whether a variable of this name is secret, such as ``GH_PAT`` or ``MYSQL_PWD``."""
    return name not in _FOLDERS and _NAMES.fullmatch(name) is not None


def redact(text: str, known: Mapping[str, str] | None = None) -> str:
    """Replace every secret of the environment by its variable's name.

    Logins in URLs and the values of their secret parameters are removed as well.

    Parameters
    ----------
    known
        What :func:`list_secrets` gives, for a caller that has several texts: to look through the
        environment takes longer than through a text.
    """
    if not text:
        return text
    return _redact(text, list_secrets() if known is None else known)


def redact_data(value: Any) -> Any:
    """Replace every secret of the environment in the texts of plain data; URLs stay."""
    known = list_secrets()
    return _each(value, known) if known else value


def holds_secret(text: str) -> bool:
    """Return whether the text holds the value of a secret of the environment."""
    return any(value in text for value in list_secrets())


def list_secrets() -> dict[str, str]:
    """Map each secret of the environment to its variable.

    The longest comes first, since one secret may contain another.
    """
    found = {
        value: name
        for name, whole in os.environ.items()
        for value in _values_of(name, whole)
        if len(value) >= _SHORTEST
    }
    return dict(sorted(found.items(), key=lambda item: -len(item[0])))


def strip_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Copy an environment for processes that need no secrets; others may read theirs."""
    left_out = secret_variables(environment)
    return {name: value for name, value in environment.items() if name not in left_out}


def secret_variables(environment: Mapping[str, str]) -> set[str]:
    """Return the names of variables that may hold a secret, judged by name or by value."""
    known = list_secrets()
    return {
        name
        for name, value in environment.items()
        if name not in _FOLDERS and (_MAYBE.search(name) or _redact(value, known) != value)
    }


def _values_of(name: str, value: str) -> Iterator[str]:
    """Yield the secret parts of a variable: all of it by its name, else a URL's password."""
    value = value.strip()
    if "://" in value:
        yield from (match["value"] for match in _LOGIN.finditer(value))
    if not is_secret_name(name):
        return
    yield value
    yield from (match["value"] for match in _INSIDE.finditer(value))
    lines = value.splitlines()
    if len(lines) > 1:  # a key's file; whoever prints it may indent it, or escape its line ends
        yield from (line.strip() for line in lines if len(line.strip()) >= _SHORTEST_LINE)


def _redact(text: str, known: Mapping[str, str]) -> str:
    text = _without(known, text)
    if "://" in text:
        text = re.sub(r"[^\s\"'<>]+", _without_login, text)
    return PARAMETER.sub(_without_value, text)


def _without(known: Mapping[str, str], text: str) -> str:
    for value, name in known.items():
        if value in text:
            text = text.replace(value, f"<{name}>")
    return text


def _each(value: Any, known: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _without(known, value)
    if isinstance(value, Mapping):
        return {key: _each(item, known) for key, item in value.items()}
    return [_each(item, known) for item in value] if isinstance(value, list) else value


def _without_login(word: re.Match[str]) -> str:
    """Remove the login from a word that is a URL."""
    before, mark, rest = word[0].partition("://")
    _, at, host = rest.rpartition("@")
    if not at or (rest.startswith("/") and not before.lower().endswith(("http", "https"))):
        return word[0]
    return f"{before}{mark}<login>@{host}"


def _without_value(parameter: re.Match[str]) -> str:
    """Remove the value of a URL parameter whose name says that it is secret."""
    secret = SECRET_WORD.search(parameter["name"])
    return f"{parameter['name']}=<hidden>" if secret else parameter[0]
