"""The divergence explorer in a real headless Chromium, and its command line."""

import itertools
import re
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from browsing import HOSTILE, READY, Open, browser, opened, read_link
from command_line import call, logged
from explorer_studies import OPTIONS, SEATS, Written, drifting, plain
from playwright.sync_api import expect

from plenum.reports.explorer import shelves
from plenum.reports.explorer.gather import COMMITTEE_EXPLORER
from plenum.reports.explorer.page import page
from plenum.reports.explorer.publish import ExploredStudy, publish_explorer

pytestmark = pytest.mark.long

__all__ = ["browser", "opened"]

FAILED = {"reason": "parse", "at": {"call": "turn", "round": 2, "seat": "Rights"}, "detail": "no"}


@pytest.fixture(scope="module")
def study_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two conditions; in the first, replicates 0 and 1 never part, 0 and 2 do in round 3."""
    study = Written(tmp_path_factory.mktemp("told"))
    paths = drifting(12, 6, 3)
    paths[2:, :3] = paths[0, :3]
    study.condition(12, 6, paths=paths, broken={7: FAILED})
    study.condition(4, 6, roles="off", scenario="HL-02")
    return study.page()


def test_it_opens_on_a_condition_with_its_estimate_n_warnings_and_provenance(
    opened: Open, study_page: Path
) -> None:
    with opened(study_page) as seen:
        assert "simulated agents, no evidence about language models" in seen.text("#provenance")
        assert re.search(
            r"λ̂ = −?\d\.\d{4} \[.*\] per round · n 11/12, 1 failed", seen.text("#estimate")
        )
        assert "attrition" in seen.text("#warnings")
        assert seen.page.locator("#conditions li").count() == 2
        assert seen.page.locator("#plane .stand").count() == 12
        assert seen.page.locator("#growth .fit").count() >= 1
        assert "11 completed + 1 failed + 0 pending" in seen.text("#replicates-count")
        assert "#7 failed · parse · turn, round 2, Rights · no" in seen.text("#missing")


def test_it_opens_with_two_that_decide_differently_side_by_side(
    opened: Open, tmp_path: Path
) -> None:
    study = Written(tmp_path)
    agreed = drifting(1, 6, 3).repeat(4, axis=0)
    study.condition(4, 6, paths=agreed)
    paths = agreed.copy()
    paths[2:] = paths[2:, :, [1, 2, 0]]
    paths[3, :4] = agreed[0, :4]  # 3 leaves the first two after round 4, 2 is never with them
    study.condition(4, 6, paths=paths, roles="off")
    with opened(study.page()) as seen:
        assert seen.text("#condition-title").startswith("roles=off")
        assert [seen.text(f"#heads .{side} b") for side in ("left", "right")] == ["#0", "#3"]
        assert "They part in round" in seen.text("#parting")
        assert seen.page.locator("#talk .ballots .apart").count() == len(SEATS)
        box = seen.page.locator("#parting").bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < 900  # on the screen, without scrolling
        seen.choose(2)
        assert seen.page.locator("#list tr[aria-selected=true]").count() == 1


def test_long_names_push_no_column_out_of_sight(opened: Open, tmp_path: Path) -> None:
    study = Written(tmp_path)
    options = {label: f"{name} of the whole country" for label, name in OPTIONS.items()}
    seats = (*SEATS, "Equity", "Security")
    wording = {"variant": "the_third_rephrasing_by_a_long_name", "family": "format"}
    study.condition(4, 6, options=options, seats=seats, **wording)
    with opened(study.page(), viewport={"width": 1400, "height": 900}) as seen:
        wide = "(a => a.scrollWidth - a.clientWidth)(document.querySelector('#replicates .scroll'))"
        assert seen.page.evaluate(wide) == 0
        cell = seen.page.locator("#list .wording").first
        assert cell.get_attribute("title") == "the_third_rephrasing_by_a_long_name (format)"
        width = seen.page.evaluate(
            "document.querySelector('#list .wording').parentElement.offsetWidth"
        )
        assert width > 40


def test_the_filter_finds_conditions_by_factors_and_choosing_one_shows_it(
    opened: Open, study_page: Path
) -> None:
    with opened(study_page) as seen:
        seen.page.fill("#filter", "roles=off hl-02")
        assert seen.text("#conditions-count") == "1 of 2"
        seen.page.press("#filter", "Tab")
        seen.page.keyboard.press("Enter")
        expect(seen.page.locator("#list tbody tr")).to_have_count(4)
        assert "HL-02" in seen.text("#condition-title")


def test_slider_keys_and_clicks_in_the_figure_set_one_round(opened: Open, study_page: Path) -> None:
    with opened(study_page) as seen:
        page = seen.page
        assert seen.round() == "6"
        place = "document.querySelector('.stand[data-n=\"5\"]').style.transform"
        before = page.evaluate(place)
        page.focus("#round")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        assert seen.round() == "4"
        assert page.get_attribute("#round", "aria-valuetext") == "round 4 of 6"
        assert page.evaluate(place) != before
        box = page.locator("#growth .canvas svg").bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + box["width"] * 0.16, box["y"] + box["height"] * 0.4)
        assert seen.round() == "1"
        assert "t=1" in read_link(page)
        page.click("#play")
        expect(page.locator("#round")).to_have_value("3")
        page.click("#play")


def test_two_replicates_are_read_side_by_side_from_where_they_part(
    opened: Open, study_page: Path
) -> None:
    with opened(study_page) as seen:
        page = seen.page
        seen.choose(0, 2)
        words = seen.text("#parting")
        assert "They part in round 3" in words
        assert "Texts first differ in round 3, Rights's turn" in words
        assert "states in round 4, Chair's turn" in words
        first = page.locator("#talk mark.first").all_inner_texts()
        assert first == ["keeps to", "turns from"]
        marked = page.locator("#talk mark.first").first.bounding_box()
        area = page.locator("#talk").bounding_box()
        assert marked is not None
        assert area is not None
        assert area["y"] < marked["y"] < area["y"] + area["height"]
        assert page.locator("#growth .curve.pair").count() >= 1
        assert page.locator("#growth .zero.pair").count() == 3
        assert page.locator("#talk .ballots tbody tr").count() == len(SEATS) + 2


def test_pairs_that_part_in_states_alone_or_never_and_one_that_failed_say_so(
    opened: Open, study_page: Path
) -> None:
    with opened(study_page, "#c=01c0ffee&t=6&a=2&b=3") as seen:
        seen.page.wait_for_selector("#talk section")
        assert "They part in round 3" in seen.text("#parting")
        assert "Texts never differ; states in round 3, Chair's turn" in seen.text("#parting")
        assert seen.page.locator("#talk mark").count() == 0
        assert seen.page.locator("#talk [data-round='3'] .differs").count() > 0
        assert seen.page.is_hidden("#to-words")
    with opened(study_page) as seen:
        seen.choose(0, 1)
        assert "They never part" in seen.text("#parting")
        assert seen.page.locator("#talk mark").count() == 0
    with opened(study_page) as seen:
        seen.choose(0, 7)
        assert seen.page.locator("#talk .turn.unread").count() == 1
        assert "couldn't be read" in seen.text("#talk .turn.unread")
        assert "this replicate had ended" in seen.text("#talk")


def test_everything_is_done_with_the_keyboard_alone(opened: Open, study_page: Path) -> None:
    with opened(study_page) as seen:
        page = seen.page
        reached = seen.tabbed()
        assert {"filter", "round", "play", "view", "zoom", "trails", "farthest", "order"} <= reached
        page.keyboard.press("Enter")
        for _ in range(3):
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_selector("#talk section")
        assert [page.inner_text(f"#heads .{side} b") for side in ("left", "right")] == ["#0", "#3"]
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"
        page.keyboard.press("Enter")
        assert page.locator("#list tr[aria-selected=true]").count() == 1


def test_a_link_brings_back_condition_round_and_pair(opened: Open, study_page: Path) -> None:
    with opened(study_page) as seen:
        seen.choose(3, 5)
        seen.page.focus("#round")
        seen.page.keyboard.press("ArrowLeft")
        fragment = read_link(seen.page)
    assert fragment == "#c=00c0ffee&t=5&a=3&b=5"
    with opened(study_page, fragment) as again:
        again.page.wait_for_selector("#talk section")
        assert again.round() == "5"
        assert "#3 and #5" in again.text("#distance-told")
    with opened(study_page, "#c=<img>&t=1e9&a=-1&b=__proto__") as odd:
        assert "t=6" in read_link(odd.page)  # as without a link
        assert odd.page.is_visible("#lost")


@pytest.mark.parametrize(
    ("fragment", "lost"),
    [
        ("", False),
        ("#c=00c0ffee&t=05&a=3&b=5", False),
        ("#c=00c0ffee&t=5&a=3&b=5&view=simplex&zoom=all", False),
        ("#c=99c0ffee&t=5&a=3", True),
        ("#c=00c0ffee&t=5&a=3&b=77", True),
        ("#c=00c0ffee&t=40", True),
        ("#c=99c0ffee&d=00c0ffee&v=compare", True),
        ("#c=99c0ffee&q=member&v=search", True),
        ("#c=00c0ffee&q=member&v=search", False),
    ],
)
def test_a_link_to_what_is_not_here_says_so(
    opened: Open, study_page: Path, fragment: str, lost: bool
) -> None:
    with opened(study_page, fragment, '#views [aria-pressed="true"]') as seen:
        seen.page.wait_for_selector(READY, state="attached")
        expect(seen.page.locator("#lost")).to_be_visible(visible=lost)
        # A link that is followed within the page is looked at anew.
        seen.page.evaluate("location.hash = '#c=00c0ffee&t=2&a=1'")
        expect(seen.page.locator("#lost")).to_be_hidden()
        seen.page.evaluate("location.hash = '#c=00c0ffee&t=2&a=55'")
        expect(seen.page.locator("#lost")).to_be_visible()


def test_back_returns_to_the_view_before(opened: Open, study_page: Path) -> None:
    with opened(study_page) as seen:
        seen.choose(3, 5)
        link = read_link(seen.page)
        seen.page.click("[data-view=search]")
        seen.page.fill("[name=q]", "member")
        seen.page.press("[name=q]", "Enter")
        seen.page.click("[data-view=compare]")
        expect(seen.page.locator("#compare-title")).to_be_visible()
        seen.page.go_back()
        expect(seen.page.locator("#seek")).to_be_visible()
        assert "q=member" in read_link(seen.page)
        seen.page.go_back()
        expect(seen.page.locator("#condition-title")).to_be_visible()
        assert read_link(seen.page) == link
        assert seen.page.is_hidden("#lost")


def test_hostile_texts_are_inert_wherever_they_stand(opened: Open, tmp_path: Path) -> None:
    study = Written(tmp_path, study=HOSTILE[0])
    seats = ("</script><i>Chair", "\u202eWelfare", "R" * 300)
    options = {"A": HOSTILE[0], "B": "<!--", "C": "\u202e" + "C" * 400}
    detail = {**FAILED, "at": {"call": "turn", "round": 2, "seat": seats[0]}, "detail": HOSTILE[0]}

    def say(replicate: int, round_: int, seat: str) -> str:
        return f"{HOSTILE[(round_ + replicate) % len(HOSTILE)]} {replicate}".replace("\ud83d", "")

    study.condition(
        5, 7, say=say, options=options, seats=seats, broken={3: detail}, scenario=HOSTILE[0]
    )
    with opened(study.page()) as seen:
        page = seen.page
        seen.choose(0, 3)
        seen.choose(4)
        seen.runs_nothing()
        shown = page.evaluate("document.getElementById('talk').textContent")
        assert HOSTILE[0] in shown
        assert "⟨U+202E⟩" in shown
        assert "\u202e" not in shown
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(wide) <= 0
        assert page.evaluate("document.getElementById('talk').scrollWidth") <= page.evaluate(
            "document.getElementById('talk').clientWidth"
        )


def test_five_options_one_round_and_no_estimates_are_drawn(opened: Open, tmp_path: Path) -> None:
    study = Written(tmp_path)
    five = {**OPTIONS, "D": "Later", "E": "Never"}
    study.condition(12, 6, options=five)
    study.condition(5, 1, protocol="one_shot")
    condition = study.condition(5, 6, roles="off")
    empty = np.empty((0, 0, 0, 0))
    study.tracked[2] = replace(condition, preferences=empty, decisions=(), target=9)
    with opened(study.page()) as seen:
        page = seen.page
        assert page.locator("#plane .line").count() == 12
        page.select_option("#view", "simplex")
        assert page.locator("#plane .stand").count() == 12
        page.click("#conditions li >> nth=1")
        expect(page.locator("#list tbody tr")).to_have_count(5)
        assert page.is_disabled("#round")
        seen.choose(0, 4)
        page.click("#conditions li >> nth=2")
        expect(page.locator("#round")).to_have_attribute("max", "6")
        assert "no estimates" in seen.text("#estimate") or "interrupted" in seen.text("#estimate")
        assert "4 replicates not begun" in seen.text("#missing")
        seen.choose(0, 4)


@pytest.mark.parametrize("width", [1280, 800])
def test_nothing_sticks_out_sideways(opened: Open, study_page: Path, width: int) -> None:
    with opened(study_page, viewport={"width": width, "height": 800}) as seen:
        seen.choose(0, 2)
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert seen.page.evaluate(wide) <= 0


def test_240_replicates_of_20_rounds_stay_usable(opened: Open, tmp_path: Path) -> None:
    study = Written(tmp_path)
    study.condition(240, 20, say=lambda r, t, seat: f"{plain(r, t, seat)} {r % 7} {t}" * 6)
    file = study.page()
    began = time.monotonic()
    with opened(file) as seen:
        assert time.monotonic() - began < 10  # two seconds where nothing else runs
        seen.page.focus("#round")
        seen.page.keyboard.press("Home")
        assert seen.round() == "1"
        seen.page.keyboard.press("End")
        seen.page.click("#farthest")
        seen.page.wait_for_selector("#talk section")
        assert seen.page.locator("#plane .stand").count() == 240


def test_the_command_writes_the_page_logs_it_and_says_its_size(
    gallery: Path, tmp_path: Path, opened: Open
) -> None:
    file = tmp_path / "page.html"
    given = ("study=default", "draws=100", f"out={file}")
    done = call(gallery, "scripts/explore.py", *given)
    assert done.stdout.startswith(f"written: {file} (4 conditions, 16 replicates, 0.")
    assert "page.html" in logged(gallery, "default")
    with opened(file) as seen:
        seen.choose(0, 1)


def test_a_large_study_is_searched_on_a_page_of_its_own(opened: Open, tmp_path: Path) -> None:
    levels = {"scenario": [f"HL-{n:02d}" for n in range(25)], "seed": [str(n) for n in range(80)]}
    entries = [
        {
            **{"id": f"{at:08x}", "factors": dict(zip(levels, each, strict=True)), "symbol": "λ̂"},
            "name": " ".join(
                f"{factor}={level}" for factor, level in zip(levels, each, strict=True)
            ),
            **{"status": "ok", "n": 4, "failed": 0, "pending": 0, "target": 4, "warnings": []},
            **{"lambda": at / 1e4, "low": at / 1e4 - 0.1, "high": at / 1e4 + 0.1},
            **{"estimates": {"rounds": at % 7}, "page": f"explorer/{at // 50 + 1:04d}.html"},
        }
        for at, each in enumerate(itertools.product(*levels.values()))
    ]
    about = {"study": "wide", "provenance": "backend: simulated", "differing": list(levels)}
    about |= {"common": [], "named": ["scenario"], "axis": "λ̂ per round", "meanings": {}}
    file = tmp_path / "explorer.html"
    data = {"index": {**about, "conditions": entries}}
    file.write_text(page("wide", data, COMMITTEE_EXPLORER.layout.finder), encoding="utf-8")
    rows, first = "#rows tr", "#rows tr:first-child"
    with opened(file) as seen:
        assert seen.text("#count") == "2,000 conditions"
        assert seen.page.locator(rows).count() == 50
        seen.page.select_option("#order", "estimate down")
        assert seen.text(f"{first} a") == "scenario=HL-24 seed=79"
        assert seen.page.get_attribute(f"{first} a", "href") == "explorer/0040.html#c=000007cf"
        seen.page.fill("#filter", "scenario=hl-03")
        assert seen.text("#count") == "80 of 2,000 conditions"
        seen.page.click("#after")
        assert seen.text("#place") == "page 2 of 2"
        assert seen.page.locator(rows).count() == 30
        fragment = read_link(seen.page)
    with opened(file, fragment) as again:
        assert again.text("#place") == "page 2 of 2"
        assert again.text(f"{first} a") == "scenario=HL-03 seed=29"
        again.page.select_option("[data-factor=seed]", "=7")
        assert again.text("#count") == "1 of 2,000 conditions"
        again.page.fill("#filter", "no such condition")
        assert again.page.locator(rows).count() == 0
        again.page.click("#clear")
        assert again.text("#count") == "2,000 conditions"


def test_the_conditions_of_a_large_study_are_read_on_pages_beside_it(
    gallery: Path, tmp_path: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelves, "MOST", 2)
    monkeypatch.setattr(shelves, "_EACH", 3)
    uri, file = f"sqlite:///{gallery}/mlruns/mlflow.db", tmp_path / "large.html"
    publish_explorer(ExploredStudy("default", uri, file, draws=100))
    held = sorted(str(each.relative_to(tmp_path)) for each in tmp_path.rglob("*.html"))
    assert held == ["large.html", "large/0001.html", "large/0002.html"]
    assert {"large", "large.html"} <= set(logged(gallery, "default"))
    with opened(file) as seen:
        assert seen.text("#count") == "4 conditions"
        seen.page.fill("#filter", "roles=on model=mixed")
        assert seen.text("#count") == "1 of 4 conditions"
        link = seen.page.get_attribute("#rows a", "href")
        estimate = seen.text("#rows td")
    assert link is not None
    where, _, fragment = link.partition("#")
    with opened(tmp_path / where, f"#{fragment}") as there:
        assert there.text("#condition-title bdi") == "roles=on model=mixed"
        assert estimate.split()[1] in there.text("#conditions [aria-selected=true]")
        assert there.page.get_attribute("#common a", "href") == "../large.html"
        there.choose(0, 1)
