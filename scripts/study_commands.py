"""`scripts/study.py`: list, rename, delete and restore studies, and drop conditions."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import pandas as pd
from omegaconf import DictConfig

from plenum.base.errors import UserError
from plenum.design.ranges import StrictSettings, StudyName, Text, require_one_of
from plenum.reports.settings import read_study_settings, store_uri
from plenum.show.formats import NONE, format_or_dash
from plenum.show.phrases import render
from plenum.show.table import Column, Table, make_keys
from plenum.show.terminal_tables import show_tables
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.runs import open_existing
from plenum.tracking.store import absolute_uri
from plenum.tracking.studies import (
    StoredStudy,
    delete_study,
    drop_condition,
    find_studies_by_folder,
    hold_journals,
    journals_size,
    list_studies,
    remove_journals,
    rename_study,
    restore_study,
)
from plenum.tracking.tracker import plan_file

ACTIONS = ("list", "delete", "restore")
"""Actions that a bare word names; ``rename=`` and ``drop=`` have a value."""

_COUNTED = (
    *map(Column, ("completed", "failed", "pending")),
    Column("written", "last written", lambda written: _time(written)),
)


@dataclass(frozen=True)
class Request(StrictSettings):
    """An action on a study.

    Attributes
    ----------
    action
        One of `ACTIONS`, ``rename`` or ``drop``.
    rename, drop
        The new name, and the condition.
    journals
        ``delete`` if journals that no other study of the store uses are removed too.
    folder
        The folder that holds the journals.
    yes
        True if it is done without a question.
    """

    uri: str
    study: Text
    action: str
    rename: StudyName | None = None
    drop: str | None = None
    journals: Literal["keep", "delete"] = "keep"
    folder: str = "mlruns/journals"
    yes: bool = False

    @property
    def value(self) -> str:
        """The new name, or the condition."""
        return self.rename or self.drop or ""


def request(cfg: DictConfig) -> Request:
    """Check the config of `scripts/study.py`.

    Raises
    ------
    UserError
        A value is missing, unknown, or doesn't fit the others.
    """
    wanted = read_study_settings(Request, cfg, uri=absolute_uri(store_uri(cfg)))
    require_one_of("action", wanted.action, ACTIONS)
    given = [] if wanted.action == "list" else [wanted.action]
    given += [key for key in ("rename", "drop") if getattr(wanted, key) is not None]
    if len(given) > 1:
        raise UserError(f"{given[1]}: one thing at a time, not {' and '.join(given)}")
    action = given[0] if given else "list"
    if not wanted.study and action != "list":
        raise UserError(f"study: missing; name the study, as in study=NAME {action}")
    if wanted.journals == "delete" and action not in ("delete", "drop"):
        raise UserError(f"journals: delete goes with delete and drop=, not with {action}")
    return replace(wanted, action=action)


def manage(request: Request) -> None:
    """Carry out a request, and print its consequences for the study and its journals.

    Raises
    ------
    UserError
        There is no such study or condition, another process writes the study, or nobody can be
        asked.
    """
    client = open_existing(request.uri)
    stored = list_studies(client) if client else []
    if not request.study:
        _print_studies(stored)
        return
    study = _find(stored, request)
    lie = Path(request.folder)
    if request.action == "list":
        _print_conditions(study, lie)
        return
    if request.action == "rename" and any(s.name == request.value and s.active for s in stored):
        raise UserError(f"rename: there is a study {request.value!r} already")
    gone = _gone(study, request)
    used = find_studies_by_folder(stored, study, gone)
    folders = list(dict.fromkeys(c.folders[0] for c in gone))
    free = [folder for folder in folders if folder not in used]
    removed = free if request.journals == "delete" else []
    with hold_journals(lie, request.uri, study.name, removed):
        for line in _consequences(
            study, request, gone, free, {f: used[f] for f in folders if f in used}
        ):
            print(line)
        _confirm(request)
        if removed:
            remove_journals(lie, removed)
        # What the last sweep wanted is no longer what the study has.
        plan_file(lie, request.uri, study.name).unlink(missing_ok=True)
        if request.action == "rename":
            rename_study(client, study, request.value)
        elif request.action == "restore":
            restore_study(client, study)
        elif request.action == "drop":
            drop_condition(client, study, gone[0])
        else:
            delete_study(client, study)
    print(f"done: {request.action} {study.name}")


def _find(stored: Sequence[StoredStudy], request: Request) -> StoredStudy:
    """Find the study of a request: in the trash for `restore`, else one that can be written to."""
    named = [study for study in stored if study.name == request.study]
    if request.action == "restore":
        matching = [study for study in named if study.deleted]
    else:  # deleting may have been broken off
        matching = [s for s in named if s.active and (request.action == "delete" or not s.deleted)]
    if request.action == "restore" and any(not study.deleted for study in named):
        raise UserError(
            f"study: {request.study!r} is there; rename it first, then restore the other"
        )
    if not matching:
        known = ", ".join(dict.fromkeys(s.name for s in stored if not s.deleted)) or "none"
        where = "in MLflow's trash" if request.action == "restore" else "here"
        more = f"; study={request.study} restore takes one out of MLflow's trash" if named else ""
        raise UserError(f"study: there is no {request.study!r} {where}; known: {known}{more}")
    return matching[-1]


def _gone(study: StoredStudy, request: Request) -> list[TrackedCondition]:
    """Select the conditions that leave the study."""
    if request.action != "drop":
        return list(study.conditions) if request.action == "delete" else []
    matching = [c for c in study.conditions if request.value in (c.identity, c.cell)]
    if not matching:
        ids = ", ".join(_ids(study)) or "none"
        raise UserError(f"drop: {study.name} has no condition {request.value!r}; it has {ids}")
    if len(matching) > 1:
        cells = " or ".join(f"{c.cell} ({c.name})" for c in matching)
        raise UserError(f"drop: {request.value} stands there under several labels; name {cells}")
    return matching


def _ids(study: StoredStudy) -> list[str]:
    """Name each condition by its identity, or by its cell if several share that."""
    identities = [c.identity for c in study.conditions]
    return [c.identity if identities.count(c.identity) == 1 else c.cell for c in study.conditions]


def _consequences(
    study: StoredStudy,
    request: Request,
    gone: Sequence[TrackedCondition],
    free: Sequence[str],
    used: Mapping[str, Sequence[str]],
) -> list[str]:
    """Describe the consequences for the study and its journals: removed ones, and those in use."""
    size = sum(journals_size(Path(request.folder) / folder) for folder in free)
    facts = {
        "study": study.name,
        "action": request.action,
        "value": request.value,
        "gone": gone,
        "ended": sum(c.completed + c.failed for c in gone),
        "free": free,
        "used": used,
        "journals": request.folder,
        "size": _size(size),
        "remove": request.journals == "delete",
    }
    return render("plenum.reports/managing.j2", **facts)


def _confirm(request: Request) -> None:
    """Ask before anything is changed.

    Raises
    ------
    UserError
        There is no terminal to ask on.
    """
    if request.yes:
        return
    if not sys.stdin.isatty():
        raise UserError("yes: nothing was changed; without a terminal to ask on add yes=true")
    if input("go on? [y/N] ").strip().lower() not in ("y", "yes"):
        print("nothing was changed")
        raise SystemExit(1)


def _print_studies(stored: Sequence[StoredStudy]) -> None:
    if not stored:
        print("no study yet")
        return
    lines = pd.DataFrame(
        {
            "study": study.name + (" (deleted)" if study.deleted else ""),
            "kind": " ".join(sorted({c.kind.plural for c in study.conditions})),
            "conditions": len(study.conditions),
            **_counts(study.conditions),
            "experiment": study.experiment,
        }
        for study in stored
    )
    columns = (
        *make_keys(["study"]),
        Column("kind", format=format_or_dash),
        Column("conditions"),
        *_COUNTED,
        Column("experiment"),
    )
    show_tables([Table("studies", "Studies", lines, columns)])


def _print_conditions(study: StoredStudy, journals: Path) -> None:
    sizes = {f: journals_size(journals / f) for c in study.conditions for f in c.folders[:1]}
    lines = pd.DataFrame(
        {
            "condition": name,
            "name": condition.name,
            "target": condition.target,
            **_counts([condition]),
            "journals": sizes[condition.folders[0]],
        }
        for name, condition in zip(_ids(study), study.conditions, strict=True)
    )
    columns = (
        *make_keys(["condition"]),
        Column("name"),
        Column("target"),
        *_COUNTED,
        Column("journals", format=_size),
    )
    title = f"Study {study.name}, MLflow experiment {study.experiment}"
    note = f"journals: {_size(sum(sizes.values()))} in {journals}/CONDITION"
    show_tables([Table("conditions", title, lines, columns, (note,))])


def _counts(conditions: Sequence[TrackedCondition]) -> dict[str, int]:
    sums = {n: sum(getattr(c, n) for c in conditions) for n in ("completed", "failed", "pending")}
    return {**sums, "written": max((c.written for c in conditions), default=0)}


def _time(written: int) -> str:
    """Format a time in milliseconds since 1970; a dash for none."""
    when = datetime.fromtimestamp(written / 1000, UTC)
    return when.strftime("%Y-%m-%d %H:%M UTC") if written else NONE


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"
