"""Answers, private facts and scripted majorities: who reads what, and what is asked of a model."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from plenum.base.errors import UserError
from plenum.calls.conversation import Ask
from plenum.committee.condition import CommitteeCondition
from plenum.committee.deliberation import Deliberation
from plenum.committee.facts import require_facts
from plenum.committee.frame import PLENUM, Frame
from plenum.committee.scripted import find_argued, write_turn

Make = Callable[..., CommitteeCondition]
Deliberate = Callable[[Deliberation, Callable[[Ask], str]], list[dict[str, Any]]]

FACTS = {
    "Chair": ["The north gate was locked at 7."],
    2: ["Divers work below the south pier.", "The lamp is new."],
    "Rights": ["A bus waits in the east."],
}
OWNERS = {"Chair": FACTS["Chair"], "Welfare": FACTS[2], "Rights": FACTS["Rights"]}
EVERY = [fact for facts in FACTS.values() for fact in facts]
CASE = {
    **{"id": "XX-01", "title": "The open pier is the east one", "domain": "Tests"},
    **{"type": "choice", "question": "Which pier?"},
    "options": {
        label: {"name": name, "description": f"Go to the {name}."}
        for label, name in (("A", "north"), ("B", "south"), ("C", "east"))
    },
    "packet": "One pier is open.\n\nOptions:\nA. north\nB. south\nC. east\n",
    "answer": "C",
    "private": FACTS,
}
SMALL = ("roles.agents=3", "rounds=3")


@pytest.fixture
def case(tmp_path: Path) -> Callable[..., tuple[str, ...]]:
    """Write a case with some fields changed; returns the overrides that choose it."""

    def write(**changed: Any) -> tuple[str, ...]:
        data = {key: value for key, value in (CASE | changed).items() if value is not None}
        file = tmp_path / f"{len(list(tmp_path.iterdir()))}.yaml"
        file.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
        return "scenario.id=XX-01", f"scenario.file={file}"

    return write


def answer(ask: Ask) -> str:
    if ask.kind == "clerk":
        return json.dumps({"decision": "B", "majority_count": 1, "total": 1})
    if ask.kind == "ballot":
        return json.dumps({"decision": "B", "confidence": 60})
    return 'I have a view.\nSTATE: pref=[0.2,0.6,0.2]; conf=60; tags=["one","two"]'


def hear(condition: CommitteeCondition, deliberate: Deliberate) -> tuple[list[Ask], Any]:
    asks: list[Ask] = []
    deliberation = Deliberation(condition, 0)
    deliberate(deliberation, lambda ask: asks.append(ask) or answer(ask))  # type: ignore[func-returns-value]
    return asks, deliberation.end


def text(ask: Ask) -> str:
    return "\n".join(message.content for message in ask.chat.messages)


def list_facts(ask: Ask) -> list[str]:
    """The lines of a prompt that are private facts, whoever owns them."""
    lines = (line.removeprefix("- ") for line in text(ask).splitlines())
    return [line for line in lines if line in EVERY]


# --- facts ---------------------------------------------------------------------------------------


def test_a_seat_reads_its_own_facts_and_nobody_elses(
    condition: Make, deliberate: Deliberate, case: Callable[..., tuple[str, ...]]
) -> None:
    asks, _ = hear(condition(*case(), *SMALL), deliberate)
    for ask in asks:
        own = OWNERS.get(ask.seat, [])
        assert list_facts(ask) == own
        assert ("Facts that only you know:" in text(ask)) == bool(own)


def test_nobody_reads_the_answer_or_the_title_of_a_whole_packet(
    condition: Make, deliberate: Deliberate, case: Callable[..., tuple[str, ...]]
) -> None:
    heard = [hear(condition(*case(answer=a), *SMALL), deliberate)[0] for a in ("A", "C", None)]
    shown = [[text(ask) for ask in asks] for asks in heard]
    assert shown[0] == shown[1] == shown[2]
    assert "The open pier" not in "".join(shown[0])


def test_one_agent_alone_has_its_own_facts_and_one_with_all_has_all(
    condition: Make, deliberate: Deliberate, case: Callable[..., tuple[str, ...]]
) -> None:
    chosen = (*case(), "roles.agents=1", "rounds=2")
    alone, _ = hear(condition(*chosen), deliberate)
    pooled, _ = hear(condition(*chosen, "protocol.facts=all"), deliberate)
    assert list_facts(alone[0]) == FACTS["Chair"]
    assert list_facts(pooled[0]) == EVERY
    assert "Further facts of the case:" in text(pooled[0])
    assert condition(*chosen, "protocol=all_facts").factors["protocol"] == "all_facts"


def test_facts_and_answer_are_part_of_the_identity_and_of_the_head(
    condition: Make, case: Callable[..., tuple[str, ...]]
) -> None:
    changed: list[dict[str, Any]] = [{}, {"answer": "A"}, {"answer": None}, {"private": None}]
    changed += [{"private": {1: ["It rains."]}}, {"private": {2: ["It rains."]}}]
    made = [condition(*case(**each), *SMALL) for each in changed]
    assert len({each.identity for each in made}) == len(made)
    head = made[0].as_mapping()
    assert (head["right_answer"], head["private_facts"]) == ("C", OWNERS)
    assert not {"right_answer", "private_facts"} & condition("rounds=3").as_mapping().keys()
    numbered = {1: FACTS["Chair"], 2: FACTS[2], 3: FACTS["Rights"]}
    assert condition(*case(private=numbered), *SMALL).identity == made[0].identity


@pytest.mark.parametrize(
    ("changed", "settings", "words"),
    [
        ({"private": {"Youth": ["It rains."]}}, (), "private facts for seat Youth, but the seats"),
        ({"private": {4: ["It rains."]}}, SMALL, "private facts for seat 4, but the seats are"),
        ({"private": {1: ["It rains."], "Chair": ["No."]}}, (), "for Chair twice"),
        ({"private": None}, ("protocol.facts=all",), "scenario XX-01 has no private facts"),
        ({"answer": None}, ("protocol.majority=correction",), "XX-01 has no answer to argue"),
        ({}, ("protocol.majority=conformity", "roles.agents=2"), "2 seats are too few"),
        ({}, ("protocol=reflection", "protocol.majority=conformity"), "nobody hears it"),
        ({}, ("protocol=subversion", "rounds=1"), "speaks from round 2 on, but rounds is 1"),
        ({"answer": "D"}, (), "field answer: 'D'; it is one of A, B, C"),
        ({"private": ["It rains."]}, (), "field private: it is no mapping"),
        ({"private": {0: ["It rains."]}}, (), "field private: 0 is no seat"),
        ({"private": {True: ["It rains."]}}, (), "field private: True is no seat"),
        ({"private": {"Chair": []}}, (), "field private.Chair: it is no list"),
        ({"private": {"Chair": ["STATE: x"]}}, (), "field private.Chair: it holds 'STATE:'"),
    ],
)
def test_one_line_refuses(
    condition: Make,
    case: Callable[..., tuple[str, ...]],
    changed: dict[str, Any],
    settings: tuple[str, ...],
    words: str,
) -> None:
    with pytest.raises(UserError) as refused:
        condition(*case(**changed), *settings)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_prompts_of_ones_own_have_no_words_for_facts(
    condition: Make, case: Callable[..., tuple[str, ...]]
) -> None:
    scenario = condition(*case()).scenario
    require_facts(scenario, PLENUM, "plenum")
    with pytest.raises(UserError, match="the prompts mine have no words for them"):
        require_facts(scenario, Frame(system="Sit down."), "mine")


@pytest.mark.needs("plenum_worlds")
@pytest.mark.parametrize("setting", ["majority=conformity", "facts=all"])
def test_worlds_have_neither(condition: Make, setting: str) -> None:
    with pytest.raises(UserError, match=rf"protocol.{setting.replace('=', ': ')} is for committe"):
        condition("task=disaster", f"protocol.{setting}")


# --- a scripted majority -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "option", "begins"),
    [("conformity", "A", 1), ("subversion", "A", 2), ("correction", "C", 2)],
)
def test_all_seats_but_the_last_argue_for_one_option_without_a_call(
    condition: Make,
    deliberate: Deliberate,
    case: Callable[..., tuple[str, ...]],
    name: str,
    option: str,
    begins: int,
) -> None:
    made = condition(*case(), *SMALL, f"protocol={name}")
    asks, end = hear(made, deliberate)
    assert [(a.kind, a.seat) for a in asks] == [("turn", "Rights")] * 3 + [
        ("ballot", "Rights"),
        ("clerk", "clerk"),
    ]
    assert made.calls == len(asks)
    for ask in asks[:3]:
        said = text(ask).count(f': "I choose {option}, ')
        assert said == 2 * max(ask.round - begins + 1, 0)
        rows = [line for line in text(ask).splitlines() if line.startswith(("| Chair", "| Welf"))]
        assert all(("1.000" in row) == (ask.round >= begins) for row in rows)
    assert (end["decision"], end["votes"], end["total"], end["clerk_agrees"]) == ("B", 1, 1, True)
    assert [seat["seat"] for seat in made.as_mapping()["seats"]] == ["Rights"]
    assert made.as_mapping()["private_facts"] == {"Rights": FACTS["Rights"]}
    assert made.settings == "agents=3"


@pytest.mark.parametrize("settings", [("protocol.order=simultaneous",), ("protocol=summary",)])
def test_a_majority_goes_with_other_parts(
    condition: Make,
    deliberate: Deliberate,
    case: Callable[..., tuple[str, ...]],
    settings: tuple[str, ...],
) -> None:
    for name in ("conformity", "correction"):
        made = condition(*case(), *SMALL, *settings, f"protocol.majority={name}")
        asks, end = hear(made, deliberate)
        assert end["status"] == "completed"
        assert len(asks) == made.calls


def test_the_wrong_option_is_the_next_label_after_the_answer() -> None:
    labels = ("A", "B", "C")
    for place, right in enumerate(labels):
        for name in ("conformity", "subversion"):
            assert find_argued(labels, right, name) == labels[(place + 1) % 3]
        assert find_argued(labels, right, "correction") == right


def test_a_scripted_turn_is_the_same_every_time(condition: Make, case: Callable[..., Any]) -> None:
    scenario = condition(*case()).scenario
    turns = [write_turn(scenario, "conformity", number) for number in (1, 2, 2)]
    assert turns[0] == turns[1] == turns[2]
    assert turns[0] is not None
    assert turns[0]["state"].pref == (1.0, 0.0, 0.0)
    assert write_turn(scenario, "subversion", 1) is None
