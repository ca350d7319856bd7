"""The results of logged runs: one score for a log, right or wrong, and what stays unmeasured."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plenum.base.errors import UserError
from plenum_verdicts.logs.log_columns import read_column
from plenum_verdicts.readers.data_sets import Wrong

RIGHT, WRONG = "right", "wrong"
"""Decisions of runs of which only this is known."""

UNNAMED = "score"
"""Name of a score that is its tool's only one."""

Scale = tuple[float, float]
Row = MutableMapping[str, Any]

_WORDS = {
    **dict.fromkeys(("true", "yes", "pass", "passed", "right", "correct", "c"), 1.0),
    **dict.fromkeys(("false", "no", "fail", "failed", "wrong", "incorrect", "i", "n"), 0.0),
    "p": 0.5,
}
"""Scores by the words of judges, with those of inspect: C, P, I and N."""

_TELLING = {
    "correct", "correctness", "right", "accuracy", "exact_match", "exactmatch", "success", "pass",
    "reward",
}  # fmt: skip
"""Names of scores that say whether a run is right."""

_NOTHING = ("", "nan", "none", "null")
_MOST_LABELS, _LONGEST_LABEL = 26, 100
_SHOWN = 5
_ITEM = re.compile(r"\w+\[name=([^\]]+)\](?:\.\w+)?")


@dataclass
class Results:
    """What a log says of the results of its runs.

    Attributes
    ----------
    score
        Name of the score in use; empty without one.
    right
        True if the log itself says of runs whether they are right.
    outputs
        Number of runs with an output.
    lines
        Sentences on what was chosen or left out.
    """

    score: str = ""
    right: bool = False
    outputs: int = 0
    lines: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, rows: Sequence[Row]) -> "Results":
        """Return the results of rows of which only the outputs were counted."""
        return cls(outputs=sum(row.get("decision") not in (None, "") for row in rows))


def settle_results(rows: Sequence[Row], wanted: str = "", scale: Scale | None = None) -> Results:
    """Choose the score of a log, and complete each row by what it says of its run.

    ``score`` becomes a number from 0 to 1, ``right`` ``True`` or ``False``; if all scores of the
    log are 0 or 1, they say whether runs are right. A run that failed has neither, and a run whose
    result is null, NaN or absent is ``unmeasured``. A row without a decision gets right, wrong or
    its score as one.

    Parameters
    ----------
    rows
        All rows of the log; ``score`` in them is already that of ``wanted``.
    wanted
        Name of the score that the user chose.
    scale
        The lowest and the highest score there is.

    Raises
    ------
    UserError
        Several scores may be meant, some runs lack the one in use, or it is out of its scale.

    Examples
    --------
    >>> rows = [{"case": "a", "score": "1"}, {"case": "a", "score": None}]
    >>> settle_results(rows).score
    'score'
    >>> rows[0]
    {'case': 'a', 'score': 1.0, 'right': True, 'decision': 'right', 'answer': 'right'}
    >>> rows[1]
    {'case': 'a', 'unmeasured': True}
    """
    results = Results.of(rows)
    _drop_failed(rows, results)
    ran = [row for row in rows if not row.get("error")]
    for row in ran:
        if "right" in row:
            results.right = True
            row["right"] = read_right(row["right"])  # in its place: a moved field takes memory
            if row["right"] is None:
                del row["right"]
                if not wanted:  # no other score says what the log's own word doesn't
                    row["unmeasured"] = True
                    row.pop("scores", None)
                    row.pop("score", None)
    results.score = _choose([row for row in ran if "unmeasured" not in row], wanted, results)
    if not (results.score or results.right) and any(row.get("scores") for row in ran):
        for row in ran:  # else being equal to the answer would stand in for all of its scores
            row.pop("answer", None)
    values = _measure(ran, results.score, scale)
    # A top grade isn't a right answer: only where nothing lies between are both the same.
    binary = values <= {0, 1} and (scale is None or scale[0] == 0)
    for row in ran:
        if binary and "score" in row:
            row.setdefault("right", bool(row["score"]))
        if not {"score", "right"} & row.keys():
            if results.right or results.score:
                row["unmeasured"] = True
        elif "decision" not in row and "right" in row:
            row["decision"], row["answer"] = RIGHT if row["right"] else WRONG, RIGHT
        elif "decision" not in row:
            row["decision"] = f"{row['score']:g}"
    if lost := sum("unmeasured" in row for row in ran):
        results.lines.append(f"{lost:,} of {len(rows):,} runs have no score by loss.")
    return results


def find_score(row: Mapping[str, Any], path: str) -> Any:
    """Return a run's score by its name or its path in the row; else :data:`.ABSENT`.

    Examples
    --------
    >>> find_score({"scores": {"correct": 1}}, "scores.correct.value")
    1
    >>> row = {"annotations": [{"name": "tone", "score": 0.5}]}
    >>> find_score(row, "annotations[name=tone].score")
    0.5
    """
    named = dict(list_scores(row))
    item = _ITEM.fullmatch(path)
    short = item[1] if item else path.removeprefix("scores.")
    for name in (path, short, re.sub(r"\.(value|score)$", "", short)):
        if name in named:
            return named[name]
    return read_column(row, path)


def list_scores(row: Mapping[str, Any], key: str = "scores") -> Iterator[tuple[str, Any]]:
    """Yield the named scores of a row; those in others by their names with dots."""
    held = row.get(key)
    for name, value in held.items() if isinstance(held, Mapping) else ():
        if isinstance(value, Mapping):
            inside = list_scores({name: value}, name)
            yield from ((f"{name}.{inner}", each) for inner, each in inside)
        else:
            yield name, value


def read_score(row: Mapping[str, Any]) -> float | None:
    """Return the score of a settled row: its own, else 1 for a right and 0 for a wrong run."""
    if "score" in row:
        return float(row["score"])
    return float(row["right"]) if "right" in row else None


def read_right(given: Any) -> bool | None:
    """Return whether a run is right; ``None`` if it isn't said.

    Raises
    ------
    Wrong
        It is neither true nor false.
    """
    if given is None or isinstance(given, bool):
        return given
    try:
        number = _number(given)
    except ValueError:
        number = -1.0
    if number not in (None, 0, 1):
        raise Wrong(f"right: {str(given)[:60]!r} is neither true nor false")
    return None if number is None else bool(number)


def _number(given: Any, scale: Scale | None = None) -> float | None:
    """Return a score's number, on a scale from 0 to 1; ``None`` if it wasn't measured.

    Raises
    ------
    ValueError
        It is no number.
    """
    word = str(given).strip().lower()
    if word in _NOTHING:
        return None
    number = _WORDS[word] if word in _WORDS else float(word.removesuffix("%"))
    if scale is not None:
        return (number - scale[0]) / (scale[1] - scale[0])
    return number / 100 if word.endswith("%") else number


def _is_number(given: Any) -> bool:
    try:
        return _number(given) is not None
    except ValueError:
        return False


def _drop_failed(rows: Sequence[Row], results: Results) -> None:
    """Take the results off runs that failed: such a run is neither right nor wrong."""
    contrary = 0
    for row in rows:
        if row.get("error"):
            contrary += row.get("right") in (True, "True", "true") or row.get("score") in (1, "1")
            for name in ("right", "score"):
                row.pop(name, None)
    if contrary:
        results.lines.append(
            f"{contrary:,} runs with an error are marked as right; a failed run never is."
        )


def _choose(ran: Sequence[Row], wanted: str, results: Results) -> str:
    """Return the name of the score in use, and put its value into each row's ``score``."""
    named = [dict(list_scores(row)) for row in ran]
    counted = Counter(n for each in named for n, value in each.items() if _is_number(value))
    name, having = wanted, sum("score" in row for row in ran)
    if having:
        name = wanted or UNNAMED
    elif counted and not wanted:
        telling = [n for n in counted if n.rpartition(".")[2].lower() in _TELLING]
        measured = sum(any(map(_is_number, each.values())) for each in named)
        clear = len(telling) == 1 and counted[telling[0]] == measured
        name = telling[0] if clear else next(iter(counted)) if len(counted) == 1 else ""
        having = sum(name in each for each in named)
        for row, each in zip(ran, named, strict=True):
            row.update({"score": each[name]} if name in each else {})
    if having == len(ran) or (wanted and having) or not (wanted or having or counted):
        return name
    counted[UNNAMED] += having if name == UNNAMED else 0
    shown = [f"score={n} (of {count:,} runs)" for n, count in counted.most_common(_SHOWN) if count]
    why = (
        f"The log of {len(ran):,} runs has {', '.join(shown) or 'no named score'}; score=NAME uses "
        "one, and counts runs without it as unmeasured."
    )
    if wanted or not _can_do_without(ran, results):
        question = f"no run has {wanted}." if wanted else "which one counts?"
        raise UserError(f"score: {question} {why}")
    results.lines.append(f"No score is used. {why}")
    for row in ran:
        row.pop("score", None)
    return ""


def _can_do_without(rows: Sequence[Row], results: Results) -> bool:
    """Return whether runs can be compared without a score: by their labels, or as right or not."""
    if results.right:
        return True
    decided = {str(row.get("decision") or "") for row in rows} - {""}
    if any(row.get("options") for row in rows):
        return bool(decided)
    return 0 < len(decided) <= _MOST_LABELS and max(map(len, decided)) <= _LONGEST_LABEL


def _measure(rows: Sequence[Row], name: str, scale: Scale | None) -> set[float]:
    """Bring all scores to a scale from 0 to 1, and return them; take out those not measured."""
    numbers: set[float] = set()
    for row in rows:
        given = row.get("score")
        try:
            number = _number(given, scale)
        except ValueError:
            raise UserError(f"score: {str(given)[:60]!r} of {name} is no number") from None
        if number is not None:
            row["score"] = number
            numbers.add(number)
        else:
            row.pop("score", None)
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    if (low < 0 or high > 1) and scale is not None:
        raise UserError(f"scale=[{scale[0]:g},{scale[1]:g}]: a score of {name} lies outside")
    if low < 0 or high > 1:
        raise UserError(
            f"score: those of {name} lie from {low:g} to {high:g}, not from 0 to 1; say what they "
            "are out of, such as scale=[1,5] or scale=[0,100]"
        )
    return numbers
