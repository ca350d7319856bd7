"""Two conditions side by side, in a real headless Chromium."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import HOSTILE, Open, Seen, browser, opened, read_link
from explorer_studies import OPTIONS, SEATS, Written, drifting
from playwright.sync_api import expect

pytestmark = pytest.mark.long

__all__ = ["browser", "opened"]

TALK = "#compare-talk > *"
FAILED = {"reason": "parse", "at": {"call": "turn", "round": 2, "seat": "Rights"}, "detail": "no"}
OTHERS = ("Chair", "Welfare", "Security")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Five conditions.

    Numbers 1 and 2 differ in their memory alone, and so do 0 and 4; the replicates of 0 and 4
    agree. In 1 and 2, replicates numbered 0 part in states in round 3, and in words in round 5.
    """
    study = Written(tmp_path_factory.mktemp("compared"))
    agreed = drifting(1, 6, 3).repeat(4, axis=0)
    study.condition(4, 6, paths=agreed)
    paths = drifting(12, 8, 3)
    study.condition(12, 8, paths=paths, broken={7: FAILED}, roles="off", temperature="t7")
    turned = paths[:6].copy()
    turned[0, 2:] = paths[3, 2:]

    def say(replicate: int, round_: int, seat: str) -> str:
        verb = "turns from" if seat == "Welfare" and round_ >= 5 else "keeps to"
        return f"In round {round_} the {seat} member {verb} what was said before."

    study.condition(6, 8, paths=turned, say=say, roles="off", temperature="t7", memory="k3")
    five = {**OPTIONS, "B": "Later", "D": "Never"}
    study.condition(5, 4, scenario="HL-02", options=five, seats=OTHERS, roles="some")
    study.condition(4, 6, paths=agreed, memory="k3")
    return study


@pytest.fixture(scope="module")
def data(study: Written) -> dict[str, Any]:
    return study.data()


@pytest.fixture(scope="module")
def compared_page(study: Written) -> Path:
    return study.page()


def shown(seen: Seen, group: str) -> dict[str, list[str]]:
    """The rows of a group of the table: by name, what stands on both sides."""
    rows = seen.page.locator(f"#compare-table tbody:has(th:text-is('{group}')) tr").all()
    return {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows[1:]}


def chosen(seen: Seen) -> list[str]:
    """The numbers of both conditions, and of both replicates."""
    values = [seen.page.input_value(f"#compare-{name}") for name in "cdab"]
    return [str(int(value[:2])) for value in values[:2]] + values[2:]


def marked(seen: Seen) -> list[str]:
    return seen.page.locator("#compare-talk mark").all_inner_texts()


def downloaded(seen: Seen, within: str) -> list[list[str]]:
    with seen.page.expect_download() as waiting:
        seen.page.click(f"{within} button.csv")
    return list(csv.reader(Path(waiting.value.path()).read_text().splitlines()))


def test_it_opens_with_two_that_differ_least_and_of_which_one_flips(
    opened: Open, compared_page: Path
) -> None:
    with opened(compared_page, "#v=compare", TALK) as seen:
        assert chosen(seen)[:2] == ["1", "2"]  # 0 and 4 differ as little, but don't flip
        assert shown(seen, "Levels that differ") == {"memory": ["k15", "k3"]}
        alike = seen.page.text_content("#compare-alike") or ""
        assert "temperature=t7" in alike
        assert "memory" not in alike
        seen.page.click("#views [data-view=replicates]")
        seen.page.click("#conditions li >> nth=4")
        expect(seen.page.locator("#condition-title")).to_contain_text("memory=k3")
        seen.page.click("#views [data-view=compare]")
        assert chosen(seen)[:2] == ["1", "2"]  # what was compared stays
    with opened(compared_page, "#c=04c0ffee") as seen:
        seen.page.click("#views [data-view=compare]")
        seen.page.wait_for_selector(TALK)
        assert chosen(seen)[:2] == ["4", "0"]  # what was seen is on the left


def test_decisions_replicates_and_switches_are_those_of_the_data(
    opened: Open, compared_page: Path, data: dict[str, Any]
) -> None:
    entries = [data["index"]["conditions"][number] for number in (1, 2)]
    with opened(compared_page, "#v=compare", TALK) as seen:
        for label, name in OPTIONS.items():
            counts = [entry["decisions"].get(label, 0) for entry in entries]
            pairs = zip(counts, entries, strict=True)
            told = [f"{count} ({100 * count / entry['n']:.0f} %)" for count, entry in pairs]
            assert shown(seen, "Decisions")[f"{label} {name}"] == told
        assert sum(entries[0]["decisions"].values()) == 11
        ends = {"completed": ["11", "6"], "failed": ["1", "0"], "pending": ["0", "0"]}
        assert shown(seen, "Replicates") == ends
        switched = shown(seen, "Mean switches of top option, by seat")
        assert set(switched) == set(SEATS)
        switches = [dict(data[f"figures-{number}"]["switches"]) for number in (1, 2)]
        for seat, means in switched.items():
            assert [float(mean) for mean in means] == pytest.approx(
                [each[seat] for each in switches], abs=0.005
            )
        facts = [dict(data[f"figures-{number}"]["facts"]) for number in (1, 2)]
        flips = "chance that two replicates decide differently"
        assert shown(seen, "Estimates")[flips] == [each[flips] for each in facts]
        assert "attrition" in shown(seen, "Estimates")["warnings"][0]
        assert "attrition" not in shown(seen, "Estimates")["warnings"][1]
        rows = downloaded(seen, "#compare-csv")
        assert rows[0][2:] == [entry["name"] for entry in entries]
        csv_means = {name: values for group, name, *values in rows if group.startswith("Mean")}
        for seat, values in csv_means.items():
            assert [float(value) for value in values] == [each[seat] for each in switches]
        counted = {name: values for group, name, *values in rows if group == "Decisions"}
        assert [int(each) for each in counted["A Single payer"]] == [
            entry["decisions"].get("A", 0) for entry in entries
        ]


def test_the_divergence_of_both_is_drawn_listed_and_downloaded(
    opened: Open, compared_page: Path, data: dict[str, Any]
) -> None:
    levels = [data[f"figures-{number}"]["D"] for number in (1, 2)]
    with opened(compared_page, "#t=2&v=compare", TALK) as seen:
        page = seen.page
        for kind, level in zip(("level", "pair"), levels, strict=True):
            dots = page.locator(f"#compare-growth svg[role=img] .dot.{kind}").all()
            heights = [float(dot.get_attribute("cy") or "nan") for dot in dots]
            logs = np.log10([value for value in level if value > 0])
            assert len(heights) == len(logs) == len(level) - 2  # rounds 1 and 2 stand below
            drops = -np.diff(heights) / np.diff(logs)
            assert drops == pytest.approx([drops[0]] * len(drops), rel=1e-6)
        lefts = page.locator("#compare-growth .zero.level")
        strokes = [each.evaluate("e => getComputedStyle(e).stroke") for each in lefts.all()]
        assert len(set(strokes)) == 1  # the one of this round is no paler
        assert len(strokes) == 2
        styles = "e => getComputedStyle(e).strokeDasharray"
        dashes = [
            page.eval_on_selector(f"#compare-growth .curve.{k}", styles) for k in ("level", "pair")
        ]
        assert dashes[0] == "none" != dashes[1]
        page.click("#compare-growth summary")
        cells = page.locator("#compare-growth tbody td").all_inner_texts()
        listed = [float(cell) for cell in cells]
        assert listed[::2] == pytest.approx(levels[0], rel=0.01)
        assert listed[1::2] == pytest.approx(levels[1], rel=0.01)
        rows = downloaded(seen, "#compare-growth")
        assert [[float(value) for value in row[1:]] for row in rows[1:]] == [
            list(pair) for pair in zip(*levels, strict=True)
        ]


def test_texts_of_the_same_round_stand_beside_each_other_and_differing_words_are_marked(
    opened: Open, compared_page: Path
) -> None:
    with opened(compared_page, "#c=01c0ffee&d=02c0ffee&a=0&b=0&v=compare", TALK) as seen:
        page = seen.page
        assert page.input_value("#compare-round") == "3"  # where they part
        assert marked(seen) == []
        assert page.locator("#compare-talk .differs").count() > 0
        page.fill("#compare-round", "5")
        expect(page.locator("#compare-round-told")).to_have_text("5 of 8")
        assert marked(seen) == ["keeps to", "turns from"]
        assert page.locator("#compare-talk mark.first").count() == 2
        page.fill("#compare-round", "6")
        expect(page.locator("#compare-round-told")).to_have_text("6 of 8")
        assert "keeps to" in marked(seen)
        assert page.locator("#compare-talk mark.first").count() == 0
        assert page.locator("#compare-talk .ballots").count() == 0
        page.fill("#compare-round", "8")
        expect(page.locator("#compare-talk .ballots tbody tr")).to_have_count(len(SEATS) + 2)
        page.click("#compare-parting")
        expect(page.locator("#compare-round-told")).to_have_text("3 of 8")
        page.select_option("#compare-b", "3")
        expect(page.locator("#compare-heads .right b")).to_have_text("#3")
        assert chosen(seen) == ["1", "2", "0", "3"]


def test_what_cannot_be_compared_is_said_and_the_rest_is_shown(
    opened: Open, compared_page: Path
) -> None:
    with opened(compared_page, "#c=01c0ffee&d=03c0ffee&t=3&v=compare", TALK) as seen:
        page = seen.page
        limits = page.locator("#compare-limits li").all_inner_texts()
        assert [("HL-02" in each, "after 4" in each) for each in limits[:2]] == [
            (True, False),
            (False, True),
        ]
        assert ["Rights" in limits[2], "Security" in limits[3]] == [True, True]
        told = shown(seen, "Decisions")
        assert told["B Public option"][1] == "–" == told["B Later"][0]
        assert told["A Single payer"].count("–") == 0
        assert shown(seen, "Mean switches of top option, by seat")["Security"][0] == "–"
        assert page.locator("#compare-talk .turns").count() == 4
        assert page.locator("#compare-talk .turn.none").count() == 2
        assert page.locator("#compare-talk mark, #compare-talk .differs").count() == 0
        assert page.is_disabled("#compare-parting")
        shares = page.locator("#compare-talk .turns >> nth=0").locator(".state").all_inner_texts()
        assert ["D 0." in each for each in shares] == [False, True]
        assert page.locator("#compare-growth svg[role=img] .curve.pair").count() == 1
        page.fill("#compare-round", "7")
        expect(page.locator("#compare-talk .turn.none")).to_have_count(len(SEATS))


def test_a_link_brings_back_conditions_round_and_replicates(
    opened: Open, compared_page: Path
) -> None:
    with opened(compared_page, "#v=compare", TALK) as seen:
        seen.page.select_option("#compare-d", "04c0ffee")
        expect(seen.page.locator("#compare-table thead th >> nth=1")).to_contain_text("memory=k3")
        seen.page.select_option("#compare-a", "5")
        seen.page.select_option("#compare-b", "2")
        seen.page.fill("#compare-round", "4")
        seen.page.click("#compare-swap")
        expect(seen.page.locator("#compare-heads .left b")).to_have_text("#2")
        link = read_link(seen.page)
    assert link == "#c=04c0ffee&d=01c0ffee&a=2&b=5&t=4&v=compare"
    with opened(compared_page, link, TALK) as again:
        assert chosen(again) == ["4", "1", "2", "5"]
        assert again.page.input_value("#compare-round") == "4"
        assert read_link(again.page) == link
        again.page.evaluate("location.hash = '#c=01c0ffee&d=02c0ffee&a=3&b=4&t=8&v=compare'")
        expect(again.page.locator("#compare-heads .right b")).to_have_text("#4")
        assert chosen(again) == ["1", "2", "3", "4"]
    with opened(compared_page, "#c=<img>&d=__proto__&a=-1&b=1e9&t=99&v=compare", TALK) as odd:
        assert chosen(odd)[:2] == ["1", "2"]
        assert odd.page.input_value("#compare-round") == "8"


def test_two_are_compared_with_the_keyboard_alone(opened: Open, compared_page: Path) -> None:
    with opened(compared_page, "#v=compare", TALK) as seen:
        page = seen.page
        reached: list[str] = []
        while "compare-parting" not in reached and len(reached) < 40:
            page.keyboard.press("Tab")
            reached.append(page.evaluate("document.activeElement.id"))
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none"
            if reached[-1] == "compare-c":
                page.keyboard.press("Home")
                expect(page.locator("#compare-table thead th >> nth=0")).to_contain_text("roles=on")
            if reached[-1] == "compare-round":
                before = int(page.input_value("#compare-round"))
                page.keyboard.press("ArrowRight")
                expect(page.locator("#compare-round-told")).to_have_text(f"{before + 1} of 8")
        names = ("c", "d", "swap", "open-0", "open-1", "a", "b", "round", "parting")
        order = [each for each in reached if each.startswith("compare-")]
        assert order == [f"compare-{name}" for name in names]
        replicate = page.input_value("#compare-b")
        behind = page.input_value("#round")
        page.keyboard.press("ArrowLeft")  # steps no round of the view behind
        assert page.input_value("#round") == behind
        page.focus("#compare-open-1")
        page.keyboard.press("Enter")
        expect(page.locator("#condition-title")).to_be_focused()
        expect(page.locator("#condition-title")).to_contain_text("temperature=t7")
        expect(page.locator("#heads, #parting").first).to_contain_text(f"#{replicate}")
        assert read_link(seen.page) == f"#c=02c0ffee&t={before + 1}&a={replicate}"


def test_conditions_without_replicates_or_without_a_partner_are_shown_so(
    opened: Open, tmp_path: Path
) -> None:
    study = Written(tmp_path)
    study.condition(4, 6)
    with opened(study.page(), "#v=compare", TALK) as seen:
        assert chosen(seen)[:2] == ["0", "0"]
        assert seen.page.locator("#compare-limits li").count() == 1
    begun = study.condition(0, 6, roles="off")
    empty = np.empty((0, 0, 0, 0))
    study.tracked[1] = replace(begun, preferences=empty, decisions=(), target=9)
    with opened(study.page(), "#v=compare", TALK) as seen:
        assert chosen(seen) == ["0", "1", "0", ""]
        assert shown(seen, "Replicates")["pending"] == ["0", "9"]
        assert shown(seen, "Decisions")["A Single payer"][1] == "0"
        assert seen.page.locator("#compare-growth svg[role=img] .curve").count() >= 1
        assert seen.page.locator("#compare-talk .turn.none").count() == len(SEATS)
        seen.page.select_option("#compare-a", "2")
        expect(seen.page.locator("#compare-heads .left b")).to_have_text("#2")


def test_hostile_texts_stay_text(opened: Open, tmp_path: Path) -> None:
    study = Written(tmp_path, study=HOSTILE[0])
    seats = ("</script><i>Chair", "\u202eWelfare", "R" * 300)
    options = {"A": HOSTILE[0], "B": "<!--", "C": "\u202e" + "C" * 400}

    def say(replicate: int, round_: int, seat: str) -> str:
        return f"{HOSTILE[(round_ + replicate) % len(HOSTILE)]} {replicate}".replace("\ud83d", "")

    for memory in (HOSTILE[0], HOSTILE[3]):
        study.condition(4, 7, say=say, options=options, seats=seats, memory=memory)
    with opened(study.page(), "#a=0&b=1&t=7&v=compare", TALK) as seen:
        seen.runs_nothing()
        whole = seen.page.text_content("[data-of=compare]") or ""
        assert HOSTILE[0] in whole
        assert "\u202e" not in whole
        assert "⟨U+202E⟩" in whole
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert seen.page.evaluate(wide) <= 0


@pytest.mark.parametrize("width", [390, 1400])
def test_nothing_sticks_out_sideways(opened: Open, compared_page: Path, width: int) -> None:
    link = "#c=01c0ffee&d=03c0ffee&t=2&v=compare"
    with opened(compared_page, link, TALK, viewport={"width": width, "height": 800}) as seen:
        seen.page.click("#compare-growth summary")
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert seen.page.evaluate(wide) <= 0
        sides = seen.page.locator("#compare-talk .turns >> nth=0").locator(".turn").all()
        tops = {round((side.bounding_box() or {"y": -1})["y"]) for side in sides}
        assert len(tops) == (1 if width > 640 else 2)
