"""Pages on paper: what is folded on the screen is printed, in a real headless Chromium."""

from pathlib import Path

import pytest
from browsing import browser
from playwright.sync_api import Browser

import plenum

pytestmark = pytest.mark.long

__all__ = ["browser"]

ROOM = Path(plenum.__file__).parent
FOLDED = "<details><summary>more</summary><p id='folded'>evidence</p></details>"


@pytest.mark.parametrize("style", ["show/report.css", "reports/explorer/assets/page.css"])
def test_what_is_folded_is_printed(browser: Browser, style: str) -> None:
    page = browser.new_page()
    page.set_content(f"<style>{(ROOM / style).read_text()}</style>{FOLDED}")
    height = "document.querySelector('details').offsetHeight"
    folded = page.evaluate(height)
    page.emulate_media(media="print")
    assert page.evaluate(height) > folded + 5
