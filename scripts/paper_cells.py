"""The released runs by condition, as arrays, and what the papers measure of them."""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from plenum.base.errors import UserError
from plenum.dynamics.lyapunov import lyapunov
from plenum.dynamics.majority import time_to_majority
from plenum_papers.published.catalogue import PublishedFile, Release
from plenum_papers.published.conditions import PublishedCondition, load

Floats = NDArray[np.float64]
Key = tuple[str, ...]

FACTORS = ("scenario", "roles", "model", "memory", "temperature", "perturbation")


@dataclass(frozen=True)
class Cell:
    """The runs of a condition as arrays."""

    condition: PublishedCondition

    @cached_property
    def preferences(self) -> Floats:
        """Preferences, shape (replicates, rounds, seats, options)."""
        runs = [self.condition.runs[index] for index in sorted(self.condition.runs)]
        source = self.condition.source
        flat = np.array([[turn.pref for turn in run.run.turns] for run in runs])
        return flat.reshape(len(runs), source.rounds, source.agents, -1)

    @cached_property
    def decisions(self) -> Counter[str]:
        """Counts of the decisions that the clerk named."""
        runs = self.condition.runs.values()
        return Counter(each.run.final_decision.decision for each in runs)

    def within(self, family: str) -> "Cell":
        """Return the runs that read the wordings of a family, the canonical one left out."""
        runs = {n: run for n, run in self.condition.runs.items() if run.family == family}
        if not runs:
            raise NoFileError(f"wordings {family}")
        return Cell(replace(self.condition, runs=runs))


def growth(cell: Cell) -> float:
    """Return λ̂ of the committee means over rounds 3 to 20."""
    return lyapunov(cell.preferences.mean(axis=2)).value


def off_plurality(cell: Cell) -> float:
    """Return the share of decisions other than the most frequent one."""
    return 1 - max(cell.decisions.values()) / cell.decisions.total()


def majority_round(cell: Cell) -> float:
    """Return the median round of the first majority.

    Without a majority it is the last round; of tied options the first counts.
    """
    return float(np.median(time_to_majority(cell.preferences, ties="first").times))


def replicates(cell: Cell) -> float:
    """Return the number of completed runs in the file."""
    return len(cell.condition.runs)


Cells = Mapping[Key, Cell]
"""Runs by condition; one that the clone lacks raises :class:`NoFileError`."""


class NoFileError(LookupError):
    """Raised if the clone lacks the files from which to recompute a value."""


class _CellsByKey(dict[Key, Cell]):
    """Cells by condition."""

    def __missing__(self, key: Key) -> Cell:
        raise NoFileError(" ".join(key))


def load_cells(release: Release) -> Cells:
    """Return the first file of each condition; a replication's runs are left out."""
    cells: dict[Key, PublishedFile] = {}
    for study in release.studies:
        with suppress(UserError):  # of which the clone has nothing
            for file in release.selection(study).files:
                if (file.rounds, file.agents) == (20, 5):
                    cells.setdefault(_key(file), file)
    read = cache(lambda file: Cell(load(release, file)))
    return _CellsByKey({key: read(file) for key, file in cells.items()})


def _key(file: PublishedFile) -> Key:
    return tuple(getattr(file, factor) for factor in FACTORS)
