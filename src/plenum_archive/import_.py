"""Import of an archive into a tracking store: the same runs, under ids of the store's own."""

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from omegaconf import DictConfig
from pydantic import BeforeValidator

from plenum.base.errors import UserError
from plenum.base.file_locks import require_writable
from plenum.base.identity import name_folder
from plenum.base.progress import show_progress
from plenum.design.ranges import StrictSettings, StudyName
from plenum.design.schema import Journals
from plenum.records.transcript import read_transcript
from plenum.reports.settings import read_study_settings, store_uri
from plenum.tracking.artifacts import collect_artifacts
from plenum.tracking.conditions import read_rerun
from plenum.tracking.experiments import find_experiment, make_trash_error
from plenum.tracking.row_writer import pack_transcripts, write_rows
from plenum.tracking.rows import (
    ROWS_ARCHIVE,
    ROWS_FILE,
    ROWS_TAG,
    has_nested_runs,
    make_row,
    transcript_file,
)
from plenum.tracking.run_writer import make_params
from plenum.tracking.runs import CONDITIONS, search_runs
from plenum.tracking.store import absolute_uri, open_client, require_writable_store
from plenum.tracking.stored_runs import KIND_TAG
from plenum_archive import layout
from plenum_archive.container import Box, describe_file
from plenum_archive.gather import ARCHIVE, ORIGIN, gather_conditions
from plenum_archive.layout import RUNS, TRANSCRIPTS, ArchivedRun
from plenum_archive.verify import open_checked, prefix_problems, require_file, summarise_archive

if TYPE_CHECKING:
    from mlflow.entities import Metric

_AT_ONCE = 900
"""Metrics in one request; an MLflow server accepts 1000."""


def _find_archive(given: object) -> Path:
    if given is None:
        raise ValueError("missing; name a file, as in archive=s1.zip, or published=CLONE")
    return require_file("archive", Path(str(given)))


@dataclass(frozen=True)
class Import(StrictSettings):
    """The config of `scripts/import.py`.

    Without a name the archive's is kept; without a folder no journals are written.
    ``replicate_runs`` is ``tracking.replicates``.
    """

    archive: Annotated[Path, BeforeValidator(_find_archive)]
    study: StudyName | None
    uri: str
    journals: Journals | None
    replicate_runs: str = "auto"


def read_config(cfg: DictConfig) -> Import:
    """Check the config of `scripts/import.py`.

    Raises
    ------
    UserError
        The archive isn't named or doesn't exist, or there is no store to write to.
    """
    store = {"uri": absolute_uri(store_uri(cfg)), "replicate_runs": cfg.tracking.replicates}
    wanted = read_study_settings(Import, cfg, **store)
    if wanted.journals is not None:
        require_writable("journals", Path(wanted.journals))
    return wanted


def bring_back(wanted: Import) -> None:
    """Check an archive and write it to a tracking store.

    Raises
    ------
    UserError
        The archive is damaged, or the store holds another study of this name.
    """
    with ExitStack() as stack:
        with show_progress("checking") as report_progress:
            result, box = stack.enter_context(open_checked(wanted.archive, report_progress))
        if result.problems or box is None:
            lines = prefix_problems(wanted.archive, result.problems)
            for line in lines[:-1]:
                print(line, file=sys.stderr)
            raise UserError(f"{lines[-1]}; nothing was imported")
        study = wanted.study or str(result.manifest["study"])
        unpacked = _journals(box, result.manifest, wanted.journals)
        with show_progress("writing") as written:
            nested = has_nested_runs(wanted.replicate_runs, result.manifest["counts"]["target"])
            new = import_study(box, result.manifest, study, wanted.uri, written, nested)
        for path, name in unpacked.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(box.read(name))
    if wanted.journals is not None:
        print(f"journals: {len(unpacked)} written to {wanted.journals}")
    if not new:
        print(f"study {study} is there already, with the same contents: nothing to do")
        return
    print(summarise_archive(study, result.manifest["counts"]))
    print(f"imported: {wanted.archive} as study {study}")


def _journals(box: Box, manifest: dict[str, Any], journals: str | None) -> dict[Path, str]:
    """Return which transcripts to write as journals, by path; existing journals are skipped.

    Raises
    ------
    UserError
        A journal exists with different contents.
    """
    files: dict[Path, str] = {}
    if journals is None:
        return files
    for entry in manifest["conditions"]:
        run, replicates = layout.read_runs(box.read(f"{entry['folder']}/{layout.RUNS}"))
        number = read_rerun({"settings": run.params.get("settings", "")})
        name = name_folder(run.tags["plenum.condition"], number)
        subfolder = Path(journals) / name
        for replicate in replicates:
            path = subfolder / f"{replicate.replicate:03d}.jsonl"
            name = layout.transcript(entry["folder"], replicate.replicate)
            if not path.exists():
                files[path] = name
            elif path.read_bytes() != box.read(name):
                raise UserError(
                    f"journals: {path} is there already and says something else; name another "
                    "folder"
                )
    return files


def import_study(
    box: Box,
    manifest: dict[str, Any],
    study: str,
    uri: str,
    report_progress: Callable[[int, int], None],
    nested: bool = True,
) -> bool:
    """Write a checked archive to a store, so that the study appears there only once it is whole.

    Until then its runs are in an experiment of another name. If the import is stopped, the same
    call continues it.

    Parameters
    ----------
    study
        The study's name in the store.
    report_progress
        Called with the number of conditions written so far and their total.
    nested
        True if replicates become nested runs rather than rows.

    Returns
    -------
    bool
        True if anything was written; false if the store already holds the study with the same
        contents.

    Raises
    ------
    UserError
        The store can't be written to, or holds another study of this name.
    """
    require_writable_store(absolute_uri(uri))
    client = open_client(uri)
    contents = layout.content(manifest["files"])
    if _is_imported(client, study, uri, contents):
        return False
    unfinished = f"{study} (unfinished import {contents[:8]})"
    experiment = find_experiment(client, uri, study, unfinished)
    workers = 8 if absolute_uri(uri).startswith("http") else 1  # a file has one writer
    known = _read_known(client, experiment)
    writing = _ImportTarget(client, experiment, contents, known, workers, nested)
    for done, condition in enumerate(manifest["conditions"], start=1):
        with tempfile.TemporaryDirectory() as folder:
            box.unpack(condition["folder"], Path(folder))
            writing.condition(Path(folder))
        report_progress(done, len(manifest["conditions"]))
    client.rename_experiment(experiment, study)
    return True


def _is_imported(client: Any, study: str, uri: str, contents: str) -> bool:
    """Return whether the store already holds the study with the same contents.

    Raises
    ------
    UserError
        The store holds another study of this name.
    """
    experiment = client.get_experiment_by_name(study)
    if experiment is None:
        return False
    if experiment.lifecycle_stage != "active":
        raise make_trash_error(study, experiment.experiment_id, uri)
    if search_runs(client, experiment.experiment_id, CONDITIONS):
        with gather_conditions(study, uri) as conditions:
            files = {
                name: describe_file(data)
                for condition in conditions
                for name, data in condition.files()
            }
        if layout.content(files) == contents:
            return True
    raise UserError(
        f"study: {study!r} is there already and holds something else; name another one, as in "
        "study=NEW"
    )


def _read_known(client: Any, experiment: str) -> dict[str, Any]:
    """Return the runs that an earlier, interrupted import wrote, by their original ids."""
    runs = search_runs(client, experiment, "")
    return {run.data.tags[ORIGIN]: run for run in runs if ORIGIN in run.data.tags}


@dataclass(frozen=True)
class _ImportTarget:
    """The destination of an import, with the runs that are already there."""

    client: Any
    experiment: str
    contents: str
    known: dict[str, Any]
    workers: int
    nested: bool

    def condition(self, folder: Path) -> None:
        """Write an unpacked condition."""
        from plenum.tracking.run_data import collect_by_round
        from plenum.tracking.transcript_text import format_transcript

        run, replicates = layout.read_runs((folder / RUNS).read_bytes())
        artifacts = map(folder.joinpath, layout.list_artifacts(run.kind))
        files = [path for path in artifacts if path.exists()]
        more = {} if self.nested else {ROWS_TAG: ROWS_FILE}
        if not self.nested:
            files += _rows(folder, replicates)
        parent = self.put(run, "", files, _by_round(run), more)
        self.client.set_experiment_tag(self.experiment, KIND_TAG, run.kind.name)
        if not self.nested:
            return

        def replicate(child: ArchivedRun) -> None:
            journal = folder / TRANSCRIPTS / f"{child.replicate:03d}.jsonl"
            page, transcript = journal.with_suffix(".md"), read_transcript(journal)
            page.write_text(format_transcript(transcript), encoding="utf-8")
            series = collect_by_round(transcript, child.end or child.start)
            self.put(child, "transcript", [journal, page], series, {"mlflow.parentRunId": parent})

        with ThreadPoolExecutor(self.workers) as pool:
            list(pool.map(replicate, replicates))

    def put(
        self,
        run: ArchivedRun,
        within: str,
        files: list[Path],
        series: "list[Metric]",
        tags: dict[str, str] | None = None,
    ) -> str:
        """Write a run unless it is already complete in the store, and return its id there."""
        earlier = self.known.get(run.run_id)
        if earlier is not None:
            if self._is_complete(earlier, run):
                return str(earlier.info.run_id)
            self.client.delete_run(earlier.info.run_id)
        created = self.client.create_run(
            self.experiment,
            start_time=run.start,
            run_name=run.name,
            tags={**run.tags, ORIGIN: run.run_id, **(tags or {})},
        )
        run_id = str(created.info.run_id)
        with collect_artifacts(self.client, created, within) as folder:
            for file in files:
                (folder / file.name).write_bytes(file.read_bytes())
        self._log(run_id, run, series, make_params(self.client, created, run.params))
        if run.status != "RUNNING":
            self.client.set_terminated(run_id, run.status, run.end)
        return run_id

    def _log(
        self, run_id: str, run: ArchivedRun, series: "list[Metric]", params: list[Any]
    ) -> None:
        from mlflow.entities import Metric, RunTag

        now = run.end or run.start or int(time.time() * 1000)
        by_round = {metric.key for metric in series}
        last = [
            Metric(key, value, now, 0) for key, value in run.metrics.items() if key not in by_round
        ]
        metrics = [*last, *series]
        for start in range(_AT_ONCE, len(metrics), _AT_ONCE):
            self.client.log_batch(run_id, metrics=metrics[start : start + _AT_ONCE])
        self.client.log_batch(
            run_id,
            metrics=metrics[:_AT_ONCE],
            params=params,
            tags=[RunTag(ARCHIVE, self.contents)],  # in one commit: this run has all but its end
        )

    def _is_complete(self, earlier: Any, run: ArchivedRun) -> bool:
        tags = earlier.data.tags
        return bool(tags.get(ARCHIVE) == self.contents and earlier.info.status == run.status)


def _rows(folder: Path, replicates: Sequence[ArchivedRun]) -> list[Path]:
    """Write the files that hold replicates as rows into their condition's folder; return them."""
    files = [folder / ROWS_FILE, folder / ROWS_ARCHIVE]
    values = []
    for run in replicates:
        info = {"run_id": run.run_id, "run_name": run.name, "status": run.status}
        times = {"start_time": run.start, "end_time": run.end}
        values.append(make_row({**info, **times}, run.tags, run.params, run.metrics))
    write_rows(files[0], values)
    numbers = [run.replicate for run in replicates]
    pack_transcripts(files[1], {n: folder / TRANSCRIPTS / transcript_file(n) for n in numbers})
    return files


def _by_round(run: ArchivedRun) -> "list[Metric]":
    """Return a condition's metrics that have one value per round."""
    from mlflow.entities import Metric

    now = run.end or run.start
    return [
        Metric(key, value, now, int(step))
        for key, points in run.series.items()
        for step, value in points
    ]
