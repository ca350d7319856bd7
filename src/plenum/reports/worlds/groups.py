"""Which conditions of a study share tables, and what the titles of these say of them."""

from collections.abc import Sequence

from plenum.reports.worlds.arms import LONE, arm
from plenum.tracking.conditions import TrackedCondition

USUAL = {"agents": "5", "temperature": "t0.7", "rounds": "20"}
"""What titles don't name, unless the groups of a study differ in it."""


def groups(played: Sequence[TrackedCondition]) -> list[list[TrackedCondition]]:
    """The conditions that share tables: one task, team size, temperature, length and backend.

    So are the settings that no factor names. A lone agent is a baseline of all teams that differ
    from it in nothing else. Scripted policies have neither a temperature nor a backend, and stand
    in every group of their world, team size and length.
    """
    found: dict[tuple[str, ...], list[TrackedCondition]] = {}
    for one in played:
        if not (arm(one).scripted or arm(one).name == LONE):
            found.setdefault(_key(one), []).append(one)
    teams = list(found.values())
    for one in played:
        if arm(one).name == LONE:
            own = [group for group in teams if _beside(group[0]) == _beside(one)]
            for group in own or [found.setdefault(_key(one), [])]:
                group.append(one)
    asked = list(found.values())
    alone: dict[tuple[str, ...], list[TrackedCondition]] = {}
    for one in played:
        if arm(one).scripted:
            own = [group for group in asked if _world(group[0]) == _world(one)]
            for group in own or [alone.setdefault(_world(one), [])]:
                group.append(one)
    return [*asked, *alone.values()]


def families(found: Sequence[Sequence[TrackedCondition]]) -> list[list[Sequence[TrackedCondition]]]:
    """Groups that differ in the number of agents alone, where there are several."""
    by_key: dict[tuple[str, ...], list[Sequence[TrackedCondition]]] = {}
    for group in found:
        if not arm(_first(group)).scripted:
            by_key.setdefault(_beside(_first(group)), []).append(group)
    return [own for own in by_key.values() if len(own) > 1]


def _key(one: TrackedCondition) -> tuple[str, ...]:
    return one.factors["agents"], *_beside(one)


def _beside(one: TrackedCondition) -> tuple[str, ...]:
    """What the conditions of a group share, but for the number of agents."""
    return tuple(one.factors[k] for k in ("task", "temperature", "rounds", "backend", "settings"))


def _world(one: TrackedCondition) -> tuple[str, ...]:
    return tuple(one.factors[key] for key in ("task", "world", "agents", "rounds"))


def _first(group: Sequence[TrackedCondition]) -> TrackedCondition:
    """The condition that tells what its group is: of a team that was asked, if there is one."""
    return min(group, key=lambda one: (arm(one).scripted, arm(one).name == LONE))


def heading(
    group: Sequence[TrackedCondition],
    among: Sequence[Sequence[TrackedCondition]] = (),
    but: str = "",
) -> str:
    """What the titles of a group's tables begin with: the world, and what is off default.

    Parameters
    ----------
    among
        All groups of the study; what differs between those of the same world is named as well.
    but
        A factor that isn't named.
    """
    first = _first(group)
    scripted = arm(first).scripted
    others = [_first(own).factors for own in among]
    others = [f for f in others if f["task"] == first.factors["task"]]
    asked = [f for f in others if f["policy"] == "agents"]
    parts = []
    for key in ("agents", "temperature", "rounds", "backend"):
        value = first.factors[key]
        if key == but or (scripted and key in ("temperature", "backend")):
            continue
        met = {f[key] for f in (others if key in ("agents", "rounds") else asked)}
        if len(met) > 1 or value != USUAL.get(key, value):
            parts.append(_worded(key, value))
    told = first.factors["world" if scripted else "settings"]
    parts += [told] * (told not in ("usual", "default"))
    return ", ".join([f"World {first.factors['task']}", *parts])


def _worded(key: str, value: str) -> str:
    if key == "agents":
        return f"{value} agent" + "s" * (value != "1")
    return {"rounds": f"{value} rounds", "backend": f"backend {value}"}.get(key, value)


def command(group: Sequence[TrackedCondition]) -> str:
    """The command that adds the scripted policies of a group's world to its study."""
    one = _first(group)
    f = one.factors
    teams = {p.factors["agents"] for p in group if arm(p).name != LONE} or {f["agents"]}
    agents = ",".join(sorted(teams, key=int))
    parts = [f"python run.py -m +experiment=policies_{f['task']} study={one.study}"]
    parts += [f"task.agents={agents}"] * (agents != USUAL["agents"])
    parts += [f"rounds={f['rounds']}"] * (f["rounds"] != USUAL["rounds"])
    parts += [f"task.world.{told}" for told in f["world"].split() if told != "usual"]
    return " ".join(parts)
