"""What counts as speaking of another agent's action, and as changing course after it."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from plenum.calls.chat import Reply
from plenum.design.job import Job
from plenum_worlds.condition import WorldCondition
from plenum_worlds.dialogue import measures, refers
from plenum_worlds.episode import Episode
from plenum_worlds.prompts import WorldRemark, format_action

pytestmark = pytest.mark.slow

CELL = st.lists(st.integers(0, 9), min_size=2, max_size=2)
NODES = st.lists(st.integers(0, 49), min_size=1, max_size=3, unique=True).map(sorted)
CENTS = st.integers(0, 1200).map(lambda cents: cents / 100)
ACTIONS = {"Drone": CELL, "Defender": NODES, "Contributor": CENTS}
MINE: dict[str, Any] = {"Drone": [9, 9], "Defender": [40], "Contributor": 1.0}
THREES = "3" * 5000


def spoken_of(message: str, theirs: Any, mine: Any, title: str = "Drone") -> bool:
    """Return whether agent 1's message speaks of what agent 2 proposed."""
    said, heard = (
        WorldRemark(4, f"{title} 1", mine, message),
        WorldRemark(4, f"{title} 2", theirs, ""),
    )
    return refers(said, [heard]) == [f"{title} 2"]


# (who speaks, what agent 2 proposed, messages that speak of it, messages that don't)
SPOKEN: list[tuple[str, Any, list[str], list[str]]] = [
    (
        "Contributor",
        6.0,
        ["Somebody pays 6.", "Not 6.00, please."],
        [
            *("I pay with the one who pays 16.0.", "We lack 6.05 units.", "A gap of -6 is left."),
            *("Only 6 % is missing, or 6%.", "In Round 6 we failed; round 6, then."),
            *("The 6th time.", "6 agents, agent 6, agent #6, Contributor # 6."),
        ],
    ),
    ("Contributor", 10.0, [], ["The threshold is 10 and the benefit: 12."]),
    ("Contributor", 12.0, [], ["The threshold is 10 and the benefit: 12."]),
    ("Contributor", 5.0, [], ["With 5 contributors we manage; ask Contributor 5."]),
    (
        "Drone",
        [1, 2],
        [
            *("I fly to [1, 2], you don't.", "Leave (1,2) alone.", "Plan: [[3,4],[1,2]]."),
            *("I leave that to agent 2.", "As Agent #2 says.", "Drone #2 has it."),
            *("DRONE # 2 has it.", "Drones 2 and 3 should stay.", "I follow Drone-2."),
        ],
        [
            *("Agent 22 and agent 1, 2 of us.", "Reagent 2 is none.", "[11, 2]", "[1, 20]"),
            *("[2, 1]", "[1, 2, 3]", "row 1, 2 drones", "[1.2]", "[]", "Drones 12 and 3 stay."),
            "I am drone 3, and 2 of us suffice.",
        ],
    ),
    (
        "Defender",
        [3, 7, 12],
        [
            *("I won't check nodes 12, 3 and 7.", "Nodes: [7, 12, 3]", "You said [3, 7, 12]."),
            *("nodes 12/3/7 now", "nodes #3, #7 and #12", "ids 3, 7, 12"),
        ],
        ["nodes 3 and 7"],
    ),
    (
        "Defender",
        [3],
        ["Node 3 is hot."],
        [
            *("Node 13 is hot.", "Since round 3 it is worse (3).", "Check 3 nodes."),
            *(f"Node {THREES} is none.", f"[{THREES}] is none."),
        ],
    ),
    ("Defender", [3, 7], [], ["Check nodes 3, 7 and 12."]),
    ("Defender", [13], [], ["Node 3 is hot."]),
    ("Defender", [1], [], ["(1)"]),
    ("Defender", [], ["Somebody checks nothing: []"], ["Check the nodes now.", "()", "check()"]),
]


@pytest.mark.parametrize(("title", "theirs", "speaking", "others"), SPOKEN)
def test_a_message_speaks_of_an_action_that_it_writes_or_whose_agent_it_names(
    title: str, theirs: Any, speaking: list[str], others: list[str]
) -> None:
    for message in speaking:
        assert spoken_of(message, theirs, MINE[title], title), message
    for message in others:
        assert not spoken_of(message, theirs, MINE[title], title), message


@pytest.mark.parametrize("title", ACTIONS)
@settings(max_examples=25)
@given(data=st.data())
def test_an_action_written_as_prompts_write_it_is_found_and_no_other_one_is(
    title: str, data: st.DataObject
) -> None:
    wrote, theirs, mine = (data.draw(ACTIONS[title]) for _ in range(3))
    message = f"I leave {format_action(wrote)} to others."
    assert spoken_of(message, theirs, mine, title) == (wrote == theirs != mine)
    assert not spoken_of(f"I propose {format_action(mine)}.", mine, mine, title)
    assert spoken_of(f"I join {title} 2.", mine, mine, title)


def test_a_long_message_is_read_in_one_go() -> None:
    """Work that grew with the square of the length would take minutes."""
    openings = ("(", "[", "(1", "([", "node ", "node 1 and ", "Drone #")
    fillings = (",", "1,", " ", "(", "[", "1 ", "()", "and ")
    for opening, filling in itertools.product(openings, fillings):
        message = opening + filling * (50_000 // len(filling))
        for title, action in (("Drone", [77, 78]), ("Contributor", 77.0)):
            assert not spoken_of(message, action, MINE[title], title)
            last = f"{message}. I leave {format_action(action)} to others."
            assert spoken_of(last, action, MINE[title], title)


@pytest.mark.parametrize("hidden", "\x00\x1c\x85\u200b\u2028\u2060\ufeff")
def test_a_message_is_searched_as_the_others_read_it(hidden: str) -> None:
    assert spoken_of(f"Drone{hidden}2 is right.", [1, 2], [3, 4])
    assert not spoken_of(f"Drone{hidden}12 is right.", [1, 2], [3, 4])


def test_a_name_is_whole_and_belongs_to_somebody_who_proposed() -> None:
    names = ("Drone 1", "Drone 2", "Drone 12", "Drone 22")
    heard = [WorldRemark(1, name, [5, 5], "") for name in names]

    def found(message: str) -> list[str]:
        return refers(WorldRemark(1, "Drone 1", [0, 0], message), heard)

    assert found("I follow drone 12.") == ["Drone 12"]
    assert found("Drone 2's idea beats Drone 22's and Drone 2's.") == ["Drone 2", "Drone 22"]
    assert found("I am Drone 1.") == []
    assert found("All of them go to [5,5].") == ["Drone 12", "Drone 2", "Drone 22"]
    silent = WorldRemark(1, "Drone 2", None, "")
    said = WorldRemark(1, "Drone 1", [0, 0], "Drone 2 has said nothing.")
    assert refers(said, [silent]) == []
    assert refers(said, [silent, heard[1]]) == ["Drone 2"]


def round_of(proposals: list[Any], *spoken: tuple[int, Any, bool]) -> dict[str, Any]:
    """The entry of a round: final choices, and (agent, proposal, whether it refers) in order."""
    told = [
        {"agent": a, "action": p, "words": p is not None, "refers": ["X 9"] * r}
        for a, p, r in spoken
    ]
    return {"proposals": proposals, "spoken": told, "cut": 0}


@pytest.mark.parametrize(
    ("a", "b", "c"),
    [([1, 2], [2, 1], [3, 3]), ([3], [3, 13], [13]), (6.0, 6.6, 0.0)],
    ids=["disaster", "misinformation", "public_goods"],
)
def test_shares_of_references_and_changes_are_those_of_a_pencil(a: Any, b: Any, c: Any) -> None:
    first = round_of(
        [b, a, c, a],  # agents 0 and 2 change, 1 and 3 don't
        *((0, a, True), (1, a, True), (2, a, False), (3, a, False)),
    )
    second = round_of(
        [a, None, b],
        *((0, a, False), (1, a, True), (2, None, False)),  # 1 abstains from acting, 2 says nothing
        *((0, b, False), (1, a, False), (2, a, False)),  # 0 goes back to its first: no change
    )
    found = measures([first, second])
    assert (found["messages"], found["silent"], found["cut"]) == (9, 1, 0)
    assert_allclose(found["references"], 3 / 9)
    # first: 0, 1, 2, 3; second: 0 and 2, which proposed a in its second turn and chose b
    assert_allclose(found["changes"], 3 / 6)
    assert_allclose(found["changes_after_reference"], 1 / 2)  # 0 of 0, 1
    assert_allclose(found["changes_otherwise"], 2 / 4)  # 2 of 2, 3 and the second round's 0 and 2


def test_an_amount_that_moved_by_half_a_unit_is_the_same_choice() -> None:
    found = measures([round_of([6.5, 5.4], (0, 6.0, False), (1, 6.0, False))])
    assert found["changes"] == 0.5


def test_where_nobody_speaks_there_are_no_shares() -> None:
    found = measures([round_of([[1, 1], None])])
    counts = ("messages", "silent", "cut")
    assert [found[name] for name in counts] == [0, 0, 0]
    assert all(math.isnan(value) for name, value in found.items() if name not in counts)


def test_without_references_only_the_other_share_is_known() -> None:
    found = measures([round_of([1.0, 2.0], (0, 1.0, False), (1, 1.0, False))])
    assert found["references"] == 0
    assert math.isnan(found["changes_after_reference"])
    assert_allclose(found["changes_otherwise"], 1 / 2)


def test_an_episode_reports_who_referred_and_who_changed(job: Callable[..., Job]) -> None:
    """Two agents, one round, each turn known: the second speaker alone can refer to the first."""
    first, then, others = [1, 2], [7, 7], "[1,2]"
    condition = job("task=disaster", "task.agents=2", "rounds=1").condition
    assert isinstance(condition, WorldCondition)
    episode, spoke = Episode(condition, 0), []
    while (ask := episode.ask) is not None:
        spoke += [ask.seat] * (ask.kind == "message")
        if ask.kind == "message":  # the first proposes ``first``, the second speaks of it
            action, message = (first, "Mine.") if len(spoke) == 1 else (then, f"Not {others}.")
        else:  # the first keeps its proposal, the second joins it
            action, message = first, ""
        episode.answer(Reply(f'{{"action": {action}, "message": "{message}"}}', 1, 1))
    (entry,) = episode.rounds
    assert [remark["refers"] for remark in entry["spoken"]] == [[], [spoke[0]]]
    assert episode.end is not None
    found = episode.end["metrics"]
    assert found["messages"] == 2
    assert_allclose(found["references"], 1 / 2)
    assert_allclose(found["changes"], 1 / 2)
    assert found["changes_after_reference"] == 1
    assert found["changes_otherwise"] == 0


def test_an_episode_counts_silent_turns_cut_answers_and_words(job: Callable[..., Job]) -> None:
    """Drone 1 can't be read, Drone 2's answers are cut, Drone 3 proposes without words."""
    condition = job("task=disaster", "task.agents=4", "rounds=2").condition
    assert isinstance(condition, WorldCondition)
    answers = {
        "Drone 1": "I can't say.",
        "Drone 2": '{"action": [1,2], "message": "To [1,2].", "analysis": "Bec',
        "Drone 3": '{"action": [3,3], "message": " "}',
        "Drone 4": '{"action": [4,4], "message": "I go.", "analysis": "Near."} ok',
    }
    episode = Episode(condition, 0)
    while (ask := episode.ask) is not None:
        text = '{"act' if ask.kind == "action" and ask.round == 2 else answers[ask.seat]
        episode.answer(Reply(text, 1, 1))
    assert episode.end is not None
    found = episode.end["metrics"]
    assert (found["messages"], found["silent"]) == (4, 2)
    # Drone 2's messages, its choice in round 1, all asked twice, and four choices in round 2,
    # repaired by all
    assert found["cut"] == 4 + 2 + 4 + 1
    assert [entry["cut"] for entry in episode.rounds] == [4, 7]
