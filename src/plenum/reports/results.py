"""A study's results in the terminal: its tables, their meaning, and next steps."""

import os
import shlex
import shutil
import sys
from pathlib import Path

from plenum.base.errors import UserError
from plenum.base.project import project_root
from plenum.design.kinds import Kind
from plenum.reports.settings import Settings
from plenum.reports.study import find_study_kind
from plenum.show.phrases import render
from plenum.show.terminal_tables import show_framed, show_steps, show_text

_LOCAL = "sqlite:///mlruns/mlflow.db"
"""The store of ``tracking=local``, which ``make ui`` opens."""


def publish_results(chosen: Settings) -> None:
    """Print, write and log a study's tables; then summarise them in a few sentences.

    Raises
    ------
    UserError
        There is no such study, or nothing in it; or its kind can't be split.
    """
    kind = find_study_kind(chosen.study, chosen.uri)
    if chosen.split and not kind.splits:
        raise UserError(f"split: {chosen.split}; the tables of {kind.plural} aren't split")
    happened = kind.publish_tables(chosen)
    if chosen.split:
        show_text(
            f"split by {chosen.split}: nobody drew who answered, so that what differs between them "
            "may also come of when they did"
        )
    if happened:
        show_framed(happened, "What happened")
    show_steps(_next_steps(chosen, kind))


def _next_steps(chosen: Settings, kind: Kind) -> list[tuple[str, str]]:
    """List next steps as pairs: a name, and a command, a page or a folder."""
    served = os.environ.get("MLFLOW_TRACKING_URI", "http://127.0.0.1:5000")
    presets = {_LOCAL: [], served: ["tracking=server"]}  # the default store needs no argument
    store = presets.get(chosen.uri, [f"tracking.uri={chosen.uri}"])
    shown = {"figures": kind.has(Kind.publish_figures), "report": kind.has(Kind.compose_report)}
    shown["explore"] = kind.has(Kind.explore)
    in_project = Path.cwd() == project_root()  # `make` and the pages of docs/ are only there
    steps = render(
        "plenum.reports/next_steps.md.j2",
        python=_python(),
        scripts=shlex.quote(os.path.relpath(project_root() / "scripts")),
        arguments=shlex.join([f"study={chosen.study}", *store]),
        browser=chosen.uri == _LOCAL and in_project,
        more_tables=not chosen.every,
        folder=chosen.folder,
        shown_by=[script for script, has in shown.items() if has],
        more=kind.more.replace(": ", "|") if in_project else "",
    )
    # A line of the template is "name|what".
    return [(name, what) for name, _, what in (step.partition("|") for step in steps)]


def _python() -> str:
    """Return the command for this interpreter; ``make run`` leaves its environment inactive."""
    interpreter = Path(sys.executable)
    if shutil.which("python") == str(interpreter) or not interpreter.is_relative_to(Path.cwd()):
        return "python"
    return str(interpreter.relative_to(Path.cwd()))
