"""Tables 1 to 6 of *The Hidden Strength of Disagreement*: means beside the printed values."""

import dataclasses
from pathlib import Path

import pytest
from known_conditions import line
from known_worlds import EXPLICIT, IMPLICIT, played

from plenum.reports.rows import Row
from plenum.reports.settings import Settings
from plenum.reports.study import EstimatedStudy
from plenum.show.table import Table
from plenum.tracking.conditions import TrackedCondition
from plenum_papers.items.source import NumberedTable, TableSource
from plenum_papers.items.worlds import DRAWINGS, TABLES

CHOSEN = Settings("disaster", "sqlite:///unused.db", Path("unused"), draws=200)
RELEASED = "reach=2 calm_coverage=1 crowd_penalty=5 delay_by_distance=True"


def study_of(*conditions: TrackedCondition) -> EstimatedStudy:
    return EstimatedStudy(CHOSEN, tuple(Row(condition, None) for condition in conditions))


def made(number: str, *conditions: TrackedCondition) -> NumberedTable:
    source = TableSource(CHOSEN, ("disaster",))
    source.__dict__["studies"] = [study_of(*conditions)]
    found = TABLES[number].make(source)
    assert found is not None
    return found


def lines(sheet: Table) -> dict[tuple[str, str], dict[str, str]]:
    rows = [line(sheet, n) for n in range(len(sheet.body))]
    return {(row["row"], row["source"]): row for row in rows}


def test_means_stand_above_the_printed_values_of_their_row() -> None:
    sheets = made("1", IMPLICIT, EXPLICIT).tables
    assert [sheet.title.split(" (")[0] for sheet in sheets] == [
        *("002, Table 1: CR", "002, Table 1: MP", "002, Table 1: RD"),
    ]
    assert sheets[0].notes[-2].endswith("and 10 in baselines, here 5")
    rows = lines(sheets[0])
    assert rows["Overall", "this run"]["implicit"].startswith("0.750 ± 0.205")
    assert rows["Volatility Moderate", "this run"]["explicit"].startswith("0.450 ±")
    assert rows["Volatility High", "this run"]["explicit"] == "-"
    published = rows["Overall", "published, defined differently"]
    assert (published["explicit"], published["implicit"]) == ("0.679", "0.952")
    assert any("within 2 cells" in note for note in sheets[0].notes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "otherwise"),
    [
        (RELEASED, []),
        ("rules=released", []),
        ("rules=released misread=0.1", []),
        ("rules=released reach=1", ["CR", "MP"]),
        ("reach=2", ["CR", "MP", "RD"]),
    ],
)
def test_the_rules_of_the_released_code_make_the_definition_the_papers(
    world: str, otherwise: list[str]
) -> None:
    released = [
        dataclasses.replace(one, factors=one.factors | {"world": world, "settings": world})
        for one in (IMPLICIT, EXPLICIT)
    ]
    frame = made("1", *released).frame
    assert frame.loc[frame["differs"] != "", "metric"].unique().tolist() == otherwise
    for metric, sheet in zip(("CR", "MP", "RD"), made("1", *released).tables, strict=True):
        label = "published" + ", defined differently" * (metric in otherwise)
        assert {source for _, source in lines(sheet)} == {"this run", label}


@pytest.mark.slow
def test_who_has_no_role_is_of_no_level_of_diversity() -> None:
    random = played([0.1, 0.2, 0.3], policy="random", model="none", diversity="none")
    alone = played([0.4, 0.6, 0.5], turns="0")
    lone = played([0.3, 0.3, 0.3], turns="0", agents="1")
    rows = lines(made("2", IMPLICIT, random, alone, lone).tables[0])
    assert rows["Overall", "this run"]["scripted: random"].startswith("0.200 ±")
    assert rows["Diversity Medium", "this run"]["scripted: random"] == "-"
    assert rows["Diversity Medium", "this run"]["one model, one unit"] == "-"
    assert rows["Diversity Medium", "this run"]["implicit, no interaction"].startswith("0.500 ±")
    assert rows["Overall", "published, defined differently"]["scripted: random"] == "0.754"


@pytest.mark.slow
def test_a_lone_agent_with_a_pinned_role_is_of_its_level_of_diversity() -> None:
    pinned = played([0.4, 0.2, 0.3], turns="0", agents="1", settings="pinned=1:medical")
    plain = played([0.6, 0.6, 0.6], turns="0", agents="1")
    rows = lines(made("2", IMPLICIT, pinned, plain).tables[0])
    assert rows["Diversity Medium", "this run"]["one model, one unit"].startswith("0.300 ±")
    assert rows["Diversity High", "this run"]["one model, one unit"] == "-"
    assert rows["Overall", "this run"]["one model, one unit"].startswith("0.600 ±")


@pytest.mark.slow
def test_what_the_paper_defines_as_we_do_is_simply_published() -> None:
    spread = played(
        [0.0] * 4, task="misinformation", measured={"final_spread": [0.2, 0.4, 0.3, 0.3]}
    )
    frame = made("4", spread).frame
    overall = frame[(frame["row"] == "Overall") & (frame["arm"] == "implicit")]
    assert overall.set_index("metric")["value"]["MS"] == pytest.approx(0.3)
    assert overall.set_index("metric")["published"].to_dict() == {
        **{"MS": "0.286", "CT": "1.411", "CD": "2.818"},
    }
    assert set(frame["differs"]) == {""}
    sheets = made("5", played([0.0] * 3, task="public_goods")).tables
    sources = [{source for _, source in lines(sheet)} for sheet in sheets]
    differing = {"this run", "published, defined differently"}
    assert sources == [{"this run", "published"}, differing, differing]


def test_models_have_their_lines_and_others_none() -> None:
    mine = [played([c] * 3, model=m) for m, c in (("gpt-4o", 0.9), ("claude-sonnet-4.6", 0.5))]
    rows = lines(made("6", *mine).tables[0])
    assert rows["GPT-4o", "this run"]["implicit"].startswith("0.900")
    assert rows["Claude-3-Sonnet", "this run"]["implicit"] == "-"  # another model
    assert rows["Average", "this run"]["implicit"].startswith("0.700")


def test_a_study_without_such_arms_has_no_table() -> None:
    source = TableSource(CHOSEN, ("disaster",))
    source.__dict__["studies"] = [study_of(played([0.5] * 3, consensus="plan"))]
    assert TABLES["1"].make(source) is None
    source.__dict__["studies"] = [study_of(IMPLICIT)]
    assert TABLES["4"].make(source) is None


def test_every_figure_of_the_paper_is_drawn_for_each_group() -> None:
    levels = [IMPLICIT, EXPLICIT, played([0.4] * 4, agents="10")]
    for drawing in DRAWINGS.values():
        figures = drawing.draw(study_of(*levels))
        assert isinstance(figures, list)
        assert len(figures) == 2
