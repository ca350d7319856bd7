"""Runs in MLflow, written by a writer that may be stopped between any two steps."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient

from plenum.base.identity import digest
from plenum.records.journal import Journal
from plenum.records.usage import Usage
from plenum.tracking import artifacts, conditions, experiments, runs, store
from plenum.tracking.report_run import log_report
from plenum.tracking.study import Study as TrackedStudy
from plenum.tracking.writer import ConditionWriter, StudyWriter

SEATS = ("chair", "rights")
ROUNDS = 3
EFFORT = Usage(attempts=6, seconds=0.5)
CONDITION = {
    **{"scenario": "s", "roles": "on", "model": "uniform", "memory": "k3", "temperature": "t0.7"},
    **{"backend": "simulated", "perturbation": "none", "settings": "default", "rounds": ROUNDS},
    **{"seed": 0, "condition": "c0", "cell": "cell0", "clerk": "m"},
    "options": {"A": "one", "B": "two"},
    "seats": [{"seat": seat, "model": "m"} for seat in SEATS],
}
ESTIMATES: dict[str, Any] = {
    **{"metrics": {"n_target": 2, "n_completed": 2}, "divergence": [0.1, 0.2, 0.4]},
    **{"status": "ok", "interval": "jackknife", "warnings": [], "failures": {}},
    "made_from": "0123",
}


class Stopped(BaseException):
    """The writer was killed here."""


class Stopping:
    """Counts the steps of a writer, and stops it before one of them; or counts with another."""

    def __init__(self, client: Any, before: "int | Stopping") -> None:
        self._client = client
        self._before = before

    def step(self) -> None:
        if isinstance(self._before, Stopping):
            return self._before.step()
        self._before -= 1
        if self._before < 0:
            raise Stopped

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            self.step()
            return getattr(self._client, name)(*given, **named)

        return call


@dataclass
class Study:
    """A study in a real SQLite store, and the journals it is written from."""

    uri: str
    name: str
    folder: Path
    client: MlflowClient = field(init=False)

    def __post_init__(self) -> None:
        self.client = store.open_client(self.uri)

    def writer(self, nested: bool = True) -> ConditionWriter:
        return StudyWriter(self.uri, self.name, "v").open(CONDITION, 2, nested)

    def journal(
        self, replicate: int = 0, rounds: int = ROUNDS, end: str = "completed", **more: Any
    ) -> Path:
        """Write a journal, or continue one; ``more`` goes into its head."""
        path = self.folder / f"{replicate:03d}.jsonl"
        head = {key: CONDITION[key] for key in ("condition", "options", "seats")}
        spent = {"cost": 0.1, "tokens_in": 10, "tokens_out": 5}
        with Journal(path, {**head, "replicate": replicate, **more}) as journal:
            for number in range(len(journal.entries) // len(SEATS) + 1, rounds + 1):
                for place, seat in enumerate(SEATS):
                    pref = [0.5 + 0.1 * place, 0.5 - 0.1 * place]
                    turn = {"kind": "turn", "round": number, "seat": seat, "argument": "so"}
                    state = {"pref": pref, "conf": 60 + number, "tags": ["t", "u"]}
                    journal.append({**turn, "state": state, **spent})
            if end:
                ending = {"decision": "A"} if end == "completed" else {"reason": "parse"}
                journal.append({"kind": "end", "status": end, **ending})
        return path

    def runs(self, kind: str) -> list[Any]:
        """The active runs of a kind."""
        experiment = self.client.get_experiment_by_name(self.name)
        assert experiment is not None
        return self.client.search_runs(
            [experiment.experiment_id], f"tags.`plenum.kind` = '{kind}'", max_results=100
        )

    def artifacts(self, run: Any) -> Path:
        folder = artifacts.folder(run.info.artifact_uri)
        assert folder is not None
        return folder


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('a store')}/mlflow.db"


@pytest.fixture
def study(uri: str, tmp_path: Path, request: pytest.FixtureRequest) -> Study:
    return Study(uri, request.node.name, tmp_path)


def stops(
    write: Callable[[ConditionWriter], None], study: Study, monkeypatch: pytest.MonkeyPatch
) -> Iterator[int]:
    """Stop fresh writers before their first, second ... step; ends when one got to its end."""
    copyfile = shutil.copyfile
    for before in range(30):
        writer = study.writer()
        stopping = Stopping(writer._study.client, before)
        writer._study.client = stopping
        writer._study.runs = Stopping(writer._study.runs, stopping)

        def copy(source: Path, target: Path, stopping: Stopping = stopping) -> None:
            stopping.step()
            copyfile(source, target)

        with monkeypatch.context() as patched:
            patched.setattr(shutil, "copyfile", copy)
            try:
                write(writer)
                return
            except Stopped:
                pass
        yield before
    raise AssertionError("it never got to its end")


def require_whole(study: Study, journal: Path) -> Any:
    """The one nested run of the journal's replicate, which has all that belongs to it."""
    (run,) = study.runs("replicate")
    (parent,) = study.runs("condition")
    assert run.data.tags["mlflow.parentRunId"] == parent.info.run_id
    assert run.info.status == "FINISHED"
    assert run.data.params["replicate"] == "0"
    assert run.data.metrics["tokens_in"] == 10 * ROUNDS * len(SEATS)
    points = study.client.get_metric_history(run.info.run_id, "p_A")
    assert [(point.step, point.value) for point in points] == [(n, 0.55) for n in (1, 2, 3)]
    copied = study.artifacts(run) / "transcript" / journal.name
    assert copied.read_bytes() == journal.read_bytes()
    return run


def test_a_replicate_is_one_whole_nested_run_wherever_its_writer_was_stopped(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = study.journal()
    parent = study.writer()._parent.info.run_id
    seen = 0
    for _ in stops(lambda w: w.replicate(journal, EFFORT), study, monkeypatch):
        seen += 1
        half = study.runs("replicate")
        assert all(run.info.status == "RUNNING" for run in half)
        study.writer().replicate(journal, EFFORT)
        whole = require_whole(study, journal)
        assert "plenum.pending" not in whole.data.tags
        study.client.delete_run(whole.info.run_id)
    assert seen == 3  # begin, copy, end
    require_whole(study, journal)
    assert study.runs("condition")[0].info.run_id == parent


@pytest.mark.parametrize("fresh", [True, False], ids=["another-writer", "same-writer"])
def test_a_pending_replicate_gives_way_when_it_ends(study: Study, fresh: bool) -> None:
    journal = study.journal(rounds=2, end="")
    writer = study.writer()
    writer.replicate(journal, EFFORT, pending="budget")
    (run,) = study.runs("replicate")
    assert run.info.status == "KILLED"
    told = {key: run.data.tags[f"plenum.{key}"] for key in ("status", "failure", "pending")}
    assert told == {"status": "pending", "failure": "", "pending": "budget"}
    assert len(study.client.get_metric_history(run.info.run_id, "p_A")) == 2

    writer = study.writer() if fresh else writer
    writer.replicate(journal, EFFORT, pending="budget")
    assert study.runs("replicate")[0].info.run_id == run.info.run_id
    writer.replicate(study.journal(), EFFORT)
    assert "plenum.pending" not in require_whole(study, journal).data.tags


def test_a_pending_replicate_gives_way_wherever_its_writer_was_stopped(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = study.journal(rounds=1, end="")
    kept = waiting.read_bytes()
    study.writer().replicate(waiting, EFFORT, pending="interrupted")
    ended = study.journal()
    whole = ended.read_bytes()
    for _ in stops(lambda w: w.replicate(ended, EFFORT), study, monkeypatch):
        study.writer().replicate(ended, EFFORT)
        require_whole(study, ended)
        ended.write_bytes(kept)
        study.writer().replicate(ended, EFFORT, pending="interrupted")
        ended.write_bytes(whole)
    require_whole(study, ended)


def test_a_condition_is_one_whole_run_wherever_its_writer_was_stopped(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    journals = [study.journal(0), study.journal(1)]
    for journal in journals:
        study.writer().replicate(journal, EFFORT)
    estimates = ESTIMATES

    def close(writer: ConditionWriter) -> None:
        writer.close(journals, estimates, "a: 1")

    # the second time around another estimate takes the place of the first
    for value in (0.4, 0.5):
        estimates = {**ESTIMATES, "divergence": [0.1, 0.2, value], "made_from": value}
        for _ in stops(close, study, monkeypatch):
            assert len(study.runs("condition")) <= 2
        (parent,) = study.runs("condition")
        assert parent.info.status == "FINISHED"
        assert parent.data.tags["plenum.target"] == "2"
        points = study.client.get_metric_history(parent.info.run_id, "D")
        assert [point.value for point in points] == [0.1, 0.2, value]
        held = {file.name for file in study.artifacts(parent).iterdir()}
        tables = {"ensemble.parquet", "replicates.parquet"}
        assert held - {"accounts.json"} == {*tables, "config.yaml", "condition.json"}
        nested = study.runs("replicate")
        assert {run.data.tags["mlflow.parentRunId"] for run in nested} == {parent.info.run_id}
        assert len(nested) == 2


def accounts(study: Study) -> Any:
    (parent,) = study.runs("condition")
    return json.loads((study.artifacts(parent) / "accounts.json").read_text())


def test_accounts_are_an_artifact_of_the_condition(study: Study) -> None:
    journals = [study.journal(0)]
    writer = study.writer()
    writer.close(journals, {**ESTIMATES, "accounts": {"cost": float("nan")}}, "a: 1")
    assert accounts(study) == {"cost": "NaN"}
    (parent,) = study.runs("condition")
    for closing in (writer, study.writer()):  # accounts alone make no other run
        closing.close(journals, {**ESTIMATES, "accounts": {"cost": 2}}, "a: 1")
        assert accounts(study) == {"cost": 2}
    closing.close(journals, ESTIMATES, "a: 1")
    assert accounts(study) == {"cost": 2}
    assert study.runs("condition")[0].info.run_id == parent.info.run_id


def test_a_condition_stopped_before_its_estimates_is_accounted_for(study: Study) -> None:
    study.writer().account({"cost": 1})
    assert accounts(study) == {"cost": 1}
    (parent,) = study.runs("condition")
    assert parent.info.status == "RUNNING"
    estimates = {**ESTIMATES, "accounts": {"cost": 2}}
    study.writer().close([study.journal(0)], estimates, "a: 1")
    assert accounts(study) == {"cost": 2}
    assert study.runs("condition")[0].info.run_id == parent.info.run_id


# --- replicates as rows ---------------------------------------------------------------------------


def rowed(study: Study) -> dict[str, tuple[str, float, bytes]]:
    """The replicates that the study's readers find: status, tokens, and transcript."""
    tracked = TrackedStudy(study.name, study.uri)
    assert not tracked.nested_runs
    (parent,) = tracked.condition_runs
    runs_ = runs.read_rows(tracked.client, parent, whole=True)
    with tracked.transcripts() as kept:
        texts = {t.replicate: t.path.read_bytes() for t in kept.get(parent.info.run_id, ())}
    return {
        run.data.params["replicate"]: (
            *(run.info.status, run.data.metrics["tokens_in"]),
            texts.get(int(run.data.tags["plenum.replicate"]), b""),
        )
        for run in runs_
    }


def test_rows_are_whole_wherever_their_writer_was_stopped(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    journals = [study.journal(0), study.journal(1)]
    whole = {
        str(n): ("FINISHED", 10.0 * ROUNDS * len(SEATS), j.read_bytes())
        for n, j in enumerate(journals)
    }
    estimates = ESTIMATES

    def close(writer: ConditionWriter) -> None:
        writer._nested = False
        for journal in journals:
            writer.replicate(journal, EFFORT)
        writer.close(journals, estimates, "a: 1")

    # the second and third time around rows are taken over by another parent
    for value in (0.4, 0.5, 0.6):
        estimates = {**ESTIMATES, "divergence": [0.1, 0.2, value], "made_from": value}
        for before in stops(close, study, monkeypatch):
            if before % 2 or value > 0.4:
                close(study.writer())
                assert rowed(study) == whole
                estimates = {**ESTIMATES, "divergence": [0.1, before, value], "made_from": before}
        assert rowed(study) == whole
        assert len(study.runs("condition")) == 1


def test_rows_before_the_end_say_that_they_run(study: Study) -> None:
    waiting, ended = study.journal(0, rounds=2, end=""), study.journal(1)
    writer = study.writer(nested=False)
    writer.replicate(waiting, EFFORT, pending="budget")
    writer._save_rows(whole=False)
    assert {status for status, *_ in rowed(study).values()} == {"RUNNING"}
    writer = study.writer(nested=False)  # another one takes none of them for whole
    writer.replicate(waiting, EFFORT, pending="budget")
    writer.replicate(ended, EFFORT)
    writer.end()
    assert [(s, bool(text)) for s, _, text in rowed(study).values()] == [
        *(("KILLED", True), ("FINISHED", True))
    ]
    (condition,) = TrackedStudy(study.name, study.uri).listed
    assert (condition.target, condition.completed, condition.pending) == (2, 1, 1)
    writer.replicate(study.journal(0), EFFORT)
    writer.end()
    assert [status for status, *_ in rowed(study).values()] == ["FINISHED", "FINISHED"]


# --- environments, reruns and reports -----------------------------------------------------------

GPU, CPU = {"device": "cuda", "torch": "2.13.0"}, {"device": "cpu", "torch": "2.13.0"}


def test_a_journal_that_went_on_elsewhere_has_both_environments(study: Study) -> None:
    journal = study.journal(0, rounds=1, end="", environment=GPU)
    with Journal(journal, {"condition": "c0", "replicate": 0}) as opened:
        opened.append({"kind": "reopen", "environment": CPU})
    study.writer().close([study.journal(0)], ESTIMATES, "a: 1")
    (parent,) = study.runs("condition")
    assert parent.data.tags["plenum.environment"] == f"{digest(GPU)} {digest(CPU)}"


def test_a_run_of_before_the_protocol_was_tracked_is_a_deliberation(study: Study) -> None:
    study.writer().close([study.journal()], ESTIMATES, "a: 1")
    (parent,) = study.runs("condition")
    del parent.data.params["protocol"]
    assert conditions.read_factors(parent)["protocol"] == "deliberation"


def test_reruns_are_told_apart_by_their_number(study: Study) -> None:
    again = {**CONDITION, "cell": "cell1", "settings": "gain=2 rerun=1"}
    labelled = {**CONDITION, "cell": "cell2", "roles": "off"}
    writer = StudyWriter(study.uri, study.name, "v")
    writer.open(CONDITION, 2)
    writer.open(again, 3)
    writer.open(labelled, 5)
    (runs,) = TrackedStudy(study.name, study.uri).reruns.values()
    assert [(run.rerun, run.target, run.folders[0]) for run in runs] == [
        *((0, 5, "c0"), (1, 3, "c0-rerun1"))
    ]


def test_conditions_are_listed_as_they_began_though_in_one_millisecond(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time", lambda: 1.8e9)
    writer = StudyWriter(study.uri, study.name, "v")
    cells = [f"cell{number}" for number in range(8)]
    for cell in cells:
        writer.open(CONDITION | {"cell": cell, "condition": cell}, 1)
    found = runs.search_runs(writer.client, writer.experiment, runs.CONDITIONS)
    assert [run.data.tags["plenum.cell"] for run in found] == cells


def test_a_report_run_whose_writer_was_killed_ends_with_the_next_report(
    study: Study, tmp_path: Path
) -> None:
    study.writer()
    experiment = experiments.find_experiment(study.client, study.uri, study.name)
    study.client.create_run(experiment, run_name="report", tags={"plenum.kind": "report"})
    file = tmp_path / "tables.md"
    file.write_text("tables")
    log_report(study.name, study.uri, [file])
    (report,) = study.runs("report")
    assert report.info.status == "FINISHED"
    assert [a.path for a in study.client.list_artifacts(report.info.run_id)] == ["tables.md"]
