"""Views and texts for the agents of the disaster world."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenum_worlds.disaster.state import Cell, Disaster, DisasterState, id_rows
from plenum_worlds.draws import Draws
from plenum_worlds.world import Kind, Plain, Statement, World, kind_of

SHOWN = 10
"""Number of the drones' cells that are shown, the most crowded ones."""

WAYS = ((1, 0), (-1, 0), (0, 1), (0, -1))


def neighbours(cell: tuple[int, int], grid: int) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield directions (0 to 3) and cells of the neighbours on the grid."""
    for way, (dx, dy) in enumerate(WAYS):
        x, y = cell[0] + dx, cell[1] + dy
        if 0 <= x < grid and 0 <= y < grid:
            yield way, (x, y)


def view(world: World[DisasterState, Cell], state: DisasterState, agent: int) -> Plain:
    """Return cells and reported severities of the disasters, and the drones' last cells."""
    settings = world.settings
    crowded = Counter(cell for cell in state.drones if cell is not None).most_common()
    crowded.sort(key=lambda item: (-item[1], item[0]))
    last_cell = state.drones[agent]
    foam = {"foam": state.foam[agent]} if state.foam else {}
    return {
        "agent": agent,
        "agents": len(state.drones),
        "grid": settings.grid,
        "reduction": settings.reduction,
        "reduction_most": settings.reduction_most,
        "reach": settings.reach,
        "disasters": [{"cell": list(d.cell), "severity": d.reading} for d in state.disasters],
        "drones": [{"cell": list(cell), "count": count} for cell, count in crowded[:SHOWN]],
        "own": None if last_cell is None else list(last_cell),
        **foam,
    }


def without_acts(world: World[DisasterState, Cell], view: Plain) -> Plain:
    """Return a view that doesn't show the other drones' moves."""
    return {**view, "drones": None}


def within_sight(world: World[DisasterState, Cell], view: Plain, seen: NDArray[np.bool_]) -> Plain:
    """Return a view of the disasters on visible cells."""
    grid = world.settings.grid
    shown = [d for d in view["disasters"] if seen[d["cell"][0] * grid + d["cell"][1]]]
    return {**view, "disasters": shown}


def words(world: World[DisasterState, Cell], view: Plain) -> str:
    """Describe a view in words."""
    last = view["grid"] - 1
    active = "; ".join(
        f"{_at(d)} reported severity {round(d['severity'], 1):g}" for d in view["disasters"]
    )
    drones = "Where the others went in the last round isn't shown."
    if view["drones"] is not None:
        cells = "; ".join(f"{_at(d)} {d['count']}" for d in view["drones"])
        drones = f"Drones in the last round (cell, number): {cells or 'none'}."
    most = view["reduction_most"]
    limit = "" if most is None else f", together at most {most} per disaster"
    does = f"takes {view['reduction']} off the severity on its cell{limit}"
    if view["reach"]:
        covers = f"covers all disasters at most {view['reach']} steps along rows and columns away"
        does = f"{covers}, and {does}" if view["reduction"] else covers
    last_place = "nowhere" if view["own"] is None else _at({"cell": view["own"]})
    return (
        f"Cells are [x,y], x and y from 0 to {last}. {view['agents']} drones; each {does}.\n"
        f"Active disasters: {active or 'none'}.\n"
        f"{drones} Yours: {last_place}.{_foam(view)}"
    )


def _foam(view: Plain) -> str:
    if "foam" not in view:
        return ""
    left = f"Your foam: {view['foam']} units, one a point, used wherever you go"
    return f" {left}; without any you refill for a round."


def report(
    world: World[DisasterState, Cell], state: DisasterState, draws: Draws, round: int
) -> tuple[Statement, ...]:
    """Return one statement on each active disaster."""
    # by a disaster's id: what becomes of its statement, which contradiction, which other cell
    noise = draws.uniforms("report", round, (id_rows(world.settings, round), 3))
    statements = []
    for disaster in state.disasters:
        kind = kind_of(noise[disaster.id, 0], world.settings.contradictory)
        text = _sentence(disaster, kind, noise[disaster.id], world.settings.grid)
        statements.append(Statement(text, kind))
    return tuple(statements)


def _sentence(disaster: Disaster, kind: Kind, noise: NDArray[Any], grid: int) -> str:
    place = _at({"cell": disaster.cell})
    if kind == "incomplete":
        return f"Callers near column {disaster.cell[0]} ask for help; the exact cell is unknown."
    if kind == "plain":
        return f"Crews see the incident at {place} {_trend(disaster.change)}."
    if noise[1] < 0.5:
        wrong = -1 if disaster.change >= 0 else 1
        return f"Crews see the incident at {place} {_trend(wrong)}."
    cells = [cell for _, cell in neighbours(disaster.cell, grid)]
    elsewhere = _at({"cell": cells[int(noise[2] * len(cells))]})
    return f"A caller says the incident at {place} is over and has gone on to {elsewhere}."


def _trend(change: float) -> str:
    return "growing" if change > 0 else "calming down" if change < 0 else "unchanged"


def _at(item: Any) -> str:
    return f"[{item['cell'][0]},{item['cell'][1]}]"
