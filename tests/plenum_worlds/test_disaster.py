"""The disaster world: bounds, transitions, consequences, metrics, and reference policies."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from world_episodes import VOLATILITY, Play

from plenum_worlds.disaster import metrics
from plenum_worlds.disaster.metrics import Delay
from plenum_worlds.disaster.state import DisasterSettings
from plenum_worlds.disaster.world import Disaster, DisasterState, DisasterWorld
from plenum_worlds.draws import Draws
from plenum_worlds.registry import build_world, find_world
from plenum_worlds.world import as_plain

EXACT = DisasterSettings(misread=0.0, contradictory=0.0)
SETTINGS = DisasterSettings()
WORLD = DisasterWorld(5)
POLICIES = find_world("disaster").policies
DRAWS = Draws(("policies", 0))
A, B, C, FAR = (1, 1), (2, 2), (3, 3), (9, 9)
Burning = dict[int, tuple[tuple[int, int], int]]
levels = st.sampled_from(sorted(VOLATILITY["disaster"]))
cells = st.tuples(st.integers(0, 9), st.integers(0, 9))
choices = st.lists(st.lists(st.none() | cells, min_size=4, max_size=4), min_size=6, max_size=6)


def state(*disasters: tuple[tuple[int, int], int], agents: int = 5) -> DisasterState:
    """Disasters by cell and severity; their ids count from 0."""
    found = tuple(Disaster(i, cell, s, s) for i, (cell, s) in enumerate(disasters))
    return DisasterState(found, (None,) * agents)


def test_foam_runs_out_wherever_it_is_used_and_is_refilled_in_a_round_without_effect() -> None:
    """Five units, three points a round: three, then two, then a round to refill."""
    world = DisasterWorld(2, DisasterSettings(foam=5))
    now = dataclasses.replace(state((A, 10), agents=2), foam=(5, 5))
    left = []
    for _ in range(4):
        now = world.act(now, [A, FAR]).state  # the second drone wastes its foam
        left.append((now.disasters[0].severity, now.foam))
    assert left == [(7, (2, 2)), (5, (0, 0)), (5, (5, 5)), (2, (2, 2))]
    assert "Your foam: 2 units" in world.describe(now, 0)
    assert "foam" not in as_plain(WORLD.start(DRAWS))  # where it never runs out


def test_deviations_of_the_released_code_are_euclidean_and_from_the_mean_cell() -> None:
    world = DisasterWorld(4, DisasterSettings(euclidean=True))
    found = world.distances([(0, 0), (6, 0), (3, 6), None])  # around [3, 2]
    assert_allclose(found, [13**0.5, 13**0.5, 4, np.nan])


def test_the_score_of_the_released_code_weighs_crowds_and_distances() -> None:
    """Three drones on one of two disasters, five cells from the other of severity 8."""
    released = {"reach": 2, "crowd_penalty": 5.0, "delay_by_distance": True, "reduction": 0}
    worlds = [DisasterWorld(3, DisasterSettings(scored=s, **released)) for s in (True, False)]
    burning = state(((1, 1), 6), ((1, 6), 8), agents=3)
    acts = [(1, 1)] * 3
    records: list[Any] = [
        {
            "state": as_plain(burning),
            "actions": acts,
            "facts": worlds[0].act(burning, acts).facts,
        }
    ]
    scored, plain = (world.performance(records) for world in worlds)
    assert_allclose(plain, [0.5])
    assert_allclose(scored, [0.5 - 0.1 * 5 - 0.1 * (0 + 5 * 0.8) / 2])


@settings(max_examples=25)
@given(levels, st.integers(0, 10**6), choices)
def test_severities_cells_and_numbers_stay_in_bounds_whatever_the_drones_do(
    level: str, seed: int, rounds: list[list[tuple[int, int] | None]]
) -> None:
    """Severities change by one to the level's jump, unless a bound stops it."""
    numbers = VOLATILITY["disaster"][level]
    world = DisasterWorld(4, DisasterSettings(**numbers))
    draws = Draws(("disaster", seed, 0))
    current = world.start(draws)
    assert 1 <= len(current.disasters) <= 3
    assert world.update(current, draws, 1) == current
    for number, actions in enumerate(rounds, 1):
        before = {d.id: d.severity for d in current.disasters}
        current = world.update(current, draws, number)
        _check(current)
        for d in current.disasters:
            if number > 1 and d.id in before:
                assert d.change == d.severity - before[d.id]
                assert 1 <= abs(d.change) <= numbers["severity_jump"] or d.severity in (1, 10)
        current = world.act(current, actions).state
        _check(current)


def _check(current: DisasterState) -> None:
    active = current.disasters
    assert len(active) <= 3
    assert len({d.cell for d in active}) == len(active)
    assert all(1 <= d.severity <= 10 and 1 <= d.reading <= 10 for d in active)
    assert all(0 <= x <= 9 and 0 <= y <= 9 for x, y in (d.cell for d in active))
    assert [d.id for d in active] == sorted({d.id for d in active})


@pytest.mark.parametrize(("level", "period"), [("low", 3), ("moderate", 2), ("high", 1)])
def test_disasters_move_to_a_neighbouring_cell_every_period(level: str, period: int) -> None:
    world = DisasterWorld(1, DisasterSettings(**VOLATILITY["disaster"][level]))
    draws = Draws(("disaster", 3, 0))
    before = world.start(draws)
    for number in range(2, 14):
        after = world.update(before, draws, number)
        old = {d.id: d.cell for d in before.disasters}
        moved = [
            abs(d.cell[0] - old[d.id][0]) + abs(d.cell[1] - old[d.id][1])
            for d in after.disasters
            if d.id in old
        ]
        assert moved == [int(number % period == 0)] * len(old)
        assert ("move" in after.events) == (number % period == 0)
        before = after


def test_a_disaster_that_neighbours_shut_in_stays_where_it_is() -> None:
    world = DisasterWorld(1, DisasterSettings(grid=2, most=4, move_period=1, spawn=0.0))
    full = state(((0, 0), 5), ((0, 1), 5), ((1, 0), 5), ((1, 1), 5), agents=1)
    after = world.update(full, Draws(("disaster", 0, 0)), 2)
    assert [d.cell for d in after.disasters] == [d.cell for d in full.disasters]
    assert after.events == ()


def test_high_volatility_brings_a_move_or_a_new_disaster_in_every_round() -> None:
    world = DisasterWorld(1, DisasterSettings(**VOLATILITY["disaster"]["high"]))
    for seed in range(40):
        draws = Draws(("disaster", seed, 0))
        assert world.update(state(agents=1), draws, 2).events == ("spawn",)
        assert "move" in world.update(world.start(draws), draws, 2).events


def test_a_disaster_spawns_only_where_there_is_room() -> None:
    world = DisasterWorld(1, DisasterSettings(spawn=1.0))
    empty, full = state(agents=1), state((A, 5), (C, 5), (FAR, 5), agents=1)
    for seed in range(10):
        draws = Draws(("disaster", seed, 0))
        assert [len(world.update(s, draws, 2).disasters) for s in (empty, full)] == [1, 3]


def test_drones_contain_and_the_round_is_scored_by_reward_penalty_and_overload() -> None:
    world = DisasterWorld(5, EXACT)
    faced = state(((1, 1), 9), ((2, 2), 4), ((3, 3), 2))
    outcome = world.act(faced, [(1, 1), (1, 1), (1, 1), None, (5, 5)])
    assert outcome.facts == {
        "attended": [0],
        "cleared": [0],
        "reward": 45.0,  # 5 * 9
        "penalty": 12.0,  # 2 * (4 + 2)
        "overload": 1,  # one drone beyond two, while others are uncovered
    }
    assert outcome.score == 45 - 12 - 1
    assert [(d.id, d.severity) for d in outcome.state.disasters] == [(1, 4), (2, 2)]
    assert outcome.state.drones == ((1, 1), (1, 1), (1, 1), None, (5, 5))


def test_the_reward_is_for_the_severity_at_the_first_containment() -> None:
    world = DisasterWorld(1, EXACT)
    first = world.act(state(((1, 1), 5), agents=1), [(1, 1)])
    assert (first.score, first.state.disasters[0].severity) == (-2 * 2, 2)
    grown = DisasterState((Disaster(0, (1, 1), 3, 3, 1, 5),), (None,))
    assert world.act(grown, [(1, 1)]).facts["reward"] == 25.0


def test_a_cap_on_the_reduction_lets_a_crowd_take_no_more_than_it() -> None:
    world = DisasterWorld(5, DisasterSettings(reduction_most=3))
    outcome = world.act(state(((1, 1), 9)), [(1, 1)] * 5)
    assert outcome.state.disasters[0].severity == 6


@pytest.mark.parametrize(
    ("actions", "excess"),
    [
        ([(1, 1)] * 5, 3),
        ([(9, 9)] * 5, 3),  # also where nothing burns
        ([(1, 1), (1, 1), (1, 1), (1, 1), (2, 2)], 0),  # nothing is uncovered
        ([(1, 1), (1, 1), (9, 9), (9, 9), None], 0),  # no more than two on a cell
        ([(1, 1), (1, 1), (1, 1), None, None], 1),
    ],
)
def test_overload_counts_drones_beyond_two_on_a_cell_while_a_disaster_is_uncovered(
    actions: list[Any], excess: int
) -> None:
    world = DisasterWorld(5, EXACT)
    assert world.act(state(((1, 1), 9), ((2, 2), 9)), actions).facts["overload"] == excess


@pytest.mark.slow
def test_two_policies_under_one_seed_meet_the_same_disasters(play: Play) -> None:
    """A disaster that both meet is born alike, and changes alike where no bound cuts a change."""
    two, compared = ("task=disaster", "task.agents=2"), 0
    for n in range(10):
        one, other = (
            [r["state"]["disasters"] for r in play(*two, f"task.policy={p}", replicate=n)]
            for p in ("greedy_assignment", "random")
        )
        assert one[0] == other[0]
        for number, pair in enumerate(zip(one, other, strict=True), 1):
            born = [[d["severity"] for d in s if d["id"] == 3 + number] for s in pair]
            if all(born):
                compared += 1
                assert born[0] == born[1]
    assert compared > 10


def test_a_disaster_draws_the_same_change_whatever_else_is_active() -> None:
    world, draws = DisasterWorld(1), Draws(("disaster", 4, 0))
    lone = DisasterState((Disaster(7, (5, 5), 5, 5),), (None,))
    among = DisasterState((Disaster(2, (0, 0), 9, 9), Disaster(7, (5, 5), 5, 5)), (None,))
    for number in range(5, 15):
        a, b = world.update(lone, draws, number), world.update(among, draws, number)
        seven_a, seven_b = (next(d for d in s.disasters if d.id == 7) for s in (a, b))
        assert seven_a == seven_b


def test_a_reading_may_be_off_by_the_size_of_a_misreading() -> None:
    draws = [Draws(("disaster", seed, 0)) for seed in range(60)]
    for misread, expected in ((1.0, {-2, -1, 1, 2}), (0.0, {0})):
        settings = DisasterSettings(misread=misread)
        seen = [d for draw in draws for d in DisasterWorld(1, settings).start(draw).disasters]
        off = {d.reading - d.severity for d in seen if 2 < d.severity < 9}
        assert off == expected


def test_an_agent_sees_the_reading_and_never_the_true_severity() -> None:
    world = DisasterWorld(3)
    faced = DisasterState((Disaster(0, (3, 4), 8, 6),), ((3, 4), None, (3, 4)))
    view = world.view(faced, 1)
    assert view["disasters"] == [{"cell": [3, 4], "severity": 6}]
    assert view["drones"] == [{"cell": [3, 4], "count": 2}]
    assert (view["own"], world.view(faced, 0)["own"]) == (None, [3, 4])
    text = world.describe(faced, 1)
    assert "[3,4] reported severity 6" in text
    assert "8" not in text


def test_statements_tell_the_trend_or_mislead_as_their_kind_says() -> None:
    kinds, seen = set(), set()
    for seed in range(60):
        world = build_world("disaster", 1, contradictory=float(seed % 2))
        draws = Draws(("d", seed))
        state = world.update(world.start(draws), draws, 2)
        for disaster, statement in zip(state.disasters, world.report(state, draws, 2), strict=True):
            kinds.add(statement.kind)
            cell = f"[{disaster.cell[0]},{disaster.cell[1]}]"
            word = {1: "growing", -1: "calming down", 0: "unchanged"}[int(np.sign(disaster.change))]
            if statement.kind == "plain":
                assert statement.text == f"Crews see the incident at {cell} {word}."
                seen.add(word)
            elif statement.kind == "incomplete":
                assert cell not in statement.text
            elif "is over" in statement.text:
                assert not statement.text.endswith(f"{cell}.")
            else:
                assert ("growing" in statement.text) == (disaster.change < 0)
                assert "unchanged" not in statement.text
    assert kinds == {"plain", "contradictory", "incomplete"}
    assert seen == {"growing", "calming down", "unchanged"}


def record(number: int, active: Burning, actions: list[Any], after: Burning | None = None) -> Any:
    """A round by hand; without ``after`` nothing changes in it."""

    def plain(disasters: Burning) -> dict[str, Any]:
        found = [{"id": i, "cell": list(c), "severity": s} for i, (c, s) in disasters.items()]
        return {"disasters": found}

    return {
        "round": number,
        "state": plain(active),
        "after": plain(active if after is None else after),
        "actions": [None if cell is None else list(cell) for cell in actions],
        "score": 0.0,
    }


def test_coverage_is_the_share_of_disasters_with_a_drone_on_their_very_cell() -> None:
    rounds = [
        record(1, {0: (A, 5), 1: (B, 5)}, [A, A, (2, 3)]),
        record(2, {0: (A, 5), 1: (B, 5), 2: (C, 5)}, [A, B, None]),
        record(3, {}, [A, A, A]),
    ]
    assert_allclose(WORLD.performance(rounds), [0.5, 2 / 3, np.nan])
    assert_allclose(WORLD.summary(rounds, 3)["coverage"], 7 / 12)


@pytest.mark.parametrize(
    ("active", "actions", "parts"),
    [
        ({0: (A, 9), 1: (B, 3)}, [A, A, A, A, FAR], (1, 2, 0)),
        ({0: (A, 9), 1: (B, 3)}, [B, B, B, B, None], (0, 2, 2)),  # each drone counts once
        ({0: (A, 9), 1: (B, 3)}, [B, B, B, A, A], (0, 0, 0)),  # all covered
        ({0: (A, 6), 1: (B, 3)}, [B, B, FAR, None, None], (1, 0, 0)),  # nothing is high
        ({0: (A, 7), 1: (B, 6)}, [B, FAR, FAR, None, None], (2, 0, 1)),
        ({0: (A, 9), 1: (B, 8)}, [B, B, B, None, None], (0, 1, 0)),  # high before high
        ({0: (A, 9), 1: (A, 3), 2: (B, 9)}, [A, None], (0, 0, 0)),  # a cell counts as its gravest
        ({0: (A, 9), 1: (B, 3)}, [FAR] * 5, (5, 0, 0)),  # waste, and no overload besides
    ],
)
def test_a_misallocated_drone_counts_in_one_part(
    active: Burning, actions: list[Any], parts: tuple[int, int, int]
) -> None:
    found = metrics.misallocation([record(1, active, actions)], SETTINGS)
    assert (found.waste[0], found.overload[0], found.low_before_high[0]) == parts
    assert found.total[0] == sum(parts)


def test_misallocation_isnt_defined_in_a_round_without_a_disaster() -> None:
    rounds = [record(1, {}, [FAR] * 3), record(2, {0: (A, 5)}, [FAR, A, A])]
    found = metrics.misallocation(rounds, SETTINGS)
    assert_array_equal(found.total, [np.nan, 1.0])
    assert WORLD.summary(rounds, 3)["misallocation"] == 1.0


def test_the_delay_counts_the_rounds_that_a_high_disaster_waits() -> None:
    rounds = [
        record(1, {0: (A, 7), 1: (B, 9)}, [A]),  # 0 at once
        record(2, {0: (A, 8), 1: (B, 9), 2: (C, 6)}, [FAR]),
        record(3, {1: (B, 9), 2: (C, 6)}, [B]),  # 1 after two rounds of waiting
    ]
    assert metrics.delays(rounds, SETTINGS) == [
        Delay(0, 1, 0, "attended"),
        Delay(1, 1, 2, "attended"),
    ]
    assert WORLD.summary(rounds, 3)["response_delay"] == 1.0


def test_one_that_falls_and_rises_again_begins_a_second_episode() -> None:
    rounds = [
        record(1, {0: (A, 8)}, [A], after={0: (A, 5)}),
        record(2, {0: (A, 8)}, [FAR]),
        record(3, {0: (A, 8)}, [A], after={}),
    ]
    assert metrics.delays(rounds, SETTINGS) == [
        Delay(0, 1, 0, "attended"),
        Delay(0, 2, 1, "attended"),
    ]


def test_censored_and_dropped_delays_are_flagged_and_kept_out_of_the_mean() -> None:
    rounds = [
        record(1, {0: (A, 8), 1: (B, 7), 2: (C, 7)}, [C]),
        record(2, {0: (A, 8), 1: (B, 6)}, [FAR]),
        record(3, {0: (A, 9), 1: (B, 6)}, [B]),
    ]
    assert metrics.delays(rounds, SETTINGS) == [
        Delay(2, 1, 0, "attended"),
        Delay(1, 1, 1, "dropped"),
        Delay(0, 1, 3, "censored"),
    ]
    found = WORLD.summary(rounds, 3)
    assert found["response_delay"] == 0.0
    assert (found["delays"], found["delays_censored"], found["delays_dropped"]) == (3, 1, 1)
    assert found["unattended_rounds"] == 2.0


def test_without_a_high_disaster_there_is_no_delay() -> None:
    found = WORLD.summary([record(1, {0: (A, 6)}, [A])], 1)
    assert np.isnan(found["response_delay"])
    assert found["delays"] == 0


def test_a_scripted_episode_gives_the_metrics_that_a_pencil_gives(play: Play) -> None:
    """Still disasters on (0,0) of 4 and (0,1) of 8; both drones always go to (0,0), then (0,1)."""
    still = {"grid": 2, "spawn": 0.0, "severity_jump": 0, "move_probability": 0.0}
    world = build_world("disaster", 2, **still)
    replicate = next(
        n
        for n in range(10_000)
        if {x.cell: x.severity for x in world.start(Draws(("world", "disaster", 0, n))).disasters}
        == {(0, 0): 4, (0, 1): 8}
    )
    episode = play(
        *("task=disaster", "task.agents=2", "rounds=4"),
        *(f"++task.world.{key}={value}" for key, value in still.items()),
        replicate=replicate,
        actions=lambda round: [(0, 0) if round == 1 else (0, 1)] * 2,
    )
    # round 1: 4 falls to 0, +20, and 8 stays, -16; round 2: 8 to 2, -4; round 3: 2 to 0, +40
    assert [r["score"] for r in episode] == [20 - 16, -4, 40, 0]
    found = world.summary(episode, 4)
    assert_allclose(found["coverage"], (0.5 + 1 + 1) / 3)
    assert_allclose(found["low_before_high"], 2 / 3)  # both drones in round 1, of three rounds
    assert_allclose(found["misallocation"], 2 / 3)
    assert found["response_delay"] == 1.0
    assert found["net_reward"] == 40.0


def grid(
    n: int, *burning: tuple[list[int], int], own: list[int] | None = None, **more: Any
) -> list[Any]:
    """Views of ``n`` drones."""
    disasters = [{"cell": cell, "severity": severity} for cell, severity in burning]
    view = {"agents": n, "grid": 10, "reduction": 3, "reduction_most": None, **more}
    return [{**view, "disasters": disasters, "own": own, "agent": i} for i in range(n)]


BURNING = (([0, 0], 3), ([9, 9], 10), ([0, 2], 8))
TWO = (([1, 1], 10), ([2, 2], 5))


@pytest.mark.parametrize(
    ("policy", "views", "expected"),
    [
        ("all_to_worst", grid(3, ([1, 1], 4), ([2, 2], 9), ([3, 3], 9)), [B, B, B]),
        # covers first, and then goes where most is left
        ("greedy_assignment", grid(5, ([1, 1], 10), (B, 2), (C, 5)), [A, C, B, A, A]),
        ("greedy_assignment", grid(4, ([1, 1], 6), ([2, 2], 5)), [A, B, A, B]),
        # wastes no drone where a disaster can lose no more: 10 stays 7 after its first drone
        ("greedy_assignment", grid(4, *TWO, reduction_most=3), [A, B, A, A]),
        ("greedy_assignment", grid(5, *TWO, reduction=2, reduction_most=3), [A, B, A, B, A]),
        ("to_nearest", grid(1, *BURNING, own=[7, 7]), [FAR]),
        ("to_nearest", grid(1, *BURNING, own=[0, 1]), [(0, 2)]),  # the worse
        ("to_nearest", grid(1, *BURNING), [FAR]),  # from the middle: 8
        # in the middle while nothing burns
        *((policy, grid(2), [(5, 5)] * 2) for policy in sorted(POLICIES.keys() - {"random"})),
    ],
)
def test_a_reference_policy_sends_drones_by_what_they_see(
    policy: str, views: list[Any], expected: list[Any]
) -> None:
    assert POLICIES[policy](views, DRAWS, 1) == expected


@pytest.mark.slow
def test_part_of_the_papers_gap_is_mechanical(play: Play) -> None:
    """The same rational proposals, forced onto one cell, cover less and cost reward."""
    capped = ("task=disaster", "volatility=high", "task.world.reduction_most=3")
    world = build_world("disaster", 5, reduction_most=3)
    free, forced = (
        [
            world.summary(play(*capped, "task.policy=greedy_assignment", way, replicate=n), 20)
            for n in range(8)
        ]
        for way in ("consensus=implicit", "consensus=explicit")
    )
    assert_allclose([numbers["coverage"] for numbers in free], 1.0)
    assert np.mean([numbers["coverage"] for numbers in forced]) < 0.75
    assert all(f["net_reward"] >= g["net_reward"] for f, g in zip(free, forced, strict=True))
