"""Secrets live in the environment alone; what is written or printed passes through here."""

import os
import re
from collections.abc import Sequence

from plenum.errors import UserError

_NAMES = re.compile(r"_(KEY|TOKEN|SECRET|PASSWORD)$")
_SHORTEST = 8
_SHORTEST_TOLD = 16
"""A shorter value may be an ordinary word, such as a stand-in for the key of a server at home."""

_LOGIN = re.compile(r"://[^/@\s]+@")
_IN_QUERY = re.compile(r"[?&](?:api[_-]?key|key|token)=", re.IGNORECASE)


def redact(text: str) -> str:
    """The text with every secret of the environment replaced by its variable's name."""
    for name, value in _secrets().items():
        if value in text:
            text = text.replace(value, f"<{name}>")
    return _LOGIN.sub("://<login>@", text)


def refuse_in_arguments(arguments: Sequence[str]) -> None:
    """Refuse a command line that holds a secret: Hydra would write it to the run's folder.

    Raises
    ------
    UserError
        An argument holds the value of a secret, or a URL with a login or a key in it.
    """
    for argument in arguments:
        for name, value in _secrets().items():
            if len(value) >= _SHORTEST_TOLD and value in argument:
                raise UserError(
                    f"{argument.partition('=')[0]}: it holds the value of {name}; keys come from "
                    "the environment alone, since every config is written to disk"
                )
        refuse_in_url(argument.partition("=")[0], argument)


def refuse_in_url(key: str, url: str) -> None:
    """Refuse a URL that carries a login or a key: it would be written to disk.

    Raises
    ------
    UserError
        It does.
    """
    if "://" in url and (_LOGIN.search(url) or _IN_QUERY.search(url)):
        raise UserError(
            f"{key}: a URL can't carry a login or a key, since every config is written to disk; "
            "set the provider's environment variable instead"
        )


def _secrets() -> dict[str, str]:
    """Secrets of the environment, the longest first: one may hold another."""
    found = {
        name: value.strip()
        for name, value in os.environ.items()
        if _NAMES.search(name) and len(value.strip()) >= _SHORTEST
    }
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))
