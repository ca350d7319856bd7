"""One-shot votes: nobody reads what another member said, wrote or prefers."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from plenum.base.errors import UserError
from plenum.calls.conversation import Ask
from plenum.committee.deliberation import Deliberation
from plenum.design.condition import Condition

Make = Callable[..., Condition]
Deliberate = Callable[[Deliberation, Callable[[Ask], str]], list[dict[str, Any]]]


def speaker(condition: Condition) -> Callable[[Ask], str]:
    """Every seat has words, a confidence and tags that no other one has."""
    order = [seat.name for seat in condition.speaking_order]

    def answer(ask: Ask) -> str:
        if ask.kind == "clerk":
            return json.dumps({"decision": "A", "majority_count": 5, "total": 5})
        if ask.kind == "ballot":
            return json.dumps({"decision": "A", "confidence": 60})
        place = order.index(ask.seat)
        pref = f"0.{50 + place},0.{20 - place},0.30"
        tags = f'["tag_{ask.seat.lower()}","mark_{ask.seat.lower()}"]'
        return f"Word of {ask.seat}.\nSTATE: pref=[{pref}]; conf={41 + place}; tags={tags}"

    return answer


def heard(condition: Condition, deliberate: Deliberate) -> list[Ask]:
    """Every call of a deliberation, in order."""
    asks: list[Ask] = []

    def answer(ask: Ask) -> str:
        asks.append(ask)
        return speaker(condition)(ask)

    deliberate(Deliberation(condition, 0), answer)
    return asks


def read(ask: Ask) -> str:
    return "\n".join(message.content for message in ask.chat.messages)


@pytest.mark.parametrize("roles", ["on", "off"])
def test_a_prompt_holds_nothing_that_another_seat_said(
    condition: Make, deliberate: Deliberate, roles: str
) -> None:
    one = condition("protocol=one_shot", "memory=k1", f"roles={roles}")
    asks = heard(one, deliberate)
    assert [ask.kind for ask in asks].count("turn") == 5
    for ask in asks:
        if ask.kind == "clerk":
            continue
        text = read(ask)
        others = {seat.name for seat in one.seats} - {ask.seat}
        for other in others:
            assert not re.search(rf"(Word of |tag_|mark_){other}", text, re.IGNORECASE)
        rows = [row for row in text.splitlines() if row.startswith("| ")][1:]
        spoken = [row for row in rows if not re.fullmatch(r"\| [^|]+(\| - )+\|", row)]
        assert len(rows) == 1
        assert len(spoken) == (ask.kind == "ballot")
        assert "no discussion" in text
        assert text.count(f"Word of {ask.seat}.") == (ask.kind == "ballot")
        assert ("Nobody has spoken yet." in text) == (ask.kind == "turn")
        assert not re.search(r"several rounds|discussion is over|convince you", text)


def test_deliberation_does_hold_it(condition: Make, deliberate: Deliberate) -> None:
    """The check above sees what it looks for."""
    asks = heard(condition("rounds=1"), deliberate)
    last = [ask for ask in asks if ask.kind == "turn"][-1]
    assert read(last).count("Word of") == 4


def test_it_is_one_round_and_another_condition(condition: Make) -> None:
    one, usual = condition("protocol=one_shot"), condition("rounds=1")
    assert one.rounds == 1
    with pytest.raises(UserError, match="rounds: 6; without interaction"):
        condition("protocol=one_shot", "rounds=6")
    assert one.identity != usual.identity
    assert (one.factors["protocol"], usual.factors["protocol"]) == ("one_shot", "deliberation")
