"""Replicates as traces: prompts as they were sent, once each, whatever stopped the writer."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mlflow.tracing.client import TracingClient

from plenum.calls.call_log import CallLog
from plenum.calls.chat import Chat, Reply
from plenum.calls.conversation import make_failure_entry
from plenum.calls.simulated import SimulatedBackend
from plenum.execution.replay import convert_messages, open_conversation, trace_calls
from plenum.records.failures import Failure
from plenum.records.journal import Journal
from plenum.records.transcript import read_transcript
from plenum.records.usage import Usage
from plenum.tracking import store
from plenum.tracking.writer import StudyWriter

EFFORT = Usage(attempts=1)


class Stopped(BaseException):
    """The writer was killed here."""


def reply(condition: Any, chat: Chat) -> Reply:
    """The simulated agent's answer."""
    return asyncio.run(SimulatedBackend(condition.backend).attempt(chat, 1)).reply


def journaled(condition: Any, folder: Path, index: int = 0, calls: int | None = None) -> Path:
    """Write a replicate's journal, or continue one, up to a number of calls."""
    path = folder / f"{index:03d}.jsonl"
    conversation, rounds = open_conversation(condition, index), 0
    path.unlink(missing_ok=True)
    with Journal(path, {**condition.as_mapping(), "replicate": index}) as journal:
        while (ask := conversation.ask) is not None and calls != 0:
            calls = calls and calls - 1
            journal.append(conversation.answer(reply(condition, ask.chat)))
            for entry in conversation.rounds[rounds:]:
                journal.append(entry)
            rounds = len(conversation.rounds)
        if conversation.end is not None:
            journal.append(conversation.end)
    return path


def prompts(condition: Any, journal: Path) -> list[tuple[str, list[dict[str, str]]]]:
    """The answers of a journal, each with the messages that a fresh replicate is sent."""
    conversation, found = open_conversation(condition, 0), []
    for entry in read_transcript(journal).calls:
        assert conversation.ask is not None
        found.append((entry["text"], convert_messages(conversation.ask)))
        conversation.answer(reply(condition, conversation.ask.chat))
    return found


@dataclass
class Study:
    """A study in a real SQLite store."""

    uri: str
    name: str
    folder: Path

    def write(self, condition: Any, *journals: Path, pending: str = "") -> None:
        """As a tracking process does it that is started for this."""
        mapping = {**condition.as_mapping(), "cell": condition.cell}
        study = StudyWriter(self.uri, self.name, "1.0+abcdef1")
        writer = study.open(mapping, len(journals))
        for journal in journals:
            writer.replicate(journal, EFFORT, pending)
        writer.trace(list(journals), partial(trace_calls, condition))

    def traces(self) -> list[Any]:
        client = store.open_client(self.uri)
        experiment = client.get_experiment_by_name(self.name)
        assert experiment is not None
        return list(client.search_traces([experiment.experiment_id], max_results=50))

    def runs(self) -> list[Any]:
        client = store.open_client(self.uri)
        experiment = client.get_experiment_by_name(self.name)
        assert experiment is not None
        query = "tags.`plenum.kind` = 'replicate'"
        return list(client.search_runs([experiment.experiment_id], query))


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('store')}/mlflow.db"


@pytest.fixture
def study(uri: str, tmp_path: Path, request: pytest.FixtureRequest) -> Study:
    return Study(uri, request.node.name.replace("[", ".").strip("]"), tmp_path)


def calls_of(trace: Any) -> list[Any]:
    spans = sorted(trace.data.spans, key=lambda span: int(span.span_id, 16))
    assert [span.parent_id for span in spans[1:]] == [spans[0].span_id] * (len(spans) - 1)
    return spans[1:]


@pytest.mark.needs("plenum_worlds")
@pytest.mark.parametrize(
    "overrides",
    [("rounds=2",), ("protocol=one_shot", "rounds=1"), ("task=disaster", "rounds=1")],
    ids=["deliberation", "one_shot", "world"],
)
def test_a_replicate_is_a_trace_with_a_span_a_call(
    study: Study, condition: Callable[..., Any], overrides: tuple[str, ...]
) -> None:
    played = condition(*overrides)
    journal = journaled(played, study.folder)
    study.write(played, journal)
    (trace,), (run,) = study.traces(), study.runs()
    spans = calls_of(trace)
    sent = [
        (span.outputs["choices"][0]["message"]["content"], span.inputs["messages"])
        for span in spans
    ]
    assert sent == prompts(played, journal)
    assert len(sent) == len(read_transcript(journal).calls) > 5
    assert trace.info.tags["plenum.simulated"] == "true"
    assert trace.info.tags["plenum.condition"] == played.identity
    assert trace.info.trace_metadata["mlflow.sourceRun"] == run.info.run_id
    assert played.identity[:8] in trace.info.trace_metadata["mlflow.trace.session"]
    usage = json.loads(trace.info.trace_metadata["mlflow.trace.tokenUsage"])
    totals = read_transcript(journal).totals()
    assert (usage["input_tokens"], usage["output_tokens"]) == (
        totals["tokens_in"],
        totals["tokens_out"],
    )
    assert trace.info.state == "OK"


def test_the_same_command_again_leaves_one_trace_a_replicate(
    study: Study, condition: Callable[..., Any]
) -> None:
    played = condition("rounds=1")
    journals = [journaled(played, study.folder, index) for index in range(2)]
    study.write(played, *journals)
    before = {trace.info.trace_id for trace in study.traces()}
    study.write(played, *journals)
    assert {trace.info.trace_id for trace in study.traces()} == before
    assert {run.data.tags["plenum.trace"] for run in study.runs()} == before
    assert len({t.info.trace_metadata["mlflow.trace.session"] for t in study.traces()}) == 1
    assert len(before) == 2


def test_a_replicate_that_went_on_has_its_trace_replaced(
    study: Study, condition: Callable[..., Any]
) -> None:
    played = condition("rounds=1")
    study.write(played, journaled(played, study.folder, calls=3), pending="budget")
    (first,) = study.traces()
    assert (len(calls_of(first)), first.info.tags["plenum.status"]) == (3, "pending")
    study.write(played, journaled(played, study.folder))
    (second,) = study.traces()
    assert (len(calls_of(second)), second.info.tags["plenum.status"]) == (11, "completed")
    (run,) = study.runs()
    assert second.info.trace_metadata["mlflow.sourceRun"] == run.info.run_id


def test_a_trace_that_was_torn_is_written_whole(
    study: Study, condition: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    played = condition("rounds=1")
    journal = journaled(played, study.folder)

    def stop(*_: Any, **__: Any) -> None:
        raise Stopped

    for method in ("start_trace", "log_spans"):
        with monkeypatch.context() as patched:
            patched.setattr(TracingClient, method, stop)
            with pytest.raises(Stopped):
                study.write(played, journal)
    study.write(played, journal)
    (trace,) = study.traces()
    assert len(calls_of(trace)) == 11


def test_a_failed_replicate_shows_the_prompt_that_was_not_answered(
    study: Study, condition: Callable[..., Any]
) -> None:
    played = condition("rounds=1")
    path = journaled(played, study.folder, calls=2)
    due = open_conversation(played, 0)
    for entry in read_transcript(path).calls:
        assert due.ask is not None
        assert due.answer(reply(played, due.ask.chat)) == entry
    assert due.ask is not None
    with Journal(path, {**played.as_mapping(), "replicate": 0}) as journal:
        journal.append(make_failure_entry(due.ask, Failure.TIMEOUT, "none in time"))
    study.write(played, path)
    (trace,) = study.traces()
    last = calls_of(trace)[-1]
    assert len(calls_of(trace)) == 3
    assert last.inputs["messages"] == convert_messages(due.ask)
    assert (str(last.status.status_code), last.outputs) == ("SpanStatusCode.ERROR", None)
    assert trace.info.state == "ERROR"


def test_times_come_from_the_call_log(study: Study, condition: Callable[..., Any]) -> None:
    played = condition("rounds=1", "backend=api")
    simulated = condition("rounds=1")
    path = study.folder / "000.jsonl"
    log = CallLog(study.folder / "calls.jsonl")
    conversation = open_conversation(played, 0)
    with Journal(path, {**played.as_mapping(), "replicate": 0}) as journal:
        for second in range(2):
            ask = conversation.ask
            assert ask is not None
            for attempt in (1, 2):
                named = {"replicate": 0, "id": f"{ask.chat.seed:016x}-{attempt}"}
                began = f"2026-01-01T00:00:0{2 * second + attempt - 1}+00:00"
                called = {"call": ask.kind, "round": ask.round, "seat": ask.seat, "model": "m"}
                ended = {"outcome": "ok", "answered": True, "status": 200, "latency_s": 0.25}
                log.append({**named, **called, **ended, "at": began, "detail": ""})
            journal.append(conversation.answer(reply(simulated, ask.chat)))
    log.close()
    study.write(played, path, pending="budget")
    (trace,) = study.traces()
    seconds = [(span.start_time_ns / 1e9, span.end_time_ns / 1e9) for span in calls_of(trace)]
    since = np.array(seconds) - 1767225600.0
    np.testing.assert_allclose(since, [(0, 1.25), (2, 3.25)], atol=1e-3)
    assert [span.get_attribute("attempts") for span in calls_of(trace)] == [2, 2]
    assert trace.info.tags["plenum.simulated"] == "false"
