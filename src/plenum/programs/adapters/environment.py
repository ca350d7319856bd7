"""What a program gets: variables of its environment, and values in its command line or request."""

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from plenum.base.secrets import redact
from plenum.programs import client
from plenum.programs.adapters.program import Running

CLIENT = Path(next(iter(client.__path__)))
"""The folder of ``plenum_run.py``."""

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|COOKIE|SESSION", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_OF_OUR_PYTHON = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
_LOOPBACK = "127.0.0.1,localhost"


def scrubbed(passed: Iterable[str] = ()) -> dict[str, str]:
    """This process's environment without what may be a secret, by name or by value.

    Parameters
    ----------
    passed
        Names that the user lets through, such as a search tool's key.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not _SECRET_NAME.search(name) and name not in _OF_OUR_PYTHON and redact(value) == value
    }
    return kept | {name: os.environ[name] for name in passed if name in os.environ}


def variables(session: Running, case_file: Path, passed: Iterable[str]) -> dict[str, str]:
    """The environment of a program's process: the token of its run is its only key."""
    kept = scrubbed(passed)
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
    """What clients of models read from their environment."""
    names = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
    return {
        **dict.fromkeys(names, f"{root}/v1"),
        "OPENAI_API_KEY": key,
        "ANTHROPIC_BASE_URL": root,
        "ANTHROPIC_API_KEY": key,
    }


def values(session: Running) -> dict[str, Any]:
    """What placeholders stand for: ``{text}``, ``{seed}``, a knob's name, ..."""
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


def filled(template: Any, known: Mapping[str, Any]) -> Any:
    """A template with its placeholders replaced; a text that is one alone becomes its value."""
    if isinstance(template, Mapping):
        return {key: filled(value, known) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [filled(value, known) for value in template]
    if not isinstance(template, str):
        return template
    alone = _PLACEHOLDER.fullmatch(template)
    if alone and alone[1] in known:
        return known[alone[1]]
    return _PLACEHOLDER.sub(lambda m: _text(known[m[1]]) if m[1] in known else m[0], template)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
