"""The search over all that was said, in a real headless Chromium."""

import csv
import random
import re
from pathlib import Path

import numpy as np
import pytest
from browsing import HOSTILE, Open, Seen, browser, opened, read_link
from explorer_studies import Written
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.long

__all__ = ["browser", "opened"]

FAILED = {"reason": "parse", "at": {"call": "turn", "round": 2, "seat": "Rights"}, "detail": "no"}
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
TOLD = "#seek-told:not(:empty)"
FOCUSED = "document.activeElement.getAttribute('href')"
ROUNDS = 6


def say(replicate: int, round_: int, seat: str) -> str:
    """From replicate 4 on the Rights say "waiting list" in round 3, and the Chair after them."""
    words = f"In round {round_} the {seat} member weighs costs."
    if replicate >= 4 and ((seat, round_) == ("Rights", 3) or (seat, round_) == ("Chair", 4)):
        words += " There is a Waiting List (for care), and we wait for the list."
    if (replicate, round_, seat) == (1, 5, "Welfare"):
        words = "=1+1 begins as a formula does, with a waiting list."
    return words


def think(replicate: int, round_: int, seat: str) -> dict[str, str]:
    """Replicate 3's Chair was repaired in round 2, and has a private word there."""
    if (replicate, round_, seat) != (3, 2, "Chair"):
        return {}
    return {"kind": "turn_repair", "reasoning": "What about the waiting list? Nobody knows."}


def paths(replicates: int, flipped: int, after: int) -> np.ndarray:
    """All decide A but for the last ones, which turn to B after a round."""
    one = np.tile([0.6, 0.2, 0.2], (replicates, ROUNDS, 1))
    one[replicates - flipped :, after:] = [0.2, 0.6, 0.2]
    return one


@pytest.fixture(scope="module")
def study_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two conditions: 8 replicates of which the last two flip and 5 fails, and 4 that agree."""
    study = Written(tmp_path_factory.mktemp("sought"))
    given = paths(8, 2, 4)
    study.condition(8, ROUNDS, say=say, paths=given, broken={5: FAILED}, beside=think)
    study.condition(4, ROUNDS, say=say, paths=paths(4, 0, 0), roles="off")
    return study.page()


def counts(seen: Seen) -> list[int]:
    """Hits, replicates with hits, replicates searched; once the search has ended."""
    expect(seen.page.locator("#seek-told")).to_have_text(re.compile(r" searched\.$"))
    return [int(each) for each in re.findall(r"\d+", seen.text("#seek-told"))]


def rows(page: Page) -> list[list[str]]:
    cells = page.locator("#seek-tables tbody tr").all()
    return [row.locator("td").all_inner_texts() for row in cells]


def downloaded(page: Page, button: str) -> list[list[str]]:
    with page.expect_download() as started:
        page.click(button)
    with Path(started.value.path()).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize(
    ("fragment", "found"),
    [
        ("q=waiting", [8, 5, 12]),
        ("q=list+WAITING", [8, 5, 12]),
        ("q=%22the+list%22", [6, 3, 12]),
        ("q=waiting+weighs", [6, 3, 12]),
        ("q=list+(for", [6, 3, 12]),
        ("q=waiting&thought=1", [9, 6, 12]),
        (r"q=wait(ing)%3F\s%2B(for|list)&re=1", [8, 5, 12]),
        (r"q=^%3D1&re=1", [2, 2, 12]),
        ("q=single+payer", [27, 9, 12]),
        ("q=waiting&c=01c0ffee", [1, 1, 4]),
        ("q=waiting&who=Chair", [3, 3, 12]),
        ("q=waiting&who=Chair&to=3", [0, 0, 12]),
        ("q=waiting&from=4&to=4", [3, 3, 11]),
        ("q=waiting&told=B+Public+option", [4, 2, 2]),
        ("q=waiting&model=m", [8, 5, 12]),
        ("flipped=1&q=waiting", [4, 2, 2]),
        ("repaired=1", [1, 1, 1]),
        ("failed=1", [6, 1, 1]),
        ("who=Rights&from=2&to=2", [12, 12, 12]),
    ],
)
def test_words_expressions_and_filters_find_what_was_said(
    opened: Open, study_page: Path, fragment: str, found: list[int]
) -> None:
    with opened(study_page, f"#{fragment}&v=search", TOLD) as seen:
        assert counts(seen) == found
        expect(seen.page.locator("#hits li")).to_have_count(found[0])
        asked = set(fragment.split("&"))
        linked = read_link(seen.page).removeprefix("#").split("&")
        assert "v=search" in linked
        assert len(linked) == len(asked) + 1


def test_a_hit_says_where_it_stands_and_marks_what_matches(opened: Open, study_page: Path) -> None:
    with opened(study_page, "#q=%22waiting+list%22&thought=1&v=search", TOLD) as seen:
        counts(seen)
        page = seen.page
        marked = page.locator("#hits mark").all_text_contents()
        assert sorted(marked) == ["Waiting List"] * 6 + ["waiting list"] * 3
        hit = page.locator("#hits li", has_text="#6 · round 3 · Rights")
        for part in ("B Public option", "argument", "m", "roles=on"):
            assert part in hit.inner_text()
        thought = page.locator("#hits li:has(details)")
        assert "reasoning" in thought.inner_text()
        assert "repaired" in thought.inner_text()
        assert not page.is_visible("#hits details mark")


def test_an_invalid_expression_searches_nothing_and_says_so(opened: Open, study_page: Path) -> None:
    with opened(study_page, "#v=search&re=1&q=waiting", TOLD) as seen:
        counts(seen)
        for expression in ("(", "[a", "x{2,1}"):
            seen.page.fill("[name=q]", expression)
            assert "nothing was searched" in seen.text("#seek-told")
            assert seen.page.locator("#hits li").count() == 0
        for expression in (r"wait(ing)? list", r"(wait|list)", r"[(+]\w+", r"\(for care\)+"):
            seen.page.fill("[name=q]", expression)
            assert counts(seen)[0] > 0


@pytest.mark.parametrize("expression", [r"(\w+\s?)+!", r"(.?){60}\d{9}z", r".*.*.*.*.*.*\d{12}"])
def test_an_expression_that_takes_for_ever_is_stopped_and_the_page_goes_on(
    opened: Open, tmp_path: Path, expression: str
) -> None:
    study = Written(tmp_path)
    study.condition(4, 4, say=lambda r, t, seat: f"{r} {t} {seat} " + "so it goes on " * 30)
    with opened(study.page(), "#v=search&re=1", TOLD) as seen:
        seen.page.fill("[name=q]", expression)
        expect(seen.page.locator("#seek-told")).to_contain_text("takes too long", timeout=15_000)
        seen.page.fill("[name=q]", "^3 4 ")
        assert counts(seen) == [3, 1, 4]


def test_a_long_search_yields_and_escape_or_other_words_end_it(
    opened: Open, tmp_path: Path
) -> None:
    study = Written(tmp_path)
    study.condition(20, 20, say=lambda r, t, seat: f"{r} {t} {seat} " + "so it goes on " * 18)
    with opened(study.page(), "#v=search&re=1", TOLD) as seen:
        page = seen.page
        page.fill("[name=q]", "(?:.*g.*o.*z|^0 1 Chair)")  # slow, but for the first turn
        expect(page.locator("#hits li")).to_have_count(1)
        assert "so far" in seen.text("#seek-told")
        page.keyboard.press("Escape")
        stopped = seen.text("#seek-told")
        assert stopped.startswith("Stopped")
        page.wait_for_timeout(300)
        assert seen.text("#seek-told") == stopped
        page.fill("[name=q]", "(?:.*g.*o.*z|^0 1 Chair)")
        page.fill("[name=q]", "^3 4 ")
        assert counts(seen) == [3, 1, 20]


def test_who_said_it_first_is_counted_by_seat_and_condition(opened: Open, study_page: Path) -> None:
    with opened(study_page, "#q=%22waiting+list%22&show=first&v=search", TOLD) as seen:
        counts(seen)
        expect(seen.page.locator("#hits li")).to_have_count(5)
        told = rows(seen.page)
        every = [["Rights", "3", "3", "5"], ["Welfare", "2", "2", "5"], ["Chair", "0", "3", "5"]]
        on = [["Rights", "3", "3", "4"], ["Welfare", "1", "1", "4"], ["Chair", "0", "3", "4"]]
        assert [row[1:] for row in told] == [*every, *on, ["Welfare", "1", "1", "1"]]
        assert [row[0] for row in told] == ["all conditions"] * 3 + ["roles=on"] * 3 + ["roles=off"]
        file = downloaded(seen.page, "#seek-tables .scroll + .csv")
        assert file[0][1] == "seat"
        assert file[1:] == told


def test_all_hits_are_downloaded_and_no_text_becomes_a_formula(
    opened: Open, study_page: Path
) -> None:
    with opened(study_page, "#q=waiting&v=search", TOLD) as seen:
        counts(seen)
        head, *lines = downloaded(seen.page, "#seek-tables .csv")
        assert len(lines) == 8
        texts = [line[head.index("text")] for line in lines]
        assert sum(text.startswith("'=1+1") for text in texts) == 2
        assert not any(text.startswith("=") for text in texts)
        assert {line[head.index("round")] for line in lines} == {"3", "4", "5"}


def test_a_hit_opens_its_turn_alone_and_back_returns_by_keyboard_alone(
    opened: Open, study_page: Path
) -> None:
    with opened(study_page) as seen:
        page = seen.page
        page.focus("[data-view=search]")
        page.keyboard.press("Enter")
        page.keyboard.type('"waiting list"')
        counts(seen)
        for _ in range(30):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.closest('#hits') !== null"):
                break
        page.keyboard.press("ArrowDown")
        hit, link = page.evaluate(FOCUSED), read_link(page)
        page.keyboard.press("Enter")
        found = page.locator("#talk .found")
        expect(found).to_be_focused()
        assert read_link(page) == hit
        assert found.get_attribute("data-turn") == "3.2"
        assert found.locator("mark").inner_text() == "Waiting List"
        assert page.locator("#heads .head").count() == 1
        assert found.locator(".turn").count() == 1
        assert seen.round() == "3"
        area, box = page.locator("#talk").bounding_box(), found.bounding_box()
        assert area is not None
        assert box is not None
        assert area["y"] <= box["y"] < area["y"] + area["height"]
        assert 0 <= box["y"] < 900
        page.go_back()
        expect(page.locator(f"#hits a[href='{hit}']")).to_be_focused()
        assert read_link(page) == link
        assert page.locator("#hits li").count() == 8
        page.keyboard.press("Enter")
        expect(found).to_be_focused()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator(f"#hits a[href='{hit}']")).to_be_focused()
        assert read_link(page) == link


def test_the_reasoning_and_the_ballot_that_a_hit_names_are_opened(
    opened: Open, study_page: Path
) -> None:
    with opened(study_page, "#q=nobody&thought=1&v=search", TOLD) as seen:
        counts(seen)
        seen.page.click("#hits a")
        assert seen.page.is_visible("#talk .found details p")
        assert seen.page.inner_text("#talk .found details mark") == "Nobody"
        seen.page.click("text=Back to the hits")
        seen.page.fill("[name=q]", "single payer")
        seen.page.select_option("[name=who]", "Welfare")
        seen.page.click("#hits a >> nth=0")
        expect(seen.page.locator("#talk tr.found th")).to_have_text("Welfare")
        assert seen.page.is_hidden("#lost")


def test_which_replicates_flipped_when_they_parted_and_who_began_it(
    opened: Open, study_page: Path
) -> None:
    with opened(study_page) as seen:
        page = seen.page
        page.click("[data-view=search]")
        page.check("[name=flipped]")
        assert counts(seen) == [42, 2, 2]
        flips = rows(page)
        assert flips == [
            [
                "roles=on",
                f"#{n} beside #4",
                "B Public option",
                "A Single payer",
                "4",
                "5",
                "Chair",
                "5",
                "Chair",
            ]
            for n in (6, 7)
        ]
        page.click("#seek-tables a >> nth=1")
        page.wait_for_selector("#talk section")
        assert [seen.text(f"#heads .{side} b") for side in ("left", "right")] == ["#4", "#7"]
        assert "They part in round 5" in seen.text("#parting")
        page.go_back()
        assert rows(page) == flips


def test_more_hits_than_are_listed_are_counted_and_come_on_demand(
    opened: Open, tmp_path: Path
) -> None:
    study = Written(tmp_path)
    study.condition(12, 20)
    with opened(study.page(), "#q=member&v=search", TOLD) as seen:
        assert counts(seen)[0] == 720
        assert seen.page.locator("#hits li").count() == 200
        seen.page.click("#seek-more")
        assert seen.page.locator("#hits li").count() == 400
        assert seen.page.locator("#hits a[tabindex='0']").count() == 1


def test_hostile_texts_names_and_links_stay_text(opened: Open, tmp_path: Path) -> None:
    study = Written(tmp_path, study=HOSTILE[0])
    seats = ("</script><i>Chair", "\u202eWelfare", "R" * 300)

    def hostile(replicate: int, round_: int, seat: str) -> str:
        return f"{HOSTILE[(round_ + replicate) % len(HOSTILE)]} {replicate}".replace("\ud83d", "")

    study.condition(5, 7, say=hostile, options={"A": HOSTILE[0], "B": "<!--"}, seats=seats)
    asked = "#q=&who=%3Cimg+src%3Dx%3E&told=__proto__&c=constructor&from=1e9&s=%22%5D&v=search"
    with opened(study.page(), asked, TOLD, viewport={"width": 390, "height": 800}) as seen:
        page = seen.page
        page.click("#seek-clear")
        page.fill("[name=from]", "1")
        assert counts(seen)[0] == 5 * 7 * 3 + 5 * 3
        seen.runs_nothing()
        assert page.evaluate(WIDE) <= 0
        shown = page.evaluate("document.getElementById('hits').textContent")
        assert HOSTILE[0] in shown
        assert "\u202e" not in shown
        page.fill("[name=q]", "</script>")
        assert counts(seen)[0] > 0
        page.click("#hits a")
        expect(page.locator("#talk .found")).to_be_focused()
        seen.runs_nothing()


@pytest.mark.parametrize("width", [390, 1400])
def test_nothing_sticks_out_sideways(opened: Open, study_page: Path, width: int) -> None:
    size = {"width": width, "height": 900}
    with opened(
        study_page, "#q=waiting&flipped=1&show=first&v=search", TOLD, viewport=size
    ) as seen:
        counts(seen)
        assert seen.page.evaluate(WIDE) <= 0
        seen.page.click("#hits a")
        expect(seen.page.locator("#talk .found")).to_be_focused()
        assert seen.page.evaluate(WIDE) <= 0


def test_the_first_hits_in_100_replicates_of_100_turns_come_before_the_search_is_over(
    opened: Open, tmp_path: Path
) -> None:
    draws = random.Random(3)
    words = ["".join(draws.choices("abcdefghijklmnopqrst", k=6)) for _ in range(2000)]

    def varied(replicate: int, round_: int, seat: str) -> str:
        return " ".join(random.Random(f"{replicate} {round_} {seat}").choices(words, k=60))

    study = Written(tmp_path)
    study.condition(100, 25, say=varied, seats=("Chair", "Welfare", "Rights", "Equity"))
    marks = "name => performance.getEntriesByName(name).at(-1).startTime"
    with opened(study.page(), "#v=search", TOLD) as seen:
        expect(seen.page.locator("[name=who] option")).to_have_count(5)
        seen.page.fill("[name=q]", f"{words[7]} {words[8][:3]}")
        assert counts(seen)[1] > 1
        times = [seen.page.evaluate(marks, name) for name in ("sought", "hits", "searched")]
        assert times == sorted(times)
        assert times[1] < times[2]
