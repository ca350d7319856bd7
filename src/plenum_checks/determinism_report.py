"""The report of a determinism probe (section S1): counts, comparison and verdict, in one table."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd

from plenum.base import redact
from plenum.design import FACTORS, Condition, Job, Simulated
from plenum.dynamics import flip_rate
from plenum.execution import find_condition_folder, find_journal
from plenum.models import SIMULATED
from plenum.records import read, read_attempts
from plenum.reports import (
    NONE,
    Column,
    Product,
    Settings,
    Table,
    format_decimals,
    format_dollars,
    format_or_dash,
    format_realised,
    format_share,
    format_significant,
    label,
    make_keys,
    publish_product,
)
from plenum_checks.determinism import ProbeCondition
from plenum_checks.spread import (
    END,
    FirstDifference,
    ProbedAnswer,
    bound_undetected,
    first_difference,
    logprob_spread,
    preference_spread,
)
from plenum_papers.items import read_numbers

Call = dict[str, Any]

_SHOWN = 40
"""Characters of a token that a table shows."""


def publish(jobs: Sequence[Job], uri: str | None) -> None:
    """Print what a probe's answers amount to, write it to its folder, and log it.

    Parameters
    ----------
    jobs
        The study of each model; nothing is published before a call was answered.
    uri
        The tracking store, where the study's report gets the files; with ``None`` nothing is
        logged.
    """
    rows = [compare(job.condition, read_calls(job)) for job in jobs]
    if not any(row["n_answered"] for row in rows):
        return
    for row in rows:
        row["first_difference"] = redact(_find_difference(row["first_difference"]))
    source = f"backend: {jobs[0].condition.backend.name}"
    if any(row["simulated"] for row in rows):
        source += "; simulated agents answered: no evidence about language models"
    published = [_PUBLISHED.format(**line) for line in read_numbers("section-s1")]
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


def _find_difference(parting: FirstDifference | None) -> str:
    """Return the place of the first difference, and below it the most frequent texts there."""
    if parting is None:
        return NONE
    lines = [f"{parting.unit} {parting.position}"]
    for unit, n in parting.alternatives[:2]:  # repr: a model may write what a terminal obeys
        lines.append(f"{n}x {repr(unit[:_SHOWN]) if unit != END else '(end)'}")
    if others := sum(n for _, n in parting.alternatives[2:]):
        lines.append(f"{others}x others")
    return "\n".join(lines)


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


def read_calls(job: Job) -> list[Call]:
    """Read each call to a model from its journal and the call log.

    Returns
    -------
    list of dict
        By number: ``outcome`` (``ok``, a :class:`~plenum.records.Failure`, or ``pending`` for a
        call that wasn't made or not waited for), ``detail``, ``attempts``, and of an answer what
        the journal and the log have of it; ``read`` is the log's outcome, such as ``parse``.
    """
    lines: defaultdict[int, list[Call]] = defaultdict(list)
    for line in read_attempts(find_condition_folder(job)):
        lines[line["replicate"]].append(line)
    calls = []
    for index in range(job.replicates):
        journal, made = find_journal(job, index), lines[index]
        transcript = read(journal) if journal.exists() else None
        end = (transcript and transcript.end) or {"reason": "pending"}
        call = {"outcome": end.get("reason", "ok"), "detail": end.get("detail", "")}
        if transcript and call["outcome"] == "ok":
            call = {**made[-1], "read": made[-1]["outcome"], **transcript.calls[-1], **call}
        calls.append({**call, "attempts": len(made)})
    return calls


def compare(condition: Condition, calls: Sequence[Call]) -> dict[str, Any]:
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
    compared = [_answer(call) for call in came]
    texts = [answer.text for answer in compared]
    distinct, differing, parting = len(set(texts)), flip_rate(texts), first_difference(compared)
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
        "latency_median_s": median(call["latency_s"] for call in came) if came else math.nan,
        "tokens_in": sum(call["tokens_in"] for call in came),
        "tokens_out": sum(call["tokens_out"] for call in came),
        "cost": sum((call["cost"] or 0.0 for call in came), 0.0),
        "unpriced": sum(call["cost"] is None for call in came),
        "distinct_texts": distinct,
        "differing": differing.value,
        "differing_ci_low": differing.ci_low,
        "differing_ci_high": differing.ci_high,
        "undetected_at_most": bound_undetected(len(texts)) if distinct == 1 else math.nan,
        "first_difference": parting,
        **preference_spread([each.preference for each in compared if each.preference]),
        **logprob_spread([each.tokens for each in compared if each.tokens]),
        "simulated": isinstance(condition.backend, Simulated) or SIMULATED in fingerprints,
    }
    verdict = _verdict(condition, came, row)
    if condition.constrained:
        kept = sum(call["read"] == "ok" for call in came)
        verdict += f"; {kept} of {len(came)} kept the form of protocol.answers=constrained"
    return {**row, "verdict": verdict}


def _answer(call: Call) -> ProbedAnswer:
    preference = tuple(call["state"]["pref"]) if "state" in call else None
    tokens = tuple((token, value) for token, value in call.get("logprobs", ()))
    return ProbedAnswer(call["text"], preference, tokens)


def _verdict(condition: ProbeCondition, came: Sequence[Call], row: Mapping[str, Any]) -> str:
    """Return the conclusion from a model's answers."""
    n, apart = len(came), row["logprob_spread_max"]
    texts: defaultdict[str, set[str]] = defaultdict(set)
    for call in came:
        texts[call.get("server", "")].add(call["text"])
    servers = {server: len(each) for server, each in sorted(texts.items()) if server}
    if n < 2:
        return f"{n} answer{'' if n == 1 else 's'} came, too few to compare"
    if row["distinct_texts"] > 1:
        return f"{n} answers, {row['distinct_texts']} distinct: {_cause(condition, servers)}"
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


def _cause(condition: ProbeCondition, servers: Mapping[str, int]) -> str:
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
