"""Behaviour in the disaster world: scripted reference policies, and simulated drones.

A policy sees what agents see, never the state.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from plenum_worlds.definition import Behaviour, Duty, Preferences, read_traits
from plenum_worlds.draws import Draws
from plenum_worlds.world import Plain, Policy

_DISASTER = re.compile(r"\[([0-9]+),([0-9]+)\] reported severity ([0-9]+(?:\.[0-9])?)")
_LAST = re.compile(r"x and y from 0 to ([0-9]+)")
_PLACE = re.compile(r"Yours: \[([0-9]+),([0-9]+)\]")


def all_to_worst(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """Send all drones to the highest reported severity, the first one if several tie."""
    worst = max(views[0]["disasters"], key=lambda d: d["severity"], default=_middle(views[0]))
    return [tuple(worst["cell"])] * len(views)


def greedy_assignment(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """Send one drone to each disaster, worst first, then the rest where most severity is left.

    Disasters that can't be reduced further in this round come last.
    """
    disasters = views[0]["disasters"] or [_middle(views[0])]
    most = views[0]["reduction_most"]
    left = {i: d["severity"] for i, d in enumerate(disasters)}
    room = dict.fromkeys(left, math.inf if most is None else most)
    uncovered = sorted(left, key=lambda i: -left[i])
    actions = []
    for _ in views:
        goal = uncovered.pop(0) if uncovered else max(left, key=lambda i: (room[i] > 0, left[i]))
        taken = min(views[0]["reduction"], room[goal])
        left[goal] -= taken
        room[goal] -= taken
        actions.append(tuple(disasters[goal]["cell"]))
    return actions


def to_nearest(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """Send each drone to the nearest disaster (Manhattan), the worst one if several tie.

    A drone that hasn't moved yet starts from the middle of the grid.
    """
    actions = []
    for view in views:
        x, y = view["own"] or _middle(view)["cell"]
        goal = min(
            view["disasters"] or [_middle(view)],
            key=lambda d: (abs(d["cell"][0] - x) + abs(d["cell"][1] - y), -d["severity"]),
        )
        actions.append(tuple(goal["cell"]))
    return actions


def random_cells(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """Send each drone to a uniformly drawn cell."""
    grid = views[0]["grid"]
    drawn = draws.uniforms("policy", round, (len(views), 2))
    return [(int(x * grid), int(y * grid)) for x, y in drawn]


POLICIES: Mapping[str, Policy] = {
    "all_to_worst": all_to_worst,
    "greedy_assignment": greedy_assignment,
    "to_nearest": to_nearest,
    "random": random_cells,
}
"""The reference policies by name."""


def _middle(view: Plain) -> Plain:
    """Return the place where drones wait while no disaster is active."""
    return {"cell": [view["grid"] // 2] * 2, "severity": 0}


def choose(duty: Duty, agent: Preferences) -> list[int]:
    """Choose a disaster's cell by severity, nearness, centrality, and other drones' proposals."""
    disasters = [(int(x), int(y), float(s)) for x, y, s in _DISASTER.findall(duty.known)]
    mine = _PLACE.search(duty.known)
    last = _LAST.search(duty.known)
    centre = (int(last[1]) + 1) // 2 if last else 5
    x, y = (int(mine[1]), int(mine[2])) if mine else (centre, centre)
    if not disasters:
        return [x, y]
    cells = [(cx, cy) for cx, cy, _ in disasters]
    pulls = agent.pulls(cells, [tuple(p.action) for p in agent.proposals])
    w = agent.weights
    values = [
        w[0] * severity / 10
        - w[1] * (abs(cx - x) + abs(cy - y)) / 18
        - w[2] * (abs(cx - 4.5) + abs(cy - 4.5)) / 9
        + pull
        for (cx, cy, severity), pull in zip(disasters, pulls, strict=True)
    ]
    return list(cells[agent.best(values)])


ACTING = Behaviour(
    phrase="Active disasters: ",
    traits=read_traits(__file__),
    choose=choose,
)
