"""Runs that follow others, or share their day, and what then counts."""

import json
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plenum.base.errors import UserError
from plenum_verdicts.logs.case_logs import read_log
from plenum_verdicts.logs.compared_runs import ComparedRuns
from plenum_verdicts.logs.independent_runs import have_days_apart, list_days, select_independent
from plenum_verdicts.suites.disagreement import estimate_disagreement
from plenum_verdicts.suites.suite_runs import SuiteRuns

Rows = list[dict[str, Any]]


def log(folder: Path, rows: Rows) -> ComparedRuns:
    file = folder / "runs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return ComparedRuns(read_log(file).cases, "logs", "decisions")


def differ(runs: Mapping[str, Sequence[str]]) -> float:
    """The mean over cases of the share of pairs that differ."""
    shares = [
        np.mean([one != two for one, two in combinations(ended, 2)])
        for ended in runs.values()
        if len(ended) > 1
    ]
    return float(np.mean(shares))


def decisions(runs: SuiteRuns) -> dict[str, list[str]]:
    ended: dict[str, list[str]] = {case: [] for case in runs.cases}
    for case, outcome in zip(runs.case, runs.outcome, strict=True):
        ended[runs.cases[case]].append(runs.outcomes[outcome])
    return ended


def rerun(cases: int, more: int, numbered: bool) -> Rows:
    """Two runs of coins and steady cases, and more of those whose two differ."""
    draw = np.random.default_rng(0)
    rows: Rows = []
    for case in range(cases):
        chance = 0.5 if case % 3 == 0 else 0.0
        ended = [bool(draw.random() < chance) for _ in range(2)]
        if ended[0] != ended[1]:
            ended += [bool(draw.random() < chance) for _ in range(more)]
        for run, each in enumerate(ended):
            row: dict[str, Any] = {"case": f"c{case}", "decision": "no" if each else "yes"}
            rows.append(row | ({"run": run} if numbered else {}))
    return rows


@pytest.mark.parametrize("numbered", [True, False])
def test_of_cases_that_were_rerun_since_they_differed_the_first_runs_count(
    tmp_path: Path, numbered: bool
) -> None:
    rows = rerun(60, 6, numbered)
    first: dict[str, list[str]] = {}
    for row in rows:
        if len(first.setdefault(row["case"], [])) < 2:
            first[row["case"]].append(row["decision"])
    if not numbered:
        rows = [rows[n] for n in np.random.default_rng(1).permutation(len(rows))]
    runs, lines = select_independent(log(tmp_path, rows))
    assert len(lines) == 1
    assert set(runs.repeats) == {2}
    assert estimate_disagreement(runs).value == pytest.approx(differ(first))


@pytest.mark.parametrize("again", ["right", "wrong", "any"])
@pytest.mark.parametrize("numbered", [True, False])
def test_cases_that_were_run_again_by_how_they_ended_are_refused(
    tmp_path: Path, again: str, numbered: bool
) -> None:
    """A retry button may run what failed again, or what succeeded; a lost run chooses nothing."""
    rows: Rows = []
    for case in range(80):
        draw = np.random.default_rng(case)
        ended = (draw.random(3) < 0.7).tolist()
        more = case % 2 == 0 if again == "any" else ended[0] == (again == "right")
        for run, right in enumerate(ended if more else ended[:1]):
            row = {"case": f"c{case}", "decision": "x", "right": right}
            rows.append(row | ({"run": run} if numbered else {}))
    if again == "any":
        assert select_independent(log(tmp_path, rows))[1] == []
        return
    with pytest.raises(
        UserError, match="whether a case has one run or more goes with how it ended"
    ):
        select_independent(log(tmp_path, rows))


def test_a_fingerprint_is_a_block_and_runs_without_a_time_are_one(tmp_path: Path) -> None:
    rows = [{k: v for k, v in row.items() if k != "time"} for row in timed(5, 3)]
    for at, row in enumerate(rows):
        row["fingerprint"] = f"fp_{at % 3}"
    assert "3 fingerprints" in select_independent(log(tmp_path, rows))[1][0]
    some = timed(5, 3)
    del some[0]["time"]
    assert list_days(log(tmp_path, some)).count("") == 1
    american = [row | {"time": f"11/{10 + at % 6}/2026 13:00"} for at, row in enumerate(rows)]
    assert len({*list_days(log(tmp_path, american))}) == 6


def test_two_logs_have_days_apart_also_if_a_run_is_of_a_shared_day(tmp_path: Path) -> None:
    before, after = timed(1, 4), [row | {"time": "2026-03-09T10:00:00"} for row in timed(1, 4)]
    after[0]["time"] = before[0]["time"]
    (tmp_path / "b").mkdir()
    assert have_days_apart(log(tmp_path, before), log(tmp_path / "b", after))
    assert not have_days_apart(log(tmp_path, before), log(tmp_path / "b", before))


def test_numbers_of_runs_that_follow_nothing_leave_all_of_them(tmp_path: Path) -> None:
    draw = np.random.default_rng(3)
    rows = [
        {"case": f"c{case}", "run": run, "decision": "yes" if draw.random() < 0.8 else "no"}
        for case in range(40)
        for run in range(2 + 3 * (case % 2))
    ]
    runs, lines = select_independent(log(tmp_path, rows))
    assert not lines
    assert len(runs.case) == len(rows)


def timed(days: int, runs: int) -> Rows:
    """Runs of which those of a case and a day are equal."""
    draw = np.random.default_rng(5)
    return [
        {
            **{"case": f"c{case}", "decision": decided},
            "time": f"2026-03-{day + 1:02d}T{hour:02d}:00:00+00:00",
        }
        for case in range(12)
        for day in range(days)
        for decided in (["yes", "no"][int(draw.integers(2))],)
        for hour in range(runs)
    ]


def test_of_five_days_one_run_of_each_case_and_day_counts(tmp_path: Path) -> None:
    rows = timed(6, 3)
    by_day: dict[str, list[str]] = {}
    for row in rows[::3]:
        by_day.setdefault(row["case"], []).append(row["decision"])
    known = log(tmp_path, rows)
    runs, lines = select_independent(known)
    assert len(set(list_days(known))) == 6
    assert len(lines) == 1
    assert {case: sorted(each) for case, each in decisions(runs).items()} == {
        case: sorted(each) for case, each in by_day.items()
    }
    assert estimate_disagreement(runs).value == pytest.approx(differ(by_day))
    turned = select_independent(log(tmp_path, rows[::-1]))[0]
    assert estimate_disagreement(turned) == estimate_disagreement(runs)


@pytest.mark.parametrize(("days", "said"), [(1, "one day"), (3, "3 days"), (4, "too few")])
def test_of_fewer_days_all_runs_count_and_it_is_said(tmp_path: Path, days: int, said: str) -> None:
    runs, lines = select_independent(log(tmp_path, timed(days, 2)))
    assert len(runs.case) == 24 * days
    assert said in lines[0]


def test_a_time_that_is_no_date_names_a_batch(tmp_path: Path) -> None:
    rows = [row | {"time": f"batch {row['time'][9]}"} for row in timed(6, 2)]
    runs, _ = select_independent(log(tmp_path, rows))
    assert set(runs.repeats) == {6}
