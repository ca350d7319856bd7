"""Worlds: disaster, misinformation, public goods. Pure state machines, mechanisms and metrics."""

from plenum.worlds.catalogue import SETTINGS, VOLATILITY, build
from plenum.worlds.consensus import MECHANISMS, Decision, Mechanism, own_actions, read_plan
from plenum.worlds.deviation import abstained, deviation, mean_deviation
from plenum.worlds.disaster import metrics as metrics_disaster
from plenum.worlds.disaster.settings import DisasterSettings
from plenum.worlds.disaster.world import DisasterState, DisasterWorld
from plenum.worlds.draws import Draws
from plenum.worlds.metrics import (
    abstentions,
    action_distribution,
    deviations,
    distributions,
    performance,
    summary,
)
from plenum.worlds.misinformation import metrics as metrics_misinformation
from plenum.worlds.misinformation.world import (
    MisinformationSettings,
    MisinformationState,
    MisinformationWorld,
)
from plenum.worlds.policies import POLICIES, Policy, play
from plenum.worlds.public_goods import metrics as metrics_public_goods
from plenum.worlds.public_goods.world import (
    PublicGoodsSettings,
    PublicGoodsState,
    PublicGoodsWorld,
)
from plenum.worlds.reports import Statement, shown
from plenum.worlds.world import Outcome, Plain, Round, World, as_plain, checked

__all__ = [
    "MECHANISMS",
    "POLICIES",
    "SETTINGS",
    "VOLATILITY",
    "Decision",
    "DisasterSettings",
    "DisasterState",
    "DisasterWorld",
    "Draws",
    "Mechanism",
    "MisinformationSettings",
    "MisinformationState",
    "MisinformationWorld",
    "Outcome",
    "Plain",
    "Policy",
    "PublicGoodsSettings",
    "PublicGoodsState",
    "PublicGoodsWorld",
    "Round",
    "Statement",
    "World",
    "abstained",
    "abstentions",
    "action_distribution",
    "as_plain",
    "build",
    "checked",
    "deviation",
    "deviations",
    "distributions",
    "mean_deviation",
    "metrics_disaster",
    "metrics_misinformation",
    "metrics_public_goods",
    "own_actions",
    "performance",
    "play",
    "read_plan",
    "shown",
    "summary",
]
