"""Findings in a log, in words, before it is judged; or the reason why it can't be."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from plenum.base.errors import UserError
from plenum_verdicts.cases.case import NO_DECISION
from plenum_verdicts.cases.decision import comparable
from plenum_verdicts.logs.case_names import LoggedRow, list_options
from plenum_verdicts.logs.log_scores import Results
from plenum_verdicts.logs.logged_run import decision, fold, read_folded

Row = Mapping[str, Any]

_TELLING = ("id", "trace_id", "latency", "latency_ms", "time")
"""Fields in which two runs are hardly ever equal."""

_USED = "text, tokens and cost"
_SPENT, _LONG_TEXT = ("tokens_in", "tokens_out", "cost"), 100
"""What a run spent, and the length of texts that are hardly two answers if they spent the same."""

_OF_A_RUN = re.compile(r"id$|_at$|At$|time|date|duration", re.IGNORECASE)
"""Columns that are of a run, as their name says."""

_PLACES = ("", "Unnamed: 0", "index", "row", "line", "number")
"""Columns that count the rows, also those that are copies."""

_SHOWN = 3


def count_found(runs: Sequence[LoggedRow], results: Results, verdict: str) -> str:
    """Return what a log has, in one line.

    Parameters
    ----------
    verdict
        The tool's word for whether a run is right.
    """
    held, cases = len(runs), len({run.case or run.label for run in runs})
    count = Counter(name for run in runs for name in run.row.keys() & _COUNTED)
    score = results.score or "unsettled"
    said = verdict if results.right else score
    scores = count["score"] if results.right or not count["right"] else 0
    found = {
        f"right or wrong ({said}) in": count["right"],
        f"a score ({score}) in": scores,
        "failed:": count["error"],
        "unmeasured:": count["unmeasured"],
        "answered by a cache:": count["cached"],
    }
    shown = "".join(f", {name} {number:,}" for name, number in found.items() if number)
    of = f"{held:,} run{'' if held == 1 else 's'} of {cases:,} case{'' if cases == 1 else 's'}"
    return f"{of}: outputs in {results.outputs:,}{shown}"


_COUNTED = frozenset({"right", "score", "error", "unmeasured", "cached"})


def find_doubts(runs: Sequence[LoggedRow], general: bool) -> Iterator[str]:
    """Yield sentences on what may be wrong with the runs of a log as rows.

    Parameters
    ----------
    general
        True for a plain table: its columns were put together by people.

    Raises
    ------
    UserError
        Of most cases with repeats, all repeats are of a cache.
    """
    cases: defaultdict[str, list[LoggedRow]] = defaultdict(list)
    for run in runs:
        cases[run.case].append(run)
    yield from _find_cached(cases)
    yield from _find_instant(runs)
    yield from _find_copies(runs, general)
    yield from _find_gaps(cases)
    yield from _find_equal_texts(cases)
    if none := sum(run.row.get("decision") == NO_DECISION for run in runs):
        yield (
            f"{none:,} runs decided {NO_DECISION!r}, which counts as no decision; if it is one, "
            "declare it as an option of another label: columns.options"
        )
    if general or any("options" in run.row for run in runs):
        yield from _find_contradictions(runs)


def _find_cached(cases: Mapping[str, Sequence[LoggedRow]]) -> Iterator[str]:
    """Yield a sentence on runs that a cache answered: they repeat an answer, and are no new one."""
    # Another model or wording is another question to a cache.
    asked, fresh = Counter[Any](), Counter[Any]()
    for name, runs in cases.items():
        for row in (run.row for run in runs):
            key = name, str(row.get("model")), str(row.get("wording"))
            asked[key] += 1
            fresh[key] += "cached" not in row
    if not (cached := asked.total() - fresh.total()):
        return
    repeated = [key for key, count in asked.items() if count > 1]
    alone = sum(fresh[key] <= 1 for key in repeated)
    said = f"{cached:,} of {asked.total():,} runs were answered by a cache, which repeats an answer"
    if alone > len(repeated) / 2:
        raise UserError(
            f"logs: {said}: {alone:,} of {len(repeated):,} cases have one answer of their own, so "
            "that nothing can be said of whether runs agree; run them again without it, such as by "
            "promptfoo eval --no-cache"
        )
    yield f"{said}: they may agree more than new ones would."


def read_marks(row: Row, fields: Row, known: Collection[str]) -> Row:
    """Return what a run is known by besides its answer, such as its time; numbers, or a hash.

    Parameters
    ----------
    row
        The row as it stands in the log.
    fields
        Its fields.
    known
        Columns of a plain table that are fields; any other one may be an id.
    """
    held = {name: row[name] for name in (row if known else _TELLING) if name in row}
    held |= {"time": fields.get("time"), _USED: None}
    text, used = fields.get("decision"), [fields.get(name) for name in _SPENT]
    if isinstance(text, str) and len(text) > _LONG_TEXT and any(used):
        held[_USED] = (text, used)
    return {
        name: value if isinstance(value, int | float) else hash(str(value))
        for name, value in held.items()  # NaN, as pandas writes nothing, isn't equal to itself
        if value not in (None, "") and value == value and (name == "time" or name not in known)
    }


def _find_instant(runs: Sequence[LoggedRow]) -> Iterator[str]:
    """Yield a sentence on runs that took no time where others did."""
    fresh = [run.marks for run in runs if not {"error", "cached"} & run.row.keys()]
    took = [marks[name] for name in _TELLING[2:4] for marks in fresh if name in marks]
    if 0 < (none := sum(time in (0, hash("0"), hash("0.0")) for time in took)) < len(took):
        yield (
            f"{none:,} of {len(runs):,} runs took no time (a latency of 0), as answers of a cache "
            "do: they may agree more than new ones would."
        )


def _find_copies(runs: Sequence[LoggedRow], general: bool) -> Iterator[str]:
    """Yield a sentence on runs that may be copies: equal in what two runs hardly ever share."""
    cases, known = len({run.case for run in runs}), Counter[Any]()
    names = dict.fromkeys(name for run in runs for name in run.marks)
    telling = [name for name in names if _tells_runs(name, runs, cases, general)]
    for run in runs:
        if any(name in run.marks for name in telling):
            marks = (run.marks.get(name) for name in telling)
            known[run.case, str(run.row.get("decision")), *marks] += 1
    if copies := known.total() - len(known):
        shown = ", ".join(telling[: _SHOWN + 1])
        yield (
            f"{copies:,} of {len(runs):,} runs equal another one of their case in decision and "
            f"{shown}: they may be copies, or of a cache."
        )


def _tells_runs(name: str, runs: Sequence[LoggedRow], cases: int, general: bool) -> bool:
    """Return whether a mark differs from run to run, so that equal ones are of one run."""
    pairs = {(run.case, run.marks[name]) for run in runs if name in run.marks}
    values, many = len({value for _, value in pairs}), len(runs) / 4
    if name in (_USED, *_TELLING[:2]) and not (general and name != _USED):
        many = min(many, cases)
    elif name not in _TELLING[2:]:  # not of a case, nor of several
        least = 0 if _OF_A_RUN.search(name) else len(runs) / 2.2
        many = max(many, least, 1.5 * cases, 0.9 * len(pairs))
    # A time, or how long it took, may be of a whole night: it tells runs apart if most differ.
    return name not in _PLACES and values >= max(_SHOWN, many)


def _find_contradictions(runs: Sequence[LoggedRow]) -> Iterator[str]:
    """Yield a sentence on runs whose decision and answer say something else than the log does."""
    contrary: Counter[bool] = Counter()
    both = [(r.row["right"], r.row["score"]) for r in runs if {"right", "score"} <= r.row.keys()]
    if apart := sum(score == (0 if right else 1) for right, score in both):
        yield f"{apart:,} runs are right with a score of 0, or wrong with a full one."
    for row in (run.row for run in runs):
        if "right" in row and row.get("answer") and row.get("decision"):
            options = list_options(row)
            given, answer = (
                comparable(fold(str(options.get(str(row[n]), row[n])))) for n in _COMPARED
            )
            if (given == answer) != row["right"]:
                contrary[given == answer] += 1
    for same, count in sorted(contrary.items()):
        told = "the answer but counts as wrong" if same else "not the answer but counts as right"
        yield f"The decision of {count:,} runs is {told}: the log's own word is taken."


_COMPARED = ("decision", "answer")


def _find_gaps(cases: Mapping[str, Sequence[LoggedRow]]) -> Iterator[str]:
    """Yield a sentence on numbers of runs that leave others out: what is left may be selected."""
    for name, runs in sorted(cases.items(), key=lambda each: each[0]):
        numbers = sorted(run.number for run in runs if type(run.number) is int)
        if any(after - before > 1 for before, after in pairwise(numbers)):
            shown = ", ".join(map(str, numbers[: _SHOWN + 1]))
            yield f"Runs have numbers with gaps (case {name}: {shown}): were some left out?"
            return


def _find_equal_texts(cases: Mapping[str, Sequence[LoggedRow]]) -> Iterator[str]:
    """Yield a sentence on one question under several ids that no tool told apart."""
    ids: defaultdict[str, list[str]] = defaultdict(list)
    for name, runs in sorted(cases.items(), key=lambda each: each[0]):
        if not runs[0].content and (text := runs[0].row.get("text")):
            ids[str(text)].append(name)
    alike = [names for names in ids.values() if len(names) > 1]
    if alike:
        yield (
            f"{sum(map(len, alike)):,} cases share their text with another one, such as "
            f"{' and '.join(alike[0][:2])}: they may be one case under several ids."
        )


def fold_decisions(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Make equal values one decision, where no options are declared; yield a sentence on it."""
    given, held = Counter(map(decision, rows)), {decision(row): row for row in rows}
    forms: defaultdict[str, list[str]] = defaultdict(list)
    for text in sorted(given.keys() - {""}, key=lambda each: (-given[each], each)):
        forms[read_folded(held[text])].append(text)
    first = {text: texts[0] for texts in forms.values() for text in texts[1:]}
    if not first:
        return
    for row in rows:
        if one := first.get(decision(row)):
            row["decision"] = held[one]["decision"]
    shown = "; ".join(f"{other} and {one}" for other, one in [*first.items()][:_SHOWN])
    yield f"Decisions of equal value count as one: {shown[:200]}."
