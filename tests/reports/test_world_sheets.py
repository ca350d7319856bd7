"""Tables and figures of worlds, from conditions whose numbers a pencil gives."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from plenum.execution import summarise_world
from plenum.records import Transcript
from plenum.reports.table import Table
from plenum.reports.worlds import drawing, publish, sheets, statistics
from plenum.reports.worlds.arms import arms, difference, values
from plenum.reports.worlds.groups import groups, heading
from plenum.tracking import worlds as tracked_worlds
from plenum.tracking.conditions import TrackedCondition
from plenum.worlds.registry import display

FACTORS = {
    **{"task": "disaster", "consensus": "implicit", "diversity": "medium", "turns": "1"},
    **{"volatility": "moderate", "policy": "agents", "agents": "5", "model": "small"},
    **{"settings": "default", "seed": "0", "runs": "1", "backend": "simulated", "world": "usual"},
    **{"temperature": "t0.7", "rounds": "20"},
}
FLAT = [1.0, 1.0]

pytestmark = pytest.mark.usefixtures("shared_style")


def played(
    coverage: Sequence[float],
    *,
    performance: Sequence[Sequence[float]] = (),
    deviations: Sequence[Sequence[float]] = (),
    events: dict[int, str] | None = None,
    weights: Sequence[Sequence[dict[int, float]]] = (),
    measured: dict[str, Sequence[float]] | None = None,
    failed: int = 0,
    pending: int = 0,
    **factors: str,
) -> TrackedCondition:
    """A condition with one value of coverage a replicate; the rest is by replicate and round."""
    told = {**FACTORS, **factors}
    runs, count = int(told["runs"]), len(coverage)
    others = dict.fromkeys((*display(told["task"]).metrics, "abstentions"), [0.0] * count)
    columns = {**others, "coverage": coverage, **(measured or {})}
    metrics = pd.DataFrame({"replicate": range(count), **columns})
    rounds = [
        {
            **{"replicate": replicate, "round": number, "performance": value},
            "deviation_proposals": deviations[replicate][number - 1] if len(deviations) else 0.0,
            "deviation_actions": 0.0,
            "events": (events or {}).get(number, ""),
        }
        for replicate, series in enumerate(performance)
        for number, value in enumerate(series, 1)
    ]
    parts = [
        {"replicate": replicate, "round": number, "component": component, "weight": weight}
        for replicate, run in enumerate(weights)
        for number, vertex in enumerate(run, 1)
        for component, weight in vertex.items()
    ]
    return TrackedCondition(
        study="s",
        identity="c",
        run_id="r",
        factors=told,
        target=count + failed + pending,
        completed=count,
        failures={"parse": failed} if failed else {},
        metrics=metrics.assign(episode=metrics["replicate"] // runs),
        rounds=pd.DataFrame(rounds),
        weights=pd.DataFrame(parts),
        simulated=told["backend"] == "simulated",
    )


def cells(sheet: Table, *keys: str) -> dict[str, str]:
    """The line of a sheet that begins with some keys, by the heads of its columns."""
    (line,) = [row for row in sheet.body if row[: len(keys)] == keys]
    return dict(zip(sheet.head, line, strict=True))


def lines(sheet: Table) -> list[str]:
    return [row[0] for row in sheet.body]


IMPLICIT = played([0.9, 0.8, 0.7, 0.6])
EXPLICIT = played([0.5, 0.6, 0.3, 0.4], consensus="explicit")
GREEDY = played([1.0] * 4, policy="greedy_assignment", model="none", backend="scripted")


def test_a_paired_difference_has_the_value_and_interval_of_a_pencil() -> None:
    (sheet,) = sheets.differences([IMPLICIT, EXPLICIT], "disaster")
    # -0.4, -0.2, -0.4, -0.2: mean -0.3, se 0.05774, t(3) = 3.182 for 95 %
    row = cells(sheet, "coverage", "explicit")
    assert row["difference"] == "-0.300"
    assert row["95 % CI"] == "[-0.484, -0.116]"
    assert (row["p"], row["worlds"]) == ("0.014", "4")
    assert "paired by world" in sheet.notes[0]


def test_pairs_are_worlds_so_what_all_worlds_share_drops_out() -> None:
    """Every world moves both arms by far more than they differ by."""
    worlds = np.array([0.1, 0.5, 0.9])
    table = values([played(worlds), played(worlds - 0.05, consensus="explicit")], "coverage")
    found = difference(table, "explicit")
    assert_allclose([found.value, found.ci_low, found.ci_high], -0.05, atol=1e-12)


def test_a_world_that_one_arm_hasnt_met_is_left_out() -> None:
    short = played([0.5, 0.6], consensus="explicit")
    found = difference(values([IMPLICIT, short], "coverage"), "explicit")
    assert found.n == 2
    assert_allclose(found.value, -0.3)
    elsewhere = played([0.0] * 4, consensus="explicit", seed="1")
    assert difference(values([IMPLICIT, elsewhere], "coverage"), "explicit").n == 0


def test_episodes_of_two_seeds_are_different_worlds() -> None:
    both = [
        *(IMPLICIT, EXPLICIT, played([0.2, 0.2], seed="1")),
        played([0.0, 0.0], seed="1", consensus="explicit"),
    ]
    found = difference(values(both, "coverage"), "explicit")
    assert found.n == 6
    assert_allclose(found.value, (-0.4 - 0.2 - 0.4 - 0.2 - 0.2 - 0.2) / 6)


@pytest.mark.parametrize(
    ("factor", "one", "other"),
    [("volatility", "low", "high"), ("model", "small", "large"), ("settings", "default", "x")],
)
def test_only_what_differs_in_the_mechanism_alone_is_paired(
    factor: str, one: str, other: str
) -> None:
    """The explicit arm wasn't run at the second level, where all is worse."""
    found = [
        *(played([0.9, 0.7], **{factor: one}), played([0.1, 0.1], **{factor: other})),
        played([0.5, 0.3], consensus="explicit", **{factor: one}),
    ]
    assert_allclose(difference(values(found, "coverage"), "explicit").value, -0.4)


def test_several_pairs_of_one_world_count_once() -> None:
    found = []
    for level, gap in (("low", 0.1), ("high", 0.3)):
        found += [
            played([0.9, 0.8], volatility=level),
            played([0.9 - gap, 0.8 - gap], volatility=level, consensus="explicit"),
        ]
    estimate = difference(values(found, "coverage"), "explicit")
    assert estimate.n == 2
    assert_allclose(estimate.value, -0.2)


def test_runs_of_one_world_are_averaged_before_worlds_are() -> None:
    """Worlds 0 and 1 with two runs each: 0.2 and 0.6, so the mean is 0.4 with n = 2."""
    twice = played([0.1, 0.3, 0.5, 0.7], runs="2")
    sheet = sheets.overall([twice], "disaster")
    row = cells(sheet, "implicit")
    # half a t interval with 1 degree of freedom: 12.706 * 0.2
    assert row["coverage"] == "0.400 ± 2.541"
    assert row["runs"] == "4/4"


def test_a_mechanism_is_compared_with_free_action_of_its_own_kind() -> None:
    """Two turns with two turns, identical roles with identical roles, a script with itself."""
    study = [
        IMPLICIT,
        *(played([0.5] * 4, turns="2", consensus=c) for c in ("implicit", "explicit")),
        *(played([0.4] * 4, diversity="identical", consensus=c) for c in ("implicit", "explicit")),
        GREEDY,
        played([0.5] * 4, policy="greedy_assignment", consensus="explicit"),
        played([0.3] * 4, consensus="plan", diversity="identical", turns="0"),
    ]
    (sheet,) = sheets.differences(study, "disaster")
    compared = {row[1]: row[2] for row in sheet.body if row[0] == "coverage"}
    assert compared == {
        "explicit, 2 turns": "implicit, 2 turns",
        "implicit, 2 turns": "implicit",
        "explicit, identical roles": "implicit, identical roles",
        "implicit, identical roles": "implicit",
        "scripted: greedy assignment": "implicit",
        "scripted: greedy assignment explicit": "scripted: greedy assignment",
    }


def test_without_the_usual_arm_the_others_are_compared_all_the_same() -> None:
    two = [played([0.5] * 4, turns="2", consensus=c) for c in ("implicit", "explicit")]
    (sheet,) = sheets.differences(two, "disaster")
    assert {row[1:3] for row in sheet.body} == {("explicit, 2 turns", "implicit, 2 turns")}


def test_arms_stand_side_by_side_at_the_levels_that_all_were_run_at() -> None:
    study = [played([0.1] * 4, volatility="low"), played([0.9] * 4, volatility="high")]
    study.append(played([0.5] * 4, volatility="high", consensus="explicit"))
    sheet = sheets.overall(study, "disaster")
    assert cells(sheet, "implicit")["coverage"].startswith("0.900")
    assert "only volatility high, at which every arm was run" in sheet.notes[0]
    apart = [study[0], study[2]]
    assert "don't compare these rows" in sheets.overall(apart, "disaster").notes[0]


def test_every_table_of_arms_shows_the_baselines() -> None:
    spell = {"performance": [[1.0, 1.0, 0.5, 1.0]] * 2, "events": {3: "spawn"}}
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
        played([0.4, 0.4], **spell, consensus="central", agents="5", volatility="low", model="a"),
    ]
    name = "scripted: greedy assignment"
    assert name in lines(sheets.overall(study, "disaster"))
    assert (sheet := sheets.levels(study, "disaster"))
    assert all(name in one.head for one in sheet)
    assert all("one model, all units" in one.head for one in sheet)
    (table,) = sheets.differences(study, "disaster")
    assert cells(table, "coverage", name)["difference"] == "0.150"
    (by_model,) = sheets.models(study, "disaster")
    assert cells(by_model, name)["implicit"] == "1.000"
    (recovery,) = statistics.recovered(study, "disaster")
    assert name in lines(recovery)


def test_levels_have_a_mean_an_arm_and_a_dash_where_it_wasnt_run() -> None:
    study = [
        *(played([0.9, 0.7], volatility="low"), played([0.5, 0.3], volatility="high")),
        played([0.2, 0.4], consensus="explicit", volatility="low"),
    ]
    sheet = next(s for s in sheets.levels(study, "disaster") if ": coverage " in s.title)
    assert cells(sheet, "overall")["implicit"] == "0.600"
    assert cells(sheet, "volatility", "low")["implicit"] == "0.800"
    assert cells(sheet, "volatility", "low")["explicit"] == "0.300"
    assert cells(sheet, "volatility", "high")["implicit"] == "0.400"
    assert cells(sheet, "volatility", "high")["explicit"] == "-"
    assert not [row for row in sheet.body if row[0] == "diversity"]


def test_scripted_policies_stand_at_every_level_of_diversity_and_only_at_their_volatility() -> None:
    study = [
        played([0.5, 0.5], diversity=d, volatility=v)
        for d in ("low", "high")
        for v in ("low", "high")
    ]
    study.append(played([1.0, 1.0], policy="random", volatility="low", model="none"))
    sheet = next(s for s in sheets.levels(study, "disaster") if ": coverage " in s.title)
    found = {row[:2]: cells(sheet, *row[:2])["scripted: random"] for row in sheet.body}
    assert found["diversity", "low"] == found["diversity", "high"] == "1.000"
    assert found["volatility", "low"] == "1.000"
    assert found["volatility", "high"] == "-"


def test_models_stand_in_lines_and_mechanisms_in_columns() -> None:
    study = [IMPLICIT, EXPLICIT, played([0.1, 0.3], model="large")]
    (sheet,) = sheets.models(study, "disaster")
    assert cells(sheet, "small")["implicit"] == "0.750"
    assert cells(sheet, "small")["explicit"] == "0.450"
    assert cells(sheet, "large")["implicit"] == "0.200"
    assert cells(sheet, "large")["explicit"] == "-"
    assert sheets.models([IMPLICIT, EXPLICIT], "disaster") == []


def test_failures_abstentions_and_few_worlds_are_told() -> None:
    shaky = played([0.5, 0.5], measured={"abstentions": [0.0, 2.0]}, failed=1, pending=3)
    sheet = sheets.overall([shaky], "disaster")
    assert cells(sheet, "implicit")["runs"] == "2/6"
    assert cells(sheet, "implicit")["abstentions a run"] == "1.00"
    noted = next(note for note in sheet.notes if note.startswith("warnings: "))
    assert noted == "warnings: few_episodes, abstentions, attrition, pending"
    (row,) = sheets.conditions([shaky], {}).to_dict("records")
    assert (row["target"], row["completed"], row["failed"], row["pending"]) == (6, 2, 1, 3)
    assert row["warnings"] == "few_episodes abstentions attrition pending"
    quiet = sheets.overall([played([0.5] * 5)], "disaster")
    assert not [note for note in quiet.notes if note.startswith("warnings")]


def test_what_is_simulated_says_so_and_what_is_scripted_doesnt() -> None:
    assert "no evidence about language models" in sheets.provenance([IMPLICIT])
    assert sheets.provenance([GREEDY]) == "backend: scripted"


def test_arms_are_named_by_what_acts_and_stand_in_one_order() -> None:
    study = [
        *(GREEDY, played(FLAT, consensus="central"), played(FLAT, agents="1")),
        *(played(FLAT, turns="0"), played(FLAT, diversity="identical"), EXPLICIT, IMPLICIT),
        played(FLAT, policy="all_to_worst", consensus="explicit"),
    ]
    assert [one.name for one in arms(study)] == [
        *("implicit", "explicit", "implicit, identical roles", "implicit, no interaction"),
        *("one model, all units", "one model, one unit"),
        *("scripted: all to worst explicit", "scripted: greedy assignment"),
    ]


def test_the_dialogue_of_those_who_spoke_is_shown() -> None:
    said = {"messages": [20.0, 20.0], "references": [0.25, 0.75], "changes": [0.1, 0.3]}
    said |= {"changes_after_reference": [0.2, np.nan], "changes_otherwise": [0.0, 0.1]}
    study = [played(FLAT, measured=said), played(FLAT, turns="0"), GREEDY]
    (sheet,) = sheets.dialogue(study, "disaster")
    assert sheet.body == (("implicit", "20.000", "0.500", "0.200", "0.200", "0.050"),)
    assert sheets.dialogue([GREEDY], "disaster") == []


def bent(shape: Any, worlds: int = 12, **factors: str) -> TrackedCondition:
    """Performance as a function of deviation, in ``worlds`` worlds of 20 rounds."""
    rng = np.random.default_rng(3)
    d = np.tile(np.linspace(0, 4, 20), (worlds, 1)) + rng.normal(0, 0.02, (worlds, 20))
    performance = shape(d) + rng.normal(0, 0.01, d.shape)
    return played([0.5] * worlds, performance=performance, deviations=d, **factors)


def inverted(*study: TrackedCondition) -> Table:
    (sheet,) = statistics.inverted_u(study, "disaster")
    return sheet


def test_a_tent_is_an_inverted_u_with_the_slopes_of_its_sides() -> None:
    sheet = inverted(bent(lambda d: 1 - 0.25 * np.abs(d - 2)))
    row = cells(sheet, "proposals", "implicit")
    assert row["inverted U"] == "yes"
    assert_allclose(float(row["breakpoint"]), 2, atol=0.3)
    assert_allclose(float(row["slope below"]), 0.25, atol=0.05)
    assert_allclose(float(row["slope above"]), -0.25, atol=0.05)
    assert (row["points"], row["worlds"]) == ("240", "12")


def test_without_deviation_an_inverted_u_cant_be_told() -> None:
    sheet = inverted(bent(lambda d: 1 - 0.25 * np.abs(d - 2)))
    assert [row[0] for row in sheet.body] == ["proposals"]  # actions are all 0: no row
    flat = played([0.5] * 4, performance=[BACK_IN_TWO] * 4)
    row = cells(inverted(flat), "proposals", "implicit")
    assert row["inverted U"] == "can't be told"
    assert "constant_x" in row["warnings"]


def test_volatilities_arent_pooled_into_an_inverted_u() -> None:
    """Flat at each level, the middle one highest."""

    def flat(height: float, level: str) -> TrackedCondition:
        return bent(lambda d: height + 0 * d, volatility=level)

    sheet = inverted(flat(0.5, "low"), flat(0.9, "moderate"), flat(0.4, "high"))
    assert [row[2] for row in sheet.body] == ["low", "moderate", "high"]
    assert "yes" not in {row[sheet.head.index("inverted U")] for row in sheet.body}


def test_an_inverted_u_is_sought_among_teams_that_were_asked() -> None:
    tent = bent(lambda d: 1 - 0.25 * np.abs(d - 2))
    lone = bent(lambda d: d, agents="1")
    scripted = bent(lambda d: d, policy="random")
    assert inverted(tent, lone, scripted).body == inverted(tent).body
    assert statistics.inverted_u([lone, scripted], "disaster") == []


def test_arms_arent_pooled_into_an_inverted_u() -> None:
    """Flat in each arm, and one arm at a higher level in the middle: a tent of nothing."""
    low = bent(lambda d: 0.2 + 0 * d)
    high = bent(lambda d: 0.9 + 0 * d, consensus="explicit")
    sheet = inverted(low, high)
    assert {row[1] for row in sheet.body} == {"implicit", "explicit"}
    assert {cells(sheet, "proposals", a)["inverted U"] for a in ("implicit", "explicit")} == {"no"}
    assert any("aren't pooled" in note for note in sheet.notes)


BACK_IN_TWO = [1.0, 1.0, 1.0, 0.5, 0.4, 1.0, 1.0, 1.0]
NEVER_BACK = [1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.5]


def test_recovery_takes_the_rounds_out_of_tolerance() -> None:
    one = played([0.9] * 3, performance=[BACK_IN_TWO] * 3, events={4: "move spawn"})
    (sheet,) = statistics.recovered([one], "disaster")
    row = cells(sheet, "implicit")
    assert row["shocks"] == "3 (0 censored)"
    assert (row["median"], row["mean"], row["95 % CI"]) == ("2.0", "2.00", "[2.00, 2.00]")
    assert row["dip"] == "0.600"
    assert row["warnings"] == "few_episodes"
    assert (row["before"], row["after"], row["worlds"]) == ("1.000", "0.780", "3")


def test_who_does_nothing_shows_as_a_low_level_though_nothing_dips() -> None:
    idle = played([0.0] * 3, performance=[[0.1] * 8] * 3, events={4: "spawn"})
    row = cells(statistics.recovered([idle], "disaster")[0], "implicit")
    assert (row["dip"], row["mean"], row["before"], row["after"]) == (
        *("0.000", "0.00"),
        *("0.100", "0.100"),
    )
    (sheet,) = statistics.recovered([idle], "disaster")
    assert any("a low level can't dip" in note and "meets fewer" in note for note in sheet.notes)


def test_all_runs_of_a_world_are_one_unit_of_recovery() -> None:
    """Four conditions and two runs of the same three worlds are three units, not 24."""
    runs = [series for series in (BACK_IN_TWO, NEVER_BACK, BACK_IN_TWO) for _ in range(2)]
    study = [
        played([0.9] * 6, runs="2", performance=runs, events={4: "spawn"}, diversity=d, model=m)
        for d in ("low", "high")
        for m in "ab"
    ]
    (sheet,) = statistics.recovered(study, "disaster")
    row = cells(sheet, "implicit")
    assert (row["shocks"], row["worlds"]) == ("24 (8 censored)", "3")
    (alone,) = statistics.recovered(
        [played([0.9] * 3, performance=runs[::2], events={4: "spawn"})], "disaster"
    )
    assert row["95 % CI"] == cells(alone, "implicit")["95 % CI"]  # more runs of them tell no more
    assert "few_episodes" in row["warnings"]


def test_a_rumour_that_ended_a_run_stays_at_its_worst_after_the_shock() -> None:
    short = [1.0, 1.0, 1.0, 0.2]
    one = played([0.1], performance=[short], events={4: "injection"}, task="misinformation")
    other = played([0.1], performance=[[1.0, 1.0, 1.0, 0.2, 1.0]], events={4: "injection"})
    found = statistics.after_shocks([one], "misinformation")
    assert found is not None
    assert found.after.value == pytest.approx(0.2)
    assert statistics.after_shocks([other], "disaster") is None


def test_a_shock_without_a_way_back_is_censored_not_dropped() -> None:
    one = played([0.9] * 3, performance=[NEVER_BACK] * 3, events={4: "spawn"})
    row = cells(statistics.recovered([one], "disaster")[0], "implicit")
    assert row["shocks"] == "3 (3 censored)"
    assert row["median"] == "never"
    assert row["mean"] == "10.00"  # the horizon: nothing came back before it
    assert "mostly_censored" in row["warnings"]


@pytest.mark.parametrize(
    ("task", "event"),
    [("disaster", "spawn"), ("misinformation", "injection"), ("public_goods", "shock")],
)
def test_a_shock_is_the_event_of_its_world_and_none_in_round_1(task: str, event: str) -> None:
    def shocks(**events: str) -> list[str]:
        told = {int(key.removeprefix("r")): value for key, value in events.items()}
        one = played([0.9] * 2, performance=[BACK_IN_TWO] * 2, events=told, task=task)
        return [row[2] for sheet in statistics.recovered([one], task) for row in sheet.body]

    assert shocks(r4=event) == ["2 (0 censored)"]
    assert shocks(r4="move") == []
    assert shocks(r1=event) == []
    assert shocks() == []


def ensembles(one: TrackedCondition) -> list[Any]:
    return tracked_worlds.ensembles(one.weights, one.runs)


def test_ensembles_are_the_runs_of_a_world_on_one_simplex() -> None:
    first, second = [{0: 1.0}, {2: 1.0}], [{0: 0.5, 1: 0.5}, {2: 1.0}]
    one = played([0.5] * 4, runs="2", weights=[first, second, second, second])
    worlds = ensembles(one)
    assert [array.shape for array in worlds] == [(2, 2, 3)] * 2
    assert_allclose(worlds[0][0], [[1, 0, 0], [0, 0, 1]])
    assert_allclose(worlds[0][1], [[0.5, 0.5, 0], [0, 0, 1]])
    assert_allclose(worlds[1][0], worlds[1][1])
    # an odd run has nobody to part from
    assert len(ensembles(played([0.5] * 3, runs="2", weights=[first] * 3))) == 1


def test_runs_that_ended_early_are_compared_as_long_as_their_own_world_went_on() -> None:
    long, short = [{0: 1.0}] * 5, [{0: 1.0}] * 3
    one = played([0.5] * 4, runs="2", weights=[long, short, long, long])
    assert [array.shape for array in ensembles(one)] == [(2, 3, 2), (2, 5, 2)]


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


def test_the_table_has_the_exponent_that_was_logged() -> None:
    """The second world ended after three rounds, in which its runs parted at another rate."""
    first = [{0: 1.0}] * 8
    second = [{0: 1 - 0.005 * 2**n, 1: 0.005 * 2**n} for n in range(7)] + [{1: 1.0}]
    third = [{0: 1 - 0.01 * 3**n, 2: 0.01 * 3**n} for n in range(3)]
    weights = [first, second, first[:3], third]
    one = played([0.5] * 4, runs="2", weights=weights)
    logged = summarise_world.estimates([transcript(n, w) for n, w in enumerate(weights)])
    found = statistics.exponents([one])["r"]
    keys = ("lambda", "lambda_ci_low", "lambda_ci_high")
    assert_allclose(
        [found.value, found.ci_low, found.ci_high], [logged["metrics"][k] for k in keys]
    )
    (sheet,) = statistics.instability([one], "disaster")
    assert cells(sheet, "implicit")["λ̂"] == f"{logged['metrics']['lambda']:.4f}"


def test_how_runs_part_needs_more_than_one_run_of_a_world() -> None:
    alone = played([0.5] * 2, weights=[[{0: 1.0}] * 4] * 2)
    assert statistics.instability([alone], "disaster") == []


def test_the_csv_has_the_exponent_of_the_table() -> None:
    """Two runs of a world whose distance doubles each round: λ̂ is log 2."""
    first = [{0: 1.0}] * 4
    second = [{0: 1 - share, 1: share} for share in (0.1, 0.2, 0.4, 0.8)]
    one = played([0.5] * 4, runs="2", weights=[first, second] * 2)
    (row,) = sheets.conditions([one], statistics.exponents([one])).to_dict("records")
    (sheet,) = statistics.instability([one], "disaster")
    assert row["lambda"] == pytest.approx(np.log(2))
    assert f"{row['lambda']:.4f}" == cells(sheet, "implicit")["λ̂"]


def test_other_settings_have_other_tables_and_policies_stand_in_those_of_their_world() -> None:
    capped = {"world": "reduction_most=3"}
    usual = [IMPLICIT, EXPLICIT, GREEDY]
    noisy = [played([0.1] * 4, settings="noise=0.5")]
    off = [played([0.2] * 4, settings="reduction_most=3", **capped)]
    off += [played([0.3] * 4, policy="greedy_assignment", settings="reduction_most=3", **capped)]
    elsewhere = [played([0.4] * 4, policy="random", task="public_goods")]
    found = groups([*usual, *noisy, *off, *elsewhere])
    assert found == [usual, [*noisy, GREEDY], off, elsewhere]
    assert [heading(group) for group in found] == [
        "World disaster",
        "World disaster, noise=0.5",
        "World disaster, reduction_most=3",
        "World public_goods",
    ]
    assert heading([off[1]]) == "World disaster, reduction_most=3"


def test_arms_are_compared_at_the_levels_that_both_were_run_at() -> None:
    small, large = played([0.5] * 4), played([0.9] * 4, agents="20")
    policy = played([0.7] * 4, policy="random", backend="scripted", model="none")
    table = values([small, large, policy], "coverage")
    assert difference(table, "scripted: random").value == pytest.approx(0.2)
    low = played([0.1] * 4, diversity="low")
    plan = played([0.6] * 4, consensus="plan")
    assert difference(values([small, low, plan], "coverage"), "plan").value == pytest.approx(0.1)


def test_a_study_in_which_nothing_has_ended_has_tables_and_figures_without_numbers() -> None:
    pending = played([], pending=3)
    assert cells(sheets.overall([pending], "disaster"), "implicit")["runs"] == "0/3"
    assert sheets.levels([pending], "disaster") == []
    for draw in (drawing.over_time, drawing.baselines, drawing.deviation):
        draw([pending], "disaster")


def test_a_line_is_the_mean_of_the_runs_that_still_go_on() -> None:
    one = played([0.5, 0.5], performance=[[0.2, 0.4, 0.6], [0.4, 0.8]], rounds="3")
    other = played([0.5], performance=[[0.0, 0.0, 0.0]], volatility="high", rounds="3")
    figure = drawing.over_time([one, other], "disaster")
    assert [panel.get_title(loc="left") for panel in figure.axes] == [
        "volatility moderate",
        "volatility high",
    ]
    (line,) = figure.axes[0].get_lines()
    assert_allclose(line.get_xdata(), [1, 2, 3])
    assert_allclose(line.get_ydata(), [0.3, 0.6, 0.6])


def test_baselines_show_each_arm_with_its_mean_and_interval() -> None:
    study = [IMPLICIT, EXPLICIT, GREEDY]
    figure = drawing.baselines(study, "disaster")
    panel = figure.axes[0]
    names = [label.get_text() for label in panel.get_yticklabels()]
    assert names == ["implicit", "explicit", "scripted: greedy assignment"]
    intervals, means = panel.get_lines()[::2], panel.get_lines()[1::2]
    assert_allclose([line.get_xdata()[0] for line in means], [0.75, 0.45, 1.0])
    # 3.182 * sd / 2 with sd = 0.1291 in both
    half = 3.182446 * 0.1290994 / 2
    assert_allclose(intervals[0].get_xdata(), [0.75 - half, min(0.75 + half, 1)], atol=1e-5)
    assert_allclose(intervals[2].get_xdata(), [1, 1])
    caption = figure.get_supxlabel()
    assert "12/12 runs" in caption
    assert "no evidence about language" in " ".join(caption.split())


def test_the_figure_of_deviation_gives_each_arms_own_verdict() -> None:
    tent = bent(lambda d: 1 - 0.25 * np.abs(d - 2))
    rise = bent(lambda d: 0.2 * d, consensus="explicit")
    lone = bent(lambda d: d, agents="1")
    figure = drawing.deviation([tent, rise, lone, bent(lambda d: d, policy="random")], "disaster")
    titles = [panel.get_title(loc="left") for panel in figure.axes]
    assert titles[0].startswith("implicit, moderate\ninverted U (p <.0001")
    assert titles[1].startswith("explicit, moderate\nno inverted U (p <.0001")
    assert all(len(panel.collections) == 1 for panel in figure.axes)
    assert "24/24 runs" in " ".join(figure.get_supxlabel().split())  # the asked teams alone


def test_the_figure_of_deviation_has_a_panel_an_arm_and_volatility_of_one_diversity() -> None:
    study = [
        bent(lambda d: d, worlds=2, consensus=f"m{n}", volatility=v, diversity=d)
        for n in range(drawing.MOST_ROWS + 1)
        for v in ("low", "high")
        for d in ("low", "medium")
    ]
    figure = drawing.deviation(study, "disaster")
    assert len(figure.axes) == 2 * drawing.MOST_ROWS
    caption = " ".join(figure.get_supxlabel().split())
    assert f"not drawn: m{drawing.MOST_ROWS}" in caption
    assert caption.startswith("diversity medium; columns: volatility")
    assert f"{2 * 2 * drawing.MOST_ROWS}/{2 * 2 * drawing.MOST_ROWS} runs" in caption


def test_a_mean_of_times_is_hollow_where_much_never_ended() -> None:
    told = {"response_delay": [1.0] * 4, "delays": [10.0] * 4, "delays_dropped": [0.0] * 4}
    study = [
        played([0.5] * 4, measured={**told, "delays_censored": [0.5] * 4}),
        played([0.5] * 4, measured={**told, "delays_censored": [1.5] * 4}, consensus="explicit"),
    ]
    figure = drawing.baselines(study, "disaster")
    panel = figure.axes[display("disaster").metrics.index("response_delay")]
    faces = [line.get_markerfacecolor() for line in panel.get_lines()[1::2]]
    assert (faces[0] == "white", faces[1] == "white") == (False, True)


def test_the_band_is_over_worlds_however_often_each_was_run() -> None:
    """Two worlds at 0.4 and 0.6, each run six times: t(1) makes the band all of 0 to 1."""
    study = [
        played([0.5] * 4, runs="2", performance=[[0.4], [0.4], [0.6], [0.6]], diversity=d)
        for d in ("low", "medium", "high")
    ]
    figure = drawing.over_time([*study, GREEDY], "disaster")
    (band,) = figure.axes[0].collections  # the policy has no rounds here
    heights = band.get_paths()[0].vertices[:, 1]
    assert_allclose([heights.min(), heights.max()], [0, 1])
    caption = " ".join(figure.get_supxlabel().split())
    assert "t interval over worlds" in caption
    assert "12/12 runs; backend: simulated;" in caption  # a policy without rounds isn't drawn


def test_runs_that_ended_early_stay_in_the_mean() -> None:
    """Of two runs of a rumour one is over after a round, at its worst."""
    lost = played([0.5], performance=[[0.1]], task="misinformation", rounds="4")
    going = played([0.5], performance=[[0.9, 0.9, 0.9]], task="misinformation", rounds="4")
    figure = drawing.over_time([lost, going], "misinformation")
    (line,) = figure.axes[0].get_lines()
    assert_allclose(line.get_ydata(), [0.5, 0.5, 0.5, 0.5])


@pytest.mark.parametrize(
    ("factor", "value", "told"),
    [
        ("agents", "20", "20 agents"),
        ("temperature", "t1", "t1"),
        ("rounds", "40", "40 rounds"),
        ("backend", "api", "backend api"),
    ],
)
def test_conditions_that_differ_in_more_than_the_design_arent_pooled(
    factor: str, value: str, told: str
) -> None:
    other = played([0.1] * 4, **{factor: value})
    found = groups([IMPLICIT, other])
    assert found == [[IMPLICIT], [other]]
    usual = {"agents": "5 agents", "temperature": "t0.7", "rounds": "20 rounds"}
    first = usual.get(factor, "backend simulated")
    assert [heading(own, found) for own in found] == [
        f"World disaster, {first}",
        f"World disaster, {told}",
    ]
    assert heading([IMPLICIT]) == "World disaster"
    if factor != "backend":
        assert heading([other]) == f"World disaster, {told}"
    titles = [sheet.title for sheet in publish.tabled([IMPLICIT, other])]
    assert f"World disaster, {first}: every arm" in titles
    assert f"World disaster, {told}: every arm" in titles


def test_a_lone_agent_and_the_policies_of_its_world_stand_beside_a_team() -> None:
    large, lone = played([0.2] * 4, agents="20"), played([0.3] * 4, agents="1", turns="0")
    many = played([0.8] * 4, agents="20", policy="random", backend="scripted", temperature="t0")
    few = played([0.8] * 4, policy="random", backend="scripted", temperature="t0")
    assert groups([lone, IMPLICIT, large, many, few]) == [
        [IMPLICIT, lone, few],
        [large, lone, many],
    ]
    assert groups([lone]) == [[lone]]
    assert heading([lone]) == "World disaster, 1 agent"
    assert heading([lone, IMPLICIT]) == "World disaster"


def test_numbers_of_agents_are_compared_at_what_each_arm_met_at_all_of_them() -> None:
    study = [
        *(IMPLICIT, EXPLICIT, played([0.1, 0.1], diversity="low")),
        *(played([0.5, 0.4], agents="20"), played([0.2] * 4, agents="1", turns="0")),
        *(GREEDY, played([0.7] * 4, agents="20", policy="greedy_assignment", model="none")),
    ]
    sheet = publish.tabled(study)[-1]
    assert sheet.title == "World disaster: coverage by number of agents"
    assert cells(sheet, "5")["implicit"] == "0.850"  # the two worlds that 20 agents met, at medium
    assert cells(sheet, "20")["implicit"] == "0.450"
    assert (cells(sheet, "5")["explicit"], cells(sheet, "20")["explicit"]) == ("0.450", "-")
    assert cells(sheet, "20")["scripted: greedy assignment"] == "0.700"
    titles = [s.title for s in publish.tabled([IMPLICIT, GREEDY])]
    assert not [title for title in titles if "by number of agents" in title]


def test_a_sum_over_agents_is_not_compared_with_a_lone_agents() -> None:
    team = played([0.5] * 2, task="public_goods", measured={"total_welfare": [100.0, 50.0]})
    lone = played([0.5] * 2, task="public_goods", agents="1", turns="0")
    (sheet,) = sheets.differences([team, lone], "public_goods")
    compared = {row[0] for row in sheet.body if row[1] == "one model, one unit"}
    assert "total_welfare" not in compared
    assert {"provision_rate", "welfare_per_agent"} <= compared


def test_what_a_mean_leaves_out_stands_beside_it() -> None:
    waited = {"response_delay": [2.0, 2.0], "delays": [5.0, 6.0]}
    waited |= {"delays_censored": [3.0, 4.0], "delays_dropped": [2.0, 1.0]}
    rare = {"delays": [5.0, 6.0], "delays_censored": [0.01] * 2, "delays_dropped": [0.0] * 2}
    study = [
        played([0.5] * 2, measured=waited),
        played([0.5] * 2, consensus="explicit", measured=rare),
        played([0.5] * 2, consensus="plan", measured={**rare, "delays_censored": [0.0] * 2}),
    ]
    sheet = sheets.overall(study, "disaster")
    found = {name: cells(sheet, name)["response_delay"] for name in lines(sheet)}
    assert found == {
        "implicit": "2.000 ± 0.000 (5.0 of 5.5 open)",
        "explicit": "0.000 ± 0.000 (<0.1 of 5.5 open)",
        "plan": "0.000 ± 0.000",
    }
    assert any("'open', mean number a run" in note for note in sheet.notes)
    slow = [played([0.5] * 2, measured=waited, volatility=v) for v in ("low", "high")]
    level = next(s for s in sheets.levels(slow, "disaster") if ": response_delay " in s.title)
    assert cells(level, "volatility", "low")["implicit"] == "2.000 (5.0 of 5.5 open)"


def test_cohorts_that_were_never_contained_stand_beside_the_time_of_the_others() -> None:
    lost = {"containment_time": [1.0, 3.0], "cohorts": [6.0, 4.0], "cohorts_censored": [4.0, 3.0]}
    one = played([0.5] * 2, task="misinformation", measured=lost)
    row = cells(sheets.overall([one], "misinformation"), "implicit")
    assert row["containment_time"].startswith("2.000 ±")
    assert row["containment_time"].endswith("(3.5 of 5.0 open)")


def test_every_sheet_of_a_study_without_policies_names_the_command_that_adds_them() -> None:
    parts = [[{0: 1.0}] * 4, [{0: 1 - s, 1: s} for s in (0.1, 0.2, 0.4, 0.8)]] * 2
    told = {"messages": [9.0] * 4, "references": [0.5] * 4, "changes": [0.5] * 4}
    told |= {"changes_after_reference": [0.5] * 4, "changes_otherwise": [0.5] * 4}
    rows = {"performance": [BACK_IN_TWO] * 4, "events": {4: "spawn"}, "weights": parts}
    study = [
        played([0.5] * 4, runs="2", **rows, measured=told, agents="3", model=m, volatility=v)
        for m in "ab"
        for v in ("low", "high")
    ]
    other = {"model": "a", "volatility": "low", "consensus": "explicit"}
    study.append(played([0.5] * 4, runs="2", **rows, agents="3", **other))
    told_of = publish.tabled(study)
    assert {s.title.split(": ")[1].split(" by ")[-1] for s in told_of} == {
        *("every arm", "differences", "level", "model", "is there an inverted U?"),
        *("recovery after shocks", "dialogue", "how runs part"),
    }
    line = "python run.py -m +experiment=policies_disaster study=s task.agents=3"
    for sheet in told_of:
        assert any(note.endswith(line) for note in sheet.notes), sheet.title
        assert not any("mechanical" in n and line not in n for n in sheet.notes), sheet.title
    policy = played([0.5] * 4, runs="2", **rows, agents="3", policy="random", backend="scripted")
    for sheet in publish.tabled([*study, policy]):
        if not sheet.title.endswith("by model"):  # whose policies stand at met settings alone
            assert not any(line in note for note in sheet.notes), sheet.title


def test_a_world_off_its_usual_numbers_has_its_policies_run_with_the_same() -> None:
    off = played([0.5] * 2, settings="reduction_most=3", world="reduction_most=3", rounds="40")
    line = "study=s rounds=40 task.world.reduction_most=3"
    assert any(note.endswith(line) for note in sheets.overall([off], "disaster").notes)


def test_cut_answers_and_silent_turns_are_shown_where_there_are_any() -> None:
    """Runs of an older program don't count them."""
    fine = sheets.overall([played([0.5] * 5)], "disaster")
    assert not {"cut answers a run", "silent turns a run"} & set(fine.head)
    lossy = played([0.5] * 5, measured={"cut": [0.0, 5.0, 0.0, 0.0, 0.0], "silent": [0.0] * 5})
    sheet = sheets.overall([lossy, EXPLICIT], "disaster")
    assert cells(sheet, "implicit")["cut answers a run"] == "1.00"
    assert cells(sheet, "explicit")["cut answers a run"] == "-"
    assert "silent turns a run" not in sheet.head
    assert sheets.warnings(lossy) == ["cut"]
    mute = played([0.5] * 5, measured={"silent": [1.0] * 5})
    assert sheets.warnings(mute) == ["silent"]


@pytest.mark.parametrize("lost", ["abstentions", "cut", "silent"])
def test_what_agents_failed_to_do_is_logged_as_a_warning(lost: str) -> None:
    runs = [transcript(n, [{0: 1.0}], **{lost: float(n == 3)}) for n in range(10)]
    assert summarise_world.estimates(runs)["warnings"][0] == lost
    fine = summarise_world.estimates([transcript(n, [{0: 1.0}]) for n in range(10)])
    assert not {"abstentions", "cut", "silent"} & set(fine["warnings"])


def test_the_command_for_a_table_by_number_of_agents_names_all_of_them() -> None:
    sheet = publish.tabled([IMPLICIT, played([0.5] * 4, agents="20")])[-1]
    assert any(note.endswith("study=s task.agents=5,20") for note in sheet.notes)
