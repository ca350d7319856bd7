"""What the explorer's page holds, and what seals it."""

import base64
import gzip
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from explorer_studies import OPTIONS, Written, plain

from plenum.base.errors import UserError
from plenum.dynamics.divergence import divergence
from plenum.dynamics.warnings import WARNINGS
from plenum.reports.explorer.gather import COMMITTEE_EXPLORER
from plenum.reports.explorer.page import page
from plenum.reports.explorer.publish import ExploredStudy, publish_explorer, select_by_prefix
from plenum.reports.explorer.replicates import farthest

FAILED = {"reason": "parse", "at": {"call": "turn", "round": 2, "seat": "Rights"}, "detail": "no"}


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return Written(tmp_path)


def unpacked(html: str, name: str) -> Any:
    found = re.search(rf'<script type="text/plain" id="{name}">([A-Za-z0-9+/=]*)</script>', html)
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


def test_trajectories_divergence_and_the_fitted_line_are_those_of_the_estimates(
    written: Written,
) -> None:
    condition = written.condition(12, 8)
    figures = written.data()["figures-0"]
    paths = [np.reshape(r["path"], (8, 3)) / 1e6 for r in figures["replicates"]]
    np.testing.assert_allclose(paths, condition.ensemble, atol=1e-6)
    np.testing.assert_allclose(figures["D"], divergence(condition.ensemble))
    summary, fit = written.rows()[0].summary, figures["fit"]
    assert summary is not None
    own = summary.lyapunov
    low = None if np.isnan(own.ci_low) else own.ci_low
    assert (fit["slope"], fit["low"], figures["window"]) == (own.value, low, [3, 8])
    slope, intercept = np.polyfit(np.arange(3, 9), np.log(divergence(condition.ensemble)[2:]), 1)
    assert fit["slope"] == pytest.approx(slope)
    assert fit["log"] == pytest.approx(intercept + slope * fit["x"])


def test_equal_texts_are_held_once(written: Written) -> None:
    written.condition(20, 6, say=lambda r, t, seat: f"round {t}")
    talk = written.data()["talk-0"]
    assert sorted(text for text in talk["texts"] if text.startswith("round")) == [
        f"round {t}" for t in range(1, 7)
    ]
    assert len(talk["replicates"]) == 20


def test_a_failed_replicate_stands_there_with_its_reason_and_its_last_answer(
    written: Written,
) -> None:
    written.condition(4, 6, broken={2: FAILED})
    data = written.data()
    entry, figures = data["index"]["conditions"][0], data["figures-0"]
    assert (entry["n"], entry["failed"], entry["target"]) == (3, 1, 4)
    third = figures["replicates"][2]
    assert (third["status"], third["reason"], third["at"]) == ("failed", "parse", FAILED["at"])
    assert len(third["path"]) == 3  # one whole round of three options
    last = data["talk-0"]["replicates"][2][-1]
    assert (last[0], last[3], len(last)) == (2, 4, 4)
    assert data["talk-0"]["texts"][last[2]] == plain(2, 2, "Rights")


def test_a_damaged_journal_is_named_and_the_rest_is_shown(written: Written) -> None:
    written.condition()
    file = written.kept["run0"][1].path
    file.write_text(file.read_text().replace("keeps", "keep", 1))
    found = written.data()["figures-0"]["replicates"]
    assert [one["status"] for one in found] == ["completed", "damaged", "completed", "completed"]


def test_what_was_never_begun_is_counted_and_without_estimates_replicates_stay(
    written: Written,
) -> None:
    condition = written.condition()
    empty = np.empty((0, 0, 0, 0))
    written.tracked[0] = replace(condition, target=10, preferences=empty, decisions=())
    data = written.data()
    assert data["index"]["conditions"][0]["status"] == "no_estimates"
    figures = data["figures-0"]
    assert (figures["unbegun"], len(figures["replicates"])) == (6, 4)
    paths = np.array([each["path"] for each in figures["replicates"]]).reshape(4, 6, 3) / 1e6
    assert figures["D"] == pytest.approx(divergence(paths).tolist())
    assert "fit" not in figures


def test_every_status_and_warning_of_a_row_is_explained(written: Written) -> None:
    written.condition(3, 6)
    entry = written.data()["index"]["conditions"][0]
    assert entry["warnings"]
    assert {entry["status"], *entry["warnings"]} - {"ok"} <= WARNINGS.keys()


def test_most_keeps_the_transcripts_that_lie_farthest_apart_and_all_failed_ones(
    written: Written,
) -> None:
    written.condition(12, 6, broken={5: FAILED})
    data = written.data(most=3)
    kept = data["talk-0"]["replicates"]
    assert len(kept) == 4
    assert 5 in kept
    assert len(data["figures-0"]["replicates"]) == 12
    left_out = [one["n"] for one in data["figures-0"]["replicates"] if not one["shown"]]
    assert len(left_out) == 8


def test_farthest_takes_the_ends_first() -> None:
    places = np.array([0.0, 0.1, 0.12, 0.5, 1.0])
    paths = np.stack([places, 1 - places], axis=1)[:, None]
    assert farthest(paths, 2) == [0, 4]
    assert farthest(paths, 3) == [0, 3, 4]
    assert farthest(paths, 9) == [0, 1, 2, 3, 4]


def test_a_condition_is_chosen_by_the_first_letters_of_its_identity(written: Written) -> None:
    written.condition()
    written.condition(roles="off")
    tracked = written.tracked
    assert select_by_prefix(tracked, "01c0") == [tracked[1]]
    with pytest.raises(UserError, match="condition: no identity begins with 'zz'; known: 00c0ffee"):
        select_by_prefix(tracked, "zz")


def test_two_labels_of_one_identity_have_names_of_their_own(written: Written) -> None:
    written.condition()
    written.tracked.append(replace(written.tracked[0], run_id="again"))
    found = written.data()["index"]["conditions"]
    assert [entry["id"] for entry in found] == ["00c0ffee", "00c0ffee.2"]


def test_the_policy_allows_the_pages_own_script_and_style_and_nothing_else(
    written: Written,
) -> None:
    written.condition()
    html = written.page().read_text()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    rules = dict(rule.split(" ", 1) for rule in policy[1].replace("&#39;", "'").split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    for tag, rule in ((r"script type=\"module\"", "script-src"), ("style", "style-src")):
        text = re.search(rf"<{tag}>(.*?)</(?:script|style)>", html, re.S)
        assert text is not None
        digest = base64.b64encode(hashlib.sha256(text[1].encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"


def test_texts_come_back_as_they_were_and_never_stand_in_the_page(written: Written) -> None:
    hostile = "</script><img src=x onerror=alert(1)><!-- \u2028 \u202e \ud800"
    options = {**OPTIONS, "B": "</script><b>bold"}
    written.condition(say=lambda r, t, seat: hostile.replace("\ud800", ""), options=options)
    data = written.data()
    data["talk-0"]["texts"].append(hostile)
    html = page("</title><script>alert(1)</script>", data, COMMITTEE_EXPLORER.layout)
    assert hostile in unpacked(html, "talk-0")["texts"]
    assert unpacked(html, "figures-0")["options"][1] == ["B", "</script><b>bold"]
    assert "<img" not in html
    assert html.count("alert(1)") == html.count("&lt;/title&gt;&lt;script&gt;alert(1)") == 2


def test_the_same_study_gives_the_same_page(written: Written) -> None:
    written.condition()
    assert written.page().read_bytes() == written.page().read_bytes()


def test_scripts_put_data_in_the_page_as_text_alone() -> None:
    import plenum.reports.explorer as room

    folder = Path(str(room.__file__)).parent / "assets"
    source = "\n".join(file.read_text() for file in folder.glob("*.js"))
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(", source
    )
    assert "</script" not in source
    own = "const place = location.origin + location.pathname"  # of a live page: its own server
    assert own in source
    source = source.replace("fetch(`${place}${id}", "")
    assert not re.search(r"fetch\(|XMLHttp|import\(|https?://(?!www\.w3\.org/2000/svg)", source)


def test_a_file_that_cannot_be_written_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    chosen = ExploredStudy("s", f"sqlite:///{tmp_path}/none.db", tmp_path / "file" / "page.html")
    with pytest.raises(UserError, match=r"out: .* can't be written to"):
        publish_explorer(chosen)
