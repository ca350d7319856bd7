"""Names of cases: equal contents are one case, in whichever file and order they stand."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from plenum.base.identity import digest
from plenum.base.text import flatten
from plenum_verdicts.cases.cases import read_options
from plenum_verdicts.logs.logged_run import fold

_LONGEST = 80
_DIGITS = 6
_flat = lru_cache(4096)(flatten)


@dataclass(slots=True)
class LoggedRow:
    """A row of a log, its place, and what its case is told by.

    Attributes
    ----------
    place
        The file and the place in it.
    number
        What orders the runs of a case.
    row
        The row's fields.
    label
        The tool's own id of the case, or a label of it.
    content
        JSON of what identifies the case besides its label; empty if the label is enough.
    marks
        What the run is known by besides its answer.
    case
        The name of its case.
    key
        A digest of the case's content, the same in each log.
    """

    place: str
    number: int | float | str | None
    row: dict[str, Any]
    label: str
    content: str
    marks: Mapping[str, Any]
    case: str = ""
    key: str = ""


def read_label(given: Any) -> str:
    """Return an id or a label in one line: 0 and 0.0 are the same number, and "0" names it.

    Examples
    --------
    >>> read_label(0.0), read_label("0"), read_label(" a  b ")
    ('0', '0', 'a b')
    """
    whole = isinstance(given, float) and given.is_integer()
    return _flat(str(int(given) if whole else given))


def name_cases(
    runs: Sequence[LoggedRow], known: Container[str] = (), placed: bool = False
) -> Iterator[str]:
    """Set the names of all runs' cases; yield a sentence if one id has several contents.

    Parameters
    ----------
    known
        Ids of cases that are given: they are what they are called.
    placed
        True if runs of one content are of one case, whatever their ids.
    """
    alike: defaultdict[tuple[str, str], list[LoggedRow]] = defaultdict(list)
    first: dict[str, str] = {}
    # Sorted, so that a case of several ids has the same name in any order of the rows.
    for run in sorted(runs, key=lambda run: run.label) if placed else runs:
        label = first.setdefault(run.content, run.label) if placed and run.content else run.label
        alike[label, run.content].append(run)
    asked: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for (label, content), held in alike.items():
        if content and label not in known:
            asked[label, min(str(run.row.get("text") or "") for run in held)].add(content)
    # Equal questions of one id whose content differs differ in what the tool checks.
    split = [(label, ["checks"]) for (label, text), each in asked.items() if text and len(each) > 1]
    found: defaultdict[tuple[str, ...], list[LoggedRow]] = defaultdict(list)
    for identity, held in alike.items():
        given = identity[0] in known
        if fields := [name for name in _OF_CASE if not given and _differs(held, name)]:
            split.append((identity[0], fields))
        for run in held:
            found[*identity, *(str(_read(run.row, name)) for name in fields)].append(run)
    for held, named in zip(found.values(), list_names(found, known, placed), strict=True):
        for run in held:
            run.case, run.key = named
    if split:
        label, fields = min(split)
        more = f", and so do {len(split) - 1:,} other ids" if len(split) > 1 else ""
        yield (
            f"The id {label[:_LONGEST]} has different contents ({', '.join(fields)}){more}: each "
            "counts as a case of its own. columns.wording names wordings of one case."
        )


def list_names(
    told: Collection[tuple[str, ...]], known: Container[str] = (), placed: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield a name and a key of each case: its label; where this is shared, with what else it has.

    Parameters
    ----------
    told
        What each case is told by: its label, JSON of its content, and more if these aren't enough.
    known, placed
        As for :func:`name_cases`.

    Examples
    --------
    >>> [name for name, _ in list_names([("roof", "1"), ("roof", "[2]"), ("well", "")])]
    ['roof #40559e', 'roof #5db5a6', 'well']
    """
    shared = Counter(_shorten(label) for label, *_ in told)
    fuller = [_tell_more(*each) if shared[_shorten(each[0])] > 1 else "" for each in told]
    unique = Counter(fuller)
    for (label, content, *parts), full in zip(told, fuller, strict=True):
        name, key = _shorten(label), digest(["" if placed else label, content, *parts])
        if label in known:
            name = label
        elif shared[name] > 1:
            name = full if full and unique[full] == 1 else f"{name} #{key[:_DIGITS]}"
        yield name, key


def _tell_more(label: str, content: str, *parts: str) -> str:
    """Return a label with a short text, such as a domain, which says more than a digest."""
    held = parts[0] if parts else json.loads(content) if content else None
    short = isinstance(held, str) and len(held) <= _LONGEST // 4
    return f"{_shorten(label)} ({flatten(str(held))})" if short else ""


def _shorten(label: str) -> str:
    return label if len(label) <= _LONGEST else f"{label[:_LONGEST]}... #{digest(label)[:_DIGITS]}"


def _differs(runs: Sequence[LoggedRow], name: str) -> bool:
    """Return whether runs of one id differ in a field of their case; texts, in one wording."""
    values: defaultdict[Any, set[Any]] = defaultdict(set)
    for run in runs:
        if name in run.row and (value := _read(run.row, name)) is not None:
            values[str(run.row.get("wording")) if name == "text" else ""].add(value)
    # What is new in each run, such as the time of day in a prompt, tells no cases apart if the
    # tool has said already what does.
    each_new = runs[0].content and sum(map(len, values.values())) == len(runs)
    return any(len(held) > 1 for held in values.values()) and not each_new


_OF_CASE = ("domain", "text", "answer", "options")


def _read(row: Mapping[str, Any], name: str) -> Any:
    """Return what a row says of its case: options in any order, and the answer's name."""
    value = row.get(name)
    if value in (None, "") or name in ("domain", "text"):
        return str(value) if value else None
    options = list_options(row)
    if name == "options":
        return tuple(sorted(options.values()))
    return fold(str(options.get(str(value), value)))


def list_options(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the options that a row declares by label; empty if it declares none.

    Raises
    ------
    Wrong
        They are malformed.
    """
    given = row.get("options")
    if given in (None, ""):
        return {}
    return _read_options(given if isinstance(given, str) else json.dumps(given))


_read_options = lru_cache(4096)(read_options)
