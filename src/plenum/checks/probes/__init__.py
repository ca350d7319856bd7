"""The report of a determinism probe (section S1): what n answers to one prompt say."""

import json
import math
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from plenum.base.secrets import redact
from plenum.checks.probes.line import Document, Line, verdict
from plenum.checks.probes.tables import FACTORS, calls, logprobs, preferences, texts
from plenum.reports.markdown import markdown
from plenum.reports.printing import show
from plenum.reports.table import Table
from plenum.tracking import store

__all__ = ["Line", "publish", "verdict"]


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
    lines = [Line(model) for model in document["models"]]
    sheets = [calls(lines, document), texts(lines, document), *logprobs(lines, document)]
    sheets.append(preferences(lines, document))
    verdicts = [f"{line.model}: {verdict(line, document)}" for line in lines]
    files = _write(document, lines, sheets, verdicts, out)
    show(sheets)
    console = Console(width=None if Console().is_terminal else 140)
    for line in verdicts:
        console.print(line, markup=False, highlight=False, soft_wrap=not console.is_terminal)
    print(f"written: {', '.join(map(str, files))}", flush=True)
    if uri is not None:
        _log(document, lines, files, uri)
    return files


def _write(
    document: Document,
    lines: Sequence[Line],
    sheets: Sequence[Table],
    verdicts: Sequence[str],
    out: Path,
) -> list[Path]:
    settings = document["settings"]
    stamp = settings["at"].partition("+")[0].replace(":", "-")
    folder = out / f"{stamp}-{settings['condition'][:6]}"
    folder.mkdir(parents=True, exist_ok=True)
    models = [
        {
            **line.probed,
            "summary": {**asdict(line.found), "fingerprints": dict(line.fingerprints)},
            "metrics": line.metrics(settings["options"]),
            "verdict": verdict(line, document),
        }
        for line in lines
    ]
    text = json.dumps(_clean({**document, "models": models}), indent=1, ensure_ascii=False)
    files = [folder / "probe.json", folder / "probe.md"]
    files[0].write_text(redact(text), encoding="utf-8")
    page = "\n".join(["# Determinism probe", "", *(f"{v}  " for v in verdicts), ""])
    written = "\n".join([page, *map(markdown, sheets)])
    files[1].write_text(redact(written), encoding="utf-8")
    return files


def _clean(value: Any) -> Any:
    """JSON has no NaN and no infinity: such numbers become null."""
    return json.loads(json.dumps(value), parse_constant=lambda _: None)


def _log(document: Document, lines: Sequence[Line], files: Sequence[Path], uri: str) -> None:
    """One run a model in the study's experiment."""
    settings = document["settings"]
    client = store.open_client(uri)
    from mlflow.entities import Metric, Param  # only now: the client sets up how MLflow logs

    experiment = store.experiment(client, uri, settings["study"])
    for line in lines:
        run = client.create_run(
            experiment,
            run_name=f"probe {line.model}",
            tags={
                "plenum.kind": "probe",
                "plenum.condition": settings["condition"],
                "plenum.backend": settings["backend"],
                "plenum.simulated": str(document["simulated"]).lower(),
                "plenum.version": settings["version"],
                "plenum.verdict": verdict(line, document),
            },
        )
        now = int(time.time() * 1000)
        values = {k: v for k, v in line.metrics(settings["options"]).items() if math.isfinite(v)}
        params = {**{name: settings[name] for name in FACTORS}, "n": settings["n"]}
        params |= {"probed_model": line.model, "seat": line.seat, "prompt": line.probed["prompt"]}
        client.log_batch(
            run.info.run_id,
            metrics=[Metric(name, float(value), now, 0) for name, value in values.items()],
            params=[Param(name, str(value)) for name, value in params.items()],
        )
        for file in files:
            client.log_artifact(run.info.run_id, str(file))
        status = "KILLED" if line.pending else "FAILED" if line.failed else "FINISHED"
        client.set_terminated(run.info.run_id, status)
