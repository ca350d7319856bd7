"""Studies in MLflow: list, rename, delete and restore them, lock and remove their journals."""

import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum.base.file_locks import hold_lock
from plenum.tracking.conditions import TrackedCondition, read_condition, time_written
from plenum.tracking.runs import CONDITIONS, count_interrupted, search_runs
from plenum.tracking.tracker import lock_file

_TAG = "plenum.study"


@dataclass(frozen=True)
class StoredStudy:
    """A study in the store.

    Attributes
    ----------
    experiment
        The number of its experiment.
    active
        True if the experiment can be written to.
    deleted
        True if it is in MLflow's trash, or was on its way there when a command was broken off.
    """

    name: str
    experiment: str
    active: bool
    deleted: bool
    conditions: tuple[TrackedCondition, ...]


def list_studies(client: Any) -> list[StoredStudy]:
    """List all studies, those in MLflow's trash too, by name and then in the order of creation."""
    from mlflow.entities import ViewType

    experiments = client.search_experiments(view_type=ViewType.ALL)
    read = [_study(client, experiment) for experiment in experiments if _TAG in experiment.tags]
    return sorted(read, key=lambda study: (study.name, study.deleted, int(study.experiment)))


def rename_study(client: Any, study: StoredStudy, name: str) -> None:
    """Rename a study; the command can be repeated after it was interrupted."""
    client.set_experiment_tag(study.experiment, _TAG, name)
    client.rename_experiment(study.experiment, name)


def delete_study(client: Any, study: StoredStudy) -> None:
    """Put a study into MLflow's trash, where it doesn't block its name."""
    client.rename_experiment(study.experiment, _trash_name(study.name, study.experiment))
    client.delete_experiment(study.experiment)


def restore_study(client: Any, study: StoredStudy) -> None:
    """Take a study out of MLflow's trash, under its name.

    MLflow restores every run that was ever deleted in it. Of several runs of one condition, or of
    one replicate, the last one is kept.
    """
    if not study.active:
        client.restore_experiment(study.experiment)
    latest: dict[tuple[str, ...], Any] = {}
    for run in search_runs(client, study.experiment, "tags.`plenum.kind` != 'report'"):
        tags = run.data.tags
        key = (tags["plenum.kind"], tags["plenum.cell"], tags.get("plenum.replicate", ""))
        older, latest[key] = sorted([latest.get(key, run), run], key=time_written)
        if older is not latest[key]:
            client.delete_run(older.info.run_id)
    client.rename_experiment(study.experiment, study.name)


def drop_condition(client: Any, study: StoredStudy, condition: TrackedCondition) -> None:
    """Put the runs of a condition into MLflow's trash, its own run last."""
    runs = search_runs(client, study.experiment, f"tags.`plenum.cell` = '{condition.cell}'")
    for run in sorted(runs, key=lambda run: run.data.tags["plenum.kind"] == "condition"):
        client.delete_run(run.info.run_id)


def find_studies_by_folder(
    listed: Sequence[StoredStudy], study: StoredStudy, gone: Sequence[TrackedCondition]
) -> dict[str, list[str]]:
    """Find the studies that use journals in a folder, apart from some conditions of one study."""
    named: defaultdict[str, list[str]] = defaultdict(list)
    for other in listed:
        for condition in other.conditions:
            if other.experiment == study.experiment and condition in gone:
                continue
            for folder in condition.folders:
                if other.name not in named[folder]:
                    named[folder].append(other.name)
    return dict(named)


def journals_size(folder: Path) -> int:
    """Sum up the bytes of the files in a folder; 0 if it doesn't exist."""
    return sum(file.stat().st_size for file in folder.glob("*") if file.is_file())


@contextmanager
def hold_journals(journals: Path, uri: str, study: str, folders: Sequence[str]) -> Iterator[None]:
    """Hold the locks that runs of a study hold: its tracking lock, and its conditions' folders.

    Raises
    ------
    UserError
        Another process holds one: it runs a condition, or writes the study to MLflow.
    """

    def refuse() -> None:
        raise UserError(
            f"study: another process is running or writing {study!r}; wait until it ends"
        )

    locks = [lock_file(journals, uri, study), *(journals / name / "lock" for name in folders)]
    with ExitStack() as stack:
        for lock in locks:
            if lock.parent.is_dir():
                stack.enter_context(hold_lock(lock, refuse))
        yield


def remove_journals(journals: Path, folders: Sequence[str]) -> None:
    """Remove folders with their journals."""
    for name in folders:
        if (journals / name).is_dir():
            shutil.rmtree(journals / name)


def _study(client: Any, experiment: Any) -> StoredStudy:
    number, name = experiment.experiment_id, experiment.name
    tag = experiment.tags[_TAG]
    trashed = name == _trash_name(tag, number)  # also where deleting was broken off
    deleted = experiment.lifecycle_stage != "active"
    runs = search_runs(client, number, CONDITIONS, deleted=deleted)
    ended = defaultdict(Counter) if deleted else count_interrupted(client, number, runs)
    cells = dict.fromkeys(run.data.tags["plenum.cell"] for run in runs)  # in the order of running
    latest = {run.data.tags["plenum.cell"]: run for run in sorted(runs, key=time_written)}
    return StoredStudy(
        tag if trashed else name,
        number,
        not deleted,
        deleted or trashed,
        tuple(read_condition(tag, latest[cell], ended) for cell in cells),
    )


def _trash_name(study: str, experiment: str) -> str:
    return f"{study} (deleted {experiment})"
