"""Behaviour in the public-goods world: reference policies, and simulated contributors.

A policy sees what agents see, never the state.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from plenum_worlds.definition import Behaviour, Duty, Preferences, read_traits
from plenum_worlds.draws import Draws
from plenum_worlds.world import Plain, Policy

# Both read the facts as `public_goods/text.py` words them.
_MOST = re.compile(r"pay 0 to ([0-9.e+-]+) each")
_THRESHOLD = re.compile(r"Reported threshold: ([0-9.e+-]+) in all")


def fair_share(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """Let every agent pay an equal share of the reported threshold."""
    return [_share(view, len(views)) for view in views]


def free_riders(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """Let no agent pay."""
    return [0.0] * len(views)


def one_free_rider(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """Let agent 0 pay nothing, and the others only their fair share."""
    return [0.0] + [_share(view, len(views)) for view in views[1:]]


def compensate_free_rider(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """Let agent 0 pay nothing, and the others compensate for it as far as they can."""
    return [0.0] + [_share(view, len(views) - 1) for view in views[1:]]


def random_amounts(views: Sequence[Plain], draws: Draws, round: int) -> list[Any]:
    """Let each agent pay a uniformly drawn amount."""
    drawn = draws.uniforms("policy", round, len(views))
    return [float(u) * views[0]["most"] for u in drawn]


POLICIES: Mapping[str, Policy] = {
    "fair_share": fair_share,
    "free_riders": free_riders,
    "one_free_rider": one_free_rider,
    "covered_free_rider": compensate_free_rider,
    "random": random_amounts,
}
"""The reference policies by name."""


def _share(view: Plain, payers: int) -> float:
    return float(min(view["threshold"] / payers, view["most"]))


def choose(duty: Duty, agent: Preferences) -> float:
    """Choose an amount by role, the last round, and what the others propose to pay.

    Its constants are plenum's own and fitted to nothing: they make simulated agents differ by role
    and answer each other, for trials without a model. A role's weights, in :data:`ACTING`, are its
    part of an equal share, and what it adds to that after a round that wasn't funded.
    """
    most = float(_MOST.findall(duty.known)[0])
    seen = _THRESHOLD.search(duty.known)
    threshold = float(seen[1]) if seen else most * duty.units / 2  # unknown: half of all they have
    share = threshold / duty.units
    amount = share * agent.weights[0]
    if "not funded" in duty.known:
        amount += agent.weights[1] * share * 0.5
    if agent.proposals:
        others_mean = float(np.mean([p.action for p in agent.proposals]))
        if agent.pull > 0:
            amount += 0.5 * min(agent.pull, 2.0) / 2.0 * (others_mean - amount)
        else:  # repelled: it pays what the others leave open, as far as it cares for the good
            gap = threshold - others_mean * (duty.units - 1)
            amount += min(-agent.pull, 3.0) / 3.0 * 0.5 * agent.weights[0] * (gap - share)
    amount += agent.kick * share * 0.2 * agent.rng.normal()
    if agent.rng.random() < agent.slips:
        amount = share * agent.rng.random() * 2
    return float(min(max(0.0, round(amount, 2)), most))


ACTING = Behaviour(
    phrase="contributors pay 0 to ",
    traits=read_traits(__file__),
    choose=choose,
)
