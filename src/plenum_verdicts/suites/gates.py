"""Gates that let a program pass or fail by its runs on a suite, and the words they are given in."""

import re
from dataclasses import dataclass

MOST_RUNS = 100
"""Most runs of a case that a gate may read. The number is plenum's own, far above the few runs that
gates read: a larger one is taken for a slip of the keyboard."""

_NUMBER = r"(\d*\.?\d+)"
"""A number as people write limits: `.80` as well as `0.8`."""
_SCORE = re.compile(rf"score(?: of (\d+))? ?>= ?(?:(baseline) ?- ?)?{_NUMBER}")
_CASES = re.compile(r"(\d+) of (\d+) in every case")


TOLERANCE = 1e-9
"""Tolerance with which a gate compares a score with its limit: in floats 0.07 · 100 is
7.000000000000001."""


@dataclass(frozen=True)
class ScoreGate:
    """A limit of the suite's score, the mean over equally many runs of each case.

    Attributes
    ----------
    least
        The score that passes, from 0 to 1; if ``relative``, how much it may lie below the
        baseline's, which is measured by as many further runs.
    runs
        Number of runs of each case.
    relative
        True if the score is compared with the baseline's.
    """

    least: float
    runs: int = 1
    relative: bool = False

    @property
    def cost(self) -> int:
        """Number of runs of each case that one use of the gate takes."""
        return 2 * self.runs if self.relative else self.runs

    def __str__(self) -> str:
        of = f" of {self.runs}" if self.runs > 1 else ""
        return f"score{of} >= {'baseline - ' if self.relative else ''}{self.least:.6g}"


@dataclass(frozen=True)
class CaseGate:
    """A number of runs that must be right in every case.

    Attributes
    ----------
    least, runs
        So many runs of so many must be right.
    """

    least: int
    runs: int

    @property
    def cost(self) -> int:
        """Number of runs of each case that one use of the gate takes."""
        return self.runs

    def __str__(self) -> str:
        return f"{self.least} of {self.runs} in every case"


Gate = ScoreGate | CaseGate


def parse_gate(text: str) -> Gate:
    """Read a gate from its words.

    Parameters
    ----------
    text
        ``score >= .80`` (of one run of each case), ``score of 4 >= .80`` (of four),
        ``score >= baseline - .02``, or ``3 of 4 in every case``.

    Raises
    ------
    ValueError
        It is none of these, or a number is out of range.

    Examples
    --------
    >>> parse_gate("score of 2 >= baseline - .02")
    ScoreGate(least=0.02, runs=2, relative=True)
    >>> str(parse_gate("3 of 4 in every case"))
    '3 of 4 in every case'
    """
    # One spelling, so that the patterns need only one.
    plain = " ".join(text.lower().replace("≥", ">=").split())
    if read := _SCORE.fullmatch(plain):
        runs, least = int(read[1] or 1), float(read[3])
        _require(1 <= runs <= MOST_RUNS, f"{runs} runs; from 1 to {MOST_RUNS}")
        _require(0 <= least <= 1, f"{read[3]} is no score; from 0 to 1")
        return ScoreGate(least, runs, relative=bool(read[2]))
    if read := _CASES.fullmatch(plain):
        least, runs = int(read[1]), int(read[2])
        _require(1 <= least <= runs <= MOST_RUNS, f"{least} of {runs}; at most {MOST_RUNS} runs")
        return CaseGate(least, runs)
    raise ValueError(
        'give it as "score >= .80", "score of 4 >= .80", "score >= baseline - .02" or '
        '"3 of 4 in every case"'
    )


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
