"""Measure the worlds: the paper's grid of one world, and a hundred agents.

    python scripts/bench/worlds.py [quick]

- grid_s        wall of `run.py -m +experiment=world task=disaster`: 3 x 3 x {implicit, explicit}
                conditions of 5 episodes, 5 agents, 20 rounds, on the simulated backend, with
                journals, MLflow and tables
- n100_s        wall of one episode of 100 agents and 20 rounds, likewise
- n100_mb       its peak memory, all processes
- n100_prompt   the longest prompt of its last round over that of 5 agents, in characters

`quick` leaves the command line out. Agents are simulated: no language model is called.
"""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("PLENUM_ROOT", str(Path(__file__).resolve().parents[2]))

from hydra import compose, initialize_config_dir
from measuring import mode, watch
from rich import box
from rich.console import Console
from rich.table import Table

from plenum.design.compose import parse_job
from plenum.execution.cost_estimate import estimate_usage
from plenum.records.usage import Usage
from plenum_worlds.condition import WorldCondition

ROOT = Path(__file__).resolve().parents[2]
TARGETS = {
    "grid_s": (0.0, 60.0),
    "n100_s": (0.0, 30.0),
    "n100_mb": (0.0, 500.0),
}
"""Least and most of each figure that has to be reached."""


def main() -> None:
    """Measure, print a table for people, and one JSON line for machines."""
    quick = mode(__doc__, "quick") == "quick"
    figures: dict[str, Any] = {}
    if not quick:
        grid = sweep("+experiment=world", "task=disaster")
        many = sweep("task=disaster", "task.agents=100", "rounds=20", "replicates=1", single=True)
        figures |= {"grid_s": grid[0], "grid_mb": grid[1], "n100_s": many[0], "n100_mb": many[1]}
    figures |= {"n100_prompt": round(prompt(100) / prompt(5), 2)}
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
