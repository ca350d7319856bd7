"""A condition's accounts add up: replicates by how they stand, calls by model and outcome."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum.execution.accounts import account
from plenum.records import Failure, Transcript

Entry = dict[str, Any]


def call(model: str = "m", kind: str = "turn", cost: float | None = 0.5, **more: Any) -> Entry:
    return {"kind": kind, "model": model, "tokens_in": 100, "tokens_out": 10, "cost": cost, **more}


def transcript(end: Entry | None, *calls: Entry) -> Transcript:
    entries = calls if end is None else (*calls, {"kind": "end", **end})
    return Transcript({}, (), {}, entries[-1] if end else None, tuple(entries))


def line(model: str = "m", outcome: str = "ok", seconds: float = 0.25) -> Entry:
    return {"model": model, "outcome": outcome, "latency_s": seconds, "status": 200}


COMPLETED = {"status": "completed"}
FAILED = [{"status": "failed", "reason": str(reason)} for reason in Failure]
ends = st.sampled_from([COMPLETED, None, *FAILED])


@given(
    given=st.lists(ends, max_size=30),
    more=st.integers(0, 10),
    stopped=st.sampled_from(["", "budget", "interrupted"]),
)
def test_target_is_completed_and_failed_and_pending(
    given: list[Entry | None], more: int, stopped: str
) -> None:
    found = account([transcript(end) for end in given], [], len(given) + more, stopped)
    assert found["target"] == len(given) + more
    assert found["target"] == (
        found["completed"] + sum(found["failed"].values()) + sum(found["pending"].values())
    )
    assert found["completed"] == given.count(COMPLETED)
    for end in FAILED:
        assert found["failed"].get(end["reason"], 0) == given.count(end)
    assert all(count > 0 for count in [*found["failed"].values(), *found["pending"].values()])


@pytest.mark.parametrize(
    ("stopped", "reason"),
    [("budget", "budget"), ("interrupted", "interrupted"), ("", "interrupted")],
)
def test_what_was_begun_is_pending_by_what_stopped_it(stopped: str, reason: str) -> None:
    begun = [transcript(None, call()), transcript(COMPLETED)]
    assert account(begun, [], 5, stopped)["pending"] == {reason: 1, "not_begun": 3}


def test_calls_are_counted_by_model() -> None:
    said = [
        transcript(COMPLETED, call("a"), call("a", "turn_repair"), call("b", cost=None)),
        transcript(None, call("b", "ballot_repair", cost=0.25)),
    ]
    found = account(said, [], 2, "")["models"]
    assert found["a"] | {"attempts": 0} == {
        **{"calls": 2, "repairs": 1, "tokens_in": 200, "tokens_out": 20},
        **{"cost": 1.0, "unpriced": 0, "seconds": 0, "attempts": 0},
    }
    assert (found["b"]["calls"], found["b"]["repairs"]) == (2, 1)
    assert (found["b"]["cost"], found["b"]["unpriced"]) == (0.25, 1)


def test_what_a_branch_inherited_is_not_counted() -> None:
    branch = transcript(COMPLETED, call(inherited=True), call(inherited=True), call())
    found = account([branch], [], 1, "")["models"]["m"]
    assert (found["calls"], found["tokens_in"], found["cost"]) == (1, 100, 0.5)


def test_attempts_are_counted_by_model_and_outcome_with_their_seconds() -> None:
    lines = [line("a"), line("a", "rate_limit"), line("a", "rate_limit", 1.0), line("b", "server")]
    found = account([], iter(lines), 1, "")["models"]
    assert found["a"]["attempts"] == {"ok": 1, "rate_limit": 2}
    assert found["a"]["seconds"] == 1.5
    assert found["b"]["attempts"] == {"server": 1}
    assert found["b"]["calls"] == 0


def test_the_accounts_are_plain_json() -> None:
    found = account([transcript(FAILED[0], call())], [line()], 3, "budget")
    assert json.loads(json.dumps(found)) == found
