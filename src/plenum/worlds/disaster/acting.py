"""How a simulated drone chooses its cell."""

import re

from plenum.worlds.acting import Acting, Duty, Preferences

_DISASTER = re.compile(r"\[([0-9]+),([0-9]+)\] reported severity ([0-9]+)")
_LAST = re.compile(r"x and y from 0 to ([0-9]+)")
_PLACE = re.compile(r"Yours: \[([0-9]+),([0-9]+)\]")


def choose(duty: Duty, agent: Preferences) -> list[int]:
    """A disaster's cell: severity, nearness, how central it lies, and who else goes there."""
    disasters = [tuple(map(int, match)) for match in _DISASTER.findall(duty.known)]
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


ACTING = Acting(
    phrase="Active disasters: ",
    traits={
        "highest severity": (6.0, 0.0, 0.0),
        "medical": (5.0, 0.5, 0.0),
        "infrastructure": (2.0, 0.5, 3.0),
        "logistics": (2.0, 3.0, 0.0),
        "scout": (1.0, 1.0, -1.0),
        "reserve": (-1.5, 1.5, 0.0),
        "control drone": (1.0, 0.0, -1.5),
    },
    choose=choose,
)
