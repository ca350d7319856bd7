"""The report of a determinism probe (section S1): what n answers to one prompt say."""

import json
import math
import statistics
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console

from plenum.base.secrets import redact
from plenum.checks.spread import END, FirstDifference, ProbedAnswer, repeats
from plenum.reports.formats import count, decimals, limits, realised
from plenum.reports.labels import label
from plenum.reports.markdown import markdown
from plenum.reports.printing import show
from plenum.reports.table import Column, Table, keys
from plenum.tracking import store

Document = Mapping[str, Any]
"""What a probe kept: settings, and every call to every model."""

FACTORS = ("scenario", "roles", "model", "memory", "temperature", "backend", "settings")
_PENDING = ("interrupted", "budget", "unreachable", "held")
_SIMULATED = "simulated agents answered: no evidence about language models"
_SHOWN = 24
"""Characters of a token that a table shows."""


class ProbedModel:
    """One model's calls, counted and compared.

    Attributes
    ----------
    requested, answered, failed, pending
        Calls; the last two by reason. The first is the sum of the others.
    repeats
        How far the answers are apart.
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
        self.attempts = self.answered + sum(len(call["failed_attempts"]) for call in self.calls)
        self.fingerprints = Counter(a["fingerprint"] for a in self.answers if a["fingerprint"])
        self.repeats = repeats([_answer(answer) for answer in self.answers])

    def metrics(self, options: Sequence[str]) -> dict[str, float]:
        """Every number, by name; what doesn't exist is NaN."""
        answers, repeated, spread = self.answers, self.repeats, self.repeats.preferences
        parting = repeated.parting
        latencies = [answer["latency_s"] for answer in answers]
        values: dict[str, float] = {
            "n_asked": self.requested,
            "n_answered": self.answered,
            "n_failed": sum(self.failed.values()),
            "n_pending": sum(self.pending.values()),
            **{f"failed_{why}": n for why, n in self.failed.items()},
            "attempts": self.attempts,
            "distinct_texts": repeated.distinct,
            "differing": repeated.differing.value,
            "differing_ci_low": repeated.differing.ci_low,
            "differing_ci_high": repeated.differing.ci_high,
            "undetected_at_most": repeated.undetected,
            "first_difference_earliest": parting.earliest if parting else math.nan,
            "first_difference_median": parting.median if parting else math.nan,
            "states_read": spread.n,
            "distinct_preferences": spread.distinct,
            "preference_distance": spread.mean,
            "preference_distance_se": spread.se,
            "preference_distance_max": spread.largest,
            "logprob_spread": repeated.logprobs.mean,
            "logprob_spread_max": repeated.logprobs.largest,
            "logprob_positions": repeated.logprobs.positions,
            "fingerprints": len(self.fingerprints),
            "latency_median_s": statistics.median(latencies) if latencies else math.nan,
            "tokens_in": sum(answer["tokens_in"] for answer in answers),
            "tokens_out": sum(answer["tokens_out"] for answer in answers),
            "cost": float(sum(answer["cost"] or 0.0 for answer in answers)),
            "unpriced": sum(answer["cost"] is None for answer in answers),
        }
        sd = zip(options, spread.sd, strict=False)  # without an answer there is none
        return {**values, **{f"preference_sd_{option}": value for option, value in sd}}


def _answer(answer: Mapping[str, Any]) -> ProbedAnswer:
    preference = answer["preference"]
    tokens = tuple((token, value) for token, value in answer["logprobs"])
    return ProbedAnswer(answer["text"], tuple(preference) if preference else None, tokens)


def verdict(model: ProbedModel, document: Document) -> str:
    """What a model's answers mean, in one sentence."""
    repeated, n = model.repeats, model.repeats.n
    if n < 2:
        return f"{_plural(n, 'answer')} came, too few to compare"
    if repeated.distinct > 1:
        return f"{n} answers, {repeated.distinct} distinct: {_cause(document)}"
    equal = (
        f"all {n} equal: no difference seen; with n = {n} a chance of up to "
        f"{100 * repeated.undetected:.2g} % per call of another text is compatible with that "
        "(95 %, one-sided)"
    )
    if repeated.logprobs.largest > 0:
        equal += (
            "; yet log-probabilities of equal tokens are up to "
            f"{repeated.logprobs.largest:.2g} apart: the arithmetic isn't the same in every call"
        )
    return equal


def _cause(document: Document) -> str:
    """What may have made answers differ, as the settings say."""
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


# --- tables ------------------------------------------------------------------------------------


def tables(models: Sequence[ProbedModel], document: Document) -> list[Table]:
    """Calls, texts, log-probabilities where they were asked for, and preferences."""
    options = list(document["settings"]["options"])
    frame = pd.DataFrame([_record(model, options) for model in models])
    probed = [
        _calls(models, frame, document),
        Table("texts", "Texts", frame, _TEXTS, _TEXT_NOTES),
        Table("preferences", "Preferences", frame, _preferences(options), _PREFERENCE_NOTES),
    ]
    if frame["logprobs_asked"].any():
        title, with_logprobs = "Log-probabilities of equal tokens", frame[frame["logprobs_asked"]]
        probed.insert(2, Table("logprobs", title, with_logprobs, _LOGPROBS, _LOGPROB_NOTES))
    source = f"backend: {document['settings']['backend']}"
    source += f"; {_SIMULATED}" * document["simulated"]
    return [replace(table, notes=(*table.notes, source)) for table in probed]


def _record(model: ProbedModel, options: Sequence[str]) -> dict[str, Any]:
    """All that the tables show of a model: its metrics, and its columns of text."""
    repeated, parting = model.repeats, model.repeats.parting
    unread = Counter(a["problem"].partition(":")[0] for a in model.answers if a["problem"])
    return {
        "model": model.model,
        "seat": model.record["seat"],
        "logprobs_asked": model.record["logprobs_asked"],
        **model.metrics(options),
        "failed": _reasons(model.failed),
        "pending": _reasons(model.pending),
        "unread": _reasons(unread),
        "fingerprints": _reasons(model.fingerprints, "none sent"),
        "most_frequent": repeated.n - (repeated.differing.count or 0),
        "first_difference": f"{parting.unit} {parting.earliest}" if parting else None,
        "alternatives": _alternatives(parting) if parting else None,
        "with_logprobs": repeated.logprobs.n,
    }


def _calls(models: Sequence[ProbedModel], frame: pd.DataFrame, document: Document) -> Table:
    """Calls made, their outcomes, and their cost."""
    settings = document["settings"]
    factors = label({name: str(settings[name]) for name in FACTORS}, FACTORS)
    columns = (
        *keys(["model"]),
        Column("seat"),
        Column("n_asked", "asked"),
        Column("n_answered", "answered"),
        Column("failed"),
        *[Column("pending")] * bool(frame["n_pending"].any()),
        Column("attempts"),
        Column("tokens_in", format=count),
        Column("tokens_out", format=count),
        Column(("cost", "unpriced", "n_answered"), "cost", _dollars),
        Column("latency_median_s", "median latency", lambda s: _written(s, ".3f", " s")),
        Column("fingerprints"),
    )
    notes = (
        "asked = answered + failed + pending; a failed call is never replaced; attempts: requests, "
        "repeated ones included",
        *_first_failures(models),
    )
    title = f"Probe: the first turn, {settings['n']} times ({factors})"
    return Table("calls", title, frame, columns, notes)


def _first_failures(models: Sequence[ProbedModel]) -> list[str]:
    """What the first failure of each kind said: failures tend to be one mistake, many times."""
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


def _written(value: float, how: str, unit: str = "") -> str:
    return "-" if math.isnan(value) else f"{value:{how}}{unit}"


def _reasons(counts: Mapping[str, int], none: str = "0") -> str:
    return "\n".join(f"{why} {n}" for why, n in counts.items()) or none


def _dollars(cost: float, unpriced: int, answered: int) -> str:
    if unpriced == answered and unpriced:
        return "unknown"
    return f"${cost:.4f}" + (f" + {unpriced} unpriced" if unpriced else "")


def _alternatives(parting: FirstDifference) -> str:
    shown, rest = parting.alternatives[:2], parting.alternatives[2:]
    pairs = zip(shown[0][0], shown[1][0], strict=False)
    same = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    skipped = max(0, same - _SHOWN // 3) if len(shown[0][0]) > _SHOWN else 0
    lines = [f"{n}x {_quoted(unit, skipped)}" for unit, n in shown]
    if rest:
        lines.append(f"{sum(n for _, n in rest)}x {_plural(len(rest), 'other')}")
    return "\n".join(lines)


def _quoted(unit: str, skipped: int) -> str:
    """A token as a terminal can show it: what a model wrote may hold anything."""
    if unit == END:
        return "(end)"
    text = f"…{unit[skipped:]}" if skipped else unit
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…")


def _plural(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


_TEXTS = (
    *keys(["model"]),
    Column("n_answered", "answers"),
    Column("distinct_texts", "distinct"),
    Column(("most_frequent", "n_answered"), "most frequent", realised),
    Column("differing", "off it", decimals(3)),
    Column(("differing_ci_low", "differing_ci_high"), "95 % CI", limits(3)),
    Column("first_difference"),
    Column("first_difference_median", "median", lambda value: _written(value, "g")),
    Column("alternatives", "what stands there"),
)
_TEXT_NOTES = (
    "off it: share of answers that aren't the most frequent text [Clopper-Pearson, two-sided]; "
    "first difference, median: earliest and median position over pairs of different texts",
)
_LOGPROBS = (
    *keys(["model"]),
    Column(("with_logprobs", "n_answered"), "answers with them", realised),
    Column("logprob_positions", "tokens compared"),
    Column("logprob_spread", "mean spread", lambda value: _written(value, ".2g")),
    Column("logprob_spread_max", "largest spread", lambda value: _written(value, ".2g")),
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
        Column(("states_read", "n_answered"), "STATE lines read", realised),
        Column("unread"),
        Column("distinct_preferences", "distinct"),
        Column("preference_distance", "mean L2", decimals(4)),
        Column("preference_distance_se", "jackknife SE", decimals(4)),
        Column("preference_distance_max", "max L2", decimals(4)),
        *(Column(f"preference_sd_{o}", f"sd p{o}", decimals(4)) for o in options),
    )


# --- files and MLflow --------------------------------------------------------------------------


def publish(document: Document, out: Path, uri: str | None) -> list[Path]:
    """Print what a probe found, write it as JSON and Markdown, and log both to MLflow.

    Parameters
    ----------
    document
        What the probe kept: settings, and every call to every model.
    out
        A folder; the files go to one of their own in it, named by time and condition.
    uri
        The tracking store; ``None`` logs nothing.
    """
    models = [ProbedModel(record) for record in document["models"]]
    shown = tables(models, document)
    verdicts = [f"{model.model}: {verdict(model, document)}" for model in models]
    files = _write(document, models, shown, verdicts, out)
    show(shown)
    console = Console(width=None if Console().is_terminal else 140)
    for line in verdicts:
        console.print(line, markup=False, highlight=False, soft_wrap=not console.is_terminal)
    print(f"written: {', '.join(map(str, files))}", flush=True)
    if uri is not None:
        _log(document, models, files, uri)
    return files


def _write(
    document: Document,
    models: Sequence[ProbedModel],
    shown: Sequence[Table],
    verdicts: Sequence[str],
    out: Path,
) -> list[Path]:
    settings = document["settings"]
    stamp = settings["at"].partition("+")[0].replace(":", "-")
    folder = out / f"{stamp}-{settings['condition'][:6]}"
    folder.mkdir(parents=True, exist_ok=True)
    records = [
        {
            **model.record,
            "summary": {**asdict(model.repeats), "fingerprints": dict(model.fingerprints)},
            "metrics": model.metrics(settings["options"]),
            "verdict": verdict(model, document),
        }
        for model in models
    ]
    # JSON has no NaN and no infinity: such numbers become null.
    plain = json.loads(
        json.dumps({**document, "models": records}), parse_constant=lambda constant: None
    )
    files = [folder / "probe.json", folder / "probe.md"]
    files[0].write_text(redact(json.dumps(plain, indent=1, ensure_ascii=False)), encoding="utf-8")
    head = ["# Determinism probe", "", *(f"{line}  " for line in verdicts), ""]
    files[1].write_text(redact("\n".join([*head, *map(markdown, shown)])), encoding="utf-8")
    return files


def _log(
    document: Document, models: Sequence[ProbedModel], files: Sequence[Path], uri: str
) -> None:
    """One run a model in the study's experiment."""
    settings = document["settings"]
    client = store.open_client(uri)
    from mlflow.entities import Metric, Param  # only now: the client sets up how MLflow logs

    experiment = store.experiment(client, uri, settings["study"])
    for model in models:
        run = client.create_run(
            experiment,
            run_name=f"probe {model.model}",
            tags={
                "plenum.kind": "probe",
                "plenum.condition": settings["condition"],
                "plenum.backend": settings["backend"],
                "plenum.simulated": str(document["simulated"]).lower(),
                "plenum.version": settings["version"],
                "plenum.verdict": verdict(model, document),
            },
        )
        now = int(time.time() * 1000)
        values = {k: v for k, v in model.metrics(settings["options"]).items() if math.isfinite(v)}
        params = {**{name: settings[name] for name in FACTORS}, "n": settings["n"]}
        params |= {"probed_model": model.model, "seat": model.record["seat"]}
        params["prompt"] = model.record["prompt"]
        client.log_batch(
            run.info.run_id,
            metrics=[Metric(name, float(value), now, 0) for name, value in values.items()],
            params=[Param(name, str(value)) for name, value in params.items()],
        )
        for file in files:
            client.log_artifact(run.info.run_id, str(file))
        status = "KILLED" if model.pending else "FAILED" if model.failed else "FINISHED"
        client.set_terminated(run.info.run_id, status)
