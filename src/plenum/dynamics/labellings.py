"""Labellings of the replicates of two arms, by the counts of their decisions.

Permutations of replicates that only matter by how many of each decision an arm has are tables of
counts. There are so few that all can be listed, each with its probability: a test by them is exact,
and the same on every machine. Where there are too many, some are drawn.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from plenum.dynamics.fit import Floats

Counts = NDArray[np.int64]

_LISTED = 100_000
"""More labellings of two arms than this are drawn. The number is plenum's own, and bounds memory:
0.8 MB for each decision. With fewer, small studies would have p by draws; with more, exact tests
take longer."""

_COMBINED = 1_000_000
"""More combinations of several pairs of arms than this are drawn. The number is plenum's own: an
array of 8 MB."""

_TIE = 1e-9
"""Statistics this close, in standard errors or relative to them, are equal."""


@dataclass(frozen=True)
class Labellings:
    """Ways in which the replicates of two arms can be labelled; the first is the observed one.

    Attributes
    ----------
    treated, control
        Replicates by decision, shape (labellings, decisions).
    weight
        The probability of each, shape (labellings,). The observed labelling stands first with
        weight 0 where all are listed, since it is among them; with that of a draw where some are
        drawn.
    joint
        Pairs by both decisions, shape (labellings, decisions, decisions); ``None`` without pairs.
    drawn
        True if some were drawn, instead of all listed.
    """

    treated: Counts
    control: Counts
    weight: Floats
    joint: Counts | None = None
    drawn: bool = False


def permute(
    treated: Counts, control: Counts, draws: int, generator: np.random.Generator
) -> Labellings:
    """Label the replicates of both arms anew, as if they came from one law.

    Parameters
    ----------
    treated, control
        Replicates by decision, shape (decisions,).
    draws
        How many labellings are drawn where there are too many to list them.
    """
    total, size = treated + control, int(treated.sum())
    widest = int(total.argmax())  # follows from the others
    rest = np.delete(total, widest)
    # An upper bound of the tables: some combinations leave the widest decision too few or many.
    if np.prod(np.minimum(rest, size) + 1.0) > _LISTED:
        # The method is named, though it is NumPy's default: another one draws other labellings by
        # the same seed.
        arms = generator.multivariate_hypergeometric(total, size, draws, method="marginals")
        weight = np.full(draws + 1, 1 / (draws + 1))
        arms = np.concatenate([treated[None], arms])
        return Labellings(arms, total - arms, weight, drawn=True)
    # The widest one is filled in from the rest: so the list is as short as it can be.
    arms = np.insert(_grid(np.minimum(rest, size)), widest, 0, axis=1)
    arms[:, widest] = size - arms.sum(axis=1)
    arms = arms[(arms[:, widest] >= 0) & (arms[:, widest] <= total[widest])]
    # Multivariate hypergeometric: a table comes about in Π C(total, arm) ways, here as logarithms.
    ways = gammaln(total + 1) - gammaln(arms + 1) - gammaln(total - arms + 1)
    arms = np.concatenate([treated[None], arms])
    return Labellings(arms, total - arms, _normalise(ways.sum(axis=1)))


def swap(joint: Counts, draws: int, generator: np.random.Generator) -> Labellings:
    """Swap the arms within pairs of replicates, each with probability ½.

    Parameters
    ----------
    joint
        Pairs by the decision of the treated and of the control, shape (decisions, decisions).
    draws
        As for `permute`.
    """
    count = len(joint)
    # Pairs that agree are the same after a swap: only the others are dealt out.
    both = np.triu(joint + joint.T, 1)
    types = np.argwhere(both)
    sizes = both[tuple(types.T)]
    drawn = bool(np.prod(sizes + 1.0) > _LISTED)
    if drawn:
        kept = generator.binomial(sizes, 0.5, (draws, len(types)))
        weight = np.full(draws + 1, 1 / (draws + 1))
    else:
        kept = _grid(sizes)
        weight = _normalise(
            (gammaln(sizes + 1) - gammaln(kept + 1) - gammaln(sizes - kept + 1)).sum(1)
        )
    # Every table has the pairs that agree, on its diagonal.
    tables = np.tile(np.diag(np.diag(joint)), (len(kept), 1, 1))
    for at, (first, second) in enumerate(types):
        tables[:, first, second] = kept[:, at]
        tables[:, second, first] = sizes[at] - kept[:, at]
    tables = np.concatenate([joint.reshape(1, count, count), tables])
    return Labellings(tables.sum(axis=2), tables.sum(axis=1), weight, tables, drawn)


@dataclass(frozen=True)
class Statistic:
    """A difference between two arms under every labelling, the observed one first.

    Attributes
    ----------
    value, variance, weight
        The difference, its variance, and the probability; shape (labellings,) each.
    drawn
        True if labellings were drawn.
    """

    value: Floats
    variance: Floats
    weight: Floats
    drawn: bool = False


def p_value(
    parts: Sequence[Statistic],
    coefficients: Sequence[float],
    draws: int,
    generator: np.random.Generator,
) -> tuple[float, bool]:
    """Test a sum of differences, studentised, by labelling each pair of arms on its own.

    Parameters
    ----------
    parts, coefficients
        The differences, one for each pair of arms, and their factors in the sum.
    draws
        How many combinations are drawn where there are too many.

    Returns
    -------
    tuple
        The probability of a statistic at least as far from 0 as the observed one, and whether it
        rests on draws.
    """
    observed = _studentise(
        sum(c * part.value[0] for c, part in zip(coefficients, parts, strict=True)),
        sum(c * c * part.variance[0] for c, part in zip(coefficients, parts, strict=True)),
    )
    # Far fewer different statistics than labellings: their combinations can be listed more often.
    merged = [_merge(part) for part in parts]
    drawn = any(part.drawn for part in parts)
    if np.prod([float(len(part.value)) for part in merged]) > _COMBINED:
        chosen = [generator.choice(len(m.value), draws, p=m.weight) for m in merged]
        value = sum(c * m.value[at] for c, m, at in zip(coefficients, merged, chosen, strict=True))
        variance = sum(
            c * c * m.variance[at] for c, m, at in zip(coefficients, merged, chosen, strict=True)
        )
        far = _far(_studentise(value, variance), observed)
        # The observed combination is one of them, so that p is never 0.
        return float((1 + far.sum()) / (1 + draws)), True
    # Pairs of arms are labelled independently: differences add up, probabilities multiply.
    value, variance, weight = np.zeros(1), np.zeros(1), np.ones(1)
    for c, part in zip(coefficients, merged, strict=True):
        value = np.add.outer(value, c * part.value).ravel()
        variance = np.add.outer(variance, c * c * part.variance).ravel()
        weight = np.multiply.outer(weight, part.weight).ravel()
    far = _far(_studentise(value, variance), observed)
    # Probabilities that should add up to 1 may do so with residue.
    return min(float(weight[far].sum()), 1.0), drawn


def _merge(part: Statistic) -> Statistic:
    """Merge labellings of equal value and variance; those without weight are left out."""
    # Where all are listed this drops the observed labelling's copy, which has weight 0.
    used = part.weight > 0
    # Rounded: labellings that only differ in the order of a sum would stay apart.
    pairs = np.round(np.stack([part.value[used], part.variance[used]]), 12)
    different, place = np.unique(pairs, axis=1, return_inverse=True)
    weight = np.bincount(place.ravel(), part.weight[used], different.shape[1])
    return Statistic(different[0], different[1], weight / weight.sum(), part.drawn)


def _studentise(value: Floats | float, variance: Floats | float) -> Floats:
    """Divide by the standard error; a difference of nothing is 0 even without one."""
    value, variance = np.asarray(value, float), np.asarray(variance, float)
    error = np.sqrt(np.where(variance > 0, variance, 1.0))
    return np.asarray(np.where(np.abs(value) < _TIE, 0.0, value / error))


def _far(null: Floats, observed: Floats) -> NDArray[np.bool_]:
    edge = np.abs(observed)
    return np.asarray(np.abs(null) >= edge - _TIE * np.maximum(edge, 1.0))


def _normalise(ways: Floats) -> Floats:
    """Turn logarithms of numbers of ways into probabilities, after a 0 for the observed one."""
    # Less the largest: the exponential of a number of ways would overflow.
    weight = np.exp(ways - ways.max())
    return np.concatenate([[0.0], weight / weight.sum()])


def _grid(most: Counts) -> Counts:
    """List all counts from 0 to ``most``, shape (tables, decisions)."""
    shape = tuple(int(n) + 1 for n in most)
    return np.indices(shape).reshape(len(shape), math.prod(shape)).T.astype(np.int64)
