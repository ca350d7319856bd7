"""A study read back from MLflow, each of its parts when it is first used."""

import tempfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from plenum.base.errors import UserError
from plenum.base.project import code_version
from plenum.design.condition_names import name_conditions, shorten_settings, tell_apart
from plenum.design.kinds import KINDS, find_kind
from plenum.tracking import conditions, runs, stored_runs, transcripts, usage
from plenum.tracking.conditions import Outline, TrackedCondition
from plenum.tracking.provenance import Provenance, read_provenance
from plenum.tracking.stored_run import is_estimated
from plenum.tracking.transcripts import StoredTranscript
from plenum.tracking.usage import ConditionUsage

MANY = 500
"""Larger studies are read as outlines, and shown by their notable conditions."""

_Part = TypeVar("_Part")


class Study:
    """A study in a tracking store.

    Its conditions and what they hold are in the order of the sweep.

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
        self.client, experiment, self.condition_runs = runs.open_study(name, uri)
        self.experiment = str(experiment.experiment_id)
        self._tag = experiment.tags.get(stored_runs.KIND_TAG)

    @cached_property
    def kind(self) -> str:
        """The kind of its conditions, from the experiment's tag, else from the conditions' runs.

        Raises
        ------
        UserError
            It holds conditions of several kinds.
        """
        if self._tag:
            return str(self._tag)
        names = {find_kind(run.data.params).name for run in self.condition_runs}
        if len(names) > 1:
            held = " and ".join(sorted(KINDS[name].plural for name in names))
            raise UserError(f"study: {self.name!r} holds {held}; give each a study of its own")
        return names.pop()

    @cached_property
    def nested_runs(self) -> list[Any]:
        """The nested runs of replicates."""
        return runs.search_runs(self.client, self.experiment, runs.REPLICATES)

    def group_nested(self) -> dict[str, list[Any]]:
        """Group the nested runs of replicates by the run of their condition."""
        by_parent: defaultdict[str, list[Any]] = defaultdict(list)
        for run in self.nested_runs:
            by_parent[run.data.tags.get("mlflow.parentRunId", "")].append(run)
        return by_parent

    def _read_each(
        self, read: Callable[..., _Part], conditions: Sequence[Any], *more: Sequence[Any]
    ) -> list[_Part]:
        """Call ``read`` for each condition with its run and its replicates, nested or rows."""
        nested = self.group_nested()

        def call(run: Any, *given: Any) -> _Part:
            rowed = runs.read_rows(self.client, run)
            return read(run, [*nested.get(run.info.run_id, ()), *rowed], *given)

        return runs.each(call, conditions, *more)

    @cached_property
    def listed(self) -> list[TrackedCondition]:
        """The conditions as their runs describe them, without the data of their replicates."""
        interrupted = runs.count_interrupted(self.client, self.experiment, self.condition_runs)
        listed = [
            conditions.read_condition(self.name, run, interrupted) for run in self.condition_runs
        ]
        told = tell_apart([each.factors for each in listed], self._read_seats)
        own = shorten_settings([each.get("settings", "default") for each in told])
        return [
            replace(condition, factors=factors, name=name, settings=settings)
            for condition, factors, name, settings in zip(
                listed, told, name_conditions(told), own, strict=True
            )
        ]

    def _read_seats(self, at: int) -> tuple[dict[str, str], str]:
        """Read the models of the seats, and the config, which a condition has from its end on."""
        run, file = self.condition_runs[at], "config.yaml"
        config = runs.read_artifacts(self.client, run, [file]).get(file, b"")
        return dict(read_provenance(run, ()).models), config.decode()

    @cached_property
    def conditions(self) -> list[TrackedCondition]:
        """The conditions with the data of their completed replicates."""
        return runs.each(self._with_replicates, self.condition_runs, self.listed)

    @property
    def outlined(self) -> list[TrackedCondition]:
        """The conditions; of a large study with outlines instead of the replicates' data."""
        return self.conditions if len(self.condition_runs) <= MANY else self.outlines

    @cached_property
    def outlines(self) -> list[TrackedCondition]:
        """The conditions with outlines instead of the replicates' data."""
        return runs.each(self._add_outline, self.condition_runs, self.listed)

    @cached_property
    def usage(self) -> list[ConditionUsage]:
        """The usage of each condition, from one artifact a condition.

        Raises
        ------
        ValueError
            A condition's replicates don't add up.
        """
        read = partial(usage.read_study_usage, self.client)
        return self._read_each(read, self.condition_runs, self.listed)

    @cached_property
    def provenance(self) -> dict[str, Provenance]:
        """The provenance of each condition, by its run."""
        each = self._read_each(read_provenance, self.condition_runs)
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
        """Yield all transcripts by the run of their condition, in the order of replicates.

        Those on this machine's disk stay in place; a server's are downloaded.

        Parameters
        ----------
        conditions
            The runs of some conditions, to have their transcripts alone.
        """
        read = self.condition_runs
        if conditions is not None:
            read = [run for run in read if run.info.run_id in conditions]
        wanted = [*chain.from_iterable(self._read_each(lambda _, found: found, read))]
        with tempfile.TemporaryDirectory() as scratch:
            yield transcripts.fetch(self.client, read, wanted, Path(scratch))

    def _with_replicates(self, run: Any, condition: TrackedCondition) -> TrackedCondition:
        if not (condition.completed and is_estimated(run)):
            return condition
        return replace(condition, **self._read_completed(run))

    def _read_completed(self, run: Any) -> dict[str, Any]:
        """Read the data of a condition's completed replicates: fields of its record."""

        def table(name: str) -> pd.DataFrame:
            file = f"{name}.parquet"
            return pd.read_parquet(BytesIO(runs.read_artifacts(self.client, run, [file])[file]))

        left: dict[str, Any] = KINDS[self.kind].read_fields(table, run.data.params)
        # Kinds of packages of version 0.2 name their tables as fields.
        own = {name: value for name, value in left.items() if isinstance(value, pd.DataFrame)}
        return {"data": own, **{name: left[name] for name in left.keys() - own}}

    def _add_outline(self, run: Any, condition: TrackedCondition) -> TrackedCondition:
        """Add an outline to a condition that has estimates.

        It has the numbers if this version of the code estimated it, and its replicates are neither
        branches nor read different wordings, since runs don't hold all of these estimates.
        """
        if not (condition.completed and is_estimated(run)):
            return condition
        params, tags = run.data.params, run.data.tags
        version = code_version()
        # A dirty version names no one state of the code, so its numbers are computed again.
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
            partial(self._read_completed, run),
        )
        return replace(listed, outline=outline)


def exists(name: str, uri: str) -> bool:
    """Return whether a study has been run."""
    try:
        runs.open_study(name, uri)
    except UserError:
        return False
    return True
