"""What a sweep has used up in earlier runs, by what they left on disk."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plenum.base.errors import UserError
from plenum.calls.api.prices import Prices
from plenum.design.job import Job
from plenum.design.settings import StatedPrice
from plenum.execution.spending import sum_spent_before
from plenum.records.journal import Journal
from plenum.records.usage import Usage

Entry = dict[str, Any]


def amounts(usage: Usage) -> tuple[float, float, float]:
    """Dollars, tokens and calls."""
    return usage.dollars, usage.tokens, usage.calls


def call(cost: float | None = 0.5, **more: Any) -> Entry:
    return {"kind": "turn", "model": "m", "tokens_in": 100, "tokens_out": 10, "cost": cost, **more}


@pytest.fixture
def lab(job: Callable[..., Job], tmp_path: Path) -> Callable[..., Job]:
    """Jobs whose journals lie in a folder of their own."""
    return lambda *overrides: replace(job(*overrides), journals=str(tmp_path))


Lab = Callable[..., Job]


def write(job: Job, index: int, *entries: Entry) -> Path:
    path = Path(job.journals) / job.condition.identity / f"{index:03d}.jsonl"
    with Journal(path, {**job.condition.as_mapping(), "replicate": index}) as journal:
        for entry in entries:
            journal.append(entry)
    return path


def log(job: Job, *lines: Entry) -> None:
    path = Path(job.journals) / job.condition.identity / "calls.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def attempt(outcome: str, status: int | None, **more: Any) -> Entry:
    return {
        **{"replicate": 0, "call": "turn", "round": 1, "seat": "Chair", "latency_s": 0.1},
        "model": "m",
        "outcome": outcome,
        "status": status,
        "answered": False,
        **more,
    }


def test_answers_count_by_their_journal_entries(lab: Lab) -> None:
    job = lab()
    end = {"kind": "end", "status": "completed"}
    write(job, 0, call(), call(0.25), call(inherited=True), end)  # that one its base has paid
    write(job, 7, call(None))
    log(job, *[attempt("ok", 200, answered=True)] * 3)
    assert amounts(sum_spent_before([job], Prices().of)) == (0.75, 330, 3)


def test_what_had_no_price_then_is_counted_at_the_price_of_now(lab: Lab) -> None:
    job = lab()
    write(job, 0, call(None), call(0.25))
    log(job, attempt("timeout", None, tokens_at_most=700, cost_at_most=None))
    stated = Prices({"m": StatedPrice(input=1000.0, output=2000.0)})
    assert sum_spent_before([job], stated.of).dollars == pytest.approx(0.12 + 0.25 + 1.4)


def test_a_failed_attempt_counts_by_what_it_may_have_cost(lab: Lab) -> None:
    job = lab()
    log(
        job,
        attempt("timeout", None, tokens_at_most=700, cost_at_most=0.125),
        attempt("server", 200, tokens_at_most=700, cost_at_most=0.125),
        attempt("rate_limit", 429),
    )
    assert amounts(sum_spent_before([job], Prices().of)) == (0.25, 1400, 3)


def test_an_answer_that_could_not_be_read_is_not_counted_twice(lab: Lab) -> None:
    job = lab()
    write(job, 0, call(), call())
    log(job, *(attempt(reason, 200, answered=True) for reason in ("parse", "empty")))
    assert amounts(sum_spent_before([job], Prices().of)) == (1.0, 220, 2)


def test_a_damaged_journal_is_named_in_one_line(lab: Lab) -> None:
    job = lab()
    path = write(job, 0, call(), call())
    path.write_bytes(path.read_bytes().replace(b"100", b"001", 1))
    with pytest.raises(UserError, match=r"^budget: what is spent can't be told: .*000\.jsonl"):
        sum_spent_before([job], Prices().of)
