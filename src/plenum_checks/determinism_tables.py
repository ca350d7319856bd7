"""The tables of a determinism probe: calls, texts, log-probabilities and preferences."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

import pandas as pd

from plenum.design import FACTORS
from plenum.reports import (
    NONE,
    Column,
    Table,
    format_count,
    format_decimals,
    format_limits,
    format_realised,
    format_significant,
    keys,
    label,
)
from plenum_checks.probed_model import Document, ProbedModel, plural
from plenum_checks.spread import END, FirstDifference
from plenum_papers.items import published_numbers

_SIMULATED = "simulated agents answered: no evidence about language models"
_SHOWN = 24
"""Characters of a token that a table shows."""


def tables(models: Sequence[ProbedModel], document: Document) -> list[Table]:
    """Return tables of calls, texts, log-probabilities if they were requested, and preferences."""
    options = list(document["settings"]["options"])
    frame = pd.DataFrame([_record(model, options) for model in models])
    probed = [
        _calls(models, frame, document),
        Table("texts", "Texts", frame, _TEXTS, (*_TEXT_NOTES, *_published())),
        Table("preferences", "Preferences", frame, _preferences(options), _PREFERENCE_NOTES),
    ]
    if frame["logprobs_asked"].any():
        title, with_logprobs = "Log-probabilities of equal tokens", frame[frame["logprobs_asked"]]
        probed.insert(2, Table("logprobs", title, with_logprobs, _LOGPROBS, _LOGPROB_NOTES))
    source = f"backend: {document['settings']['backend']}"
    source += f"; {_SIMULATED}" if document["simulated"] else ""
    return [replace(table, notes=(*table.notes, source)) for table in probed]


def _published() -> list[str]:
    """Return notes on the paper's findings about equal calls."""
    return [
        f"published: texts and preferences differed in {line['differing']} of trials "
        f"({line['model']}, {line['calls']} equal calls at temperature 0; {line['source']}); what "
        "a trial is isn't told, so that it need not be the share off the most frequent text"
        for line in published_numbers("section-s1")
    ]


def _record(model: ProbedModel, options: Sequence[str]) -> dict[str, Any]:
    """Return all that the tables show of a model: its metrics and its non-numeric results."""
    repeated = model.repeats
    problems = [answer["problem"] for answer in model.answers if answer["problem"]]
    return {
        "model": model.model,
        "seat": model.record["seat"],
        "logprobs_asked": model.record["logprobs_asked"],
        **model.metrics(options),
        **{name: getattr(model, name) for name in ("failed", "pending", "fingerprints")},
        "unread": Counter(problem.partition(":")[0] for problem in problems),
        "most_frequent": repeated.n - (repeated.differing.count or 0),
        "first_difference": model.repeats.parting,
        "with_logprobs": repeated.logprobs.n,
    }


def _calls(models: Sequence[ProbedModel], frame: pd.DataFrame, document: Document) -> Table:
    """Return a table of calls, their outcomes, and their cost."""
    settings = document["settings"]
    factors = label({name: str(settings[name]) for name in FACTORS}, FACTORS)
    columns = (
        *keys(["model"]),
        Column("seat"),
        Column("n_asked", "asked"),
        Column("n_answered", "answered"),
        Column("failed", format=_reasons),
        *([Column("pending", format=_reasons)] if frame["n_pending"].any() else []),
        Column("attempts"),
        Column("tokens_in", format=format_count),
        Column("tokens_out", format=format_count),
        Column(("cost", "unpriced", "n_answered"), "cost", _dollars),
        Column("latency_median_s", "median latency", _seconds),
        Column("fingerprints", format=lambda counts: _reasons(counts, "none sent")),
    )
    notes = (
        "asked = answered + failed + pending; a failed call is never replaced; attempts: requests, "
        "repeated ones included",
        *_first_failures(models),
    )
    title = f"Probe: the first turn, {settings['n']} times ({factors})"
    return Table("calls", title, frame, columns, notes)


def _first_failures(models: Sequence[ProbedModel]) -> list[str]:
    """Return the first failure of each kind, since failures often repeat one mistake."""
    named: dict[str, list[str]] = {}
    for model in models:
        first: dict[str, str] = {}
        for call in model.calls:
            if call["outcome"] in model.failed:
                first.setdefault(call["outcome"], call["detail"])
        for why, detail in first.items():
            named.setdefault(f"{why}: {detail}", []).append(model.model)
    return [
        failure if len(names) == len(models) else f"{failure} ({', '.join(names)})"
        for failure, names in named.items()
    ]


def _seconds(value: float) -> str:
    return NONE if math.isnan(value) else f"{value:.3f} s"


def _reasons(counts: Mapping[str, int], none: str = "0") -> str:
    return "\n".join(f"{why} {n}" for why, n in counts.items()) or none


def _dollars(cost: float, unpriced: int, answered: int) -> str:
    if unpriced == answered and unpriced:
        return "unknown"
    return f"${cost:.4f}" + (f" + {unpriced} unpriced" if unpriced else "")


def _place(parting: FirstDifference | None) -> str:
    return f"{parting.unit} {parting.earliest}" if parting else NONE


def _alternatives(parting: FirstDifference | None) -> str:
    if parting is None:
        return NONE
    shown, rest = parting.alternatives[:2], parting.alternatives[2:]
    pairs = zip(shown[0][0], shown[1][0], strict=False)
    same = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    skipped = max(0, same - _SHOWN // 3) if len(shown[0][0]) > _SHOWN else 0
    lines = [f"{n}x {_quoted(unit, skipped)}" for unit, n in shown]
    if rest:
        lines.append(f"{sum(n for _, n in rest)}x {plural(len(rest), 'other')}")
    return "\n".join(lines)


def _quoted(unit: str, skipped: int) -> str:
    """Make a token safe for a terminal, since a model may write anything."""
    if unit == END:
        return "(end)"
    text = f"…{unit[skipped:]}" if skipped else unit
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…")


_TEXTS = (
    *keys(["model"]),
    Column("n_answered", "answers"),
    Column("distinct_texts", "distinct"),
    Column(("most_frequent", "n_answered"), "most frequent", format_realised),
    Column("differing", "off it", format_decimals(3)),
    Column(("differing_ci_low", "differing_ci_high"), "95 % CI", format_limits(3)),
    Column("first_difference", format=_place),
    Column("first_difference_median", "median", format_significant(6)),
    Column("first_difference", "what stands there", _alternatives),
)
_TEXT_NOTES = (
    "off it: share of answers that aren't the most frequent text [Clopper-Pearson, two-sided]; "
    "first difference, median: earliest and median position over pairs of different texts",
    "published (001, section S1; gpt-4.1-mini, 20 calls, another prompt): texts and preferences "
    "differed in about 40 to 50 % of the trials, where it isn't said what a trial is",
)
_LOGPROBS = (
    *keys(["model"]),
    Column(("with_logprobs", "n_answered"), "answers with them", format_realised),
    Column("logprob_positions", "tokens compared"),
    Column("logprob_spread", "mean spread", format_significant(2)),
    Column("logprob_spread_max", "largest spread", format_significant(2)),
)
_LOGPROB_NOTES = (
    "spread: the largest minus the smallest log-probability (nats) of one token between "
    "answers, over the tokens before any two answers part",
)
_PREFERENCE_NOTES = (
    "mean, max L2: distance of preference vectors over pairs of answers (D, Eq. 1); sd: "
    "standard deviation of each option's preference",
)


def _preferences(options: Sequence[str]) -> tuple[Column, ...]:
    return (
        *keys(["model"]),
        Column(("states_read", "n_answered"), "STATE lines read", format_realised),
        Column("unread", format=_reasons),
        Column("distinct_preferences", "distinct"),
        Column("preference_distance", "mean L2", format_decimals(4)),
        Column("preference_distance_se", "jackknife SE", format_decimals(4)),
        Column("preference_distance_max", "max L2", format_decimals(4)),
        *(Column(f"preference_sd_{o}", f"sd p{o}", format_decimals(4)) for o in options),
    )
