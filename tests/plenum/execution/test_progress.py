"""What a sweep says while it runs: how fast, what it waits for, and never nothing for long."""

from collections.abc import Callable
from typing import Any

import pytest

from plenum.calls.pace import Pace
from plenum.execution import progress
from plenum.execution.progress import Progress

ENTRY = {"kind": "turn", "seat": "Chair", "tokens_in": 10, "tokens_out": 5, "cost": 0.0}


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(progress, "time", made)
    return made


def counting(waiting: Callable[[], str] = lambda: "") -> Progress:
    shown = Progress(100, 10)
    shown.follow(lambda: "in flight -", waiting)
    return shown


def lines(shown: Progress, clock: Clock, seconds: int, capsys: Any) -> list[tuple[int, str]]:
    """What is said in so many seconds, each with its second."""
    said: list[tuple[int, str]] = []
    capsys.readouterr()
    for second in range(1, seconds + 1):
        clock.now += 1
        shown.tick()
        said += [(second, line) for line in capsys.readouterr().err.splitlines()]
    return said


def test_something_is_said_every_half_minute_though_no_call_is_answered(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    said = lines(counting(), clock, 100, capsys)
    assert [second for second, _ in said] == [30, 60, 90]
    assert all("replicates 0/10" in line for _, line in said)


def test_a_wait_is_said_when_it_begins_and_while_it_lasts(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    until = clock.now + 82

    def waiting() -> str:
        return f"waiting {until - clock.now:.0f} s for openai" if clock.now < until else ""

    said = lines(counting(waiting), clock, 85, capsys)
    assert [second for second, _ in said] == [1, 31, 61]
    assert said[0][1] == "waiting 81 s for openai"
    assert said[1][1].endswith(" | waiting 51 s for openai")


def test_the_time_that_is_left_is_estimated_once_more_than_the_start_is_known(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = counting()
    clock.now += 20  # workers start
    left = []
    for _ in range(25):
        shown.entry(ENTRY, "Chair")
        left.append(shown.line().partition(" | left ")[2].partition(" |")[0])
        clock.now += 1
    assert left[:20] == ["-"] * 20
    assert left[20] == "2:30"  # 79 calls, after 21 in 40 s


def test_what_has_no_price_is_not_said_to_cost_0(clock: Clock) -> None:
    shown = counting()
    assert "cost $0.0000" in shown.line()
    shown.entry(ENTRY | {"cost": None}, "")
    assert "cost unknown" in shown.line()
    shown.entry(ENTRY | {"cost": 0.25}, "")
    assert "cost $0.2500 + unpriced" in shown.line()


def test_a_model_here_tells_its_pace_before_its_first_answer_has_ended(clock: Clock) -> None:
    shown = Progress(100, 10)
    pace = Pace(rows=2, slots=16, tokens=50, prefill_s=5.0, decode_s=20.0)
    shown.follow(lambda: "in flight -", lambda: "", lambda: pace, 400)
    assert "(2.0/s written, 2 of 16 rows)" in shown.line()
    assert "left at most 5:33:20" in shown.line()  # 100 answers of 400 tokens at 2 a second
