"""Inputs of a program: environment variables, and values in its command line or request."""

import difflib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum.base.regular_files import read_text
from plenum.base.secrets import strip_secrets
from plenum_audit.programs import client
from plenum_audit.programs.adapters.program import RunSession

CLIENT = Path(next(iter(client.__path__)))
"""The folder of ``plenum_run.py``."""

_NAME = re.compile(r"\b[A-Za-z_][A-Za-z0-9_]*\b")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_MEANT = re.compile(r"(?<![${])\{(\w+)\}")
"""Words in braces that must be placeholders: neither a shell's ``${HOME}`` nor doubled braces."""
_OF_OUR_PYTHON = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
_LISTED = read_text(Path(__file__).with_name("given_variables.txt"))
_GIVEN = re.compile("|".join(re.findall(r"^[^#\n].*", _LISTED, re.MULTILINE)), re.IGNORECASE)

PLACEHOLDERS = (
    "case", "text", "options", "id", "seed", "index", "knobs", "base_url", "run_url", "token",
)  # fmt: skip
"""Placeholders in a command line or a request, in addition to the names of knobs."""

_LOOPBACK = "127.0.0.1,localhost"


def scrub(passed: Iterable[str] = ()) -> dict[str, str]:
    """Return the part of this process's environment that any program gets, without secrets.

    Parameters
    ----------
    passed
        Names that the user passes on as well, such as settings or the key of a search tool.
    """
    kept = {
        name: value
        for name, value in strip_secrets(os.environ).items()
        if _GIVEN.fullmatch(name) and name not in _OF_OUR_PYTHON
    }
    return kept | {name: os.environ[name] for name in passed if name in os.environ}


def advise_variable(said: str, passed: Iterable[str]) -> str:
    """Return advice on passing a variable that a failed program needs; or empty.

    Parameters
    ----------
    said
        The program's last words before it failed, such as ``KeyError: 'ROUNDS'``.
    """
    got = {*scrub(passed), *endpoints("", ""), *_OF_OUR_PYTHON}
    named = [name for name in _NAME.findall(said) if name in os.environ and name not in got]
    if not named:
        return ""
    names = ",".join(dict.fromkeys((*passed, *named)))
    return f"; a variable that it needs? committee.env=[{names}] passes it on"


def variables(session: RunSession, case_file: Path, passed: Iterable[str]) -> dict[str, str]:
    """Return the environment of a program's process; the token of its run is its only key."""
    kept = scrub(passed)
    folders = [str(CLIENT), *filter(None, [kept.get("PYTHONPATH")])]
    proxied = ",".join(filter(None, (kept.get("NO_PROXY") or kept.get("no_proxy"), _LOOPBACK)))
    root, given = session.base_url.removesuffix("/v1"), session.case()
    return {
        **kept,
        "NO_PROXY": proxied,
        "no_proxy": proxied,
        "PYTHONPATH": os.pathsep.join(folders),
        "PYTHONUNBUFFERED": "1",
        **endpoints(root, session.token),
        "PLENUM_RUN_URL": f"{root}/plenum",
        "PLENUM_CASE": str(case_file),
        "PLENUM_INDEX": str(given["index"]),
        "PLENUM_SEED": str(given["seed"]),
        "PLENUM_KNOBS": json.dumps(given["knobs"]),
    }


def endpoints(root: str, key: str) -> dict[str, str]:
    """Return the variables from which clients of models read their endpoint."""
    names = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
    return {
        **dict.fromkeys(names, f"{root}/v1"),
        "OPENAI_API_KEY": key,
        "ANTHROPIC_BASE_URL": root,
        "ANTHROPIC_API_KEY": key,
    }


def values(session: RunSession) -> dict[str, Any]:
    """Return the values of placeholders: ``{text}``, ``{seed}``, a knob's name, ..."""
    given, root = session.case(), session.base_url.removesuffix("/v1")
    case = given["case"]
    return {
        **given["knobs"],
        **given,
        **{name: case[name] for name in ("id", "text", "options")},
        "base_url": session.base_url,
        "run_url": f"{root}/plenum",
        "token": session.token,
    }


def require_placeholders(key: str, template: Any, knobs: Iterable[str]) -> None:
    """Refuse words in braces that aren't placeholders.

    Parameters
    ----------
    key
        The setting that holds the template.

    Raises
    ------
    UserError
        There is one.
    """
    known = (*PLACEHOLDERS, *knobs)
    for name in _meant(template):
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            meant = f"is {{{near[0]}}} meant? " if near else ""
            every = ", ".join(f"{{{each}}}" for each in known)
            raise UserError(
                f"{key}: {{{name}}} is no placeholder; {meant}there are {every}; braces that mean "
                f"something else have a space within: {{ {name} }}"
            )


def refuse_placeholders(key: str, text: str) -> None:
    """Refuse words in braces that won't be replaced; raises :class:`UserError`."""
    for name in _meant(text):
        raise UserError(
            f"{key}={text}: {{{name}}} stays as it is; a URL has no placeholders: "
            "put them into committee.body"
        )


def _meant(template: Any) -> Iterator[str]:
    """Yield the names in braces in all texts of a template."""
    if isinstance(template, Mapping):
        template = list(template.values())
    if isinstance(template, list | tuple):
        for each in template:
            yield from _meant(each)
    elif isinstance(template, str):
        yield from _MEANT.findall(template)


def fill_template(template: Any, known: Mapping[str, Any]) -> Any:
    """Replace the placeholders in a template; a text that is only one becomes its value."""
    if isinstance(template, Mapping):
        return {key: fill_template(value, known) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [fill_template(value, known) for value in template]
    if not isinstance(template, str):
        return template
    alone = _PLACEHOLDER.fullmatch(template)
    if alone and alone[1] in known:
        return known[alone[1]]
    return _PLACEHOLDER.sub(lambda m: _text(known[m[1]]) if m[1] in known else m[0], template)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
