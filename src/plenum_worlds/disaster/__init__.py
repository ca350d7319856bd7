"""The world disaster, in which drones contain disasters on a grid."""

import math

from plenum_worlds.definition import Display, WorldDefinition
from plenum_worlds.disaster.agents import ACTING, POLICIES
from plenum_worlds.disaster.scene import scene
from plenum_worlds.disaster.state import DisasterSettings
from plenum_worlds.disaster.world import DisasterWorld

__all__ = ["DEFINITION"]

_DISPLAY = Display(
    metrics=("coverage", "misallocation", "response_delay", "net_reward", "disasters"),
    headline="coverage",
    performance="coverage",
    deviation="d̄ of proposals (cells)",
    gaps="; gaps: rounds without a disaster",
    ranges={
        "coverage": (0.0, 1.0),
        **dict.fromkeys(("misallocation", "response_delay", "disasters"), (0.0, math.inf)),
    },
    relabelled={
        "scored=True": ("coverage", "coverage - 0.1 (MP + RD)"),
        "euclidean=True": ("d̄ of proposals (cells)", "Euclidean d̄ of proposals (cells)"),
    },
)

DEFINITION = WorldDefinition(
    world=DisasterWorld,
    settings=DisasterSettings,
    agent_name="Drone",
    policies=POLICIES,
    acting=ACTING,
    display=_DISPLAY,
    scene=scene,
)
