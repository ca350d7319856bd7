"""A small made-up release of committees that polarise: three scenarios of one design."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import released
import yaml

from plenum_fit.kernels import Kernel, to_simplex
from plenum_fit.noise import Noise
from plenum_fit.surrogates import simulate

SCENARIOS = ("HL-01", "IM-01", "AI-01")
ROUNDS, RUNS = 6, 8
TRUE = Kernel(
    ("peers", "own", "group"),
    (0.1, 0.08, 0.06),
    0.3,
    Noise(0.1, ((4e-4, -1e-4), (-1e-4, 2e-4)), ((4e-3, -1e-3), (-1e-3, 2e-3))),
)
"""How every seat moves."""

CATALOGUE: dict[str, Any] = {
    "repository": "somebody/runs",
    "commit": "0000000",
    "replicates": RUNS,
    "branching": "data/raw/branching",
    "folders": {"deployed": ["data/raw/chaos_v1"]},
    "studies": {"small": [{"in": "deployed", "rounds": ROUNDS}]},
}


def draw_states(seed: int, runs: int = RUNS, rounds: int = ROUNDS) -> np.ndarray:
    """States of committees that polarise, shape (runs, rounds, seats, options)."""
    rng = np.random.default_rng(seed)
    centre = rng.dirichlet([8, 8, 8])
    first = to_simplex(centre + rng.normal(0, 0.05, (runs, len(released.SEATS), 3)))
    kernels = dict.fromkeys(released.SEATS, TRUE)
    return simulate(kernels, released.SEATS, first, rounds, rng)


def write(folder: Path, scenarios: tuple[str, ...] = SCENARIOS) -> None:
    """Write the release and its catalogue."""
    for number, scenario in enumerate(scenarios):
        runs = {}
        for replicate, states in enumerate(draw_states(number)):
            run = released.run(0, rounds=ROUNDS, scenario_id=scenario)
            for turn in run["turns"]:
                seat = released.SEATS.index(turn["role"])
                turn["pref"] = states[turn["round_num"] - 1, seat].round(3).tolist()
            for seat, ballot in enumerate(run["ballots"]):
                ballot["vote"] = "ABC"[int(states[-1, seat].argmax())]
            runs[replicate] = run
        path = folder / f"clone/data/raw/chaos_v1/{scenario}__T0.0__N5__rolesTrue__R6.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            "".join(
                json.dumps({"replicate": r, "model": "gpt-4.1-mini", "run": run}) + "\n"
                for r, run in runs.items()
            ),
            encoding="utf-8",
        )
    (folder / "catalogue.yaml").write_text(yaml.safe_dump(CATALOGUE))
