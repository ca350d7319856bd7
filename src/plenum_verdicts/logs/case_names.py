"""Names of cases: equal contents are one case, in whichever file and order they stand."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

from plenum.base import digest, flatten
from plenum_verdicts.cases import read_options
from plenum_verdicts.readers import Wrong

_LONGEST = 80
_DIGITS = 6
_flat = lru_cache(4096)(flatten)


class Named(Protocol):
    """A run whose case is to be named.

    Attributes
    ----------
    label
        The tool's own id of the case, or a label of it.
    content
        JSON of what identifies the case besides its label; empty if the label is enough.
    row
        The run's row.
    case
        The name of its case.
    key
        A digest of the case's content, the same in each log.
    """

    label: str
    content: str
    row: dict[str, Any]
    case: str
    key: str


def read_label(given: Any) -> str:
    """Return an id or a label in one line: 0 and 0.0 are the same number, and "0" names it.

    Examples
    --------
    >>> read_label(0.0), read_label("0"), read_label(" a  b ")
    ('0', '0', 'a b')
    """
    whole = isinstance(given, float) and given.is_integer()
    return _flat(str(int(given) if whole else given))


def name_cases(runs: Sequence[Named]) -> Iterator[str]:
    """Set the names of all runs' cases; yield a sentence if one id has several contents."""
    alike: defaultdict[tuple[str, str], list[Named]] = defaultdict(list)
    for run in runs:
        alike[run.label, run.content].append(run)
    split: list[tuple[str, list[str], int]] = []
    found: dict[tuple[str, ...], list[Named]] = {}
    for (label, content), held in alike.items():
        fields = [name for name, differs in _FIELDS.items() if differs(held)]
        for run in held:
            parts = (str(_read(run.row, name)) for name in fields)
            found.setdefault((label, content, *parts), []).append(run)
        if fields:
            split.append((label, fields, len({_parts(run, fields) for run in held})))
    _set_names(found)
    if split:
        label, fields, number = split[0]
        more = f" So do {len(split) - 1:,} other ids." if len(split) > 1 else ""
        yield (
            f"The id {label[:_LONGEST]} has {number:,} different contents ({', '.join(fields)}), "
            f"each of which counts as a case of its own.{more} If they are wordings of one case, "
            "name them by columns.wording."
        )


def _set_names(found: Mapping[tuple[str, ...], Sequence[Named]]) -> None:
    """Name cases by their labels; where these are equal, with what else they are told by."""
    shared = Counter(_shorten(label) for label, *_ in found)
    for identity, held in found.items():
        label, content, *parts = identity
        name, key = _shorten(label), digest(list(identity))
        if shared[name] > 1:
            told = json.loads(content) if content and not parts else None
            # A task or a domain is shorter than a digest, and says more.
            short = isinstance(told, str) and len(told) <= _LONGEST // 4
            name += f" ({flatten(str(told))})" if short else f" #{key[:_DIGITS]}"
        for run in held:
            run.case, run.key = name, key


def _shorten(label: str) -> str:
    return label if len(label) <= _LONGEST else f"{label[:_LONGEST]}... #{digest(label)[:_DIGITS]}"


def _parts(run: Named, fields: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(_read(run.row, name)) for name in fields)


def _read(row: Mapping[str, Any], name: str) -> Any:
    """Return what a row says of its case: options in any order, and the answer's name."""
    value = row.get(name)
    if value in (None, ""):
        return None
    options = list_options(row)
    if name == "options":
        return tuple(sorted(options.values()))
    return options.get(str(value), value) if name == "answer" else value


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


def _differs(name: str) -> Callable[[Sequence[Named]], bool]:
    def differs(runs: Sequence[Named]) -> bool:
        if not any(name in run.row for run in runs):
            return False
        return len({_read(run.row, name) for run in runs} - {None}) > 1

    return differs


def _text_differs(runs: Sequence[Named]) -> bool:
    """Return whether texts differ that aren't wordings of one another."""
    texts: defaultdict[Any, set[Any]] = defaultdict(set)
    for run in runs:
        if text := run.row.get("text"):
            texts[run.row.get("wording")].add(text)
    several = [held for held in texts.values() if len(held) > 1]
    # What is new in each run, such as the time of day in a prompt, tells no cases apart if the
    # tool has said already what does.
    each_new = runs[0].content and sum(map(len, texts.values())) == len(runs)
    return bool(several) and not each_new


_FIELDS: Mapping[str, Callable[[Sequence[Named]], bool]] = {
    "text": _text_differs,
    "answer": _differs("answer"),
    "options": _differs("options"),
}


def require_label(label: str) -> str:
    """Return a label; refuse an empty one.

    Raises
    ------
    Wrong
        It is empty.
    """
    if not label:
        raise Wrong("case: empty")
    return label
