"""The report of a determinism probe: printed, written as JSON and Markdown, logged to MLflow."""

import json
import math
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from plenum.base import redact
from plenum.design import FACTORS
from plenum.reports import Table, frame_markdown, show, show_text
from plenum.tracking import find_experiment, open_client
from plenum_checks.determinism_tables import tables
from plenum_checks.probed_model import Document, ProbedModel, verdict


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
    shown = tables(models, document)
    verdicts = [f"{model.model}: {verdict(model, document)}" for model in models]
    files = _write(document, models, shown, verdicts, out)
    show(shown)
    for line in verdicts:
        show_text(line)
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
    files[1].write_text(redact("\n".join([*head, *map(frame_markdown, shown)])), encoding="utf-8")
    return files


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
