"""What the agents of the public-goods world may see and read."""

from typing import Any

from numpy.typing import NDArray

from plenum.worlds.public_goods.state import PublicGoodsSettings, PublicGoodsState
from plenum.worlds.reports import Kind, Statement, kind_of
from plenum.worlds.world import Plain

SHOWN = 10
"""Contributions of so many agents are shown one by one; those of more agents as a summary."""


def view(state: PublicGoodsState, settings: PublicGoodsSettings, agents: int, agent: int) -> Plain:
    """What one agent may know, as data."""
    return {
        "agent": agent,
        "agents": agents,
        "threshold": state.threshold_reading,
        "benefit": state.benefit_reading,
        "cost": settings.cost,
        "most": settings.most,
        "contributions": list(state.contributions),
        "funded": state.funded,
    }


def describe(view: Plain) -> str:
    """A view in words."""
    return (
        f"{view['agents']} contributors pay 0 to {view['most']:.10g} each; a unit costs its payer "
        f"{view['cost']:.10g}.\n"
        f"Reported threshold: {amount(view['threshold'])} in all. "
        f"Reported benefit if it is reached: {amount(view['benefit'])}, shared equally.\n"
        + _last(view)
    )


def report(
    state: PublicGoodsState, following: float, step: float, share: float, noise: NDArray[Any]
) -> tuple[Statement, ...]:
    """Three statements with numbers.

    Parameters
    ----------
    following
        The threshold of the next round.
    step
        How far a contradictory number is off.
    share
        Probability that a statement is contradictory or incomplete.
    noise
        Uniforms, one row a statement: what becomes of it, and to which side it is off.
    """
    sentences = (
        (state.threshold, "An auditor on the threshold of this round: {}."),
        (following, "An analyst on the threshold of the next round: {}."),
        (state.benefit, "A contractor on the benefit of the good: {}."),
    )
    found = []
    for (true, sentence), (first, second) in zip(sentences, noise, strict=True):
        kind = kind_of(first, share)
        found.append(Statement(sentence.format(_number(true, kind, second, step)), kind))
    return tuple(found)


def amount(number: float) -> str:
    """A number to the cent, without needless zeros."""
    return f"{round(number, 2):.10g}"


def _number(true: float, kind: Kind, uniform: float, step: float) -> str:
    if kind == "incomplete":
        return "no figure is given"
    off = 0.0 if kind == "plain" else step if uniform < 0.5 or true < step else -step
    return amount(true + off)


def _last(view: Plain) -> str:
    if view["funded"] is None:
        return "No round has been played yet."
    paid = [a for a in view["contributions"] if a is not None]
    total = f"{amount(sum(paid))} in all, {'funded' if view['funded'] else 'not funded'}"
    if view["agents"] <= SHOWN:
        each = ", ".join("none" if a is None else amount(a) for a in view["contributions"])
        return f"Last round's contributions by contributor: {each}; {total}."
    if not paid:
        return f"Nobody contributed in the last round; {total}."
    nothing = view["agents"] - sum(a > 0 for a in paid)
    return (
        f"Last round's contributions: {amount(min(paid))} to {amount(max(paid))}, "
        f"{nothing} contributors paid nothing; {total}."
    )
