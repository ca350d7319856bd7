"""Where a replicate failed, and what was written there, is said in one line without secrets."""

from typing import Any

import pytest

from plenum.records.failed_calls import FailedCall, find_failed_call, group_failures, select_example
from plenum.records.transcript import Transcript

AT = {"call": "turn_repair", "round": 1, "seat": "Chair"}
END = {"kind": "end", "status": "failed", "reason": "parse", "at": AT, "detail": "no STATE line"}


def failing(text: str, index: int = 0, end: dict[str, Any] = END) -> Transcript:
    answer = {"kind": "turn_repair", "round": 1, "seat": "Chair", "text": text, "problem": "p"}
    return Transcript({"replicate": index}, (), {}, end, (answer, end))


def test_an_answer_is_shown_in_one_bounded_line_without_secrets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    call = find_failed_call(failing("I\x1b[31m say\nsk-canary-0123456789abcdef " + "word " * 50))
    assert call is not None
    line = str(call)
    assert line.startswith("turn of Chair in round 1 after a repair: no STATE line (the answer")
    assert "I [31m say <OPENAI_API_KEY> word" in line
    assert line.isprintable()
    assert len(line) < 200
    assert str(find_failed_call(failing(" \n"))).endswith("(the answer is empty)")


def test_a_call_without_an_answer_shows_none() -> None:
    ballot = {"call": "ballot", "round": 1, "seat": "Chair"}
    end = END | {"at": ballot, "reason": "timeout", "detail": "no answer within 120 s"}
    call = find_failed_call(failing("An answer to another call.", end=end))
    assert str(call) == "ballot of Chair in round 1: no answer within 120 s"
    assert find_failed_call(failing("-", end={"kind": "end", "status": "completed"})) is None


def test_failures_are_grouped_by_reason_kind_of_call_and_seat() -> None:
    other = failing("b", 5, END | {"at": AT | {"seat": "Welfare"}})
    found = [find_failed_call(t) for t in (failing("second", 2), failing("first", 1), other)]
    first, second = group_failures(filter(None, found))
    assert (first["replicates"], first["replicate"], first["wrote"]) == (2, 1, "first")
    assert (second["seat"], second["replicates"]) == ("Welfare", 1)
    assert isinstance(select_example(first), FailedCall)
