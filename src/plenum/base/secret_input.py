"""Refusal of secrets in a user's input, since every config is written to disk."""

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from plenum.base.errors import UserError
from plenum.base.secrets import PARAMETER, SECRET_WORD, is_secret_name, list_secrets, redact

_SHORTEST_TOLD = 16
"""A shorter value may be an ordinary word, such as a stand-in for the key of a server at home."""

_SECRET_KEY = re.compile(
    r"(?:api_?key|access_?token|credentials?|passw(?:or)?d|secret|(?<![a-z])pwd?)$", re.IGNORECASE
)
"""Endings of config keys that would hold a secret, however short. plenum has no such key."""

_OFTEN_SECRET = re.compile(
    r"(?<![a-z])(?:pass|pat|dsn|bearer|pem|(?:web)?hook|conn)$", re.IGNORECASE
)
_MIXED = re.compile(r"(?=.*\d).*[a-z]", re.IGNORECASE)
"""Letters and digits: short values of the names above that are words or numbers are harmless."""

_URL_KEY = re.compile(r"ur[il]|api_base", re.IGNORECASE)
_AFTER_SCHEME = re.compile(r"(?:https?://|://(?!/))(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
"""The part of a URL after its scheme, if it has a host; three slashes begin a file's path."""

_VERSION = re.compile(r"[?&](?:api-)?version=[\w.-]*")
_CONFIG_KEY = re.compile(r"[+~]{0,2}-{0,2}[A-Za-z_][\w./@-]*")

_OF_PROGRAM = re.compile(r"[+~]{0,2}committee(?:\.(?:command|body|knobs)\b.*)?")
"""Keys whose values are passed to a program under audit."""

_SETS = re.compile(
    r"(?:(?<![^\s'\"({,;&|])(?P<flag>--?)(?P<option>[A-Za-z][\w.-]*)(?:=|\s+)"
    r"|(?<![\w./-])(?P<name>[A-Za-z][\w.-]*)['\"]?\s*[=:]\s*)"
    r"(?=(?P<value>\"[^\"]*\"|'[^']*'|(?:\{\w+\}|[^\s'\",;&|(){}[\]])+))"
)
"""``--api-key VALUE`` and ``--api-key=VALUE`` of a command, ``NAME=VALUE`` before one, and
``name: value`` of a body."""

_LOOKS_LIKE_KEY = re.compile(
    r"\b(?:sk|pk|rk)-[\w-]{8,}|\bgh[pousr]_\w{8,}|\bgithub_pat_\w{8,}|\bglpat-[\w-]{8,}"
    r"|\bxox[a-z]-[\w-]{8,}|\bAKIA[A-Z0-9]{12,}|\bAIza[\w-]{20,}|\bhf_\w{8,}|\bgsk_\w{8,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}|-----BEGIN [A-Z ]*PRIVATE KEY"
    r"|\b(?:Bearer|Basic)\s+[\w.~+/=-]{8,}"
)
_PREFIX = (
    r"(?<!\w)(?:(?:sk|pk|rk|csk|xai|pplx|nvapi|glpat|lsv2|xox[a-z])[-_]|gh[pousr]_|github_pat_"
    r"|hf_|gsk_|r8_|npm_|AKIA|ASIA|AIza|ya29\.)"
)
_DENSE = r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{16,}"
"""Letters and digits without a break: no words."""

_KEY_ANYWHERE = re.compile(
    rf"{_PREFIX}(?:(?:[\w-]*[-_])?{_DENSE}|(?=[\w-]*\d)[\w-]{{36,}})"
    r"|(?<!\w)eyJ[\w-]{16,}\.[\w-]{16,}|-----BEGIN [A-Z ]*PRIVATE KEY"
)
"""Forms of keys that no name has, refused in any setting."""

_AFTER_A_LETTER = {
    "k": re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w-]{8,}"),
    "u": re.compile(r"[^:/]+:[^/]*[A-Za-z][^/]*"),
}
"""Values of ``-k`` and ``-u`` that are a key, or a login; others are so if they are dense."""

_BASIC = re.compile(r"\bBasic\s+([\w+/-]+)", re.IGNORECASE)
_REFERENCE = re.compile(r"\$\{[^}]*\}|\$\(.*|\$\w*|`.*|\{\w+\}")
"""A variable of a shell, what a command prints, or a placeholder of plenum's."""

_SHORTEST = 8
_LIKE_A_KEY = (
    "it holds what looks like a key; keys come from the environment alone, since every config is "
    "written to disk"
)


def refuse_in_arguments(arguments: Sequence[str]) -> None:
    """Refuse a command line that holds a secret: Hydra would write it to the run's folder.

    Raises
    ------
    UserError
        An argument holds the value of a secret, sets a key that would hold one, gives one to a
        program under audit, or has a URL with a login or a key in it. The message names the
        argument and never shows its value.
    """
    for number, argument in enumerate(arguments, start=1):
        key, _, value = argument.partition("=")
        named = redact(key) if _CONFIG_KEY.fullmatch(key) and value else f"argument {number}"
        if name := _secret_in(argument):
            raise UserError(
                f"{named}: it holds the value of {name}; keys come from the environment "
                "alone, since every config is written to disk"
            )
        if _strip_references(value) and _SECRET_KEY.search(key):
            raise UserError(
                f"{named}: it can't be set here, since every config is written to disk; keys come "
                "from the environment alone, such as OPENAI_API_KEY"
            )
        if _OF_PROGRAM.fullmatch(key) and value and (key.count(".") or value.startswith("{")):
            if value[0] not in "[{" and _is_secret(key.rpartition(".")[2], value):
                raise _for_program(named, "its name is a secret's")
            refuse_for_program(named, value)
        login = bool(_URL_KEY.search(key)) and "@" in value and "sqlite:///" not in value
        if _KEY_ANYWHERE.search(argument):
            shown = f"argument {number}" if _KEY_ANYWHERE.search(named) else named
            raise UserError(f"{shown}: {_LIKE_A_KEY}")
        _refuse(named, argument if "://" in argument else unquote(argument), login)


def refuse_in_url(key: str, url: str) -> None:
    """Refuse a URL that carries a login or a key, since it would be written to disk.

    Raises
    ------
    UserError
        It does.
    """
    _refuse(key, url, login="@" in url and not url.startswith("sqlite:///"))


def refuse_for_program(key: str, value: Any) -> None:
    """Refuse a secret in anything that is passed to a program under audit, at any depth.

    Parameters
    ----------
    value
        A text, or plain data. A reference such as ``$NAME`` and a placeholder such as ``{token}``
        are no secrets.

    Raises
    ------
    UserError
        It holds the value of a secret, something that looks like a key, or a value under a name
        such as ``--api-key`` or ``password``. The message never shows it.
    """
    if isinstance(value, Mapping):
        for name, item in value.items():
            if isinstance(item, str) and _is_secret(str(name), item):
                raise _for_program(f"{key}.{name}", "its name is a secret's")
            refuse_for_program(f"{key}.{name}", item)
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            refuse_for_program(f"{key}.{number}", item)
    elif isinstance(value, str):
        if secret := _secret_in(value):
            raise _for_program(key, f"it holds the value of {secret}")
        if (
            _LOOKS_LIKE_KEY.search(value)
            or _KEY_ANYWHERE.search(value)
            or any(map(_is_login, _BASIC.findall(value)))
        ):
            raise _for_program(key, "it holds what looks like a key")
        for match in _SETS.finditer(value):
            name = match["option"] or match["name"]
            if _is_secret(name, match["value"]) or (
                match["flag"] and _follows(name, match["value"])
            ):
                raise _for_program(key, f"{match['flag'] or ''}{name} would hold a secret")


def refuse_keys(key: str, value: Any) -> None:
    """Refuse what is a key by its form in a setting, however deep, since settings are written.

    Raises
    ------
    UserError
        There is one; the message names the setting and never shows its value.
    """
    if isinstance(value, Mapping):
        for name, item in value.items():
            refuse_keys(f"{key}.{name}", item)
    elif isinstance(value, list | tuple):
        for item in value:
            refuse_keys(key, item)
    elif isinstance(value, str) and _KEY_ANYWHERE.search(value):
        raise UserError(f"{key}: {_LIKE_A_KEY}")


def _follows(letter: str, value: str) -> bool:
    """Return whether the value of an option of one letter has the form of a secret."""
    form = _AFTER_A_LETTER.get(letter, re.compile(_DENSE))
    return len(letter) == 1 and bool(form.fullmatch(_strip_references(value)))


def _secret_in(text: str) -> str:
    """Return the name of the variable whose value a text holds; empty if it holds none."""
    found = (
        n for value, n in list_secrets().items() if len(value) >= _SHORTEST_TOLD and value in text
    )
    return next(found, "")


def _is_secret(name: str, value: str) -> bool:
    """Return whether a value of this name is a secret, judged by the name and by its form."""
    words = re.sub(r"[-.]", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name))
    written = _strip_references(value)
    if not written or not is_secret_name(words):
        return False
    often = bool(_OFTEN_SECRET.search(words) and _MIXED.match(written))
    told = often or bool(_SECRET_KEY.search(words))
    return len(written) >= _SHORTEST or (told and written == value.strip("'\""))


def _strip_references(value: str) -> str:
    """Return a value without its references."""
    return _REFERENCE.sub("", value.strip("'\"")).strip()


def _is_login(encoded: str) -> bool:
    """Return whether base64 holds ``user:password``."""
    try:
        login = base64.b64decode(
            f"{encoded}==", altchars=b"-_" if set("-_") & set(encoded) else None
        )
        text = login.decode("ascii")
    except ValueError:
        return False
    return ":" in text and text.isprintable()


def _for_program(key: str, why: str) -> UserError:
    return UserError(
        f"{key}: {why}, and every config is written to disk; set a variable of the environment, "
        "and name it in committee.env=[NAME]: the program gets it"
    )


def _refuse(key: str, text: str, login: bool) -> None:
    """Refuse a login and a key; a password may hold anything, also a slash or a space."""
    url = _AFTER_SCHEME.search(text)
    rest = _VERSION.sub("", url["rest"]) if url else ""
    secret = any(SECRET_WORD.search(match["name"]) for match in PARAMETER.finditer(text))
    if login or secret or set("@?#") & set(rest):
        raise UserError(
            f"{key}: a URL can't carry a login or a key, since every config is written to disk; "
            "set the provider's environment variable instead (allowed after ? is api-version, and "
            "an @ of a path is written as %40)"
        )
