"""Tables of worlds, from conditions whose numbers a pencil gives."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from known_worlds import BACK_IN_TWO, EXPLICIT, GREEDY, IMPLICIT, bent, played, tent
from numpy.testing import assert_allclose

from plenum.design.settings import Api, Sampling, Simulated
from plenum.records.transcript import Transcript
from plenum.show.table import Table
from plenum.tracking.conditions import TrackedCondition
from plenum_hosted.settings import Hosted
from plenum_worlds import estimates as summarise_world
from plenum_worlds import tracking as tracked_worlds
from plenum_worlds.registry import definitions
from plenum_worlds.reports import statistics, tables
from plenum_worlds.reports.groups import Group, difference, group_runs, make_frame
from plenum_worlds.reports.publish import tabulate_study
from plenum_worlds.settings import Information

FLAT = [1.0, 1.0]


def table(name: str, *study: TrackedCondition, about: str = "") -> Table:
    """The table of a study that has a name, and of several the one that is about a metric."""
    (found, *_) = [t for t in tabulate_study(study) if t.name == name and about in t.title]
    return found


def lines(name: str, *study: TrackedCondition, about: str = "") -> dict[Any, dict[str, Any]]:
    """The values of a table, line by line under what names the line."""
    found = table(name, *study, about=about)
    names = [column.names[0] for column in found.columns if column.key]
    records: Any = found.frame.to_dict("records")
    keys = [tuple(str(record[n]) for n in names) for record in records]
    return {k if names[1:] else k[0]: r for k, r in zip(keys, records, strict=True)}


def cells(found: Table, *key: str) -> dict[str, str]:
    """The line of a table that begins with some keys, by the heads of its columns."""
    (line,) = [row for row in found.body if row[: len(key)] == key]
    return dict(zip(found.head, line, strict=True))


def minus(arm: str, *study: TrackedCondition) -> Any:
    """The coverage of an arm minus that of the implicit one."""
    return difference(Group(make_frame(study)).episodes, "coverage", arm, "implicit")


# --- arms and their differences -----------------------------------------------------------------


def test_a_paired_difference_has_the_value_and_interval_of_a_pencil() -> None:
    row = lines("differences", IMPLICIT, EXPLICIT)["coverage", "explicit"]
    # -0.4, -0.2, -0.4, -0.2: mean -0.3, se 0.05774, t(3) = 3.182 for 95 %
    assert_allclose(
        [row["difference"], row["low"], row["high"]], [-0.3, -0.4837, -0.1163], atol=1e-4
    )
    assert (round(row["p"], 3), row["worlds"], row["minus"]) == (0.014, 4, "implicit")


@pytest.mark.parametrize(
    ("study", "value", "worlds"),
    [
        ([IMPLICIT, played([0.5, 0.6], consensus="explicit")], -0.3, 2),
        ([IMPLICIT, played([0.0] * 4, consensus="explicit", seed="1")], np.nan, 0),
        (
            [
                *(IMPLICIT, EXPLICIT, played([0.2, 0.2], seed="1")),
                played([0.0, 0.0], seed="1", consensus="explicit"),
            ],
            *((-0.4 - 0.2 - 0.4 - 0.2 - 0.2 - 0.2) / 6, 6),
        ),
        (
            [
                played([level - gap, 0.8 - gap], volatility=v, consensus=c)
                for level, v, gap, c in (
                    *((0.9, "low", 0.0, "implicit"), (0.9, "low", 0.1, "explicit")),
                    *((0.9, "high", 0.0, "implicit"), (0.9, "high", 0.3, "explicit")),
                )
            ],
            *(-0.2, 2),
        ),
    ],
    ids=["an unmet world", "another seed", "two seeds", "two pairs a world"],
)
def test_worlds_are_the_pairs(study: list[TrackedCondition], value: float, worlds: int) -> None:
    found = minus("explicit", *study)
    assert found.n == worlds
    assert_allclose(found.value, value)


def test_what_all_worlds_share_drops_out() -> None:
    """Every world moves both arms by far more than they differ by."""
    worlds = np.array([0.1, 0.5, 0.9])
    found = minus("explicit", played(worlds), played(worlds - 0.05, consensus="explicit"))
    assert_allclose([found.value, found.ci_low, found.ci_high], -0.05, atol=1e-12)


@pytest.mark.parametrize(
    ("factor", "first", "other"),
    [("volatility", "low", "high"), ("model", "small", "large"), ("settings", "default", "x")],
)
def test_only_what_differs_in_the_mechanism_alone_is_paired(
    factor: str, first: str, other: str
) -> None:
    """The explicit arm wasn't run at the second level, where all is worse."""
    found = [
        *(played([0.9, 0.7], **{factor: first}), played([0.1, 0.1], **{factor: other})),
        played([0.5, 0.3], consensus="explicit", **{factor: first}),
    ]
    assert_allclose(minus("explicit", *found).value, -0.4)


def test_arms_are_compared_at_the_levels_that_both_were_run_at() -> None:
    small, large = played([0.5] * 4), played([0.9] * 4, agents="20")
    policy = played([0.7] * 4, policy="random", backend="scripted", model="none")
    assert_allclose(minus("scripted: random", small, large, policy).value, 0.2)
    low, plan = played([0.1] * 4, diversity="low"), played([0.6] * 4, consensus="plan")
    assert_allclose(minus("plan", small, low, plan).value, 0.1)


@pytest.mark.slow
def test_a_mechanism_is_compared_with_free_action_of_its_own_kind() -> None:
    """Two turns with two turns, identical roles with identical roles, a script with itself."""
    both = ("implicit", "explicit")
    study = [
        *(played([0.5] * 4, turns="2", consensus=c) for c in both),
        *(played([0.4] * 4, diversity="identical", consensus=c) for c in both),
        played([0.3] * 4, consensus="plan", diversity="identical", turns="0"),
        *(GREEDY, played([0.5] * 4, policy="greedy_assignment", consensus="explicit"), IMPLICIT),
    ]
    found = {(arm, line["minus"]) for (m, arm), line in lines("differences", *study).items()}
    assert found == {
        ("explicit, 2 turns", "implicit, 2 turns"),
        ("implicit, 2 turns", "implicit"),
        ("explicit, identical roles", "implicit, identical roles"),
        ("implicit, identical roles", "implicit"),
        ("scripted: greedy assignment", "implicit"),
        ("scripted: greedy assignment explicit", "scripted: greedy assignment"),
    }
    two = lines("differences", *study[:2])
    assert {(arm, line["minus"]) for (m, arm), line in two.items()} == {
        ("explicit, 2 turns", "implicit, 2 turns")
    }


def test_arms_are_named_by_what_acts_and_stand_in_one_order() -> None:
    study = [
        *(GREEDY, played(FLAT, consensus="central"), played(FLAT, agents="1")),
        *(played(FLAT, turns="0"), played(FLAT, diversity="identical"), EXPLICIT, IMPLICIT),
        played(FLAT, policy="all_to_worst", consensus="explicit"),
    ]
    assert Group(make_frame(study)).arms == [
        *("implicit", "explicit", "implicit, identical roles", "implicit, no interaction"),
        *("one model, all units", "one model, one unit"),
        *("scripted: all to worst explicit", "scripted: greedy assignment"),
    ]


def test_what_agents_see_hear_and_are_makes_an_arm() -> None:
    pinned, ring = "pinned=5:saboteur", "hears=2/1,3/2"
    study = [
        *(played([0.4] * 4, settings=f"{pinned} gain=2"), played([0.9] * 4, settings="gain=2")),
        played([0.1] * 4, settings=f"{pinned} gain=2", consensus="explicit"),
        *(IMPLICIT, played([0.7] * 4, settings=ring), played([0.2] * 4, agents="1", settings=ring)),
    ]
    found = group_runs(study)
    assert [group.heading for group in found] == ["World disaster, gain=2", "World disaster"]
    assert found[0].arms == ["implicit", f"implicit, {pinned}", f"explicit, {pinned}"]
    assert found[1].arms == ["implicit", f"implicit, {ring}", f"one model, one unit, {ring}"]
    pairs = {(arm, line["minus"]) for (_, arm), line in lines("differences", *study[:3]).items()}
    assert pairs == {
        (f"implicit, {pinned}", "implicit"),
        (f"explicit, {pinned}", f"implicit, {pinned}"),
    }


def test_a_setting_of_what_agents_see_has_no_other_ones_name() -> None:
    """Tables read which is which out of its name."""
    settings = (Simulated, Api, Hosted, Sampling, *(d.settings for d in definitions()))
    others = {f.name for kind in settings for f in dataclasses.fields(kind)}
    assert not others & {"answer", "pinned", *(f.name for f in dataclasses.fields(Information))}


def test_a_sum_over_agents_is_not_compared_with_a_lone_agents() -> None:
    team = played([0.5] * 2, task="public_goods", measured={"total_welfare": [100.0, 50.0]})
    lone = played([0.5] * 2, task="public_goods", agents="1", turns="0")
    found = {m for m, arm in lines("differences", team, lone) if arm == "one model, one unit"}
    assert "total_welfare" not in found
    assert {"provision_rate", "welfare_per_agent"} <= found


# --- means --------------------------------------------------------------------------------------


def test_runs_of_one_world_are_averaged_before_worlds_are() -> None:
    """Worlds 0 and 1 with two runs each: 0.2 and 0.6, so the mean is 0.4 with n = 2."""
    found = cells(table("arms", played([0.1, 0.3, 0.5, 0.7], runs="2")), "implicit")
    assert found["coverage"] == "0.400 ± 2.541"  # t(1) = 12.706, times 0.2
    assert found["runs"] == "4/4"


def test_arms_stand_side_by_side_at_the_levels_that_all_were_run_at() -> None:
    low, high = (played([level] * 4, volatility=v) for level, v in ((0.1, "low"), (0.9, "high")))
    other = played([0.5] * 4, volatility="high", consensus="explicit")
    found = table("arms", low, high, other)
    assert found.frame["coverage"].tolist() == [0.9, 0.5]
    assert found.notes[0] == "only volatility high, at which every arm was run"
    assert "don't compare these rows" in table("arms", low, other).notes[0]


@pytest.mark.slow
def test_every_table_of_arms_shows_the_baselines() -> None:
    spell: Any = {"performance": [[1.0, 1.0, 0.5, 1.0]] * 2, "events": {3: "spawn"}}
    study = [
        *(
            played([0.9, 0.8], **spell, volatility=v, model=m)
            for v in ("low", "high")
            for m in "ab"
        ),
        *(
            played([1.0, 1.0], **spell, volatility=v, policy="greedy_assignment", model="none")
            for v in ("low", "high")
        ),
        played([0.4, 0.4], **spell, consensus="central", volatility="low", model="a"),
    ]
    name = "scripted: greedy assignment"
    assert name in lines("arms", *study)
    for found in (t for t in tabulate_study(study) if t.name == "levels"):
        assert {name, "one model, all units"} <= set(found.head)
    assert_allclose(lines("differences", *study)["coverage", name]["difference"], 0.15)
    assert lines("models", *study)[name]["implicit"] == 1


def test_scripted_policies_stand_at_every_level_of_diversity_and_only_at_their_volatility() -> None:
    both = ("low", "high")
    study = [played([0.5, 0.5], diversity=d, volatility=v) for d in both for v in both]
    study.append(played([1.0, 1.0], policy="random", volatility="low", model="none"))
    found = lines("levels", *study, about=": coverage ")
    at = {key: line["scripted: random"] for key, line in found.items()}
    assert at["diversity", "low"] == at["diversity", "high"] == at["volatility", "low"] == 1
    assert np.isnan(at["volatility", "high"])


def test_models_stand_in_lines_and_mechanisms_in_columns() -> None:
    found = table("models", IMPLICIT, EXPLICIT, played([0.1, 0.3], model="large"))
    assert found.head == ("model", "implicit", "explicit")
    assert found.body == (("small", "0.750", "0.450"), ("large", "0.200", "-"))
    assert not [t for t in tabulate_study([IMPLICIT, EXPLICIT]) if t.name == "models"]


@pytest.mark.slow
def test_numbers_of_agents_are_compared_at_what_each_arm_met_at_all_of_them() -> None:
    study = [
        *(IMPLICIT, EXPLICIT, played([0.1, 0.1], diversity="low")),
        *(played([0.5, 0.4], agents="20"), played([0.2] * 4, agents="1", turns="0")),
        *(GREEDY, played([0.7] * 4, agents="20", policy="greedy_assignment", model="none")),
    ]
    found = table("agents", *study)
    assert found.title == "World disaster: coverage by number of agents"
    # the two worlds that 20 agents met, at medium
    assert found.body == (("5", "0.850", "0.450", "1.000"), ("20", "0.450", "-", "0.700"))
    assert not [t for t in tabulate_study([IMPLICIT, GREEDY]) if t.name == "agents"]


def test_what_a_mean_leaves_out_stands_beside_it() -> None:
    waited = {"response_delay": [2.0, 2.0], "delays": [5.0, 6.0]}
    waited |= {"delays_censored": [3.0, 4.0], "delays_dropped": [2.0, 1.0]}
    rare = {"delays": [5.0, 6.0], "delays_censored": [0.01] * 2, "delays_dropped": [0.0] * 2}
    study = [
        played([0.5] * 2, measured=waited),
        played([0.5] * 2, consensus="explicit", measured=rare),
        played([0.5] * 2, consensus="plan", measured={**rare, "delays_censored": [0.0] * 2}),
    ]
    found = table("arms", *study)
    assert [cells(found, arm)["response_delay"] for arm in ("implicit", "explicit", "plan")] == [
        "2.000 ± 0.000 (5.0 of 5.5 open)",
        "0.000 ± 0.000 (<0.1 of 5.5 open)",
        "0.000 ± 0.000",
    ]
    slow = [played([0.5] * 2, measured=waited, volatility=v) for v in ("low", "high")]
    level = table("levels", *slow, about=": response_delay ")
    assert cells(level, "volatility", "low")["implicit"] == "2.000 (5.0 of 5.5 open)"
    lost = {"containment_time": [1.0, 3.0], "cohorts": [6.0, 4.0], "cohorts_censored": [4.0, 3.0]}
    other = table("arms", played([0.5] * 2, task="misinformation", measured=lost))
    assert cells(other, "implicit")["containment_time"].endswith("(3.5 of 5.0 open)")


# --- the inverted U -----------------------------------------------------------------------------


def test_a_tent_is_an_inverted_u_with_the_slopes_of_its_sides() -> None:
    found = lines("inverted_u", tent())
    row = found["proposals", "implicit"]
    assert (row["verdict"], row["points"], row["worlds"]) == ("yes", 240, 12)
    measured = [row[name] for name in ("breakpoint", "slope_below", "slope_above")]
    assert_allclose(measured[0], 2, atol=0.3)
    assert_allclose(measured[1:], [0.25, -0.25], atol=0.05)
    assert list(found) == [("proposals", "implicit")]  # actions are all 0: no row


def test_without_deviation_an_inverted_u_cant_be_told() -> None:
    flat = lines("inverted_u", played([0.5] * 4, performance=[BACK_IN_TWO] * 4))
    assert flat["proposals", "implicit"]["verdict"] == "can't be told"
    assert "constant_x" in flat["proposals", "implicit"]["warnings"]


@pytest.mark.parametrize("factor", ["volatility", "consensus"])
def test_conditions_arent_pooled_into_an_inverted_u(factor: str) -> None:
    """Flat in each, and one of them higher: a tent of nothing."""
    levels = {"volatility": ("low", "moderate", "high"), "consensus": ("implicit", "explicit")}
    study = [
        bent(lambda d, height=height: height + 0 * d, **{factor: level})
        for height, level in zip((0.3, 0.9, 0.4), levels[factor], strict=False)
    ]
    found = lines("inverted_u", *study)
    assert len(found) == len(study)
    assert {line["verdict"] for line in found.values()} == {"no"}


def test_an_inverted_u_is_sought_among_teams_that_were_asked() -> None:
    lone, scripted = bent(lambda d: d, agents="1"), bent(lambda d: d, policy="random")
    assert table("inverted_u", tent(), lone, scripted).body == table("inverted_u", tent()).body
    assert not [t for t in tabulate_study([lone, scripted]) if t.name == "inverted_u"]


# --- how runs part ------------------------------------------------------------------------------


def test_ensembles_are_the_runs_of_a_world_on_one_simplex() -> None:
    first, second = [{0: 1.0}, {2: 1.0}], [{0: 0.5, 1: 0.5}, {2: 1.0}]
    one = played([0.5] * 4, runs="2", weights=[first, second, second, second])
    worlds = tracked_worlds.ensembles(one)
    assert [array.shape for array in worlds] == [(2, 2, 3)] * 2
    assert_allclose(worlds[0][0], [[1, 0, 0], [0, 0, 1]])
    assert_allclose(worlds[0][1], [[0.5, 0.5, 0], [0, 0, 1]])
    assert_allclose(worlds[1][0], worlds[1][1])


@pytest.mark.parametrize(
    ("lengths", "shapes"), [([3, 3, 3], [(2, 3, 2)]), ([5, 3, 5, 5], [(2, 3, 2), (2, 5, 2)])]
)
def test_worlds_are_as_long_as_their_shorter_run_and_an_odd_run_is_alone(
    lengths: list[int], shapes: list[tuple[int, ...]]
) -> None:
    one = played([0.5] * len(lengths), runs="2", weights=[[{0: 1.0}] * n for n in lengths])
    found = tracked_worlds.ensembles(one)
    assert [array.shape for array in found] == shapes


def transcript(
    replicate: int, weights: Sequence[dict[int, float]], **measured: float
) -> Transcript:
    """A run of two in one world, with nothing but its distribution of actions."""
    rounds = [
        {"kind": "round", "round": n, "weights": list(vertex.items()), "components": 3}
        for n, vertex in enumerate(weights, 1)
    ]
    head = {"kind": "head", "task": "disaster", "replicate": replicate, "runs": 2}
    end = {"kind": "end", "status": "completed", "metrics": {"coverage": 0.5, **measured}}
    return Transcript(head, (), {}, end, (*rounds, end))


def test_table_and_csv_have_the_exponent_that_was_logged() -> None:
    """The second world ended after three rounds, in which its runs parted at another rate."""
    first = [{0: 1.0}] * 8
    second = [{0: 1 - 0.005 * 2**n, 1: 0.005 * 2**n} for n in range(7)] + [{1: 1.0}]
    third = [{0: 1 - 0.01 * 3**n, 2: 0.01 * 3**n} for n in range(3)]
    weights = [first, second, first[:3], third]
    condition = played([0.5] * 4, runs="2", weights=weights)
    logged = summarise_world.estimate_episodes([transcript(n, w) for n, w in enumerate(weights)])
    expected = [logged["metrics"][k] for k in ("lambda", "lambda_ci_low", "lambda_ci_high")]
    row = tables.tabulate_episode_conditions(
        [condition], statistics.tabulate_world_exponents([condition])
    ).iloc[0]
    assert_allclose([row[n] for n in ("lambda", "ci_low", "ci_high")], expected)
    (shown,) = lines("instability", condition).values()
    assert_allclose([shown[n] for n in ("lambda", "low", "high")], expected)
    alone = played([0.5] * 2, weights=[[{0: 1.0}] * 4] * 2)
    assert not [t for t in tabulate_study([alone]) if t.name == "instability"]


# --- groups of conditions -----------------------------------------------------------------------


def played_in(found: Sequence[Group]) -> list[list[TrackedCondition]]:
    return [group.played for group in found]


def test_other_settings_have_other_tables_and_policies_stand_in_those_of_their_world() -> None:
    capped = {"world": "reduction_most=3", "settings": "reduction_most=3"}
    usual, noisy = [IMPLICIT, EXPLICIT, GREEDY], played([0.1] * 4, settings="noise=0.5")
    off = [played([0.2] * 4, **capped), played([0.3] * 4, policy="greedy_assignment", **capped)]
    elsewhere = played([0.4] * 4, policy="random", task="public_goods")
    found = group_runs([*usual, noisy, *off, elsewhere])
    assert played_in(found) == [usual, [noisy, GREEDY], off, [elsewhere]]
    titles = ["World disaster", "World disaster, noise=0.5", "World disaster, reduction_most=3"]
    assert [group.heading for group in found] == [*titles, "World public_goods"]
    assert group_runs([off[1]])[0].heading == titles[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("factor", "value", "named", "usual"),
    [
        ("agents", "20", "20 agents", "5 agents"),
        ("temperature", "t1", "t1", "t0.7"),
        ("rounds", "40", "40 rounds", "20 rounds"),
        ("backend", "api", "backend api", "backend simulated"),
    ],
)
def test_conditions_that_differ_in_more_than_the_design_arent_pooled(
    factor: str, value: str, named: str, usual: str
) -> None:
    other = played([0.1] * 4, **{factor: value})
    found = group_runs([IMPLICIT, other])
    assert played_in(found) == [[IMPLICIT], [other]]
    assert [g.heading for g in found] == [f"World disaster, {usual}", f"World disaster, {named}"]
    alone = [group_runs([one])[0].heading for one in (IMPLICIT, other)]
    off = "World disaster" if factor == "backend" else f"World disaster, {named}"
    assert alone == ["World disaster", off]
    assert f"World disaster, {named}: every arm" in {
        t.title for t in tabulate_study([IMPLICIT, other])
    }


def test_a_lone_agent_and_the_policies_of_its_world_stand_beside_a_team() -> None:
    large, lone = played([0.2] * 4, agents="20"), played([0.3] * 4, agents="1", turns="0")
    scripted = {"policy": "random", "backend": "scripted", "temperature": "t0"}
    many, few = played([0.8] * 4, agents="20", **scripted), played([0.8] * 4, **scripted)
    assert played_in(group_runs([lone, IMPLICIT, large, many, few])) == [
        [IMPLICIT, lone, few],
        [large, lone, many],
    ]
    headings = {"World disaster, 1 agent": [lone], "World disaster": [lone, IMPLICIT]}
    for heading, study in headings.items():
        assert [group.heading for group in group_runs(study)] == [heading]


# --- what all of them say -----------------------------------------------------------------------


def test_failures_abstentions_and_few_worlds_are_told() -> None:
    shaky = played([0.5, 0.5], measured={"abstentions": [0.0, 2.0]}, failed=1, pending=3)
    found = table("arms", shaky)
    assert (cells(found, "implicit")["runs"], found.frame["abstentions"][0]) == ("2/6", 1)
    assert "warnings: few_episodes, abstentions, attrition, pending" in found.notes
    (row,) = tables.tabulate_episode_conditions([shaky], {}).to_dict("records")
    assert [row[n] for n in ("target", "completed", "failed", "pending")] == [6, 2, 1, 3]
    assert row["warnings"] == "few_episodes abstentions attrition pending"
    quiet = table("arms", played([0.5] * 5))
    assert not [note for note in quiet.notes if note.startswith("warnings")]


def test_cut_answers_and_silent_turns_are_shown_where_there_are_any() -> None:
    """Runs of an older program don't count them."""
    fine = table("arms", played([0.5] * 5))
    assert not {"cut answers a run", "silent turns a run"} & set(fine.head)
    lossy = played([0.5] * 5, measured={"cut": [0.0, 5.0, 0.0, 0.0, 0.0], "silent": [0.0] * 5})
    found = table("arms", lossy, EXPLICIT)
    assert cells(found, "implicit")["cut answers a run"] == "1.00"
    assert cells(found, "explicit")["cut answers a run"] == "-"
    assert "silent turns a run" not in found.head
    assert tables.tabulate_warnings(lossy) == ["cut"]


@pytest.mark.parametrize("lost", ["abstentions", "cut", "silent"])
def test_what_agents_failed_to_do_is_logged_as_a_warning(lost: str) -> None:
    runs = [transcript(n, [{0: 1.0}], **{lost: float(n == 3)}) for n in range(10)]
    assert summarise_world.estimate_episodes(runs)["warnings"][0] == lost


@pytest.mark.slow
def test_every_table_of_a_study_without_policies_names_the_command_that_adds_them() -> None:
    parts = [[{0: 1.0}] * 4, [{0: 1 - s, 1: s} for s in (0.1, 0.2, 0.4, 0.8)]] * 2
    measured = {"messages": [9.0] * 4, "references": [0.5] * 4, "changes": [0.5] * 4}
    measured |= {"changes_after_reference": [0.5] * 4, "changes_otherwise": [0.5] * 4}
    spell: Any = {"performance": [BACK_IN_TWO] * 4, "events": {4: "spawn"}, "agents": "3"}
    rows = {**spell, "runs": "2", "weights": parts}
    study = [
        played([0.5] * 4, **rows, measured=measured, model=m, volatility=v)
        for m in "ab"
        for v in ("low", "high")
    ]
    study.append(played([0.5] * 4, **rows, model="a", volatility="low", consensus="explicit"))
    line = "python run.py -m +experiment=policies_disaster study=s task.agents=3"
    found = tabulate_study(study)
    assert {t.name for t in found} == {
        *("arms", "differences", "levels", "models", "inverted_u", "dialogue"),
        "instability",
    }
    assert all(any(note.endswith(line) for note in t.notes) for t in found)
    policy = played([0.5] * 4, **rows, policy="random", backend="scripted")
    for t in tabulate_study([*study, policy]):
        told = any(line in note for note in t.notes)
        assert told is (t.name == "models")  # whose policies stand at met settings alone


@pytest.mark.parametrize(
    ("study", "ending"),
    [
        (
            [played([0.5] * 2, settings="a=3", world="a=3", rounds="40")],
            "study=s rounds=40 ++task.world.a=3",
        ),
        ([IMPLICIT, played([0.5] * 4, agents="20")], "study=s task.agents=5,20"),
    ],
)
def test_the_command_has_what_is_off_default(study: list[TrackedCondition], ending: str) -> None:
    assert any(note.endswith(ending) for note in tabulate_study(study)[-1].notes)


def test_a_study_in_which_nothing_has_ended_has_tables_without_numbers() -> None:
    found = tabulate_study([played([], pending=3)])
    assert [t.name for t in found] == ["arms"]
    assert cells(found[0], "implicit")["runs"] == "0/3"
    assert pd.isna(found[0].frame["coverage"]).all()
