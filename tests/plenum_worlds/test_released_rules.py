"""The rules of the released code: each by hand, and all together beside a plain simulation."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import released_rules
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from world_episodes import Made, Play

from plenum_worlds.consensus import MECHANISMS
from plenum_worlds.disaster.world import Disaster, DisasterSettings, DisasterState, DisasterWorld
from plenum_worlds.draws import Draws
from plenum_worlds.episode import make_world
from plenum_worlds.misinformation.world import (
    MisinformationSettings,
    MisinformationState,
    MisinformationWorld,
)
from plenum_worlds.public_goods.world import (
    PublicGoodsSettings,
    PublicGoodsState,
    PublicGoodsWorld,
)

pytestmark = pytest.mark.long

DRAWS = Draws(("released", 0))
CHAIN = ((0, 1), (1, 2), (1, 4), (2, 3))
ROOT = Path(__file__).parents[2]
VOLATILITIES = ((0.3, 1), (0.5, 2), (0.8, 3))
"""How likely a disaster moves, and how far a severity changes at most."""
RUNS = 30


def simulated(agents: int, policy: str, moves: float, jump: float, rng: random.Random) -> list[Any]:
    """Coverage, misallocation and delay by round of an episode under the released rules.

    Written for itself, from the description of the rules, and shares nothing with the world.
    """
    places: list[list[float]] = []  # x, y, severity
    rounds = []
    for _ in range(20):
        for place in places:
            x, y, severity = place
            if rng.random() < moves:
                ways = [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
                place[:2] = rng.choice([w for w in ways if min(w) >= 0 and max(w) <= 9])
            if rng.random() < 0.5:
                place[2] = min(10.0, max(0.0, severity + rng.uniform(-jump, jump)))
        if len(places) < 3 and rng.random() < 0.2:
            places.append([rng.randrange(10), rng.randrange(10), rng.uniform(5, 8)])
        if policy == "random":
            drones = [(rng.randrange(10), rng.randrange(10)) for _ in range(agents)]
        else:
            worst = max(places, key=lambda p: p[2], default=[5, 5, 0])
            drones = [(int(worst[0]), int(worst[1]))] * agents
        near = [min(abs(x - a) + abs(y - b) for a, b in drones) for x, y, _ in places]
        crowds = sum(max(0, count - 2) for count in Counter(drones).values())
        coverage = np.mean([n <= 2 for n in near]) if near else 1.0
        delay = np.mean([n * p[2] / 10 for n, p in zip(near, places, strict=True)]) if near else 0
        rounds.append([coverage, 5 * crowds * (coverage < 1), delay])
    return rounds


CELLS = np.argwhere(np.ones((10, 10)))
STEPS = np.abs(CELLS[:, None] - CELLS).sum(axis=2)
NEAR = (STEPS <= 2).astype(float)
"""Which of the 100 cells a drone on each of them covers."""


def whereabouts(moves: float) -> NDArray[np.float64]:
    """Where a disaster is after 0 to 19 updates, from a uniform cell. Shape (20, 100)."""
    once = (STEPS == 1) / (STEPS == 1).sum(axis=1, keepdims=True)
    once = moves * once + (1 - moves) * np.eye(100)
    return np.array([np.full(100, 0.01) @ np.linalg.matrix_power(once, age) for age in range(20)])


def histories() -> Iterator[tuple[float, list[int]]]:
    """Probabilities, in a uniform round, of disasters that have met so many updates each."""
    for now in range(1, 21):
        for count in range(4):
            for rounds in combinations(range(1, now + 1), count):
                idle = (rounds[-1] if count == 3 else now) - count
                yield 0.2**count * 0.8**idle / 20, [now - spawned for spawned in rounds]


def exact_coverage_of_random(drones: int) -> float:
    """Each disaster is covered or missed by uniform drones, wherever the others are."""
    hit = 1 - (1 - NEAR.mean(axis=1)) ** drones
    by_age = np.mean([whereabouts(moves) @ hit for moves, _ in VOLATILITIES], axis=0)
    return float(sum(p * (by_age[ages].mean() if ages else 1) for p, ages in histories()))


def exact_bounds_of_one_cell() -> NDArray[np.float64]:
    """Coverage, and the share of rounds with an uncovered disaster, where all go to one's cell.

    Least and most over which of the disasters it is. Shape (2 values, 2 bounds).
    """
    total = np.zeros((2, 2))
    for moves, _ in VOLATILITIES:
        law = whereabouts(moves)
        reached = law @ NEAR
        for p, ages in histories():
            found = [(1.0, 0.0)] * (not ages)
            for chosen, age in enumerate(ages):
                others = reached[ages[:chosen] + ages[chosen + 1 :]]
                covered = 1 + (others @ law[age]).sum()
                found.append((covered / len(ages), 1 - law[age] @ others.prod(axis=0)))
            total += p * np.transpose([np.min(found, axis=0), np.max(found, axis=0)])
    return total / len(VOLATILITIES)


def test_coverage_and_misallocation_are_those_of_the_geometry() -> None:
    """Computed from where disasters can be, without a draw: what the paper's gap consists of."""
    kept = pd.read_csv(ROOT / released_rules.REFERENCE).set_index(["policy", "agents", "metric"])
    expected = kept["released"]
    assert_allclose(exact_coverage_of_random(10), expected["random", 10, "coverage"], atol=5e-4)
    coverage, uncovered = exact_bounds_of_one_cell()
    assert_allclose(coverage, expected["all_to_worst", 3, "coverage"], atol=5e-4)
    cost = 5 * (3 - 2) * uncovered
    assert_allclose(cost, expected["all_to_worst", 3, "misallocation"], atol=5e-4)


def test_the_command_finds_it_within_monte_carlo_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    released_rules.publish(RUNS, tmp_path)
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["released_ok"] is True
    assert last["runs"] == 3 * RUNS
    assert last["greedy_assignment_3_coverage"] == 1.0
    assert last["greedy_assignment_3_misallocation"] == 0
    assert last["greedy_assignment_3_response_delay"] == 0
    written = pd.read_csv(tmp_path / "released_rules.csv")
    assert written["within"].all()
    assert_allclose(written["here"].iloc[0], last["random_10_coverage"], atol=1e-4)


def test_a_value_beyond_its_error_is_not_ok(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / released_rules.REFERENCE).read_text(encoding="utf-8")
    other = tmp_path / "other.csv"
    other.write_text(text.replace("coverage,0.749,", "coverage,0.85,"), encoding="utf-8")
    monkeypatch.setattr(released_rules, "REFERENCE", str(other))
    released_rules.publish(RUNS, tmp_path)
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["released_ok"] is False


@pytest.mark.parametrize(("policy", "agents"), [("random", 10), ("all_to_worst", 3)])
def test_scripted_drones_do_as_in_a_simulation_of_the_released_rules(
    made: Made, policy: str, agents: int
) -> None:
    found, runs = released_rules._metrics("disaster_released", policy, agents, RUNS), 400
    rng = random.Random(7)
    expected = np.array(
        [
            np.mean(simulated(agents, policy, moves, jump, rng), axis=0)
            for moves, jump in VOLATILITIES
            for _ in range(runs)
        ]
    )
    for column, metric in enumerate(("coverage", "misallocation", "response_delay")):
        here, other = found[metric], expected[:, column]
        se = np.hypot(here.std() / len(here) ** 0.5, other.std() / len(other) ** 0.5)
        assert abs(here.mean() - other.mean()) < 4 * se


def state(*disasters: tuple[tuple[int, int], float], agents: int) -> DisasterState:
    found = tuple(Disaster(i, cell, s, s) for i, (cell, s) in enumerate(disasters))
    return DisasterState(found, (None,) * agents)


def test_coverage_crowding_and_delay_are_those_of_a_pencil(made: Made) -> None:
    world = make_world(made("task=disaster_released", "task.agents=4"))
    begun = state(((5, 5), 6.5), ((5, 7), 8.0), ((0, 0), 4.0), agents=4)
    cells = [(5, 5), (5, 5), (5, 5), (5, 9)]
    outcome = world.act(begun, cells)
    assert [d.severity for d in outcome.state.disasters] == [6.5, 8.0, 4.0]  # nothing is removed
    plain = {
        "disasters": [{"id": d.id, "cell": d.cell, "severity": d.severity} for d in begun.disasters]
    }
    faced = ((plain, outcome), ({"disasters": []}, world.act(state(agents=4), cells)))
    records: Any = [
        {"round": number, "actions": cells, "score": 0.0}
        | {"state": disasters, "after": disasters, "facts": done.facts}
        for number, (disasters, done) in enumerate(faced, 1)
    ]
    assert_allclose(world.performance(records), [2 / 3, 1.0])
    metrics = world.summary(records, 2)
    assert metrics["misallocation"] == 5 * (3 - 2) / 2
    assert metrics["delays"] == metrics["delays_censored"] == 0
    assert_allclose(metrics["response_delay"], (0 * 0.65 + 2 * 0.8 + 10 * 0.4) / 3 / 2)


def test_disasters_begin_in_round_1_and_severities_are_real_numbers_from_0_to_10(
    play: Play,
) -> None:
    first, seen = 0, []
    given = ("task=disaster_released", "task.policy=random", "volatility=high")
    for replicate in range(30):
        rounds = play(*given, replicate=replicate)
        first += bool(rounds[0]["state"]["disasters"])
        seen += [d["severity"] for r in rounds for d in r["state"]["disasters"]]
    assert 1 <= first <= 14  # a fifth of 30
    assert 0 <= min(seen) < 1
    assert 9 < max(seen) <= 10
    assert not all(severity == round(severity) for severity in seen)


def network(status: str, **more: Any) -> MisinformationState:
    return MisinformationState(CHAIN, status, (), (0,) * 5, 1, **more)


def test_the_adversary_takes_the_best_connected_nodes_first() -> None:
    settings = MisinformationSettings(initial_least=3, initial_most=3, hubs_first=True)
    world = MisinformationWorld(1, settings)
    begun = world.start(DRAWS)
    degrees = [len(nodes) for nodes in begun.neighbours]
    first = [degrees[node] for node, letter in enumerate(begun.status) if letter == "M"]
    assert sorted(first) == sorted(degrees)[-3:]
    small = MisinformationWorld(
        1,
        MisinformationSettings(
            nodes=5, initial_most=2, spread=0.0, hubs_first=True, injection_most=1
        ),
    )
    assert small.update(network("UUUUU"), DRAWS, 2).status == "UMUUU"
    assert small.update(network("UMUUU"), DRAWS, 2).status == "UMMUU"


def test_who_was_checked_once_is_immune_for_good() -> None:
    numbers = {
        "nodes": 5,
        "initial_most": 2,
        "spread": 1.0,
        "injection_most": 1,
        "hubs_first": True,
    }
    for immune, status in ((True, "MIMMM"), (False, "MMMMM")):
        world = MisinformationWorld(1, MisinformationSettings(**numbers, immune=immune))
        assert world.update(network("MIUMM"), DRAWS, 5).status == status


def test_degrees_may_count_beside_votes() -> None:
    sets = [(3,), (3,), (1,)]
    for each, expected in ((0.0, (3,)), (1.0, (1,))):
        settings = MisinformationSettings(nodes=5, initial_most=2, checks=1, degree_votes=each)
        world = MisinformationWorld(3, settings)
        decided = MECHANISMS["explicit"](world, sets, DRAWS, 1, network("UUUUU"))
        assert decided.actions == (expected,) * 3


@pytest.mark.parametrize("task", ["misinformation", "public_goods"])
def test_agents_see_what_was_before_the_update(play: Play, task: str) -> None:
    """So round 1 shows the start, and what is acted on has changed already."""
    policy = {"misinformation": "divided", "public_goods": "fair_share"}[task]
    rounds = play(f"task={task}_released", f"task.policy={policy}", "volatility=high", "rounds=30")
    if task == "public_goods":
        assert rounds[0]["actions"] == [6.0] * 5
        for before, after in pairwise(rounds):
            assert_allclose(after["actions"], min(before["state"]["threshold"] / 5, 20))
        assert len({r["state"]["threshold"] for r in rounds}) > 3
    else:
        assert rounds[0]["state"]["status"].count("M") > 3  # spread before the first check
        assert len(rounds[0]["facts"]["checked"]) == 3
        assert all(
            set(after["facts"]["checked"])
            == {n for n, letter in enumerate(before["after"]["status"]) if letter == "M"}
            for before, after in pairwise(rounds)
            if before["after"]["status"].count("M") <= 9
        )


def test_a_vote_on_an_amount_may_end_in_an_equal_share_of_the_threshold() -> None:
    world = PublicGoodsWorld(3, PublicGoodsSettings(merge_share=True))
    shown = PublicGoodsState(30.0, 100.0, 33.0, 100.0, 9)
    for paid, amount in (([1.0, 2.0, 12.0], 11.0), ([1.0, 2.0, 5.0], 5.0)):
        assert MECHANISMS["explicit"](world, paid, DRAWS, 1, shown).actions == (amount,) * 3


def test_thresholds_and_benefits_wander_as_in_the_released_rules(made: Made) -> None:
    world = make_world(made("task=public_goods_released", "volatility=moderate"))
    steps, benefits, changed = [], [], 0
    for seed in range(40):
        draws = Draws(("wandering", seed))
        current = world.start(draws)
        assert (current.threshold, current.benefit) == (30.0, 100.0)
        for number in range(1, 31):
            before, current = current, world.update(current, draws, number)
            changed += current.threshold != before.threshold
            steps.append(current.threshold - before.threshold)
            benefits.append(current.benefit - before.benefit)
            assert current.threshold >= 0
    assert_allclose(changed / 1200, 0.2, atol=0.05)
    assert max(np.abs(steps)) <= 10
    assert max(np.abs(steps)) > 9
    assert 18 < max(np.abs(benefits)) <= 20


def test_the_text_stands_beside_under_its_own_identity(made: Made) -> None:
    text, released = made("task=disaster", "task.agents=3"), made("task=disaster_released")
    assert text.identity != released.identity
    assert (text.world, released.world) == ("usual", "rules=released")
    wider = made("task=disaster_released", "+task.world.reach=3")
    assert wider.world == "rules=released reach=3"
    assert dict(wider.numbers)["reach"] == 3
    levels = [
        made("task=disaster_released", f"volatility={v}") for v in ("low", "moderate", "high")
    ]
    assert [dict(c.numbers)["move_probability"] for c in levels] == [0.3, 0.5, 0.8]
    assert "covers" in released.texts.preamble
    assert DisasterWorld(3, DisasterSettings(**dict(released.numbers))) == make_world(released)
