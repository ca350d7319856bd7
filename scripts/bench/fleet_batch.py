"""A sweep in two providers' batches that is killed again and again, against the same one live."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from support.fault_server import (
    BatchFaults,
    FaultSettings,
    Latency,
    RunningServer,
    serve_in_thread,
)

ROOT = Path(__file__).resolve().parents[2]
_OPENAI, _ANTHROPIC = "openai/house-model", "anthropic/claude-sonnet-4-5"
_SEATS = ("Chair", "Welfare", "Rights", "Equity", "Security")
_FAULTS = BatchFaults(
    errored=0.02,
    busy=0.02,
    before=0.03,
    after=0.03,
    garbled=0.02,
    takes_s=0.1,
    slow=0.1,
    slow_s=0.4,
)
_TIMEOUT_S = 1500

Answers = dict[tuple[str, int], dict[str, Any]]
"""Answers by journal and place in it."""


def measure(quick: bool) -> dict[str, float | bool]:
    """The figures.

    Returns
    -------
    dict
        ``batch_price_ratio``, dollars of the sweep in batches over those of the live one;
        ``batch_lost``, answers that were paid and stand in no journal, and those of the live sweep
        that the other one lacks or has otherwise; ``batch_paid_twice``, calls that were paid more
        than once; ``batch_kills``, after which these were counted.
    """
    kills, shape = (4, "rounds=2") if quick else (20, "rounds=8")
    with tempfile.TemporaryDirectory() as live, tempfile.TemporaryDirectory() as killed:
        with serve_in_thread(FaultSettings(port=0, latency=Latency(0.0))) as server:
            _sweep(Path(live), server, 0, shape)
        port = int(server.url.rpartition(":")[2].removesuffix("/v1"))
        with serve_in_thread(
            FaultSettings(port=port, latency=Latency(0.0), batches=_FAULTS)
        ) as server:
            given = (shape, "calls.batch=true", "batch.poll_s=0.05")
            report = _sweep(Path(killed), server, kills, *given)
            stats = server.stats()
        wanted, got = _answers(Path(live)), _answers(Path(killed))
    cost = [sum(each["cost"] for each in answers.values()) for answers in (got, wanted)]
    missing = sum(got.get(place, {}).get("text") != each["text"] for place, each in wanted.items())
    return {
        "batch_price_ratio": round(cost[0] / cost[1], 6),
        "batch_lost": missing + abs(stats["paid"] - len(got)),
        "batch_paid_twice": stats["paid_twice"] + stats["answered_twice"],
        "batch_kills": sum(snapshot["killed"] for snapshot in report["snapshots"]),
    }


def _sweep(folder: Path, server: RunningServer, kills: int, *more: str) -> dict[str, Any]:
    """A sweep of two conditions that is killed so often, and then finished.

    Every other seat is Anthropic's.
    """
    seats = ",".join(f"{seat}:{(_OPENAI, _ANTHROPIC)[n % 2]}" for n, seat in enumerate(_SEATS))
    prices = ",".join(f"{model}:{{input:100,output:400}}" for model in (_OPENAI, _ANTHROPIC))
    command = [
        *(sys.executable, str(ROOT / "tests/killing.py")),
        *(f"backend.api_base.openai={server.url}", str(kills), "7", "backend.send_seed=false"),
        f"+backend.api_base.anthropic={server.url.removesuffix('/v1')}",
        *(f"+model.seats={{{seats}}}", f"model.default={_OPENAI}", f"+prices={{{prices}}}"),
        *("calls.max_attempts=20", *more),
    ]
    keys = {f"{name}_API_KEY": "any-key" for name in ("OPENAI", "ANTHROPIC")}
    env = {**os.environ, **keys, "PLENUM_ROOT": str(ROOT)}
    done = subprocess.run(
        command, cwd=folder, env=env, text=True, capture_output=True, timeout=_TIMEOUT_S
    )
    if done.returncode:
        raise SystemExit(f"the sweep failed:\n{done.stderr[-2000:]}")
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


def _answers(folder: Path) -> Answers:
    found = {}
    for file in sorted((folder / "journals").glob("*/[0-9]*.jsonl")):
        entries = [json.loads(line) for line in file.read_text().splitlines()]
        for place, entry in enumerate(entry for entry in entries if "text" in entry):
            found[f"{file.parent.name}/{file.stem}", place] = entry
    return found
