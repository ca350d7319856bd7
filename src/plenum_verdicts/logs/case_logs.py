"""Logs of existing runs by case; nothing is called.

Nothing in these runs was controlled: neither their order, nor settings, nor shared state.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from plenum.base.collector import pause_collector
from plenum.base.errors import UserError
from plenum.base.identity import digest
from plenum_verdicts.cases.case import NO_DECISION, AuditCase
from plenum_verdicts.cases.cases import apart, find_option, plain
from plenum_verdicts.logs.case_names import LoggedRow, list_options, name_cases, read_label
from plenum_verdicts.logs.log_columns import ABSENT, NOT_RENAMED, Columns, is_chosen, read_column
from plenum_verdicts.logs.log_files import digest_sources, find_common_reader, find_sources
from plenum_verdicts.logs.log_findings import count_found, find_doubts, fold_decisions, read_marks
from plenum_verdicts.logs.log_mixtures import list_times, name_group, read_value
from plenum_verdicts.logs.log_scores import Results, Scale, find_score, read_right, settle_results
from plenum_verdicts.logs.logged_run import Entry, decision, end, list_messages, read_usage
from plenum_verdicts.readers.data_sets import Row, Wrong
from plenum_verdicts.readers.log_reader import (
    LogReader,
    Records,
    describe_program,
    list_told,
    read_records,
)

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
    key
        A digest of the case's content, the same in each log.
    """

    case: AuditCase
    rows: tuple[Row, ...]
    ends: tuple[Entry, ...]
    group: str = ""
    key: str = ""


@dataclass(frozen=True)
class Log:
    """A log that was read.

    Attributes
    ----------
    cases
        The cases and their runs; of a log that is split, of one group after the other.
    summary
        A sentence on what was read: the format, how many runs, and what is known of them.
    committee
        Name of the program.
    program
        What identifies it: the digest of the log's files, and what they say of it.
    score
        Name of the score in use; empty without one.
    lines
        Sentences on what was chosen, left out or may be wrong.
    planned
        Numbers of cases and of runs of each that were planned; zeros if the log doesn't say it.
    """

    cases: tuple[CaseLog, ...]
    summary: str
    committee: str
    program: Mapping[str, Any]
    score: str = ""
    lines: tuple[str, ...] = ()
    planned: tuple[int, int] = (0, 0)

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
    *,
    score: str = "",
    scale: Scale | None = None,
    where: Mapping[str, Any] = MappingProxyType({}),
) -> Log:
    r"""Read the runs of a log.

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
    score
        The score that counts, by its name or path: ``accuracy``, ``scores.correct.value``,
        ``annotations[name=quality].score``; by default the only one, or the only one whose name
        says that it is about being right.
    scale
        The worst and the best score there is; 0 and 1 by default.
    where
        The rows that count, by a value or values of columns: ``{"type": "match"}``.

    Raises
    ------
    UserError
        The file, or a row of it, is malformed; several scores may be meant; or the log doesn't say
        how its runs ended. The message names it, and what would help.

    Examples
    --------
    >>> file = Path("runs.jsonl")
    >>> rows = ['{"case": "a", "decision": "yes"}', '{"case": "a", "decision": "no"}']
    >>> _ = file.write_text("\n".join(rows))
    >>> log = read_log(file)
    >>> [row["decision"] for row in log.cases[0].rows]
    ['yes', 'no']
    >>> log.summary.rpartition(" (")[2]
    'format=jsonl), 2 runs of 1 case: outputs in 2'
    """
    wanted = score or str(columns.get("score") or "")
    if scale is not None and scale[0] == scale[1]:
        raise UserError(f"scale={[*scale]}; give the worst and the best score, such as [1,5]")
    sources = find_sources(str(logs))
    reader = find_common_reader(sources, named)
    program = {"logs": digest_sources(sources), **describe_program(reader, sources[0])}
    renamed = Columns.of({k: of for k, of in columns.items() if k != "score"}, by)
    records = (
        (f"{source.name}, {place}", row)
        for source in sources
        for place, row in read_records(reader, source)
    )
    several = len(sources) > 1
    read = collect_log(
        f"logs={logs}", records, reader, renamed, cases, by, wanted, scale, where, several
    )
    files = f", {len(sources)} files" if several else ""
    plans = [reader.plan(source) for source in sources]
    # Files of one task are more runs of its cases; of several, no one number of runs was planned.
    if len({describe_program(reader, each).get("task") for each in sources}) > 1:
        plans = [(0, 0)]
    return replace(
        read,
        summary=f"logs={logs}: {reader.title} (format={reader.name}){files}, {read.summary}",
        committee=committee or str(program.get("task", sources[0].path.stem)),
        program=program,
        lines=(*(line for source in sources for line in list_told(reader, source)), *read.lines),
        planned=(max(cases for cases, _ in plans), sum(each for _, each in plans)),
    )


def collect_log(
    place: str,
    records: Records,
    reader: LogReader,
    columns: Columns,
    cases: Sequence[AuditCase] = (),
    by: Sequence[str] = (),
    score: str = "",
    scale: Scale | None = None,
    where: Mapping[str, Any] = MappingProxyType({}),
    several: bool = False,
) -> Log:
    """Return the log of rows that a reader read; its summary is only of what they hold.

    Parameters
    ----------
    place
        What names the log in messages, such as ``logs=runs.jsonl``.
    records
        The rows, each with its place.
    reader
        Their reader.
    columns
        The columns of fields, and those that are kept besides these.
    cases, by, score, scale, where
        As for :func:`read_log`.
    several
        True for rows of several files: a run's number in one says nothing of those in others.

    Raises
    ------
    UserError
        As for :func:`read_log`.
    """
    runs = _read_runs(records, reader, columns, score, where, several)
    if not runs:
        raise UserError(f"{place}: it holds no run")
    rows = [run.row for run in runs]
    known, results = {case.id: case for case in cases}, Results.of(rows)
    try:
        results = settle_results(rows, score, scale)
        _require_outcomes(place, runs, columns, results)
        named = [*name_cases(runs, known, reader.placed)]
        lines = [*results.lines, *named, *find_doubts(runs, reader.general)]
    except UserError as problem:
        found = count_found(runs, results, reader.verdict)
        raise UserError(f"{problem} ({reader.title}, {found})") from None
    # Declared options say themselves which decisions are one.
    if not any(row.get("options") for row in rows) and not known:
        lines += fold_decisions(rows)
    logged, found = _group(runs, known, by, place), count_found(runs, results, reader.verdict)
    return Log(logged, found, "", {}, results.score, tuple(lines))


def _read_runs(
    records: Records,
    reader: LogReader,
    columns: Columns,
    wanted: str,
    where: Mapping[str, Any],
    several: bool,
) -> list[LoggedRow]:
    """Return the runs of all files, in their order there."""
    runs: list[LoggedRow] = []
    alone, others = Counter[str](), Counter[str]()
    for place, row in records:
        try:
            if isinstance(row, Wrong):
                raise row
            if is_chosen(row, where):
                runs.append(_run(place, row, columns, reader, wanted, several))
                # A table that pandas wrote has a column without a name.
                alone[str(row.get(reader.one_of)) if reader.one_of else ""] += 1
            else:
                others.update(f"{name}={read_column(row, name)}"[:40] for name in where)
        except Wrong as problem:
            raise UserError(f"{place}: {problem}") from None
    if others and not runs:
        shown = ", ".join(name for name, _ in others.most_common(_SHOWN))
        raise UserError(f"where={dict(where)}: no row is so; there are {shown}")
    if len(alone) > 1:
        raise UserError(
            f"{reader.one_of}: the log has {', '.join(sorted(alone)[:_SHOWN])}, in rows of the "
            f"same runs; choose one: where={{{reader.one_of}: {min(alone)}}}"
        )
    return runs


def _require_outcomes(
    place: str, runs: Sequence[LoggedRow], columns: Columns, results: Results
) -> None:
    """Refuse a log that doesn't say of each run how it ended, or of all runs nothing."""
    for run in runs:
        if "decision" not in run.row and not {"error", "unmeasured"} & run.row.keys():
            raise UserError(f"{run.place}: {columns.explain_missing('decision')}")
    columns.require_seen(place)
    if results.outputs or any({"right", "score", "error"} & run.row.keys() for run in runs):
        return
    if results.right or results.score:
        raise UserError(f"{place}: no run was measured: each score is empty")
    raise UserError(
        f"{place}: the outputs of all {len(runs):,} runs are empty, and nothing says whether "
        "they are right; name the columns by columns.decision, columns.right or columns.score, or "
        "the tool by format"
    )


def _run(
    place: str, row: Row, columns: Columns, reader: LogReader, wanted: str, several: bool
) -> LoggedRow:
    """Return a run as its row says it; runs of several files are in the order of these."""
    fields = columns.fields(row)
    if reader.general:
        columns.add_others(row, fields)
    if wanted:
        # The score that was asked for takes the place of a column of this name.
        fields.pop("score", None)
        if (value := find_score(row, wanted)) is not ABSENT:
            fields["score"] = value
    read = plain(fields)
    _drop_nothing(read)
    read_right(read.get("right"))
    content = None
    # Where the user named the case's column, it alone tells cases apart.
    if not reader.general and "case" not in columns.named:
        read.setdefault("case", row.get("label"))
        content = row.get("content")
    if read.get("case") is None:
        raise Wrong(columns.explain_missing("case"))
    list_options(read)
    number = read.get("run")
    if isinstance(number, str) and number.strip().isdecimal():
        number = int(number)  # of a CSV
    if not isinstance(number, int | float | str | None):
        raise Wrong(f"run: {str(number)[:60]!r} is no number and no text")
    if not (label := read_label(read["case"])):
        raise Wrong("case: empty")
    # Each file counts its runs from the beginning.
    number = None if several or number == "" else number
    told = "" if content is None else sys.intern(_encode(content))
    for name in _ALIKE & read.keys():  # the runs of a case share these texts: each is kept once
        if type(read[name]) is str:
            read[name] = sys.intern(read[name])
    marks = read_marks(row, read, columns.known if reader.general else ())
    return LoggedRow(place, number, read, label, told, marks)


def _drop_nothing(row: dict[str, Any]) -> None:
    """Take an error and a cache out of a row that say that there was none, as pandas writes it."""
    error = row.pop("error", None)
    if error and str(error).strip(" .<>").lower() not in _NO_ERROR:
        row["error"] = error
    if _CACHED & set(re.findall(r"[\w.]+", str(row.pop("cached", "")).lower())):
        row["cached"] = True


_ALIKE = frozenset({"case", "text", "decision", "answer", "model", "wording", "version"})
_CACHED = {"true", "1", "1.0", "yes", "y", "hit", "cached"}
_NO_ERROR = {
    "", "none", "nan", "null", "false", "n/a", "na", "nat", "-", "--", "ok", "okay", "success",
    "succeeded", "no", "no error", "no errors", "0", "0.0", "[]", "{}",
}  # fmt: skip
_SHOWN = 5
_encode = json.JSONEncoder(sort_keys=True, default=str).encode


def _group(
    runs: Sequence[LoggedRow], known: Mapping[str, AuditCase], by: Sequence[str], place: str
) -> tuple[CaseLog, ...]:
    """Return the runs by the group that ``by`` splits them into, and by case."""
    for one in by:
        if not any(read_value(run.row, one) for run in runs):
            raise UserError(f"by: {one}; no run of {place} has it")
    groups: dict[str, dict[str, list[LoggedRow]]] = {}
    for run in runs:
        groups.setdefault(name_group(run.row, by), {}).setdefault(run.case, []).append(run)
    return tuple(
        logged for group in sorted(groups) for logged in _read_logged(groups[group], known, group)
    )


def _read_logged(
    by_case: Mapping[str, list[LoggedRow]], cases: Mapping[str, AuditCase], group: str
) -> Iterator[CaseLog]:
    decided = _list_decisions([run for runs in by_case.values() for run in runs])
    for name in sorted(by_case, key=_split_numbers):  # the same in any order of the rows
        runs = by_case[name]
        if cases and name not in cases:
            raise UserError(f"{runs[0].place}: case {name[:_LONGEST]} isn't in case=")
        case = cases.get(name) or _case(name, runs, decided)
        ordered = _in_order(name, runs)
        rows = tuple(run.row for run in ordered)
        yield CaseLog(case, rows, _check(case, ordered), group, runs[0].key)


def _split_numbers(name: str) -> list[str | int]:
    """Return the parts of a name, so that case 2 stands before case 10."""
    # A group in the pattern keeps the separators: numbers stand at every odd place.
    parts = re.split(r"([0-9]{1,9})", name)
    return [int(part) if place % 2 else part for place, part in enumerate(parts)]


def _list_decisions(runs: Sequence[LoggedRow]) -> list[str]:
    """Return the decisions of runs whose log doesn't name the options."""
    return sorted({decision(run.row) for run in runs} - {"", NO_DECISION})


def _case(name: str, runs: Sequence[LoggedRow], decided: Sequence[str]) -> AuditCase:
    """Return the case, the same in any order of its runs."""
    told: Row = next((run.row for run in runs if run.row.get("answer") not in (None, "")), {})
    answer = told.get("answer")
    text = min((str(run.row["text"]) for run in runs if run.row.get("text")), default=name)
    declared = [each for run in runs if (each := list_options(run.row))]
    try:
        if declared:
            # Rows may have their options in different orders: the least is the same in any order of
            # rows.
            options = min(declared, key=lambda each: [*each.items()])
            answer = list_options(told).get(str(answer), answer)  # by the labels of its own row
        else:
            known = decided if len(decided) <= _MOST_OPTIONS else _list_decisions(runs)
            answer = decision({"decision": answer}) or None
            named = (*known, answer) if answer else known
            options = {text: text for text in named}
            if len(options) < 2:
                options["other"] = "any other decision"
            if len(options) < 2:  # no run of the case decided
                options["another"] = "another"
        case = AuditCase(name, text, options, find_option(answer, options))
        return apart(case) if declared else case  # else its options are what was logged
    except Wrong as problem:
        raise UserError(f"{runs[0].place}: {problem}") from None


def _in_order(name: str, runs: Sequence[LoggedRow]) -> Sequence[LoggedRow]:
    """Return the runs of a case in the order of their numbers or times, if they have any."""
    numbers = [run.number for run in runs]
    if all(number is None for number in numbers):
        if times := list_times(run.row for run in runs):
            return [runs[n] for n in sorted(range(len(runs)), key=times.__getitem__)]
        return runs
    at: dict[Any, str] = {}
    for run in runs:
        if run.number in at:
            first = at[run.number].rpartition(", ")[2]
            where = f"case {name[:_LONGEST]}, run {run.number}: it stands in {first}, too"
            raise UserError(f"{run.place}: {where}")
        at[run.number] = run.place
    # Names of runs have no order of their own: that of the file stays.
    if all(isinstance(number, int | float) for number in numbers):
        return sorted(runs, key=lambda run: run.number)  # type: ignore[arg-type, return-value]
    return runs


def _check(case: AuditCase, runs: Sequence[LoggedRow]) -> tuple[Entry, ...]:
    """Check a case's runs; return how they ended."""
    ends: list[Entry] = []
    known: dict[tuple[str, str], Entry] = {}  # most runs end like another one
    for run in runs:
        row, text = run.row, run.row.get("decision")
        own = list_options(row)
        if own == case.options or {*own.values()} != {*case.options.values()}:
            own = {}  # the case's own are meant, or given by the user
        try:
            list_messages(row)
            read_usage(row)
        except Wrong as problem:
            raise UserError(f"{run.place}: {problem}") from None
        if isinstance(text, str) and not row.get("error"):
            key = text, str(own) if own else ""
            if key not in known:
                known[key] = end(row, case, own)
            ends.append(known[key])
        else:
            ends.append(end(row, case, own))
    return tuple(ends)
