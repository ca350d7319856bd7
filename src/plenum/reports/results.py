"""A study's results in the terminal: its tables, their meaning, and next steps."""

import os
import shlex
import shutil
import sys
from pathlib import Path

from plenum.base import project_root
from plenum.design import Kind
from plenum.reports.phrases import paragraphs
from plenum.reports.printing import show_framed, show_steps
from plenum.reports.settings import Settings
from plenum.reports.study import kind_of

_SCRIPTS = {"figures": "report_figures", "explore": "explorer", "report": "report"}
"""Scripts that show more of a study, by the part of its kind that they need."""

_LOCAL = "sqlite:///mlruns/mlflow.db"
"""The store of ``tracking=local``, which ``make ui`` opens."""


def publish_results(chosen: Settings) -> None:
    """Print, write and log a study's tables; then summarise them in a few sentences.

    Raises
    ------
    UserError
        There is no such study, or nothing in it.
    """
    kind = kind_of(chosen.study, chosen.uri)
    shown = kind.part("report_tables")(chosen)
    if kind.has("findings"):
        show_framed(kind.part("findings")(shown), "What happened")
    show_steps(_next_steps(chosen, kind))


def _next_steps(chosen: Settings, kind: Kind) -> list[tuple[str, str]]:
    """List next steps: a name, and a command, a page or a folder."""
    served = os.environ.get("MLFLOW_TRACKING_URI", "http://127.0.0.1:5000")
    named = {_LOCAL: [], served: ["tracking=server"]}
    arguments = [f"study={chosen.study}", *named.get(chosen.uri, [f"tracking.uri={chosen.uri}"])]
    here = Path.cwd() == project_root()  # make and the pages are nowhere else
    steps = paragraphs(
        "next_steps.md.j2",
        python=_python(),
        scripts=shlex.quote(os.path.relpath(project_root() / "scripts")),
        arguments=shlex.join(arguments),
        browser=chosen.uri == _LOCAL and here,
        more_tables=not chosen.every,
        folder=chosen.out,
        shown_by=[script for script, part in _SCRIPTS.items() if kind.has(part)],
        more=kind.more.replace(": ", "|") if here else "",
    )
    return [(name, what) for name, _, what in (step.partition("|") for step in steps)]


def _python() -> str:
    """Return the command for this interpreter; ``make run`` leaves its environment inactive."""
    here = Path(sys.executable)
    if shutil.which("python") == str(here) or not here.is_relative_to(Path.cwd()):
        return "python"
    return str(here.relative_to(Path.cwd()))
