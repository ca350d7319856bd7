"""What holds in every world: actions, settings, C(t), deviation, metrics, reports, policies."""

import json
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from world_episodes import LEVELS, VOLATILITY, Play

from plenum.base.errors import UserError
from plenum.dynamics.divergence import divergence
from plenum_worlds.consensus import MECHANISMS
from plenum_worlds.draws import Draws
from plenum_worlds.metrics import action_distribution, mean_deviation, summary
from plenum_worlds.registry import WORLDS, build_world, find_world
from plenum_worlds.world import kind_of

pytestmark = pytest.mark.long


@dataclass(frozen=True)
class Facts:
    """Of one world: actions as JSON has them and as they are read, what is refused, and so on."""

    actions: st.SearchStrategy[Any]
    read: tuple[tuple[Any, Any], ...]
    refused: tuple[Any, ...]
    settings: tuple[tuple[dict[str, Any], str], ...]
    components: int
    spread: tuple[list[Any], dict[int, float]]
    """Actions, and the components that C(t) then has above zero."""
    deviations: tuple[tuple[list[Any], list[float]], ...]
    """Actions with d_i by hand."""


NAN = np.nan
FACTS = {
    "disaster": Facts(
        st.tuples(st.integers(0, 9), st.integers(0, 9)),
        (([1, 0], (1, 0)), ([9, 9], (9, 9))),
        ([3], [1, 2, 3], [1, 10], [-1, 0], [1.0, 2], [True, 2], "12", None, {"x": 1}, ["1", 2]),
        (
            ({"spawn": 1.2}, "spawn=1.2: allowed are values from 0 to 1"),
            ({"initial_least": 3, "initial_most": 2}, "initial_least=3 is more than"),
            ({"reduction_most": 2}, "reduction_most=2: allowed are null and values from"),
            ({"initial_least": -1}, "initial_least=-1: allowed are values from 0 to 3"),
        ),
        101,
        ([[0, 1], [0, 1], [9, 9], None], {1: 0.5, 99: 0.25, 100: 0.25}),
        (
            ([(1, 1), (1, 1), (4, 0), None], [0, 0, 4, NAN]),
            ([(0, 0), (2, 0)], [1, 1]),
            ([(0, 0), (0, 0), (2, 0), (2, 0), (1, 0)], [1, 1, 1, 1, 1]),
            ([(0, 0), (3, 0), (0, 3)], [2, 3, 3]),
        ),
    ),
    "misinformation": Facts(
        st.lists(st.integers(0, 49), max_size=3, unique=True),
        (([3, 1, 2], (1, 2, 3)), ([49], (49,)), ([], ())),
        ([1, 2, 3, 4], [1, 1], [50], [-1], [1.0], [True], ["1"], "1", 1, None, {"a": 1}),
        (
            ({"spread": -0.1}, "spread=-0.1: allowed are values from 0 to 1"),
            ({"injection_gap_least": 4}, "injection_gap_least=4 is more than"),
            ({"attachment": 50}, "attachment=50: allowed are values from 1 to 49"),
        ),
        51,
        ([[3], [3, 4], [], None], {3: 0.375, 4: 0.125, 50: 0.5}),
        (
            ([(1, 2, 3), (3, 2, 1), (3, 4), (9,), None], [0, 0, 0.75, 1, NAN]),
            ([(1, 2), (2, 3)], [1 / 3, 1 / 3]),
            ([(), ()], [0, 0]),
            ([(), (), (5,)], [0, 0, 1]),
            ([(5,), (5,), ()], [0, 0, 1]),
        ),
    ),
    "public_goods": Facts(
        st.floats(0, 12),
        ((5, 5.0), (0, 0.0), (-0.0, 0.0), (12, 12.0), (10.5, 10.5)),
        (-0.1, 12.1, float("nan"), float("inf"), True, "5", None, [5], 10**400),
        (
            ({"threshold": 60.0}, "threshold=60.0: allowed are values from 10.0 to 50.0"),
            ({"large_shock": 25.0}, "large_shock=25.0: allowed are values from 0 to 20.0"),
            ({"benefit_least": 120.0}, "benefit_least=120.0 is more than"),
        ),
        11,
        ([0, 1.2, 12, None], {0: 0.25, 1: 0.25, 9: 0.25, 10: 0.25}),
        (
            ([0.0, 6.0, None], [0.25, 0.25, NAN]),
            ([0.1] * 7, [0] * 7),
        ),
    ),
}
every_world = pytest.mark.parametrize("name", WORLDS)


@every_world
def test_an_action_is_read_or_refused_in_one_sentence(name: str) -> None:
    world = build_world(name, 1)
    for value, action in FACTS[name].read:
        assert repr(world.read(value)) == repr(action)
    assert world.read(json.loads(json.dumps(world.example))) is not None
    for value in FACTS[name].refused:
        with pytest.raises(ValueError, match=rf"^{world.key} [^.]*$"):
            world.read(value)
    state = world.start(Draws((name, 0)))
    for actions in ([], [world.example] * 2, [FACTS[name].refused[0]]):
        with pytest.raises(ValueError, match="1 agents need 1 actions|^" + world.key):
            world.act(state, actions)


@every_world
def test_settings_have_ranges_and_every_volatility_sets_known_ones(name: str) -> None:
    for numbers, message in FACTS[name].settings:
        with pytest.raises(UserError, match=f"^{name}.{message}"):
            build_world(name, 5, **numbers)
    defaults = {f.name: f.default for f in fields(find_world(name).settings)}
    assert build_world(name, 5, **defaults) == build_world(name, 5)
    for level in LEVELS:
        moved = build_world(name, 5, **VOLATILITY[name][level]) != build_world(name, 5)
        assert moved == (level != "moderate")


@pytest.mark.parametrize(
    ("setting", "refusal"),
    [
        ({"spawn": "abc"}, "disaster.spawn=abc: allowed are numbers"),
        ({"spawn": None}, "disaster.spawn=null: allowed are numbers"),
        ({"spawn": True}, "disaster.spawn=true: allowed are numbers"),
        ({"alpha": float("nan")}, "disaster.alpha=NaN: allowed are numbers"),
        ({"crowd": 1.5}, "disaster.crowd=1.5: allowed are whole numbers"),
        ({"reduction": True}, "disaster.reduction=true: allowed are whole numbers"),
        ({"reduction_most": "3"}, "disaster.reduction_most=3: allowed are null and whole numbers"),
        ({"spawn_when_calm": 1}, "disaster.spawn_when_calm=1: allowed are true and false"),
        ({"high": "a\nb"}, "disaster.high=a\\nb: allowed are whole numbers"),
        ({"most": [1, 2]}, "disaster.most=[1, 2]: allowed are whole numbers"),
        ({"spwan": 0.1}, "disaster.spwan: there are grid, most, initial_least"),
    ],
)
def test_a_setting_of_another_kind_is_refused_in_one_line(
    setting: dict[str, Any], refusal: str
) -> None:
    with pytest.raises(UserError) as refused:
        build_world("disaster", 5, **setting)
    assert str(refused.value).startswith(refusal)
    assert build_world("disaster", 5, spawn=1, reduction_most=None, spawn_when_calm=True, alpha=2)


def test_an_unknown_world_and_a_wrong_number_of_agents_are_refused() -> None:
    for name, agents, message in (
        ("disasters", 5, "task=disasters: there are disaster, misinformation, public_goods"),
        ("disaster", 0, "agents=0: allowed are values from 1 to 10000"),
    ):
        with pytest.raises(UserError, match=f"^{message}"):
            build_world(name, agents)


@every_world
@settings(max_examples=25)
@given(data=st.data())
def test_a_distribution_always_lies_on_the_same_simplex(name: str, data: st.DataObject) -> None:
    actions = data.draw(st.lists(st.none() | FACTS[name].actions, min_size=1, max_size=9))
    found = action_distribution(build_world(name, len(actions)), actions)
    assert found.shape == (FACTS[name].components,)
    assert (found >= 0).all()
    assert_allclose(found.sum(), 1)


@every_world
def test_a_distribution_puts_each_agents_weight_where_it_acts(name: str) -> None:
    actions, expected = FACTS[name].spread
    found = action_distribution(build_world(name, len(actions)), actions)
    assert {int(i): found[i] for i in found.nonzero()[0]} == expected
    nobody = action_distribution(build_world(name, 3), [None] * 3)
    assert (nobody[-1], nobody[:-1].sum()) == (1.0, 0.0)


@every_world
def test_deviations_are_those_of_a_pencil_and_leave_out_who_abstained(name: str) -> None:
    for actions, expected in FACTS[name].deviations:
        world = build_world(name, len(actions))
        assert_allclose(world.distances(actions), expected, atol=1e-12)
        assert_allclose(mean_deviation(world, actions), np.nanmean(expected), atol=1e-12)
    world = build_world(name, 2)
    assert np.isnan(world.distances([None, None])).all()
    assert np.isnan(mean_deviation(world, [None, None]))


@every_world
def test_every_policy_and_mechanism_gives_a_plain_episode_in_the_same_world(
    play: Play, name: str
) -> None:
    """Records go through JSON, equal runs are equal, and reports and draws are everybody's."""
    world, reports = build_world(name, 3), []
    for policy in find_world(name).policies:
        for mechanism in sorted(MECHANISMS.keys() - {"plan", "mean", "prompted", "script"}):
            scripted = (f"task={name}", f"task.policy={policy}", f"consensus={mechanism}")
            scripted += ("task.agents=3", "rounds=5", "volatility=high")
            episode = play(*scripted)
            stored = json.loads(json.dumps(episode))
            assert stored == episode
            assert play(*scripted) == episode
            assert [record["round"] for record in episode] == [*range(1, len(episode) + 1)]
            assert summary(world, episode).keys() > {"deviation_actions", "ties", "idle"}
            assert_allclose([*summary(world, stored).values()], [*summary(world, episode).values()])
            reports.append(episode[0]["report"])
    assert all(report == reports[0] for report in reports)
    assert play(*scripted, "seed=1")[0]["state"] != episode[0]["state"]


@every_world
def test_replicates_make_an_ensemble_that_the_instability_estimates_take(
    play: Play, name: str
) -> None:
    scripted = (f"task={name}", "task.policy=random", "task.agents=4", "rounds=6")
    world = build_world(name, 4)
    runs = [play(*scripted, replicate=n) for n in range(4)]
    ensemble = [[action_distribution(world, r["actions"]) for r in run] for run in runs]
    assert (divergence(np.array(ensemble)) > 0).all()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("disaster", lambda numbers: numbers["coverage"]),
        ("misinformation", lambda numbers: 1 - numbers["mean_spread"]),
        ("public_goods", lambda numbers: numbers["provision_rate"]),
    ],
)
def test_performance_is_coverage_the_share_not_misinformed_and_funding(
    play: Play, name: str, expected: Any
) -> None:
    world = build_world(name, 4)
    episode = play(f"task={name}", "task.policy=random", "task.agents=4", "rounds=12")
    assert_allclose(np.nanmean(world.performance(episode)), expected(summary(world, episode)))


def test_abstentions_count_proposals_and_idle_counts_actions(play: Play) -> None:
    world = build_world("disaster", 3)
    episode = play(
        *("task=disaster", "task.agents=3", "rounds=2", "consensus=unanimity"),
        actions=lambda round: [(1, 1), (2, 2), None] if round == 1 else [(1, 1)] * 3,
    )
    numbers = summary(world, episode)
    assert (numbers["abstentions"], numbers["idle"]) == (1, 3)
    apart = [[mean_deviation(world, r[of]) for r in episode] for of in ("actions", "proposals")]
    assert_allclose(apart, [[np.nan, 0], [1, 0]])


@every_world
def test_random_policies_are_seeded_legal_and_different_between_agents(name: str) -> None:
    world, draws = build_world(name, 30), Draws(("policies", 0))
    begun = world.start(draws)
    views = [world.view(begun, agent) for agent in range(30)]
    random = find_world(name).policies["random"]
    found = random(views, draws, 1)
    assert [world.read(action) for action in found] == found
    assert len(set(found)) > 15
    assert random(views, draws, 1) == found != random(views, draws, 2)


@every_world
def test_the_noise_of_reports_changes_nothing_else(play: Play, name: str) -> None:
    scripted = (f"task={name}", "task.policy=random", "rounds=10")
    one, other = (play(*scripted, f"task.world.contradictory={share}") for share in (0.2, 0.0))
    assert [r["state"] for r in one] == [r["state"] for r in other]
    assert {s["kind"] for r in one for s in r["report"]} > {"plain"}
    assert all(s["kind"] == "plain" for r in other for s in r["report"])


def test_up_to_the_share_of_statements_is_contradictory_or_incomplete() -> None:
    kinds = [kind_of(u, 0.2) for u in (np.arange(1000) + 0.5) / 1000]
    assert [kinds.count(k) for k in ("contradictory", "incomplete", "plain")] == [100, 100, 800]
    assert {kind_of(u, 0.0) for u in (0.0, 0.5)} == {"plain"}
