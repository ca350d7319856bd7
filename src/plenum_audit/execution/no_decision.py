"""Diagnosis of runs without a decision: reasons, texts of models, and output of programs."""

from collections.abc import Iterable
from pathlib import Path

from plenum.base.text import flatten
from plenum.execution.condition_folder import find_condition_folder, find_journal
from plenum.records.transcript import Transcript
from plenum_audit.execution.audit_runs import CaseRuns, read_ended
from plenum_audit.programs.condition import require_program
from plenum_verdicts.dynamics.audits import FAILED, NO_DECISION

_SHOWN = 100
_READ = 4_000

_SIMULATED = (
    "; the simulated model couldn't answer the program's prompt: simulated agents follow a JSON "
    "schema and a tool that a request names, and only some words of a prompt, so that a format of "
    "the program's own needs response_format in its request "
    "(docs/simulated-backend.md#under-audit)"
)
_EXTRACT = "; committee.extract says how a text is read, such as name, regex:PATTERN or json:PATH"


def has_decision(run: Transcript) -> bool:
    """Return whether a run that ended reached a decision."""
    return run.status == "completed" and str(run.decision) != NO_DECISION


def refusal(cases: Iterable[CaseRuns]) -> str:
    """Return the reason that runs without any decision are invalid; empty if one has a decision."""
    begun = [case for case in cases if case.outcomes]
    outcomes = [outcome for case in begun for outcome in case.outcomes]
    if not outcomes or set(outcomes) - {FAILED, NO_DECISION}:
        return ""
    job = begun[0].job
    journal = find_journal(job, 0)
    run = read_ended(journal)
    words = _EXTRACT if run is not None and _unread(run) and not _extracts(begun[0]) else ""
    if run is not None and run.calls and job.condition.backend.name == "simulated":
        words = _SIMULATED  # reading another part of what it wrote would not help
    return (
        f"case {begun[0].id}: no verdict: none of {len(outcomes)} runs came to a decision; run 0: "
        f"{explain_no_decision(run, journal)}{words}; where the program stays as it is, move "
        f"{find_condition_folder(job)} away to try again"
    )


def explain_no_decision(run: Transcript | None, journal: Path) -> str:
    """Describe why a run has no decision, the beginning of its text, and the file with all of it.

    Parameters
    ----------
    journal
        The run's journal; its program's output is in the same folder.
    """
    end = (run.end if run is not None else None) or {}
    unread = f"its decision can't be read: {end.get('unread')}" if end.get("unread") else ""
    words = [end.get("detail") or unread or end.get("reason") or "it ended without one"]
    texts = [str(call["text"]) for call in run.calls] if run is not None else []
    if written := next(filter(str.strip, reversed(texts)), ""):
        words.append(f"its model wrote {_start(written)}")
    output = journal.with_suffix(".output")
    if output.is_file():
        printed = _stdout(output)
        what = _start(printed) if printed else "errors alone"
        words.append(f"it printed {what} (all of it: {output})")
    return "; ".join(words)


def _stdout(output: Path) -> str:
    """Return the beginning of a program's output, without its errors."""
    with output.open(encoding="utf-8", errors="replace") as lines:
        text = lines.read(_READ)
    _, opened, rest = text.partition("--- stdout\n")
    return rest.partition("\n--- stderr\n")[0].strip() if opened else ""


def _start(text: str) -> str:
    line = flatten(text)
    return f'"{line}"' if len(line) <= _SHOWN else f'"{line[:_SHOWN]}..."'


def _unread(run: Transcript) -> bool:
    return bool((run.end or {}).get("unread"))


def _extracts(case: CaseRuns) -> bool:
    return bool(require_program(case.job.condition).program.get("extract"))
