"""Logs of existing runs by case; nothing is called.

Nothing in these runs was controlled: neither their order, nor settings, nor shared state.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from plenum.base import UserError, digest, flatten, pause_collector
from plenum_verdicts.cases import NO_DECISION, AuditCase, apart, find_option, plain, read_options
from plenum_verdicts.logs.log_columns import NOT_RENAMED, Columns
from plenum_verdicts.logs.log_files import find_common_reader, find_sources, identify
from plenum_verdicts.logs.log_mixtures import name_group, read_value
from plenum_verdicts.logs.log_scores import judge
from plenum_verdicts.logs.logged_run import Entry, decision, end, list_messages, read_usage
from plenum_verdicts.readers import Row, Wrong, read_records

_LONGEST = 100
_MOST_OPTIONS = 26
"""Number of different decisions in a log up to which all are options of every case."""


@dataclass(frozen=True)
class CaseLog:
    """A case's runs as they were logged.

    Attributes
    ----------
    case
        The case.
    rows
        Rows of the runs in order.
    ends
        How each run ended, as :func:`plenum_verdicts.logs.logged_run.end` says it.
    group
        The values of the fields by which the log is split; empty if it isn't.
    """

    case: AuditCase
    rows: tuple[Row, ...]
    ends: tuple[Entry, ...]
    group: str = ""


@dataclass(frozen=True)
class _Run:
    """A row of a log, and its place."""

    place: str
    number: int | float | str | None
    row: dict[str, Any]


@dataclass(frozen=True)
class Log:
    """A log that was read.

    Attributes
    ----------
    cases
        The cases and their runs; of a log that is split, of one group after the other.
    summary
        A sentence on what was read: the format, and how many runs.
    committee
        Name of the program.
    program
        What identifies it: the digest of the log's files, and what they say of it.
    """

    cases: tuple[CaseLog, ...]
    summary: str
    committee: str
    program: Mapping[str, Any]

    @property
    def identity(self) -> str:
        """A digest of the program, independent of the cases."""
        return digest(dict(self.program))

    def split(self) -> Iterator[tuple[str, "Log"]]:
        """Yield the group and the log of each part into which ``by`` splits it."""
        for number, group in enumerate(dict.fromkeys(each.group for each in self.cases)):
            kept = tuple(each for each in self.cases if each.group == group)
            program = {**self.program, "by": group}
            summary = "" if number else self.summary
            yield group, replace(self, cases=kept, program=program, summary=summary)


@pause_collector()
def read_log(
    logs: str | Path,
    cases: Sequence[AuditCase] = (),
    committee: str = "",
    columns: Mapping[str, Any] = NOT_RENAMED,
    named: str = "",
    by: Sequence[str] = (),
) -> Log:
    """Read the runs of a log.

    Parameters
    ----------
    logs
        A file, a folder or a pattern of files in one format, or runs of a service. Its rows have
        the fields of :data:`plenum_verdicts.logs.log_columns.FIELDS`: ``case``; ``decision``,
        ``right`` or ``score``; optionally ``run``, a number that orders the runs of a case, which
        otherwise are in the order of the file.
    cases
        The cases, if the log doesn't contain them; without both, the options of every case are the
        decisions in the log.
    committee
        Name of the program; by default the log's name.
    columns
        The log's column of a field; for ``options`` several columns, or names by label.
    named
        The format; by default the one that recognises the log.
    by
        Fields by which the log is split: runs with different values are of different programs.

    Raises
    ------
    UserError
        The file, or a row of it, is malformed; the message names it.
    """
    sources = find_sources(str(logs))
    reader = find_common_reader(sources, named)
    renamed = Columns.of(columns, by)
    groups: defaultdict[str, defaultdict[str, list[_Run]]] = defaultdict(lambda: defaultdict(list))
    for source in sources:
        for place, row in read_records(reader, source):
            where = f"{source.name}, {place}"
            try:
                if isinstance(row, Wrong):
                    raise row
                name, run = _run(where, renamed.fields(row), renamed, len(sources) > 1)
            except Wrong as problem:
                raise UserError(f"{where}: {problem}") from None
            groups[name_group(run.row, by)][name].append(run)
    renamed.require_seen(Path(str(logs)))
    if not groups:
        raise UserError(f"logs={logs}: it holds no run")
    runs = [run.row for each in groups.values() for found in each.values() for run in found]
    for one in by:
        if not any(read_value(row, one) for row in runs):
            raise UserError(f"by: {one}; no run of {logs} has it")
    program = identify(reader, sources)
    known = {case.id: case for case in cases}
    logged: list[CaseLog] = []
    for group in sorted(groups):
        logged += _read_logged(groups[group], known, group)
    held = len({each.case.id for each in logged})
    amount = f"{held:,} case{'' if held == 1 else 's'}, "
    amount += f"{len(runs):,} run{'' if len(runs) == 1 else 's'}"
    files = f", {len(sources)} files" if len(sources) > 1 else ""
    summary = f"logs={logs}: {reader.title} (format={reader.name}){files}, {amount}"
    named = committee or str(program.get("task", sources[0].path.stem))
    return Log(tuple(logged), summary, named, program)


def _run(place: str, row: Row, columns: Columns, several: bool) -> tuple[str, _Run]:
    """Return the case's id, and the run; runs of several files are in the order of these."""
    read = plain(row)
    judge(read)
    for name in ("case", "decision"):
        if name not in read and not (name == "decision" and read.get("error")):
            raise Wrong(columns.explain_missing(name))
    case = _flat(str(read["case"]))
    if not case:
        raise Wrong("case: empty")
    number = None if several else read.get("run")
    if isinstance(number, str) and number.strip().isdecimal():
        number = int(number)  # of a CSV
    return case, _Run(place, None if number == "" else number, read)


def _read_logged(
    by_case: Mapping[str, list[_Run]], cases: Mapping[str, AuditCase], group: str
) -> Iterator[CaseLog]:
    decided = _list_decisions([run for runs in by_case.values() for run in runs])
    for name, runs in by_case.items():
        if cases and name not in cases:
            raise UserError(f"{runs[0].place}: case {name[:_LONGEST]} isn't in case=")
        case = cases.get(name) or _case(name, runs, decided)
        ordered = _in_order(name, runs)
        yield CaseLog(case, tuple(run.row for run in ordered), _check(case, ordered), group)


def _list_decisions(runs: Sequence[_Run]) -> list[str]:
    """Return the decisions of runs whose log doesn't name the options."""
    return sorted({decision(run.row) for run in runs} - {"", NO_DECISION})


def _case(name: str, runs: Sequence[_Run], decided: Sequence[str]) -> AuditCase:
    """Return the case from the first rows with its text, its options or its answer."""
    given: dict[str, Any] = {}
    for run in reversed(runs):
        given |= {k: v for k, v in run.row.items() if k in _OF_CASE and v not in (None, "")}
    answer = given.get("answer")
    try:
        if "options" in given:
            options = read_options(given["options"])
        else:
            known = decided if len(decided) <= _MOST_OPTIONS else _list_decisions(runs)
            answer = decision({"decision": answer}) or None
            named = (*known, answer) if answer else known
            options = {text: text for text in named}
            if len(options) < 2:
                options["other"] = "any other decision"
            if len(options) < 2:  # no run of the case decided
                options["another"] = "another"
        case = AuditCase(name, str(given.get("text", name)), options, find_option(answer, options))
        return apart(case) if "options" in given else case  # else its options are what was logged
    except Wrong as problem:
        raise UserError(f"{runs[0].place}: {problem}") from None


_OF_CASE = ("text", "options", "answer")
_flat = lru_cache(4096)(flatten)


def _in_order(name: str, runs: Sequence[_Run]) -> Sequence[_Run]:
    """Return the runs of a case in the order of their numbers, if they have any."""
    numbers = [run.number for run in runs]
    if all(number is None for number in numbers):
        return runs
    at: dict[Any, str] = {}
    for run in runs:
        if run.number in at:
            first = at[run.number].rpartition(", ")[2]
            where = f"case {name[:_LONGEST]}, run {run.number}: it stands in {first}, too"
            raise UserError(f"{run.place}: {where}")
        at[run.number] = run.place
    if all(isinstance(number, int | float) for number in numbers):
        return sorted(runs, key=lambda run: run.number)  # type: ignore[arg-type, return-value]
    return runs


def _check(case: AuditCase, runs: Sequence[_Run]) -> tuple[Entry, ...]:
    """Check a case's runs; return how they ended."""
    ends: list[Entry] = []
    known: dict[str, Entry] = {}  # most runs end like another one
    for run in runs:
        row, text = run.row, run.row.get("decision")
        try:
            list_messages(row)
            read_usage(row)
        except Wrong as problem:
            raise UserError(f"{run.place}: {problem}") from None
        if isinstance(text, str) and not row.get("error"):
            if text not in known:
                known[text] = end(row, case)
            ends.append(known[text])
        else:
            ends.append(end(row, case))
    return tuple(ends)
