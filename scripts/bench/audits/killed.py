"""Kill audits of a LangGraph team whose seats call at once, and give the same command again.

A first audit gets SIGKILL, with all its processes, as soon as the provider was paid for so many
answers, and up to a third of a second later. What the journals held then must all be in those of
the audit that goes on (else it is lost), and must not be paid for again. Answers that were under
way at the kill can't be kept by anybody; they are counted beside that.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audits.upstream import Upstream, serving
from plenum.base import make_generator
from plenum.records import DamagedJournal, read_entries

ROOT = Path(__file__).resolve().parents[3]
PYTHON = ROOT / ".frameworks/langgraph/bin/python"
RUNS, CALLS = 3, 18
"""Runs of an audit, and the calls that they make in all."""

_LATENCY_S = 0.12
_LATER_S = 0.33
_TIMEOUT_S = 300
_UNDECIDED = 3

Answers = dict[Path, list[tuple[str, int, str]]]
"""Prompt, occurrence and digest of each journaled answer, by journal."""


@dataclass(frozen=True)
class Survived:
    """What a kill cost.

    Attributes
    ----------
    lost, twice
        Journaled answers that weren't taken up, or were paid for again.
    kept, under_way
        Answers that the journals held at the kill, and those that were paid for and in none.
    problem
        What else was wrong; empty for nothing.
    """

    lost: int
    twice: int
    kept: int
    under_way: int
    problem: str


def measure(kills: int = 50) -> dict[str, Any]:
    """Kill so many audits, one after the other; sums over them."""
    if not PYTHON.exists():
        sys.exit("kills: no environment with LangGraph; sh scripts/frameworks.sh langgraph")
    rng = make_generator("bench", "kills")
    results = []
    with serving(_LATENCY_S) as upstream:
        for after, later in zip(
            rng.integers(0, CALLS, kills), rng.uniform(0, _LATER_S, kills), strict=True
        ):
            results.append(result := _killed(upstream, int(after), float(later)))
            print(f"kill {len(results)} of {kills}: {result}", flush=True)
    problems = [result.problem for result in results if result.problem]
    return {
        "replay_lost": sum(result.lost for result in results),
        "replay_paid_twice": sum(result.twice for result in results),
        "replay_kills": kills,
        "replay_kept": sum(result.kept for result in results),
        "replay_under_way": sum(result.under_way for result in results),
        "replay_problems": len(problems),
    }


def _killed(upstream: Upstream, after: int, later_s: float) -> Survived:
    """Kill an audit when ``after`` answers are paid, and let the same command end it."""
    with tempfile.TemporaryDirectory() as folder:
        place, before = Path(folder), len(upstream.paid)
        audit = _start(place, upstream.url)
        deadline = time.monotonic() + _TIMEOUT_S
        while audit.poll() is None and len(upstream.paid) - before <= after:
            if time.monotonic() > deadline:
                break
            time.sleep(0.005)
        with suppress(subprocess.TimeoutExpired):
            audit.wait(later_s)
        with suppress(ProcessLookupError):
            os.killpg(audit.pid, signal.SIGKILL)
        audit.communicate()
        time.sleep(0.5)  # the children end with it, and the provider's last answers are booked
        kept, paid = _answers(place), len(upstream.paid)
        again = _start(place, upstream.url)
        output, _ = again.communicate(timeout=_TIMEOUT_S)
        now = _answers(place)
        asked = Counter(upstream.paid[paid:])
    problem = ""
    if again.returncode != _UNDECIDED:
        problem = f"after {after} answers: status {again.returncode}: {output[-300:]}"
    held = sum(map(len, kept.values()))
    return Survived(
        lost=sum(len(set(made) - set(now.get(path, ()))) for path, made in kept.items()),
        twice=(asked - _new(kept, now)).total() + _made_twice(now),
        kept=held,
        under_way=paid - before - held,
        problem=problem,
    )


def _start(folder: Path, url: str) -> "subprocess.Popen[str]":
    command = [
        *(sys.executable, str(ROOT / "scripts/audit.py")),
        f"committee={ROOT}/examples/hiring_langgraph.py:committee",
        f"committee.python={PYTHON}",
        f"case={ROOT}/examples/cases/night-nurse.yaml",
        *("backend=api", f"backend.api_base.openai={url}", "tracking=none"),
        *(f"max_runs={RUNS}", f"concurrency={RUNS}"),
    ]
    ours = ("MLFLOW_", "PLENUM_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return subprocess.Popen(
        command,
        cwd=folder,
        env={**kept, "OPENAI_API_KEY": "unused"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def _answers(folder: Path) -> Answers:
    """What the journals hold, those that were set aside among them."""
    answers: Answers = {}
    for path in folder.glob("mlruns/journals/*/[0-9]*.jsonl"):
        with suppress(DamagedJournal):  # not even a head was written
            calls = [e for e in read_entries(path) if e["kind"] == "call"]
            answers[path] = [(e["prompt"], e["occurrence"], e["answer"]) for e in calls]
    return answers


def _new(kept: Answers, now: Answers) -> Counter[str]:
    """The prompts of answers that were journaled since."""
    prompts = Counter(prompt for made in now.values() for prompt, *_ in made)
    prompts.subtract(prompt for made in kept.values() for prompt, *_ in made)
    return +prompts


def _made_twice(now: Answers) -> int:
    """Answers to one call of one run: what was set aside was paid for again."""
    calls = Counter(
        (path.parent, path.name.partition(".")[0], prompt, occurrence)
        for path, made in now.items()
        for prompt, occurrence, _ in made
    )
    return sum(times - 1 for times in calls.values())
