"""The world public_goods, in which contributors fund a good with a moving threshold."""

from plenum_worlds.definition import Display, WorldDefinition
from plenum_worlds.public_goods.agents import ACTING, POLICIES
from plenum_worlds.public_goods.scene import scene
from plenum_worlds.public_goods.state import PublicGoodsSettings
from plenum_worlds.public_goods.world import PublicGoodsWorld

__all__ = ["DEFINITION"]

_DISPLAY = Display(
    metrics=("provision_rate", "total_welfare", "welfare_per_agent", "gini", "gini_cumulated"),
    headline="provision_rate",
    performance="share of runs funded",
    deviation="d̄ of proposals (share of C_max)",
    ranges=dict.fromkeys(("provision_rate", "gini", "gini_cumulated"), (0.0, 1.0)),
)

DEFINITION = WorldDefinition(
    world=PublicGoodsWorld,
    settings=PublicGoodsSettings,
    agent_name="Contributor",
    policies=POLICIES,
    acting=ACTING,
    display=_DISPLAY,
    scene=scene,
)
