"""What a study in worlds found and what it didn't, for a few sentences after its tables."""

from collections.abc import Sequence
from dataclasses import dataclass

from plenum.dynamics import holm
from plenum.reports.article.families import holds
from plenum.reports.article.templates import paragraphs
from plenum.reports.article.words import ci
from plenum.reports.article.worlds import few_episodes
from plenum.reports.worlds.arms import arm, arms, compared, over_worlds, values
from plenum.reports.worlds.groups import groups, heading
from plenum.tracking.conditions import TrackedCondition
from plenum.worlds.registry import display

_MOST = 2
"""More groups of conditions than this are left to the tables."""


@dataclass(frozen=True)
class Group:
    """The conditions that share tables.

    Attributes
    ----------
    world, metric
        What the group is called, and the first metric of its world.
    shown, tested
        The differences to free action that hold after Holm's adjustment, and of how many.
    means
        The mean of every arm, where nothing could be compared.
    """

    world: str
    metric: str
    shown: tuple[str, ...]
    tested: int
    means: tuple[str, ...]


@dataclass(frozen=True)
class WorldFindings:
    """What a study in worlds found.

    Attributes
    ----------
    conditions, simulated, few
        How many there are, how many have simulated agents, and how many too few episodes.
    scripted
        Whether scripted policies say how much is mechanical.
    failed, pending
        Runs that are in no number.
    groups
        None where no run was completed.
    """

    conditions: int
    simulated: int
    few: int
    scripted: bool
    failed: int
    pending: int
    groups: tuple[Group, ...]


def sentences(played: Sequence[TrackedCondition]) -> list[str]:
    """What a study in worlds found, what it didn't show, and what is left out."""
    return paragraphs("findings_of_worlds.md.j2", f=findings(played), most=_MOST, unit="run")


def findings(played: Sequence[TrackedCondition]) -> WorldFindings:
    """The facts behind the sentences of a study in worlds."""
    done = [one for one in played if one.completed]
    found = groups(done)
    return WorldFindings(
        conditions=len(played),
        simulated=sum(one.simulated for one in played),
        few=len(few_episodes(played)),
        scripted=any(arm(one).scripted for one in done),
        failed=sum(sum(one.failures.values()) for one in played),
        pending=sum(one.pending for one in played),
        groups=tuple(_group(group, heading(group, found)) for group in found),
    )


def _group(played: Sequence[TrackedCondition], world: str) -> Group:
    metric = display(played[0].factors["task"]).metrics[0]
    tests = compared(played, metric)
    shown = [
        f"{name}: {ci(e, 3)}"
        for (name, _, e), p in zip(tests, holm([e.p for _, _, e in tests]), strict=True)
        if holds(float(p), e.ci_low, e.ci_high)
    ]
    return Group(world, metric, tuple(shown), len(tests), () if tests else _means(played, metric))


def _means(played: Sequence[TrackedCondition], metric: str) -> tuple[str, ...]:
    table = values(played, metric)
    means = [(one.name, over_worlds(table[table["arm"] == one.name])) for one in arms(played)]
    return tuple(f"{ci(found, 3)} ({name})" for name, found in means if found.n)
