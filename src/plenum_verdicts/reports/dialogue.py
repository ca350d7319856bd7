"""Two runs side by side, message by message, with their first difference."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from plenum.base.text import flatten, make_printable
from plenum.records.transcript import Transcript
from plenum.show.document import Exchange, Sides

LONGEST = 4_000
"""Number of a message's letters on the page."""

MOST = 60
"""Number of a run's messages on the page."""

MOST_LETTERS = 250_000
"""Number of letters of all runs on a page, so that it stays small; one pair is always shown."""

FIRST = 4
"""Number of words of the first difference that are highlighted."""

_WORDS = 1_500
"""Number of a message's words that are compared individually."""

Message = tuple[int, str, str, str]
"""Round, seat, text, and further reported values."""

Part = tuple[str, str]
"""Words with their status: ``same``, ``differs`` or ``first``."""

Lines = Mapping[int, Sequence[Hashable]]
"""Ordered items of each run, by its number."""


def latest_parting(decisions: Mapping[int, str], by_run: Lines) -> tuple[int, int, int] | None:
    """Return the pair of runs with different decisions that agree longest.

    Parameters
    ----------
    decisions
        Decisions of completed runs, by number.

    Returns
    -------
    tuple or None
        A run that decides like the mode, another one, and the number of messages that they share.
    """
    counts = Counter(decisions.values())
    mode = counts.most_common(1)[0][0] if counts else ""
    modal = [run for run, decision in decisions.items() if decision == mode]
    others = [run for run, decision in decisions.items() if decision != mode]
    pairs = [(left, right) for left in modal for right in others]
    if not pairs:
        return None
    shared = {
        pair: _count_shared(by_run.get(pair[0], ()), by_run.get(pair[1], ())) for pair in pairs
    }
    left, right = max(pairs, key=lambda pair: shared[pair])
    return left, right, shared[left, right]


def _count_shared(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """Return the number of equal lines at the beginning of two runs."""
    for at, (a, b) in enumerate(zip(left, right, strict=False)):
        if a != b:
            return at
    return min(len(left), len(right))


def messages(transcript: Transcript) -> list[Message]:
    """Return a run's reported messages, or the answers to its calls if it reported none.

    An entry without a round, such as some votes, belongs to the preceding round.
    """
    entries = transcript.entries
    reported = [e for e in entries if e["kind"] in ("say", "vote")]
    answers = [e for e in entries if e["kind"] == "call"]
    read, latest = [], 0
    for entry in reported or answers:
        latest = int(latest if entry.get("round") is None else entry["round"])
        read.append(_message(entry, latest))
    return read


def _message(entry: Mapping[str, Any], number: int) -> Message:
    words = str(entry.get("text") or "")
    shares = entry.get("preferences") or {}
    state = [f"{label} {share:.2f}" for label, share in shares.items()]
    if entry.get("confidence") is not None:
        state.append(f"confidence {entry['confidence']:g}")
    if entry["kind"] == "vote":
        state.append(f"votes {entry['option']}")
    return number, str(entry.get("seat") or ""), words, ", ".join(state)


def sides(
    title: str, left: Transcript, right: Transcript, named: Callable[[str], str] = flatten
) -> Sides:
    """Align two runs of a program, as :func:`align` does.

    Parameters
    ----------
    named
        Returns the name of a decision.
    """
    first, second = (
        (f"Run {t.head['replicate']}", f"decided {named(t.decision or t.status)}")
        for t in (left, right)
    )
    return align(title, (first, second), messages(left), messages(right))


def align(
    title: str,
    heads: tuple[tuple[str, str], tuple[str, str]],
    left: Sequence[Message],
    right: Sequence[Message],
) -> Sides:
    """Align the messages of two runs, and highlight the first words that differ.

    Parameters
    ----------
    heads
        Name and end of each run.
    """
    exchanges, parted = [], False
    pairs = _alongside(left, right)
    for at, (ours, theirs) in enumerate(pairs):
        alike = ours is not None and theirs is not None and ours[2:] == theirs[2:]
        first = not alike and not parted
        parted = parted or not alike
        if at < MOST or first:
            exchanges.append(_exchange(ours, theirs, alike, first))
    return Sides(title, heads, tuple(exchanges), max(len(pairs) - len(exchanges), 0))


def first_within(pairs: Iterable[Sides], letters: int) -> list[Sides]:
    """Return the first pairs of runs that together have at most so many letters, at least one."""
    kept: list[Sides] = []
    for pair in pairs:
        texts = (text for each in pair.exchanges for side in each.words for _, text in side or ())
        letters -= sum(map(len, texts))
        if kept and letters < 0:
            break
        kept.append(pair)
    return kept


def _alongside(
    left: Sequence[Message], right: Sequence[Message]
) -> list[tuple[Message | None, Message | None]]:
    """Pair the messages of each seat and round; ``None`` for a missing one."""
    rest = dict(_list_keyed(right))
    pairs: list[tuple[Message | None, Message | None]] = [
        (message, rest.pop(key, None)) for key, message in _list_keyed(left)
    ]
    pairs += [(None, message) for message in rest.values()]
    return sorted(pairs, key=lambda pair: (pair[0] or pair[1] or (0,))[0])


def _list_keyed(given: Sequence[Message]) -> list[tuple[Hashable, Message]]:
    met: Counter[Hashable] = Counter()
    keyed: list[tuple[Hashable, Message]] = []
    for message in given:
        place = message[:2]
        keyed.append(((place, met[place]), message))
        met[place] += 1
    return keyed


def _exchange(left: Message | None, right: Message | None, alike: bool, first: bool) -> Exchange:
    round_, seat, *_ = left or right or (0, "", "", "")
    where = (f"round {round_}" if round_ else "") + (", the same in both" if alike else "")
    texts = [None if m is None else _cut(m[2]) for m in (left, right)]
    states = tuple("" if m is None else flatten(m[3]) for m in (left, right))
    words: tuple[tuple[Part, ...] | None, ...]
    if alike or None in texts:
        words = tuple(None if t is None else (("same", t),) for t in texts)
    else:
        words = _differences(str(texts[0]), str(texts[1]), first)
    return Exchange(flatten(seat) or "-", where, words, states, alike, first)


def _cut(message: str) -> str:
    whole = make_printable(message)
    rest = len(whole) - LONGEST
    return whole if rest <= 0 else f"{whole[:LONGEST]} … ({rest:,} more letters)"


def _differences(left: str, right: str, first: bool) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Return the words of both, in sequences marked ``same``, ``differs``, or ``first``."""
    a, b = left.split(" "), right.split(" ")
    if max(len(a), len(b)) > _WORDS:
        return (("differs", left),), (("differs", right),)
    sides: tuple[list[Part], list[Part]] = ([], [])
    for tag, i, m, j, n in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        for side, words in zip(sides, (a[i:m], b[j:n]), strict=True):
            if tag == "equal":
                side.append(("same", " ".join(words)))
                continue
            if first and words:
                side.append(("first", " ".join(words[:FIRST])))
                words = words[FIRST:]
            if words:
                side.append(("differs", " ".join(words)))
        first = first and tag == "equal"
    return tuple(sides[0]), tuple(sides[1])
