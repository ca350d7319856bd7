"""Worlds: pure state machines that agents act in, mechanisms, metrics, and the episode.

A world is a package of its own here; :mod:`plenum.worlds.registry` lists them.
"""

from plenum.worlds.consensus import MECHANISMS, Decision, Mechanism
from plenum.worlds.definition import Display, WorldDefinition
from plenum.worlds.draws import Draws
from plenum.worlds.metrics import action_distribution, mean_deviation, summary
from plenum.worlds.registry import WORLDS, build, definition
from plenum.worlds.world import Outcome, Policy, Round, Statement, World, as_plain

__all__ = [
    "MECHANISMS",
    "WORLDS",
    "Decision",
    "Display",
    "Draws",
    "Mechanism",
    "Outcome",
    "Policy",
    "Round",
    "Statement",
    "World",
    "WorldDefinition",
    "action_distribution",
    "as_plain",
    "build",
    "definition",
    "mean_deviation",
    "summary",
]
