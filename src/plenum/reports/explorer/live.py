"""The data of a live page: a study as its journals and the store have it at this moment."""

import json
import threading
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum.base.identity import digest
from plenum.design.kinds import KINDS
from plenum.records.transcript import read_head
from plenum.reports.explorer.contents import (
    Explorer,
    draw_condition,
    make_index,
    name_keys,
    read_replicates,
)
from plenum.reports.progress import StudyProgress
from plenum.reports.settings import Settings
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.study import Study
from plenum.tracking.transcripts import StoredTranscript

_KEPT = 4
"""Conditions whose blocks are kept as they were sent."""

_Blocks = dict[str, bytes]


class Outdated(Exception):
    """Raised if a page asks by an index that its server no longer has."""


class LiveStudy:
    """The blocks of a page, made when they are asked for.

    Parameters
    ----------
    chosen
        The study, and the settings of its estimates.
    journals
        The folder of its journals.
    """

    def __init__(self, chosen: Settings, journals: Path) -> None:
        self._chosen, self._journals = chosen, journals
        self.name = chosen.study
        self._progress = StudyProgress(chosen.study, chosen.uri, journals)
        self._lock, self._watching = threading.Lock(), threading.Lock()
        self._estimates: dict[str, tuple[object, Any]] = {}
        self._indices: dict[str, tuple[Study, list[TrackedCondition], list[Any]]] = {}
        self._blocks: dict[str, tuple[object, _Blocks]] = {}

    @cached_property
    def explorer(self) -> Explorer:
        """The explorer of the study's kind."""
        kind = self._progress.kind or Study(self._chosen.study, self._chosen.uri).kind
        return KINDS[kind].explore()

    def read(self, block: str, revision: str) -> bytes:
        """Return a block as JSON.

        Parameters
        ----------
        block
            Its id: ``watch``, ``index``, ``figures-N`` or ``talk-N``.
        revision
            Of the index in which ``N`` counts.

        Raises
        ------
        KeyError
            There is no such block.
        Outdated
            The server doesn't know the index: it was started anew.
        """
        if block == "watch":
            with self._watching:  # by itself: of a large study the first look takes long
                return _encode(self._progress.read())
        with self._lock:  # a page asks for several at once, and one makes what another needs
            if block == "index":
                return _encode(self._read_index())
            part, _, number = block.partition("-")
            if part not in ("figures", "talk") or not number.isdecimal():
                raise KeyError(block)
            # Conditions get other numbers as a sweep begins more of them.
            if revision not in self._indices:
                raise Outdated
            study, conditions, estimates = self._indices[revision]
            if int(number) >= len(conditions):
                raise KeyError(block)
            at = int(number)
            return self._read_condition(study, conditions[at], estimates[at])[part]

    def _read_index(self) -> dict[str, Any]:
        """Read the list of conditions that are in the store by now."""
        try:
            study = Study(self._chosen.study, self._chosen.uri)
        except UserError:  # nothing has been tracked yet
            nothing: dict[str, Any] = {key: [] for key in ("conditions", "differing", "common")}
            nothing |= {"study": self._chosen.study, "provenance": "", "axis": "", "meanings": {}}
            return nothing | {"revision": ""}
        conditions = study.outlines
        estimates = self._estimate(conditions)
        entries = []
        for condition, estimated, name in zip(
            conditions, estimates, name_keys(conditions), strict=True
        ):
            files = self._list_journals(condition)
            head = read_head(files[0]) if files else {}
            entry = self.explorer.describe(estimated, name, head)
            if entry["status"] == "no_estimates" and self._progress.running:
                entry |= {"status": "running", "warnings": []}  # it wasn't interrupted
            entries.append(entry | {"transcripts": len(files) or condition.completed})
        revision = digest([condition.run_id for condition in conditions])
        before = dict([*self._indices.items()][-1:])  # a second page may still count in it
        self._indices = before | {revision: (study, conditions, estimates)}
        axis = self.explorer.name_axis(entries)
        made = make_index(self._chosen.study, conditions, entries, axis)
        return made | {"revision": revision}

    def _estimate(self, conditions: Sequence[TrackedCondition]) -> list[Any]:
        """Estimate conditions, each once as long as it doesn't change."""
        # All that changed at once: many are estimated by several processes.
        states = {c.run_id: (c.written, c.completed, c.outline is None) for c in conditions}
        changed = [
            c for c in conditions if self._estimates.get(c.run_id, (None,))[0] != states[c.run_id]
        ]
        for condition, estimated in zip(
            changed, self.explorer.estimate(changed, self._chosen), strict=True
        ):
            self._estimates[condition.run_id] = states[condition.run_id], estimated
        return [self._estimates[condition.run_id][1] for condition in conditions]

    def _list_journals(self, condition: TrackedCondition) -> list[Path]:
        """List the journals of a condition on this machine, those that it wants."""
        folder = self._journals / condition.folders[0]
        files = sorted(folder.glob("[0-9]*.jsonl"), key=lambda file: int(file.stem))
        return [file for file in files if int(file.stem) < condition.target]

    def _read_condition(self, study: Study, condition: TrackedCondition, estimated: Any) -> _Blocks:
        """Read figures and talk of a condition, if its journals changed since the last time."""
        files = self._list_journals(condition)
        state = condition.written, [(file.name, file.stat().st_mtime_ns) for file in files]
        known = self._blocks.pop(condition.run_id, None)
        if known is None or known[0] != state:
            known = state, self._make_blocks(study, condition, estimated, files)
        self._blocks[condition.run_id] = known  # the latest is last
        for oldest in [*self._blocks][:-_KEPT]:
            del self._blocks[oldest]
        return known[1]

    def _make_blocks(
        self, study: Study, condition: TrackedCondition, estimated: Any, files: Sequence[Path]
    ) -> _Blocks:
        """Make them of the journals on this machine, else of the transcripts in the store."""
        run = condition.run_id
        # Journals are ahead of the store, which gets a replicate when it has ended.
        here = {
            int(file.stem): StoredTranscript("", run, int(file.stem), "", file) for file in files
        }
        records, head, talk = read_replicates(self.explorer, [*here.values()], None)
        counts = Counter(record["status"] for record in records)
        # Of one that was damaged or deleted here the store has the transcript.
        if not files or counts["damaged"] or counts["completed"] < condition.completed:
            sound = {r["n"]: here[r["n"]] for r in records if r["status"] != "damaged"}
            with study.transcripts([run]) as kept:
                every = here | {each.replicate: each for each in kept.get(run, ())} | sound
                stored = [every[n] for n in sorted(every)]
                records, head, talk = read_replicates(self.explorer, stored, None)
            counts = Counter(record["status"] for record in records)
        figures = draw_condition(self.explorer, self._chosen, estimated, head, records)
        told = {"n": counts["completed"], "failed": counts["failed"], "damaged": counts["damaged"]}
        told["pending"] = condition.target - sum(told.values())
        return {"figures": _encode({**figures, "counts": told}), "talk": _encode(talk)}


def _encode(block: Any) -> bytes:
    return json.dumps(block, separators=(",", ":"), allow_nan=False).encode("ascii")
