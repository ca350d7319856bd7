"""Views and texts for the agents of the public-goods world."""

import numpy as np
from numpy.typing import NDArray

from plenum_worlds.draws import Draws
from plenum_worlds.public_goods.state import PublicGoodsState
from plenum_worlds.world import Kind, Plain, Statement, World, kind_of

SHOWN = 10
"""Most agents whose contributions are listed; those of more agents are summarised."""


def view(world: World[PublicGoodsState, float], state: PublicGoodsState, agent: int) -> Plain:
    """Return what an agent may know: reported threshold and benefit, costs, and the last result."""
    return {
        "agent": agent,
        "agents": world.agents,
        "threshold": state.threshold_reading,
        "benefit": state.benefit_reading,
        "cost": read_unit_cost(world, state),
        "most": world.settings.most,
        "contributions": list(state.contributions),
        "funded": state.funded,
    }


def read_unit_cost(world: World[PublicGoodsState, float], state: PublicGoodsState) -> float:
    """Return the cost of a unit in a round."""
    return float(world.settings.cost if state.cost is None else state.cost)


def without_acts(world: World[PublicGoodsState, float], view: Plain) -> Plain:
    """Return a view that doesn't show the others' payments."""
    paid = view["contributions"]
    return {**view, "contributions": None, "own": paid[view["agent"]] if paid else None}


def within_sight(
    world: World[PublicGoodsState, float], view: Plain, seen: NDArray[np.bool_]
) -> Plain:
    """Return a view in which the threshold, the benefit or both are unknown unless ``seen``."""
    names = ("threshold", "benefit")
    shown = {name: view[name] if seen[i] else None for i, name in enumerate(names)}
    return {**view, **shown}


def words(world: World[PublicGoodsState, float], view: Plain) -> str:
    """Describe a view in words."""
    return (
        f"{view['agents']} contributors pay 0 to {view['most']:.10g} each; a unit costs its payer "
        f"{view['cost']:.10g}.\n"
        f"Reported threshold: {_format_known(view['threshold'])} in all. "
        f"Reported benefit if it is reached: {_format_known(view['benefit'])}, shared equally.\n"
        + _last_round(view)
    )


def report(
    world: World[PublicGoodsState, float], state: PublicGoodsState, draws: Draws, round: int
) -> tuple[Statement, ...]:
    """Return rumours with numbers on the threshold, the next one, and the benefit."""
    # In a world that lags, agents see the state before this round's update, which is the next one.
    following = world.update(state, draws, round if world.lags else round + 1).threshold
    noise = draws.uniforms("report", round, (3, 2))  # of each: its kind, and the side of its error
    step = world.settings.amount(world.settings.shock, world.agents)
    sentences = (
        (state.threshold, "An auditor on the threshold of this round: {}."),
        (following, "An analyst on the threshold of the next round: {}."),
        (state.benefit, "A contractor on the benefit of the good: {}."),
    )
    statements = []
    for (true, sentence), (kind_draw, side_draw) in zip(sentences, noise, strict=True):
        kind = kind_of(kind_draw, world.settings.contradictory)
        statements.append(Statement(sentence.format(_figure(true, kind, side_draw, step)), kind))
    return tuple(statements)


def amount(number: float) -> str:
    """Format a number to the cent, without unnecessary zeros."""
    return f"{round(number, 2):.10g}"


def _format_known(number: float | None) -> str:
    return "unknown" if number is None else amount(number)


def _figure(true: float, kind: Kind, side_draw: float, step: float) -> str:
    if kind == "incomplete":
        return "no figure is given"
    if kind == "plain":
        return amount(true)
    upward = side_draw < 0.5 or true < step  # a figure is never negative
    return amount(true + step if upward else true - step)


def _last_round(view: Plain) -> str:
    if view["funded"] is None:
        return "No round has been played yet."
    outcome = "funded" if view["funded"] else "not funded"
    if view["contributions"] is None:
        mine = "none" if view["own"] is None else amount(view["own"])
        return f"Last round: {outcome}. What the others paid isn't shown. Yours: {mine}."
    paid = [a for a in view["contributions"] if a is not None]  # None: the agent abstained
    total = f"{amount(sum(paid))} in all, {outcome}"
    if view["agents"] <= SHOWN:
        each = ", ".join("none" if a is None else amount(a) for a in view["contributions"])
        return f"Last round's contributions by contributor: {each}; {total}."
    if not paid:
        return f"Nobody contributed in the last round; {total}."
    unpaid = view["agents"] - sum(a > 0 for a in paid)  # abstentions count as nothing
    return (
        f"Last round's contributions: {amount(min(paid))} to {amount(max(paid))}, "
        f"{unpaid} contributors paid nothing; {total}."
    )
