"""What names a program: its code, its interpreter, the packages that it may import."""

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum.base.identity import digest
from plenum_audit.programs.adapters.environment import CLIENT, endpoints, missed, scrubbed
from plenum_audit.programs.adapters.program import in_words
from plenum_audit.programs.client.plenum_run import DESCRIBED

_ASKED_S = 120
_NOWHERE = "http://127.0.0.1:9"
"""Where no model answers: clients that are made on import need some address, and some key."""

_CLIENT = str(CLIENT / "plenum_run.py")


def described(interpreter: str, target: str, passed: Sequence[str] = ()) -> dict[str, Any]:
    """What a program's interpreter says of ``FILE.py:NAME``: knobs, files, versions.

    Raises
    ------
    UserError
        There is no such interpreter, or the program can't be imported by it.
    """
    return _describe(interpreter, target, f"committee={target}", passed)


def packages(interpreter: str) -> dict[str, Any]:
    """An interpreter's version and its packages, as :func:`described` has them."""
    return _describe(interpreter, "", f"committee.python={interpreter}")


def code(files: Iterable[Path]) -> dict[str, str]:
    """Digests of source files and of the modules beside them that they import, by their paths."""
    known: dict[Path, bytes] = {}
    due = [file.resolve() for file in files]
    while due:
        file = due.pop()
        if file not in known and file.is_file():
            known[file] = file.read_bytes()
            due += _beside(file, known[file]) if file.suffix == ".py" else ()
    start = os.path.commonpath([file.parent for file in known]) if known else ""
    return {os.path.relpath(file, start): digest(known[file].hex()) for file in sorted(known)}


def of_target(target: str, description: Mapping[str, Any]) -> dict[str, Any]:
    """The identity of ``FILE.py:NAME`` by what its interpreter says of it."""
    place, _, name = target.rpartition(":")
    files = [Path(file) for file in description["files"]]
    if place.endswith(".py"):
        files.append(Path(place))
    versions = {key: description[key] for key in ("python", "packages")}
    return {"function": f"{Path(place).name}:{name}", "code": code(files), **versions}


def of_command(arguments: Sequence[str]) -> dict[str, Any]:
    """The identity of a command: its words, the files among them, and its Python's packages."""
    files = [Path(argument) for argument in arguments if Path(argument).is_file()]
    names = [Path(a).name if Path(a).is_file() else a for a in arguments]
    identity: dict[str, Any] = {"command": names, "code": code(f for f in files if _source(f))}
    program = shutil.which(arguments[0])
    if program and Path(program).name.startswith("python"):
        identity |= packages(program)
    return identity


def of_function(committee: Any) -> dict[str, Any]:
    """The identity of a function or an object of this process."""
    module = sys.modules.get(getattr(committee, "__module__", "") or type(committee).__module__)
    file = getattr(module, "__file__", None)
    name = getattr(committee, "__qualname__", type(committee).__qualname__)
    return {
        "function": name,
        "code": code([Path(file)] if file else []),
        **packages(sys.executable),
    }


def _source(file: Path) -> bool:
    """Whether a file is source, and no interpreter: those are named by their versions."""
    with file.open("rb") as stream:
        return b"\0" not in stream.read(2**13)


def _beside(file: Path, source: bytes) -> Iterator[Path]:
    """Files of modules in a file's folder, and below it, that it imports."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            names = [base, *(f"{base}.{alias.name}".strip(".") for alias in node.names)]
        for name in filter(None, names):
            path = file.parent.joinpath(*name.split("."))
            yield from (p.resolve() for p in (path.with_suffix(".py"), path / "__init__.py"))


def _describe(
    interpreter: str, target: str, key: str, passed: Sequence[str] = ()
) -> dict[str, Any]:
    try:
        ended = subprocess.run(
            [interpreter, _CLIENT],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_ASKED_S,
            env={**scrubbed(passed), **endpoints(_NOWHERE, "none-yet"), DESCRIBED: target},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UserError(f"{key}: it isn't imported within {_ASKED_S} s") from None
    except OSError as error:
        raise UserError(f"committee.python={interpreter}: {error.strerror}") from None
    if ended.returncode:
        last = ended.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        hint = missed(last, passed)
        said = in_words(last) or f"exit status {ended.returncode}"
        who = "this Python" if interpreter == sys.executable else interpreter
        tried = "can't import it" if target else "doesn't tell its version and its packages"
        raise UserError(f"{key}: {who} {tried}: {said}{hint}")
    try:
        return dict(json.loads(ended.stdout))
    except ValueError:
        raise UserError(f"{key}: {interpreter} is no Python") from None
