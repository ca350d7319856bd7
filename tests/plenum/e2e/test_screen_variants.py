"""The script of wordings on the real command line, and its judge over real sockets."""

import fcntl
import json
import os
import shutil
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from command_line import KEY, ROOT, Run, start, table, wait_for
from openai_server import Server, completion

from plenum.records.transcript import SIMULATED

pytestmark = pytest.mark.long

SCRIPT = "scripts/screen_variants.py"
PAIRS = 10 + 9 + 15  # rephrasings and layouts of IM-01, and pairs of its six registers


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the variants, to be spoilt."""
    return Path(shutil.copytree(ROOT / "scenarios" / "variants", tmp_path / "variants"))


def against(server: Server, *more: str) -> list[str]:
    return [
        *("judge=gpt-4.1-mini", "scenarios=[IM-01]", f"backend.api_base.openai={server.url}"),
        *("calls.backoff_s=0.01", "calls.timeout_s=20", *more),
    ]


def scored(score: Any, difference: str = "none") -> dict[str, Any]:
    return {"choice": {"content": json.dumps({"score": score, "difference": difference})}}


def screened(run: Run, *arguments: str, status: int = 0) -> tuple[str, str]:
    done = run(*arguments, script=SCRIPT, OPENAI_API_KEY=KEY, status=status)
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


# ---- rules


def test_the_variants_of_all_scenarios_pass_the_rules(run: Run, tmp_path: Path) -> None:
    run(script=SCRIPT)  # without a key
    read = table(tmp_path, "screen_variants", "variants")
    assert {row["passes"] for row in read} == {"True"}
    families = Counter((row["scenario"], row["family"]) for row in read)
    assert len({scenario for scenario, _ in families}) == 13
    assert families["CL-04", "format"] == 9
    assert families["CL-04", "rephrase"] == 10 + 1  # and the sentences that they are made of
    assert [row["variant"] for row in read if row["family"] == "register"][1:] == [
        *("register_formal", "register_conversational", "register_legalistic"),
        *("register_passive", "register_synonym"),
    ]


def test_a_variant_that_fails_is_named_and_ends_with_status_1(
    run: Run, folder: Path, tmp_path: Path
) -> None:
    file = folder / "IM-01.yaml"
    file.write_text(file.read_text().replace("20,000", "21,000"))
    printed, errors = screened(run, "scenarios=[IM-01,IM-02]", f"folder={folder}", status=1)
    assert "the scenario has changed" in " ".join(printed.split())
    assert errors.startswith("1 problems in 1 of ")
    failing = [
        row for row in table(tmp_path, "screen_variants", "variants") if row["passes"] == "False"
    ]
    assert [(row["scenario"], row["variant"]) for row in failing] == [("IM-01", "ways")]


def test_combining_adds_rephrasings_once(run: Run, folder: Path) -> None:
    file = folder / "HL-01.yaml"
    text = file.read_text()
    bare = text[: text.index("rephrasings:")]
    file.write_text(bare)
    usual = ("scenarios=[HL-01,IM-01]", f"folder={folder}")
    printed, _ = screened(run, *usual)
    assert "HL-01.yaml has no rephrasings yet" in printed
    printed, _ = screened(run, *usual, "combine=true")
    assert "HL-01.yaml: ten rephrasings added" in printed
    assert "IM-01.yaml: has rephrasings, unchanged" in printed
    assert file.read_text() == text
    printed, _ = screened(run, *usual, "combine=true")
    assert "HL-01.yaml: has rephrasings, unchanged" in printed
    assert file.read_text() == text


# ---- the judge


def test_every_pair_gets_a_score_and_low_ones_are_flagged(
    server: Server, run: Run, tmp_path: Path
) -> None:
    server.script += [scored(9.5)] * (PAIRS - 2)
    server.script += [scored(7, "a hedge is lost"), scored(8.5)]
    printed, errors = screened(run, *against(server), status=1)
    assert errors.splitlines()[-1] == "1 pairs are flagged"
    assert "a hedge is lost" in printed
    read = table(tmp_path, "screen_variants", "scores")
    assert len(read) == len(server.requests) == PAIRS
    assert Counter(float(row["score"]) for row in read) == {9.5: PAIRS - 2, 7: 1, 8.5: 1}
    assert [row["difference"] for row in read if row["flagged"] == "True"] == ["a hedge is lost"]
    assert {row["judge"] for row in read} == {"gpt-4.1-mini"}
    asked = [request["body"]["messages"][1]["content"] for request in server.requests]
    assert len(set(asked)) == PAIRS
    assert all("<first>\nIM-01: Asylum admission rule" in text for text in asked)


def test_a_second_run_asks_nothing_and_says_the_same(
    server: Server, run: Run, tmp_path: Path
) -> None:
    server.script += [scored(9)] * PAIRS
    screened(run, *against(server))
    first = table(tmp_path, "screen_variants", "scores")
    printed, _ = screened(run, *against(server))
    assert len(server.requests) == PAIRS
    assert table(tmp_path, "screen_variants", "scores") == first
    assert f"{PAIRS} of {PAIRS} scores are from earlier runs" in printed
    server.script += [scored(6)] * PAIRS
    screened(run, *against(server, "temperature=t0.7"), status=1)  # another judge
    assert len(server.requests) == 2 * PAIRS


def test_only_a_pair_whose_text_has_changed_is_asked_about_again(
    server: Server, run: Run, folder: Path
) -> None:
    server.script += [scored(9)] * (PAIRS + 5)
    usual = against(server, f"folder={folder}")
    screened(run, *usual)
    file = folder / "IM-01.registers.yaml"
    old = "The Republic of Velmar has got 20,000 asylum applications waiting"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, old.replace("has got", "has")))
    screened(run, *usual)
    assert len(server.requests) == PAIRS + 5  # beside the canonical wording and four registers


def test_an_answer_without_a_score_is_asked_for_once_more_and_then_stays_unread(
    server: Server, run: Run, tmp_path: Path
) -> None:
    one = "calls.max_concurrency=1"  # so that the answers meet the questions in order
    server.script += [{"choice": {"content": "Nine of ten."}}, {"choice": {"content": "9!"}}]
    server.script += [{"choice": {"content": "Nine."}}, scored(9)] + [scored(9)] * PAIRS
    printed, errors = screened(run, *against(server, one, "calls.adapt=false"), status=1)
    asked = [len(request["body"]["messages"]) for request in server.requests]
    assert Counter(asked) == {2: PAIRS, 4: 2}
    last = [r["body"]["messages"][-1]["content"] for r in server.requests if len(r["body"]) > 2]
    assert sum("no JSON object" in text for text in last) == 2
    scores = Counter(
        (row["outcome"], row["score"]) for row in table(tmp_path, "screen_variants", "scores")
    )
    unread = scores["unread", ""]
    assert unread >= 1  # a pair's second question may stand behind another pair's first one
    assert scores["ok", "9.0"] == PAIRS - unread
    assert errors.splitlines()[-1] == f"{unread} pairs have no score"
    assert "Without a score" in printed
    before = len(server.requests)
    screened(run, *against(server))
    assert len(server.requests) == before + unread  # and only these are asked about again


def test_a_refused_key_stops_it_and_what_came_is_kept(
    server: Server, run: Run, tmp_path: Path
) -> None:
    server.script += [scored(9)] * 5 + [{"status": 401, "message": f"bad key {KEY}"}] * PAIRS
    few = ("calls.start_concurrency=1", "calls.max_concurrency=1", "calls.adapt=false")
    printed, errors = screened(run, *against(server, *few), status=1)
    last = errors.splitlines()[-1]
    assert last.startswith("stopped: model gpt-4.1-mini: the key was refused: ")
    assert last.endswith(f"; {PAIRS - 5} pairs have no score")
    assert KEY not in printed + errors
    kept = Counter(row["outcome"] for row in table(tmp_path, "screen_variants", "scores"))
    assert kept == {"ok": 5, "interrupted": PAIRS - 5}


def test_faults_are_retried_and_a_lost_call_is_named(
    server: Server, run: Run, tmp_path: Path
) -> None:
    server.script += [{"status": 429}, {"status": 503}, {"raw": "{"}, {"status": 400}]
    server.script += [scored(9)] * PAIRS
    screened(run, *against(server), status=1)
    kept = Counter(row["outcome"] for row in table(tmp_path, "screen_variants", "scores"))
    assert kept == {"ok": PAIRS - 1, "request": 1}
    assert len(server.requests) == PAIRS + 3


def test_a_budget_counts_earlier_runs(server: Server, run: Run) -> None:
    server.script += [scored(9)] * PAIRS
    _, errors = screened(run, *against(server, "budget.calls=10"), status=1)
    assert "stopped: budget.calls=10 is reached" in errors
    assert len(server.requests) == 10
    screened(run, *against(server, "budget.calls=10"), status=1)
    assert len(server.requests) == 10
    screened(run, *against(server, f"budget.calls={PAIRS}"))
    assert len(server.requests) == PAIRS


def test_simulated_answers_behind_an_endpoint_are_no_scores(
    server: Server, run: Run, tmp_path: Path
) -> None:
    answer = completion("gpt-4.1-mini", scored(9)["choice"]["content"])
    server.script += [{"raw": json.dumps({**answer, "system_fingerprint": SIMULATED})}] * PAIRS
    _, errors = screened(run, *against(server), status=1)
    assert "stopped: model gpt-4.1-mini: simulated answers can't judge meaning" in errors
    assert not any(row["score"] for row in table(tmp_path, "screen_variants", "scores"))


def test_a_folder_in_use_or_damaged_is_refused(server: Server, run: Run, tmp_path: Path) -> None:
    server.script += [scored(9)] * PAIRS
    screened(run, *against(server))
    (journal,) = tmp_path.glob("outputs/screen_variants/*/scores.jsonl")
    with journal.with_name("lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _, errors = screened(run, *against(server), status=2)
    assert errors.startswith("error: out: another process is judging in ")
    journal.write_text(journal.read_text().replace('"score":9', '"score":2', 1))
    _, errors = screened(run, *against(server), status=2)
    assert errors.startswith("error: out: journal ")
    assert "its digest doesn't match" in errors


def test_a_dry_run_calls_nobody(server: Server, run: Run, tmp_path: Path) -> None:
    done = run(*against(server, "dry_run=true"), script=SCRIPT)  # without a key
    assert f"gpt-4.1-mini: {PAIRS} pairs, at most " in done.stdout
    assert server.requests == []


def test_ctrl_c_keeps_what_has_come(server: Server, tmp_path: Path) -> None:
    server.script += [scored(9)] * 8 + [{"wait": 60, **scored(9)}] * PAIRS
    given = against(server, "calls.timeout_s=100")
    process = start(tmp_path, SCRIPT, *given, OPENAI_API_KEY=KEY)
    wait_for(process, lambda: len(server.requests) >= PAIRS)
    time.sleep(0.5)
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.splitlines()[-1] == f"stopped: interrupted; {PAIRS - 8} pairs have no score"
    kept = Counter(row["outcome"] for row in table(tmp_path, "screen_variants", "scores"))
    assert kept == {"ok": 8, "interrupted": PAIRS - 8}
