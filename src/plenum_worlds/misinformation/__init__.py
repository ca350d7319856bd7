"""The world misinformation, in which defenders check nodes of a network against a rumour."""

import math
from dataclasses import asdict

from plenum.base.identity import digest
from plenum_worlds.definition import Display, WorldDefinition
from plenum_worlds.misinformation.agents import ACTING, POLICIES
from plenum_worlds.misinformation.claims import topics
from plenum_worlds.misinformation.scene import scene
from plenum_worlds.misinformation.state import MisinformationSettings
from plenum_worlds.misinformation.world import MisinformationWorld

__all__ = ["DEFINITION"]

_DISPLAY = Display(
    metrics=("final_spread", "mean_spread", "containment_time", "coverage_diversity"),
    headline="mean_spread",
    performance="share not misinformed",
    deviation="d̄ of proposals (Jaccard)",
    lower_is_better=True,
    ends_early=True,
    gaps="; runs that ended early keep their last value",
    ranges={
        **dict.fromkeys(("final_spread", "mean_spread"), (0.0, 1.0)),
        **dict.fromkeys(("containment_time", "coverage_diversity"), (0.0, math.inf)),
    },
)

DEFINITION = WorldDefinition(
    world=MisinformationWorld,
    settings=MisinformationSettings,
    agent_name="Defender",
    policies=POLICIES,
    acting=ACTING,
    display=_DISPLAY,
    scene=scene,
    endless={"stop": 1.0},
    data=digest([asdict(topic) for topic in topics()]),
)
