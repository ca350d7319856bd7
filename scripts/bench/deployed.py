"""Measure the deployed regime: a sweep through real sockets against the fault server.

    python scripts/bench/deployed.py [quick | whole]

The server runs on a core of its own, journals are written, everything happens in one run:

- wall_over_floor    20 replicates at a time, 106 calls each at a fixed 50 ms: time from the first
                     call to the last answer, over 106 x 50 ms
- whole              the same as a command, from its start to its printed answer, with MLflow's
                     store made afresh: its wall over 106 x 50 ms; whole_cpu_s and whole_peak_mb
                     are of all its processes
- cpu_ms_per_turn    CPU of the client for prompt, call, parse and journal; beside it a bare
                     aiohttp client that sends the same bodies and reads the same answers, and
                     the same sweep through LiteLLM
- calls_per_s        960 replicates of 10 rounds in flight at once, 200 ms: calls over the time from
                     the first call to the last answer; peak_mb of all its processes, with MLflow;
                     growth_mb of the process that calls, from the first third of the calls, when
                     few replicates have finished, to the last, when all have
- mlflow_wall_ratio  wall of the same sweep with MLflow logging over without, two runs of each
- lost, paid_twice   a sweep under 12 % faults of all kinds: completed + failed = target; what the
                     server saw (each request, each injected fault) against what the call logs have

`quick` is a smaller run of everything, and says so; `whole` measures that figure alone.
"""

import asyncio
import contextlib
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from measuring import Watched, mode, show_figures, watch
from rich import box
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[2]
WHOLE = {"whole": "1.6", "whole_cpu_s": "4.5 s", "whole_peak_mb": ""}
"""Figures of the whole command, and what they should be at most."""
EXPECTED = {
    "rate_limit": {"rate_limit"},
    "server_error": {"server"},
    "unavailable": {"server"},
    "reset": {"server"},
    "truncated": {"server"},
    "wrong_type": {"server"},
    "hang": {"timeout"},
    "empty_choices": {"empty"},
    "length": {"length"},
    "malformed": {"parse"},
    "trickle": {"ok"},
}


def main() -> None:
    """Measure, print a table for people, and one JSON line for machines."""
    if sys.argv[1:2] == ["client"]:
        print(json.dumps(CLIENTS[sys.argv[2]](**json.loads(sys.argv[3]))))
        return
    chosen = mode(__doc__, "quick", "whole")
    if chosen == "whole":
        with serving("latency.median_s=0.05") as url:
            figures = whole(url, rounds=20)
        show_figures(figures, WHOLE)
        return
    quick = chosen == "quick"
    rounds, conditions = (5, 12) if quick else (20, 48)
    with serving("latency.median_s=0.05") as url:
        turns, _ = client("sweep", url, replicates=20, rounds=rounds)
        bare, _ = client("bare", url, replicates=20, rounds=rounds)
        slow, _ = client("sweep", url, replicates=20, rounds=2, more=["calls.transport=litellm"])
        command = whole(url, rounds)
    with serving("latency.median_s=0.2") as url:
        size = {"replicates": 20, "rounds": 10, "seeds": conditions}
        # Without, with, with, without: what the machine does meanwhile falls on both alike.
        plain, seen = client("sweep", url, **size)
        peak_in_flight = stats(url)["max_in_flight"]
        logged, with_mlflow = client("sweep", url, **size, more=["tracking=local"])
        logged_again, _ = client("sweep", url, **size, more=["tracking=local"])
        plain_again, _ = client("sweep", url, **size)
    spans = plain["span_s"] + plain_again["span_s"]
    walls = [logged["wall_s"] + logged_again["wall_s"], plain["wall_s"] + plain_again["wall_s"]]
    faulty = faults(replicates=5 if quick else 20)

    floor = turns["calls"] / 20 * 0.05
    figures = {
        "wall_over_floor": round(turns["span_s"] / floor, 3),
        **command,
        "cpu_ms_per_turn": round(1000 * turns["cpu_s"] / turns["calls"], 3),
        "bare_aiohttp_ms": round(1000 * bare["cpu_s"] / bare["calls"], 3),
        "litellm_ms": round(1000 * slow["cpu_s"] / slow["calls"], 3),
        "calls_per_s": round(2 * plain["calls"] / spans, 1),
        "peak_mb": round(max(seen.peak_mb, with_mlflow.peak_mb), 1),
        "growth_mb": round(growth(plain, seen), 1),
        "peak_in_flight": peak_in_flight,
        "mlflow_wall_ratio": round(walls[0] / walls[1], 3),
        **faulty,
    }
    show(figures, 20 * conditions, quick)
    print(json.dumps(figures))
    if figures["completed"] + figures["failed"] != figures["target"]:
        sys.exit("completed + failed is not the target")
    if figures["lost"] or figures["paid_twice"]:
        sys.exit("calls were lost, or paid twice")


def show(figures: dict[str, Any], replicates: int, quick: bool) -> None:
    """The table for people."""
    machine = f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores"
    title = f"{machine}, Python {platform.python_version()}" + (", quick" if quick else "")
    table = Table(box=box.SIMPLE_HEAD, title=title)
    for head in ("figure", "measured", "to reach", "baseline in this run", "ratio"):
        table.add_column(head)
    bare, cpu = figures["bare_aiohttp_ms"], figures["cpu_ms_per_turn"]
    table.add_row(
        "wall over floor, 50 ms", f"{figures['wall_over_floor']:.3f}", "1.10", "floor", ""
    )
    for name, most in WHOLE.items():
        table.add_row(f"the whole command: {name}", f"{figures[name]:.2f}", most, "", "")
    table.add_row(
        "client CPU a turn", f"{cpu:.2f} ms", "1.0 ms", f"bare aiohttp {bare:.2f} ms",
        f"{cpu / bare:.2f} x",
    )  # fmt: skip
    table.add_row(
        "",
        "",
        "",
        f"LiteLLM {figures['litellm_ms']:.2f} ms",
        f"{cpu / figures['litellm_ms']:.2f} x",
    )
    table.add_row(
        f"{replicates} replicates at once, 200 ms",
        f"{figures['calls_per_s']:.0f} calls/s",
        "800 calls/s",
        f"at most {figures['peak_in_flight']} calls in flight",
        "",
    )
    table.add_row("its peak memory, with MLflow", f"{figures['peak_mb']:.0f} MB", "1500 MB", "", "")
    table.add_row("growth while they finish", f"{figures['growth_mb']:.0f} MB", "flat", "", "")
    table.add_row(
        "wall with MLflow", f"{figures['mlflow_wall_ratio']:.2f} x", "1.25 x", "without", ""
    )
    outcomes = f"{figures['completed']} + {figures['failed']} of {figures['target']}"
    table.add_row(
        f"{figures['faults']} faults in {figures['requests']} requests",
        f"lost {figures['lost']}, paid twice {figures['paid_twice']}",
        "0, 0",
        f"completed + failed: {outcomes}",
        "",
    )
    Console(width=120).print(table)


@contextlib.contextmanager
def serving(*settings: str) -> Iterator[str]:
    """A fault server in a process of its own, on the last core."""
    process = subprocess.Popen(
        [sys.executable, "-m", "support.fault_server", *settings],
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().split()[1]
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) > 1:
            os.sched_setaffinity(process.pid, cores[-1:])
        yield url
    finally:
        process.terminate()
        process.wait(30)


def stats(url: str) -> dict[str, Any]:
    """What the server has seen."""
    with urllib.request.urlopen(url.removesuffix("/v1") + "/stats") as answer:
        counts: dict[str, Any] = json.load(answer)
    return counts


def client(kind: str, url: str, **arguments: Any) -> tuple[dict[str, Any], Watched]:
    """Run one of the clients in a process and a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PLENUM_ROOT": str(ROOT), "OPENAI_API_KEY": "sk-simulated"}
        given = json.dumps({"url": url, **arguments})
        seen = watch([sys.executable, __file__, "client", kind, given], folder, environment)
    result: dict[str, Any] = json.loads(seen.output.splitlines()[-1])
    return result, seen


def whole(url: str, rounds: int) -> dict[str, float]:
    """The command as a user gives it, in a folder where nothing is yet."""
    given = [
        *("backend=api", "backend.send_seed=true", f"backend.api_base.openai={url}"),
        *("replicates=20", f"rounds={rounds}"),
    ]
    environment = {**os.environ, "PLENUM_ROOT": str(ROOT), "OPENAI_API_KEY": "sk-simulated"}
    before = _children_cpu_s()
    with tempfile.TemporaryDirectory() as folder:
        seen = watch([sys.executable, str(ROOT / "run.py"), *given], folder, environment)
        logs = Path(folder).glob("mlruns/journals/*/calls.jsonl")
        calls = sum(len(log.read_text(encoding="utf-8").splitlines()) for log in logs)
    return {
        "whole": round(seen.wall_s / (calls / 20 * 0.05), 2),
        "whole_cpu_s": round(_children_cpu_s() - before, 2),
        "whole_peak_mb": round(seen.peak_mb, 1),
    }


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)  # of those that have ended
    return used.ru_utime + used.ru_stime


def sweep(
    url: str, replicates: int, rounds: int, seeds: int = 1, more: tuple[str, ...] = ()
) -> dict[str, Any]:
    """A sweep as `run.py -m` runs it, once composed: its time, its CPU, its call logs."""
    from hydra import compose, initialize_config_dir

    from plenum.calls.call_log import read_attempts
    from plenum.design.compose import parse_job

    given = [
        *("backend=api", "backend.send_seed=true", f"backend.api_base.openai={url}"),
        *("tracking=none", "journals=journals", f"replicates={replicates}", f"rounds={rounds}"),
        *more,
    ]
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        jobs = [parse_job(compose("config", [*given, f"seed={seed}"])) for seed in range(seeds)]
    import plenum.calls.api.backend  # imports don't count, nor LiteLLM's
    from plenum.execution.sweep import run_sweep

    if "calls.transport=litellm" in more:
        import plenum.calls.api.litellm_import  # noqa: F401

    cpu, wall = time.process_time(), time.perf_counter()
    outcomes = run_sweep(jobs)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    lines = [line for log in Path("journals").glob("*/calls.jsonl") for line in read_attempts(log)]
    starts = [datetime.fromisoformat(line["at"]).timestamp() for line in lines]
    ends = [start + line["latency_s"] for start, line in zip(starts, lines, strict=True)]
    return {
        "wall_s": wall,
        "cpu_s": cpu,
        "calls": sum(outcome.calls for outcome in outcomes),
        "began": min(starts),
        "span_s": max(ends) - min(starts),
        "target": sum(outcome.target for outcome in outcomes),
        "completed": sum(outcome.completed for outcome in outcomes),
        "failed": sum(outcome.failed for outcome in outcomes),
        "outcomes": {line["id"]: line["outcome"] for line in lines} if seeds <= 4 else {},
    }


def bare(url: str, replicates: int, rounds: int) -> dict[str, Any]:
    """The bodies of the same deliberations, sent by aiohttp alone."""
    import aiohttp

    scripts = _bodies(replicates, rounds)

    async def send(session: aiohttp.ClientSession, script: list[bytes]) -> None:
        headers = {"Content-Type": "application/json"}
        for body in script:
            async with session.post(f"{url}/chat/completions", data=body, headers=headers) as got:
                json.loads(await got.read())["choices"][0]["message"]["content"]

    async def everything() -> None:
        async with aiohttp.ClientSession() as session:
            await asyncio.gather(*(send(session, script) for script in scripts))

    cpu, wall = time.process_time(), time.perf_counter()
    asyncio.run(everything())
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return {"cpu_s": cpu, "wall_s": wall, "calls": sum(map(len, scripts))}


def _bodies(replicates: int, rounds: int) -> list[list[bytes]]:
    from hydra import compose, initialize_config_dir

    from plenum.calls.simulated import SimulatedBackend
    from plenum.committee.condition import require_committee
    from plenum.committee.deliberation import Deliberation
    from plenum.design.compose import parse_job
    from plenum.design.settings import Simulated

    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        condition = require_committee(parse_job(compose("config", [f"rounds={rounds}"])).condition)
    backend = SimulatedBackend(Simulated())

    async def script(index: int) -> list[bytes]:
        bodies, deliberation = [], Deliberation(condition, index)
        while (ask := deliberation.ask) is not None:
            messages = [{"role": m.role, "content": m.content} for m in ask.chat.messages]
            body = {"model": ask.chat.model, "messages": messages, "temperature": 0.0}
            bodies.append(json.dumps({**body, "max_tokens": 400}).encode())
            deliberation.answer((await backend.attempt(ask.chat, 1)).reply)
        return bodies

    async def everything() -> list[list[bytes]]:
        return [await script(index) for index in range(replicates)]

    return asyncio.run(everything())


CLIENTS = {"sweep": sweep, "bare": bare}


def growth(result: dict[str, float], seen: Watched) -> float:
    """Memory that the calling process gained from a third of the calls' time to its end."""
    third, end = (result["began"] + share * result["span_s"] for share in (1 / 3, 1.0))
    early = [mb for at, mb in seen.own_mb if at <= third]
    late = [mb for at, mb in seen.own_mb if at <= end]
    return late[-1] - early[-1]


def faults(replicates: int) -> dict[str, Any]:
    """A sweep under faults of all kinds, and what the server saw against what was recorded."""
    given = ["calls.timeout_s=2", "calls.backoff_s=0.05", "calls.max_attempts=8"]
    with serving("faults.all=0.12", "latency.median_s=0.02", "faults.trickle_s=0.5") as url:
        result, _ = client("sweep", url, replicates=replicates, rounds=10, seeds=2, more=given)
        with urllib.request.urlopen(url.removesuffix("/v1") + "/log") as answer:
            log = [json.loads(line) for line in answer]
    recorded = result["outcomes"]
    injected = [line for line in log if line["fault"]]
    misread = [x for x in injected if recorded.get(x["id"]) not in EXPECTED[x["fault"]]]
    unseen = [line for line in log if line["id"] not in recorded]
    # By the body, which the client can't choose: each call sends a seed of its own.
    paid = Counter(line["key"] for line in log if line["answered"])
    return {
        "requests": len(log),
        "faults": len(injected),
        "target": result["target"],
        "completed": result["completed"],
        "failed": result["failed"],
        "lost": len(misread) + len(unseen) + abs(len(log) - len(recorded)),
        "paid_twice": sum(count > 1 for count in paid.values()),
    }


if __name__ == "__main__":
    main()
