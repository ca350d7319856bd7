"""Logs of existing runs: their decisions become journals, and nothing is called.

Verdicts and reports on them are those of any program. The backend ``logs`` says that nothing in
these runs was controlled: neither their order, nor settings, nor shared state.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from plenum.base import UserError, flatten, pause_collector, require_regular_file
from plenum.design import Recorded, Sampling
from plenum.records import Journal
from plenum_audit.programs import inspect_logs
from plenum_audit.programs.case import NO_DECISION, AuditCase
from plenum_audit.programs.cases import apart, option_of, options_of, plain
from plenum_audit.programs.condition import ProgramCondition
from plenum_audit.programs.data_sets import Row, Wrong, rows
from plenum_audit.programs.log_columns import NOT_RENAMED, Columns
from plenum_audit.programs.logged_run import Entry, call, decision, end, entries

_LONGEST = 100
_MOST_OPTIONS = 26
"""Number of different decisions in a log up to which all are options of every case."""


@dataclass(frozen=True)
class Logged:
    """A case's runs as they were logged.

    Attributes
    ----------
    condition
        The program, identified by the log's digest, on the case.
    rows
        Rows of the runs in order.
    calls, ends
        Entries of their journals on each run's usage, if the log has it, and on its end.
    """

    condition: ProgramCondition
    rows: tuple[Row, ...]
    calls: tuple[Entry | None, ...]
    ends: tuple[Entry, ...]

    @property
    def runs(self) -> tuple[tuple[Entry, ...], ...]:
        """Entries of each run's journal after the head."""
        return tuple(tuple(entries(row, self.condition.case)) for row in self.rows)

    def write(self, folder: Path) -> None:
        """Write the journals; existing ones are kept.

        Parameters
        ----------
        folder
            The condition's folder.
        """
        for index, made in enumerate(self.runs):
            head = {**self.condition.as_mapping(), "replicate": index}
            with Journal(folder / f"{index:03d}.jsonl", head) as journal:
                for entry in made[len(journal.entries) :]:
                    journal.append(entry)


@dataclass(frozen=True)
class _Run:
    """A row of a log, and its place."""

    place: str
    number: int | float | str | None
    row: dict[str, Any]


@pause_collector()
def load(
    logs: str | Path,
    cases: Sequence[AuditCase] = (),
    committee: str = "",
    columns: Mapping[str, Any] = NOT_RENAMED,
) -> tuple[Logged, ...]:
    """Read the runs of a log.

    Parameters
    ----------
    logs
        A ``.jsonl``, ``.csv`` or ``.parquet`` file with one run per row: ``case``, ``decision``,
        optionally ``run`` (a number that orders the runs; by default their order in the file),
        ``error``, ``messages``, ``cost`` in dollars, ``tokens_in``, ``tokens_out``, ``model``, and
        of the case ``text``, ``options`` and ``answer``; or a log of inspect, ``.eval`` or
        ``.json``, whose epochs are the runs.
    cases
        The cases, if the log doesn't contain them; without both, the options of every case are the
        decisions in the log.
    committee
        Name of the program; by default the log's name.
    columns
        The log's column of a field; for ``options`` several columns, or names by label.

    Raises
    ------
    UserError
        The file, or a row of it, is malformed; the message names it.
    """
    path = Path(logs).expanduser()
    try:
        require_regular_file(path)
    except FileNotFoundError:
        raise UserError(f"logs={logs}: there is no such file") from None
    except OSError as error:
        raise UserError(f"logs={logs}: can't be read: {error}") from None
    renamed = Columns.of(columns)
    if path.suffix in inspect_logs.SUFFIXES:
        renamed.require_none(path)
        about, records = inspect_logs.read(path)
    else:
        about, records = {}, _records(path)
    by_case: defaultdict[str, list[_Run]] = defaultdict(list)
    for place, row in records:
        if isinstance(row, Wrong):
            raise UserError(f"{path}, {place}: {row}")
        try:
            name, run = _run(place, renamed.fields(row), renamed)
        except Wrong as problem:
            raise UserError(f"{path}, {place}: {problem}") from None
        by_case[name].append(run)
    renamed.require_seen(path)
    if not by_case:
        raise UserError(f"logs={logs}: it holds no run")
    program = {"logs": hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest(), **about}
    return tuple(_logged(path, program, committee, by_case, {case.id: case for case in cases}))


def _records(path: Path) -> Iterator[tuple[str, Row | Wrong]]:
    try:
        yield from rows(path)
    except KeyError:
        formats = ".jsonl, .csv, .parquet, .eval, .json"
        raise UserError(f"logs={path}: its name ends in none of {formats}") from None


def _run(place: str, row: Row, columns: Columns) -> tuple[str, _Run]:
    """Return the case's id, and the run."""
    read = plain(row)
    for field in ("case", "decision"):
        if field not in read and not (field == "decision" and read.get("error")):
            raise Wrong(columns.missing(field))
    case = _flat(str(read["case"]))
    if not case:
        raise Wrong("case: empty")
    number = read.get("run")
    if isinstance(number, str) and number.strip().isdecimal():
        number = int(number)  # of a CSV
    return case, _Run(place, None if number == "" else number, read)


def _logged(
    path: Path,
    program: Mapping[str, Any],
    committee: str,
    by_case: Mapping[str, list[_Run]],
    cases: Mapping[str, AuditCase],
) -> Iterator[Logged]:
    decided = _decided([run for runs in by_case.values() for run in runs])
    models = {str(r.row["model"]) for runs in by_case.values() for r in runs if r.row.get("model")}
    for name, runs in by_case.items():
        if cases and name not in cases:
            raise UserError(f"{path}, {runs[0].place}: case {name[:_LONGEST]} isn't in case=")
        case = cases.get(name) or _case(path, name, runs, decided)
        yield Logged(
            ProgramCondition(
                committee=committee or str(program.get("task", path.stem)),
                program=program,
                case=case,
                knobs={},
                overrides={},
                model=" ".join(sorted(models)) or "unknown",
                sampling=Sampling(),
                backend=Recorded(),
                rounds=1,
                seed=0,
            ),
            *_checked(path, case, _in_order(path, name, runs)),
        )


def _decided(runs: Sequence[_Run]) -> list[str]:
    """Return the decisions of runs whose log doesn't name the options."""
    return sorted({decision(run.row) for run in runs} - {"", NO_DECISION})


def _case(path: Path, name: str, runs: Sequence[_Run], decided: Sequence[str]) -> AuditCase:
    """Return the case from the first rows with its text, its options or its answer."""
    given: dict[str, Any] = {}
    for run in reversed(runs):
        given |= {k: v for k, v in run.row.items() if k in _OF_CASE and v not in (None, "")}
    answer = given.get("answer")
    try:
        if "options" in given:
            options = options_of(given["options"])
        else:
            known = decided if len(decided) <= _MOST_OPTIONS else _decided(runs)
            answer = decision({"decision": answer}) or None
            options = {text: text for text in (*known, *([answer] if answer else []))}
            if len(options) < 2:
                options["other"] = "any other decision"
        case = AuditCase(name, str(given.get("text", name)), options, option_of(answer, options))
        return apart(case) if "options" in given else case  # else its options are what was logged
    except Wrong as problem:
        raise UserError(f"{path}, {runs[0].place}: {problem}") from None


_OF_CASE = ("text", "options", "answer")
_flat = lru_cache(4096)(flatten)


def _in_order(path: Path, name: str, runs: Sequence[_Run]) -> Sequence[_Run]:
    """Return the runs of a case in the order of their numbers, if they have any."""
    numbers = [run.number for run in runs]
    if all(number is None for number in numbers):
        return runs
    at: dict[Any, str] = {}
    for run in runs:
        if run.number in at:
            where = f"case {name[:_LONGEST]}, run {run.number}: it stands in {at[run.number]}, too"
            raise UserError(f"{path}, {run.place}: {where}")
        at[run.number] = run.place
    if all(isinstance(number, int | float) for number in numbers):
        return sorted(runs, key=lambda run: run.number)  # type: ignore[arg-type, return-value]
    return runs


def _checked(
    path: Path, case: AuditCase, runs: Sequence[_Run]
) -> tuple[tuple[Row, ...], tuple[Entry | None, ...], tuple[Entry, ...]]:
    """Check a case's runs; return their rows, their usage, and their ends."""
    calls: list[Entry | None] = []
    ends: list[Entry] = []
    known: dict[str, Entry] = {}  # most runs end like another one
    for run in runs:
        row, text = run.row, run.row.get("decision")
        try:
            if row.get("messages"):
                tuple(entries(row, case))
            calls.append(call(row))
        except Wrong as problem:
            raise UserError(f"{path}, {run.place}: {problem}") from None
        if isinstance(text, str) and not row.get("error"):
            if text not in known:
                known[text] = end(row, case)
            ends.append(known[text])
        else:
            ends.append(end(row, case))
    return tuple(run.row for run in runs), tuple(calls), tuple(ends)
