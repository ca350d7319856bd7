"""Which conditions of a study share tables, and what the titles of these say of them."""

from collections.abc import Sequence

from plenum.reports.worlds.arms import LONE, arm
from plenum.tracking.conditions import TrackedCondition

USUAL = {"agents": "5", "temperature": "t0.7", "rounds": "20"}
"""What titles don't name, unless the groups of a study differ in it."""


_TEAM = ("task", "temperature", "rounds", "backend", "settings")
"""What the conditions of a group share, but for the number of agents."""

_WORLD = ("task", "world", "agents", "rounds")
"""What scripted policies share with a group that they stand in."""


def groups(played: Sequence[TrackedCondition]) -> list[list[TrackedCondition]]:
    """The conditions that share tables: one task, team size, temperature, length and backend.

    So are the settings that no factor names. A lone agent is a baseline of all teams that differ
    from it in nothing else. Scripted policies have neither a temperature nor a backend, and stand
    in every group of their world, team size and length.
    """
    scripted = [p for p in played if arm(p).scripted]
    lone = [p for p in played if arm(p).name == LONE]
    teams = [p for p in played if not arm(p).scripted and arm(p).name != LONE]
    found = list(_by(teams, (*_TEAM, "agents")).values())
    for baselines, names in ((lone, _TEAM), (scripted, _WORLD)):
        alone = []
        for key, part in _by(baselines, names).items():
            beside = [group for group in found if _key(group[0], names) == key]
            for group in beside:
                group += part
            alone += [part] * (not beside)
        found += alone
    return found


def families(found: Sequence[list[TrackedCondition]]) -> list[list[list[TrackedCondition]]]:
    """Groups that differ in the number of agents alone, where there are several."""
    asked = [group for group in found if not arm(_first(group)).scripted]
    keys = dict.fromkeys(_key(_first(group), _TEAM) for group in asked)
    alike = [[group for group in asked if _key(_first(group), _TEAM) == key] for key in keys]
    return [family for family in alike if len(family) > 1]


def _key(one: TrackedCondition, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(one.factors[name] for name in names)


def _by(
    played: Sequence[TrackedCondition], names: Sequence[str]
) -> dict[tuple[str, ...], list[TrackedCondition]]:
    """Conditions by the values of some factors, in the order in which these first appear."""
    found: dict[tuple[str, ...], list[TrackedCondition]] = {}
    for one in played:
        found.setdefault(_key(one, names), []).append(one)
    return found


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
