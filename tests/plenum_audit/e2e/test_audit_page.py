"""The page of an audit in a real headless Chromium: it loads nothing, and nothing in it acts."""

from pathlib import Path

import pytest
from audit_studies import AuditStudy, conversation
from browsing import HOSTILE, Open, browser, opened

pytestmark = pytest.mark.long

__all__ = ["browser", "opened"]

READY = "main section"
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
LAST = ("excluded", "limits", "cases", "clauses", "record", "glossary")
WAVERING = ["A", "A", "B", "A", "B"] * 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


def page_of(study: AuditStudy) -> Path:
    study.publish()
    return study.chosen.out / "audit.html"


def test_it_has_verdict_parting_cost_and_what_was_controlled(opened: Open, folder: Path) -> None:
    study = AuditStudy(folder)
    study.case("steady", ["A"] * 18, answer="A")
    runs = [conversation(d, 6, part=3 + n % 3) for n, d in enumerate(WAVERING)]
    study.case("wavering", WAVERING, runs=runs, answer="A")
    study.case("wavering", ["A"] * 18, answer="A", knobs={"moderator": True})
    with opened(page_of(study), ready=READY) as seen:
        assert seen.text("h1") == (
            "Audit of hiring.py:committee: Unstable; 80 % of runs reach the expected answers, "
            "averaged over cases (rehearsal with simulated agents, not evidence)"
        )
        assert "in one of two cases fewer than 95 % of runs" in seen.text(".lead")
        assert "Simulated agents" in seen.text(".notice")
        anchors = seen.page.locator("main section").evaluate_all("all => all.map(s => s.id)")
        assert anchors == [
            *("verdict", "follows", "parting", "cost", "controlled"),
            *LAST,
        ]
        first = seen.page.locator("#cases .sortable tbody tr")
        assert first.count() == 2
        assert "60\N{NO-BREAK SPACE}% [" in first.nth(0).inner_text()
        assert seen.page.locator("mark.first").all_inner_texts() == ["A", "B"]
        assert "Run 0" in seen.text(".sides .heads")
        assert "round 5" in seen.text(".part + .exchange h3")
        assert seen.page.evaluate("document.querySelector('#figure-1 img').naturalWidth") > 100
        assert "0.7" in seen.text("#controlled")
        assert seen.page.locator("script").count() == 1


def test_what_names_the_program_is_found_first_and_its_packages_are_folded_away(
    opened: Open, folder: Path
) -> None:
    packages = {f"package_{n}": f"{n}.0" for n in range(150)}
    named = {"function": "app.py:f", "code": {"app.py": "c0ffee"}, "packages": packages}
    study = AuditStudy(folder, name="folded", program=named)
    study.case("steady", ["A"] * 18)
    with opened(page_of(study), ready=READY) as seen:
        points = seen.page.locator("#controlled li").all_inner_texts()
        assert "function app.py:f; its code and packages: Table" in points[0]
        assert "gpt-x; system prompts: Table" in points[1]
        assert "package_" not in "".join(points)
        prompts, parts = seen.page.locator("#controlled details").all()
        assert parts.locator("summary").inner_text().endswith("code 1, packages 150")
        assert not parts.get_by_text("package_149").is_visible()
        for folded in (prompts, parts):
            folded.locator("summary").click()
        assert "You are the Chair." in prompts.inner_text()
        rows = parts.locator("tbody tr")
        assert rows.first.inner_text().split() == ["code", "app.py", "c0ffee"]
        assert rows.count() == 2
        assert parts.get_by_text("package_149").is_visible()
        assert seen.page.evaluate(WIDE) <= 0


def test_stable_runs_have_no_parting(opened: Open, folder: Path) -> None:
    study = AuditStudy(folder, name="bare")
    study.case("steady", ["A"] * 18, runs=[conversation("A", shares=False)] * 18)
    with opened(page_of(study), ready=READY) as seen:
        anchors = seen.page.locator("main section").evaluate_all("all => all.map(s => s.id)")
        assert anchors == ["verdict", "follows", "cost", "controlled", *LAST]


def test_hostile_texts_are_inert_and_nothing_sticks_out(opened: Open, folder: Path) -> None:
    study = AuditStudy(folder, name="hostile", committee=HOSTILE[0], program={"code": HOSTILE[2]})
    for number, text in enumerate(HOSTILE):
        safe = text.replace("\ud83d", "")
        runs = [conversation(d) for d in WAVERING]
        for entries in runs:
            for entry in entries:
                entry |= {"text": safe + entry["text"], "seat": safe[:200] + entry["seat"]}
        id, options = f"{number} {safe[:200]}", {"A": safe, "B": "no"}
        study.case(id, WAVERING, runs=runs, text=safe, options=options)
    with opened(page_of(study), ready=READY) as seen:
        page = seen.page
        page.locator("details").evaluate_all("all => all.forEach(d => { d.open = true })")
        assert page.evaluate("window.hit") is None
        assert page.evaluate("document.images.length") == page.locator("figure.picture img").count()
        assert page.evaluate("document.styleSheets.length") == 1
        shown = page.evaluate("document.body.textContent")
        assert HOSTILE[0] in shown
        assert not {"\u202e", "\u2066", "\u0000"} & set(shown)
        assert page.evaluate(WIDE) <= 0


def test_a_page_of_many_cases_is_sorted_searched_printed_and_small(
    opened: Open, folder: Path
) -> None:
    study = AuditStudy(folder, name="many")
    for number in range(12):
        decisions = WAVERING if number % 3 == 0 else ["A"] * 18
        study.case(f"claim {number}", decisions, answer="AB"[number % 4 == 1])
    page = page_of(study)
    assert page.stat().st_size < 1_000_000
    first = "#cases .sortable tbody tr:not([hidden]) th"
    with opened(page, ready="#cases .search") as seen:
        alike = seen.page.locator("#cases .sortable thead th").filter(has_text="decide alike")
        alike.locator("button").focus()
        seen.page.keyboard.press("Enter")
        assert alike.get_attribute("aria-sort") == "descending"
        shares = seen.page.locator("#cases .sortable tbody td:nth-child(3)").all_inner_texts()
        values = [int(share.split("\N{NO-BREAK SPACE}")[0]) for share in shares]
        assert values == sorted(values, reverse=True)
        seen.page.fill("#cases .search input", "unstable claim")
        assert seen.page.locator(first).count() == 4
        pictures = seen.page.locator("#verdict .picture img")
        widths = "all => all.every(i => i.naturalWidth > 100 && i.alt)"
        assert (pictures.count(), pictures.evaluate_all(widths)) == (2, True)
        follows = seen.text("#follows")
        assert "Do not use it without a person in these cases" in follows
        assert "Nor in these" in follows
        seen.page.emulate_media(media="print")
        seen.page.set_viewport_size({"width": 680, "height": 960})  # A4 within its margins
        assert seen.page.locator("#cases .sortable tbody tr:visible").count() == 12
        assert seen.page.get_by_text("Shall we hire this person?").last.is_visible()
        assert seen.page.evaluate(WIDE) <= 0
    with opened(page, ready="#cases .search", viewport={"width": 390, "height": 844}) as seen:
        assert seen.page.evaluate(WIDE) <= 0
