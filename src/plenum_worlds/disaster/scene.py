"""Drawing of a run in the disaster world: a map of disasters, severities, and drones."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from plenum_worlds.disaster.state import MOST, Cell, DisasterState
from plenum_worlds.scene import Mark, RoundPicture, RunScene, join_numbered
from plenum_worlds.world import Round, World

_LEGEND: list[Mark] = [
    {"at": [], "tone": "bad", "text": "7", "weight": 0.7, "words": "disaster unattended"},
    {"at": [], "tone": "good", "text": "7→1", "weight": 0.7, "words": "attended: before→after"},
    {"at": [], "tone": "plain", "text": "", "units": [1], "words": "drone, by its number"},
]


def scene(
    world: World[DisasterState, Cell], records: Sequence[Round], names: Sequence[str]
) -> RunScene:
    """Draw the map with the true severities; words mention different readings of the sensors."""
    pictures = [_picture(record, names) for record in records]
    return {"ground": {"grid": world.settings.grid}, "legend": _LEGEND, "pictures": pictures}


def _picture(record: Round, names: Sequence[str]) -> RoundPicture:
    drones: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for unit, cell in enumerate(record["actions"]):
        if cell is not None:
            drones[tuple(cell)].append(unit)
    left = {d["id"]: d["severity"] for d in record["after"]["disasters"]}
    marks = [
        _disaster(d, left.get(d["id"], 0), record, drones.get(tuple(d["cell"]), []), names)
        for d in record["state"]["disasters"]
    ]
    struck = {tuple(d["cell"]) for d in record["state"]["disasters"]}
    for cell, units in drones.items():
        if cell in struck:
            continue
        who = join_numbered([names[unit] for unit in units])
        words = f"{who} at {_format_cell(cell)}: no disaster."
        mark: Mark = {"at": list(cell), "tone": "plain", "text": "", "words": words}
        marks.append({**mark, "units": [unit + 1 for unit in units]})
    return {"marks": marks}


def _disaster(
    disaster: dict[str, Any], left: float, record: Round, units: list[int], names: Sequence[str]
) -> Mark:
    severity, reading = disaster["severity"], disaster["reading"]
    attended = disaster["id"] in record["facts"]["attended"]
    misread = f" (the sensors read {_short(reading)})" if reading != severity else ""
    there = join_numbered([names[unit] for unit in units]) or (
        "drones nearby" if attended else "nobody"
    )
    result = f"{_short(severity)} → {_short(left) if left else 'cleared'}"
    where = _format_cell(disaster["cell"])
    words = f"Disaster at {where}, severity {_short(severity)}{misread}: {there}"
    return {
        "at": list(disaster["cell"]),
        "tone": "good" if attended else "bad",
        "text": f"{_short(severity)}→{_short(left)}" if left != severity else _short(severity),
        "words": f"{words}; {result}." if left != severity else f"{words}.",
        "weight": severity / MOST,
        "units": [unit + 1 for unit in units],
    }


def _format_cell(cell: Sequence[int]) -> str:
    return f"[{cell[0]},{cell[1]}]"


def _short(severity: float) -> str:
    return f"{round(severity, 1):g}"
