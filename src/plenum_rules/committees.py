"""The vote of several committees: how often two such votes differ, from the runs of one."""

from collections.abc import Iterator, Sequence
from functools import cache
from math import comb, prod

from plenum_rules.aggregation import NONE


@cache
def votes_differ(counts: tuple[int, ...], abstained: int, members: int) -> tuple[float, float]:
    """Compute how two votes of several committees compare, without drawing any.

    A vote asks some runs of a committee and decides for the option of more than half of them. Two
    votes share no run. Every choice of runs is equally likely, so that the first result is an
    unbiased estimate (Hoeffding's U-statistic of order ``2 * members``).

    Parameters
    ----------
    counts
        The runs that decided for each option.
    abstained
        The runs that decided for none.
    members
        The number of runs that a vote asks.

    Returns
    -------
    differ, changed
        The chance that two votes end differently, and that a vote differs from its first member.

    Raises
    ------
    ValueError
        There are fewer than ``2 * members`` runs.

    Examples
    --------
    Of six runs one differs. It outvotes nobody in a vote of three:

    >>> from plenum_rules.committees import votes_differ
    >>> [round(chance, 4) for chance in votes_differ((5, 1), 0, 3)]
    [0.0, 0.1667]
    """
    there = (*counts, abstained)
    runs = sum(there)
    if runs < 2 * members:
        raise ValueError(f"two votes of {members} take {2 * members} runs, of which {runs} exist")
    differ = changed = 0.0
    for first, chance in _choices(there, members):
        left = tuple(n - taken for n, taken in zip(there, first, strict=True))
        decided = _winner(first, members)
        same = sum(p for other, p in _choices(left, members) if _winner(other, members) == decided)
        differ += chance * (1 - same)
        changed += chance * (1 - first[decided] / members)  # NONE is the last: those that abstained
    return _within(differ), _within(changed)


def _choices(counts: Sequence[int], members: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield how many runs of each kind are chosen, each with its chance."""
    ways = comb(sum(counts), members)
    for taken in _splits(tuple(counts), members):
        yield taken, prod(map(comb, counts, taken)) / ways


def _splits(counts: tuple[int, ...], members: int) -> Iterator[tuple[int, ...]]:
    if len(counts) == 1:
        if members <= counts[0]:
            yield (members,)
        return
    for first in range(min(counts[0], members) + 1):
        for rest in _splits(counts[1:], members - first):
            yield (first, *rest)


def _winner(taken: Sequence[int], members: int) -> int:
    options = taken[:-1]
    return next((option for option, n in enumerate(options) if 2 * n > members), NONE)


def _within(chance: float) -> float:
    """Cut what rounding adds: a chance lies between 0 and 1."""
    return min(max(chance, 0.0), 1.0)
