"""The progress of a study, read from its journals while a sweep writes them, or from tracking."""

import math
import re
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from omegaconf import DictConfig

from plenum.base.errors import UserError
from plenum.base.file_locks import is_locked
from plenum.base.identity import name_folder
from plenum.design.condition_names import name_conditions
from plenum.design.ranges import StrictSettings
from plenum.records.chain import DamagedJournal, verify_lines
from plenum.reports.settings import read_study_settings
from plenum.show.formats import format_count, format_dollars, format_number
from plenum.show.table import Column, Table, make_keys
from plenum.show.terminal_tables import show_tables
from plenum.tracking.conditions import read_rerun
from plenum.tracking.store import absolute_uri
from plenum.tracking.stored_run import StoredRun
from plenum.tracking.stored_runs import list_stored_conditions
from plenum.tracking.tracker import lock_file

_COST = re.compile(rb'"cost":([0-9.eE+-]+)')
_END = re.compile(rb'\{"kind":"end".*"status":"(completed|failed)"')
_UNPRICED = b'"cost":null'
_COUNTS = ("completed", "failed", "pending", "calls", "dollars")


@dataclass(frozen=True)
class StatusSettings(StrictSettings):
    """The settings of ``scripts/status.py``: a study in a store, and the path of its journals.

    Without a store, study and ``uri`` are empty.
    """

    study: str
    uri: str
    journals: str


def settings(cfg: DictConfig) -> StatusSettings:
    """Check the config of ``scripts/status.py``.

    Raises
    ------
    UserError
        The study of a store isn't named.
    """
    none = {"study": "", "uri": ""} if cfg.tracking.name == "none" else {}
    return read_study_settings(StatusSettings, cfg, **none)


def show_study(settings: StatusSettings) -> None:
    """Print the table, and one line of totals.

    Raises
    ------
    UserError
        There is no such study, or nothing in the journals.
    """
    frame = pd.DataFrame(
        _list_stored(settings) if settings.uri else _list_untracked(settings.journals)
    )
    columns = (
        *make_keys(["condition"]),
        *(Column(name, format=format_count) for name in ("target", *_COUNTS[:-1])),
        Column(("dollars", "unpriced"), "dollars", _dollars),
        Column("idle_s", "last activity", _ago),
    )
    notes = [
        "last activity: when a journal or call log was last written (- if none is on this machine)"
    ]
    if not settings.uri:
        notes.append(
            "target: by the last replicate that is begun; journals don't tell how many are wanted"
        )
    title = f"Study {settings.study}" if settings.uri else f"Journals in {settings.journals}"
    show_tables([Table("status", title, frame, columns, tuple(notes))])
    print(_totals(frame))
    if settings.uri:
        print(_sweep(settings))


def _list_stored(settings: StatusSettings) -> list[dict[str, Any]]:
    """List the conditions of a study, a line each."""
    conditions = list_stored_conditions(settings.study, absolute_uri(settings.uri))
    if not conditions:
        raise UserError(f"study: {settings.study!r} isn't in {settings.uri}, or nothing is begun")
    return [_line(each, settings.journals) for each in conditions]


def _list_untracked(journals: str) -> list[dict[str, Any]]:
    """List the conditions that have journals, a line each, of any study."""
    lines: list[dict[str, Any]] = []
    heads = []
    for condition in sorted({path.parent for path in Path(journals).glob("*/[0-9]*.jsonl")}):
        *_, last = begun = sorted(condition.glob("[0-9]*.jsonl"))
        target = int(last.stem) + 1
        counts = _count(condition, target)
        lines.append({"condition": condition.name, "target": target, **counts})
        heads.append(_read_head(begun[0]))
    if not lines:
        raise UserError(f"journals: there are none in {journals}")
    names = iter(name_conditions([head for head in heads if head]))
    return [
        line | ({"condition": next(names)} if head else {})
        for line, head in zip(lines, heads, strict=True)
    ]


def _read_head(journal: Path) -> dict[str, Any]:
    """Read the first line of a journal, which says its condition; empty if it can't be read."""
    with suppress(DamagedJournal), journal.open("rb") as lines:
        for head in verify_lines(journal, lines.readline())[0]:
            return dict(head)
    return {}


def _dollars(cost: float, unpriced: float) -> str:
    """Format a cost with four decimals; unknown if no answer had a price."""
    if unpriced and not pd.isna(unpriced):
        return format_dollars(cost, int(unpriced))
    return format_number(cost, 4)


def _totals(frame: pd.DataFrame) -> str:
    """Sum up the conditions in one line; unknown counts aren't taken for 0."""
    total = frame[["target", *_COUNTS]].sum()
    unknown = frame.loc[frame["completed"].isna(), "target"].sum()
    unpriced = int(frame["unpriced"].sum()) if "unpriced" in frame else 0
    known = f"${total.dollars:.4f}" + (f" + {unpriced} unpriced" if unpriced else "")
    known = known if total.dollars or not unpriced else "cost unknown"
    cost = f"{total.calls:.0f} calls, {known}"
    elsewhere = int(frame["calls"].isna().sum())
    return (
        f"{len(frame)} condition{'s' if len(frame) > 1 else ''}: {total.target:.0f} replicates"
        f" = {total.completed:.0f} completed"
        f" + {total.failed:.0f} failed + {total.pending:.0f} pending"
        + (f" + {unknown:.0f} unknown" if unknown else "")
        + f"; {cost if elsewhere < len(frame) else 'calls unknown'}"
        + (f" but for {elsewhere} of them" if 0 < elsewhere < len(frame) else "")
        + f"; last activity {_ago(frame['idle_s'].min())}"
    )


def _sweep(settings: StatusSettings) -> str:
    """Describe the sweep that runs or ran last, as far as its lock file tells."""
    uncounted = "conditions that no sweep has begun aren't counted"
    lock = lock_file(Path(settings.journals), absolute_uri(settings.uri), settings.study)
    if not lock.exists() or not (size := lock.read_text(encoding="utf-8")):
        return uncounted
    return f"a sweep of {size} {'is running' if is_locked(lock) else 'ran last'}; {uncounted}"


def _line(condition: StoredRun, journals: str) -> dict[str, Any]:
    """Describe a condition as a line of the table."""
    name = name_folder(condition.tags["plenum.condition"], read_rerun(condition.params))
    here = Path(journals) / name
    counted = _count(here, condition.target) if here.is_dir() else _read_tracked(condition)
    return {"condition": condition.run_name, "target": condition.target, **counted}


def _read_tracked(condition: StoredRun) -> dict[str, Any]:
    """Read the counts of a condition whose journals are elsewhere: none until it is over."""
    counts = {
        name: condition.metrics.get(f"n_{name}", math.nan)
        for name in ("completed", "failed", "pending")
    }
    return {**counts, "calls": None, "dollars": None, "unpriced": None, "idle_s": None}


def _count(condition: Path, target: int) -> dict[str, Any]:
    """Count the journals of a condition; those beyond the target belong to an earlier one."""
    files = [path for path in condition.glob("[0-9]*.jsonl") if int(path.stem) < target]
    ended: Counter[str] = Counter()
    calls, dollars, unpriced = 0, 0.0, 0
    for path in files:
        data = path.read_bytes()
        if match := _END.match(data[data.rfind(b"\n", 0, -1) + 1 :]):
            ended[match[1].decode()] += 1
        costs = _COST.findall(data)
        calls += data.count(b'"tokens_in":')
        dollars += sum(map(float, costs))
        unpriced += data.count(_UNPRICED)
    written = [path.stat().st_mtime for path in (*files, *condition.glob("calls*.jsonl"))]
    return {
        "completed": ended["completed"],
        "failed": ended["failed"],
        "pending": target - ended.total(),
        "calls": calls,
        "dollars": dollars,
        "unpriced": unpriced,
        "idle_s": time.time() - max(written) if written else None,
    }


def _ago(seconds: float | None) -> str:
    """Write an age in the largest unit that fits."""
    if seconds is None or pd.isna(seconds):
        return "-"
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit} ago"
    return f"{max(seconds, 0):.0f} s ago"
