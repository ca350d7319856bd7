"""The program under audit, as its settings name it."""

import shlex
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from plenum.base.environment import hide_environment
from plenum.base.errors import UserError
from plenum.base.secret_input import refuse_for_program, refuse_in_url
from plenum_audit.design import CommitteeConfig
from plenum_audit.programs.adapters import identity
from plenum_audit.programs.adapters.endpoint import BODY, Http
from plenum_audit.programs.adapters.environment import refuse_placeholders, require_placeholders
from plenum_audit.programs.adapters.in_process import Callable, load
from plenum_audit.programs.adapters.processes import RUNNER, Child, Command
from plenum_audit.programs.adapters.program import Program
from plenum_audit.programs.adapters.target_suggestions import nameless, unreadable
from plenum_verdicts.cases.decision import rule_problem


def find_program(settings: CommitteeConfig) -> Program:
    """Return the program of the settings, described by its own interpreter.

    From now on no other process of this user can read this process's keys.

    Raises
    ------
    UserError
        There isn't exactly one way to run it, it can't be found or imported, its URL can't be used,
        or its command line or URL contains a secret.
    """
    _check(settings)
    hide_environment()
    if settings.http:
        return _endpoint(settings)
    if settings.command:
        return _command(settings)
    return _function(settings)


def _check(settings: CommitteeConfig) -> None:
    if sum(map(bool, (settings.target, settings.command, settings.http))) != 1:
        raise UserError(
            "committee: one of committee=FILE.py:NAME, committee.command=... and "
            "committee.http=URL is needed"
        )
    if settings.isolate == "none" and (settings.python or not settings.target):
        raise UserError(
            "committee.isolate=none: only for committee=FILE.py:NAME without committee.python"
        )
    if problem := rule_problem(settings.extract):
        raise UserError(f"committee.extract: {problem}")
    for name in ("command", "body", "knobs"):
        refuse_for_program(f"committee.{name}", getattr(settings, name))


def wrap_program(committee: Any) -> Program:
    """Return a function or an object of this process as a program."""
    return Callable(name_program(committee), committee, identity.identify_function(committee))


def name_program(committee: Any) -> str:
    """Return the name of a function, or of an object's class."""
    return str(getattr(committee, "__name__", type(committee).__name__))


def _function(settings: CommitteeConfig) -> Program:
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
    return Child(name, names, knobs, [interpreter, RUNNER, target], settings.env)


def _command(settings: CommitteeConfig) -> Program:
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
    return Command(name, names, settings.knobs, arguments, settings.env)


def _endpoint(settings: CommitteeConfig) -> Program:
    url = settings.http
    refuse_in_url("committee.http", url)
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UserError(f"committee.http={url}: a URL of http or https is needed")
    refuse_placeholders("committee.http", url)
    require_placeholders("committee.body", settings.body, settings.knobs)
    body = BODY if settings.body is None else settings.body
    names = {"url": url, "body": settings.body, "path": settings.path}
    name = settings.name or f"{parts.netloc}{parts.path}"
    return Http(name, names, settings.knobs, url, body, settings.path)
