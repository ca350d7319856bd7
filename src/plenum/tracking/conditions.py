"""A condition of a study as the tracking store holds it: one record for every kind."""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from plenum.base.identity import name_folder
from plenum.base.moved import warn_once
from plenum.design.factors import USUAL
from plenum.design.kinds import Kind, find_kind
from plenum.records.transcript import WHO, Transcript, collect_environments, list_answerers
from plenum.tracking.stored_run import is_estimated

_OF_02 = ("metrics", "rounds", "weights")
_OLDER = {"protocol": USUAL["protocol"]}
"""The values of factors before runs had them as params."""


@dataclass(frozen=True)
class Outline:
    """A condition's recorded numbers, used instead of its replicates in large studies.

    Attributes
    ----------
    metrics, interval, warnings
        As this very version of the code wrote them; no metrics where another one did.
    replicates
        Reads what the replicates left: fields of the condition's record.
    """

    metrics: Mapping[str, float]
    interval: str
    warnings: tuple[str, ...]
    replicates: Callable[[], Mapping[str, Any]]


@dataclass(frozen=True)
class TrackedCondition:
    """A condition as the tracking store has it.

    What its replicates left is there where it has been run to its estimates, and was asked for.

    Attributes
    ----------
    factors
        The design factors by name; of a condition in a world the world's among them.
    target, completed, failures
        Replicates; failures by reason. What is in none of them is pending.
    preferences
        Of the completed replicates of a committee, shape (replicates, rounds, seats, options).
    decisions
        Of the completed replicates.
    tally
        How many completed replicates decided for what, as the condition's run says; empty where it
        doesn't, as in runs of earlier versions.
    seats
        Names along the third axis of ``preferences``.
    bases
        Of branches: the base that each replicate continues, shape (replicates,).
    after_round
        Of branches: the round after which they part.
    simulated
        True if agents were simulated, by the backend or by the server that answered.
    indices
        The numbers of the completed replicates.
    variants, families, repetitions
        Of a perturbed condition: the wording that each completed replicate read, its family, and
        how often the replicates before it went through all wordings.
    environments
        Digests of the environments that the replicates ran in, where a backend names it.
    answerers
        Who answered each completed replicate, by ``answered_by``, ``host`` and ``fingerprint``, as
        far as providers say it.
    tiny
        True if the model that ships with the project was called, under whatever label.
    options
        Names of the options, along the last axis of ``preferences``; none where they aren't known.
    votes
        Of a committee: indices of the options that seats voted for, shape (replicates, seats),
        negative for none; empty where an earlier version tracked it.
    answer
        Of a committee whose case has one: the label of the right option.
    said
        The share of private facts that were said in each completed replicate; none without any.
    data
        The tables of its kind, by name.
    cell, name
        What identifies it under its labels, and what varies in its study; two cells may share an
        identity, and with it the journals.
    settings
        Its settings without those that all conditions of its study have.
    base
        Of branches: the identity of the condition that they branch off.
    published
        Of published runs that were imported: the repository and its commit; empty for runs that
        plenum played.
    written
        When its run was last ended or begun, in milliseconds since 1970.
    outline
        Of a condition of a large study: what stands for the arrays, which are read when needed.
    """

    study: str
    identity: str
    run_id: str
    factors: dict[str, str]
    target: int
    completed: int
    failures: dict[str, int]
    preferences: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0, 0, 0)))
    decisions: tuple[str, ...] = ()
    votes: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 0), int))
    answer: str = ""
    said: tuple[float, ...] = ()
    tally: Mapping[str, int] = field(default_factory=dict)
    seats: tuple[str, ...] = ()
    bases: tuple[int, ...] = ()
    after_round: int = 0
    simulated: bool = False
    indices: tuple[int, ...] = ()
    variants: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    repetitions: tuple[int, ...] = ()
    environments: tuple[str, ...] = ()
    answerers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tiny: bool = False
    options: tuple[str, ...] = ()
    data: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    cell: str = ""
    name: str = ""
    settings: str = ""
    base: str = ""
    published: str = ""
    written: int = 0
    outline: Outline | None = None

    @property
    def failed(self) -> int:
        """Failed replicates."""
        return sum(self.failures.values())

    @property
    def pending(self) -> int:
        """Replicates that have not ended."""
        return self.target - self.completed - self.failed

    @property
    def kind(self) -> Kind:
        """The kind of condition."""
        return find_kind(self.factors)

    @property
    def folders(self) -> tuple[str, ...]:
        """The names of the folders with its journals: its own, and that of its base."""
        identities = (self.identity, self.base) if self.base else (self.identity,)
        return tuple(name_folder(identity, self.rerun) for identity in identities)

    @property
    def perturbed(self) -> bool:
        """True if the replicates read different wordings."""
        return self.factors.get("perturbation", "none") != "none"

    @property
    def rerun(self) -> int:
        """The number of the rerun: 0 for the first run."""
        return read_rerun(self.factors)

    @property
    def ensemble(self) -> NDArray[np.float64]:
        """Committee mean preferences, shape (replicates, rounds, options)."""
        return np.asarray(np.nanmean(self.preferences, axis=2))

    @property
    def whole(self) -> "TrackedCondition":
        """The condition with the data of its replicates."""
        if self.outline is None:
            return self
        return replace(self, outline=None, **self.outline.replicates())

    @property
    def played(self) -> tuple[int, int]:
        """Rounds and options of its ensemble; 0 and 0 if there is none."""
        if self.outline is not None:
            return int(self.factors["rounds"]), len(self.options)
        return self.preferences.shape[1], self.preferences.shape[3]

    if not TYPE_CHECKING:  # packages of version 0.2 read their tables as attributes

        def __getattr__(self, name: str) -> pd.DataFrame:
            if name not in _OF_02:
                raise AttributeError(name)
            warn_once(
                f"deprecated: an installed package reads {name} of a condition, which is "
                f"data[{name!r}] now; names of version 0.2 are found until 0.5"
            )
            return self.data.get(name, pd.DataFrame())


def read_condition(study: str, run: Any, interrupted: dict[str, Counter[str]]) -> TrackedCondition:
    """Make a condition from its run, without the data in its artifacts.

    Parameters
    ----------
    interrupted
        As :func:`attrition` takes it.
    """
    tags, params = run.data.tags, run.data.params
    target, completed, failures = attrition(run, interrupted)
    return TrackedCondition(
        study=study,
        identity=tags["plenum.condition"],
        run_id=run.info.run_id,
        factors=read_factors(run),
        target=target,
        completed=completed,
        failures=failures,
        after_round=int(params.get("branch.after_round", 0)),
        tally=json.loads(tags.get("plenum.decisions", "{}")),
        simulated=is_simulated(params, tags),
        environments=tuple(tags.get("plenum.environment", "").split()),
        tiny=any(word.endswith(":tiny") for word in params.get("models", "").split()),
        cell=tags["plenum.cell"],
        name=str(run.info.run_name),
        base=params.get("branch.base", ""),
        published=params.get("published", ""),
        written=time_written(run),
    )


def time_written(run: Any) -> int:
    """Return the time when a run was last ended or begun, in milliseconds since 1970."""
    return int(run.info.end_time or run.info.start_time or 0)


def read_factors(run: Any) -> dict[str, str]:
    """Read the design factors of a condition's run, by name."""
    params = run.data.params
    names = find_kind(params).factors
    return {name: params.get(name, _OLDER.get(name, "")) for name in names}


def read_rerun(factors: dict[str, str]) -> int:
    """Read the number of the rerun from a condition's settings; 0 if they have none."""
    named = re.search(r"(?:^| )rerun=(\d+)(?: |$)", factors.get("settings", ""))
    return int(named[1]) if named else 0


def is_simulated(params: dict[str, str], tags: dict[str, str]) -> bool:
    """Return whether the agents of a condition with these params and tags were simulated."""
    return params.get("backend") == "simulated" or tags.get("plenum.simulated") == "true"


def attrition(run: Any, interrupted: dict[str, Counter[str]]) -> tuple[int, int, dict[str, int]]:
    """Count the replicates that a condition wants and has completed, and its failures by reason.

    Parameters
    ----------
    interrupted
        Replicates by status and by cell, of the conditions without estimates.
    """
    tags, metrics = run.data.tags, run.data.metrics
    if is_estimated(run):
        failures = json.loads(tags["plenum.failures"])
        return int(metrics["n_target"]), int(metrics["n_completed"]), failures
    ended = interrupted[tags["plenum.cell"]]
    failures = {k: n for k, n in ended.items() if k not in ("completed", "pending")}
    completed = ended["completed"]
    # A command that was broken off may have asked for fewer replicates than an earlier one had
    # ended, and pending ones must not become negative.
    target = max(int(tags.get("plenum.target", 0)), completed + sum(failures.values()))
    return target, completed, failures


def tabulate_replicates(transcripts: Sequence[Transcript]) -> pd.DataFrame:
    """Make the table of replicates, with status, decision, wording and totals of each."""
    rows = []
    for t in transcripts:
        end = t.end or {}
        rows.append(
            {
                "replicate": t.head["replicate"],
                "status": t.status,
                "reason": t.reason or "",
                "decision": t.decision or "",
                "clerk_agrees": end.get("clerk_agrees"),
                "variant": t.head.get("variant", ""),
                "family": t.head.get("family", ""),
                "environment": " ".join(collect_environments([t])),
                **t.totals(),
                **list_answerers(t),
            }
        )
    frame = pd.DataFrame(rows)
    # Providers say who answered in some replicates only; NaN beside texts would become a name.
    known = frame.columns.intersection([*WHO])
    return frame.assign(**frame[known].fillna(""))
