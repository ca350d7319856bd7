"""Logs that people have, read with the values that plain arithmetic gives, or refused with why.

The inputs stand beside: each is made with the data of its tool's writer. ``right`` is the share of
right runs, or the mean score, of those measured; ``differ`` is the share of pairs of runs of a case
that end differently: a failed run agrees with none.
"""

from collections import Counter
from collections.abc import Callable
from math import nan
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from numpy.testing import assert_allclose

from plenum.base.errors import UserError
from plenum_verdicts.logs.case_logs import Log, read_log
from plenum_verdicts.logs.logged_run import decision

INPUTS = Path(__file__).parents[1] / "inputs"
PLAIN = (12, 36, 0, 0, 29 / 36, 7 / 18)
"""Cases, runs, failed, unmeasured, right, differ of the data that most files are made of."""


def differing(log: Log, outcome: Callable[[Any], Any]) -> float:
    """The share of pairs of runs of a case that end differently."""
    shares = []
    for case in log.cases:
        ends = [outcome(row) for row in case.rows if "unmeasured" not in row]
        same = sum(n * (n - 1) for end, n in Counter(ends).items() if end != "failed")
        if len(ends) > 1:
            shares.append(1 - same / (len(ends) * (len(ends) - 1)))
    return mean(shares) if shares else nan


def by_right(row: Any) -> Any:
    return "failed" if row.get("error") else row.get("right")


def by_decision(row: Any) -> Any:
    return "failed" if row.get("error") else str(row["decision"])


READ: dict[str, tuple[dict[str, Any], tuple[float, ...], Callable[[Any], Any]]] = {
    "logs/csv-semicolon.csv": ({}, PLAIN, by_decision),
    "logs/csv-tab.tsv": ({}, PLAIN, by_decision),
    "logs/deepeval-latest_test_run.json": ({}, (12, 36, 0, 0, 31.7 / 36, 1 / 18), by_right),
    "logs/deepeval-nan-scores.json": ({}, (12, 36, 0, 3, 0.9, 0), by_right),
    "logs/error-column-None-text.csv": ({}, PLAIN, by_decision),
    "logs/fenced-json-decisions.jsonl": (
        {"columns": {"decision": "decision.verdict"}}, (12, 48, 0, 0, nan, 0.375), by_decision),
    "logs/gate-exactly-080-graded.jsonl": ({}, (20, 80, 0, 0, 0.8, 0), by_decision),
    "logs/inspect-cancelled-partial.json": ({}, (12, 28, 4, 0, 22 / 24, 2 / 9), by_right),
    "logs/inspect-dict-scores.json": ({}, (12, 36, 0, 0, 30 / 36, 1 / 3), by_right),
    "logs/inspect-errored-samples.json": ({}, (12, 36, 4, 0, 29 / 32, 7 / 36), by_right),
    "logs/inspect-likert-1-5-essays.json": (
        {"scale": (1, 5)}, (12, 36, 0, 0, (110 / 36 - 1) / 4, 1), by_decision),
    "logs/inspect-two-scorers-order-differs.json": ({}, (12, 36, 0, 0, 0.75, 0), by_right),
    "logs/judge-flips-on-equal-answers-60.jsonl": ({}, (60, 240, 0, 0, 122 / 240, 0.55), by_right),
    "logs/langfuse-categorical-no-number.json": ({}, PLAIN, by_right),
    "logs/langfuse-correctness-missing-in-some.json": (
        {"score": "correctness"}, (12, 36, 0, 6, 0.5, 0), by_right),
    "logs/langfuse-percent-scores.json": (
        {"scale": (0, 100)}, (12, 36, 0, 0, 0.85, 0), by_decision),
    "logs/langsmith-error-None-text.csv": ({}, (12, 36, 6, 0, 24 / 30, 0.5), by_decision),
    "logs/lmeval-two-filters.jsonl": (
        {"where": {"filter": "strict-match"}}, (12, 12, 0, 0, 2 / 3, nan), by_right),
    "logs/ndjson-named.json": ({}, PLAIN, by_decision),
    "logs/openai-evals-log.jsonl": ({}, PLAIN, by_right),
    "logs/pf-bl-new-other-order.json": ({}, (12, 24, 0, 0, 0.5, 0), by_right),
    "logs/pf-falsy-outputs.json": ({}, (12, 36, 0, 0, 1, 0), by_right),
    "logs/pf-node-evaluate.json": ({}, (12, 36, 0, 0, 35 / 36, 0), by_decision),
    "logs/pf-old-v2-no-failureReason.json": ({}, (12, 36, 0, 0, 29 / 36, 1 / 18), by_right),
    "logs/pf-same-vars-two-thresholds.json": ({}, (24, 72, 0, 0, 0.5, 0), by_right),
    "logs/pf-two-nights-long-equal-beginnings": ({}, (12, 36, 0, 0, 1, 0), by_decision),
    "logs/pf-two-nights-same-description": ({}, (12, 36, 0, 0, 1, 0), by_decision),
    "logs/pf-two-tests-equal-after-redaction.json": ({}, (24, 72, 0, 0, 1, 0), by_decision),
    "logs/phoenix-experiment-80.csv": ({}, (80, 240, 0, 0, 2 / 3, 2 / 3), by_decision),
    "logs/scores-null.jsonl": ({}, (12, 36, 0, 2, 17.5 / 34, 1), by_decision),
    "logs/tau2-dir-format": ({}, PLAIN, by_right),
    "logs/tau2-two-domains": ({}, (24, 48, 0, 0, 0.5, 0), by_right),
    "logs/tau2-infrastructure-errors.json": ({}, (12, 48, 16, 0, 29 / 32, 5 / 12), by_right),
    "logs/decision-object-key-order.jsonl": ({}, (12, 48, 0, 0, nan, 0), decision),
    "logs/rokabot-before.jsonl": ({}, (12, 36, 0, 0, 33 / 36, 0), by_right),
    "logs/rokabot-after.jsonl": ({}, (12, 36, 0, 0, 30 / 36, 0), by_right),
    "logs/ids-number-and-text.jsonl": ({}, (12, 36, 0, 0, nan, 0), by_decision),
    "logs/labels-1-and-1.0.jsonl": ({}, (12, 48, 0, 0, nan, 0), by_decision),
    "logs-right/braintrust-experiment.jsonl": (
        {"columns": {"case": "input.question", "decision": "output", "score": "scores.ExactMatch"}},
        PLAIN, by_decision),
    "logs-right/csv-bom-crlf.csv": ({}, PLAIN, by_decision),
    "logs-right/error-object.jsonl": ({}, (12, 36, 2, 0, 27 / 34, 4 / 9), by_decision),
    "logs-right/free-text-with-right.jsonl": ({}, PLAIN, by_right),
    "logs-right/langfuse-two-items-per-run.json": ({}, PLAIN, by_decision),
    "logs-right/langsmith-to_pandas.csv": ({}, PLAIN, by_decision),
    "logs-right/pairwise-A-B-tie.jsonl": ({}, (15, 60, 0, 0, nan, 5 / 18), by_decision),
    "logs-right/pf-export.jsonl": ({}, (12, 36, 0, 0, 35 / 36, 0), by_decision),
    "logs-right/right-words.csv": ({}, PLAIN, by_right),
    "logs-right/unbalanced-3-to-17.jsonl": ({}, (12, 100, 0, 0, 0.75, 0.44902), by_decision),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_a_log_gives_the_values_of_plain_arithmetic(name: str) -> None:
    settings, expected, outcome = READ[name]
    log = read_log(INPUTS / name, **settings)
    rows = [row for case in log.cases for row in case.rows]
    values = [row.get("score", row.get("right")) for row in rows if {"score", "right"} & {*row}]
    found = (
        len(log.cases), len(rows), sum(bool(row.get("error")) for row in rows),
        sum("unmeasured" in row for row in rows), mean(map(float, values)) if values else nan,
        differing(log, outcome),
    )  # fmt: skip
    assert_allclose(found, expected, atol=2e-4)
    assert f"{len(rows)} runs of {len(log.cases)} cases: outputs in" in log.summary


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "logs/inspect-likert-1-5-essays.json": ({}, r"grade lie from 1 to 5, .* scale=\[1,5\]"),
    "logs/langfuse-correctness-missing-in-some.json": (
        {}, r"score=tone \(of 36 runs\), score=correctness \(of 30 runs\)"),
    "logs/langfuse-percent-scores.json": ({}, r"scale=\[0,100\]"),
    "logs/langfuse-trace-null.json": ({}, "record 17: its trace is null"),
    "logs/lmeval-two-filters.jsonl": ({}, "choose one: where={filter: flexible-extract}"),
    "logs/pf-cached-repeats-40.json": ({}, "120 of 160 runs were answered by a cache"),
    "logs/two-copies-of-one-file": ({}, "are equal, byte by byte"),
    "logs/scores-null.jsonl": ({"scale": (5, 5)}, "give the worst and the best"),
    "logs/openai-evals-log.jsonl": (
        {"where": {"type": "mach"}}, "no row is so; there are type=match"),
    "logs-right/retried-rows-same-run-number.jsonl": ({}, "it stands in line 16, too"),
    "logs-right/tau2-duplicate-after-resume.json": ({}, "it stands in record 6, too"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_log_is_refused_with_what_would_help(name: str) -> None:
    settings, why = REFUSED[name]
    with pytest.raises(UserError, match=why):
        read_log(INPUTS / name, **settings)


def test_runs_that_failed_can_be_left_out() -> None:
    cases = read_log(INPUTS / "logs/tau2-infrastructure-errors.json").cases
    ran = [[row["score"] for row in case.rows if "error" not in row] for case in cases]
    held = [scores for scores in ran if scores]
    assert len(held) == 9
    assert_allclose(mean(map(mean, held)), 11 / 12)
    assert all("right" not in row for case in cases for row in case.rows if "error" in row)


def test_a_partial_log_says_what_was_planned() -> None:
    (line,) = read_log(INPUTS / "logs/inspect-cancelled-partial.json").lines
    assert "its status is 'cancelled': it has 28 runs of 36 that were planned" in line


def test_a_score_is_chosen_by_its_name_or_its_path() -> None:
    path = INPUTS / "logs/inspect-two-scorers-order-differs.json"
    for name in ("safety", "scores.safety.value"):
        rows = [row for case in read_log(path, score=name).cases for row in case.rows]
        assert {row["score"] for row in rows} == {1.0}
    with pytest.raises(UserError, match=r"no run has tone. The log of 36 runs has score=safety"):
        read_log(path, score="tone")


@pytest.mark.parametrize("name", ["times-several-zones", "times-us-format"])
def test_a_day_is_one_of_universal_time(name: str) -> None:
    cases = read_log(INPUTS / f"logs/{name}.jsonl", by=["day"]).cases
    assert len({case.group for case in cases}) == 1
    assert cases[0].group.startswith("2026-09-0")


def test_a_case_has_one_key_in_each_order_of_its_rows() -> None:
    same, other = (
        {case.case.id: case.key for case in read_log(INPUTS / f"logs/pf-bl-{name}.json").cases}
        for name in ("old", "new-other-order")
    )
    assert same == other
