"""The identity of a program: its code, its interpreter, and the packages that it may import."""

import ast
import json
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum.base.identity import digest
from plenum_audit.programs.adapters.behaviour import digest_behaviour
from plenum_audit.programs.adapters.environment import CLIENT, advise_variable, endpoints, scrub
from plenum_audit.programs.adapters.program import make_printable_line
from plenum_audit.programs.client.plenum_run import DESCRIBED

_ASKED_S = 120
_NOWHERE = "http://127.0.0.1:9"
"""An address without a server, for clients that are created on import."""

_CLIENT = str(CLIENT / "plenum_run.py")


def read_description(interpreter: str, target: str, passed: Sequence[str] = ()) -> dict[str, Any]:
    """Return the interpreter's description of ``FILE.py:NAME``: knobs, files, versions.

    Raises
    ------
    UserError
        There is no such interpreter, or it can't import the program.
    """
    return _describe(interpreter, target, f"committee={target}", passed)


def packages(interpreter: str) -> dict[str, Any]:
    """Return an interpreter's version and its packages, as in :func:`read_description`."""
    return _describe(interpreter, "", f"committee.python={interpreter}")


def code(files: Iterable[Path]) -> dict[str, str]:
    """Return digests by path of source files and the neighbouring modules that they import."""
    known: dict[Path, bytes] = {}
    due = [file.resolve() for file in files]
    while due:
        file = due.pop()
        if file not in known and file.is_file():
            known[file] = file.read_bytes()
            due += _list_neighbours(file, known[file]) if file.suffix == ".py" else ()
    start = os.path.commonpath([file.parent for file in known]) if known else ""
    return {os.path.relpath(file, start): digest(known[file].hex()) for file in sorted(known)}


def identify_target(target: str, description: Mapping[str, Any]) -> dict[str, Any]:
    """Return the identity of ``FILE.py:NAME``, given its interpreter's description."""
    place, _, name = target.rpartition(":")
    files = [Path(file) for file in description["files"]]
    if place.endswith(".py"):
        files.append(Path(place))
    versions = {key: description[key] for key in ("python", "packages")}
    return {"function": f"{Path(place).name}:{name}", "code": code(files), **versions}


def identify_command(arguments: Sequence[str]) -> dict[str, Any]:
    """Return the identity of a command: words, files among them, packages of its Python."""
    files = [Path(argument) for argument in arguments if Path(argument).is_file()]
    names = [Path(a).name if Path(a).is_file() else a for a in arguments]
    known = [file for file in files if _is_known_by_content(file)]
    for flag, module in pairwise(arguments):
        parts = module.split(".")
        if flag == "-m" and all(map(str.isidentifier, parts)):
            place = Path(*parts)
            known += [place.with_suffix(".py"), *place.rglob("*.py")]
    identity: dict[str, Any] = {"command": names, "code": code(known)}
    program = shutil.which(arguments[0])
    if program and Path(program).name.startswith("python"):
        identity |= packages(program)
    return identity


def identify_function(committee: Any) -> dict[str, Any]:
    """Return the identity of a function or an object of this process.

    Where what it does can't be written, the identity is of this call alone: no evidence of it is
    ever taken for another's, and the key ``unwritten`` says why.
    """
    does, problem, files = digest_behaviour(committee)
    name = getattr(committee, "__qualname__", type(committee).__qualname__)
    known = {"does": does} if does else {"does": secrets.token_hex(16), "unwritten": problem}
    return {"function": name, "code": code(files), **packages(sys.executable), **known}


def _is_known_by_content(file: Path) -> bool:
    """Return whether a file is source code, or a program built here; interpreters have versions."""
    with file.open("rb") as stream:
        is_source = b"\0" not in stream.read(2**13)
    is_own = file.resolve().is_relative_to(Path.cwd()) and not file.name.startswith("python")
    return is_source or is_own


def _list_neighbours(file: Path, source: bytes) -> Iterator[Path]:
    """Yield the files of imported modules in or below a file's folder."""
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
            env={**scrub(passed), **endpoints(_NOWHERE, "none-yet"), DESCRIBED: target},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UserError(f"{key}: it isn't imported within {_ASKED_S} s") from None
    except OSError as error:
        raise UserError(f"committee.python={interpreter}: {error.strerror}") from None
    if ended.returncode:
        last = ended.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        hint = advise_variable(last, passed)
        said = make_printable_line(last) or f"exit status {ended.returncode}"
        who = "this Python" if interpreter == sys.executable else interpreter
        tried = "can't import it" if target else "doesn't tell its version and its packages"
        raise UserError(f"{key}: {who} {tried}: {said}{hint}")
    try:
        return dict(json.loads(ended.stdout))
    except ValueError:
        raise UserError(f"{key}: {interpreter} is no Python") from None
