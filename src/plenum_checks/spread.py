"""Differences between the answers to one question asked many times (section S1)."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from plenum.dynamics import divergence, jackknife_se, pairwise_distances

END = ""
"""The end of a text, among the alternatives of a :class:`FirstDifference`."""

_WORD = re.compile(r"\s*\S+|\s+")
_SAME = 9
"""Decimals to which equal preferences agree."""
_NAN = float("nan")


@dataclass(frozen=True)
class ProbedAnswer:
    """One answer.

    Attributes
    ----------
    preference
        The reported preference, on the simplex; ``None`` if it couldn't be read.
    tokens
        Its tokens with their natural log-probabilities, if the provider returned them.
    """

    text: str
    preference: tuple[float, ...] | None = None
    tokens: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class FirstDifference:
    """The position at which texts first differ.

    Attributes
    ----------
    unit
        ``token``, or ``word`` if an answer came without tokens.
    position
        Position of the unit, counted from 1; all answers agree before it.
    alternatives
        Units at the position with their counts, the most frequent first. :data:`END` is the end of
        a text.
    """

    unit: str
    position: int
    alternatives: tuple[tuple[str, int], ...]


def bound_undetected(n: int) -> float:
    """Return the chance per call at which n calls miss an event with probability 1 in 20.

    This is the exact one-sided Clopper-Pearson limit of 0 out of n, about 3 / n.
    """
    return 1 - 0.05 ** (1 / n) if n else _NAN


def first_difference(answers: Sequence[ProbedAnswer]) -> FirstDifference | None:
    """Find the first difference between texts; ``None`` if they are equal."""
    counts = Counter(answer.text for answer in answers)
    if len(counts) < 2:
        return None
    unit, split = _split(answers)
    places = enumerate(zip_longest(*split.values()))
    position, units = next((n, units) for n, units in places if len(set(units)) > 1)
    alternatives: Counter[str] = Counter()
    for text, found in zip(split, units, strict=True):
        alternatives[END if found is None else found] += counts[text]
    return FirstDifference(unit, position + 1, tuple(alternatives.most_common()))


def _split(answers: Sequence[ProbedAnswer]) -> tuple[str, Mapping[str, tuple[str, ...]]]:
    """Split each text into tokens or words; different texts give different sequences."""
    tokens: dict[str, tuple[str, ...]] = {}
    for answer in answers:
        tokens.setdefault(answer.text, tuple(token for token, _ in answer.tokens))
    if all(answer.tokens for answer in answers) and len(set(tokens.values())) == len(tokens):
        return "token", tokens
    # A word keeps the space before it: texts may differ in nothing else.
    return "word", {text: tuple(_WORD.findall(text)) for text in tokens}


def preference_spread(preferences: Sequence[tuple[float, ...]]) -> dict[str, float]:
    """Return statistics of the distances between preferences, as metrics by name.

    The distance is the mean L2 distance over pairs of answers, with its jackknife standard error:
    D of the ensemble (Eq. 1). It is NaN for fewer than two, and the error for fewer than three.

    Parameters
    ----------
    preferences
        Vectors on the simplex, all of the same length of at least 2.
    """
    n, mean, se, largest = len(preferences), _NAN, _NAN, _NAN
    if n > 1:
        ensemble = np.array(preferences)[:, None, :]
        distances = pairwise_distances(ensemble)[:, :, 0]
        mean, largest = float(divergence(ensemble)[0]), float(distances.max())
    if n > 2:
        left_out = (distances.sum() - 2 * distances.sum(axis=1)) / ((n - 1) * (n - 2))
        se = jackknife_se(left_out)
    return {
        "states_read": n,
        "distinct_preferences": len({tuple(round(p, _SAME) for p in v) for v in preferences}),
        "preference_distance": mean,
        "preference_distance_se": se,
        "preference_distance_max": largest,
    }


def logprob_spread(answers: Sequence[tuple[tuple[str, float], ...]]) -> dict[str, float]:
    """Return the spread of log-probabilities up to where the texts first differ, as metrics.

    Equal tokens after the same prompt and text have equal log-probabilities if the arithmetic is
    the same, so a spread is noise of the server, even if no text shows it. It is the largest minus
    the smallest log-probability of a token, as mean and maximum over tokens; NaN without tokens.

    Parameters
    ----------
    answers
        Tokens with log-probabilities, by answer.
    """
    equal = []
    for position in zip(*answers, strict=False):
        if len({token for token, _ in position}) > 1:
            break
        equal.append([logprob for _, logprob in position])
    values = np.array(equal).reshape(len(equal), len(answers))
    apart = np.ptp(values[np.isfinite(values).all(axis=1)], axis=1) if len(answers) > 1 else ()
    return {
        "logprob_spread": float(np.mean(apart)) if len(apart) else _NAN,
        "logprob_spread_max": float(np.max(apart)) if len(apart) else _NAN,
        "logprob_positions": len(apart),
    }
