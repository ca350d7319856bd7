"""Facts about committees' decisions, and about runs that deviate from them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from plenum.dynamics.decisions import NO_MAJORITY
from plenum.reports.rows import Row


@dataclass(frozen=True)
class ConditionChoice:
    """The decisions of a condition.

    Attributes
    ----------
    modes
        The most frequent decision; several if they tie.
    times
        Number of runs with it, or with each of them.
    others
        Numbers of deviating runs by the option that they chose.
    undecided
        Number of deviating runs without a majority for any option.
    """

    row: Row
    modes: tuple[str, ...]
    times: int
    others: dict[str, int]
    undecided: int

    @property
    def flips(self) -> int:
        """Number of runs that deviate from the mode; of tied modes one counts as the mode."""
        return self.row.n - self.times

    @property
    def split(self) -> bool:
        """True if several decisions are equally frequent."""
        return len(self.modes) > 1

    @property
    def lost(self) -> bool:
        """True if most runs ended without a majority."""
        return self.modes == (NO_MAJORITY,)


def find_choice(row: Row) -> ConditionChoice:
    """Return the decisions of a condition, which must have some."""
    decisions = row.decisions
    times = max(decisions.values())
    modes = tuple(d for d, n in decisions.items() if n == times)
    rest = {} if len(modes) > 1 else {d: n for d, n in decisions.items() if d not in modes}
    undecided = rest.pop(NO_MAJORITY, 0)
    return ConditionChoice(row, modes, times, rest, undecided)


@dataclass(frozen=True)
class Choices:
    """Decisions of conditions with repeated runs, or of those whose runs read other wordings.

    Attributes
    ----------
    perturbed
        True if the runs read different wordings.
    """

    perturbed: bool
    every: Sequence[ConditionChoice]

    @property
    def unit(self) -> str:
        """The unit of the counts: wordings where every run read another one, else runs."""
        again = any("repeated_wordings" in each.row.warnings for each in self.every)
        return "wordings" if self.perturbed and not again else "runs"

    @cached_property
    def by_case(self) -> dict[str, list[tuple[ConditionChoice, int]]]:
        """Distinct choices with their counts by scenario, the most frequent first."""
        cases: dict[str, list[ConditionChoice]] = {}
        for each in self.every:
            cases.setdefault(each.row.tracked.factors["scenario"], []).append(each)
        return {case: _group(choices) for case, choices in cases.items()}

    @property
    def differing(self) -> list[str]:
        """Scenarios in which committees made different choices."""
        return [case for case, groups in self.by_case.items() if len(groups) > 1]

    @cached_property
    def repeated(self) -> list[ConditionChoice]:
        """Choices of conditions with several runs."""
        return [each for each in self.every if each.row.n > 1]

    @cached_property
    def moved(self) -> list[ConditionChoice]:
        """Choices of conditions whose runs differed, the largest share of deviations first."""
        moved = [each for each in self.repeated if each.flips]
        return sorted(moved, key=lambda each: -each.flips / each.row.n)

    @cached_property
    def still(self) -> list[ConditionChoice]:
        """Choices of conditions whose several runs all agreed."""
        return [each for each in self.repeated if not each.flips]

    @property
    def limits(self) -> list[float]:
        """Upper 95 % limits of the deviating share, for conditions whose runs agreed."""
        return [each.row.summary.flip_rate.ci_high for each in self.still if each.row.summary]

    @property
    def flips(self) -> int:
        """Total number of runs that deviate from their committee's mode; splits don't count."""
        return sum(each.flips for each in self.moved if not each.split)

    @property
    def undecided(self) -> int:
        """Number of them without a majority."""
        return sum(each.undecided for each in self.moved)


def list_choices(rows: Sequence[Row]) -> list[Choices]:
    """Return the choices of conditions, first with repeats, then with wordings."""
    known = [row for row in rows if row.decisions]
    parts = [
        Choices(
            perturbed, [find_choice(row) for row in known if row.tracked.perturbed is perturbed]
        )
        for perturbed in (False, True)
    ]
    return [part for part in parts if part.every]


def _group(choices: Sequence[ConditionChoice]) -> list[tuple[ConditionChoice, int]]:
    counts = Counter(frozenset(each.modes) for each in choices)
    first = {frozenset(each.modes): each for each in reversed(choices)}
    return [(first[modes], n) for modes, n in counts.most_common()]
