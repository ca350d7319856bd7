"""Drawing of a run in the public-goods world: bars of the pool, payments, and balances."""

from collections.abc import Sequence
from itertools import accumulate

from plenum_worlds.public_goods.state import PublicGoodsState
from plenum_worlds.public_goods.text import amount
from plenum_worlds.scene import BarLevel, Mark, RoundPicture, RunScene, Tone
from plenum_worlds.world import Round, World

POOL, PAID, BALANCE = range(3)
"""Numbers of the panels."""

_LEGEND: list[Mark] = [
    {"at": [], "tone": "good", "text": "", "value": 1, "words": "funded"},
    {"at": [], "tone": "bad", "text": "", "value": 1, "words": "not funded"},
    {"at": [], "tone": "plain", "text": "", "value": 1, "tick": 1, "words": "paid; tick: chosen"},
]


def scene(
    world: World[PublicGoodsState, float], records: Sequence[Round], names: Sequence[str]
) -> RunScene:
    """Draw bars; a balance is the sum of an agent's payoffs up to the round."""
    balances = list(accumulate((r["facts"]["payoffs"] for r in records), _add_up))
    pools = [n for r in records for n in (r["facts"]["total"], r["state"]["threshold"])]
    ends = [0.0, *(each for balance in balances for each in balance)]
    pictures = [_picture(r, b, names) for r, b in zip(records, balances, strict=True)]
    panels = [
        ("all together", 0.0, max([1.0, *pools])),
        ("paid in this round", 0.0, world.settings.most),
        ("balance so far", min(ends), max([1.0, *ends])),
    ]
    return {"ground": {"panels": panels}, "legend": _LEGEND, "pictures": pictures}


def _picture(record: Round, balances: Sequence[float], names: Sequence[str]) -> RoundPicture:
    facts, state = record["facts"], record["state"]
    threshold, reading = state["threshold"], state["threshold_reading"]
    tone: Tone = "good" if facts["funded"] else "bad"
    misread = f", read as {amount(reading)}" if reading != threshold else ""
    words = f"Together {amount(facts['total'])} of {amount(threshold)}{misread}: "
    words += "funded." if facts["funded"] else "not funded."
    pool: Mark = {"at": [POOL, 0], "tone": tone, "text": "all", "words": words}
    marks: list[Mark] = [{**pool, "value": facts["total"]}]
    for unit, (name, paid) in enumerate(zip(names, record["actions"], strict=True)):
        chosen = record["proposals"][unit] if unit < len(record["proposals"]) else None
        paid_words = "abstains" if paid is None else f"pays {amount(paid)}"
        if chosen is not None and chosen != paid:
            paid_words += f" (chose {amount(chosen)})"
        words = f"{name} {paid_words}, payoff {amount(facts['payoffs'][unit])}"
        words += f", balance {amount(balances[unit])}."
        number = str(unit + 1)
        mark: Mark = {"at": [PAID, unit], "tone": "plain", "text": number, "words": words}
        marks.append({**mark, "value": paid or 0.0, "tick": chosen})
        mark = {"at": [BALANCE, unit], "tone": "plain", "text": number, "words": ""}
        marks.append({**mark, "value": balances[unit]})
    lines: list[BarLevel] = [
        {"panel": POOL, "value": threshold, "text": f"threshold {amount(threshold)}"},
        {"panel": PAID, "value": threshold / len(names), "text": "equal share"},
    ]
    return {"marks": marks, "lines": lines}


def _add_up(balance: list[float], payoffs: list[float]) -> list[float]:
    return [before + more for before, more in zip(balance, payoffs, strict=True)]
