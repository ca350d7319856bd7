"""A study read back from MLflow: once, and each of its parts when it is first asked for."""

import tempfile
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar, cast

import pandas as pd

from plenum.base.errors import UserError
from plenum.base.project import code_version
from plenum.design.kinds import KINDS, of_condition
from plenum.records import DamagedJournal, Transcript
from plenum.records import read as read_journal
from plenum.tracking import conditions, rows, runs, store, stored, usage, views
from plenum.tracking.conditions import Outline, TrackedCondition
from plenum.tracking.usage import ConditionUsage

_AT_ONCE = 8
"""So many requests are sent to a server at a time."""

MANY = 500
"""More conditions are read as outlines, and shown by what stands out among them."""

_PARENT = "mlflow.parentRunId"
_Part = TypeVar("_Part")


@dataclass(frozen=True)
class Provenance:
    """Who sat at the table of a condition, and which code wrote its runs.

    Attributes
    ----------
    models
        The model of each seat, in speaking order.
    clerk, options
        The model that reads the vote, and the labels of the options.
    wordings
        How many wordings there are of each family; empty where the scenario isn't perturbed.
    versions
        The code versions that wrote the condition and its replicates, each once.
    begun
        When the condition was first opened, in UTC.
    """

    models: tuple[tuple[str, str], ...]
    clerk: str
    options: str
    wordings: str
    versions: tuple[str, ...]
    begun: datetime


@dataclass(frozen=True)
class StoredTranscript:
    """The transcript of a replicate, as the tracking store keeps it.

    Attributes
    ----------
    run_id, parent
        The replicate's run, and that of its condition.
    replicate
        The number of the replicate in its condition.
    status
        ``completed``, ``failed`` or ``pending``.
    path
        The journal: a file, or a member of an archive. It is there while :meth:`Study.transcripts`
        is open.
    """

    run_id: str
    parent: str
    replicate: int
    status: str
    path: Path | rows.Member

    def verified(self) -> Transcript:
        """The transcript.

        Raises
        ------
        DamagedJournal
            It doesn't verify.
        """
        return read_journal(cast(Path, self.path))  # a member is read as a file is

    def read(self) -> Transcript | None:
        """The transcript; ``None`` where the journal doesn't verify."""
        try:
            return self.verified()
        except DamagedJournal:
            return None


class Study:
    """A study in a tracking store.

    Its conditions and what they hold are in the order in which they were first run.

    Parameters
    ----------
    name
        Of the study, and of its experiment.
    uri
        Of the tracking store.

    Attributes
    ----------
    client, experiment
        MLflow's client and the id of the study's experiment.
    condition_runs
        The runs of the conditions.

    Raises
    ------
    UserError
        There is no such study at ``uri``, or nothing in it.
    """

    def __init__(self, name: str, uri: str) -> None:
        self.name = name
        self.client, experiment, self.condition_runs = runs.opened(name, uri)
        self.experiment = str(experiment.experiment_id)
        self._tag = experiment.tags.get(stored.KIND_TAG)

    @cached_property
    def kind(self) -> str:
        """The kind of its conditions: the experiment's tag, else what the conditions' runs say.

        Raises
        ------
        UserError
            It holds conditions of several kinds.
        """
        if self._tag:
            return str(self._tag)
        names = {of_condition(run.data.params).name for run in self.condition_runs}
        if len(names) > 1:
            held = " and ".join(sorted(KINDS[name].plural for name in names))
            raise UserError(f"study: {self.name!r} holds {held}; give each a study of its own")
        return names.pop()

    @cached_property
    def nested_runs(self) -> list[Any]:
        """The nested runs of replicates."""
        return runs.search(self.client, self.experiment, runs.REPLICATES)

    @cached_property
    def replicate_runs(self) -> list[Any]:
        """The runs of all replicates; of those that are rows of their condition's run the tags."""
        rowed = self._each(lambda run: runs.rowed(self.client, run), self.condition_runs)
        return [*self.nested_runs, *chain.from_iterable(rowed)]

    def nested_by(self, tag: str) -> dict[str, list[Any]]:
        """The nested runs of replicates by one of their tags."""
        by_value: defaultdict[str, list[Any]] = defaultdict(list)
        for run in self.nested_runs:
            by_value[run.data.tags.get(tag, "")].append(run)
        return by_value

    @cached_property
    def listed(self) -> list[TrackedCondition]:
        """The conditions as their runs have them, without what their replicates left."""
        interrupted = runs.interrupted(self.client, self.experiment, self.condition_runs)
        return [conditions.from_run(self.name, run, interrupted) for run in self.condition_runs]

    @cached_property
    def conditions(self) -> list[TrackedCondition]:
        """The conditions with what their completed replicates left."""
        return self._each(self._with_replicates, self.condition_runs, self.listed)

    @cached_property
    def outlined(self) -> list[TrackedCondition]:
        """The conditions; of a large study with outlines in place of what replicates left."""
        if len(self.condition_runs) <= MANY:
            return self.conditions
        return self._each(self._outlined, self.condition_runs, self.listed)

    @cached_property
    def usage(self) -> list[ConditionUsage]:
        """What the conditions took: an artifact a condition, however many replicates there are.

        Raises
        ------
        ValueError
            A condition's replicates don't add up.
        """
        nested = self.nested_by("plenum.cell")

        def read(run: Any, condition: TrackedCondition) -> ConditionUsage:
            tags = run.data.tags
            target = int(tags.get("plenum.target", 0))
            every = [*nested.get(tags["plenum.cell"], ()), *runs.rowed(self.client, run)]
            by_number = {int(each.data.tags["plenum.replicate"]): each for each in every}
            wanted = [each for number, each in sorted(by_number.items()) if number < target]
            return usage.read(self.client, run, condition, wanted)

        return self._each(read, self.condition_runs, self.listed)

    @cached_property
    def provenance(self) -> dict[str, Provenance]:
        """Where each condition comes from, by its run."""
        nested = self.nested_by(_PARENT)

        def read(run: Any) -> Provenance:
            replicates = [*nested.get(run.info.run_id, ()), *runs.rowed(self.client, run)]
            versions = [name for each in (run, *replicates) for name in _version(each)]
            return _provenance(run, tuple(dict.fromkeys(versions)))

        each = self._each(read, self.condition_runs)
        return {run.info.run_id: one for run, one in zip(self.condition_runs, each, strict=True)}

    @cached_property
    def reruns(self) -> dict[str, list[TrackedCondition]]:
        """The conditions by identity, each as often as it was run, in order."""
        by_identity: defaultdict[str, dict[int, TrackedCondition]] = defaultdict(dict)
        for run, condition in zip(self.condition_runs, self.listed, strict=True):
            times = by_identity[condition.identity]
            target = int(run.data.tags.get("plenum.target", 0))
            if condition.rerun in times:  # one condition under two labels shares its journals
                target = max(target, times[condition.rerun].target)
            times[condition.rerun] = replace(condition, target=target)
        return {
            identity: [times[n] for n in sorted(times)] for identity, times in by_identity.items()
        }

    @contextmanager
    def transcripts(
        self, conditions: Collection[str] | None = None
    ) -> Iterator[dict[str, list[StoredTranscript]]]:
        """All transcripts by the run of their condition, in the order of replicates.

        Those that lie on this machine's disk stay where they are; a server's are fetched.

        Parameters
        ----------
        conditions
            The runs of some conditions, to have their transcripts alone.
        """
        parents = {run.info.run_id for run in self.condition_runs}
        parents &= parents if conditions is None else set(conditions)
        read = [run for run in self.condition_runs if run.info.run_id in parents]
        nested = self.nested_by(_PARENT)
        wanted = [each for run in read for each in nested.get(run.info.run_id, ())]
        wanted += chain.from_iterable(self._each(partial(runs.rowed, self.client), read))
        with tempfile.TemporaryDirectory() as scratch:
            archives = self._archives(parents, Path(scratch))
            by_parent: defaultdict[str, list[StoredTranscript]] = defaultdict(list)

            def located(run: Any) -> StoredTranscript:
                return self._transcript(run, archives, Path(scratch))

            for stored in self._each(located, wanted):
                if stored.path.exists():
                    by_parent[stored.parent].append(stored)
            yield {
                parent: sorted(stored, key=lambda transcript: transcript.replicate)
                for parent, stored in by_parent.items()
            }

    def _each(self, read: Callable[..., _Part], *arguments: Sequence[Any]) -> list[_Part]:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return list(pool.map(read, *arguments))

    def _with_replicates(self, run: Any, condition: TrackedCondition) -> TrackedCondition:
        if not (condition.completed and conditions.estimated(run)):
            return condition
        return replace(condition, **self._left(run))

    def _left(self, run: Any) -> dict[str, Any]:
        """What the completed replicates of a condition left: fields of its record."""

        def table(name: str) -> pd.DataFrame:
            file = f"{name}.parquet"
            return pd.read_parquet(BytesIO(runs.artifacts(self.client, run, [file])[file]))

        left: dict[str, Any] = KINDS[self.kind].part("tracked")(table, run.data.params)
        return left

    def _outlined(self, run: Any, condition: TrackedCondition) -> TrackedCondition:
        """A condition with an outline, where it has estimates.

        It has the numbers where this version of the code estimated it, and its replicates are
        neither branches nor read different wordings: runs don't hold all of these estimates.
        """
        if not (condition.completed and conditions.estimated(run)):
            return condition
        params, tags = run.data.params, run.data.tags
        version = code_version()
        known = (
            tags.get("plenum.version") == version
            and not version.endswith("-dirty")
            and tags.get("plenum.status") == "ok"
            and not {"variants", "branch.base"} & params.keys()
        )
        listed = replace(condition, options=tuple(params.get("options", "").split(" / ")))
        outline = Outline(
            run.data.metrics if known else {},
            tags.get("plenum.interval", ""),
            tuple(tags.get("plenum.warnings", "").split()),
            partial(self._left, run),
        )
        return replace(listed, outline=outline)

    def _archives(self, parents: Container[str], scratch: Path) -> dict[str, Path]:
        """The archives with the transcripts of replicates that are rows, by their condition's run.

        A server's are fetched.
        """

        def located(run: Any) -> Path:
            folder = scratch / f"{run.info.run_id}.rows"
            if store.folder(run.info.artifact_uri) is None:
                folder.mkdir()
            return runs.local_copy(self.client, run, rows.ARCHIVE, folder)

        rowed = [run for run in self.condition_runs if rows.TAG in run.data.tags]
        wanted = [run for run in rowed if run.info.run_id in parents]
        return dict(zip([w.info.run_id for w in wanted], self._each(located, wanted), strict=True))

    def _transcript(
        self, run: Any, archives: Mapping[str, Path], scratch: Path
    ) -> StoredTranscript:
        tags = run.data.tags
        replicate = int(tags["plenum.replicate"])
        parent, status = tags["mlflow.parentRunId"], tags["plenum.status"]
        path: Path | rows.Member
        if rows.is_row(run):
            path = rows.Member(archives[parent], rows.journal(replicate))
        else:
            folder = scratch / run.info.run_id
            if store.folder(run.info.artifact_uri) is None:
                folder.mkdir()
            name = f"transcript/{rows.journal(replicate)}"
            path = runs.local_copy(self.client, run, name, folder)
        return StoredTranscript(run.info.run_id, parent, replicate, status, path)


def exists(name: str, uri: str) -> bool:
    """Whether a study has been run."""
    try:
        runs.opened(name, uri)
    except UserError:
        return False
    return True


PUBLISHED = "published_"
"""What the names of studies begin with that were imported from the authors' released runs."""


def run_or_imported(names: Iterable[str], uri: str) -> dict[str, str]:
    """Studies of the papers that a store has: what each is called there.

    One that hasn't been run may have been imported from the authors' released runs.
    """
    stored = {name: [n for n in (name, PUBLISHED + name) if exists(n, uri)] for name in names}
    return {name: there[0] for name, there in stored.items() if there}


def log_report(study: str, uri: str, files: Sequence[Path]) -> None:
    """Log files and folders to the study's report run, which is made at the first time."""
    client = store.open_client(uri)
    with store.permitted(uri):
        experiment = store.experiment(client, uri, study)
        views.save(client, experiment)
        _log_report(client, experiment, files)


def _log_report(client: Any, experiment: str, files: Sequence[Path]) -> None:
    reports = runs.search(client, experiment, "tags.`plenum.kind` = 'report'")
    if reports:
        run = reports[0]
    else:
        tags = {"plenum.kind": "report", **views.source()}
        run = client.create_run(experiment, run_name="report", tags=tags)
    run_id = run.info.run_id
    if run.info.status != "FINISHED":  # a fresh one, or one whose first writer was killed
        client.set_terminated(run_id)
    for file in files:
        log = client.log_artifacts if file.is_dir() else client.log_artifact
        log(run_id, str(file), *[file.name] * file.is_dir())


def _provenance(run: Any, versions: tuple[str, ...]) -> Provenance:
    params = run.data.params
    seats = [entry.partition(":") for entry in params.get("models", "").split()]
    return Provenance(
        models=tuple((seat, model) for seat, _, model in seats),
        clerk=params.get("clerk", ""),
        options=params.get("options", ""),
        wordings=params.get("variants", ""),
        versions=versions,
        begun=datetime.fromtimestamp(run.info.start_time / 1000, UTC),
    )


def _version(run: Any) -> dict[str, None]:
    """The code version that wrote a run, as a set that keeps its order."""
    version = run.data.tags.get("plenum.version")
    return {version: None} if version else {}
