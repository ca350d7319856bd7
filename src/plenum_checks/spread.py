"""Differences between the answers to one question asked many times (section S1)."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from plenum.dynamics import Floats, Share, divergence, flip_rate, jackknife_se, pairwise_distances
from plenum_hosted import common_prefix

END = ""
"""The end of a text, among the alternatives of a :class:`FirstDifference`."""

_WORD = re.compile(r"\s*\S+|\s+")
_SAME = 9
"""Decimals to which equal preferences agree."""

Units = tuple[str, ...]


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
    earliest, median
        Position of the first unit that differs, counted from 1, over pairs of answers whose texts
        differ.
    alternatives
        Units at the earliest position with their counts, the most frequent first. All answers agree
        before this position. :data:`END` is the end of a text.
    """

    unit: str
    earliest: int
    median: float
    alternatives: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class PreferenceSpread:
    """Statistics of the distances between preference vectors.

    Attributes
    ----------
    n, distinct
        Numbers of answers with a preference, and of different vectors among them.
    mean, se
        Mean L2 distance over pairs of answers, with its jackknife standard error: D of the
        ensemble (Eq. 1); NaN for fewer than two, and three, answers.
    largest
        The largest distance of a pair.
    sd
        Standard deviation of each option's preference, with n - 1.
    """

    n: int
    distinct: int
    mean: float
    se: float
    largest: float
    sd: tuple[float, ...]


@dataclass(frozen=True)
class LogprobSpread:
    """Statistics of log-probabilities of equal tokens after equal texts.

    Attributes
    ----------
    n, positions
        Numbers of answers with tokens, and of tokens before two answers differ.
    mean, largest
        Mean and maximum over these positions of the largest minus the smallest log-probability; NaN
        without positions.
    """

    n: int
    positions: int
    mean: float
    largest: float


@dataclass(frozen=True)
class Repeats:
    """The comparison of the answers to one question asked many times.

    Attributes
    ----------
    n, distinct
        Numbers of answers, and of different texts among them.
    differing
        Share of the answers that differ from the most frequent one.
    undetected
        Upper limit of the chance per call of another text, given n equal answers, see
        :func:`undetected`; NaN if texts differ.
    parting
        The first difference; ``None`` if all texts are equal.
    preferences, logprobs
        Their spreads.
    """

    n: int
    distinct: int
    differing: Share
    undetected: float
    parting: FirstDifference | None
    preferences: PreferenceSpread
    logprobs: LogprobSpread


def repeats(answers: Sequence[ProbedAnswer]) -> Repeats:
    """Compare the answers to one question.

    Parameters
    ----------
    answers
        Answers in any order; their preferences have equal lengths.
    """
    texts = [answer.text for answer in answers]
    distinct = len(set(texts))
    return Repeats(
        n=len(answers),
        distinct=distinct,
        differing=flip_rate(texts),
        undetected=undetected(len(answers)) if distinct == 1 else float("nan"),
        parting=first_difference(answers) if distinct > 1 else None,
        preferences=preference_spread([a.preference for a in answers if a.preference is not None]),
        logprobs=logprob_spread([answer.tokens for answer in answers if answer.tokens]),
    )


def undetected(n: int) -> float:
    """Return the chance per call at which n calls miss an event with probability 1 in 20.

    This is the exact one-sided Clopper-Pearson limit of 0 out of n, about 3 / n.
    """
    return 1 - 0.05 ** (1 / n) if n else float("nan")


def first_difference(answers: Sequence[ProbedAnswer]) -> FirstDifference:
    """Find the first difference between texts, at least two of which must differ."""
    unit, split = _split(answers)
    counts = Counter(answer.text for answer in answers)
    order = sorted(counts, key=lambda text: split[text])
    shared = [common_prefix(split[a], split[b]) for a, b in pairwise(order)]
    weights = [counts[text] for text in order]
    earliest = min(shared) + 1
    alternatives: Counter[str] = Counter()
    for text, count in counts.items():
        alternatives[(*split[text], END)[earliest - 1]] += count
    median = _median(np.array(shared), weights)
    return FirstDifference(unit, earliest, median, tuple(alternatives.most_common()))


def _split(answers: Sequence[ProbedAnswer]) -> tuple[str, Mapping[str, Units]]:
    """Split each text into tokens or words; different texts give different sequences."""
    tokens: dict[str, Units] = {}
    for answer in answers:
        tokens.setdefault(answer.text, tuple(token for token, _ in answer.tokens))
    if all(answer.tokens for answer in answers) and len(set(tokens.values())) == len(tokens):
        return "token", tokens
    # A word keeps the space before it: texts may differ in nothing else.
    return "word", {text: tuple(_WORD.findall(text)) for text in tokens}


def _median(shared: np.ndarray, weights: Sequence[int]) -> float:
    """Return the median first difference over pairs of answers.

    Sequences are sorted, so that two of them share what all those between them share.
    """
    positions, pairs = [], []
    for first in range(len(shared)):
        positions.append(np.minimum.accumulate(shared[first:]) + 1)
        pairs.append(weights[first] * np.array(weights[first + 1 :]))
    return float(np.median(np.repeat(np.concatenate(positions), np.concatenate(pairs))))


def preference_spread(preferences: Sequence[tuple[float, ...]]) -> PreferenceSpread:
    """Compute statistics of the distances between preferences.

    Parameters
    ----------
    preferences
        Vectors on the simplex, all of the same length of at least 2.
    """
    n = len(preferences)
    distinct = len({tuple(round(p, _SAME) for p in vector) for vector in preferences})
    nan = float("nan")
    if n < 2:
        options = len(preferences[0]) if n else 0
        return PreferenceSpread(n, distinct, nan, nan, nan, (nan,) * options)
    ensemble = np.array(preferences)[:, None, :]
    distances = pairwise_distances(ensemble)[:, :, 0]
    sd = np.where(np.ptp(ensemble[:, 0], axis=0) < 10**-_SAME, 0, ensemble[:, 0].std(0, ddof=1))
    return PreferenceSpread(
        n=n,
        distinct=distinct,
        mean=float(divergence(ensemble)[0]),
        se=_standard_error(distances) if n > 2 else nan,
        largest=float(distances.max()),
        sd=tuple(sd.tolist()),
    )


def _standard_error(distances: Floats) -> float:
    """Return the jackknife standard error of the mean pairwise distance, over answers."""
    n = len(distances)
    left_out = (distances.sum() - 2 * distances.sum(axis=1)) / ((n - 1) * (n - 2))
    return jackknife_se(left_out)


def logprob_spread(answers: Sequence[tuple[tuple[str, float], ...]]) -> LogprobSpread:
    """Compute the spread of log-probabilities up to where the texts first differ.

    Equal tokens after the same prompt and text have equal log-probabilities if the arithmetic is
    the same, so a spread is noise of the server, even if no text shows it.

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
    nan = float("nan")
    if len(answers) < 2 or not equal:
        return LogprobSpread(len(answers), len(equal), nan, nan)
    values = np.array(equal)
    apart = np.ptp(values[np.isfinite(values).all(axis=1)], axis=1)
    if not len(apart):
        return LogprobSpread(len(answers), 0, nan, nan)
    return LogprobSpread(len(answers), len(apart), float(apart.mean()), float(apart.max()))
