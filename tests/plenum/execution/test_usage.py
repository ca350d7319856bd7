"""A condition's accounts add up: replicates by how they stand, calls by model and outcome."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum.execution.usage import count_usage
from plenum.records.failures import Failure
from plenum.records.transcript import Transcript

Entry = dict[str, Any]


def call(
    model: str = "m", kind: str = "turn", cost: float | None = 0.5, seat: str = "Chair", **more: Any
) -> Entry:
    return {
        **{"kind": kind, "model": model, "round": 1, "seat": seat},
        **{"tokens_in": 100, "tokens_out": 10, "cost": cost, **more},
    }


def transcript(end: Entry | None, *calls: Entry, index: int = 0) -> Transcript:
    entries = calls if end is None else (*calls, {"kind": "end", **end})
    return Transcript({"replicate": index}, (), {}, entries[-1] if end else None, tuple(entries))


def line(
    model: str = "m", outcome: str = "ok", seconds: float = 0.25, index: int = 0, **more: Any
) -> Entry:
    return {
        **{"replicate": index, "call": "turn", "round": 1, "seat": "Chair", "status": 200},
        **{"model": model, "outcome": outcome, "latency_s": seconds, **more},
    }


COMPLETED = {"status": "completed"}
FAILED = [{"status": "failed", "reason": str(reason)} for reason in Failure]
ends = st.sampled_from([COMPLETED, None, *FAILED])


def numbered(given: list[Entry | None]) -> list[Transcript]:
    return [transcript(end, index=index) for index, end in enumerate(given)]


@given(
    given=st.lists(ends, max_size=30),
    damaged=st.integers(0, 5),
    more=st.integers(0, 10),
    stopped=st.sampled_from(["", "budget", "interrupted"]),
)
def test_target_is_completed_and_failed_and_pending(
    given: list[Entry | None], damaged: int, more: int, stopped: str
) -> None:
    """Whole journals, damaged ones that only the call log tells of, and replicates not begun."""
    begun = len(given) + damaged
    lines = [line(index=index) for index in range(begun)]
    found = count_usage(numbered(given), lines, begun + more, stopped)
    assert found["target"] == begun + more
    assert found["target"] == (
        found["completed"] + sum(found["failed"].values()) + sum(found["pending"].values())
    )
    assert found["completed"] == given.count(COMPLETED)
    for end in FAILED:
        assert found["failed"].get(end["reason"], 0) == given.count(end)
    assert found["pending"].get("error", 0) == damaged
    assert found["pending"].get("not_begun", 0) == more
    assert all(count > 0 for count in [*found["failed"].values(), *found["pending"].values()])


@pytest.mark.parametrize("odd", [{"a": 1}, ["fp"], None, 7])
def test_a_log_with_a_fingerprint_that_is_no_text_is_counted_all_the_same(odd: Any) -> None:
    lines = [line("a", fingerprint=odd), line("a", fingerprint="fp_1")]
    found = count_usage([], iter(lines), 1, "")["models"]["a"]
    assert (found["fingerprints"], found["attempts"]) == ({"fp_1": 1}, {"ok": 2})


def test_what_did_not_fit_is_counted_by_its_name_and_only_where_there_is_any() -> None:
    lines = [
        line("a", dropped=["cached_tokens", "finish_reason"]),
        line("a", dropped=["finish_reason"]),
    ]
    found = count_usage([], iter([*lines, line("b")]), 1, "")["models"]
    assert found["a"]["dropped"] == {"cached_tokens": 1, "finish_reason": 2}
    assert "dropped" not in found["b"]


def test_replicates_beyond_the_target_are_another_runs() -> None:
    found = count_usage(numbered([COMPLETED]), [line(), line(index=7)], 1, "")
    assert found["models"]["m"]["attempts"] == {"ok": 1}
    assert found["pending"] == {}


PROBLEM = {"problem": "no STATE line"}
READ = transcript(COMPLETED, call(**PROBLEM), call(kind="turn_repair"))
UNREAD = transcript(FAILED[0], call(**PROBLEM), call(kind="turn_repair", **PROBLEM))
BEGUN = transcript(None, call(**PROBLEM))
CLERK = transcript(COMPLETED, call(kind="clerk", seat="clerk", **PROBLEM))


@pytest.mark.parametrize(
    ("said", "lines", "fates"),
    [
        (READ, [line(outcome="parse"), line(call="turn_repair")], {"parse": "recovered"}),
        (transcript(COMPLETED, call()), [line(outcome="server")], {"server": "recovered"}),
        (UNREAD, [line(outcome="parse")], {"parse": "ended"}),
        (transcript(FAILED[0]), [line(outcome="timeout")], {"timeout": "ended"}),
        (BEGUN, [line(outcome="parse")], {"parse": "open"}),
        (CLERK, [line(outcome="parse", call="clerk", seat="clerk")], {"parse": "unused"}),
        (transcript(COMPLETED, call()), [line()], {}),
    ],
    ids=["repaired", "repeated", "unreadable", "unanswered", "pending", "clerk", "good"],
)
def test_what_came_of_an_attempt_that_failed(
    said: Transcript, lines: list[Entry], fates: dict[str, str]
) -> None:
    found = count_usage([said], lines, 1, "")["outcomes"]
    none = dict.fromkeys(("recovered", "ended", "open", "unused"), 0)
    assert found == {why: {**none, "attempts": 1, fate: 1} for why, fate in fates.items()}


def test_constrained_answers_cut_arguments_and_even_states_are_told_apart() -> None:
    calls = (
        call(finish="stop"),
        call(finish="cut", seat="Rights"),
        call(finish="stop", seat="Welfare", even=True),
        call(kind="turn_repair", finish="stop", seat="Equity"),
    )
    held = transcript({"status": "completed"}, *calls)
    held.head["answers"] = "constrained"
    free = transcript({"status": "completed"}, call(finish="length"), index=1)
    row = count_usage([held, free], [], 2, "")["models"]["m"]
    assert row["constrained"] == {"answers": 4, "cut": 1, "even": 1}
    assert (row["calls"], row["repairs"]) == (5, 1)
    acted = transcript({"status": "completed"}, call(kind="action", repeated=True))
    acted.head["answers"] = "constrained"
    (row,) = count_usage([acted], [], 1, "")["models"].values()
    assert row["constrained"] == {"answers": 1, "cut": 0, "even": 0, "repeated": 1}
    assert "constrained" not in count_usage([free], [], 1, "")["models"]["m"]
