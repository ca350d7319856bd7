"""The view of the page that watches a study, in a real headless Chromium."""

import csv
import http.server
import json
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from browsing import HOSTILE, READY, Open, browser, opened, read_link
from command_line import call, start, wait_for
from explorer_studies import Written
from playwright.sync_api import Browser, Page, expect
from support.fault_server import FaultSettings, Latency, serve_in_thread

from plenum.reports.explorer.gather import COMMITTEE_EXPLORER
from plenum.reports.explorer.page import page
from plenum.reports.progress import StudyProgress
from plenum.tracking.store import absolute_uri
from plenum.tracking.tracker import plan_file

pytestmark = pytest.mark.long

__all__ = ["browser", "opened"]

AT = {"call": "turn", "round": 2, "seat": "Rights"}
FAILED = {"reason": "parse", "at": AT, "detail": "no"}
ROWS = "#watched tbody tr"
BUTTONS = "#watched tbody button"


class Watched(Written):
    """A study whose conditions a sweep planned: of each one replicate more than there is."""

    def watch(self, **budget: float) -> dict[str, Any]:
        self.tracked = [replace(c, cell=f"cell-{c.identity}") for c in self.tracked]
        conditions = [
            {"name": c.name or c.identity, "cell": c.cell, "folder": c.identity}
            | {"target": c.target + 1, "calls": 20}
            for c in self.tracked
        ]
        limits = {"dollars": None, "tokens": None, "calls": None, **budget}
        uri = absolute_uri(f"sqlite:///{self.folder}/none.db")
        told = {"conditions": conditions, "budget": limits, "began": 1.0}
        plan_file(self.folder, uri, self.study).write_text(json.dumps(told))
        return StudyProgress(self.study, uri, self.folder).read()

    def file(self, **blocks: Any) -> Path:
        file = self.folder / "page.html"
        html = page(self.study, {**self.data(), **blocks}, self.explorer.layout)
        file.write_text(html, encoding="utf-8")
        return file


def small(folder: Path) -> Watched:
    study = Watched(folder)
    study.condition(5, 6, broken={4: FAILED})
    study.condition(3, 6, roles="off")
    return study


def download(page: Page, which: int) -> list[list[str]]:
    with page.expect_download() as begun:
        page.click(f"#watch-tools button >> nth={which}")
    with open(begun.value.path(), encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_a_page_written_to_a_file_shows_the_progress_as_of_its_writing(
    opened: Open, tmp_path: Path
) -> None:
    study = small(tmp_path)
    told = study.watch(calls=40.0)
    told["time"] = 1_700_000_000.0
    with opened(study.file(watch=told), "#v=watch", ROWS) as seen:
        assert "2023-11-14 22:13 UTC" in seen.text("#watch-totals")
        assert re.search(r"7 of 10 completed, 1 failed.*, 2 pending", seen.text("#watch-totals"))
        assert seen.page.get_attribute("#watch-totals progress", "max") == "40"
        first = seen.page.locator(ROWS).first
        assert "4 of 6 completed, 1 failed (parse 1), 1 pending" in first.inner_text()
        widths = first.locator(".shares rect").evaluate_all(
            "(all) => all.map((part) => [part.classList[0], Number(part.getAttribute('width'))])"
        )
        assert widths[:2] == [["c2", pytest.approx(400 / 6)], ["c1", pytest.approx(100 / 6)]]
        level = told["conditions"][0]["D"]
        path = first.locator(".spark path").get_attribute("d")
        assert path is not None
        heights = [float(point.split(",")[1]) for point in re.split("[ML]", path)[1:]]
        top = max(max(each["D"]) for each in told["conditions"])
        assert heights == pytest.approx([23 - 22 * value / top for value in level], abs=0.06)
        growth = re.findall(r"(−?\d+\.\d) % a round", first.inner_text())[0].replace("−", "-")
        assert float(growth) == pytest.approx(
            100 * (2.718281828459045 ** told["conditions"][0]["growth"] - 1), abs=0.06
        )
        assert "00c0ffee #4 · parse · turn, round 2, Rights · no" in seen.text("#watch-failures")


def test_every_number_is_in_a_csv(opened: Open, tmp_path: Path) -> None:
    study = small(tmp_path)
    told = study.watch()
    with opened(study.file(watch=told), "#v=watch", ROWS) as seen:
        head, *rows = download(seen.page, 0)
        assert len(rows) == 2
        for row, each in zip(rows, told["conditions"], strict=True):
            values = dict(zip(head, row, strict=True))
            for name in ("target", "completed", "pending", "calls", "tokens_in"):
                assert int(values[name]) == each[name]
            assert int(values["failed"]) == sum(each["failed"].values())
            level = [float(values[f"D_{t + 1}"]) for t in range(6)]
            assert level == pytest.approx(each["D"])
            assert float(values["growth"]) == pytest.approx(each["growth"])
        totals = dict(download(seen.page, 1)[1:])
        assert totals["completed"] == str(told["totals"]["completed"])
        assert totals["spent_calls"] == str(told["totals"]["spent"]["calls"])


def test_a_condition_is_opened_by_keyboard_and_a_link_shows_the_view_again(
    opened: Open, tmp_path: Path
) -> None:
    study = small(tmp_path)
    file = study.file(watch=study.watch())
    with opened(file) as seen:
        keyboard = seen.page.keyboard
        seen.page.focus('#views [data-view="watch"]')
        keyboard.press("Enter")
        expect(seen.page.locator(ROWS)).to_have_count(2)
        assert read_link(seen.page) == "#v=watch"
        while seen.page.evaluate("document.activeElement.dataset.cell") is None:
            keyboard.press("Tab")
        keyboard.press("ArrowDown")
        focused = seen.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert focused != "none"
        keyboard.press("Enter")
        expect(seen.page.locator("#condition-title")).to_be_focused()
        assert seen.page.locator("#list tbody tr").count() == 3
        assert "#c=01c0ffee" in read_link(seen.page)
    with opened(file, "#v=watch", ROWS) as seen:
        assert seen.page.is_visible("#watched")
        assert not seen.page.is_visible("#condition-title")


def test_a_page_without_progress_has_no_such_view(opened: Open, tmp_path: Path) -> None:
    with opened(small(tmp_path).file(), "#v=watch") as seen:
        assert seen.page.is_visible('#views [data-view="replicates"]')
        assert not seen.page.is_visible('#views [data-view="watch"]')
        assert seen.page.is_visible("#condition-title")


def test_hostile_texts_and_names_stay_texts(opened: Open, tmp_path: Path) -> None:
    study = Watched(tmp_path)
    study.condition(len(HOSTILE), 6, broken=dict.fromkeys(range(len(HOSTILE)), FAILED))
    study.condition(2, 6, roles="off")
    told = study.watch()
    for each, text in zip(told["failures"], HOSTILE, strict=True):
        each |= dict.fromkeys(("condition", "reason", "detail", "wrote"), text)
        each["at"] = {"call": text, "round": 1, "seat": text}
    for each, text in zip(told["conditions"], HOSTILE[4:], strict=False):
        each |= {"name": text, "decisions": {text: 2}, "failed": {text: 1}}
    with opened(study.file(watch=told), "#v=watch", ROWS) as seen:
        assert seen.page.locator("#watch-failures li").count() == len(HOSTILE)
        for summary in seen.page.locator("#watch-failures summary").all():
            summary.click()
        wrote = seen.page.locator("#watch-failures .words").all_inner_texts()
        assert HOSTILE[0] in wrote
        assert "⟨U+202E⟩" in seen.text("#watched")
        seen.runs_nothing()
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 1280


@pytest.mark.parametrize("width", [390, 1400])
def test_it_fits_the_width(opened: Open, tmp_path: Path, width: int) -> None:
    study = small(tmp_path)
    file = study.file(watch=study.watch())
    with opened(file, "#v=watch", ROWS, viewport={"width": width, "height": 800}) as seen:
        assert seen.page.evaluate("document.documentElement.scrollWidth") == width
        inner = (
            "(a => a.scrollWidth - a.clientWidth)(document.querySelector('.scroll:has(#watched)'))"
        )
        assert seen.page.evaluate(inner) == 0
        label = "getComputedStyle(document.querySelector('#watched td'), '::before').content"
        assert ("replicates" in seen.page.evaluate(label)) == (width == 390)


# --- a page behind a server -----------------------------------------------------------------------


class Answering(http.server.ThreadingHTTPServer):
    """A server on loopback that answers from a dict, as a live page's server does."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, port: int, html: str, blocks: dict[str, Any]) -> None:
        self.html, self.blocks = html, blocks
        self.asked: list[str] = []
        self.held: set[str] = set()  # blocks that are answered once `go` is set
        self.go = threading.Event()
        super().__init__(("127.0.0.1", port), _Answer)
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"


class _Answer(http.server.BaseHTTPRequestHandler):
    server: Answering

    def do_GET(self) -> None:
        name = self.path.partition("?")[0].removeprefix("/data/")
        self.server.asked.append(name)
        if name in self.server.held:
            self.server.go.wait(20)
        known = name == "/" or name in self.server.blocks
        body = self.server.html if name == "/" else json.dumps(self.server.blocks.get(name))
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "text/html" if name == "/" else "application/json")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def answering(study: Watched, **blocks: Any) -> Iterator[Answering]:
    html = page(study.study, {}, COMMITTEE_EXPLORER.layout, live=True)
    server = Answering(0, html, {**study.data(), **blocks})
    yield server
    server.shutdown()
    server.server_close()


@contextmanager
def visiting(browser: Browser, url: str) -> Iterator[Page]:
    """A page whose timers a test moves on by hand."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(15_000)
    visited = context.new_page()
    errors: list[str] = []
    visited.on("pageerror", lambda error: errors.append(str(error)))
    visited.clock.install()
    visited.goto(url)
    visited.wait_for_selector(READY, state="attached")
    yield visited
    assert errors == []
    context.close()


def running(told: dict[str, Any]) -> dict[str, Any]:
    """The same study while a sweep is at it, one replicate of the second condition under way."""
    second = {**told["conditions"][1], "completed": 1, "running": 1, "pending": 2}
    totals = {**told["totals"], "completed": 5, "running": 1, "pending": 3}
    conditions = [told["conditions"][0], second]
    more = {"running": True, "left_s": 130.0, "rate": 0.5, "failures": []}
    return told | more | {"conditions": conditions, "totals": totals | {"failed": 0}}


def test_it_follows_a_sweep_in_place_and_announces_what_matters(
    browser: Browser, tmp_path: Path
) -> None:
    study = small(tmp_path)
    over = study.watch()
    with (
        answering(study, watch=running(over)) as server,
        visiting(browser, f"{server.url}#v=watch") as visited,
    ):
        news, totals = visited.locator("#watch-news"), visited.locator("#watch-totals")
        expect(totals).to_contain_text("2 min left")
        expect(news).to_have_text("")
        visited.focus(f"{BUTTONS} >> nth=1")
        visited.evaluate("""window.kept = document.querySelector('#watched tbody').rows[0];
            getSelection().selectAllChildren(kept.cells[3])""")
        chosen = visited.evaluate("String(getSelection())")
        asked = server.asked.count("watch")
        visited.clock.run_for(3100)
        _await(lambda: server.asked.count("watch") > asked)
        expect(news).to_have_text("")  # a tick is no news
        assert server.asked.count("index") == 1

        second = {**running(over)["conditions"][1], "completed": 2, "pending": 1}
        failed = {**running(over), "failures": over["failures"]}
        failed["totals"] = {**failed["totals"], "failed": 1}
        failed["conditions"] = [over["conditions"][0], second]
        server.blocks["watch"] = failed
        visited.clock.run_for(3100)
        expect(news).to_contain_text("1 more replicate failed")
        expect(visited.locator(ROWS).nth(1)).to_contain_text("2 of 4 completed, 1 running")
        expect(visited.locator(f"{BUTTONS} >> nth=1")).to_be_focused()
        assert visited.evaluate("String(getSelection())") == chosen
        assert visited.evaluate("kept === document.querySelector('#watched tbody').rows[0]")
        _await(lambda: server.asked.count("index") == 2)
        visited.click("#watch-failures summary")

        server.blocks["watch"] = over
        visited.clock.run_for(3100)
        expect(news).to_contain_text("The sweep ended: 7 of 10 completed")
        expect(totals).to_contain_text("No sweep is running")
        assert visited.locator("#watch-failures details[open]").count() == 1
        asked = server.asked.count("watch")
        visited.clock.run_for(6000)  # slower now
        visited.wait_for_timeout(0)
        assert server.asked.count("watch") == asked
        visited.clock.run_for(5000)
        _await(lambda: server.asked.count("watch") == asked + 1)


def _await(holds: Any) -> None:
    deadline = threading.Event()
    for _ in range(500):
        if holds():
            return
        deadline.wait(0.02)
    raise AssertionError("it never came")


def test_new_replicates_are_offered_and_not_thrust_upon_a_reader(
    browser: Browser, tmp_path: Path
) -> None:
    study = small(tmp_path)
    told = running(study.watch())
    with (
        answering(study, watch=told) as server,
        visiting(browser, f"{server.url}#c=01c0ffee&t=3&a=0") as visited,
    ):
        visited.clock.run_for(3100)
        _await(lambda: "watch" in server.asked)
        rows = visited.locator("#list tbody tr")
        expect(rows).to_have_count(3)
        more = study.data()
        more["figures-1"]["replicates"] = more["figures-1"]["replicates"][:2]
        first, second = more["index"]["conditions"]
        second["name"] = "another name"
        # A condition that has been begun meanwhile stands before the one that is read.
        more["index"]["conditions"] = [first, {**first, "id": "new", "cell": "new"}, second]
        more["figures-2"], more["talk-2"] = more["figures-1"], more["talk-1"]
        more["figures-1"], more["talk-1"] = more["figures-0"], more["talk-0"]
        counted = {**told["conditions"][1], "completed": 2, "running": 0}
        server.blocks |= {**more, "watch": {**told, "conditions": [told["conditions"][0], counted]}}
        visited.focus("#conditions li >> nth=1")
        visited.clock.run_for(3100)
        expect(visited.locator("#fresh")).to_be_visible()
        chosen = visited.locator("#conditions li[aria-selected=true]")
        expect(chosen).to_contain_text("another name")
        expect(chosen).to_be_focused()
        expect(visited.locator("#conditions li")).to_have_count(3)
        expect(rows).to_have_count(3)
        visited.click("#fresh")
        expect(rows).to_have_count(2)
        expect(visited.locator("#fresh")).to_be_hidden()
        assert "c=01c0ffee&t=3&a=0" in read_link(visited)


def test_it_says_that_its_server_is_gone_and_goes_on_when_there_is_one_again(
    browser: Browser, tmp_path: Path
) -> None:
    study = small(tmp_path)
    told = study.watch()
    with (
        answering(study, watch=running(told)) as server,
        visiting(browser, f"{server.url}#v=watch") as visited,
    ):
        news = visited.locator("#watch-news")
        expect(visited.locator(ROWS)).to_have_count(2)
        server.shutdown()
        server.server_close()
        visited.clock.run_for(3100)
        expect(news).to_contain_text("python scripts/explore.py study=told live=true")
        assert visited.locator(ROWS).count() == 2
        again = Answering(server.server_address[1], server.html, {**server.blocks, "watch": told})
        visited.clock.run_for(3100)
        expect(visited.locator("#watch-totals")).to_contain_text("7 of 10 completed")
        expect(news).not_to_contain_text("explore.py")
        again.shutdown()
        again.server_close()


def test_a_search_lists_what_has_come_and_says_that_its_server_is_gone(
    browser: Browser, tmp_path: Path
) -> None:
    study = small(tmp_path)
    with (
        answering(study, watch=running(study.watch())) as server,
        visiting(browser, f"{server.url}#v=watch") as visited,
    ):
        server.held |= {"talk-1"}
        visited.click("[data-view=search]")
        visited.fill("[name=q]", "round")
        told = visited.locator("#seek-told")
        expect(told).to_contain_text("so far")
        expect(visited.locator("#hits li").first).to_be_visible()  # of the first condition
        server.shutdown()
        server.server_close()
        server.blocks = {}
        server.go.set()  # the answer that is under way is the last one
        expect(told).to_contain_text("The search stopped")
        visited.fill("[name=q]", "member")
        expect(told).to_contain_text("the page's server doesn't answer")


def test_a_page_opened_before_the_first_condition_is_stored_watches(
    browser: Browser, tmp_path: Path
) -> None:
    study = small(tmp_path)
    told = study.watch()
    data = study.data()
    empty = {**data["index"], "conditions": [], "differing": [], "common": [], "provenance": ""}
    with (
        answering(study, watch=running(told), index=empty) as server,
        visiting(browser, server.url) as visited,
    ):
        expect(visited.locator(ROWS)).to_have_count(2)
        assert visited.locator(BUTTONS).count() == 0  # there is nothing to open yet
        server.blocks |= {"index": data["index"], "watch": told}
        visited.clock.run_for(3100)
        expect(visited.locator(BUTTONS)).to_have_count(2)
        visited.click('#views [data-view="replicates"]')
        expect(visited.locator("#conditions li")).to_have_count(2)
        assert visited.locator("#list tbody tr").count() >= 3


@pytest.mark.usefixtures("stored")
def test_a_sweep_is_watched_from_its_first_call_to_its_end_killed_and_continued(
    browser: Browser, tmp_path: Path
) -> None:
    # Answers take a tenth of a second: else a fast machine is through before the page is open.
    with serve_in_thread(FaultSettings(latency=Latency(0.1))) as server:
        _watch_killed_and_continued(browser, tmp_path, server.url)


def _watch_killed_and_continued(browser: Browser, tmp_path: Path, url: str) -> None:
    sweep = ("-m", "study=w", "seed=1,2,3", "replicates=4", "rounds=10", "backend=api")
    sweep += (f"backend.api_base.openai={url}", "backend.send_seed=true")
    key = {"OPENAI_API_KEY": "sk-simulated"}
    process = start(tmp_path, "run.py", *sweep, "calls.max_concurrency=2", **key)
    journals = tmp_path / "mlruns/journals"
    wait_for(process, lambda: any(journals.glob("*.page")) and any(journals.glob("*.json")))
    (file,) = journals.glob("*.page")
    address = json.loads(file.read_text())
    link = f"http://127.0.0.1:{address['port']}/{address['token']}/#v=watch"
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.set_default_timeout(60_000)
    visited = context.new_page()
    visited.goto(link)
    totals, news = visited.locator("#watch-totals"), visited.locator("#watch-news")
    expect(totals).to_contain_text("A sweep is running.", timeout=60_000)
    expect(totals).to_contain_text(re.compile(r"[1-9]\d* of 12 completed"), timeout=60_000)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    expect(totals).to_contain_text("No sweep is running.", timeout=60_000)
    expect(news).to_contain_text("The sweep ended")
    told = re.findall(r"(\d+) of 12 completed.* (\d+) pending", totals.inner_text())[0]
    assert sum(map(int, told)) == 12
    assert int(told[1]) > 0
    call(tmp_path, "run.py", *sweep, **key)
    expect(totals).to_contain_text("12 of 12 completed", timeout=60_000)
    expect(visited.locator(BUTTONS)).to_have_count(3, timeout=60_000)
    shown = call(tmp_path, "scripts/status.py", "study=w").stdout
    calls = re.findall(r" (\d+) calls", shown)[0]
    assert f"{int(calls):,} calls" in totals.inner_text()
    visited.goto(link.replace("/#", "?#"))  # without its last slash
    expect(totals).to_contain_text("12 of 12 completed", timeout=60_000)
    context.close()
    for each in psutil.process_iter(["cmdline"]):  # the page's server outlives the sweep
        if str(journals) in " ".join(each.info["cmdline"] or ()):
            each.terminate()
