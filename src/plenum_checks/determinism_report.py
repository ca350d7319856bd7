"""The report of a determinism probe: printed, written as JSON and Markdown, logged to MLflow."""

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import takewhile
from pathlib import Path

import pandas as pd

from plenum.base import redact
from plenum.design import FACTORS
from plenum.reports import (
    NONE,
    Column,
    Table,
    format_decimals,
    format_realised,
    format_share,
    format_significant,
    frame_markdown,
    keys,
    label,
    show,
    show_text,
)
from plenum.tracking import find_experiment, open_client
from plenum_checks.probed_model import Document, ProbedModel, describe_form, plural, verdict
from plenum_checks.spread import END, FirstDifference
from plenum_papers.items import published_numbers

_SIMULATED = "simulated agents answered: no evidence about language models"
_SHOWN = 24
"""Characters of a token that a table shows."""


def publish(document: Document, out: Path, uri: str | None) -> list[Path]:
    """Print the findings of a probe, write them as JSON and Markdown, and log both to MLflow.

    Parameters
    ----------
    document
        The result of the probe: settings, and every call to every model.
    out
        A folder; the files go to a subfolder named by time and condition.
    uri
        The tracking store; with ``None`` nothing is logged.
    """
    models = [ProbedModel(record) for record in document["models"]]
    shown = _table(models, document)
    verdicts = [f"{model.model}: {verdict(model, document)}" for model in models]
    forms = [(model.model, describe_form(model)) for model in models]
    verdicts += [f"{name}: {form}" for name, form in forms if form]
    files = _write(document, models, shown, verdicts, out)
    show([shown])
    for line in verdicts:
        show_text(line)
    print(f"written: {', '.join(map(str, files))}", flush=True)
    if uri is not None:
        _log(document, models, files, uri)
    return files


def _write(
    document: Document,
    models: Sequence[ProbedModel],
    shown: Table,
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
            "metrics": model.metrics,
            "first_difference": asdict(model.parting) if model.parting else None,
            "fingerprints": dict(model.fingerprints),
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
    files[1].write_text(redact("\n".join([*head, frame_markdown(shown)])), encoding="utf-8")
    return files


def _table(models: Sequence[ProbedModel], document: Document) -> Table:
    """Return the table of how many calls were answered and how far the answers differ."""
    settings = document["settings"]
    records = [
        {
            "model": model.model,
            **model.metrics,
            "unanswered": {**model.failed, **model.pending},
            "first_difference": model.parting,
        }
        for model in models
    ]
    factors = label({name: str(settings[name]) for name in FACTORS}, FACTORS)
    title = f"Probe: the first turn, {settings['n']} times ({factors})"
    source = f"backend: {settings['backend']}"
    source += f"; {_SIMULATED}" if document["simulated"] else ""
    notes = (*_NOTES, *_published(), *_first_failures(models), source)
    return Table("probe", title, pd.DataFrame(records), _COLUMNS, notes)


def _published() -> list[str]:
    """Return notes on the paper's findings about equal calls."""
    return [
        f"published: texts and preferences differed in {line['differing']} of trials "
        f"({line['model']}, {line['calls']} equal calls at temperature 0; {line['source']}); what "
        "a trial is isn't told, so that it need not be the share off the most frequent text"
        for line in published_numbers("section-s1")
    ]


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


def _reasons(counts: Mapping[str, int]) -> str:
    return "\n".join(f"{why} {n}" for why, n in counts.items()) or NONE


def _distance(distance: float, se: float) -> str:
    shown = format_decimals(4)
    return NONE if math.isnan(distance) else f"{shown(distance)} ± {shown(se)}"


def _dollars(cost: float, unpriced: int, answered: int) -> str:
    if unpriced == answered and unpriced:
        return "unknown"
    return f"${cost:.4f}" + (f" + {unpriced} unpriced" if unpriced else "")


def _parting(parting: FirstDifference | None) -> str:
    """Return the place of the first difference, and below it the texts that stand there."""
    if parting is None:
        return NONE
    shown, rest = parting.alternatives[:2], parting.alternatives[2:]
    pairs = zip(shown[0][0], shown[1][0], strict=False)
    same = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    skipped = max(0, same - _SHOWN // 3) if len(shown[0][0]) > _SHOWN else 0
    lines = [f"{n}x {_quoted(unit, skipped)}" for unit, n in shown]
    if rest:
        lines.append(f"{sum(n for _, n in rest)}x {plural(len(rest), 'other')}")
    return "\n".join((f"{parting.unit} {parting.position}", *lines))


def _quoted(unit: str, skipped: int) -> str:
    """Make a token safe for a terminal, since a model may write anything."""
    if unit == END:
        return "(end)"
    text = f"…{unit[skipped:]}" if skipped else unit
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…")


_COLUMNS = (
    *keys(["model"]),
    Column(("n_answered", "n_asked"), "answered", format_realised),
    Column("unanswered", format=_reasons),
    Column("distinct_texts", "texts"),
    Column(("differing", "differing_ci_low", "differing_ci_high"), "off it", format_share),
    Column("first_difference", format=_parting),
    Column("logprob_spread_max", "log-prob.", format_significant(2)),
    Column(("preference_distance", "preference_distance_se"), "D ± SE", _distance),
    Column(("cost", "unpriced", "n_answered"), "cost", _dollars),
)
_NOTES = (
    "unanswered calls are never replaced; texts: different ones; off it: share of answers that "
    "aren't the most frequent text [Clopper-Pearson, two-sided]",
    "log-prob.: the largest minus the smallest log-probability (nats) of one token between "
    "answers, over the tokens before any two answers part; D: mean L2 distance of preference "
    "vectors over pairs of answers (Eq. 1), with its jackknife standard error",
)


def _log(
    document: Document, models: Sequence[ProbedModel], files: Sequence[Path], uri: str
) -> None:
    """Log one run per model to the study's experiment."""
    settings = document["settings"]
    client = open_client(uri)
    from mlflow.entities import Metric, Param  # only now: the client sets up how MLflow logs

    experiment = find_experiment(client, uri, settings["study"])
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
        values = {k: v for k, v in model.metrics.items() if math.isfinite(v)}
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
