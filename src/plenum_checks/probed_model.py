"""One model's answers to a prompt asked n times (section S1): counts, comparison, verdict."""

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from plenum.dynamics import flip_rate
from plenum_checks.spread import (
    ProbedAnswer,
    first_difference,
    logprob_spread,
    preference_spread,
    undetected,
)

Document = Mapping[str, Any]
"""The result of a probe: settings, and every call to every model."""

_PENDING = ("interrupted", "budget", "unreachable", "held")


class ProbedModel:
    """The calls to one model, counted and compared.

    Attributes
    ----------
    requested, answered, failed, pending
        Numbers of calls; the last two by reason. The first is the sum of the others.
    parting
        The first difference between the answers; ``None`` if all are equal.
    metrics
        Every number by name; NaN if it doesn't exist.
    texts_by_server
        The texts that each server of a fleet returned.
    """

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.record = record
        self.model: str = record["model"]
        self.calls: Sequence[Mapping[str, Any]] = record["calls"]
        self.answers = [call for call in self.calls if call["outcome"] == "ok"]
        unanswered = Counter(c["outcome"] for c in self.calls if c["outcome"] != "ok")
        self.pending = {why: n for why, n in unanswered.items() if why in _PENDING}
        self.failed = {why: n for why, n in unanswered.items() if why not in _PENDING}
        self.requested, self.answered = len(self.calls), len(self.answers)
        self.fingerprints = Counter(a["fingerprint"] for a in self.answers if a["fingerprint"])
        self.texts_by_server: dict[str, set[str]] = {}
        for answer in self.answers:
            if server := answer.get("server"):
                self.texts_by_server.setdefault(server, set()).add(answer["text"])
        compared = [_answer(answer) for answer in self.answers]
        self.parting = first_difference(compared)
        self.metrics = self._effort() | self._differences(compared)

    def _effort(self) -> dict[str, float]:
        answers = self.answers
        latencies = [answer["latency_s"] for answer in answers]
        return {
            "n_asked": self.requested,
            "n_answered": self.answered,
            "n_failed": sum(self.failed.values()),
            "n_pending": sum(self.pending.values()),
            **{f"failed_{why}": n for why, n in self.failed.items()},
            "attempts": self.answered + sum(len(call["failed_attempts"]) for call in self.calls),
            "fingerprints": len(self.fingerprints),
            "latency_median_s": statistics.median(latencies) if latencies else math.nan,
            "tokens_in": sum(answer["tokens_in"] for answer in answers),
            "tokens_out": sum(answer["tokens_out"] for answer in answers),
            "cost": float(sum(answer["cost"] or 0.0 for answer in answers)),
            "unpriced": sum(answer["cost"] is None for answer in answers),
        }

    def _differences(self, compared: Sequence[ProbedAnswer]) -> dict[str, float]:
        texts = [answer.text for answer in compared]
        distinct, differing = len(set(texts)), flip_rate(texts)
        read = [answer.preference for answer in compared if answer.preference is not None]
        return {
            "distinct_texts": distinct,
            "differing": differing.value,
            "differing_ci_low": differing.ci_low,
            "differing_ci_high": differing.ci_high,
            "undetected_at_most": undetected(len(texts)) if distinct == 1 else math.nan,
            "first_difference_earliest": self.parting.position if self.parting else math.nan,
            **preference_spread(read),
            **logprob_spread([answer.tokens for answer in compared if answer.tokens]),
        }


def _answer(answer: Mapping[str, Any]) -> ProbedAnswer:
    preference = answer["preference"]
    tokens = tuple((token, value) for token, value in answer["logprobs"])
    return ProbedAnswer(answer["text"], tuple(preference) if preference else None, tokens)


def verdict(model: ProbedModel, document: Document) -> str:
    """Return the conclusion from a model's answers, in one sentence."""
    metrics, n = model.metrics, model.answered
    if n < 2:
        return f"{plural(n, 'answer')} came, too few to compare"
    if model.parting:
        return f"{n} answers, {metrics['distinct_texts']} distinct: {_cause(document, model)}"
    several, apart = len(model.texts_by_server), metrics["logprob_spread_max"]
    chance = f"{100 * metrics['undetected_at_most']:.2g} %"
    equal = (
        f"all {n} equal{f', from {several} servers' if several > 1 else ''}: no difference seen; "
        f"with n = {n} a chance of up to {chance} per call of another text is compatible with that "
        "(95 %, one-sided)"
    )
    if apart > 0:
        equal += (
            "; yet log-probabilities of equal tokens are up to "
            f"{apart:.2g} apart: the arithmetic isn't the same in every call"
        )
    return equal


def describe_form(model: ProbedModel) -> str:
    """Describe whether constrained answers kept their form; empty where answers are free."""
    if not model.record.get("constrained"):
        return ""
    refused = [call["detail"] for call in model.calls if call["outcome"] == "request"]
    if refused:
        return str(refused[0])
    broken = sum(answer["problem"].startswith("parse") for answer in model.answers)
    kept = sum(not answer["problem"] for answer in model.answers)
    line = (
        f"{kept} of {plural(model.answered, 'answer')} kept the form of "
        "protocol.answers=constrained"
    )
    if not broken:
        return line
    return f"{line}; its server seems to ignore it: docs/providers.md#constrained-answers"


def _by_server(model: ProbedModel) -> str:
    """Describe whether a fleet's servers differ; empty without a fleet."""
    texts = model.texts_by_server
    if len(texts) < 2:
        return ""
    if all(len(each) == 1 for each in texts.values()):
        return f"its {len(texts)} servers differ, and each always gives the same answer"
    counts = ", ".join(f"{server} {len(each)}" for server, each in sorted(texts.items()))
    return f"by server {counts}; a single server isn't deterministic either"


def _cause(document: Document, model: ProbedModel) -> str:
    """Return the possible reason of differing answers, by the settings."""
    settings = document["settings"]
    temperature = settings["sampling.temperature"]
    if settings["backend"] == "simulated":
        knob = f"the simulated backend's own noise (backend.noise={settings['noise']:g}"
        return f"{knob}, temperature {temperature:g})"
    if temperature > 0:
        return (
            f"at temperature {temperature:g} they are drawn, so that this says nothing about the "
            "server's arithmetic; probe with temperature=t0"
        )
    if settings["send_seed"]:
        return (
            "each call sent a seed of its own, which alone may part them; probe with "
            "backend.send_seed=false"
        )
    return _by_server(model) or "who answered isn't deterministic at temperature 0 here"


def plural(n: int, what: str) -> str:
    """Return a count with its noun, in the plural where needed."""
    return f"{n} {what}{'' if n == 1 else 's'}"
