"""Results of logged runs: right or wrong, a score, and the decision that stands for them."""

from collections.abc import Mapping
from typing import Any

from plenum_verdicts.readers import Wrong

RIGHT, WRONG = "right", "wrong"
"""Decisions of runs of which only this is known."""

_TRUE = {"true", "1", "1.0", "yes", "pass", "passed", "right", "correct", "c"}
_FALSE = {"false", "0", "0.0", "no", "fail", "failed", "wrong", "incorrect", "i"}


def judge(row: dict[str, Any]) -> None:
    """Check a row's ``right`` and ``score``, and complete what follows from one of them.

    ``right`` becomes ``True`` or ``False``, ``score`` a number from 0 to 1; a score of 0 or 1 also
    says whether the run is right. A row without a decision gets right, wrong or its score as one.

    Raises
    ------
    Wrong
        One of them is nothing of that kind.

    Examples
    --------
    >>> row = {"case": "a", "score": "1"}
    >>> judge(row)
    >>> row
    {'case': 'a', 'score': 1.0, 'right': True, 'decision': 'right', 'answer': 'right'}
    """
    score, right = _score(row), _right(row)
    if right is None and score in (0, 1):
        row["right"] = right = bool(score)
    if "decision" not in row and right is not None:
        row["decision"], row["answer"] = RIGHT if right else WRONG, RIGHT
    elif "decision" not in row and score is not None:
        row["decision"] = f"{score:g}"


def read_score(row: Mapping[str, Any]) -> float | None:
    """Return the score of a judged row: its own, else 1 for a right and 0 for a wrong run."""
    if "score" in row:
        return float(row["score"])
    return float(row["right"]) if "right" in row else None


def _score(row: dict[str, Any]) -> float | None:
    given = row.pop("score", None)
    if given is None or given == "":
        return None
    try:
        score = float(given)
    except (TypeError, ValueError, OverflowError):
        score = -1.0
    if not 0 <= score <= 1:
        raise Wrong(f"score: {str(given)[:60]!r} is no number from 0 to 1")
    row["score"] = score
    return score


def _right(row: dict[str, Any]) -> bool | None:
    given = row.pop("right", None)
    if given is None or given == "":
        return None
    if given is True or given is False:
        row["right"] = given
        return bool(given)
    text = str(given).strip().lower()
    if text not in _TRUE and text not in _FALSE:
        raise Wrong(f"right: {str(given)[:60]!r} is neither true nor false")
    row["right"] = text in _TRUE
    return text in _TRUE
