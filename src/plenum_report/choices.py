"""What committees chose, and in how many runs each ended otherwise: facts for sentences."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from plenum.dynamics import NO_MAJORITY
from plenum.reports.rows import Row


def option_in_words(label: str) -> str:
    """An option's label, or that there was no majority."""
    return "no majority" if label == NO_MAJORITY else label


@dataclass(frozen=True)
class Choice:
    """The decisions of a condition.

    Attributes
    ----------
    modes
        The most frequent decision; several where they are equally frequent.
    times
        Runs that ended with it, or with each of them.
    others
        Runs that ended otherwise, by the option that they chose.
    undecided
        Runs that ended otherwise since no option had a majority.
    """

    row: Row
    modes: tuple[str, ...]
    times: int
    others: dict[str, int]
    undecided: int

    @property
    def flips(self) -> int:
        """Runs that ended otherwise than most; of equally frequent decisions one counts as most."""
        return self.row.n - self.times

    @property
    def split(self) -> bool:
        """Whether no decision is the most frequent."""
        return len(self.modes) > 1

    @property
    def lost(self) -> bool:
        """Whether most runs ended without a majority."""
        return self.modes == (NO_MAJORITY,)


def choice(row: Row) -> Choice:
    """What a condition chose; it has decisions."""
    decisions = row.decisions
    times = max(decisions.values())
    modes = tuple(d for d, n in decisions.items() if n == times)
    rest = {} if len(modes) > 1 else {d: n for d, n in decisions.items() if d not in modes}
    undecided = rest.pop(NO_MAJORITY, 0)
    return Choice(row, modes, times, rest, undecided)


@dataclass(frozen=True)
class Choices:
    """The choices of conditions whose runs are repeats, or all of whose runs read other wordings.

    Attributes
    ----------
    perturbed
        Whether the runs read different wordings.
    """

    perturbed: bool
    every: Sequence[Choice]

    @cached_property
    def by_case(self) -> dict[str, list[tuple[Choice, int]]]:
        """By scenario: a choice, and how many made it, the most frequent first."""
        cases: dict[str, list[Choice]] = {}
        for each in self.every:
            cases.setdefault(each.row.tracked.factors["scenario"], []).append(each)
        return {case: _grouped(choices) for case, choices in cases.items()}

    @property
    def differing(self) -> list[str]:
        """The scenarios in which committees made different choices."""
        return [case for case, groups in self.by_case.items() if len(groups) > 1]

    @cached_property
    def repeated(self) -> list[Choice]:
        """Those of several runs."""
        return [each for each in self.every if each.row.n > 1]

    @cached_property
    def moved(self) -> list[Choice]:
        """Those whose runs ended differently, the largest share first."""
        moved = [each for each in self.repeated if each.flips]
        return sorted(moved, key=lambda each: -each.flips / each.row.n)

    @cached_property
    def still(self) -> list[Choice]:
        """Those of several runs that all ended alike."""
        return [each for each in self.repeated if not each.flips]

    @property
    def limits(self) -> list[float]:
        """Of those that ended alike: the largest share that could end otherwise, at 95 %."""
        return [each.row.summary.flip_rate.ci_high for each in self.still if each.row.summary]

    @property
    def flips(self) -> int:
        """All runs that ended otherwise than most of their committee; splits count in none."""
        return sum(each.flips for each in self.moved if not each.split)

    @property
    def undecided(self) -> int:
        """Those of them without a majority."""
        return sum(each.undecided for each in self.moved)


def choices(rows: Sequence[Row]) -> list[Choices]:
    """The choices of some conditions: of repeats first, then of wordings."""
    known = [row for row in rows if row.decisions]
    parts = [
        Choices(perturbed, [choice(row) for row in known if row.tracked.perturbed is perturbed])
        for perturbed in (False, True)
    ]
    return [part for part in parts if part.every]


def _grouped(choices: Sequence[Choice]) -> list[tuple[Choice, int]]:
    counts = Counter(frozenset(each.modes) for each in choices)
    first = {frozenset(each.modes): each for each in reversed(choices)}
    return [(first[modes], n) for modes, n in counts.most_common()]
