"""The program under audit, as its settings name it."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from plenum.base.environment import hide_environment
from plenum.base.errors import UserError
from plenum.base.secret_input import refuse_for_program, refuse_in_url
from plenum_audit.programs.adapters import identity
from plenum_audit.programs.adapters.endpoint import Http
from plenum_audit.programs.adapters.environment import refuse_placeholders, require_placeholders
from plenum_audit.programs.adapters.in_process import Callable, load
from plenum_audit.programs.adapters.processes import Child, Command
from plenum_audit.programs.adapters.program import Program
from plenum_audit.programs.adapters.target_suggestions import nameless, unreadable
from plenum_verdicts.cases.decision import rule_problem


@dataclass(frozen=True)
class Committee:
    """The audited program, and how to run it: one of ``target, command, http``.

    Attributes
    ----------
    name
        Its name; if empty, the target's name, the command's or the host.
    target
        ``FILE.py:NAME`` or ``MODULE:NAME``.
    command
        A command line; ``{case}`` is the path of the case as JSON.
    http
        A URL.
    body
        The value to post to it, with placeholders.
    path
        The path of the decision in its JSON answer.
    python
        The interpreter of ``target``; this one if empty.
    isolate
        ``process``, or ``none`` to call ``target`` in this process, which hides nothing from it.
    timeout_s
        Time limit of a run in seconds, not counting waits for models.
    max_calls
        Maximal number of calls in a run.
    extract
        The rule for reading its text, unless the text names one itself.
    env
        Names of variables that it gets in addition to those for any program.
    knobs
        Values of settings to try, unless the program declares them itself.
    """

    name: str = ""
    target: str = ""
    command: str = ""
    http: str = ""
    body: Any = None
    path: str = ""
    python: str = ""
    isolate: str = "process"
    timeout_s: float = 600.0
    max_calls: int = 1000
    extract: str = ""
    env: tuple[str, ...] = ()
    knobs: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse settings that can't be run.

        Raises
        ------
        UserError
            There isn't exactly one way to run it, a value is out of range, or its command line or
            URL contains a secret.
        """
        if sum(map(bool, (self.target, self.command, self.http))) != 1:
            raise UserError(
                "committee: one of committee=FILE.py:NAME, committee.command=... and "
                "committee.http=URL is needed"
            )
        if self.isolate not in ("process", "none"):
            raise UserError(f"committee.isolate={self.isolate}: process and none are allowed")
        if self.isolate == "none" and (self.python or not self.target):
            raise UserError(
                "committee.isolate=none: only for committee=FILE.py:NAME without committee.python"
            )
        if not self.timeout_s > 0:
            raise UserError(f"committee.timeout_s={self.timeout_s:g}: it must be above 0")
        if self.max_calls < 1:
            raise UserError(f"committee.max_calls={self.max_calls}: it must be 1 or more")
        if problem := rule_problem(self.extract):
            raise UserError(f"committee.extract: {problem}")
        for name in ("command", "body", "knobs"):
            refuse_for_program(f"committee.{name}", getattr(self, name))


def find_program(settings: Committee) -> Program:
    """Return the program of the settings, described by its own interpreter.

    From now on no other process of this user can read this process's keys.

    Raises
    ------
    UserError
        It can't be found or imported, or its URL can't be used.
    """
    hide_environment()
    if settings.http:
        return _endpoint(settings)
    if settings.command:
        return _command(settings)
    return _function(settings)


def wrap_program(committee: Any) -> Program:
    """Return a function or an object of this process as a program."""
    return Callable(name_program(committee), committee, identity.identify_function(committee))


def name_program(committee: Any) -> str:
    """Return the name of a function, or of an object's class."""
    return str(getattr(committee, "__name__", type(committee).__name__))


def _function(settings: Committee) -> Program:
    target = settings.target
    place, _, attribute = target.rpartition(":")
    if not place or not attribute:
        raise UserError(f"committee={target}: {nameless(place or attribute)}")
    if place.endswith(".py") and (problem := unreadable(place)):
        raise UserError(f"committee={target}: {problem}")
    interpreter = settings.python or sys.executable
    description = identity.read_description(interpreter, target, settings.env)
    name = settings.name or f"{Path(place).stem}:{attribute}"
    names = identity.identify_target(target, description)
    knobs = description["knobs"] or settings.knobs
    if settings.isolate == "none":
        return Callable(name, load(target), names, knobs)
    return Child(name, target, names, knobs, settings.env, interpreter)


def _command(settings: Committee) -> Program:
    try:
        arguments = shlex.split(settings.command)
    except ValueError as error:
        raise UserError(f"committee.command={settings.command}: {error}") from None
    if not arguments:
        raise UserError("committee.command: it is empty")
    require_placeholders("committee.command", arguments, settings.knobs)
    names = identity.identify_command(arguments)
    files = [argument for argument in arguments[1:] if Path(argument).is_file()]
    name = settings.name or Path([*files, arguments[0]][0]).name
    return Command(name, arguments, names, settings.knobs, settings.env)


def _endpoint(settings: Committee) -> Program:
    url = settings.http
    refuse_in_url("committee.http", url)
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UserError(f"committee.http={url}: a URL of http or https is needed")
    refuse_placeholders("committee.http", url)
    require_placeholders("committee.body", settings.body, settings.knobs)
    names = {"url": url, "body": settings.body, "path": settings.path}
    name = settings.name or f"{parts.netloc}{parts.path}"
    return Http(name, url, names, settings.knobs, settings.body, settings.path)
