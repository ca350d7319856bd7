"""Findings in a log, in words, before it is judged; or the reason why it can't be."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from plenum.base import UserError
from plenum_verdicts.cases import NO_DECISION, comparable
from plenum_verdicts.logs.case_names import LoggedRow, list_options
from plenum_verdicts.logs.log_scores import Results
from plenum_verdicts.logs.logged_run import decision, fold

Row = Mapping[str, Any]

_TELLING = ("id", "trace_id", "latency", "latency_ms", "time")
"""Fields in which two runs are hardly ever equal."""

_SHOWN = 3


def count_found(runs: Sequence[LoggedRow], results: Results, verdict: str) -> str:
    """Return what a log has, in one line.

    Parameters
    ----------
    verdict
        The tool's word for whether a run is right.
    """
    held, cases = len(runs), len({run.case for run in runs})
    count = Counter(name for run in runs for name in run.row.keys() & _COUNTED)
    said = verdict if results.right else results.score
    scores = count["score"] if results.right or not count["right"] else 0
    found = {
        f"right or wrong ({said}) in": count["right"],
        f"a score ({results.score}) in": scores,
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
    yield from _find_copies(runs)
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


def read_marks(row: Row) -> tuple[str, ...]:
    """Return what a run is known by besides its answer, such as its time; empty without any."""
    if not any(name in row for name in _TELLING):
        return ()
    return (str(row.get("decision")), *(str(row.get(name) or "") for name in _TELLING))


def _find_copies(runs: Sequence[LoggedRow]) -> Iterator[str]:
    """Yield a sentence on runs that may be copies: equal in what two runs hardly ever share."""
    held = [(run.case, run.marks) for run in runs if run.marks]
    fields = range(1, 1 + len(_TELLING))
    # A time, or how long it took, may be of a whole night: it tells runs apart if most differ.
    least = max(_SHOWN, len(runs) / 4)
    telling = [n for n in fields if len({marks[n] for _, marks in held}) >= least]
    known = Counter((case, marks[0], *(marks[n] for n in telling)) for case, marks in held)
    copies = sum(count - 1 for count in known.values()) if telling else 0
    if copies:
        shown = ", ".join(_TELLING[n - 1] for n in telling)
        yield (
            f"{copies:,} of {len(runs):,} runs equal another one of their case in decision and "
            f"{shown}: they may be copies, or of a cache."
        )


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
    given = Counter(decision(row) for row in rows if row.get("decision") not in (None, ""))
    forms: defaultdict[str, list[str]] = defaultdict(list)
    for text in sorted(given, key=lambda each: (-given[each], each)):
        forms[fold(text)].append(text)
    first = {text: texts[0] for texts in forms.values() if len(texts) > 1 for text in texts[1:]}
    if not first:
        return
    for row in rows:
        if row.get("decision") is not None and (one := first.get(decision(row))):
            row["decision"] = one
    shown = "; ".join(f"{other} and {one}" for other, one in [*first.items()][:_SHOWN])
    yield f"Decisions of equal value count as one: {shown[:200]}."
