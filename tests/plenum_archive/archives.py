"""A small study in a real SQLite store, and archives of it that somebody tampered with."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from mlflow import MlflowClient

from plenum.records.journal import Journal
from plenum.records.usage import Usage
from plenum.reports.settings import Settings
from plenum.tracking import store
from plenum.tracking.writer import StudyWriter
from plenum_archive import export, layout
from plenum_archive.container import describe_file, write_sealed

SEATS = ("chair", "rights")
ROUNDS = 3
CONDITION: dict[str, Any] = {
    **{"scenario": "s", "roles": "on", "model": "uniform", "memory": "k3", "temperature": "t0.7"},
    **{"backend": "simulated", "perturbation": "none", "settings": "default", "rounds": ROUNDS},
    **{"protocol": "deliberation", "seed": 0, "clerk": "m"},
    "options": {"A": "one", "B": "two"},
    "seats": [{"seat": seat, "model": "m"} for seat in SEATS],
}
CONFIG = "tracking: {uri: 'sqlite:////home/x/mlflow.db'}\njournals: mlruns/journals\n"


def condition(name: str, **more: Any) -> dict[str, Any]:
    return {**CONDITION, "condition": name, "cell": f"{name}cell", **more}


@dataclass
class Study:
    """A study: a closed condition with a failed replicate, and one that was stopped."""

    uri: str
    name: str
    folder: Path
    client: MlflowClient = field(init=False)
    writer: StudyWriter = field(init=False)

    def __post_init__(self) -> None:
        self.client = store.open_client(self.uri)
        self.writer = StudyWriter(self.uri, self.name, "0.1.0+abc")

    def write(self) -> "Study":
        whole = condition("c0")
        writer = self.writer.open(whole, 2)
        journals = [self.journal(whole, 0), self.journal(whole, 1, end="failed", rounds=2)]
        for journal in journals:
            writer.replicate(journal, Usage(attempts=6, seconds=0.25))
        estimates = {
            "metrics": {"n_target": 2, "n_completed": 1, "n_failed": 1, "lambda": 0.1},
            "divergence": [0.1, 0.2, 0.4],
            **{"status": "ok", "interval": "jackknife", "warnings": ["few_replicates"]},
            **{"failures": {"parse": 1}, "simulated": True, "made_from": "0123"},
        }
        writer.close(journals, estimates, CONFIG)
        stopped = condition("c1", roles="off")
        writer = self.writer.open(stopped, 3)
        waiting = self.journal(stopped, 0, rounds=1, end="")
        writer.replicate(waiting, Usage(attempts=2, seconds=0.1), "budget")
        return self

    def journal(
        self, own: Mapping[str, Any], replicate: int, rounds: int = ROUNDS, end: str = "completed"
    ) -> Path:
        path = self.folder / own["condition"] / f"{replicate:03d}.jsonl"
        head = {key: value for key, value in own.items() if key != "cell"}
        spent = {"model": "m", "cost": 0.1, "tokens_in": 10, "tokens_out": 5}
        with Journal(path, {**head, "replicate": replicate}) as journal:
            for number in range(1, rounds + 1):
                for place, seat in enumerate(SEATS):
                    pref = [0.5 + 0.1 * place, 0.5 - 0.1 * place]
                    state = {"pref": pref, "conf": 60 + number, "tags": ["t", "u"]}
                    turn = {"kind": "turn", "round": number, "seat": seat, "text": "so"}
                    journal.append({**turn, "argument": "so", "state": state, **spent})
            if end:
                ending = {"decision": "A"} if end == "completed" else {"reason": "parse"}
                journal.append({"kind": "end", "status": end, **ending})
        return path

    def export(self, out: Path, name: str = "") -> Path:
        """Write it to an archive."""
        export.export(Settings(name or self.name, self.uri, out, draws=100))
        return out

    def runs(self, name: str = "") -> list[Any]:
        """The runs of a study by their origin."""
        experiment = self.client.get_experiment_by_name(name or self.name)
        return self.client.search_runs([experiment.experiment_id]) if experiment else []


def files_of(archive: Path) -> dict[str, bytes]:
    with ZipFile(archive) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def forged(archive: Path, out: Path, changes: Mapping[str, bytes | None], **manifest: Any) -> Path:
    """An archive with other files, whose digests and seal fit all the same."""
    files = {n: d for n, d in {**files_of(archive), **changes}.items() if d is not None}
    told = json.loads(files.pop(layout.MANIFEST)) | manifest
    told["files"] = {name: describe_file(data) for name, data in files.items()}
    with write_sealed(out, lambda part: None) as packer:
        for name, data in files.items():
            packer.add(name, data)
        packer.add(layout.MANIFEST, layout.pack_archive(told))
    return out
