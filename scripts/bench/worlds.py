"""Measure the worlds: the paper's grid of one world, a hundred agents, and the theory's grid.

    python scripts/bench/worlds.py [quick]

- grid_s        wall of `run.py -m +experiment=world task=disaster`: 3 x 3 x {implicit, explicit}
                conditions of 5 episodes, 5 agents, 20 rounds, on the simulated backend, with
                journals, MLflow and tables
- n100_s        wall of one episode of 100 agents and 20 rounds, likewise
- n100_mb       its peak memory, all processes
- n100_prompt   the longest prompt of its last round over that of 5 agents, in characters
- theory_ratio  the theory's grid (Figure 6: 10^5 trajectories of 200 rounds) over a plain Python
                loop, per trajectory, in the same run; the median of three

`quick` leaves the command line out. Agents are simulated: no language model is called.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("PLENUM_ROOT", str(Path(__file__).resolve().parents[2]))

from hydra import compose, initialize_config_dir
from measuring import mode, watch
from rich import box
from rich.console import Console
from rich.table import Table

from plenum.design import parse_job
from plenum.execution import estimate_usage
from plenum.records import Usage
from plenum_worlds.condition import WorldCondition
from plenum_worlds.dynamics import FIGURE_6, simulate
from plenum_worlds.dynamics.theory.model import simulate_plainly

ROOT = Path(__file__).resolve().parents[2]
TARGETS = {
    "grid_s": (0.0, 60.0),
    "n100_s": (0.0, 30.0),
    "n100_mb": (0.0, 500.0),
    "theory_ratio": (200.0, float("inf")),
}
"""Least and most of each figure that has to be reached."""

ROUNDS, RUNS = 200, 100


def main() -> None:
    """Measure, print a table for people, and one JSON line for machines."""
    quick = mode(__doc__, "quick") == "quick"
    figures: dict[str, Any] = {}
    if not quick:
        grid = sweep("+experiment=world", "task=disaster")
        many = sweep("task=disaster", "task.agents=100", "rounds=20", "replicates=1", single=True)
        figures |= {"grid_s": grid[0], "grid_mb": grid[1], "n100_s": many[0], "n100_mb": many[1]}
    figures |= {"n100_prompt": round(prompt(100) / prompt(5), 2)}
    figures |= theory()
    figures |= {"quick": quick}
    show(figures)
    print(json.dumps(figures))


def sweep(*arguments: str, single: bool = False) -> tuple[float, float]:
    """Wall (seconds) and peak memory (MB, all processes) of the real command line."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(ROOT / "run.py")]
        if not single:
            command.append("-m")
        seen = watch([*command, *arguments], cwd=folder)
        return round(seen.wall_s, 1), round(seen.peak_mb)


def prompt(agents: int) -> float:
    """Tokens of a prompt on average, as rehearsed, for so many agents."""
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        overrides = ["task=disaster", f"task.agents={agents}", "rounds=3"]
        condition = parse_job(compose("config", overrides)).condition
    assert isinstance(condition, WorldCondition)
    use = sum(estimate_usage(condition).values(), start=Usage())
    return use.tokens_in / use.calls


def theory() -> dict[str, float]:
    """Trajectories per second of the vectorised grid and of the plain loop."""
    part = replace(FIGURE_6, alpha=FIGURE_6.alpha[:2], gamma=FIGURE_6.gamma[:1])
    part = replace(part, shock_freq=FIGURE_6.shock_freq[:1], beta=FIGURE_6.beta[:2])
    simulate(part, ROUNDS, 1)  # warm up
    ratios, rates = [], []
    for _ in range(3):
        plain = timed(lambda: simulate_plainly(part, ROUNDS, 1)) / size(part)
        fast = timed(lambda: simulate(FIGURE_6, ROUNDS, RUNS)) / (size(FIGURE_6) * RUNS)
        ratios.append(plain / fast)
        rates.append(1 / fast)
    return {
        "theory_ratio": round(statistics.median(ratios), 1),
        "theory_ratios": [round(ratio, 1) for ratio in ratios],  # type: ignore[dict-item]
        "theory_trajectories": size(FIGURE_6) * RUNS,
        "theory_per_s": round(statistics.median(rates)),
    }


def size(grid: Any) -> int:
    """Cells of a grid."""
    cells = 1
    for length in grid.shape:
        cells *= length
    return cells


def timed(action: Callable[[], Any]) -> float:
    """Seconds that an action takes."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def show(figures: dict[str, Any]) -> None:
    """Print the table, and which figures are reached."""
    table = Table(box=box.SIMPLE_HEAD, title="worlds; simulated agents")
    for head in ("figure", "measured", "to reach", ""):
        table.add_column(head)
    for name, value in figures.items():
        if name not in TARGETS:
            table.add_row(name, str(value), "", "")
            continue
        least, most = TARGETS[name]
        reached = "reached" if least <= value <= most else "NOT REACHED"
        wanted = f"at least {least:g}" if least else f"at most {most:g}"
        table.add_row(name, f"{value:g}", wanted, reached)
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
