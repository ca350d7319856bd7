"""Check of the released rules of a world without any model, against the paper's tables.

The code that the authors of "The Hidden Strength of Disagreement" released counts a disaster as
covered if a drone is within a Manhattan distance of 2, and an empty round as covered; nothing that
drones do changes a disaster. So the coverage of scripted drones under these rules is pure geometry.
``REFERENCE`` contains the tasks, policies and metrics to compare, and the expected values.
"""

import json
import time
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.utils import env_override

from plenum.base.project import project_root, resolve_path
from plenum.design.compose import parse_job
from plenum.design.ranges import require
from plenum.show.table import Column, Table, format_csv, make_keys
from plenum.show.terminal_tables import show_tables, show_text
from plenum_worlds.episode import Episode

LEVELS = ("low", "moderate", "high")
REFERENCE = "reference/released-rules.csv"

_NOTES = (
    "here: scripted policies under the released rules, no model; se: standard error over runs. "
    "expected: exact where its error is half a digit; for the rest, from a simulation that shares "
    "nothing with this world.",
    "published: what the paper prints for its models, or its random strategy; it may differ. "
    "Next to it stands what the rules give without any model.",
)


def publish(runs: int, out: Path) -> None:
    """Run the arms, print them with the paper's values, and end with one JSON line.

    Parameters
    ----------
    runs
        Episodes at each of the three volatilities.
    out
        Folder for ``released_rules.csv``.

    Raises
    ------
    UserError
        ``runs`` isn't a whole number of 2 or more.
    """
    require(
        isinstance(runs, int) and not isinstance(runs, bool) and runs > 1,
        f"released_runs: {runs}; allowed are whole numbers from 2",
    )
    began = time.monotonic()
    frame = play_released_rules(runs)
    shown = ("here", "se", "expected", "published")
    numbers = (Column(name, format=_three) for name in shown)
    columns = (*make_keys(("policy", "agents", "metric")), *numbers, Column("source"))
    title = "The Hidden Strength of Disagreement: the released rules without a model"
    show_tables([Table("released_rules", title, frame, columns, _NOTES)])
    out.mkdir(parents=True, exist_ok=True)
    file = out / "released_rules.csv"
    file.write_text(format_csv(frame), encoding="utf-8")
    show_text(f"written: {file}")
    print(json.dumps(_summary(frame, runs) | {"seconds": round(time.monotonic() - began, 1)}))


def play_released_rules(runs: int) -> pd.DataFrame:
    """Return the reference values with our results in columns ``here``, ``se``, ``within``.

    ``within`` is true if the result differs from the expected value by at most three standard
    errors plus the reference's own error.
    """
    frame = pd.read_csv(resolve_path(REFERENCE)).rename(columns={"released": "expected"})
    lines = zip(frame.task, frame.policy, frame.agents, frame.metric, strict=True)
    measured = [_metrics(*line[:3], runs)[line[3]] for line in lines]
    frame["here"] = [values.mean() for values in measured]
    frame["se"] = [values.sem() for values in measured]
    allowed = 3 * frame.se + frame.error
    return frame.assign(within=(frame.here - frame.expected).abs() <= allowed)


@cache
def _metrics(task: str, policy: str, agents: int, runs: int) -> pd.DataFrame:
    """Return metrics by episode, for all volatilities together."""
    rows = [
        ended["metrics"]
        for condition in _conditions(task, policy, agents)
        for replicate in range(runs)
        if (ended := Episode(condition, replicate).end) is not None
    ]
    return pd.DataFrame(rows)


def _conditions(task: str, policy: str, agents: int) -> list[Any]:
    """Return one condition per volatility, each with its own draws."""
    given = (f"task={task}", f"task.policy={policy}", f"task.agents={agents}")
    root = str(project_root())
    GlobalHydra.instance().clear()  # the script's, whose config has been read
    with (
        env_override({"PLENUM_ROOT": root}),
        initialize_config_dir(f"{root}/conf", version_base="1.3"),
    ):
        return [
            parse_job(compose("config", [*given, f"volatility={level}", f"seed={seed}"])).condition
            for seed, level in enumerate(LEVELS)
        ]


def _summary(frame: pd.DataFrame, runs: int) -> dict[str, Any]:
    names = frame.policy + "_" + frame.agents.astype(str) + "_" + frame.metric
    values = dict(zip(names, frame.here.round(4).tolist(), strict=True))
    return {"released_ok": bool(frame.within.all()), "runs": runs * len(LEVELS), **values}


def _three(value: float) -> str:
    return f"{value:.3f}"
