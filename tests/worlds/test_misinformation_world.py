"""The misinformation world: network, spread, protection, and common random numbers."""

import json
from typing import Any

import networkx  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from world_episodes import VOLATILITY, Play

from plenum.base.errors import UserError
from plenum.worlds import Draws, as_plain
from plenum.worlds.misinformation.world import (
    MisinformationSettings,
    MisinformationState,
    MisinformationWorld,
    scale_free,
)

levels = st.sampled_from(sorted(VOLATILITY["misinformation"]))
sets = st.lists(st.integers(0, 49), max_size=3, unique=True)
choices = st.lists(st.lists(st.none() | sets, min_size=3, max_size=3), min_size=6, max_size=6)

CHAIN = ((0, 1), (1, 2), (2, 3))


def chain(status: str, checked: tuple[int, ...] = (), due: int = 99) -> MisinformationState:
    """Four nodes in a row."""
    return MisinformationState(CHAIN, status, checked, (0, 0, 0, 0), due)


def tiny(**numbers: Any) -> MisinformationWorld:
    """A world of four nodes whose readings are exact."""
    base = {"nodes": 4, "attachment": 1, "initial_most": 2, "missed": 0.0, "false_alarm": 0.0}
    return MisinformationWorld(2, MisinformationSettings(**{**base, **numbers}))


@given(levels, st.integers(0, 10**6), choices)
def test_nodes_are_conserved_and_protected_ones_stay_clean_whatever_is_checked(
    level: str, seed: int, rounds: list[list[Any]]
) -> None:
    world = MisinformationWorld(3, MisinformationSettings(**VOLATILITY["misinformation"][level]))
    draws = Draws(("misinformation", seed, 0))
    state = world.start(draws)
    assert 2 <= state.status.count("M") <= 5
    for number, actions in enumerate(rounds, 1):
        before = state
        state = world.update(state, draws, number)
        assert sum(map(state.status.count, "UIM")) == len(state.status) == 50
        assert not any(state.status[node] == "M" for node in before.checked)
        assert all(
            new == old or new == "M" for old, new in zip(before.status, state.status, strict=True)
        )
        faced, state = state, world.act(state, actions).state
        wanted = {node for nodes in actions for node in nodes or ()}
        assert state.checked == tuple(sorted(wanted))
        assert all(
            letter == ("I" if node in wanted else faced.status[node])
            for node, letter in enumerate(state.status)
        )


@given(levels, st.integers(0, 10**6), choices)
def test_under_the_same_draws_checks_never_leave_more_nodes_misinformed_than_none_do(
    level: str, seed: int, rounds: list[list[Any]]
) -> None:
    """Only true if an edge, and an injection, meets the same luck under both policies."""
    world = MisinformationWorld(3, MisinformationSettings(**VOLATILITY["misinformation"][level]))
    draws = Draws(("misinformation", seed, 0))
    acting = idle = world.start(draws)
    for number, actions in enumerate(rounds, 1):
        acting, idle = (world.update(s, draws, number) for s in (acting, idle))
        assert _misinformed(acting) <= _misinformed(idle)
        assert acting.next_injection == idle.next_injection
        acting = world.act(acting, actions).state
        idle = world.act(idle, [None] * 3).state


def _misinformed(state: MisinformationState) -> set[int]:
    return {node for node, letter in enumerate(state.status) if letter == "M"}


def test_the_network_is_networkxs_barabasi_albert_graph_and_the_same_under_one_seed() -> None:
    edges = scale_free(50, 2, seed=5)
    graph = networkx.Graph(edges)
    assert networkx.utils.graphs_equal(graph, networkx.barabasi_albert_graph(50, 2, seed=5))
    assert (len(graph), len(edges), networkx.is_connected(graph)) == (50, 96, True)
    one, other = (MisinformationWorld(n).start(Draws(("m", 3, 0))) for n in (2, 9))
    assert one == other
    assert one.edges != MisinformationWorld(2).start(Draws(("m", 4, 0))).edges


def test_rumours_go_along_edges_and_no_further_in_one_round() -> None:
    draws = Draws(("m", 0, 0))
    certain, never = tiny(spread=1.0), tiny(spread=0.0)
    assert certain.update(chain("MUUU"), draws, 2).status == "MMUU"
    assert certain.update(chain("UIMU"), draws, 2).status == "UMMM"
    assert never.update(chain("MUUU"), draws, 2).status == "MUUU"
    assert certain.update(chain("MUUU"), draws, 1).status == "MUUU"  # round 1 is the start


def test_each_edge_carries_with_the_levels_probability() -> None:
    world = tiny(spread=0.3)
    hits = [world.update(chain("UMUU"), Draws(("m", seed, 0)), 2).status for seed in range(1000)]
    for node in (0, 2):
        assert 0.25 < sum(status[node] == "M" for status in hits) / 1000 < 0.35
    both = sum(status[0] == status[2] == "M" for status in hits) / 1000
    assert 0.06 < both < 0.12  # independent: 0.09


def test_a_check_protects_until_the_next_action_and_no_longer() -> None:
    world, draws = tiny(spread=1.0), Draws(("m", 0, 0))
    acted = world.act(chain("MUUU"), [(1,), None]).state
    assert acted.status == "MIUU"
    spared = world.update(acted, draws, 2)
    assert spared.status == "MIUU"
    assert world.update(world.act(spared, [None, None]).state, draws, 3).status == "MMUU"


def test_informed_nodes_can_be_made_harder_to_misinform() -> None:
    draws = Draws(("m", 0, 0))
    assert tiny(spread=1.0, susceptibility=0.0).update(chain("IMUU"), draws, 2).status == "IMMU"


@pytest.mark.parametrize(("level", "gaps"), [("low", {4}), ("moderate", {2, 3}), ("high", {1})])
def test_injections_are_planned_every_so_many_rounds(level: str, gaps: set[int]) -> None:
    world = MisinformationWorld(1, MisinformationSettings(**VOLATILITY["misinformation"][level]))
    seen = set()
    for seed in range(10):
        draws = Draws(("m", seed, 0))
        state, last = world.start(draws), 1
        for number in range(2, 30):
            due = state.next_injection
            state = world.update(state, draws, number)
            if state.next_injection != due:
                assert due == number
                seen.add(number - last)
                last = number
    assert seen == gaps


def test_an_injection_hits_one_or_two_new_nodes_and_a_check_shields() -> None:
    world = MisinformationWorld(1, MisinformationSettings(spread=0.0, injection_gap_least=1))
    sizes = []
    for seed in range(60):
        draws = Draws(("m", seed, 0))
        begun = MisinformationState(world.start(draws).edges, "U" * 50, (), (0,) * 50, 2)
        hit = _misinformed(world.update(begun, draws, 2))
        sizes.append(len(hit))
        shielded = MisinformationState(begun.edges, "U" * 50, tuple(sorted(hit)), (0,) * 50, 2)
        assert not _misinformed(world.update(shielded, draws, 2))
    assert set(sizes) == {1, 2}


def test_high_volatility_skips_one_injection_in_ten() -> None:
    settings = MisinformationSettings(**{**VOLATILITY["misinformation"]["high"], "spread": 0.0})
    world = MisinformationWorld(1, settings)
    begun = MisinformationState(CHAIN, "U" * 50, (), (0,) * 50, 2)
    hit = [bool(world.update(begun, Draws(("m", s, 0)), 2).events) for s in range(1000)]
    assert 0.86 < sum(hit) / 1000 < 0.94


def test_the_episode_ends_early_above_the_stop_share_and_not_at_it() -> None:
    world = MisinformationWorld(1, MisinformationSettings(nodes=10, initial_most=2))
    at, above = (
        MisinformationState(CHAIN, "M" * n + "U" * (10 - n), (), (0,) * 10, 99) for n in (8, 9)
    )
    assert (world.over(at), world.over(above)) == (False, True)


def test_an_episode_without_defence_stops_early(play: Play) -> None:
    two = ("task=misinformation", "task.agents=2", "volatility=high", "rounds=30")
    episode = play(*two, actions=lambda round: [[], []])
    assert len(episode) < 30
    assert episode[-1]["after"]["status"].count("M") > 40
    assert all(r["after"]["status"].count("M") <= 40 for r in episode[:-1])


def test_the_score_is_the_share_that_isnt_misinformed() -> None:
    outcome = tiny().act(chain("MMUU"), [(1, 2), (2,)])
    assert outcome.state.status == "MIIU"
    assert outcome.score == 0.75
    assert outcome.facts == {"checked": [1, 2], "corrected": [1], "misinformed": 0.25}


def test_suspicion_follows_the_truth_but_for_misses_and_false_alarms() -> None:
    draws = [Draws(("m", seed, 0)) for seed in range(60)]
    default = MisinformationWorld(1)
    caught = missed = alarms = clean = 0
    for d in draws:
        state = default.start(d)
        for letter, since in zip(state.status, state.suspected, strict=True):
            caught += letter == "M" and since > 0
            missed += letter == "M" and since == 0
            alarms += letter != "M" and since > 0
            clean += letter != "M" and since == 0
    assert 0.1 < missed / (missed + caught) < 0.3
    assert 0.01 < alarms / (alarms + clean) < 0.03
    exact = tiny().start(draws[0])
    assert {n for n, since in enumerate(exact.suspected) if since} == _misinformed(exact)


def test_suspicion_keeps_the_round_in_which_it_began() -> None:
    world, draws = tiny(spread=0.0), Draws(("m", 0, 0))
    second = world.update(chain("MUUU"), draws, 2)
    third = world.update(second, draws, 3)
    cleared = world.update(world.act(third, [(0,), None]).state, draws, 4)
    assert (second.suspected, third.suspected) == ((2, 0, 0, 0), (2, 0, 0, 0))
    assert cleared.suspected == (0, 0, 0, 0)


def test_an_agent_sees_suspicions_and_degrees_and_no_status() -> None:
    world = tiny()
    state = MisinformationState(CHAIN, "MUMU", (3,), (0, 2, 0, 0), 99)
    view = world.view(state, 1)
    assert view["degrees"] == [1, 2, 2, 1]
    assert view["suspected"] == [{"node": 1, "since": 2, "neighbours": [0, 2]}]
    assert view["checked"] == [3]
    other = MisinformationState(CHAIN, "UUUM", (3,), (0, 2, 0, 0), 99)
    assert world.describe(state, 1) == world.describe(other, 1)
    assert "1 (since round 2, next to 0, 2)" in world.describe(state, 1)


def test_the_description_stays_short_when_everything_is_suspected() -> None:
    world = MisinformationWorld(100)
    begun = world.start(Draws(("m", 1, 0)))
    all_suspected = MisinformationState(begun.edges, begun.status, (), (3,) * 50, 9)
    assert len(world.describe(all_suspected, 0)) < 2200


@pytest.mark.parametrize(
    "value", [[1, 2, 3, 4], [1, 1], [50], [-1], [1.0], [True], ["1"], "1", 1, None, {"a": 1}]
)
def test_a_value_that_is_no_set_of_nodes_is_refused_in_one_sentence(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^target_nodes [^.]*$"):
        MisinformationWorld(1).read(value)


@given(sets)
def test_up_to_three_nodes_are_read_in_ascending_order(nodes: list[int]) -> None:
    assert MisinformationWorld(1).read(nodes) == tuple(sorted(nodes))


def test_the_example_of_the_target_nodes_is_one() -> None:
    for world in (MisinformationWorld(1), tiny()):
        assert world.read(world.example) == (1, 2, 3)


@given(levels, st.integers(0, 10**6))
def test_a_network_state_survives_the_way_through_json(level: str, seed: int) -> None:
    world = MisinformationWorld(2, MisinformationSettings(**VOLATILITY["misinformation"][level]))
    draws = Draws(("m", seed, 0))
    begun = world.start(draws)
    acted = world.act(world.update(begun, draws, 2), [(1, 2), None]).state
    for state in (begun, acted):
        assert world.from_plain(json.loads(json.dumps(as_plain(state)))) == state


def test_one_seed_gives_one_episode(play: Play) -> None:
    scripted = ("task=misinformation", "task.policy=divided", "rounds=12")
    one, other = (play(*scripted, "seed=2") for _ in range(2))
    assert one == other
    assert one != play(*scripted, "seed=3")


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"spread": -0.1}, "misinformation.spread=-0.1: allowed are values from 0 to 1"),
        ({"injection_gap_least": 4}, "misinformation.injection_gap_least=4 is more than"),
        ({"attachment": 50}, "misinformation.attachment=50: allowed are values from 1 to 49"),
        ({"spread": np.nan}, "misinformation.spread=nan: allowed are values from 0 to 1"),
    ],
)
def test_network_settings_outside_their_range_are_refused_in_one_line(
    numbers: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=f"^{message}"):
        MisinformationSettings(**numbers)
