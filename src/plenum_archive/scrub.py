"""What must not leave the machine: secrets are refused, folders and hosts taken out of configs."""

import json
import os
import re
import socket
from pathlib import Path
from typing import Any

import yaml

from plenum.base import yaml_files
from plenum.base.errors import UserError
from plenum.base.identity import digest
from plenum.base.secrets import holds_secret

_SQLITE = "sqlite:///"
_FOLDER = re.compile(r"(?:/|~|[A-Za-z]:\\)")
_HOST = re.compile(r"(?<=://)[^/\s]+")
_CALLED = re.compile(r"server-[0-9a-f]{8}")
_SHORTEST = 5
"""A shorter name of a machine may be a word."""


def config(data: bytes) -> bytes:
    """A composed config without folders of a machine and hosts; as it is where it names none."""
    values = yaml_files.parsed(data.decode())
    clean = _clean(values)
    if clean == values:
        return data
    return yaml.safe_dump(clean, sort_keys=False, allow_unicode=True).encode()


def _clean(value: Any) -> Any:
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
    """A condition's accounts without the names of servers; as they are where they name none."""
    values = json.loads(data)
    named = [model for model in values.get("models", {}).values() if "servers" in model]
    for model in named:
        model["servers"] = {server(name): taken for name, taken in model["servers"].items()}
    return json.dumps(values).encode() if named else data


def server(name: str) -> str:
    """What a server is called in an archive: the same in all its conditions, and no host."""
    return name if _CALLED.fullmatch(name) else f"server-{digest(name)[:8]}"


def refuse_secrets(name: str, data: bytes) -> None:
    """Refuse a file that holds the value of a secret of the environment.

    Raises
    ------
    UserError
        It does; nothing can be taken out of a transcript, which is kept byte for byte.
    """
    if holds_secret(data.decode(errors="replace")):
        raise UserError(
            f"study: {name} holds the value of a secret of the environment; take the run that has "
            "it out of the study first, and have the secret changed"
        )


def of_this_machine(data: bytes) -> list[str]:
    """What a file tells of the machine: its name, the home folder, the working directory."""
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
