"""Replicates as MLflow traces: a span a call, with the prompt as it was sent."""

import json
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from plenum.records.transcript import Transcript

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Span

TRACE_TAG = "plenum.trace"
"""Tag of a replicate's run: the id of its trace, once that is whole."""

_LONGEST_SESSION = 200
_ROOT = 1
_NS = 1_000_000_000


@dataclass(frozen=True)
class TracedCall:
    """A call in the form that a trace shows.

    Attributes
    ----------
    kind, round, seat, model
        What kind of call it is, and its round, seat and model.
    messages
        The prompt, as ``role`` and ``content`` of each message.
    id
        What names the call in the condition's call log.
    entry
        The journal's entry of the answer; ``None`` where the replicate failed for want of one.
    """

    kind: str
    round: int
    seat: str
    model: str
    messages: tuple[dict[str, str], ...]
    id: str
    entry: dict[str, Any] | None


@dataclass(frozen=True)
class Trace:
    """A replicate and the contents of its trace.

    Attributes
    ----------
    id
        MLflow's id of the trace.
    experiment, run_id
        Where it belongs.
    name, session
        As the UI lists it; the traces of a condition are one session.
    tags
        Of the trace.
    """

    id: str
    experiment: str
    run_id: str
    name: str
    session: str
    tags: dict[str, str]


def identifier(*parts: str) -> str:
    """Derive the id of a trace from experiment, condition, replicate and journal."""
    return f"tr-{uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(parts)).hex}"


def session(name: str, condition: str) -> str:
    """Name the session of a condition: its name, and the first letters of its identity."""
    return f"{name[:_LONGEST_SESSION]} {condition[:8]}"


def write(
    client: "MlflowClient",
    trace: Trace,
    transcript: Transcript,
    calls: Sequence[TracedCall],
    attempts: Iterable[dict[str, Any]],
    begun: float,
) -> None:
    """Write a replicate's trace; overwrite one that exists, whole or torn.

    Parameters
    ----------
    attempts
        The replicate's lines of the call log: they say when calls were made.
    begun
        Seconds since the epoch, for where the log doesn't say it.
    """
    from mlflow.entities import TraceInfo, TraceState
    from mlflow.entities.trace_location import TraceLocation

    states = {"completed": TraceState.OK, "failed": TraceState.ERROR}
    first, *rest = list(_spans(trace, transcript, calls, _times(attempts), int(begun * _NS)))
    start, end = first.start_time_ns, first.end_time_ns or first.start_time_ns
    info = TraceInfo(
        trace_id=trace.id,
        trace_location=TraceLocation.from_experiment_id(trace.experiment),
        request_time=start // 1_000_000,
        execution_duration=(end - start) // 1_000_000,
        state=states.get(transcript.status, TraceState.STATE_UNSPECIFIED),
        request_preview=trace.name,
        response_preview=_outcome(transcript),
        trace_metadata={"mlflow.trace.session": trace.session, "mlflow.sourceRun": trace.run_id},
        tags={"mlflow.traceName": trace.name, **trace.tags},
    )
    client._tracing_client.start_trace(info)  # the public ones choose ids and times of their own
    client._tracing_client.log_spans(trace.experiment, [first, *rest])


def _outcome(transcript: Transcript) -> str:
    """Describe the outcome of a replicate in one line."""
    end = transcript.end
    if end is None:
        return "pending"
    if end["status"] == "failed":
        return f"failed: {end['reason']}"
    if "votes" in end:
        return f"decision {end['decision']}, {end['votes']} of {end['total']} votes"
    return str(end["status"])


def _times(attempts: Iterable[dict[str, Any]]) -> dict[str, tuple[int, int, int]]:
    """Find begin and end of each call, in nanoseconds, and its attempts; by the call's id."""
    by_call: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for line in attempts:
        with suppress(KeyError, TypeError, ValueError, OverflowError, AttributeError):
            # a line of another make says no time
            begun = int(datetime.fromisoformat(line["at"]).timestamp() * 1e6) * 1000
            ended = begun + max(int(line["latency_s"] * _NS), 0)
            by_call[line["id"].rpartition("-")[0]].append((begun, ended))
    return {
        call: (min(b for b, _ in times), max(e for _, e in times), len(times))
        for call, times in by_call.items()
    }


def _spans(
    trace: Trace,
    transcript: Transcript,
    calls: Sequence[TracedCall],
    times: dict[str, tuple[int, int, int]],
    begun: int,
) -> "Iterator[Span]":
    """Yield the span of the replicate, then those of its calls."""
    start = min((times[call.id][0] for call in calls if call.id in times), default=begun)
    now, spans = start, []
    for number, call in enumerate(calls, start=_ROOT + 1):
        later = now + 1000  # calls without a time keep their order, at no length
        began, now, count = times.get(call.id, (later, later, 0))
        attributes = _attributes(call, count)
        failed = "" if call.entry else str((transcript.end or {}).get("detail", "no answer"))
        name = f"{call.kind} {call.round} {call.seat}"
        spans.append(_span(trace.id, number, name, attributes, (began, now), failed))
    whole = {
        "mlflow.spanType": "CHAIN",
        "mlflow.spanInputs": {"replicate": trace.name, "options": transcript.head["options"]},
        "mlflow.spanOutputs": {"outcome": _outcome(transcript), **_votes(transcript)},
    }
    failed = _outcome(transcript) if transcript.status == "failed" else ""
    yield _span(trace.id, _ROOT, trace.name, whole, (start, now), failed)
    yield from spans


def _votes(transcript: Transcript) -> dict[str, Any]:
    return {"ballots": transcript.ballots} if transcript.ballots else {}


def _attributes(call: TracedCall, attempts: int) -> dict[str, Any]:
    """Collect the attributes of a call's span; MLflow's UI reads the names with a dot."""
    attributes: dict[str, Any] = {
        "mlflow.spanType": "CHAT_MODEL",
        "mlflow.spanInputs": {"messages": call.messages},
        "mlflow.llm.model": call.model,
        "mlflow.llm.cost": {},  # else MLflow looks prices up, also of simulated models
        "call": call.kind,
        "round": call.round,
        "seat": call.seat,
    }
    if attempts:
        attributes["attempts"] = attempts
    entry = call.entry
    if entry is None:
        return attributes
    attributes["mlflow.spanOutputs"] = {
        "choices": [{"message": {"role": "assistant", "content": entry["text"]}}]
    }
    read = ("state", "ballot", "clerk", "read", "problem", "finish", "inherited")
    attributes |= {key: entry[key] for key in read if entry.get(key) is not None}
    if "inherited" not in entry:
        taken, given = entry.get("tokens_in") or 0, entry.get("tokens_out") or 0
        usage = {"input_tokens": taken, "output_tokens": given, "total_tokens": taken + given}
        attributes["mlflow.chat.tokenUsage"] = usage
        if entry.get("cost") is not None:
            attributes["mlflow.llm.cost"] = {"total_cost": entry["cost"]}
    return attributes


def _span(
    trace: str,
    number: int,
    name: str,
    attributes: dict[str, Any],
    times: tuple[int, int],
    failed: str,
) -> "Span":
    """Make a finished span under ids of its own, since the fluent API invents ids."""
    from mlflow.entities import Span
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import SpanContext, Status, StatusCode

    def context(span: int) -> SpanContext:
        return SpanContext(int(trace.removeprefix("tr-"), 16), span, is_remote=False)

    return Span(
        ReadableSpan(
            name=name,
            context=context(number),
            parent=None if number == _ROOT else context(_ROOT),
            resource=Resource.get_empty(),
            attributes={
                key: json.dumps(value, ensure_ascii=False)
                for key, value in {"mlflow.traceRequestId": trace, **attributes}.items()
            },
            status=Status(StatusCode.ERROR, failed) if failed else Status(StatusCode.OK),
            start_time=times[0],
            end_time=times[1],
        )
    )
