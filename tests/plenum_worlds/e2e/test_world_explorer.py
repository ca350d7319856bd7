"""The explorer of worlds in a real headless Chromium, and its command line."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from browsing import HOSTILE, Open, browser, opened, read_link
from command_line import call, logged
from explorer_worlds import PlayedWorlds
from playwright.sync_api import expect

from plenum.calls.conversation import Ask
from plenum.design.job import Job
from plenum.reports.explorer import shelves
from plenum.reports.explorer.publish import ExploredStudy, publish_explorer

pytestmark = pytest.mark.long

__all__ = ["browser", "opened"]

WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def disasters(tmp_path_factory: pytest.TempPathFactory, job: Callable[..., Job]) -> Path:
    """Two mechanisms and a scripted policy in the same two worlds; one run has failed."""
    study = PlayedWorlds(tmp_path_factory.mktemp("disasters"))
    for mechanism, lost in (("implicit", {}), ("explicit", {1: 3})):
        one = job("task=disaster", "rounds=5", f"consensus={mechanism}", "volatility=high")
        study.condition(one.condition, 2, lost=lost)
    scripted = ("task=disaster", "rounds=5", "task.policy=to_nearest", "volatility=high")
    study.condition(job(*scripted).condition, 2)
    return study.page()


def test_it_opens_on_two_mechanisms_in_one_world_with_what_was_seen_said_and_done(
    opened: Open, disasters: Path
) -> None:
    with opened(disasters) as seen:
        assert "simulated agents, no evidence about language models" in seen.text("#provenance")
        assert "implicit" in seen.text("#left-head")
        assert "explicit" in seen.text("#right-head")
        assert "Both meet the same world" in seen.text("#parting")
        assert re.search(r"coverage [01]\.\d\d · score", seen.text("#left-head"))
        assert seen.page.locator("#left .canvas .spot").count() >= 1
        assert seen.page.locator("#right .canvas .chip").count() >= 1
        assert seen.page.locator("#left .words-of li").count() >= 1
        talk = seen.text("#talk")
        for part in ("Crews see the incident", "Active disasters: ", "proposes", "chooses"):
            assert part in talk
        assert seen.page.locator("#conditions li").count() == 3


def test_rounds_are_stepped_by_keys_slider_play_and_clicks(opened: Open, disasters: Path) -> None:
    with opened(disasters) as seen:
        page = seen.page
        page.focus("#round")
        page.keyboard.press("Home")
        assert seen.round() == "1"
        before = page.inner_html("#left .canvas svg")
        page.focus("#condition-title")
        page.keyboard.press("ArrowRight")
        assert seen.round() == "2"
        assert page.inner_html("#left .canvas svg") != before
        assert seen.text("#transcripts-round") == "2"
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        assert seen.round() == "1"
        course = page.locator("#course .canvas svg")
        box = course.bounding_box()
        assert box is not None
        course.click(position={"x": box["width"] * 0.97, "y": box["height"] * 0.5})
        assert seen.round() == "5"
        page.click("#play")
        expect(page.locator("#round")).to_have_value("2")
        page.click("#play")


def test_sides_follow_the_world_can_be_swapped_and_a_link_brings_them_back(
    opened: Open, disasters: Path
) -> None:
    with opened(disasters) as seen:
        page = seen.page
        page.select_option("#left-run", "1")
        expect(page.locator("#right-run")).to_have_value("1")
        assert "number 1" in seen.text("#parting")
        page.click("#swap")
        expect(page.locator("#left-head")).to_contain_text("explicit")
        page.uncheck("#same-world")
        page.select_option("#right-run", "0")
        expect(page.locator("#parting")).to_contain_text("different worlds")
        fragment = read_link(page)
        head = seen.text("#left-head")
    with opened(disasters, fragment) as again:
        assert again.text("#left-head") == head
        assert again.page.input_value("#right-run") == "0"
    with opened(disasters, "#c=<img>&t=1e9&a=-1&d=__proto__") as odd:
        assert "implicit" in odd.text("#left-head")  # as without a link


def test_failed_runs_are_listed_and_shown_as_far_as_they_got(opened: Open, disasters: Path) -> None:
    with opened(disasters) as seen:
        page = seen.page
        page.click("#conditions li >> nth=1")
        expect(page.locator("#list tbody tr")).to_have_count(2)
        assert "2 wanted = 1 completed + 1 failed + 0 pending" in seen.text("#replicates-count")
        assert "#1 failed · timeout" in seen.text("#missing")
        page.click('#list tr[data-n="1"]')
        expect(page.locator("#left-head")).to_contain_text("failed")
        page.focus("#round")
        page.keyboard.press("End")
        assert "The run is failed" in seen.text("#left .canvas")
        page.click("#conditions li >> nth=2")  # nobody is asked there
        expect(page.locator("#left-head")).to_contain_text("to_nearest")
        page.keyboard.press("Home")
        assert "nobody was told anything" in seen.text("#talk")


def test_everything_is_done_with_the_keyboard_alone(opened: Open, disasters: Path) -> None:
    with opened(disasters) as seen:
        page = seen.page
        reached = seen.tabbed()
        assert {"filter", "round", "play", "left-run", "right-condition", "right-run"} <= reached
        assert {"swap", "same-world", "folded"} <= reached
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator("#list tr[data-side=left]")).to_have_attribute("data-n", "1")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


@pytest.mark.parametrize("width", [1280, 700])
@pytest.mark.parametrize("task", ["misinformation", "public_goods"])
def test_networks_and_bars_are_drawn(
    opened: Open, tmp_path: Path, job: Callable[..., Job], task: str, width: int
) -> None:
    study = PlayedWorlds(tmp_path)
    for mechanism in ("implicit", "explicit"):
        study.condition(job(f"task={task}", "rounds=3", f"consensus={mechanism}").condition, 1)
    with opened(study.page(), viewport={"width": width, "height": 800}) as seen:
        shapes = {"misinformation": ".node", "public_goods": ".bar"}[task]
        count = {"misinformation": 50, "public_goods": 11}[task]
        assert seen.page.locator(f"#left .canvas {shapes}").count() == count
        assert seen.page.locator(f"#right .canvas {shapes}").count() == count
        assert seen.page.locator("#talk .done tbody tr").count() == 5  # not all as they chose
        assert seen.page.locator("#legend li").count() >= 3
        assert seen.page.evaluate(WIDE) <= 0


def test_hostile_texts_are_inert_wherever_they_stand(
    opened: Open, tmp_path: Path, job: Callable[..., Job]
) -> None:
    texts = [text.replace("\ud83d", "") for text in HOSTILE]

    def answer(ask: Ask) -> str:
        text = texts[(ask.round + len(ask.seat) + len(ask.kind)) % len(texts)]
        if ask.seat == "Drone 3":
            return text
        return json.dumps({"action": [1, 2], "message": text, "analysis": text})

    study = PlayedWorlds(tmp_path, study=HOSTILE[0])
    one = job("task=disaster", "task.agents=3", "rounds=7").condition
    study.condition(one, 2, answer)
    with opened(study.page(), viewport={"width": 1000, "height": 800}) as seen:
        page = seen.page
        met = ""
        for _ in range(7):
            met += page.evaluate("document.getElementById('talk').textContent")
            page.keyboard.press("ArrowRight")
            assert page.evaluate(WIDE) <= 0
        seen.runs_nothing()
        assert HOSTILE[0] in met
        assert "⟨U+202E⟩" in met
        assert "\u202e" not in met


def test_the_command_explores_a_study_of_worlds(
    stored: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ("task=public_goods", "rounds=3", "replicates=2", "consensus=implicit,explicit")
    call(stored, "run.py", "-m", *given)
    done = call(stored, "scripts/explore.py", "study=public_goods")
    file = stored / "outputs/public_goods/explorer.html"
    assert done.stdout.startswith("written: outputs/public_goods/explorer.html (2 conditions, 4 ")
    assert "explorer.html" in logged(stored, "public_goods")
    with opened(file) as seen:
        assert "Both meet the same world" in seen.text("#parting")
    monkeypatch.setattr(shelves, "MOST", 1)
    large = stored / "large.html"
    publish_explorer(ExploredStudy("public_goods", f"sqlite:///{stored}/mlruns/mlflow.db", large))
    with opened(large) as seen:
        seen.page.fill("#filter", "consensus=implicit")
        assert seen.text("#count") == "1 of 2 conditions"
        link = seen.page.get_attribute("#rows a", "href")
    assert link is not None
    where, _, fragment = link.partition("#")
    with opened(stored / where, f"#{fragment}") as there:
        assert there.text("#condition-title bdi") == "consensus=implicit"


def test_reports_messages_and_reasons_are_searched_and_a_hit_opens_its_answer(
    opened: Open, disasters: Path
) -> None:
    told = "#seek-told:not(:empty)"
    with opened(disasters, "#q=crews&told=world+1&v=search", told) as seen:
        page = seen.page
        expect(page.locator("#seek-told")).to_have_text(re.compile(r"in 3 of 3 runs searched\.$"))
        count = page.locator("#hits li").count()
        assert page.locator("#hits b", has_text="report").count() == count > 3
        page.fill("[name=q]", "weighed")
        expect(page.locator("#hits li")).to_have_count(0)
        page.check("[name=thought]")
        expect(page.locator("#hits details")).not_to_have_count(0)
        page.select_option("[name=who]", "Drone 3")
        expect(page.locator("#seek-told")).to_have_text(re.compile(r"in 2 of 2 runs searched\.$"))
        page.check("[name=failed]")
        expect(page.locator("#seek-told")).to_have_text(re.compile(r"in 1 of 1 run searched\.$"))
        page.uncheck("[name=failed]")
        link = read_link(page)
        page.click("#hits a")
        found = page.locator("#talk .found")
        expect(found).to_be_focused()
        assert "Drone 3" in found.inner_text()
        assert found.locator("details[open]").count() >= 1
        assert "world 1" in page.inner_text("#left-run option:checked")
        assert "world 1" in page.inner_text("#right-run option:checked")
        assert page.is_hidden("#lost")
        page.go_back()
        expect(page.locator("#hits li a:focus")).to_have_count(1)
        assert read_link(page) == link
