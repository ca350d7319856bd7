"""The progress of a study: counts and estimates so far, and that nothing is read twice."""

import json
import math
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import ROOT, call, find_package
from explorer_studies import Written, drifting

from plenum.base.file_locks import hold_lock
from plenum.calls.call_log import CallLog
from plenum.dynamics.divergence import divergence
from plenum.dynamics.growth import estimate_typical_growth
from plenum.records.journal import Journal
from plenum.reports import progress
from plenum.reports.progress import StudyProgress
from plenum.tracking.store import absolute_uri
from plenum.tracking.tracker import lock_file, plan_file

FAILED = {"reason": "parse", "at": {"call": "turn", "round": 2, "seat": "Rights"}, "detail": "no"}
KEY = "sk-abcdefghijklmnopqrstuvwxyz0123456789"


def uri(folder: Path) -> str:
    return absolute_uri(f"sqlite:///{folder}/mlflow.db")


def plan(folder: Path, *conditions: tuple[str, int], began: float = 1.0, **budget: float) -> None:
    """What a sweep wrote: names of folders with the replicates that are wanted of each."""
    named = [
        {"name": f"name={n}", "cell": f"cell-{n}", "folder": n, "target": t, "calls": 20}
        for n, t in conditions
    ]
    limits = {"dollars": None, "tokens": None, "calls": None, **budget}
    told = {"kind": "committee", "conditions": named, "budget": limits, "began": began}
    plan_file(folder, uri(folder), "told").write_text(json.dumps(told))


@contextmanager
def sweeping(folder: Path) -> Iterator[None]:
    with hold_lock(lock_file(folder, uri(folder), "told")):
        yield


def follow(folder: Path) -> StudyProgress:
    return StudyProgress("told", uri(folder), folder)


def cut(file: Path, lines: int = 1) -> None:
    """Take the last lines of a journal away, as if they hadn't been written yet."""
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-lines]))


def write(file: Path, calls: int, cost: float | None = 0.5, **end: Any) -> None:
    """A journal of a kind without preferences."""
    head = {"condition": file.parent.name, "replicate": int(file.stem), "seats": []}
    with Journal(file, {**head, "options": {}}) as journal:
        for _ in range(calls):
            used = {"tokens_in": 10, "tokens_out": 3, "cost": cost}
            journal.append({"kind": "flip", "round": 1, "seat": "coin", "text": "x", **used})
        if end:
            journal.append({"kind": "end", **end})


def test_replicates_are_counted_and_those_that_have_completed_are_estimated(tmp_path: Path) -> None:
    study = Written(tmp_path)
    paths = drifting(8, 6, 3)
    study.condition(8, 6, paths=paths, broken={4: FAILED})
    folder = tmp_path / "00c0ffee"
    cut(folder / "005.jsonl")
    (folder / "006.jsonl").write_bytes(b'{"kind":"head"}\n')
    (folder / "008.jsonl").write_bytes(b"")  # just being begun
    plan(tmp_path, ("00c0ffee", 12), ("later", 3))
    ended = paths[[0, 1, 2, 3, 7]]
    with sweeping(tmp_path):
        told = follow(tmp_path).read()
    assert told["running"] is True
    first, second = told["conditions"]
    assert (first["name"], first["cell"], first["target"]) == ("name=00c0ffee", "cell-00c0ffee", 12)
    parts = ("completed", "failed", "damaged", "running", "pending")
    assert [first[part] for part in parts] == [5, {"parse": 1}, 1, 2, 3]
    assert [second[part] for part in parts] == [0, {}, 0, 0, 3]
    assert second["idle_s"] is None
    assert sum(first["decisions"].values()) == 5
    assert list(first["decisions"].values()) == sorted(first["decisions"].values(), reverse=True)
    assert first["D"] == pytest.approx(divergence(ended), abs=1e-12)
    assert first["growth"] == pytest.approx(estimate_typical_growth(ended).value)
    assert [told["totals"][part] for part in parts] == [5, 1, 1, 2, 6]
    over = follow(tmp_path).read()
    assert (over["running"], over["left_s"]) == (False, None)
    assert [over["conditions"][0][part] for part in parts] == [5, {"parse": 1}, 1, 0, 5]


def test_what_has_not_changed_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Written(tmp_path)
    study.condition(4, 5)
    folder = tmp_path / "00c0ffee"
    last = (folder / "003.jsonl").read_bytes()
    cut(folder / "003.jsonl", 2)
    plan(tmp_path, ("00c0ffee", 4))
    read, estimated = [], []
    transcript, level = progress.read_transcript, progress.divergence
    monkeypatch.setattr(progress, "read_transcript", lambda f: read.append(f.stem) or transcript(f))
    monkeypatch.setattr(progress, "divergence", lambda e: estimated.append(len(e)) or level(e))
    followed = follow(tmp_path)
    assert followed.read()["conditions"][0]["completed"] == 3
    assert sorted(read) == ["000", "001", "002", "003"]
    followed.read()
    assert len(read) == 4
    (folder / "003.jsonl").write_bytes(last[:-5])  # its last line is torn
    assert followed.read()["conditions"][0]["completed"] == 3
    assert (read[4:], estimated) == (["003"], [3])
    (folder / "003.jsonl").write_bytes(last)
    assert followed.read()["conditions"][0]["completed"] == 4
    assert (read[5:], estimated) == (["003"], [3, 4])
    shutil.rmtree(folder)
    assert followed.read()["conditions"][0]["pending"] == 4


def test_calls_cost_and_time_left_are_told_of_this_sweep_and_spent_of_all(tmp_path: Path) -> None:
    now = time.time()
    for n in range(3):
        write(tmp_path / f"a/00{n}.jsonl", 10, status="completed", decision="heads")
    write(tmp_path / "a/003.jsonl", 4, cost=None)
    write(tmp_path / "a/007.jsonl", 10, status="completed", decision="tails")  # an earlier sweep's
    for n, age in ((0, 900), (1, 30), (2, 20), (3, 10)):
        os.utime(tmp_path / f"a/00{n}.jsonl", (now - age, now - age))
    # Of the last replicate one call was made before the sweep was killed and continued.
    answer = {"replicate": 3, "answered": True, "latency_s": 0.1}
    with CallLog(tmp_path / "a/calls.jsonl") as log:
        for age in (900,) * 10 + (150,) + (50,) * 22:
            at = datetime.fromtimestamp(now - age, UTC).isoformat()
            log.append({**answer, "outcome": "ok", "at": at})
        log.append({**answer, "outcome": "parse", "at": at})  # a call as well: its repair follows
        log.append({**answer, "outcome": "timeout", "answered": False, "at": at})
    plan(tmp_path, ("a", 6), ("b", 2), began=now - 100, dollars=50.0)
    with sweeping(tmp_path):
        told = follow(tmp_path).read()
    used = {"calls": 34, "tokens_in": 340, "tokens_out": 102, "dollars": 15.0, "unpriced": 4}
    assert {name: told["conditions"][0][name] for name in used} == used
    assert {name: told["totals"][name] for name in used} == used
    assert told["totals"]["spent"]["dollars"] == 20.0
    assert told["totals"]["spent"]["calls"] == 44
    assert told["budget"]["dollars"] == 50.0
    assert told["conditions"][0]["decisions"] == {"heads": 3}
    assert told["conditions"][0]["idle_s"] == pytest.approx(time.time() - now, abs=5)
    assert told["rate"] == pytest.approx(23 / 100, rel=0.05)
    # Three replicates of `a` take 10 calls each by those before, and 4 are made; `b` takes 20 each.
    assert told["left_s"] == pytest.approx((3 * 10 - 4 + 2 * 20) / told["rate"])


def test_the_rate_is_that_of_the_last_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1_000_000.0]
    monkeypatch.setattr(progress.time, "time", lambda: clock[0])
    (tmp_path / "a").mkdir()
    plan(tmp_path, ("a", 9), began=clock[0])
    followed = follow(tmp_path)
    rates = []
    with sweeping(tmp_path):
        for n, seconds in enumerate((0, 1000, 100, 100, 100)):
            clock[0] += seconds
            write(tmp_path / f"a/00{n}.jsonl", 20 if n > 1 else 0, status="completed")
            rates.append(followed.read()["rate"])
    assert rates[:2] == [0, 0]
    assert rates[3:] == pytest.approx([0.2, 0.2])


def test_growth_without_a_bound_is_none_and_not_a_number_that_json_lacks(tmp_path: Path) -> None:
    paths = drifting(4, 6, 3)
    paths[:, :3] = paths[0, 0]
    assert math.isinf(estimate_typical_growth(paths).value)
    Written(tmp_path).condition(4, 6, paths=paths)
    plan(tmp_path, ("00c0ffee", 4))
    told = follow(tmp_path).read()
    json.dumps(told, allow_nan=False)
    assert told["conditions"][0]["growth"] is None
    assert len(told["conditions"][0]["D"]) == 6


def test_one_completed_replicate_has_a_decision_and_no_distances(tmp_path: Path) -> None:
    Written(tmp_path).condition(1, 6)
    plan(tmp_path, ("00c0ffee", 2))
    (condition,) = follow(tmp_path).read()["conditions"]
    assert (condition["D"], condition["growth"]) == ([], None)
    assert sum(condition["decisions"].values()) == 1


def test_the_last_dozen_failures_come_first_with_what_the_model_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    study = Written(tmp_path)
    said = f"<b>{KEY}</b>\n" + "w" * 5000
    study.condition(20, 6, say=lambda *_: said, broken=dict.fromkeys(range(15), FAILED))
    for n in range(15):
        os.utime(tmp_path / f"00c0ffee/{n:03d}.jsonl", (1000 + n, 1000 + n))
    plan(tmp_path, ("00c0ffee", 20))
    failures = follow(tmp_path).read()["failures"]
    assert [each["n"] for each in failures] == list(range(14, 2, -1))
    newest = failures[0]
    assert (newest["condition"], newest["reason"], newest["detail"]) == (
        *("name=00c0ffee", "parse", "no"),
    )
    assert newest["at"] == FAILED["at"]
    assert newest["status"] == "failed"
    assert newest["wrote"].startswith("<b>")
    assert KEY not in newest["wrote"]
    assert len(newest["wrote"]) == 2000


def test_a_damaged_journal_is_named_with_what_is_wrong_with_it(tmp_path: Path) -> None:
    Written(tmp_path).condition(4, 6, broken={1: FAILED})
    (tmp_path / "00c0ffee/002.jsonl").write_bytes(b'{"kind":"head"}\n')
    plan(tmp_path, ("00c0ffee", 4))
    told = follow(tmp_path).read()
    assert told["conditions"][0]["failed"] == {"parse": 1}
    damaged, failed = sorted(told["failures"], key=itemgetter("status"))
    assert (damaged["n"], damaged["status"], failed["status"]) == (2, "damaged", "failed")
    assert "002.jsonl" in damaged["detail"]


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"conditions": [{"name": "x"}]}'])
def test_without_a_plan_that_can_be_read_the_store_is_shown_alone(
    tmp_path: Path, text: str | None
) -> None:
    Written(tmp_path).condition(2, 5)
    if text is not None:
        plan_file(tmp_path, uri(tmp_path), "told").write_text(text)
    followed = follow(tmp_path)
    told = followed.read()
    assert (told["conditions"], told["budget"], followed.kind) == ([], None, "")
    plan(tmp_path, ("00c0ffee", 2))
    assert followed.read()["conditions"][0]["completed"] == 2
    assert followed.kind == "committee"


def test_many_folders_are_read_by_several_processes_to_the_same_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        write(tmp_path / name / "000.jsonl", 3, status="completed", decision=name)
    plan(tmp_path, *((name, 1) for name in ("a", "b", "c", "d")))
    alone = follow(tmp_path).read()["conditions"]
    monkeypatch.setattr(progress, "_MANY", 3)
    followed = follow(tmp_path)
    read: list[Path] = []
    monkeypatch.setattr(progress, "read_transcript", read.append)
    together = followed.read()["conditions"]
    assert read == []
    for each in (*alone, *together):
        del each["idle_s"]
    assert together == alone
    assert [each["decisions"] for each in together] == [{"a": 1}, {"b": 1}, {"c": 1}, {}]


@pytest.mark.slow
def test_conditions_of_earlier_sweeps_follow_and_those_without_journals_are_the_stores(
    stored: Path,
) -> None:
    small = ("study=s", "replicates=2", "rounds=4")
    call(stored, "run.py", "-m", *small, "roles=off,on")
    call(stored, "run.py", *small, "seed=5", "replicates=3")
    journals = stored / "mlruns/journals"
    followed = StudyProgress("s", f"sqlite:///{stored}/mlruns/mlflow.db", journals)
    told = followed.read()
    planned = [(each["planned"], each["target"]) for each in told["conditions"]]
    assert planned == [(True, 3), (False, 2), (False, 2)]
    assert [each["completed"] for each in told["conditions"]] == [3, 2, 2]
    assert all(len(each["D"]) == 4 for each in told["conditions"])
    calls = [each["calls"] for each in told["conditions"]]
    assert told["totals"]["calls"] == sum(calls)
    assert told["totals"]["spent"]["calls"] == calls[0]  # a budget is a sweep's
    shutil.rmtree(journals / sorted(p.name for p in journals.iterdir() if p.is_dir())[0])
    gone = followed.read()
    (lacking,) = [each for each in gone["conditions"] if each["calls"] is None]
    before = next(each for each in told["conditions"] if each["cell"] == lacking["cell"])
    for name in ("completed", "failed", "pending", "decisions"):
        assert lacking[name] == before[name]
    assert (lacking["D"], lacking["idle_s"], lacking["dollars"]) == ([], None, None)
    assert gone["totals"]["elsewhere"] == 1
    assert gone["totals"]["calls"] == sum(calls) - before["calls"]


@pytest.mark.slow
@pytest.mark.needs("plenum_worlds")
@pytest.mark.parametrize(
    ("given", "decisions"),
    [(("task=public_goods", "rounds=3"), False), (("task=coin", "rounds=5"), True)],
)
def test_kinds_without_preferences_are_counted_like_others(
    stored: Path,
    given: tuple[str, ...],
    decisions: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = find_package(ROOT / "tests/coin", tmp_path_factory.mktemp("site"))
    call(stored, "run.py", "study=k", "replicates=3", *given, **path)
    folder = stored / "mlruns/journals"
    (condition,) = StudyProgress("k", f"sqlite:///{stored}/mlruns/mlflow.db", folder).read()[
        "conditions"
    ]
    assert (condition["completed"], condition["pending"]) == (3, 0)
    assert (condition["D"], condition["growth"]) == ([], None)
    assert sum(condition["decisions"].values()) == (3 if decisions else 0)
    assert condition["calls"] > 0


def test_pages_of_many_replicates_are_estimated_again_only_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Written(tmp_path)
    study.condition(102, 2, paths=np.asarray(drifting(102, 2, 3)))
    spare = tmp_path / "spare"
    spare.mkdir()
    for n in (100, 101):
        shutil.move(tmp_path / f"00c0ffee/{n}.jsonl", spare)
    plan(tmp_path, ("00c0ffee", 110))
    estimated: list[int] = []
    level = progress.divergence
    monkeypatch.setattr(progress, "divergence", lambda e: estimated.append(len(e)) or level(e))
    followed = follow(tmp_path)
    with sweeping(tmp_path):
        followed.read()
        for n in (100, 101):
            shutil.move(spare / f"{n}.jsonl", tmp_path / "00c0ffee")
            followed.read()
    assert estimated == [100, 102]
