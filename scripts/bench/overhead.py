"""Measure what plenum costs around the models: wall time, memory, start, tables.

    python scripts/bench/overhead.py [quick | pages]

Every figure is measured in this run, in fresh working directories, on the simulated backend:

- help_s         `run.py --help`, median of five
- sweep_s        the default 2x2 sweep: 80 deliberations, 8,480 calls, all in MLflow, to its tables
- sweep_peak_mb  its peak resident memory, all its processes together
- tables_1000_replicates_s  `scripts/tables.py` over 1,000 tracked replicates of 50 conditions
- live_cost      CPU of the sweep's processes while its page is watched, over alone (median of five)
- page_mb        the default study's page as one file
- gather_s, gather_mb  `scripts/explore.py` over 500 replicates of 100 turns, its peak memory
- open_s, search_ms  that page in Chromium: until it is drawn, until a search shows its first hits
- tables_1000_s, tables_10000_s  the same over 1,000 and 10,000 conditions of 20 replicates

Baselines: the same 80 deliberations as a bare loop (no journal, no event loop, no tracking), and
reading 1,000 runs' metric histories one by one (measured on 40 runs). `quick` tracks 100
replicates instead of 1,000 and says so, and leaves out 10,000 conditions. `pages` measures the
pages alone.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import mode, show_figures, watch
from pages import TO_REACH, measure_pages
from rich import box
from rich.console import Console
from rich.table import Table
from wide_studies import time_tables

ROOT = Path(__file__).resolve().parents[2]
SWEEP = ("-m", "roles=on,off", "model=uniform,mixed")

BARE = """
import time
from hydra import compose, initialize_config_dir
from plenum.design.compose import parse_job
from plenum.committee.deliberation import Deliberation
from plenum.calls.simulated.backend import SimulatedBackend

def answer(backend, chat):
    steps = backend.attempt(chat, 1)
    while True:
        try:
            steps.send(None)
        except StopIteration as done:
            return done.value.reply

began, calls = time.perf_counter(), 0
with initialize_config_dir({conf!r}, version_base="1.3"):
    for roles in ("on", "off"):
        for model in ("uniform", "mixed"):
            cfg = compose("config", [f"roles={{roles}}", f"model={{model}}"])
            condition = parse_job(cfg).condition
            backend = SimulatedBackend(condition.backend)
            for replicate in range(20):
                deliberation = Deliberation(condition, replicate)
                while deliberation.ask is not None:
                    deliberation.answer(answer(backend, deliberation.ask.chat))
                    calls += 1
print(time.perf_counter() - began, calls)
"""

HISTORIES = """
import time
from mlflow import MlflowClient
client = MlflowClient({uri!r})
experiment = client.get_experiment_by_name("bench")
runs = client.search_runs([experiment.experiment_id], "tags.`plenum.kind` = 'replicate'",
                          max_results=40)
began = time.perf_counter()
for run in runs:
    for key in ("p_A", "p_B", "p_C"):
        client.get_metric_history(run.info.run_id, key)
print((time.perf_counter() - began) / len(runs))
"""


def main() -> None:
    """Measure, print a table for people, and one JSON line for machines."""
    given = mode(__doc__, "quick", "pages")
    if given == "pages":
        return show_figures(measure_pages(quick=False), TO_REACH)
    quick = given == "quick"
    seeds = 5 if quick else 50
    help_s = statistics.median(_timed("run.py", "--help")[0] for _ in range(5))
    bare_s, calls = map(float, _python(BARE.format(conf=str(ROOT / "conf"))).split())
    with tempfile.TemporaryDirectory() as folder:
        sweep_s, sweep_peak_mb = _timed("run.py", *SWEEP, cwd=folder)
    with tempfile.TemporaryDirectory() as folder:
        _timed("run.py", "-m", "study=bench", f"seed=range({seeds})", cwd=folder)
        tables_s, _ = _timed("scripts/tables.py", "study=bench", cwd=folder)
        uri = f"sqlite:///{folder}/mlruns/mlflow.db"
        histories_s = float(_python(HISTORIES.format(uri=uri))) * seeds * 20

    wide = {count: time_tables(count) for count in ((1_000,) if quick else (1_000, 10_000))}

    pages = measure_pages(quick)

    table = Table(box=box.SIMPLE_HEAD, title=f"{platform.processor() or platform.machine()}, "
                  f"{os.cpu_count()} cores, Python {platform.python_version()}")  # fmt: skip
    for head in ("figure", "measured", "to reach", "baseline in this run", "ratio"):
        table.add_column(head)
    table.add_row("run.py --help", f"{help_s:.2f} s", "1.5 s", "-", "-")
    table.add_row(
        f"2x2 sweep, {calls:.0f} calls, to its tables",
        f"{sweep_s:.1f} s",
        "25 s",
        f"bare loop {bare_s:.1f} s",
        f"{sweep_s / bare_s:.1f} x",
    )
    table.add_row("its peak memory", f"{sweep_peak_mb:.0f} MB", "1000 MB", "-", "-")
    table.add_row(
        f"tables over {seeds * 20} replicates",
        f"{tables_s:.1f} s",
        "10 s (over 1,000)",
        f"metric histories {histories_s:.1f} s",
        f"{tables_s / histories_s:.2f} x",
    )
    for count, seconds in wide.items():
        most = {1_000: "11 s", 10_000: "33 s"}[count]
        table.add_row(f"tables over {count:,} conditions", f"{seconds:.1f} s", most, "-", "-")
    for name, value in pages.items():
        table.add_row(name, str(value), TO_REACH.get(name, ""), "-", "-")
    Console(width=120).print(table)
    figures = {
        "help_s": round(help_s, 3),
        "sweep_s": round(sweep_s, 2),
        "sweep_peak_mb": round(sweep_peak_mb, 1),
        "sweep_over_bare": round(sweep_s / bare_s, 2),
        f"tables_{seeds * 20}_replicates_s": round(tables_s, 2),
        "tables_over_histories": round(tables_s / histories_s, 3),
        **pages,
        **{f"tables_{count}_s": round(seconds, 1) for count, seconds in wide.items()},
    }
    print(json.dumps(figures))


def _timed(script: str, *arguments: str, cwd: str | None = None) -> tuple[float, float]:
    """Wall seconds of a command, and the peak resident memory of its process tree in MB."""
    seen = watch([sys.executable, str(ROOT / script), *arguments], cwd)
    return seen.wall_s, seen.peak_mb


def _python(code: str) -> str:
    environment = {**os.environ, "PLENUM_ROOT": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


if __name__ == "__main__":
    main()
