"""What the page of a study costs: watched sweeps, and pages of small and large studies."""

import os
import re
import resource
import statistics
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

from measuring import watch

ROOT = Path(__file__).resolve().parents[2]
_CHROMIUM = Path("/usr/bin/chromium")
_FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
_ENVIRONMENT = {**os.environ, "PLENUM_ROOT": str(ROOT)}
_SWEEP = ("-m", "roles=on,off", "model=uniform,mixed")
_EVERY_S = 3.0
"""Seconds between a page's requests, as `watch.js` has them."""

TO_REACH = {
    "live_cost": "1.02",
    "open_s": "3 s",
    "search_ms": "200 ms",
    "gather_s": "20 s",
    "gather_mb": "600 MB",
    "page_mb": "0.5 MB",
}


def measure_pages(quick: bool) -> dict[str, float]:
    """Return all figures; of a fifth of the replicates, and of one pair of sweeps, if quick."""
    return {**measure_watching(1 if quick else 5), **measure_large(100 if quick else 500)}


def measure_watching(pairs: int) -> dict[str, float]:
    """CPU of a sweep's processes while its page is open, over alone: the median of some pairs."""
    ratios = []
    for pair in range(pairs):
        # Alternately first, since the machine's clock and its other work drift.
        order = (False, True) if pair % 2 else (True, False)
        used = {watched: _sweep_cpu_s(watched) for watched in order}
        ratios.append(used[True] / used[False])
    with tempfile.TemporaryDirectory() as folder:
        watch([sys.executable, str(ROOT / "run.py"), *_SWEEP], folder, _ENVIRONMENT)
        _explore(folder, "default")
        size = Path(folder, "page.html").stat().st_size
    return {
        "live_cost": round(statistics.median(ratios), 3),
        "live_cost_low": round(min(ratios), 3),
        "live_cost_high": round(max(ratios), 3),
        "page_mb": round(size / 1e6, 3),
    }


def _sweep_cpu_s(watched: bool) -> float:
    """CPU seconds of a sweep's processes; its page's server is none of them."""
    before = _children_cpu_s()
    over = threading.Event()
    with tempfile.TemporaryDirectory() as folder:
        if watched:
            threading.Thread(target=_look_in, args=(Path(folder), over), daemon=True).start()
        watch([sys.executable, str(ROOT / "run.py"), *_SWEEP], folder, _ENVIRONMENT)
        used = _children_cpu_s() - before
        over.set()
    return used


def _look_in(folder: Path, over: threading.Event) -> None:
    """Open the page that a sweep offers, and ask for its news as a browser does."""
    addresses: list[Path] = []
    while not addresses and not over.wait(0.05):
        addresses = [*folder.glob("mlruns/journals/*.page")]
    while not over.is_set():
        with suppress(OSError, ValueError):
            address = re.findall(r'"port": (\d+), "token": "([^"]+)"', addresses[0].read_text())
            (port, token) = address[0]
            for block in ("", "data/watch"):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/{token}/{block}").read()
        over.wait(_EVERY_S)


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)  # of those that have ended
    return used.ru_utime + used.ru_stime


def measure_large(replicates: int) -> dict[str, float]:
    """A page of many replicates of 100 turns: made, opened, searched."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(ROOT / "run.py"), "study=big", f"replicates={replicates}"]
        watch(command, folder, _ENVIRONMENT)
        seen = _explore(folder, "big")
        figures = {"gather_s": round(seen.wall_s, 2), "gather_mb": round(seen.peak_mb, 1)}
        return figures | _browse(Path(folder, "page.html"))


def _explore(folder: str, study: str) -> Any:
    command = [sys.executable, str(ROOT / "scripts/explore.py"), f"study={study}", "out=page.html"]
    return watch(command, folder, _ENVIRONMENT)


def _browse(page: Path) -> dict[str, float]:
    """Seconds until a page is drawn, and milliseconds from a search's last letter to its hits."""
    if not _CHROMIUM.exists():
        return {}
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=list(_FLAGS))
        opened, found = [], []
        for _ in range(5):
            shown = browser.new_page()
            began = time.perf_counter()
            shown.goto(page.as_uri())
            shown.wait_for_selector('#frame[aria-busy="false"]')
            opened.append(time.perf_counter() - began)
            shown.click('#views [data-view="search"]')
            shown.wait_for_timeout(1000)  # somebody who types takes at least as long
            found.append(shown.evaluate(_SEARCH))
            shown.close()
        browser.close()
    return {
        "open_s": round(statistics.median(opened), 2),
        "search_ms": round(statistics.median(found), 1),
    }


_SEARCH = """async () => {
  const words = document.querySelector('#seek [name="q"]');
  const began = performance.now();
  words.value = "trial";
  words.dispatchEvent(new Event("input", { bubbles: true }));
  while (!document.querySelector("#hits > li")) await new Promise(requestAnimationFrame);
  return performance.now() - began;
}"""
