"""Private ballots, the clerk's answer, and the tally that decides."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plenum.committee.state import Malformed

NONE = "NONE"
"""The decision of a committee in which no option has more than half of the ballots."""

_LINE_END = r"(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])"
_FENCE = re.compile(rf"```(?:json)?[ \t]*{_LINE_END}(.*){_LINE_END}[ \t]*```", re.DOTALL)


@dataclass(frozen=True)
class Ballot:
    """A vote for one option, with a confidence of 0-100."""

    decision: str
    confidence: int


@dataclass(frozen=True)
class Count:
    """A decision with the votes behind it: the tally's, or the clerk's."""

    decision: str
    majority_count: int
    total: int


def parse_ballot(text: str, labels: tuple[str, ...]) -> Ballot:
    """Read a ballot.

    Raises
    ------
    Malformed
        It is no JSON object with ``decision`` and ``confidence``, or a value isn't allowed.
    """
    data = _object(text, {"decision", "confidence"})
    return Ballot(_choice(data["decision"], labels), _whole(data, "confidence", 100))


def parse_count(text: str, labels: tuple[str, ...]) -> Count:
    """Read the clerk's answer.

    Raises
    ------
    Malformed
        It is no JSON object with ``decision``, ``majority_count`` and ``total``.
    """
    data = _object(text, {"decision", "majority_count", "total"})
    return Count(
        _choice(data["decision"], (*labels, NONE)),
        _whole(data, "majority_count", 10_000),
        _whole(data, "total", 10_000),
    )


def tally(ballots: Sequence[Ballot]) -> Count:
    """Simple majority: more than half of the ballots, otherwise ``NONE``.

    Raises
    ------
    ValueError
        There are no ballots.
    """
    if not ballots:
        raise ValueError("no ballots to count")
    decision, votes = Counter(b.decision for b in ballots).most_common(1)[0]
    return Count(decision if 2 * votes > len(ballots) else NONE, votes, len(ballots))


def _object(text: str, keys: set[str]) -> dict[str, Any]:
    stripped = text.strip()
    fenced = _FENCE.fullmatch(stripped)
    try:
        data = json.loads(fenced[1] if fenced else stripped, object_pairs_hook=_unique)
    except Malformed:
        raise
    except (ValueError, RecursionError):  # ValueError also where a number has too many digits
        raise Malformed("no JSON object") from None
    if not isinstance(data, dict) or set(data) != keys:
        raise Malformed(f"the object needs exactly {', '.join(sorted(keys))}")
    return data


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise Malformed("a key stands twice")
    return data


def _choice(value: Any, labels: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in labels:
        raise Malformed(f"decision is not one of {', '.join(labels)}")
    return value


def _whole(data: dict[str, Any], key: str, most: int) -> int:
    value = data[key]
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise Malformed(f"{key} is no whole number from 0 to {most}")
    return value
