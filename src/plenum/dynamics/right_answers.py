"""Right answers: how often a committee decides for the answer, and what deliberation adds."""

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenum.dynamics.decisions import Share, estimate_share
from plenum.dynamics.divergence import ZERO


@dataclass(frozen=True)
class RightAnswers:
    """Accuracy of a condition whose case has an answer, and the share of private facts said.

    Attributes
    ----------
    accuracy
        Share of replicates that decide for the answer, with Wilson's interval; ``None`` where the
        case has no answer.
    gain
        Accuracy minus that of the vote at round 1, from -1 to 1; ``None`` likewise.
    facts_said
        Mean over replicates of the share of private facts that were said; ``None`` without any.
    """

    accuracy: Share | None = None
    gain: Share | None = None
    facts_said: Share | None = None

    def record(self) -> dict[str, float]:
        """Return the numbers that are known, by name."""
        return {
            f"{name}{end}": getattr(share, limit)
            for name, share in vars(self).items()
            if share is not None
            for end, limit in (("", "value"), ("_ci_low", "ci_low"), ("_ci_high", "ci_high"))
        }


def estimate_right_answers(
    preferences: ArrayLike,
    decisions: Sequence[str],
    answer: str = "",
    said: Sequence[float] = (),
) -> RightAnswers:
    """Compare decisions, and the vote at round 1, with the answer.

    That vote is the majority of the sole tops of the seats' first states. The gain is paired by
    replicate: g gained the answer, l lost it. Its limits are those of Clopper and Pearson for the
    two shares, the lower one of g minus the upper one of l and the other way round; by enumeration
    they hold the gain in at least 95 % of draws, whatever the two shares.

    Parameters
    ----------
    preferences
        Preferences of every seat, shape (replicates, rounds, seats, options); NaN where a seat is
        absent.
    decisions
        One a replicate: the label of an option, or ``NONE``.
    answer
        The label of the right option; empty where it isn't known. Options are A, B and so on.
    said
        The share of private facts that were said in each replicate; empty where there are none.

    Returns
    -------
    RightAnswers
        NaN without replicates.

    Raises
    ------
    ValueError
        The numbers of replicates differ.

    Examples
    --------
    Four replicates of one seat; all vote for the first option at round 1, and one changes:

    >>> import numpy as np
    >>> from plenum.dynamics.right_answers import estimate_right_answers
    >>> states = np.tile([.9, .1], (4, 2, 1, 1))
    >>> found = estimate_right_answers(states, ["A", "A", "A", "B"], answer="B")
    >>> found.accuracy.value, found.gain.value
    (0.25, 0.25)
    """
    share = _average(said) if len(said) else None
    if not answer:
        return RightAnswers(facts_said=share)
    states = np.asarray(preferences, float)
    last = np.array([decision == answer for decision in decisions], bool)
    if len(states) != len(last):
        raise ValueError(f"{len(last)} decisions for {len(states)} replicates")
    if not len(last):
        return RightAnswers(Share(), Share(), share)
    first = _vote_first(states, ascii_uppercase.index(answer))
    return RightAnswers(_estimate_accuracy(last), _estimate_gain(first, last), share)


def _vote_first(states: NDArray[np.float64], answer: int) -> NDArray[np.bool_]:
    """Return whether more than half of the seats put the answer alone on top in round 1."""
    opening = states[:, 0]
    tops = opening >= opening.max(axis=-1, keepdims=True) - ZERO
    sole = tops[..., answer] & (tops.sum(axis=-1) == 1)
    return np.asarray(2 * sole.sum(axis=1) > sole.shape[1])


def _estimate_accuracy(right: NDArray[np.bool_]) -> Share:
    from scipy.stats import binomtest

    count, n = int(right.sum()), len(right)
    low, high = binomtest(count, n).proportion_ci(method="wilson")
    return Share(count / n, float(low), float(high), count, n)


def _estimate_gain(first: NDArray[np.bool_], last: NDArray[np.bool_]) -> Share:
    n = len(last)
    gained = estimate_share(int((last & ~first).sum()), n)
    lost = estimate_share(int((first & ~last).sum()), n)
    # Each limit at its worst: Newcombe's, which are shorter, hold in 85 % of draws of five runs.
    low, high = gained.ci_low - lost.ci_high, gained.ci_high - lost.ci_low
    return Share(gained.value - lost.value, low, high, None, n)


def _average(said: Sequence[float]) -> Share:
    # The rounded sum of many shares of 1 may lie above their number.
    return estimate_share(min(float(sum(said)), len(said)), len(said))
