"""The papers' tables by number: own numbers, published ones beside them, and what they refuse."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from known_conditions import SEATS, estimated, line, perturbed, tracked
from known_conditions import build as rows_of
from omegaconf import DictConfig, OmegaConf

from plenum.base.errors import UserError
from plenum.design.kinds import KINDS
from plenum.dynamics.nulls import shuffle_test
from plenum.reports.rows import Row
from plenum.reports.settings import Settings
from plenum.reports.study import EstimatedStudy
from plenum.show.table import Table
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.usage import ConditionUsage
from plenum_papers.items import publish
from plenum_papers.items.catalogue import CATALOGUE
from plenum_papers.items.departures import departures
from plenum_papers.items.source import NumberedTable, TableSource

CHOSEN = Settings("s1", "sqlite:///unused.db", Path("unused"), draws=200)


def of(
    conditions: Sequence[TrackedCondition] = (),
    *,
    rows: Sequence[Row] = (),
    accounts: Sequence[ConditionUsage] = (),
) -> TableSource:
    """A source whose studies are read already."""
    source = TableSource(CHOSEN, ("s1",))
    source.__dict__["studies"] = [EstimatedStudy(CHOSEN, tuple(rows or rows_of(list(conditions))))]
    source.__dict__["accounts"] = list(accounts)
    return source


def made(name: str, source: TableSource) -> NumberedTable:
    found = CATALOGUE[name].make(source)
    assert found is not None
    return found


def account(
    key: int, completed: int, *, failed: int = 0, pending: int = 0, **factors: str
) -> ConditionUsage:
    own = tracked(key, replicates=completed, failed=failed, pending=pending, **factors)
    waiting = {"budget": pending} if pending else {}
    return ConditionUsage(own, waiting, None, None, {"ensemble.parquet": "ab" * 32})


def lines(sheet: Table) -> list[dict[str, str]]:
    return [line(sheet, n) for n in range(len(sheet.body))]


def switching(*counts: int, rounds: int = 20) -> np.ndarray:
    """One replicate in which each seat switches that many times, in turns of A and B."""
    preferences = np.zeros((1, rounds, len(counts), 3))
    for seat, switches in enumerate(counts):
        for t in range(rounds):
            preferences[0, t, seat, min(t, switches) % 2] = 1.0
    return preferences


# --- S1 to S3 ----------------------------------------------------------------------------------


def test_s1_has_target_realised_and_deficit_by_group_beside_the_papers() -> None:
    conditions = [
        account(1, 17, failed=2, pending=1, scenario="HL-01", roles="on"),
        account(2, 20, scenario="IM-01", roles="ablate_chair"),
        account(3, 16, failed=4, scenario="IM-01", roles="on", model="grok-3"),
    ]
    found = made("s1", of(accounts=conditions))
    first, *rest = lines(found.tables[0])
    assert [first["group"], *(row["group"] for row in rest)] == ["headline", "ablation", "provider"]
    counts = ("target", "realised", "deficit", "failed", "pending", "published")
    assert [first[n] for n in counts] == ["20", "17", "3", "2", "1", "19 / 20"]
    assert rest[1]["published"] == "16 / 20"
    assert found.frame["published_realised"].tolist() == [19, 20, 16]
    assert "failed by: parse 6; pending by: budget 1" in found.tables[0].notes
    assert (found.frame["deficit"] == found.frame["failed"] + found.frame["pending"]).all()


def test_s1_sums_the_scenarios_of_the_core() -> None:
    conditions = [
        account(n, 20 - n, failed=n, scenario=name, roles="off")
        for n, name in enumerate(("HL-01", "IM-01", "CL-01"))
    ]
    total = lines(made("s1", of(accounts=conditions)).tables[0])[-1]
    assert (total["scenario"], total["target"], total["realised"]) == ("all 3", "60", "57")
    assert total["published"] == "-"  # the papers' total is of twelve


def test_s2_names_the_results_that_a_condition_goes_into() -> None:
    own = account(1, 20, scenario="HL-01", roles="on")
    own = replace(own, tracked=replace(own.tracked, study="hl01_2x2"))
    found = made("s2", of(accounts=[own]))
    (shown,) = lines(found.tables[0])
    assert shown["shown in"] == "Fig. 1A, Fig. 1B"
    assert shown["MLflow run"] == "r1"
    assert found.frame["items"][0].split()[:2] == ["001/fig-1a", "001/fig-1b"]
    assert found.frame["sha256_ensemble"][0] == "ab" * 32


def test_s3_says_what_the_papers_files_tell_of_a_reason() -> None:
    found = made("s3", of(accounts=[account(1, 10, failed=2)]))
    shown = {line["source"]: line for line in lines(found.tables[0])}
    assert shown["parse"]["published visibility"] == "unknown"
    assert shown["parse"]["replicates failed"] == "2"
    assert shown["timeout"]["replicates failed"] == "0"  # what the papers name stands there anyway
    assert "budget" not in shown
    told = found.frame.set_index("source")["published_visibility"]
    assert (told["timeout"], told["interrupted"], told["budget"]) == (
        "partly known",
        "unknown",
        "-",
    )


# --- S4 ----------------------------------------------------------------------------------------


def test_s4_has_the_scenarios_in_the_papers_order_without_any_run() -> None:
    found = made("s4", TableSource(replace(CHOSEN, study=""), ()))
    shown = lines(found.tables[0])
    assert [row["scenario"] for row in shown[:3]] == ["IM-01", "IM-02", "HL-01"]
    (allocation,) = (row for row in shown if row["type"] == "allocation")
    assert allocation["options"].split(" / ")[:2] == ["Sea walls", "Relocation"]
    assert found.frame["published_type"].tolist().count("choice_ABC") == 11


# --- S5 ----------------------------------------------------------------------------------------


def im01(key: int, **factors: Any) -> TrackedCondition:
    return tracked(key, **{"scenario": "IM-01", "roles": "on", **factors})


def test_s5_has_the_papers_groups_and_its_values_beside() -> None:
    conditions = [
        im01(1),
        im01(2, temperature="t0.7"),
        im01(3, roles="ablate_chair"),
        perturbed(4, "AAABBB", ("canonical", *("register",) * 5), scenario="IM-01", roles="on",
                  perturbation="registers6"),
        im01(5, memory="k3"),
    ]  # fmt: skip
    found = made("s5", of(conditions))
    titles = [sheet.title.partition(": ")[2].partition(" (")[0] for sheet in found.tables]
    assert titles == [
        *("temperatures, roles on", "mandates taken out", "wordings, registers6"),
        "other conditions",
    ]
    hot, cold = lines(found.tables[0])
    assert (hot["temperature"], cold["temperature"]) == ("t0.7", "t0")
    assert (hot["published\nλ̂"], hot["published\nflip rate"]) == ("0.0822", "0.400")
    assert (hot["published\nTTM,\nties first"], hot["published\nn"]) == ("2", "20")
    assert [row["published\nλ̂"] for row in lines(found.tables[1])] == ["0.0838", "0.0304"]
    assert lines(found.tables[2])[0]["published\nλ̂_pert"] == "0.0300"
    assert lines(found.tables[3])[0]["published\nλ̂"] == "-"


def test_s5_keeps_conditions_without_replicates() -> None:
    found = made("s5", of([im01(1), im01(2, replicates=0, failed=5, temperature="t0.7")]))
    shown = {row["temperature"]: row for row in lines(found.tables[0])}
    assert (shown["t0.7"]["λ̂"], shown["t0.7"]["n"]) == ("-", "0/5")


def test_a_condition_of_two_studies_stands_once_with_the_most_replicates() -> None:
    few, many = rows_of([im01(1, replicates=6), replace(im01(1), study="s2")])
    source = of()
    source.__dict__["studies"] = [EstimatedStudy(CHOSEN, (few,)), EstimatedStudy(CHOSEN, (many,))]
    assert [row.n for row in source.rows] == [12]


# --- S6 and S8 ---------------------------------------------------------------------------------


def test_s6_has_models_down_roles_and_temperature_across_and_the_paper_below_each() -> None:
    conditions = [
        im01(n, model=model, roles=roles, temperature=t)
        for n, (model, roles, t) in enumerate(
            (m, r, t)
            for m in ("grok-3", "gpt-4.1-mini")
            for r in ("off", "on")
            for t in ("t0.1", "t0")
        )
    ]
    rows = [estimated(row, value=0.01 * n, se=0.002) for n, row in enumerate(rows_of(conditions))]
    (sheet,) = made("s6", of(rows=rows)).tables
    across = [f"roles={r}\ntemperature={t}" for r in ("on", "off") for t in ("t0", "t0.1")]
    assert sheet.head == ("model", "source", *across)
    ours, theirs, _, baseline = sheet.body
    assert ours[:2] == ("grok-3", "this run")
    assert [cell.split()[0] for cell in ours[2:]] == ["0.030", "0.020", "0.010", "0.000"]
    assert all("±0.002" in cell and "(12)" in cell for cell in ours[2:])
    assert theirs[1:] == ("published", "0.0982 (16)", "0.1164 (16)", "0.0348 (19)", "0.0373 (20)")
    assert baseline[2] == "0.0838 (20)"  # gpt-4.1-mini in every seat is the papers' uniform


def test_s8_has_scenarios_down_and_published_values_where_there_are_any() -> None:
    conditions = [
        tracked(n, scenario=name, roles=roles)
        for n, (name, roles) in enumerate((s, r) for s in ("AI-01", "XX-01") for r in ("on", "off"))
    ]
    (sheet,) = made("s8", of(conditions)).tables
    assert [(row[0], row[1]) for row in sheet.body] == [
        *(("AI-01", "this run"), ("AI-01", "published"), ("XX-01", "this run")),
    ]
    assert sheet.body[1][2:] == ("0.0032", "0.0144")
    assert any("not compared with it by a test (001, Table S8)" in note for note in sheet.notes)


# --- S7 ----------------------------------------------------------------------------------------


def test_s7_pools_replicates_over_the_papers_temperatures() -> None:
    first = np.concatenate([switching(3, 0, 0, 1, 0), switching(1, 0, 0, 0, 0)])
    second = switching(2, 1, 0, 0, 0)
    conditions = [
        im01(1, preferences=first, replicates=2),
        im01(2, preferences=second, replicates=1, temperature="t0.7"),
        im01(3, preferences=switching(9, 9, 9, 9, 9), replicates=1, temperature="t1e-4"),
        im01(4, preferences=switching(9, 9, 9, 9, 9), replicates=1, roles="off"),
    ]
    found = made("s7", of(conditions))
    chair, welfare, *_ = shown = lines(found.tables[0])
    assert [row["seat"] for row in shown] == list(SEATS)
    assert (chair["mean"], chair["SD"], chair["n"]) == ("2.00", "1.00", "3")
    assert chair["95 % CI"] == "[-0.48, 4.48]"  # 2 ± 4.303 / √3
    assert (welfare["mean"], welfare["published\nmean,\nties first"]) == ("0.33", "0.71")
    assert (
        chair["published\nmean,\nties first"],
        chair["published\nSD,\nties first"],
        chair["published\nn"],
    ) == (*("2.76", "1.33", "120"),)
    assert found.tables[0].notes[0].startswith("roles on, pooled over t0, t0.7;")


# --- published and directions ------------------------------------------------------------------


def test_directions_have_the_effect_and_the_papers_beside() -> None:
    conditions = [
        tracked(n, roles=r) for n, r in enumerate(("on", "ablate_chair", "ablate_equity"))
    ]
    source = of(conditions)
    (sheet,) = made("directions", source).tables
    shown, equity = lines(sheet)
    (effect, *_) = source.studies[0].contrasts
    assert shown["effect"] == "roles ablate_chair - on"
    assert equity["published:\nλ̂ is"] == "near zero or higher"
    assert shown["Δλ̂"] == f"{effect.estimate.value:.4f}"
    assert (shown["published:\nλ̂ is"], shown["95 % CI\nexcludes 0"]) == ("lower", "yes")


# --- what all of them say, and what is refused -------------------------------------------------


def test_simulated_numbers_are_called_so_beside_published_ones() -> None:
    others: tuple[dict[str, str], ...] = (
        *({}, {"model": "grok-3"}, {"scenario": "HL-01"}, {"roles": "ablate_chair"}),
    )
    source = of([im01(n, **factors) for n, factors in enumerate(others)])
    for name in ("s5", "s6", "s7", "s8", "published", "directions"):
        for sheet in made(name, source).tables:
            assert sheet.notes[-1].startswith("backend: simulated; simulated agents, no evidence")
            assert any("not compared with it" in note for note in sheet.notes)


def test_a_study_that_has_nothing_for_a_table_gives_none() -> None:
    source = of([tracked(1, roles="off")])
    assert {CATALOGUE[name].make(source) for name in ("s6", "s7", "s8", "directions")} == {None}


def test_nothing_is_written_where_one_of_several_tables_has_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = of([tracked(1, roles="off")])
    monkeypatch.setattr(publish, "TableSource", lambda *_: source)
    monkeypatch.setattr(publish, "find_study_kind", lambda *_: KINDS["committee"])
    with pytest.raises(UserError, match="table: s6; study s1 has nothing for it: it needs two mod"):
        publish.publish_items(config(tmp_path, study="s1", table=["s5", "s6"]))
    assert list(tmp_path.iterdir()) == []


def config(folder: Path, **changes: object) -> DictConfig:
    """The config of scripts/tables.py."""
    own = {
        **{"study": "???", "table": None, "window": [3, 20], "interval": "jackknife"},
        **{"draws": 200, "seed": 0, "baseline": None, "out": str(folder)},
        "tracking": {"name": "local", "uri": f"sqlite:///{folder}/none.db"},
    }
    return OmegaConf.create({**own, **changes})


def test_tables_are_named_in_many_ways(tmp_path: Path) -> None:
    given: list[Any] = ["s5", "Table S5", "s1, S8,s1", ["table-s2", "published"]]
    named = [["s5"], ["s5"], ["s1", "s8"], ["s2", "published"]]
    assert [publish.tabulate_items(config(tmp_path, table=table)) for table in given] == named


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"table": "s9", "study": "x"}, "table: s9; one of all, s1, s2, "),
        ({"table": "published"}, "study: missing; table=published needs one"),
        ({"table": "s8"}, "none has been run yet: python run.py -m .experiment=landscape_temp"),
        ({"table": "s5", "study": "x", "interval": "y"}, "interval: 'y' is not one of jackknife"),
    ],
)
def test_what_cannot_be_made_is_told_in_a_line(
    changes: dict[str, object], told: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=told):
        publish.publish_items(config(tmp_path, **changes))


def test_scenarios_are_written_without_a_store(tmp_path: Path) -> None:
    publish.publish_items(config(tmp_path, table="s4"))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["table_s4.csv", "table_s4.md", "table_s4.tex"]


# --- what the papers define otherwise, and where the design departs ----------------------------


def test_ties_are_counted_as_plenum_and_as_the_papers_do() -> None:
    seats = np.zeros((2, 20, 5, 3))
    seats[..., 1] = 1.0  # all for B
    seats[:, 1:3, 0] = (0.5, 0.5, 0.0)  # the Chair is between A and B for two rounds
    seats[:, 0, 1:4] = (0.5, 0.5, 0.0)  # three others at first, so that no three prefer B alone
    source = of([im01(1, preferences=seats, replicates=2), im01(2, temperature="t0.7")])
    cold = lines(made("s5", source).tables[0])[1]
    assert (cold["temperature"], cold["TTM"].split()[0]) == ("t0", "2")
    assert cold["TTM,\nties first"] == "1"  # the first of A and B is A: three for it
    chair = lines(made("s7", of([im01(1, preferences=seats, replicates=2)])).tables[0])[0]
    assert (chair["mean"], chair["mean,\nties first"]) == ("0.00", "2.00")


def test_a_line_says_in_what_it_departs_from_the_papers() -> None:
    own = im01(1, roles="off")
    wording, rule = ("texts", "round_lines"), ("decision", "initial_state")
    assert departures(own) == (*wording, *rule)
    released = "edition=published prompts=published"
    for settings, departing in (
        ("edition=published", (*wording, *rule)),
        ("initial_state=even", (*wording, "decision")),
        (released, ("round_lines", "decision")),
        (f"{released} round_lines=True", ("decision",)),
        (f"{released} round_lines=True decision=mean", ("decision",)),
        (f"{released} round_lines=True decision=clerk", ()),
    ):
        assert departures(replace(own, factors=own.factors | {"settings": settings})) == departing
    drawn = replace(own, seats=SEATS[::-1])
    assert departures(drawn) == (*wording, "order", "labels", *rule)
    assert departures(replace(drawn, factors=drawn.factors | {"roles": "on", "rounds": "8"})) == (
        *(*wording, "order", "rounds", *rule),
    )
    five = tracked(1, scenario="CL-04", preferences=np.full((2, 20, 5, 5), 0.2), replicates=2)
    assert departures(five) == (*wording, "options", *rule)
    assert departures(replace(five, published="github.com/a/b@0000000")) == ()
    sheet = made("s8", of([tracked(1, scenario="CL-04"), tracked(2, scenario="AI-01")])).tables[0]
    assert any(note.startswith("here departs from the papers: texts (all)") for note in sheet.notes)


def test_published_fragility_stands_beside_the_share_off_the_plurality() -> None:
    own = perturbed(1, "BAAABB", ("canonical", *("rephrase",) * 5), scenario="HL-01", roles="on",
                    model="qwen2.5-7b")  # fmt: skip
    found = made("published", of([own]))
    shown = lines(found.tables[0])[0]
    assert shown["off the\nplurality"] == "0.500"
    assert shown["published\noff the plurality"] == "0.35"
    assert shown["published\nλ̂_pert"] == "0.0483"


def test_the_papers_null_is_computed_as_they_do() -> None:
    condition = im01(1)
    found = made("published", of([condition]))
    (sheet,) = [sheet for sheet in found.tables if "null" in sheet.title]
    null = shuffle_test(condition.ensemble, draws=2000, rounds="all")
    value = found.frame.loc[found.frame["what"] == "null", "p_shuffle_all_right"].item()
    assert value == null.p_right
    assert lines(sheet)[0]["published\np"] == "<0.001"


def test_published_gamma_stands_beside_next_answers() -> None:
    answers = np.zeros((8, 12, 5, 3))
    answers[..., 0] = 1.0
    answers[:2, 10, 0] = (0.0, 1.0, 0.0)  # two of the four first answers of base 0
    branches = replace(
        im01(1, preferences=answers, replicates=8, temperature="t0.7"),
        bases=(0, 0, 0, 0, 1, 1, 1, 1),
        after_round=10,
    )
    ours, theirs = lines(made("published", of([branches])).tables[-1])
    assert ours["Γ̂ of next answers"] == f"{0.5 * np.log(2):.4f}"
    assert (theirs["Γ̂ of continuations"], theirs["Γ̂ of next answers"]) == ("-", "0.054 (SE 0.008)")
