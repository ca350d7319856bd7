"""Exact reruns: comparison of the journals of a condition that was run again, byte by byte."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pandas as pd
from pydantic import BeforeValidator

from plenum.base.errors import UserError
from plenum.design.ranges import StrictSettings
from plenum.reports.labels import label_shared
from plenum.reports.rows import Row, list_shown_factors
from plenum.reports.settings import Out
from plenum.show.markdown import format_markdown
from plenum.show.table import Column, Table, format_csv, make_keys
from plenum.show.terminal_tables import show_tables
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.report_run import log_report
from plenum.tracking.study import Study
from plenum_hosted.diff import (
    DIFFERS,
    MISSING,
    OUTCOMES,
    PENDING,
    RerunComparison,
    compare_journals,
)

_LINES = 24
"""Number of differences that are printed; files list all of them. As many as a small terminal
has."""


def _find_journals(journals: object) -> Path:
    folder = Path(str(journals))
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}; run.py writes it where it runs")
    return folder


@dataclass(frozen=True)
class RerunSettings(StrictSettings):
    """The settings of `scripts/reruns.py`: a study in a store, its journals, an output folder."""

    study: str
    uri: str
    journals: Annotated[Path, BeforeValidator(_find_journals)]
    out: Out


@dataclass(frozen=True)
class ReplicateRerun:
    """A replicate of a condition, and how its rerun compares with the first run."""

    first: TrackedCondition
    again: TrackedCondition
    replicate: int
    files: tuple[Path, Path]
    comparison: RerunComparison

    def record(self, study: str) -> dict[str, object]:
        """Return the comparison as a row of the CSV."""
        d = self.comparison.difference
        entry = d.entry if d else {}
        return {
            "study": study,
            **self.first.factors,
            "condition": self.first.identity,
            "first": self.first.rerun,
            "rerun": self.again.rerun,
            "replicate": self.replicate,
            "outcome": self.comparison.outcome,
            "ended": self.comparison.ended,
            "first_file": str(self.files[0]),
            "rerun_file": str(self.files[1]),
            "offset": d.offset if d else None,
            "line": d.line if d else None,
            **{key: entry.get(key, "") for key in ("kind", "round", "seat")},
            "first_bytes": d.first if d else "",
            "rerun_bytes": d.second if d else "",
            "environment": " ".join(self.comparison.environment),
        }


def publish(settings: RerunSettings) -> int:
    """Compare every rerun of a study with the first run, and report the outcomes.

    Returns
    -------
    int
        The exit status: 0 if all replicates have ended in both runs with equal bytes except for the
        environment that they name, 1 if not.

    Raises
    ------
    UserError
        There is no such study, it holds no rerun, or nothing in it can be compared.
    """
    conditions = Study(settings.study, settings.uri).reruns
    lines = [line for runs in conditions.values() for line in _compare(runs, settings.journals)]
    if not lines:
        raise UserError(
            f"study: {settings.study!r} holds no rerun; run its conditions with rerun=0,1"
        )
    counts = Counter(line.comparison.outcome for line in lines)
    if counts.keys() <= {MISSING, PENDING}:
        raise UserError(
            f"study: no replicate of {settings.study!r} and its rerun have both ended in "
            f"{settings.journals} ({_format_counts(counts)})"
        )
    frame = pd.DataFrame([line.record(settings.study) for line in lines])
    details = [table for table in (_differences(lines), _environments(lines)) if len(table)]
    tables = [_conditions(frame, [line.first for line in lines]), *details]
    files = _write(settings, frame, tables)
    log_report(settings.study, settings.uri, files)
    show_tables([tables[0], *(table for table in details if len(table) <= _LINES)])
    failed = sum(line.comparison.ended == "failed" for line in lines)
    short = f"; {failed} of them failed, so that little was compared" if failed else ""
    replicates = "replicate" if len(lines) == 1 else "replicates"
    print(f"{len(lines)} {replicates} run again: {_format_counts(counts)}{short}")
    print(f"written: {', '.join(map(str, files))}")
    return int(any(counts[outcome] for outcome in (DIFFERS, PENDING, MISSING)))


def _compare(runs: Sequence[TrackedCondition], journals: Path) -> Iterator[ReplicateRerun]:
    """Compare every rerun of a condition with its first run."""
    first, *reruns = runs
    for again in reruns:
        # The larger number: a replicate that one of the two lacks counts as missing.
        for replicate in range(max(first.target, again.target)):
            name = f"{replicate:03d}.jsonl"
            files = (journals / first.folders[0] / name, journals / again.folders[0] / name)
            yield ReplicateRerun(first, again, replicate, files, compare_journals(*files))


def _format_counts(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])


def _write(settings: RerunSettings, frame: pd.DataFrame, tables: Sequence[Table]) -> list[Path]:
    settings.out.mkdir(parents=True, exist_ok=True)
    files = [settings.out / "reruns.csv", settings.out / "reruns.md"]
    # Numbers with gaps would be floats, and be written with a point.
    counted = frame.astype({"offset": "Int64", "line": "Int64"})
    files[0].write_text(format_csv(counted), encoding="utf-8")
    text = "\n".join(map(format_markdown, tables))
    files[1].write_text(f"# Reruns of study {settings.study}\n\n{text}", encoding="utf-8")
    return files


def _conditions(frame: pd.DataFrame, conditions: Sequence[TrackedCondition]) -> Table:
    """Return a table of outcomes counted by condition and rerun."""
    rows = [Row(condition, None) for condition in conditions]
    names = list_shown_factors(rows)
    counted = frame.assign(**{outcome: frame["outcome"].eq(outcome) for outcome in OUTCOMES})
    groups = counted.groupby(["condition", "first", "rerun"], sort=False, as_index=False)
    sums = dict.fromkeys(OUTCOMES, "sum")
    summary = groups.agg({**dict.fromkeys(names, "first"), "replicate": "size", **sums})
    columns = (
        *make_keys(names),
        Column(("first", "rerun"), "runs", lambda first, again: f"{first}, {again}"),
        Column("replicate", "replicates"),
        *(Column(outcome) for outcome in OUTCOMES),
    )
    notes = (
        "artifact-identical: the journals have equal bytes; environment: equal but for the "
        "environments that they name; pending: equal so far, one hasn't ended",
        "journals alone are compared: calls.jsonl says when and how fast",
        f"backend: {', '.join(frame['backend'].unique())}",
    )
    title = f"Reruns ({label_shared(rows, names)})"
    return Table("reruns", title, summary, columns, notes)


def _differences(lines: Sequence[ReplicateRerun]) -> Table:
    """Return a table of where each journal first differs."""
    records = [
        {
            "journal": f"{line.again.folders[0]}/{line.replicate:03d}.jsonl",
            "place": d.place,
            **vars(d),
        }
        for line in lines
        if (d := line.comparison.difference) is not None
    ]
    columns = (
        *make_keys(["journal"]),
        Column("offset", "byte"),
        Column("line"),
        Column("place", "entry"),
        Column(("first", "second"), "excerpts", lambda first, again: f"{first}\n{again}"),
    )
    notes = ("byte: before it in the first run's journal; excerpts: first run above, rerun below",)
    return Table("differences", "First differing bytes", pd.DataFrame(records), columns, notes)


def _environments(lines: Sequence[ReplicateRerun]) -> Table:
    """Return a table that warns of journals from different environments."""
    counts = Counter(
        (key, *values) for line in lines for key, values in line.comparison.environment.items()
    )
    records = [(*named, count) for named, count in counts.items()]
    columns = (*make_keys(["key"]), *map(Column, ("first run", "rerun", "replicates")))
    frame = pd.DataFrame(records, columns=[column.names[0] for column in columns])
    notes = ("equal bytes are promised within one environment only",)
    return Table("environments", "Warning: the environments differ", frame, columns, notes)
