"""Pages in a real headless Chromium: what they show, run, load and complain of."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync")
READY = '#frame[aria-busy="false"]'
HOSTILE = (
    "</script><script>window.hit = 1</script><img src=x onerror='window.hit = 1'>",
    "<!--<script>",
    "]]></style><style>* { display: none }</style>",
    "javascript:alert(1) &lt;b&gt; {{ 7 * 7 }} ${window.hit = 1}",
    "left \u202e\u2066 overridden \u2028 line \u0000 and \ud83d alone",
    "w" * 5000,
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 with <svg/onload=alert(1)>",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        if os.environ.get("PLENUM_REQUIRE_BROWSER"):
            pytest.fail(f"there is no {CHROMIUM}, and PLENUM_REQUIRE_BROWSER wants one")
        pytest.skip(f"there is no {CHROMIUM}; apt-get install chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield chromium
        chromium.close()


@dataclass
class Seen:
    """A page and what it did beside being shown."""

    page: Page
    troubles: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def text(self, selector: str) -> str:
        return self.page.inner_text(selector)

    def choose(self, *numbers: int) -> None:
        for number in numbers:
            self.page.click(f'#list tr[data-n="{number}"]')
        self.page.wait_for_selector("#talk section, #talk[hidden]", state="attached")

    def round(self) -> str:
        return self.page.input_value("#round")

    def tabbed(self) -> set[str]:
        """What the Tab key reaches, up to the first row of a table."""
        reached = [""]
        while reached[-1] != "TR" and len(reached) <= 40:
            self.page.keyboard.press("Tab")
            focused = "document.activeElement.id || document.activeElement.tagName"
            reached.append(self.page.evaluate(focused))
        return set(reached)

    def runs_nothing(self) -> None:
        """Texts neither ran as code nor became elements."""
        assert self.page.evaluate("window.hit") is None
        assert self.page.evaluate("document.images.length") == 0
        assert self.page.evaluate("document.styleSheets.length") == 1
        assert self.page.locator("script:not([type='text/plain'])").count() == 1


def read_link(page: Page) -> str:
    """The fragment of the page's address, asked of the page: `page.url` learns of it later."""
    return str(page.evaluate("location.hash"))


Open = Callable[..., Any]


@pytest.fixture
def opened(browser: Browser) -> Open:
    """Open a page; at the end it must have loaded nothing and complained of nothing."""

    @contextmanager
    def visit(file: Path, fragment: str = "", ready: str = READY, **context: Any) -> Iterator[Seen]:
        fresh = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **context})
        fresh.set_default_timeout(15_000)
        page = fresh.new_page()
        seen = Seen(page)
        page.on("console", lambda message: seen.troubles.append(message.text))
        page.on("pageerror", lambda error: seen.troubles.append(str(error)))
        page.on("dialog", lambda dialog: seen.troubles.append(dialog.message))
        page.on("request", lambda request: seen.requests.append(request.url))
        page.goto(f"{file.as_uri()}{fragment}")
        page.wait_for_selector(ready)
        yield seen
        assert seen.troubles == []
        # A worker of the page's own script is no request to anywhere.
        asked = [url.partition("#")[0] for url in seen.requests if not url.startswith("blob:")]
        assert asked == [file.as_uri()]
        fresh.close()

    return visit
