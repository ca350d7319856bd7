"""Arms that are compared in a world: mechanisms, controls, baselines, and scripted policies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from plenum_worlds.settings import Information

REFERENCE = "implicit"
"""The mechanism that others are compared with: each agent acts as it proposes."""

LONE = "one model, one unit"
"""The arm of a single agent: a baseline of larger teams."""

_ORDER = ("implicit", "explicit", "prompted", "script", "plan", "mean", "manager", "unanimity")

_AGENTS = ("answer", "pinned", *(field.name for field in fields(Information)))
"""Settings that define another arm: agents' answers, roles, and information."""


@dataclass(frozen=True)
class Arm:
    """One way to act.

    Attributes
    ----------
    name
        The name in tables.
    scripted
        True if no model acts.
    free
        The name of the otherwise equal arm in which each agent acts as it proposes; empty if there
        is none.
    settings
        Settings of its condition that its name doesn't include.
    """

    name: str
    scripted: bool
    free: str = ""
    settings: str = "default"

    @property
    def lone(self) -> bool:
        """True if a single agent with one unit acts: a baseline of larger teams."""
        return self.name.startswith(LONE)

    @property
    def rank(self) -> tuple[bool, str, int, str]:
        """The sort key: mechanisms first, then controls, then scripted policies."""
        mechanism, _, more = self.name.partition(", ")
        if self.scripted or mechanism not in _ORDER:
            return self.scripted, "~", 0, self.name
        return False, more, _ORDER.index(mechanism), self.name


def find_arm(factors: Mapping[str, str]) -> Arm:
    """Return the arm of a condition with these factors."""
    mechanism, turns = factors["consensus"], factors["turns"]
    forced = mechanism != REFERENCE
    words = factors["settings"].split()
    agents = [word for word in words if word.partition("=")[0] in _AGENTS]
    others = " ".join(word for word in words if word not in agents) or "default"
    if factors["policy"] != "agents":
        free = f"scripted: {factors['policy'].replace('_', ' ')}"
        name = f"{free} {mechanism}" if forced else free
        return Arm(name, True, free if forced else "", others)
    if mechanism == "central":
        return Arm(", ".join(["one model, all units", *agents]), False, settings=others)
    if factors["agents"] == "1":
        return Arm(", ".join([LONE, *agents]), False, settings=others)
    parts = ["no interaction"] if turns == "0" else []
    if turns not in ("0", "1"):
        parts.append(f"{turns} turns")
    if factors["diversity"] == "identical":
        parts.append("identical roles")
    parts += agents
    free = ", ".join([REFERENCE, *parts])
    return Arm(", ".join([mechanism, *parts]), False, free if forced else "", others)


def reference(arm: str, free: str, names: Sequence[str]) -> str:
    """Return the arm, among those named, that an arm is compared with; empty for none.

    A mechanism is compared with free action by the same agents: as many turns, the same roles, the
    same script. An arm that acts freely is compared with the implicit arm of the defaults, or with
    the first implicit one if that wasn't run.
    """
    if free:
        return free if free in names else ""
    implicit = [name for name in names if name == REFERENCE or name.startswith(f"{REFERENCE},")]
    usual = min(implicit, key=lambda name: (name != REFERENCE, name), default="")
    return "" if usual == arm else usual
