"""The page of a suite in a real headless Chromium: it is sorted, searched, narrowed and printed."""

import json
from pathlib import Path

import pytest
from browsing import HOSTILE, Open, browser, opened
from command_line import call

pytestmark = pytest.mark.long

__all__ = ["browser", "opened"]

WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
FIRST = "#cases tbody tr:not([hidden]) th"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of the command, with a stable, a wrong, a wavering case and hostile ones."""
    folder = tmp_path_factory.mktemp("suite")
    ends = {"steady": "AAAA", "wrong": "BBBB", "coin": "ABAB", "seldom": "AAAB"}
    cases = {f"{name} {n}": held for n in range(12) for name, held in ends.items()}
    cases |= {f"{n} {text[:300]}".replace("\ud83d", ""): "ABAB" for n, text in enumerate(HOSTILE)}
    rows = [
        {"case": case, "decision": end, "answer": "A", "options": {"A": "hire", "B": "reject"}}
        for case, held in cases.items()
        for end in held
    ]
    (folder / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ("tracking=none", "logs=runs.jsonl", "suite=true", "decide=true", "out=out")
    call(folder, "scripts/audit.py", *arguments, status=1)
    return folder / "out/suite.html"


def test_its_table_is_sorted_and_searched_by_mouse_and_keyboard(opened: Open, page: Path) -> None:
    with opened(page, ready="#cases .search") as seen:
        heads = seen.page.locator("#cases thead th")
        score = heads.filter(has_text="score")
        score.locator("button").click()
        assert score.get_attribute("aria-sort") == "descending"
        assert "steady" in seen.page.locator(FIRST).first.inner_text()
        score.locator("button").focus()
        seen.page.keyboard.press("Enter")
        assert score.get_attribute("aria-sort") == "ascending"
        assert "wrong" in seen.page.locator(FIRST).first.inner_text()
        assert seen.page.locator("#cases [aria-sort]").count() == 1
        seen.page.fill("#cases .search input", "SELDOM reject")
        assert seen.page.locator(FIRST).count() == 12
        assert "12 of 55 lines" in seen.text("#cases output")
        seen.page.fill("#cases .search input", "")
        assert seen.page.locator(FIRST).count() == 55


def test_hostile_names_are_inert_and_pictures_are_seen(opened: Open, page: Path) -> None:
    with opened(page, ready="#cases .search") as seen:
        assert seen.page.evaluate("window.hit") is None
        assert seen.page.evaluate("document.images.length") == 3
        widths = "[...document.images].every(i => i.naturalWidth > 100 && i.alt)"
        assert seen.page.evaluate(widths)
        assert seen.page.locator("script").count() == 1
        assert seen.page.evaluate("document.styleSheets.length") == 1


def test_a_narrow_screen_needs_no_sideways_scroll(opened: Open, page: Path) -> None:
    narrow = {"width": 390, "height": 844}
    with opened(page, ready="#cases .search", viewport=narrow) as seen:
        assert seen.page.evaluate(WIDE) <= 0


def test_all_cases_are_printed_even_after_a_search(opened: Open, page: Path) -> None:
    with opened(page, ready="#cases .search") as seen:
        seen.page.fill("#cases .search input", "steady")
        seen.page.emulate_media(media="print")
        seen.page.set_viewport_size({"width": 680, "height": 960})  # A4 within its margins
        assert seen.page.locator("#cases tbody tr:visible").count() == 55
        assert not seen.page.locator("#cases .search").is_visible()
        assert seen.page.evaluate(WIDE) <= 0
        assert seen.page.pdf(format="A4", prefer_css_page_size=True).startswith(b"%PDF")


def test_without_scripts_the_table_is_complete(opened: Open, page: Path) -> None:
    with opened(page, ready="#cases table", java_script_enabled=False) as seen:
        assert seen.page.locator("#cases tbody tr").count() == 55
        assert seen.page.locator("#cases button").count() == 0


def test_a_command_that_fails_replaces_the_verdict_of_a_folder_of_logs(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    for part in range(2):
        rows = [{"case": f"{part} {n // 4}", "decision": "A"} for n in range(160)]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"logs/{part}.jsonl").write_text(text)
    arguments = ("tracking=none", "suite=true", "out=out", "tested_by=Ada")
    call(tmp_path, "scripts/audit.py", "logs=logs", *arguments, status=0)
    out = tmp_path / "out"
    assert "Stable" in (out / "suite.html").read_text()
    assert (out / "audit.intoto.json").exists()
    call(tmp_path, "scripts/audit.py", "logs=logs", *arguments, "gate=bad", status=2)
    assert json.loads((out / "suite.json").read_text())["exit_status"] == 2
    for name in ("suite.html", "suite.md"):
        text = (out / name).read_text()
        assert "gate: bad" in text
        assert "Stable" not in text
    assert (out / "suite.csv").read_text().strip() == "case"
    assert not (out / "audit.intoto.json").exists()
    call(tmp_path, "scripts/audit.py", "logs=none.jsonl", *arguments, status=2)
    assert "there is no such file" in (out / "suite.md").read_text()
