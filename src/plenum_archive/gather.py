"""Reading of a study from MLflow, condition by condition."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum.tracking.rows import ROWS_TAG as ROWS
from plenum.tracking.rows import Member
from plenum.tracking.runs import read_artifacts, read_rows
from plenum.tracking.study import Study
from plenum.tracking.traces import TRACE_TAG as TRACE
from plenum_archive import layout, scrub
from plenum_archive.layout import CONDITIONS, KEPT, RUNS, SERIES, ArchivedRun

ORIGIN, ARCHIVE = "plenum.origin", "plenum.archive"
"""Tags of an imported run: its id when it was first tracked, and the archive's contents."""

_UNFINISHED = "; the same run.py command brings the study up to date"


@dataclass(frozen=True)
class ArchivedCondition:
    """A condition with all that the tracking store holds of it.

    Attributes
    ----------
    place
        The condition's folder in the archive.
    run, replicates
        The condition's run, and its replicates' runs in order.
    transcripts
        Journals by replicate, on this machine's disk.
    artifacts
        Files of the condition's run, by name.
    stored
        The id of the condition's run in this store.
    """

    place: str
    run: ArchivedRun
    replicates: tuple[ArchivedRun, ...]
    transcripts: dict[int, Path | Member]
    artifacts: dict[str, bytes]
    stored: str

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of replicates by status: target = completed + failed + pending."""
        target = self.run.target
        within = [replicate for replicate in self.replicates if replicate.replicate < target]
        ended = {
            end: sum(replicate.tags["plenum.status"] == end for replicate in within)
            for end in ("completed", "failed")
        }
        return {"target": target, **ended, "pending": target - sum(ended.values())}

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Yield the files that an archive holds of the condition, with their names."""
        for name in sorted(self.artifacts):
            data = self.artifacts[name]
            clean = {"config.yaml": scrub.config, "accounts.json": scrub.accounts}.get(name, bytes)
            yield f"{self.place}/{name}", clean(data)
        yield f"{self.place}/{RUNS}", layout.list_archived_runs(self.run, list(self.replicates))
        for number in sorted(self.transcripts):
            yield layout.transcript(self.place, number), self.transcripts[number].read_bytes()


@contextmanager
def gather_conditions(
    study: str, uri: str, report_progress: Callable[[int, int], None] = lambda done, of: None
) -> Iterator[list[ArchivedCondition]]:
    """Read the conditions of a study, in the order in which they were first run.

    Their transcripts exist on disk until the context ends.

    Parameters
    ----------
    report_progress
        Called with the number of conditions read so far and their total.

    Raises
    ------
    UserError
        There is no such study at ``uri``, it is empty, or a replicate is half written.
    """
    tracked = Study(study, uri)
    runs = tracked.condition_runs
    nested = tracked.group_nested()
    with tracked.transcripts() as kept, ThreadPoolExecutor(8) as pool:

        def read(numbered: tuple[int, Any]) -> ArchivedCondition:
            number, run = numbered
            journals = {
                replicate.replicate: replicate.path for replicate in kept.get(run.info.run_id, ())
            }
            children = [
                *nested.get(run.info.run_id, ()),
                *read_rows(tracked.client, run, whole=True),
            ]
            return _condition(tracked.client, number, run, children, journals)

        conditions = []
        for condition in pool.map(read, enumerate(runs, start=1)):
            conditions.append(condition)
            report_progress(len(conditions), len(runs))
        yield _in_order(conditions)


def _condition(
    client: Any, number: int, run: Any, children: list[Any], journals: dict[int, Path | Member]
) -> ArchivedCondition:
    own, identity = _run(run), run.data.tags["plenum.condition"]
    replicates = sorted(
        (_run(child) for child in children), key=lambda replicate: replicate.replicate
    )
    numbers = [replicate.replicate for replicate in replicates]
    for replicate in replicates:
        complete = replicate.status != "RUNNING" and replicate.replicate in journals
        if not complete or numbers.count(replicate.replicate) > 1:
            raise UserError(
                f"study: replicate {replicate.replicate} of condition {identity} is half written"
                + _UNFINISHED
            )
    series = {
        key: [[point.step, point.value] for point in _points(client, run, key)]
        for key in SERIES
        if key in run.data.metrics
    }
    return ArchivedCondition(
        place=f"{CONDITIONS}/{number:03d}-{identity}",
        run=replace(own, series=series),
        replicates=tuple(replicates),
        transcripts=journals,
        artifacts=read_artifacts(client, run, layout.list_artifacts(own.kind)),
        stored=run.info.run_id,
    )


def _points(client: Any, run: Any, key: str) -> list[Any]:
    return sorted(client.get_metric_history(run.info.run_id, key), key=lambda point: point.step)


def _run(run: Any) -> ArchivedRun:
    tags = run.data.tags
    kept = {
        key: value
        for key, value in tags.items()
        if key in KEPT or (key.startswith("plenum.") and key not in (ORIGIN, ARCHIVE, TRACE, ROWS))
    }
    return ArchivedRun(
        run_id=tags.get(ORIGIN, run.info.run_id),
        name=str(run.info.run_name),
        status=run.info.status,
        start=run.info.start_time,
        end=run.info.end_time,
        tags=kept,
        params=dict(run.data.params),
        metrics={key: value for key, value in run.data.metrics.items() if key not in SERIES},
    )


def _in_order(conditions: list[ArchivedCondition]) -> list[ArchivedCondition]:
    """Make start times strictly increasing, since reports order conditions by them."""
    ordered: list[ArchivedCondition] = []
    last = -1
    for condition in conditions:
        last = max(condition.run.start, last + 1)
        ordered.append(replace(condition, run=replace(condition.run, start=last)))
    return ordered
