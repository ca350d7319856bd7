"""What MLflow's own UI shows of a study, in a real headless Chromium."""

from pathlib import Path
from typing import Any

import pytest
from browsing import browser
from playwright.sync_api import Browser, Page, expect

from plenum.records.journal import Journal
from plenum.records.transcript import read_transcript
from plenum.tracking import store, traces, views
from plenum.tracking.report_run import log_report
from plenum.tracking.writer import StudyWriter

pytestmark = pytest.mark.long

__all__ = ["browser"]

FACTORS = {
    **{"scenario": "s", "model": "uniform", "memory": "k3", "temperature": "t0.7", "seed": 0},
    **{"backend": "simulated", "perturbation": "none", "settings": "default", "rounds": 3},
    **{"clerk": "m", "options": {"A": "one", "B": "two"}, "seats": []},
}
ESTIMATES: dict[str, Any] = {
    **{"divergence": [0.1, 0.2, 0.4], "status": "ok", "interval": "jackknife"},
    **{"warnings": [], "failures": {}, "made_from": "0123"},
}


@pytest.fixture(scope="module")
def link(mlflow_server: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A study of two conditions with a report; the link that is printed for it."""
    cells = {f"cell-{roles}": {**FACTORS, "roles": roles} for roles in ("on", "off")}
    writer = StudyWriter(mlflow_server, "shown", "1.0+abcdef1", cells)
    for number, roles in enumerate(("on", "off")):
        condition = {**FACTORS, "roles": roles, "condition": roles, "cell": f"cell-{roles}"}
        metrics = {"lambda": 0.125 + number, "flip_rate": 0.25}
        writer.open(condition, 1).close([], {**ESTIMATES, "metrics": metrics}, "a: 1")
    file = tmp_path_factory.mktemp("shown") / "tables.md"
    file.write_text("table")
    log_report("shown", mlflow_server, [file])
    experiment = store.open_client(mlflow_server).get_experiment_by_name("shown")
    assert experiment is not None
    write_trace(mlflow_server, experiment.experiment_id, file.with_name("000.jsonl"))
    return views.link(mlflow_server, experiment.experiment_id)


def write_trace(server: str, experiment: str, journal: Path) -> None:
    """Write a replicate that decided as a trace."""
    with Journal(journal, {"replicate": 0, "options": FACTORS["options"]}) as written:
        written.append(
            {"kind": "end", "status": "completed", "decision": "A", "votes": 2, "total": 3}
        )
    trace = traces.Trace(
        id=traces.identifier(experiment),
        experiment=experiment,
        run_id="",
        name="s on uniform k3 t0.7 r000",
        session="s",
        tags={"plenum.simulated": "true"},
    )
    traces.write(store.open_client(server), trace, read_transcript(journal), [], [], begun=1e9)


@pytest.fixture
def page(browser: Browser) -> Page:
    page = browser.new_page(viewport={"width": 1500, "height": 900})
    page.set_default_timeout(30_000)
    return page


def test_the_link_opens_the_charts_of_the_conditions(page: Page, link: str) -> None:
    page.goto(link)
    chart = page.get_by_test_id("experiment-view-compare-runs-chart-area")
    expect(chart.get_by_text("flip_rate", exact=True).first).to_be_visible(timeout=30_000)
    for name in ("D", "lambda"):
        expect(chart.get_by_text(name, exact=True).first).to_be_visible()
    expect(page.get_by_text("roles=on", exact=True).first).to_be_visible()
    expect(page.get_by_text("2 matching runs")).to_be_visible()
    expect(page.get_by_text("report", exact=True)).to_have_count(0)


def test_charts_stand_in_sections_with_their_names_whole(page: Page, link: str) -> None:
    page.goto(link)
    chart = page.get_by_test_id("experiment-view-compare-runs-chart-area")
    for name in ("Divergence by round", "Decisions, growth λ̂", "Model metrics"):
        expect(chart.get_by_text(name).first).to_be_visible(timeout=30_000)
    for name in ("D", "log_D", "flip_rate", "lambda"):
        title = chart.get_by_text(name, exact=True).first
        expect(title).to_be_visible()
        assert title.evaluate("each => each.scrollWidth <= each.clientWidth")


def test_the_description_leads_from_charts_to_replicates_and_back(page: Page, link: str) -> None:
    page.goto(link)
    with page.expect_popup() as opened:
        page.get_by_role("link", name="replicates, turn by turn").click()
    listed = opened.value
    listed.get_by_text("Got it", exact=True).click()  # MLflow's hint, which hides all else
    headers = listed.get_by_role("columnheader")
    expect(headers.get_by_text("Output").first).to_be_visible(timeout=30_000)
    expect(listed.get_by_text("s on uniform k3 t0.7 r000")).to_be_visible()
    expect(listed.get_by_text("decision A, 2 of 3 votes")).to_be_visible()
    expect(listed.get_by_text("plenum.simulated", exact=True).first).to_be_visible()
    with listed.expect_popup() as opened:
        listed.get_by_role("link", name="conditions compared by charts").click()
    chart = opened.value.get_by_test_id("experiment-view-compare-runs-chart-area")
    expect(chart.get_by_text("Divergence by round")).to_be_visible(timeout=30_000)


def test_the_list_of_runs_has_estimates_and_a_source(page: Page, link: str) -> None:
    page.goto(link.replace("&compareRunsMode=CHART", ""))
    headers = page.get_by_role("columnheader")
    for name in ("flip_rate", "lambda", "Source"):
        expect(headers.get_by_text(name, exact=True)).to_be_visible(timeout=30_000)
    cells = page.get_by_role("gridcell")
    expect(cells.get_by_text("plenum", exact=True)).to_have_count(2)
    assert {"0.125", "1.125"} <= set(cells.all_inner_texts())
