"""The misinformation world: network, spread, protection, metrics, and reference policies."""

from typing import Any

import networkx  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from world_episodes import VOLATILITY, Play

from plenum_worlds.draws import Draws
from plenum_worlds.misinformation import claims, metrics
from plenum_worlds.misinformation.metrics import Containment
from plenum_worlds.misinformation.world import (
    MisinformationSettings,
    MisinformationState,
    MisinformationWorld,
    scale_free,
)
from plenum_worlds.registry import build_world, find_world

levels = st.sampled_from(sorted(VOLATILITY["misinformation"]))
sets = st.lists(st.integers(0, 49), max_size=3, unique=True)
choices = st.lists(st.lists(st.none() | sets, min_size=3, max_size=3), min_size=6, max_size=6)

CHAIN = ((0, 1), (1, 2), (2, 3))
WORLD = MisinformationWorld(2)


def chain(status: str, checked: tuple[int, ...] = (), due: int = 99) -> MisinformationState:
    """Four nodes in a row."""
    return MisinformationState(CHAIN, status, checked, (0, 0, 0, 0), due)


def tiny(**numbers: Any) -> MisinformationWorld:
    """A world of four nodes whose readings are exact."""
    base = {"nodes": 4, "attachment": 1, "initial_most": 2, "missed": 0.0, "false_alarm": 0.0}
    return MisinformationWorld(2, MisinformationSettings(**{**base, **numbers}))


@settings(max_examples=25)
@given(levels, st.integers(0, 10**6), choices)
def test_nodes_are_conserved_and_checks_protect_and_never_harm(
    level: str, seed: int, rounds: list[list[Any]]
) -> None:
    """Beside the same draws without any check: an edge, and an injection, meets the same luck."""
    world = MisinformationWorld(3, MisinformationSettings(**VOLATILITY["misinformation"][level]))
    draws = Draws(("misinformation", seed, 0))
    state = idle = world.start(draws)
    assert 2 <= state.status.count("M") <= 5
    for number, actions in enumerate(rounds, 1):
        before = state
        state, idle = (world.update(s, draws, number) for s in (state, idle))
        assert sum(map(state.status.count, "UIM")) == len(state.status) == 50
        assert not any(state.status[node] == "M" for node in before.checked)
        assert all(
            new == old or new == "M" for old, new in zip(before.status, state.status, strict=True)
        )
        assert _misinformed(state) <= _misinformed(idle)
        assert state.next_injection == idle.next_injection
        faced, state = state, world.act(state, actions).state
        idle = world.act(idle, [None] * 3).state
        wanted = {node for nodes in actions for node in nodes or ()}
        assert state.checked == tuple(sorted(wanted))
        assert all(
            letter == ("I" if node in wanted else faced.status[node])
            for node, letter in enumerate(state.status)
        )


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


def test_suspicion_is_the_truth_without_misses_and_false_alarms() -> None:
    for seed in range(10):
        exact = tiny().start(Draws(("m", seed, 0)))
        assert {n for n, since in enumerate(exact.suspected) if since} == _misinformed(exact)
    blind = tiny(missed=1.0, false_alarm=1.0).start(Draws(("m", 0, 0)))
    assert {n for n, since in enumerate(blind.suspected) if not since} == _misinformed(blind)


def test_a_plain_statement_on_a_node_tells_whether_it_repeats_the_rumour() -> None:
    world = build_world("misinformation", 1, contradictory=0.0, false_alarm=0.2)
    repeated = denied = 0
    for seed in range(8):
        state = world.start(Draws(("m", seed)))
        for statement in world.report(state, Draws(("m", seed)), 1):
            node = int(statement.text.split()[1])
            facts = {topic.fact for topic in claims.topics()}
            says = statement.text.split('"')[1] not in facts
            assert (state.status[node] == "M") == says
            repeated, denied = repeated + says, denied + (not says)
    assert min(repeated, denied) > 3


def test_claims_come_in_the_shares_that_are_set() -> None:
    """Whom nobody checks spreads 2000 claims; three standard errors are 0.03."""
    world = build_world(
        "misinformation", 1, contradictory=0.0, spread=0.0, missed=0.0, false_alarm=0.0
    )
    quoted = []
    for seed in range(150):
        draws = Draws(("m", seed))
        state = world.start(draws)
        for number in range(1, 6):
            quoted += [s.text.split('"')[1] for s in world.report(state, draws, number)]
    for guise, share in (("claim", 0.5), ("partial", 0.3), ("disguised", 0.2)):
        texts = {getattr(topic, guise) for topic in claims.topics()}
        assert len(texts) == len(claims.topics()) == 12
        assert set(quoted) & texts == texts
        assert_allclose(np.mean([text in texts for text in quoted]), share, atol=0.04)


def test_a_claim_keeps_its_topic_on_its_way() -> None:
    world = tiny(spread=1.0, injection_probability=0.0)
    begun = MisinformationState(CHAIN, "MUUU", (), (1, 0, 0, 0), 99, topics=(7, -1, -1, -1))
    second = world.update(begun, Draws(("m", 0)), 2)
    assert (second.status, second.topics) == ("MMUU", (7, 7, -1, -1))
    checked = world.act(second, [(0,), None]).state
    assert checked.status == "IMUU"
    assert checked.topics[1] == 7
    injected = tiny(spread=0.0).update(
        MisinformationState(CHAIN, "UUUU", (), (0,) * 4, 2, topics=(-1,) * 4), Draws(("m", 0)), 2
    )
    new = {injected.topics[n] for n, letter in enumerate(injected.status) if letter == "M"}
    assert len(new) == 1
    assert new <= set(range(12))


def record(number: int, faced: str, after: str, *actions: list[int] | None) -> Any:
    """A round by hand."""
    return {
        "round": number,
        "state": {"status": faced},
        "after": {"status": after},
        "actions": list(actions),
    }


def test_spread_is_the_share_misinformed_at_the_end_of_the_round() -> None:
    rounds = [record(1, "MMUU", "MIUU"), record(2, "MIMU", "MIMU")]
    assert_allclose(metrics.spread(rounds), [0.25, 0.5])
    found = WORLD.summary(rounds, len(rounds))
    assert (found["final_spread"], found["mean_spread"]) == (0.5, 0.375)


def test_an_early_end_carries_its_spread_to_the_planned_rounds() -> None:
    rounds = [record(1, "MMUU", "MMUU"), record(2, "MMMM", "MMMM")]
    assert WORLD.summary(rounds, len(rounds))["mean_spread"] == 0.75
    assert WORLD.summary(rounds, 4)["mean_spread"] == 0.875
    assert WORLD.summary(rounds, 4)["rounds_played"] == 2


def test_a_cohort_is_contained_once_fewer_than_half_of_it_are_misinformed() -> None:
    rounds = [
        record(1, "MMMMUU", "IMMMUU"),  # 3 of 4
        record(2, "IMMMMU", "IIMMIU"),  # 2 of 4 is no less than half; node 4 is contained at once
        record(3, "IIMMIU", "IIIMIU"),  # 1 of 4
    ]
    assert metrics.containments(rounds) == [
        Containment(2, 1, 0, False),
        Containment(1, 4, 2, False),
    ]
    assert WORLD.summary(rounds, len(rounds))["containment_time"] == 1.0


def test_a_node_that_is_misinformed_again_belongs_to_a_new_cohort() -> None:
    rounds = [
        record(1, "MMU", "IMU"),  # 1 of 2 is no less than half
        record(2, "MMU", "MIU"),  # the first cohort is gone: node 0 is a new one
        record(3, "MIU", "MIU"),
    ]
    assert metrics.containments(rounds) == [
        Containment(1, 2, 1, False),
        Containment(2, 1, 2, True),
    ]
    found = WORLD.summary(rounds, len(rounds))
    assert (found["cohorts"], found["cohorts_censored"], found["uncontained_rounds"]) == (2, 1, 2)


def test_coverage_diversity_counts_different_nodes() -> None:
    rounds = [
        record(1, "U" * 9, "U" * 9, [1, 2, 3], [3, 4], None),
        record(2, "U" * 9, "U" * 9, [], None, None),
    ]
    assert_allclose(metrics.coverage_diversity(rounds), [4, 0])


def test_a_scripted_episode_on_a_star_gives_the_numbers_that_a_pencil_gives(play: Play) -> None:
    """Three nodes, certain spread: agent 0 checks the hub in round 2 and all in round 3."""
    star = {"nodes": 3, "attachment": 2, "initial_least": 1, "initial_most": 1, "spread": 1.0}
    star |= {"stop": 1.0, "injection_probability": 0.0}
    world = build_world("misinformation", 1, **star)
    begun = [world.start(Draws(("world", "misinformation", 0, n))) for n in range(100)]
    hub = next(n for n, state in enumerate(begun) if state.status == "MUU")
    assert begun[hub].edges == ((0, 1), (0, 2))
    episode = play(
        *("task=misinformation", "task.agents=1", "rounds=3"),
        *(f"++task.world.{key}={value}" for key, value in star.items()),
        replicate=hub,
        actions=lambda round: [[[], [0], [0, 1, 2]][round - 1]],
    )
    assert [r["after"]["status"] for r in episode] == ["MUU", "IMM", "III"]
    assert metrics.containments(episode) == [
        Containment(1, 1, 1, False),
        Containment(2, 2, 1, False),
    ]
    assert_allclose(metrics.coverage_diversity(episode), [0, 1, 3])


def test_defenders_check_the_best_connected_or_the_latest_suspects() -> None:
    since = {0: 1, 1: 5, 2: 2, 4: 5}
    suspected = [{"node": k, "since": v, "neighbours": None} for k, v in since.items()]
    view = {"checks": 2, "nodes": 5, "degrees": [9, 1, 7, 8, 2], "suspected": suspected}
    policies = find_world("misinformation").policies
    found = {name: policies[name]([view] * 3, Draws(("p", 0)), 1) for name in policies}
    assert found["highest_degree"] == [(0, 2)] * 3
    assert found["most_recent"] == [(1, 4)] * 3
    assert found["divided"] == [(0, 2), (1, 4), ()]
