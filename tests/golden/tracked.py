"""What a study left in MLflow: read from its database and its artifacts."""

import difflib
import json
import math
import sqlite3
from collections import defaultdict
from pathlib import Path
from typing import Any

import pandas as pd

from .masking import MASK, VOLATILE, Masks

_MASKED_TAGS = {
    "plenum.archive",
    "mlflow.source.git.commit",
    "plenum.version",
    "mlflow.parentRunId",
}


def experiment(database: Path, name: str, masks: Masks) -> dict[str, Any]:
    """An experiment's tags and all its runs, in the order of their names."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
        [(number,)] = db.execute("select experiment_id from experiments where name = ?", (name,))
        rows = db.execute("select key, value from experiment_tags where experiment_id=?", (number,))
        tags = {key: masks.text(value) for key, value in sorted(rows)}
        runs = db.execute(
            "select run_uuid, name, status, artifact_uri from runs where experiment_id = ?"
            " and lifecycle_stage = 'active'",
            (number,),
        ).fetchall()
        shown_runs = {run: _run(db, run, masks) for run, *_ in runs}
    names = {run: title for run, title, *_ in runs}
    for run, _, status, uri in runs:
        parent = shown_runs[run].pop("parent")
        shown_runs[run] = {
            "status": status,
            **({"parent": names[parent]} if parent else {}),
            **shown_runs[run],
            "artifacts": _artifacts(Path(uri.removeprefix("file://")), masks),
        }
    labelled = dict(
        sorted(((_label(names[r], shown_runs[r]), shown_runs[r]) for r in shown_runs), key=_first)
    )
    _shortened(list(labelled.values()))
    return {"tags": tags, "runs": labelled}


def _first(pair: tuple[str, Any]) -> str:
    return pair[0]


def _shortened(runs: list[dict[str, Any]]) -> None:
    """Keep of a condition's files what differs from the first one's, of a replicate's params what
    differs from its condition's."""
    first: dict[str, Any] = {}
    for run in runs:
        for name in ("condition.json", "config.yaml"):
            content = run["artifacts"].get(name)
            if content is None:
                continue
            base = first.setdefault(name, content)
            if base is not content:
                run["artifacts"][name] = _beside(base, content)
    params = {
        run["tags"].get("plenum.condition"): run["params"] for run in runs if "parent" not in run
    }
    for run in runs:
        if "parent" in run:
            base = params.get(run["tags"].get("plenum.condition"), {})
            run["params"] = {k: v for k, v in run["params"].items() if base.get(k) != v} | {
                "as its condition": " ".join(
                    k for k, v in run["params"].items() if base.get(k) == v
                )
            }


def _beside(base: Any, other: Any) -> Any:
    if isinstance(base, dict):
        gone = {key: None for key in base if key not in other}
        return gone | {key: value for key, value in other.items() if base.get(key) != value}
    lines = difflib.unified_diff(base, other, lineterm="", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def conditions(database: Path, name: str) -> list[str]:
    """Identities of an experiment's conditions, in the order in which they were written."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
        rows = db.execute(
            "select tags.value from experiments join runs using (experiment_id)"
            " join tags using (run_uuid) join tags as kinds using (run_uuid)"
            " where experiments.name = ? and tags.key = 'plenum.condition'"
            " and kinds.key = 'plenum.kind' and kinds.value = 'condition' order by runs.rowid",
            (name,),
        )
        return [identity for (identity,) in rows]


def environments(database: Path) -> set[str]:
    """Digests of the machines that hosted models ran on."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
        shown_runs = db.execute(
            "select value from tags where key = 'plenum.environment'"
        ).fetchall()
    return {digest for (text,) in shown_runs for digest in text.split()}


def _label(name: str, run: dict[str, Any]) -> str:
    """A run's name, and the identity of its condition: names alone may stand twice."""
    identity = run["tags"].get("plenum.condition", "")
    return f"{name} [{identity[:6]}]" if identity else name


def _run(db: sqlite3.Connection, run: str, masks: Masks) -> dict[str, Any]:
    def pairs(table: str) -> dict[str, str]:
        rows = db.execute(f"select key, value from {table} where run_uuid = ?", (run,))
        return {key: masks.text(value) for key, value in sorted(rows)}

    tags = db.execute("select key, value from tags where run_uuid = ?", (run,))
    parents = [value for key, value in tags if key == "mlflow.parentRunId"]
    metrics: dict[str, list[Any]] = defaultdict(list)
    for key, value, nan in db.execute(
        "select key, value, is_nan from metrics where run_uuid = ? order by key, step", (run,)
    ):
        metrics[key].append(MASK if VOLATILE.search(key) else _number(math.nan if nan else value))
    steps = db.execute("select key, step from metrics where run_uuid = ? and step != 0", (run,))
    stepped = {key for key, _ in steps}
    shown = {k: MASK if k in _MASKED_TAGS else v for k, v in pairs("tags").items()}
    if shown.get("plenum.backend") == "hosted" and "plenum.journal" in shown:
        shown["plenum.journal"] = MASK
    return {
        "parent": parents[0] if parents else None,
        "tags": shown,
        "params": pairs("params"),
        "metrics": {
            key: values if key in stepped or len(values) > 1 else values[0]
            for key, values in metrics.items()
        },
    }


def _artifacts(folder: Path, masks: Masks) -> dict[str, Any]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): _artifact(file, masks) for file in files}


def _artifact(file: Path, masks: Masks) -> Any:
    """What is compared of a file; nothing but its name where it stands elsewhere too."""
    if file.suffix == ".parquet":
        return parquet(file)
    if file.name == "condition.json":
        return json.loads(masks.text(file.read_text()))
    if file.name == "config.yaml":
        return masks.text(file.read_text()).splitlines()
    return "present"


def parquet(file: Any) -> dict[str, Any]:
    """Shape, types, and a mean of each column, weighted by row so that order counts."""
    frame = pd.read_parquet(file).reset_index()
    return {
        "rows": len(frame),
        "columns": {str(c): f"{frame[c].dtype} {_summary(frame[c])}" for c in frame.columns},
    }


def _summary(column: "pd.Series[Any]") -> str:
    if VOLATILE.search(str(column.name)):
        return MASK
    if not pd.api.types.is_numeric_dtype(column):
        return " ".join(sorted({str(value) for value in column})[:6])
    values = column.astype(float)
    weights = range(1, len(values) + 1)
    total = sum(w * v for w, v in zip(weights, values, strict=True) if math.isfinite(v))
    gaps = int((~values.map(math.isfinite)).sum())
    return f"{total / max(sum(weights), 1):.8g}" + (f", {gaps} not finite" if gaps else "")


def _number(value: float) -> Any:
    """A number as JSON has it: whole ones without a point, and no NaN."""
    if not math.isfinite(value):
        return str(value)
    return int(value) if value == int(value) and abs(value) < 1e15 else float(f"{value:.12g}")
