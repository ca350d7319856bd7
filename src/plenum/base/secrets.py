"""Secrets live in the environment alone; what is written or printed passes through here."""

import os
import re
from collections.abc import Sequence
from urllib.parse import unquote

from plenum.base.errors import UserError

_NAMES = re.compile(r"_(KEY|TOKEN|SECRET|PASSWORD)$")
_SHORTEST = 8
_SHORTEST_TOLD = 16
"""A shorter value may be an ordinary word, such as a stand-in for the key of a server at home."""

_SECRET_WORD = re.compile(
    r"api[._-]?key|auth|credential|jwt|key$|passw|pwd|secret|session|sig$|signature|token$",
    re.IGNORECASE,
)
"""What the name of a parameter in a URL holds where its value is a secret."""

_SECRET_KEY = re.compile(r"(?:api_?key|access_?token|credentials?|passw(?:or)?d|secret)$", re.I)
"""How a key of the config would end that holds a secret; plenum has none."""

_URL_KEY = re.compile(r"ur[il]|api_base", re.IGNORECASE)
_AFTER_SCHEME = re.compile(r"(?:https?://|://(?!/))(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
"""What follows the scheme of a URL that has a host; three slashes begin a file's path."""

_PARAMETER = re.compile(r"(?P<name>[?&#;][\w.%~-]{1,64})=(?P<value>[^\s&#;\"'<>]+)")
_VERSION = re.compile(r"[?&](?:api-)?version=[\w.-]*")
_CONFIG_KEY = re.compile(r"[+~]{0,2}-{0,2}[A-Za-z_][\w./@-]*")


def redact(text: str) -> str:
    """The text with every secret of the environment replaced by its variable's name.

    Logins in URLs and the values of their secret parameters are taken out as well.
    """
    for name, value in _secrets().items():
        if value in text:
            text = text.replace(value, f"<{name}>")
    if "://" in text:
        text = re.sub(r"[^\s\"'<>]+", _without_login, text)
    return _PARAMETER.sub(_without_value, text)


def holds_secret(text: str) -> bool:
    """Whether the text holds the value of a secret of the environment."""
    return any(value in text for value in _secrets().values())


def refuse_in_arguments(arguments: Sequence[str]) -> None:
    """Refuse a command line that holds a secret: Hydra would write it to the run's folder.

    Raises
    ------
    UserError
        An argument holds the value of a secret, sets a key that would hold one, or has a URL with
        a login or a key in it. The message names the argument and never shows its value.
    """
    for number, argument in enumerate(arguments, start=1):
        key, _, value = argument.partition("=")
        named = redact(key) if _CONFIG_KEY.fullmatch(key) and value else f"argument {number}"
        for name, secret in _secrets().items():
            if len(secret) >= _SHORTEST_TOLD and secret in argument:
                raise UserError(
                    f"{named}: it holds the value of {name}; keys come from the environment "
                    "alone, since every config is written to disk"
                )
        if value and _SECRET_KEY.search(key):
            raise UserError(
                f"{named}: it can't be set here, since every config is written to disk; keys come "
                "from the environment alone, such as OPENAI_API_KEY"
            )
        login = bool(_URL_KEY.search(key)) and "@" in value and "sqlite:///" not in value
        _refuse(named, argument if "://" in argument else unquote(argument), login)


def refuse_in_url(key: str, url: str) -> None:
    """Refuse a URL that carries a login or a key: it would be written to disk.

    Raises
    ------
    UserError
        It does.
    """
    _refuse(key, url, login="@" in url and not url.startswith("sqlite:///"))


def _refuse(key: str, text: str, login: bool) -> None:
    """Refuse a login and a key; a password may hold anything, also a slash or a space."""
    url = _AFTER_SCHEME.search(text)
    rest = _VERSION.sub("", url["rest"]) if url else ""
    secret = any(_SECRET_WORD.search(match["name"]) for match in _PARAMETER.finditer(text))
    if login or secret or set("@?#") & set(rest):
        raise UserError(
            f"{key}: a URL can't carry a login or a key, since every config is written to disk; "
            "set the provider's environment variable instead (allowed after ? is api-version, and "
            "an @ of a path is written as %40)"
        )


def _without_login(word: re.Match[str]) -> str:
    """A word with the login of a URL taken out."""
    before, mark, rest = word[0].partition("://")
    _, at, host = rest.rpartition("@")
    if not at or (rest.startswith("/") and not before.lower().endswith(("http", "https"))):
        return word[0]
    return f"{before}{mark}<login>@{host}"


def _without_value(parameter: re.Match[str]) -> str:
    """A parameter of a URL with its value taken out, where its name says that it is secret."""
    secret = _SECRET_WORD.search(parameter["name"])
    return f"{parameter['name']}=<hidden>" if secret else parameter[0]


def _secrets() -> dict[str, str]:
    """Secrets of the environment, the longest first: one may hold another."""
    secrets = {
        name: value.strip()
        for name, value in os.environ.items()
        if _NAMES.search(name) and len(value.strip()) >= _SHORTEST
    }
    return dict(sorted(secrets.items(), key=lambda item: -len(item[1])))
