"""What a sweep says at its end: every replicate is accounted for, every failure has a name."""

import errno
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from plenum.base.errors import UserError
from plenum.checks.dry_run import show_dry_run
from plenum.design.job import Job
from plenum.execution.outcomes import (
    Outcome,
    collect_outcomes,
    format_closing,
    make_outcome,
    save_outcome,
)

CLEAN = Outcome("roles=on", "c0ffee", "s1", target=20, completed=20, pending=0, calls=2120)
FAILED = replace(CLEAN, name="roles=off", completed=17, failures={"parse": 2, "timeout": 1})
PENDING = replace(CLEAN, name="roles=odd", completed=15, pending=5, errors=("the disk is full",))


def test_the_closing_lines_name_every_failure() -> None:
    assert format_closing([CLEAN, FAILED, PENDING])[1:] == [
        "failed: roles=off: 2 x parse",
        "failed: roles=off: 1 x timeout",
        "pending: roles=odd: 5 replicates",
        "error: roles=odd: the disk is full",
        "retry_failed=true continues replicates that failed without an answer",
        "retry_failed=all also asks again where an answer couldn't be read; the answers so far "
        "stay in the journals",
    ]


def test_a_failure_names_its_call_what_was_written_and_the_command_that_prints_it(
    job: Callable[..., Job],
) -> None:
    failed = {"replicate": 2, "reason": "parse", "detail": "no JSON object", "replicates": 3}
    at = {"call": "ballot_repair", "round": 20, "seat": "Chair", "wrote": "I vote for C."}
    accounts = {"completed": 1, "failed": {"parse": 3}, "pending": {}, "failed_at": [failed | at]}
    accounts["models"] = {
        "openai/mute": {"calls": 4, "unread": 4, "attempts": {"length": 4}},
        "openai/m": {"calls": 90, "unread": 6, "attempts": {"ok": 84, "parse": 6}},
    }
    one = job("replicates=4")
    lines = format_closing([make_outcome(one, [], {"accounts": accounts, "metrics": {}})])
    assert lines[1].endswith(
        "3 x parse, such as: ballot of Chair in round 20 after a repair: no JSON object "
        "(the answer begins: 'I vote for C.')"
    )
    command = (
        f"python scripts/prompt.py study={one.study} condition={one.condition.identity[:8]} "
        "replicate=2 call=ballot round=20 seat=Chair answer=true"
    )
    assert lines[2].startswith("model openai/mute writes no answer that can be read")
    assert "a larger sampling.max_tokens" in lines[2]
    assert "protocol.answers=constrained" in lines[2]
    held = make_outcome(job("replicates=4", "protocol.answers=constrained"), [], {
        "accounts": accounts, "metrics": {},
    })  # fmt: skip
    (advice,) = [line for line in format_closing([held]) if "writes no answer" in line]
    assert "constrained" not in advice
    assert lines[3].endswith(command)
    assert lines[4].startswith("retry_failed=all")
    elsewhere = replace(one, tracking_uri="http://127.0.0.1:5000", journals="my journals")
    lines = format_closing([make_outcome(elsewhere, [], {"accounts": accounts, "metrics": {}})])
    assert "tracking.uri=http://127.0.0.1:5000 'journals=my journals'" in lines[3]


def test_a_server_that_ignores_the_form_of_answers_is_named(job: Callable[..., Job]) -> None:
    accounts = {"completed": 0, "failed": {"parse": 4}, "pending": {}, "failed_at": []}
    accounts["models"] = {"openai/m": {"calls": 8, "unread": 8, "attempts": {"parse": 8}}}
    report = {"accounts": accounts, "metrics": {}}

    def lines(*overrides: str) -> list[str]:
        made = make_outcome(job("replicates=4", *overrides), [], report)
        return [line for line in format_closing([made]) if "seems to ignore the form" in line]

    held = "protocol.answers=constrained"
    (line,) = lines("backend=api", held)
    assert line.startswith("model openai/m: its server")
    assert lines("backend=api") == lines(held) == []


def test_one_replicate_is_counted_in_the_singular() -> None:
    one = replace(CLEAN, target=1, completed=0, pending=1, reused=1)
    assert format_closing([one])[0].startswith("1 condition: 1 replicate = 0 completed")
    assert format_closing([one])[1:] == [
        "1 replicate was taken from journals of an earlier run",
        "pending: roles=on: 1 replicate",
    ]


def test_an_error_that_several_conditions_met_is_said_once() -> None:
    full = replace(PENDING, errors=("j/000.jsonl: No space left on device",))
    told = [
        line for line in format_closing([full, replace(full, name="roles=on")]) if "space" in line
    ]
    assert told == ["error: roles=odd and 1 more: j/000.jsonl: No space left on device"]


def test_an_outcome_is_there_in_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_outcome(CLEAN, tmp_path / "0")

    def full(path: Path, text: str, encoding: str) -> None:
        path.write_bytes(text[:20].encode())
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left") as refused:
        save_outcome(FAILED, tmp_path / "0")
    assert refused.value.filename == str(tmp_path / "0" / "outcome.json")
    assert collect_outcomes(tmp_path) == [CLEAN]
    assert len(list((tmp_path / "0").iterdir())) == 1


def test_outcomes_are_collected_in_the_order_of_the_jobs(tmp_path: Path) -> None:
    jobs = {number: replace(FAILED, name=f"job {number}") for number in (10, 2, 0)}
    for number, outcome in jobs.items():
        save_outcome(outcome, tmp_path / str(number))
    assert collect_outcomes(tmp_path) == [jobs[0], jobs[2], jobs[10]]
    assert collect_outcomes(tmp_path, only="10") == [jobs[10]]


def test_what_stopped_the_sweep_is_said_once(tmp_path: Path) -> None:
    stopped = replace(PENDING, errors=(), stopped="budget.calls=9 is reached")
    told = format_closing([CLEAN, stopped, stopped])
    assert told[-1] == "stopped: budget.calls=9 is reached"
    assert sum("stopped" in line for line in told) == 1
    save_outcome(stopped, tmp_path / "0")
    assert collect_outcomes(tmp_path) == [stopped]


def test_a_dry_run_counts_conditions_replicates_and_calls(
    job: Callable[..., Job], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = [job("replicates=3"), job("replicates=3", "roles=off")]
    show_dry_run([replace(one, journals=str(tmp_path)) for one in jobs])
    told = capsys.readouterr().out
    assert "2 conditions, 6 replicates, 636 calls before repairs; nothing was run" in told
    assert list(tmp_path.iterdir()) == []


@pytest.mark.needs("plenum_fleet")
def test_a_plan_of_batches_needs_no_key_and_refuses_who_has_none(
    job: Callable[..., Job], capsys: pytest.CaptureFixture[str]
) -> None:
    batched = ("backend=api", "calls.batch=true", "replicates=60000")
    show_dry_run([job(*batched, "model=gpt-4.1-mini"), job(*batched, "model=claude-sonnet-4.6")])
    told = capsys.readouterr().out
    assert "0.2 / 0.8" in told
    assert "1.5 / 7.5" in told
    assert re.search(r" \d{2},\d{3}M ", told)  # billions of tokens, in digits
    assert "e+" not in told
    with pytest.raises(UserError, match="gemini has no batches that plenum knows"):
        show_dry_run([job(*batched, "model=gpt-4.1-mini"), job(*batched, "model=mixed")])
    assert capsys.readouterr().out == ""


def test_a_plan_counts_a_condition_once_under_two_labels(
    job: Callable[..., Job], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("replicates=3", f"journals={tmp_path}")
    show_dry_run([job(*given), job(*given, "model=gpt-4.1-mini")])
    left = [line for line in capsys.readouterr().out.splitlines() if "left:" in line]
    assert "left: 318 calls" in left[0]
    assert "left: 0 calls" in left[1]


def test_a_plan_does_not_say_that_an_unknown_price_is_0(
    job: Callable[..., Job], capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("backend=api", "model.default=openai/nobody", "budget.calls=9")
    show_dry_run([job(*asked)])
    told = capsys.readouterr().out
    assert "$0.00" not in told
    assert "cost left: unknown" in told
    assert "used so far: cost unknown" in told
    show_dry_run([job(*asked[:2], "+prices={openai/nobody:{input:0,output:0}}")])
    assert "cost left: $0.00" in capsys.readouterr().out
