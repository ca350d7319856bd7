"""One model's answers to the prompt of a probe, counted, compared and judged."""

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from plenum.checks.spread import ProbedAnswer, Repeats, repeats

Document = Mapping[str, Any]
"""What a probe kept: settings, and every call to every model."""

_PENDING = ("interrupted", "budget", "unreachable", "held")


class Line:
    """One model's calls, counted and compared.

    Attributes
    ----------
    asked, answered, failed, pending
        Calls; the last two by reason. The first is the sum of the others.
    found
        How far the answers are apart.
    unread
        Answers without a readable STATE line, by reason.
    """

    def __init__(self, probed: Mapping[str, Any]) -> None:
        self.probed = probed
        self.model: str = probed["model"]
        self.seat: str = probed["seat"]
        self.calls: Sequence[Mapping[str, Any]] = probed["calls"]
        self.answers = [call for call in self.calls if call["outcome"] == "ok"]
        others = Counter(c["outcome"] for c in self.calls if c["outcome"] != "ok")
        self.pending = {why: n for why, n in others.items() if why in _PENDING}
        self.failed = {why: n for why, n in others.items() if why not in _PENDING}
        self.asked, self.answered = len(self.calls), len(self.answers)
        self.found: Repeats = repeats([_answer(answer) for answer in self.answers])
        self.unread = Counter(a["problem"].partition(":")[0] for a in self.answers if a["problem"])

    @property
    def attempts(self) -> int:
        """Requests made, repeated ones included."""
        return self.answered + sum(len(call["failed_attempts"]) for call in self.calls)

    @property
    def fingerprints(self) -> Counter[str]:
        """System fingerprints with their counts; answers without one aren't counted."""
        return Counter(a["fingerprint"] for a in self.answers if a["fingerprint"])

    @property
    def latency_s(self) -> float:
        """Median latency of the answers; NaN without one."""
        seconds = [answer["latency_s"] for answer in self.answers]
        return statistics.median(seconds) if seconds else math.nan

    @property
    def cost(self) -> float:
        """Dollars for the answers whose price is known."""
        return float(sum(answer["cost"] or 0.0 for answer in self.answers))

    @property
    def unpriced(self) -> int:
        """Answers whose price nobody knows."""
        return sum(answer["cost"] is None for answer in self.answers)

    def tokens(self, side: str) -> int:
        """Tokens ``in`` or ``out``."""
        return sum(answer[f"tokens_{side}"] for answer in self.answers)

    def metrics(self, options: Sequence[str]) -> dict[str, float]:
        """Every number, by name; what doesn't exist is NaN."""
        found, spread = self.found, self.found.preferences
        values: dict[str, float] = {
            "n_asked": self.asked,
            "n_answered": self.answered,
            "n_failed": sum(self.failed.values()),
            "n_pending": sum(self.pending.values()),
            **{f"failed_{why}": count for why, count in self.failed.items()},
            "attempts": self.attempts,
            "distinct_texts": found.distinct,
            "differing": found.differing.value,
            "differing_ci_low": found.differing.ci_low,
            "differing_ci_high": found.differing.ci_high,
            "undetected_at_most": found.undetected,
            "first_difference_earliest": found.parting.earliest if found.parting else math.nan,
            "first_difference_median": found.parting.median if found.parting else math.nan,
            "states_read": spread.n,
            "distinct_preferences": spread.distinct,
            "preference_distance": spread.mean,
            "preference_distance_se": spread.se,
            "preference_distance_max": spread.largest,
            "logprob_spread": found.logprobs.mean,
            "logprob_spread_max": found.logprobs.largest,
            "logprob_positions": found.logprobs.positions,
            "fingerprints": len(self.fingerprints),
            "latency_median_s": self.latency_s,
            "tokens_in": self.tokens("in"),
            "tokens_out": self.tokens("out"),
            "cost": self.cost,
            "unpriced": self.unpriced,
        }
        sd = zip(options, spread.sd, strict=False)  # without an answer there is none
        return {**values, **{f"preference_sd_{option}": value for option, value in sd}}


def _answer(answer: Mapping[str, Any]) -> ProbedAnswer:
    preference = answer["preference"]
    tokens = tuple((token, value) for token, value in answer["logprobs"])
    return ProbedAnswer(answer["text"], tuple(preference) if preference else None, tokens)


def verdict(line: Line, document: Document) -> str:
    """What a model's answers mean, in one sentence."""
    found = line.found
    if found.n < 2:
        return f"{counted(found.n, 'answer')} came, too few to compare"
    if found.distinct == 1:
        told = (
            f"all {found.n} equal: no difference seen; with n = {found.n} a chance of up to "
            f"{100 * found.undetected:.2g} % per call of another text is compatible with that "
            "(95 %, one-sided)"
        )
        if found.logprobs.largest > 0:
            told += (
                "; yet log-probabilities of equal tokens are up to "
                f"{found.logprobs.largest:.2g} apart: the arithmetic isn't the same in every call"
            )
        return told
    return f"{found.n} answers, {found.distinct} distinct: {_why(document)}"


def _why(document: Document) -> str:
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
    return "who answered isn't deterministic at temperature 0 here"


def counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
