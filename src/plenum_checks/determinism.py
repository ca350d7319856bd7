"""The determinism probe (section S1): one prompt sent many times, with every answer kept."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Annotated, Any

from omegaconf import DictConfig
from pydantic import Field

from plenum.base import code_version, digest, replace_surrogates, seed_for, show_progress
from plenum.committee import (
    CommitteeCondition,
    Deliberation,
    Malformed,
    Seat,
    classify_failure,
    parse_answer,
    parse_turn,
    require_committee,
    turn_prompt,
)
from plenum.design import (
    Api,
    Checked,
    Given,
    Job,
    Whole,
    other_settings,
    parse_job,
    read_settings,
)
from plenum.execution import (
    Admission,
    Caller,
    Ledger,
    ProviderUnavailable,
    Ticket,
    classify_error,
    require_prices,
    run_together,
    run_until_stopped,
)
from plenum.models import (
    SIMULATED,
    Answer,
    Attempt,
    Chat,
    ChatModel,
    Prices,
    build_backend,
    make_retry_policy,
    require_live_calls,
)
from plenum.records import Failure
from plenum.tracking import absolute_uri, require_active, require_writable, require_writable_store

LEAST = 2
"""Smallest number of answers that can be compared."""

INTERRUPTED = str(Failure.INTERRUPTED)
"""Reason of a probe that was stopped by Ctrl-C or SIGTERM."""

Document = dict[str, Any]


@dataclass
class _Call:
    """One of the n calls to a model, and its result."""

    index: int
    chat: Chat
    outcome: str = str(Failure.INTERRUPTED)
    detail: str = ""
    answer: Answer | None = None
    failed: list[Attempt] = field(default_factory=list)


@dataclass(frozen=True)
class _Probe:
    """The calls to one model, all with the same messages."""

    seat: Seat
    calls: list[_Call]


@dataclass(frozen=True)
class ProbeSettings(Checked):
    """The settings of ``scripts/probe.py``.

    Parameters
    ----------
    job
        Its condition gives prompt, models, sampling and backend; its limits and budget apply.
    n
        Calls to each model.
    logprobs
        Whether to ask for log-probabilities; ``None`` asks if LiteLLM says that the model has them.
    out
        The folder for files.
    """

    job: Annotated[Job, Given]
    n: Annotated[Whole, Field(ge=LEAST)]
    logprobs: Annotated[bool, Field(description="true, false or null")] | None
    out: Path


def settings(cfg: DictConfig) -> ProbeSettings:
    """Check the config of ``scripts/probe.py``.

    Raises
    ------
    UserError
        A value is malformed.
    """
    job = parse_job(other_settings(cfg, ProbeSettings))
    wanted = read_settings(ProbeSettings, cfg, job=job)
    require_writable("out", wanted.out)
    return wanted


def _require_study(job: Job) -> None:
    """Refuse a study that can't be tracked."""
    if job.tracking_uri:
        uri = absolute_uri(job.tracking_uri)
        require_writable_store(uri)
        require_active(job.study, uri)


def probe(request: ProbeSettings) -> Document:
    """Ask each model of a condition its first turn n times.

    Returns
    -------
    dict
        Plain data: ``settings``, ``stopped`` (the reason of an early end, or empty) and ``models``,
        one per model with every call's ``outcome``: ``ok`` or a :class:`Failure`; ``budget`` and
        ``interrupted`` are outcomes of calls that weren't made or not waited for.

    Raises
    ------
    UserError
        Something can't work: a missing key, an unknown price under a budget, or a tracking server
        that doesn't answer. No call has been made then.
    """
    job = request.job
    _require_study(job)
    condition = require_committee(job.condition).base
    prices = Prices(job.prices)
    require_live_calls(job.calls)
    model = build_backend(condition.backend, job.calls, prices)
    probes = _probes(condition, request.n, request.logprobs)
    model.check(tuple(p.seat.model for p in probes), condition.sampling)
    require_prices([job], prices)
    request.out.mkdir(parents=True, exist_ok=True)
    questions = _Questions(job, model, prices, probes)
    stopped = run_until_stopped(questions.all()) or questions.unavailable
    return {
        "settings": _settings(job, request.n),
        "stopped": stopped,
        "simulated": _simulated(condition, probes),
        "models": [_model_record(probe, condition) for probe in probes],
    }


def plan(request: ProbeSettings) -> str:
    """Describe the calls of a probe and their highest cost, without calling anything."""
    _require_study(request.job)
    condition, prices = require_committee(request.job.condition).base, Prices(request.job.prices)
    ledger = Ledger(request.job.budget, prices.of)
    lines = []
    for probe in _probes(condition, request.n, logprobs=False):
        model = probe.seat.model
        most = ledger.at_most(probe.calls[0].chat)
        cost = f"at most ${request.n * most.dollars:.4f}" if prices.of(model) else "price unknown"
        if not isinstance(condition.backend, Api):
            cost = "simulated, no cost"
        tokens = f"{request.n * most.tokens:,}"
        lines.append(f"{model}: {request.n} calls, at most {tokens} tokens, {cost}")
    return "\n".join(lines)


def answered(document: Document) -> int:
    """Return the number of calls that were answered."""
    return sum(call["outcome"] == "ok" for call in _calls(document))


def cut_short(document: Document) -> str:
    """Return in one line why a probe is incomplete; empty if every call was answered."""
    outcomes = [call["outcome"] for call in _calls(document)]
    came = f"{answered(document)} of {len(outcomes)} answers came"
    if document["stopped"] == INTERRUPTED:
        return f"interrupted: {came}"
    if document["stopped"]:
        return f"stopped: {document['stopped']}"
    if str(Failure.BUDGET) in outcomes:
        return f"stopped: the budget is used up; {came}"
    return "" if answered(document) == len(outcomes) else f"failed calls: {came}"


def _calls(document: Document) -> list[dict[str, Any]]:
    return [call for model in document["models"] for call in model["calls"]]


def _probes(condition: CommitteeCondition, n: int, logprobs: bool | None) -> list[_Probe]:
    """Return the first speaker's first turn with each model, as if nothing had been said yet."""
    asks = [Deliberation(condition, index).ask for index in range(n)]
    chats = [ask.chat for ask in asks if ask is not None]
    if len({chat.messages for chat in chats}) != 1:
        raise AssertionError("replicates differ in the prompt of their first turn")
    first, *_ = condition.speaking_order
    seats: dict[str, Seat] = {}
    for seat in condition.speaking_order:
        seats.setdefault(seat.model, seat)
    probes = []
    for seat in seats.values():
        wanted = _has_logprobs(condition, seat.model, logprobs)
        mine = chats if seat is first else [_instead(chat, condition, seat) for chat in chats]
        calls = [_Call(i, replace(chat, logprobs=wanted)) for i, chat in enumerate(mine)]
        probes.append(_Probe(seat, calls))
    return probes


def _instead(chat: Chat, condition: CommitteeCondition, seat: Seat) -> Chat:
    """Return the call that another seat would make if it opened the deliberation."""
    messages = turn_prompt(condition, seat, (), {})
    seed = seed_for(chat.seed, seat.name, "probe")
    return replace(chat, model=seat.model, messages=messages, seed=seed)


def _has_logprobs(condition: CommitteeCondition, model: str, wanted: bool | None) -> bool:
    backend = condition.backend
    if wanted is False or not isinstance(backend, Api):
        return False
    from plenum.models import find_route, litellm

    route = find_route(model, {provider: urls[0] for provider, urls in backend.fleets.items()})
    if wanted:
        route.parameters(condition.sampling, logprobs=True)  # refuses what the model refuses
        return True
    provider = "openai" if route.compatible else route.provider
    supported = litellm.get_supported_openai_params(route.wire, provider)
    return "logprobs" in (supported or ())


class _Questions:
    """Runner of all calls of a probe on one event loop, admitted like those of a sweep."""

    def __init__(
        self, job: Job, model: ChatModel, prices: Prices, probes: Sequence[_Probe]
    ) -> None:
        self._job, self._model, self._prices, self._probes = job, model, prices, probes
        self.unavailable = ""

    async def all(self) -> None:
        """Make every call, and record its result in it."""
        admission = Admission(self._job.calls, Ledger(self._job.budget, self._prices.of))
        calls = [call for probe in self._probes for call in probe.calls]
        models = ", ".join(probe.seat.model for probe in self._probes)
        print(f"asking {models}: {len(calls)} calls", file=sys.stderr, flush=True)
        ended = count(1)
        with show_progress("asking", "calls") as report_progress:
            await run_together(
                (
                    self._ask(call, admission, lambda: report_progress(next(ended), len(calls)))
                    for call in calls
                ),
                self._model,
            )

    async def _ask(self, call: _Call, admission: Admission, progress: Callable[[], object]) -> None:
        ticket = Ticket(admission, self._model.provider, call.chat.model, call.index)
        caller = Caller(self._model, make_retry_policy(self._job.calls), ticket)
        try:
            call.answer = await caller.ask(call.chat, {}, call.failed.append)
            call.outcome = "ok"
        except ProviderUnavailable as refusal:  # other providers' models go on
            call.outcome = str(refusal.failure)
            self.unavailable = self.unavailable or str(refusal)
        except Exception as error:  # one call's bug must not take the others along
            call.outcome, call.detail = classify_error(error)
        progress()


def _settings(job: Job, n: int) -> dict[str, Any]:
    condition = require_committee(job.condition).base
    return {
        "study": job.study,
        **condition.as_mapping(),
        "n": n,
        "noise": getattr(condition.backend, "noise", None),
        "send_seed": getattr(condition.backend, "send_seed", False),
        "transport": job.calls.transport,
        "version": code_version(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _simulated(condition: CommitteeCondition, probes: Sequence[_Probe]) -> bool:
    """Return whether simulated agents answered, here or behind a fault server."""
    if not isinstance(condition.backend, Api):
        return True
    answers = (call.answer for probe in probes for call in probe.calls)
    return any(a.response.fingerprint == SIMULATED for a in answers if a is not None)


def _model_record(probe: _Probe, condition: CommitteeCondition) -> dict[str, Any]:
    chat = probe.calls[0].chat
    messages = [vars(message) for message in chat.messages]
    return {
        "model": probe.seat.model,
        "seat": probe.seat.name,
        "prompt": digest(messages),
        "messages": messages,
        "logprobs_asked": chat.logprobs,
        "constrained": chat.answer is not None,
        "calls": [_call_record(call, condition.scenario.labels) for call in probe.calls],
    }


def _call_record(call: _Call, labels: tuple[str, ...]) -> dict[str, Any]:
    """Return a call as plain data: the answer, and the effort that it took."""
    record: dict[str, Any] = {
        "index": call.index,
        "seed": call.chat.seed,
        "outcome": call.outcome,
        "detail": call.detail,
        "failed_attempts": [
            {"outcome": a.outcome, "status": a.status, "latency_s": round(a.latency_s, 6)}
            for a in call.failed
        ],
    }
    if call.answer is None:
        return record
    response, reply = call.answer.response, call.answer.response.reply
    text = replace_surrogates(reply.text)
    state, problem = None, ""
    try:
        held = call.chat.answer is not None
        state = parse_turn(text, labels)[1] if held else parse_answer(text, len(labels))[1]
    except Malformed as malformed:
        problem = f"{classify_failure(reply)}: {malformed}"
    return {
        **record,
        "text": text,
        "preference": list(state.pref) if state else None,
        "confidence": state.conf if state else None,
        "problem": problem,
        "finish": reply.finish,
        "fingerprint": response.fingerprint,
        "server": call.answer.attempt.server,
        "latency_s": round(call.answer.attempt.latency_s, 6),
        "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out,
        "cost": reply.cost,
        "logprobs": [[replace_surrogates(token), value] for token, value in response.logprobs],
    }
