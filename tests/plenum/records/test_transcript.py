"""A journal read back as what was said and decided."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plenum.records.chain import DamagedJournal
from plenum.records.failures import Failure
from plenum.records.journal import Journal
from plenum.records.transcript import Transcript, read_transcript

Entry = dict[str, Any]

HEAD: Entry = {
    "condition": "c0ffee",
    "replicate": 0,
    "options": {"A": "Yes", "B": "No"},
    "seats": [{"seat": "Rights"}, {"seat": "Chair"}],
}
DONE: Entry = {"kind": "end", "status": "completed", "decision": "B", "votes": 2, "total": 2}


def call(kind: str, seat: str, number: int = 1, **parsed: Any) -> Entry:
    cost = parsed.pop("cost", 0.25)
    return {"kind": kind, "round": number, "seat": seat, "tokens_in": 100, "tokens_out": 10,
            "cost": cost, **parsed}  # fmt: skip


def turn(seat: str, number: int, yes: float, conf: int = 50) -> Entry:
    state = {"pref": [yes, 1 - yes], "conf": conf, "tags": ["one", "two"]}
    return call("turn", seat, number, argument=f"{seat} {number}", state=state)


TURNS = [
    turn("Rights", 1, 0.25, 40),
    turn("Chair", 1, 0.5, 60),
    turn("Rights", 2, 0.125, 80),
    turn("Chair", 2, 0.75, 100),
]
BALLOTS = [call("ballot", s, 2, ballot={"decision": "B"}) for s in ("Rights", "Chair")]


@pytest.fixture
def transcript(tmp_path: Path) -> Callable[..., Transcript]:
    def written(*entries: Entry) -> Transcript:
        with Journal(tmp_path / "a.jsonl", HEAD) as journal:
            for entry in entries:
                journal.append(entry)
        return read_transcript(tmp_path / "a.jsonl")

    return written


Written = Callable[..., Transcript]


def test_preferences_are_ordered_by_round_seat_and_option(transcript: Written) -> None:
    np.testing.assert_allclose(
        transcript(*TURNS).preferences(),
        [[[0.25, 0.75], [0.5, 0.5]], [[0.125, 0.875], [0.75, 0.25]]],
    )


def test_confidences_are_ordered_by_round_and_seat(transcript: Written) -> None:
    np.testing.assert_allclose(transcript(*TURNS).confidences(), [[40, 60], [80, 100]])


def test_a_round_in_which_somebody_has_not_spoken_is_left_out(transcript: Written) -> None:
    assert transcript(*TURNS[:3]).preferences().shape == (1, 2, 2)


def test_a_repaired_turn_has_the_first_argument_and_the_repaired_state(
    transcript: Written,
) -> None:
    state = {"pref": [0.5, 0.5], "conf": 10, "tags": ["one", "two"]}
    (only,) = transcript(
        call("turn", "Rights", argument="I am torn.", problem="no STATE line"),
        call("turn_repair", "Rights", state=state),
    ).turns
    assert (only.argument, only.conf, only.repaired) == ("I am torn.", 10, True)


def test_an_end_says_how_it_went(transcript: Written) -> None:
    done = transcript(*TURNS, *BALLOTS, DONE)
    assert (done.status, done.decision, done.reason) == ("completed", "B", None)
    assert done.ballots == {"Rights": "B", "Chair": "B"}
    assert done.options == ("A", "B")


def test_a_failure_says_why(transcript: Written) -> None:
    failed = transcript(TURNS[0], {"kind": "end", "status": "failed", "reason": "parse"})
    assert (failed.status, failed.reason, failed.decision) == ("failed", "parse", None)


def test_what_has_not_ended_is_pending(transcript: Written) -> None:
    begun = transcript(*TURNS)
    assert (begun.status, begun.reason, begun.decision) == ("pending", None, None)


def test_what_was_taken_up_again_is_pending(transcript: Written) -> None:
    failed = {"kind": "end", "status": "failed", "reason": "timeout"}
    again = transcript(TURNS[0], failed, {"kind": "reopen"})
    assert again.status == "pending"
    assert len(again.turns) == 1


def test_totals_count_calls_tokens_cost_and_repairs(transcript: Written) -> None:
    repaired = call("turn_repair", "Chair", 2, state=TURNS[3]["state"])
    totals = transcript(*TURNS[:3], call("turn", "Chair", 2), repaired, DONE).totals()
    assert totals == {"calls": 5, "tokens_in": 500, "tokens_out": 50, "cost": 1.25, "repairs": 1}


def test_a_cost_that_is_not_known_is_not_counted_as_nothing(transcript: Written) -> None:
    totals = transcript(TURNS[0], call("turn", "Chair", cost=None)).totals()
    assert np.isnan(totals["cost"])


def test_totals_leave_out_what_a_branch_inherited(transcript: Written) -> None:
    inherited = [{**entry, "inherited": True} for entry in TURNS[:2]]
    branch = transcript(*inherited, *TURNS[2:], DONE)
    assert (branch.totals()["calls"], branch.totals()["cost"]) == (2, 0.5)
    assert branch.preferences().shape == (2, 2, 2)


def test_a_journal_without_a_head_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").touch()
    with pytest.raises(DamagedJournal, match="no head"):
        read_transcript(tmp_path / "a.jsonl")


@pytest.mark.parametrize("failure", Failure)
def test_only_calls_that_brought_no_answer_for_now_are_worth_another_attempt(
    failure: Failure,
) -> None:
    assert failure.transient == (failure in ("timeout", "rate_limit", "server", "empty"))
