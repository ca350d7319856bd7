"""Protection of private data: secrets are refused; folders and hosts are removed from configs."""

import json
import os
import re
import socket
from pathlib import Path
from typing import Any

import yaml

from plenum.base.errors import UserError
from plenum.base.identity import digest
from plenum.base.secrets import holds_secret
from plenum.base.yaml_files import parse_yaml

_SQLITE = "sqlite:///"
"""Begins the URL of an SQLite store: a path behind three slashes, absolute with a fourth."""
_FOLDER = re.compile(r"(?:/|~|[A-Za-z]:\\)")
"""Begins an absolute path, of Unix or of Windows, or one in the home folder."""
_HOST = re.compile(r"(?<=://)[^/\s]+")
"""The host of a URL, with a user, a password and a port."""
_PSEUDONYM = re.compile(r"server-[0-9a-f]{8}")
"""The result of :func:`server`: a study that was imported and is exported again keeps it."""
_SHORTEST = 5
"""Shortest name of a machine that is searched for; a shorter one may be an ordinary word."""


def config(data: bytes) -> bytes:
    """Remove folders and hosts from a composed config; return it unchanged if it names none."""
    values = parse_yaml(data.decode())
    clean = _clean(values)
    if clean == values:
        return data
    return yaml.safe_dump(clean, sort_keys=False, allow_unicode=True).encode()


def _clean(value: Any) -> Any:
    """Return a value of a config without folders and hosts; names of files stay."""
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if not isinstance(value, str):
        return value
    if value.startswith(_SQLITE):
        absolute = value.removeprefix(_SQLITE).startswith("/")
        return f"{_SQLITE}<folder>/{Path(value).name}" if absolute else value
    if _FOLDER.match(value):
        return f"<folder>/{Path(value).name}"
    return _HOST.sub("<host>", value)


def accounts(data: bytes) -> bytes:
    """Replace the names of servers in a condition's accounts; unchanged if there are none."""
    values = json.loads(data)
    named = [model for model in values.get("models", {}).values() if "servers" in model]
    for model in named:
        model["servers"] = {server(name): taken for name, taken in model["servers"].items()}
    return json.dumps(values).encode() if named else data


def server(name: str) -> str:
    """Return a server's pseudonym, which is the same in all conditions and names no host."""
    return name if _PSEUDONYM.fullmatch(name) else f"server-{digest(name)[:8]}"


def refuse_secrets(name: str, data: bytes) -> None:
    """Refuse a file that contains the value of a secret of the environment.

    Raises
    ------
    UserError
        It contains one. Nothing can be removed from a transcript, which is kept byte for byte.
    """
    if holds_secret(data.decode(errors="replace")):
        raise UserError(
            f"study: {name} holds the value of a secret of the environment; take the run that has "
            "it out of the study first, and have the secret changed"
        )


def list_revealed(data: bytes) -> list[str]:
    """Return what a file reveals: the machine's name, home folder or working directory."""
    named = {
        "this machine's name": socket.gethostname(),
        "the home folder": str(Path.home()),
        "the working directory": str(Path.cwd()),
    }
    return [
        what
        for what, text in named.items()
        if len(text) >= _SHORTEST and text != os.sep and text.encode() in data
    ]
