"""Play every kind of hostile answer through the real command line, and judge what came of it.

    cd scripts/bench && python -m attacks.answers [KIND ...]

Most kinds are played in sweeps of 20, a condition each: the first attempts of some calls are
answered with hostility, later ones well. Kinds that concern every call to the provider run by
themselves. A kind is held where the status is 0 or 1 without a traceback or a `bug`, nothing
printed holds a control character, journals are whole and read back, no argument holds a second
STATE marker, no cost is negative, a second run asks for nothing that is journaled, and tables and
accounts can be made.
"""

import json
import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measuring import Watched, watch

from attacks.kinds import kinds, stopping
from attacks.server import Hostile, serving
from attacks.wire import Write
from plenum.base import flatten, make_printable
from plenum.records import DamagedJournal, read_attempts, read_entries

ROOT = Path(__file__).resolve().parents[3]
_MARKER = re.compile(r"(?<![A-Za-z0-9])(?:STATE\s*:|(?i:state\s*:\s*pref))")
_SWEEP_S, _ALONE_S = 600, 120
_CONDITIONS = 20
"""Of one sweep; from 24 on, a sweep has another process that estimates, and takes 110 MB more."""
_LARGEST = 3_000_000
"""Of a journal in bytes: a reply is never as large as a body may be."""


@dataclass
class Judged:
    """What was wrong, by kind; ``None`` holds what concerns all of them."""

    peak_mb: float = 0.0
    wrong: dict[str | None, list[str]] = field(default_factory=dict)

    def note(self, kind: str | None, problem: str) -> None:
        """Something was wrong."""
        self.wrong.setdefault(kind, []).append(problem)


def run(chosen: Sequence[str] = ()) -> dict[str, Any]:
    """Play the kinds.

    Parameters
    ----------
    chosen
        Names of kinds; all of them where none is named.

    Returns
    -------
    dict
        ``kinds`` and how many were ``held``; ``peak_mb``, the largest memory of one command with
        all its processes; ``wrong``, what was wrong by kind.
    """
    judged = Judged()
    many = {name: kind for name, kind in kinds().items() if name in chosen or not chosen}
    alone = {name: kind for name, kind in stopping().items() if name in chosen or not chosen}
    for first in range(0, len(many), _CONDITIONS):
        _sweep(dict(list(many.items())[first : first + _CONDITIONS]), judged)
    for name, kind in alone.items():
        _alone(name, kind, judged)
    names = [*many, *alone]
    held = 0 if None in judged.wrong else sum(name not in judged.wrong for name in names)
    wrong = {str(kind): problems for kind, problems in judged.wrong.items()}
    return {"kinds": len(names), "held": held, "peak_mb": round(judged.peak_mb), "wrong": wrong}


def _sweep(played: Mapping[str, Write], judged: Judged) -> None:
    models = ",".join(f"openai/{name}" for name in played)
    more = ["-m", f"model.default={models}", "tracking=local"]
    with tempfile.TemporaryDirectory() as folder, serving(played) as server:
        first = _command(Path(folder), server, more, judged)
        _judge_output(first, played, judged)
        _judge_journals(Path(folder), played, judged)
        before = server.requests.copy()
        _judge_output(_command(Path(folder), server, more, judged), played, judged)
        for name in played:
            if again := server.requests[name] - before[name]:
                judged.note(name, f"{again} requests again")
        for script in ("tables.py", "accounting.py"):
            done = _watched([f"scripts/{script}", "study=hostile"], folder, judged, None)
            if done.status:
                judged.note(None, f"{script} ended with {done.status}: {done.errors[-2000:]}")
            _judge_output(done, played, judged)


def _alone(name: str, kind: Write, judged: Judged) -> None:
    with tempfile.TemporaryDirectory() as folder, serving({name: kind}, always=True) as server:
        more = [f"model.default=openai/{name}", "tracking=none"]
        for _ in range(2):
            _judge_output(_command(Path(folder), server, more, judged, name), [name], judged)
        _judge_journals(Path(folder), [name], judged)


def _command(
    folder: Path, server: Hostile, more: Sequence[str], judged: Judged, alone: str | None = None
) -> Watched:
    settings = [
        *("backend=api", f"backend.api_base.openai={server.url}", "study=hostile"),
        *("rounds=2", "replicates=1", "calls.max_attempts=3", "calls.timeout_s=3"),
        *("calls.backoff_s=0.01", "calls.backoff_max_s=0.05", "sampling.max_tokens=400"),
        "+prices={openai/cached_above_prompt:{input:1,output:2,cached:0.1}}",
    ]
    done = _watched(["run.py", *more, *settings], str(folder), judged, alone)
    if done.status not in (0, 1):
        judged.note(alone, f"run.py ended with {done.status}: {done.errors[-2000:]}")
    return done


def _watched(arguments: Sequence[str], folder: str, judged: Judged, alone: str | None) -> Watched:
    kept = {k: v for k, v in os.environ.items() if not k.endswith(("_API_KEY", "_API_BASE"))}
    command = [sys.executable, str(ROOT / arguments[0]), *arguments[1:]]
    environment = {**kept, "OPENAI_API_KEY": "unused-by-anybody"}
    limit_s = _SWEEP_S if alone is None else _ALONE_S
    done = watch(command, folder, environment, tuple(range(-64, 256)), limit_s)
    judged.peak_mb = max(judged.peak_mb, done.peak_mb)
    return done


def _judge_output(
    done: Watched, played: Sequence[str] | Mapping[str, Write], judged: Judged
) -> None:
    for line in f"{done.output}\n{done.errors}".split("\n"):
        clean = make_printable(line) == line and all(map(_encodes, line))
        if clean and "Traceback" not in line and " x bug" not in line:
            continue
        named: list[str | None] = [name for name in played if name in line]
        for name in named or [_only(played)]:
            judged.note(name, f"printed: {ascii(line)[:300]}")


def _only(played: Sequence[str] | Mapping[str, Write]) -> str | None:
    """The kind, where only one is played."""
    return next(iter(played)) if len(played) == 1 else None


def _encodes(character: str) -> bool:
    return not 0xD800 <= ord(character) < 0xE000


def _judge_journals(
    folder: Path, played: Sequence[str] | Mapping[str, Write], judged: Judged
) -> None:
    seen = set()
    for log in folder.glob("mlruns/journals/*/calls.jsonl"):
        lines = list(read_attempts(log))
        if not lines:
            continue  # stopped before its first call: not played
        (name,) = {line["model"].partition("/")[2] for line in lines}
        seen.add(name)
        if any(line["outcome"] == "bug" for line in lines):
            judged.note(name, "an attempt ended as a bug")
        for journal in log.parent.glob("[0-9]*.jsonl"):
            _judge_journal(journal, name, judged)
    for name in set(played) - seen:
        judged.note(name, "it was not played")


def _judge_journal(journal: Path, name: str, judged: Judged) -> None:
    try:
        entries = read_entries(journal)
    except DamagedJournal as damage:
        judged.note(name, str(damage))
        return
    if journal.stat().st_size > _LARGEST:
        judged.note(name, f"a journal of {journal.stat().st_size} bytes")
    for entry in entries:
        if entry.get("cost") is not None and entry["cost"] < 0:
            judged.note(name, f"a cost of {entry['cost']}")
        if _MARKER.search(flatten(entry.get("argument", ""))):
            judged.note(name, "an argument holds a STATE marker")
        if entry["kind"] == "end" and entry.get("reason") == "bug":
            judged.note(name, f"bug: {entry['detail']}")


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1:]), indent=1))
