"""The report of a determinism probe (section S1): counts, comparison and verdict, in one table."""

import csv
import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from plenum.base.project import project_root
from plenum.base.secrets import redact
from plenum.calls.call_log import read_attempts
from plenum.checks.probe import ProbeCondition
from plenum.design.condition import Condition
from plenum.design.factors import FACTORS
from plenum.design.job import Job
from plenum.design.settings import Simulated
from plenum.dynamics.decisions import flip_rate
from plenum.dynamics.divergence import divergence, pairwise_distances
from plenum.dynamics.fit import jackknife_se
from plenum.execution.condition_folder import find_condition_folder, find_journal
from plenum.records.transcript import SIMULATED, read_transcript
from plenum.reports.labels import label
from plenum.reports.publication import Product, publish_product
from plenum.reports.settings import Settings
from plenum.show.formats import (
    NONE,
    format_decimals,
    format_dollars,
    format_or_dash,
    format_realised,
    format_share,
    format_significant,
)
from plenum.show.table import Column, Table, make_keys

Call = dict[str, Any]

END = ""
"""The end of a text, among the alternatives of a :class:`FirstDifference`."""

_SHOWN = 40
"""Characters of a token that a table shows."""
_SAME = 9
"""Decimals to which equal preferences agree."""
_WORD = re.compile(r"\s*\S+|\s+")
_NAN = math.nan
_COLUMNS = (
    *make_keys(["model"]),
    Column(("n_answered", "n_asked"), "answered", format_realised),
    Column("unanswered", format=format_or_dash),
    Column("distinct_texts", "texts"),
    Column(("differing", "differing_ci_low", "differing_ci_high"), "off it", format_share),
    Column("first_difference"),
    Column("logprob_spread_max", "log-prob.", format_significant(2)),
    Column("preference_distance", "D", format_decimals(4)),
    Column("preference_distance_se", "SE", format_decimals(4)),
    Column(("cost", "unpriced"), "$", format_dollars),
)
_NOTES = (
    "unanswered calls are never replaced; texts: different ones; off it: share of answers that "
    "aren't the most frequent text [Clopper-Pearson, two-sided]",
    "log-prob.: the largest minus the smallest log-probability (nats) of one token between "
    "answers, over the tokens before any two answers part; D: mean L2 distance of preference "
    "vectors over pairs of answers (Eq. 1), and SE its jackknife standard error",
)
_PUBLISHED = (
    "published: texts and preferences differed in {differing} of trials ({model}, {calls} equal "
    "calls at temperature 0; {source}); what a trial is isn't told, so that it need not be the "
    "share off the most frequent text"
)


@dataclass(frozen=True)
class ProbedAnswer:
    """One answer.

    Attributes
    ----------
    preference
        The reported preference, on the simplex; ``None`` if it couldn't be read.
    tokens
        Its tokens with their natural log-probabilities, if the provider returned them.
    """

    text: str
    preference: tuple[float, ...] | None = None
    tokens: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class FirstDifference:
    """The position at which texts first differ.

    Attributes
    ----------
    unit
        ``token``, or ``word`` if an answer came without tokens.
    position
        Position of the unit, counted from 1; all answers agree before it.
    alternatives
        Units at the position with their counts, the most frequent first.
    """

    unit: str
    position: int
    alternatives: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        lines = [f"{self.unit} {self.position}"]
        for unit, n in self.alternatives[:2]:  # repr: a model may write what a terminal obeys
            lines.append(f"{n}x {repr(unit[:_SHOWN]) if unit != END else '(end)'}")
        if others := sum(n for _, n in self.alternatives[2:]):
            lines.append(f"{others}x others")
        return "\n".join(lines)


def publish_probe(jobs: Sequence[Job], uri: str | None) -> None:
    """Print what a probe's answers amount to, write it to its folder, and log it.

    Parameters
    ----------
    jobs
        The study of each model; nothing is published before a call was answered.
    uri
        The tracking store, where the study's report gets the files; with ``None`` nothing is
        logged.
    """
    rows = [compare_answers(job.condition, read_calls(job)) for job in jobs]
    if not any(row["n_answered"] for row in rows):
        return
    for row in rows:
        row["first_difference"] = redact(str(row["first_difference"] or NONE))
    source = f"backend: {jobs[0].condition.backend.name}"
    if any(row["simulated"] for row in rows):
        source += "; simulated agents answered: no evidence about language models"
    with (project_root() / "reference" / "section-s1.csv").open(encoding="utf-8") as lines:
        published = [_PUBLISHED.format(**line) for line in csv.DictReader(lines)]
    factors = label({k: str(value) for k, value in jobs[0].condition.factors.items()}, FACTORS)
    title = f"Probe: the first turn, {jobs[0].replicates} times ({factors})"
    folder = Path(jobs[0].journals)
    name = f"probe-{folder.name}"  # in MLflow the study's report keeps those of every day
    table = Table(name, title, pd.DataFrame(rows), _COLUMNS, (*_NOTES, *published, source))
    said = [f"{row['model']}: {row['verdict']}" for row in rows]
    heading = "\n\n".join(("Probe", *said))
    product = Product(name, [table], {name: table.frame}, heading=heading, more=said)
    study, store = (jobs[0].study, uri) if uri else ("", "")
    publish_product(product, Settings(study, store, folder))


def read_calls(job: Job) -> list[Call]:
    """Read each call to a model from its journal and the call log.

    Returns
    -------
    list of dict
        By number: ``outcome`` (``ok``, a :class:`~plenum.records.failures.Failure`, or ``pending``
        for a call that wasn't made or not waited for), ``detail``, ``attempts``, and of an answer
        what the journal and the log have of it; ``read`` is the log's outcome, such as ``parse``.
    """
    lines: defaultdict[int, list[Call]] = defaultdict(list)
    for line in read_attempts(find_condition_folder(job)):
        lines[line["replicate"]].append(line)
    calls = []
    for index in range(job.replicates):
        journal, made = find_journal(job, index), lines[index]
        transcript = read_transcript(journal) if journal.exists() else None
        end = (transcript and transcript.end) or {"reason": "pending"}
        call = {"outcome": end.get("reason", "ok"), "detail": end.get("detail", "")}
        if transcript and call["outcome"] == "ok":
            call = {**made[-1], "read": made[-1]["outcome"], **transcript.calls[-1], **call}
        calls.append({**call, "attempts": len(made)})
    return calls


def compare_answers(condition: Condition, calls: Sequence[Call]) -> dict[str, Any]:
    """Count and compare a model's answers.

    Returns
    -------
    dict
        Every number by name, NaN if it doesn't exist; ``unanswered`` (calls by reason),
        ``first_difference`` (``None`` if all answers are equal), ``simulated`` and ``verdict``.
    """
    assert isinstance(condition, ProbeCondition)
    came = [call for call in calls if call["outcome"] == "ok"]
    unanswered = Counter(call["outcome"] for call in calls if call["outcome"] != "ok")
    compared = [_read_answer(call) for call in came]
    texts = [answer.text for answer in compared]
    distinct, differing = len(set(texts)), flip_rate(texts)
    fingerprints = {call["fingerprint"] for call in came if "fingerprint" in call}
    row = {
        "model": condition.speaker.model,
        "seat": condition.speaker.name,
        "n_asked": len(calls),
        "n_answered": len(came),
        "n_pending": unanswered["pending"],
        "n_failed": unanswered.total() - unanswered["pending"],
        "unanswered": "\n".join(f"{why} {n}" for why, n in unanswered.items()),
        "attempts": sum(call["attempts"] for call in calls),
        "fingerprints": len(fingerprints),
        "latency_median_s": median(call["latency_s"] for call in came) if came else _NAN,
        "tokens_in": sum(call["tokens_in"] for call in came),
        "tokens_out": sum(call["tokens_out"] for call in came),
        "cost": sum((call["cost"] or 0.0 for call in came), 0.0),
        "unpriced": sum(call["cost"] is None for call in came),
        "distinct_texts": distinct,
        "differing": differing.value,
        "differing_ci_low": differing.ci_low,
        "differing_ci_high": differing.ci_high,
        "undetected_at_most": bound_undetected(len(texts)) if distinct == 1 else _NAN,
        "first_difference": find_first_difference(compared),
        **measure_preferences([each.preference for each in compared if each.preference]),
        **measure_logprobs([each.tokens for each in compared if each.tokens]),
        "simulated": isinstance(condition.backend, Simulated) or SIMULATED in fingerprints,
    }
    verdict = _conclude(condition, came, row)
    if condition.constrained:
        kept = sum(call["read"] == "ok" for call in came)
        verdict += f"; {kept} of {len(came)} kept the form of protocol.answers=constrained"
    return {**row, "verdict": verdict}


def _read_answer(call: Call) -> ProbedAnswer:
    preference = tuple(call["state"]["pref"]) if "state" in call else None
    tokens = tuple((token, value) for token, value in call.get("logprobs", ()))
    return ProbedAnswer(call["text"], preference, tokens)


def bound_undetected(n: int) -> float:
    """Return the chance per call at which n calls miss an event with probability 1 in 20.

    This is the exact one-sided Clopper-Pearson limit of 0 out of n, about 3 / n.
    """
    return 1 - 0.05 ** (1 / n) if n else _NAN


def find_first_difference(answers: Sequence[ProbedAnswer]) -> FirstDifference | None:
    """Find the first difference between texts; ``None`` if they are equal."""
    counts = Counter(answer.text for answer in answers)
    if len(counts) < 2:
        return None
    unit, split = _split(answers)
    places = enumerate(zip_longest(*split.values()), start=1)
    position, units = next((n, units) for n, units in places if len(set(units)) > 1)
    alternatives: Counter[str] = Counter()
    for text, found in zip(split, units, strict=True):
        alternatives[END if found is None else found] += counts[text]
    return FirstDifference(unit, position, tuple(alternatives.most_common()))


def _split(answers: Sequence[ProbedAnswer]) -> tuple[str, Mapping[str, tuple[str, ...]]]:
    """Split each text into tokens or words; different texts give different sequences."""
    tokens: dict[str, tuple[str, ...]] = {}
    for answer in answers:
        tokens.setdefault(answer.text, tuple(token for token, _ in answer.tokens))
    if all(answer.tokens for answer in answers) and len(set(tokens.values())) == len(tokens):
        return "token", tokens
    # A word keeps the space before it: texts may differ in nothing else.
    return "word", {text: tuple(_WORD.findall(text)) for text in tokens}


def measure_preferences(preferences: Sequence[tuple[float, ...]]) -> dict[str, float]:
    """Return statistics of the distances between preferences, as metrics by name.

    The distance is the mean L2 distance over pairs of answers, with its jackknife standard error:
    D of the ensemble (Eq. 1). It is NaN for fewer than two, and the error for fewer than three.

    Parameters
    ----------
    preferences
        Vectors on the simplex, all of the same length of at least 2.
    """
    n, mean, se, largest = len(preferences), _NAN, _NAN, _NAN
    if n > 1:
        ensemble = np.array(preferences)[:, None, :]
        distances = pairwise_distances(ensemble)[:, :, 0]
        mean, largest = float(divergence(ensemble)[0]), float(distances.max())
    if n > 2:
        # Without answer i the sum over ordered pairs loses row i and column i, which are equal.
        left_out = (distances.sum() - 2 * distances.sum(axis=1)) / ((n - 1) * (n - 2))
        se = jackknife_se(left_out)
    return {
        "states_read": n,
        "distinct_preferences": len({tuple(round(p, _SAME) for p in v) for v in preferences}),
        "preference_distance": mean,
        "preference_distance_se": se,
        "preference_distance_max": largest,
    }


def measure_logprobs(answers: Sequence[tuple[tuple[str, float], ...]]) -> dict[str, float]:
    """Return the spread of log-probabilities up to where the texts first differ, as metrics.

    Equal tokens after the same prompt and text have equal log-probabilities if the arithmetic is
    the same, so a spread is noise of the server, even if no text shows it. It is the largest minus
    the smallest log-probability of a token, as mean and maximum over tokens; NaN without tokens.

    Parameters
    ----------
    answers
        Tokens with log-probabilities, by answer.
    """
    equal = []
    for position in zip(*answers, strict=False):
        if len({token for token, _ in position}) > 1:
            break
        equal.append([logprob for _, logprob in position])
    values = np.array(equal).reshape(len(equal), len(answers))
    apart = np.ptp(values[np.isfinite(values).all(axis=1)], axis=1) if len(answers) > 1 else ()
    return {
        "logprob_spread": float(np.mean(apart)) if len(apart) else _NAN,
        "logprob_spread_max": float(np.max(apart)) if len(apart) else _NAN,
        "logprob_positions": len(apart),
    }


def _conclude(condition: ProbeCondition, came: Sequence[Call], row: Mapping[str, Any]) -> str:
    """Return the conclusion from a model's answers."""
    n, apart = len(came), row["logprob_spread_max"]
    texts: defaultdict[str, set[str]] = defaultdict(set)
    for call in came:
        texts[call.get("server", "")].add(call["text"])
    servers = {server: len(each) for server, each in sorted(texts.items()) if server}
    if n < 2:
        return f"{n} answer{'' if n == 1 else 's'} came, too few to compare"
    if row["distinct_texts"] > 1:
        return f"{n} answers, {row['distinct_texts']} distinct: {_explain(condition, servers)}"
    equal = (
        f"all {n} equal{f', from {len(servers)} servers' if len(servers) > 1 else ''}: no "
        f"difference seen; with n = {n} a chance of up to {100 * row['undetected_at_most']:.2g} % "
        "per call of another text is compatible with that (95 %, one-sided)"
    )
    if apart > 0:
        equal += (
            "; yet log-probabilities of equal tokens are up to "
            f"{apart:.2g} apart: the arithmetic isn't the same in every call"
        )
    return equal


def _explain(condition: ProbeCondition, servers: Mapping[str, int]) -> str:
    """Return the possible reason of differing answers; ``servers`` has the texts of each."""
    backend, temperature = condition.backend, condition.sampling.temperature
    if isinstance(backend, Simulated):
        knob = f"the simulated backend's own noise (backend.noise={backend.noise:g}"
        return f"{knob}, temperature {temperature:g})"
    if temperature > 0:
        return (
            f"at temperature {temperature:g} they are drawn, so that this says nothing about the "
            "server's arithmetic; probe with temperature=t0"
        )
    if getattr(backend, "send_seed", False):
        return (
            "each call sent a seed of its own, which alone may part them; probe with "
            "backend.send_seed=false"
        )
    if len(servers) > 1 and set(servers.values()) == {1}:
        return f"its {len(servers)} servers differ, and each always gives the same answer"
    if len(servers) > 1:
        counts = ", ".join(f"{server} {texts}" for server, texts in servers.items())
        return f"texts by server {counts}; a single server isn't deterministic either"
    return "who answered isn't deterministic at temperature 0 here"
