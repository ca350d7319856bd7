"""The progress of a study as a table in the terminal, or that of journals without a store."""

import math
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from omegaconf import DictConfig

from plenum.base.errors import UserError
from plenum.design.condition_names import name_conditions
from plenum.design.ranges import StrictSettings
from plenum.records.chain import DamagedJournal, verify_lines
from plenum.reports.progress import FolderProgress, StudyProgress, sum_up
from plenum.reports.settings import read_study_settings
from plenum.show.formats import format_count, format_dollars, format_number, format_tally
from plenum.show.table import Column, Table, make_keys
from plenum.show.terminal_tables import show_tables


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
    """Print the table, and lines of totals.

    Raises
    ------
    UserError
        There is no such study, or nothing in the journals.
    """
    notes = [
        "last activity: when a journal or call log was last written (- if none is on this machine)"
    ]
    if settings.uri:
        read = StudyProgress(settings.study, settings.uri, settings.journals).read()
        if not read["conditions"]:
            raise UserError(
                f"study: {settings.study!r} isn't in {settings.uri}, or nothing is begun"
            )
    else:
        conditions = _list_untracked(Path(settings.journals))
        read = {"conditions": conditions, "totals": sum_up(conditions)}
        notes.append(
            "target: by the last replicate that is begun; journals don't tell how many are wanted"
        )
    title = f"Study {settings.study}" if settings.uri else f"Journals in {settings.journals}"
    show_tables([_tabulate(title, read, notes)])
    print(_totals(read["totals"]))
    if settings.uri:
        print(_sweep(read))


def _tabulate(title: str, read: dict[str, Any], notes: list[str]) -> Table:
    """Make the table; columns that would be empty or 0 throughout are left out."""
    frame = pd.DataFrame(
        {
            **each,
            "condition": each["name"],
            "failed": None if each["failed"] is None else sum(each["failed"].values()),
            "decisions": format_tally(each["decisions"] or {}),
        }
        for each in read["conditions"]
    )
    met = [name for name in ("running", "damaged") if read["totals"][name]]
    counts = ("target", "completed", "failed", *met, "pending")
    known = frame["growth"].notna().any()
    estimated = Column("D", "D(t)", _distance), Column("growth", format=_growth)
    columns = (
        *make_keys(["condition"]),
        *(Column(name, format=format_count) for name in counts),
        *([Column("decisions")] if frame["decisions"].any() else []),
        *(estimated if known else []),
        Column("calls", format=format_count),
        Column(("dollars", "unpriced"), "dollars", _dollars),
        Column("idle_s", "last activity", _ago),
    )
    meant = (
        "D(t): distance of replicates in the last round; growth: how much a pair's grows a round"
    )
    return Table("status", title, frame, columns, (*([meant] if known else []), *notes))


def _list_untracked(journals: Path) -> list[dict[str, Any]]:
    """List the conditions that have journals, of any study."""
    conditions: list[dict[str, Any]] = []
    heads = []
    for folder in sorted({path.parent for path in journals.glob("*/[0-9]*.jsonl")}):
        *_, last = begun = sorted(folder.glob("[0-9]*.jsonl"))
        target = int(last.stem) + 1
        told = FolderProgress(folder).refresh().tell(target, running=False)
        conditions.append({"name": folder.name, "target": target, **told})
        heads.append(_read_head(begun[0]))
    if not conditions:
        raise UserError(f"journals: there are none in {journals}")
    names = iter(name_conditions([head for head in heads if head]))
    return [
        condition | ({"name": next(names)} if head else {})
        for condition, head in zip(conditions, heads, strict=True)
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


def _distance(level: list[float]) -> str:
    """Write the distance between replicates in the last round."""
    return format_number(level[-1], 3) if level else "-"


def _growth(growth: float | None) -> str:
    """Write how much a typical pair of replicates grows apart in a round."""
    return "-" if growth is None or pd.isna(growth) else f"{100 * math.expm1(growth):.1f} %"


def _totals(total: dict[str, Any]) -> str:
    """Sum up the conditions in one line; unknown counts aren't taken for 0."""
    parts = [f"{total[name]} {name}" for name in ("completed", "failed")]
    parts += [f"{total[name]} {name}" for name in ("running", "damaged") if total[name]]
    parts += [f"{total['pending']} pending"]
    parts += [f"{total['unknown']} unknown"] if total["unknown"] else []
    elsewhere, count = total["elsewhere"], total["conditions"]
    return (
        f"{count} condition{'s' if count > 1 else ''}: {total['target']} replicates"
        f" = {' + '.join(parts)}"
        f"; {_cost(total) if elsewhere < count else 'calls unknown'}"
        + (f" but for {elsewhere} of them" if 0 < elsewhere < count else "")
        + f"; last activity {_ago(total['idle_s'])}"
    )


def _cost(used: dict[str, Any]) -> str:
    """Describe calls and dollars; none of the latter is known where no answer had a price."""
    unpriced = used["unpriced"]
    known = f"${used['dollars']:.4f}" + (f" + {unpriced} unpriced" if unpriced else "")
    return f"{used['calls']} calls, {known if used['dollars'] or not unpriced else 'cost unknown'}"


def _sweep(read: dict[str, Any]) -> str:
    """Describe the sweep that runs or ran last, as far as its plan and its lock tell."""
    uncounted = "conditions that no sweep has begun aren't counted"
    planned = [each for each in read["conditions"] if each["planned"]]
    if not planned:
        return f"a sweep is running; {uncounted}" if read["running"] else uncounted
    size = f"{len(planned):,} condition{'s' if len(planned) != 1 else ''}"
    size += f", {sum(each['target'] for each in planned):,} replicates"
    told = [f"a sweep of {size} {'is running' if read['running'] else 'ran last'}"]
    if read["running"]:
        left = "can't be told yet" if read["left_s"] is None else f"about {_span(read['left_s'])}"
        told.append(f"time left {left}")
    limits = read["budget"]
    spent = read["totals"]["spent"]
    spent = spent | {"tokens": spent["tokens_in"] + spent["tokens_out"]}
    for name in ("dollars", "tokens", "calls"):
        if limits.get(name) is not None:
            told.append(f"{round(spent[name], 4):,} of {limits[name]:,} {name} spent")
    return "; ".join(told)


def _span(seconds: float) -> str:
    """Write a time in the largest unit that fits."""
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def _ago(seconds: float | None) -> str:
    """Write an age."""
    return "-" if seconds is None or pd.isna(seconds) else f"{_span(seconds)} ago"
