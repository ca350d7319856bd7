"""Reports: what they say, how often they mislead, and that their noise is their own."""

from itertools import pairwise

import numpy as np
import pytest
from world_episodes import Play

from plenum.worlds import WORLDS, Draws, Statement, build
from plenum.worlds.reports import kind_of, shown


def test_up_to_the_share_of_statements_is_contradictory_or_incomplete() -> None:
    grid = (np.arange(1000) + 0.5) / 1000
    kinds = [kind_of(u, 0.2) for u in grid]
    assert [kinds.count(k) for k in ("contradictory", "incomplete", "plain")] == [100, 100, 800]
    assert {kind_of(u, 0.0) for u in grid} == {"plain"}


@pytest.mark.parametrize("name", WORLDS)
def test_about_a_fifth_of_the_statements_of_an_episode_mislead(play: Play, name: str) -> None:
    scripted = (f"task={name}", "task.policy=random", "task.agents=2")
    kinds = [
        statement["kind"]
        for replicate in range(40)
        for record in play(*scripted, replicate=replicate)
        for statement in record["report"]
    ]
    assert len(kinds) > 500
    for kind in ("contradictory", "incomplete"):
        assert 0.06 < kinds.count(kind) / len(kinds) < 0.14


@pytest.mark.parametrize("name", WORLDS)
def test_the_noise_of_reports_changes_nothing_else(play: Play, name: str) -> None:
    scripted = (f"task={name}", "task.policy=random", "rounds=10")
    one, other = (play(*scripted, f"task.world.contradictory={share}") for share in (0.2, 0.0))
    assert [r["state"] for r in one] == [r["state"] for r in other]
    assert [r["report"] for r in one] != [r["report"] for r in other]
    assert all(s["kind"] == "plain" for r in other for s in r["report"])


def test_agents_read_statements_without_their_kind() -> None:
    statements = (Statement("It burns.", "plain"), Statement("It is over.", "contradictory"))
    assert shown(statements) == "- It burns.\n- It is over."
    assert shown(()) == "- No reports this round."


def test_a_plain_statement_on_a_threshold_tells_this_rounds_and_the_next_ones(play: Play) -> None:
    scripted = ("task=public_goods", "task.policy=fair_share", "volatility=high", "rounds=10")
    episode = play(*scripted, "task.world.contradictory=0.0")
    for record, following in pairwise(episode):
        now, later, _ = (statement["text"] for statement in record["report"])
        assert now.endswith(f"this round: {record['state']['threshold']:g}.")
        assert later.endswith(f"next round: {following['state']['threshold']:g}.")


def test_a_contradictory_statement_on_a_threshold_is_off_by_a_shock() -> None:
    world = build("public_goods", 5, contradictory=1.0)
    begun = world.start(Draws(("p", 0)))
    found = set()
    for seed in range(60):
        first = world.report(begun, Draws(("p", seed)), 1)[0]
        found.add((first.kind, first.text.rsplit(": ", 1)[1]))
    assert found == {
        ("contradictory", "25."),
        ("contradictory", "35."),
        ("incomplete", "no figure is given."),
    }


def test_a_plain_statement_on_a_node_tells_whether_it_repeats_the_rumour() -> None:
    world = build("misinformation", 1, contradictory=0.0, false_alarm=0.2)
    repeated = denied = 0
    for seed in range(20):
        state = world.start(Draws(("m", seed)))
        for statement in world.report(state, Draws(("m", seed)), 1):
            node = int(statement.text.split()[1])
            says = "doesn't" not in statement.text
            assert (state.status[node] == "M") == says
            repeated, denied = repeated + says, denied + (not says)
    assert min(repeated, denied) > 10


def test_a_plain_statement_on_a_disaster_tells_its_trend() -> None:
    world = build("disaster", 1, contradictory=0.0)
    seen = set()
    for seed in range(20):
        draws = Draws(("d", seed))
        state = world.update(world.start(draws), draws, 2)
        for disaster, statement in zip(state.disasters, world.report(state, draws, 2), strict=True):
            word = {1: "growing", -1: "calming down", 0: "unchanged"}[int(np.sign(disaster.change))]
            cell = f"[{disaster.cell[0]},{disaster.cell[1]}]"
            assert statement.text == f"Crews see the incident at {cell} {word}."
            seen.add(word)
    assert seen == {"growing", "calming down", "unchanged"}


def test_a_contradictory_statement_on_a_disaster_is_wrong_on_its_trend_or_place() -> None:
    world = build("disaster", 1, contradictory=1.0)
    kinds = set()
    for seed in range(60):
        draws = Draws(("d", seed))
        state = world.update(world.start(draws), draws, 2)
        for disaster, statement in zip(state.disasters, world.report(state, draws, 2), strict=True):
            kinds.add(statement.kind)
            cell = f"[{disaster.cell[0]},{disaster.cell[1]}]"
            if statement.kind == "incomplete":
                assert cell not in statement.text
            elif "is over" not in statement.text:
                assert ("growing" in statement.text) == (disaster.change < 0)
                assert "unchanged" not in statement.text
            else:
                assert not statement.text.endswith(f"{cell}.")
    assert kinds == {"contradictory", "incomplete"}
