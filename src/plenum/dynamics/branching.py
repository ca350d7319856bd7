"""Branching: continuations from one state, measured by the paper's Γ̂ and a signed exponent."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr

from plenum.dynamics.divergence import as_ensemble, divergence
from plenum.dynamics.estimate import Estimate, estimate_mean
from plenum.dynamics.fit import Floats

PERMUTATIONS = 2_000
"""A p of 0.05 is then known to 0.005 (one standard error)."""


@dataclass(frozen=True)
class Branching:
    """Estimates from B base states with K continuations each (S3).

    Attributes
    ----------
    gamma, gamma_by_base
        Γ̂ = Ĥ - μ̂, as the paper writes it (Eqs. S1-S3): mean and interval over base states, and
        each one, shape (B,). If all branches start at one state it can't be negative, and noise
        alone makes it positive: Γ̂ > 0 is then no evidence of amplification.
    signed, signed_by_base
        Mean over s >= 2 of log(D(t+s) / D(t+1)) - ½ log s: zero under diffusion, negative under
        contraction, positive under amplification. NaN for a base state whose D(t+1) is zero.
    c_in, c_out
        Mean cosine similarity of preferences minus 1/K within, and across, base states, by base
        state, shape (B,). c_in > c_out is evidence of memory of the base state, not of chaos:
        contraction and expansion both give it.
    c_in_raw, c_out_raw
        The same on raw preferences, as the paper writes it (Eq. S4): near 1 whatever happens.
    c_p
        Permutation test of base labels on mean c_in - mean c_out, one-sided.
    bases, branches
        B and K.
    labels
        Names of the base states, in their order; 0, 1, ... unless they were given.
    """

    gamma: Estimate
    signed: Estimate
    c_p: float
    bases: int
    branches: int
    gamma_by_base: Floats = field(repr=False)
    signed_by_base: Floats = field(repr=False)
    c_in: Floats = field(repr=False)
    c_out: Floats = field(repr=False)
    c_in_raw: Floats = field(repr=False)
    c_out_raw: Floats = field(repr=False)
    labels: tuple[int, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class NextAnswers:
    """Entropy of K next answers at each turn of a run, as in the authors' released files.

    Nothing is continued there: the published Γ̂ of Fig. S6 is this one, and not that of
    :class:`Branching`, which follows section S3.

    Attributes
    ----------
    entropy
        Entropy of the answers' top options at each turn, in nats, shape (turns,).
    expansive
        Share of turns whose entropy is at or above the threshold, μ̂(D).
    c_in, c_out
        Mean entropy of the expansive turns, and of the others; NaN if there are none.
    """

    entropy: Floats = field(repr=False)
    expansive: float
    c_in: float
    c_out: float

    @property
    def gamma(self) -> float:
        """Γ̂ = μ̂(D) · ĉ_in, in nats; 0 where no turn is expansive."""
        return self.expansive * self.c_in if self.expansive else 0.0


def estimate_next_answers(samples: Sequence[ArrayLike], threshold: float = 0.5) -> NextAnswers:
    """Compute Γ̂ and ĉ as the authors' released files do.

    Parameters
    ----------
    samples
        The preferences of each turn's answers, shape (answers, options). The first of equal
        options is on top.
    threshold
        Entropy from which a turn is expansive, in nats.

    Raises
    ------
    ValueError
        There is no turn, or one without an answer.
    """
    arrays = [np.asarray(turn, float) for turn in samples]
    if not arrays or any(turn.ndim != 2 or not len(turn) for turn in arrays):
        raise ValueError("samples: at least one turn, each with at least one answer")
    # Each answer counts for its top option alone, as in the authors' files: not for its shares.
    counts = [np.bincount(turn.argmax(axis=1), minlength=turn.shape[1]) for turn in arrays]
    # `entr` is -p log p with 0 log 0 = 0, so that options without an answer add nothing.
    levels = np.array([float(entr(count / count.sum()).sum()) for count in counts])
    inside = levels >= threshold
    c_in, c_out = (
        float(part.mean()) if len(part) else np.nan for part in (levels[inside], levels[~inside])
    )
    return NextAnswers(levels, float(inside.mean()), c_in, c_out)


def branching(
    continuations: ArrayLike, start: ArrayLike, *, permutations: int = PERMUTATIONS, seed: int = 0
) -> Branching:
    """Estimate local divergence from continuations of base states.

    Parameters
    ----------
    continuations
        Committee mean preferences of rounds t + 1 on, shape (B, K, rounds, options).
    start
        The state at round t: one for all branches of a base, shape (B, options), or one for
        each branch, shape (B, K, options).
    permutations, seed
        The number of permutations in the test of base labels, and the seed that draws them.

    Returns
    -------
    Branching
        Units are base states: intervals are Student's t with B - 1 degrees of freedom.

    Raises
    ------
    ValueError
        A shape is malformed, there are fewer than two branches, or a value isn't finite.

    Examples
    --------
    Two base states with four continuations each, which take random steps:

    >>> import numpy as np
    >>> import plenum
    >>> start = np.array([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]])
    >>> steps = np.random.default_rng(0).normal(0, 0.01, (2, 4, 6, 3)).cumsum(axis=2)
    >>> found = plenum.branching(start[:, None, None, :] + steps, start)
    >>> found.bases, found.branches, found.gamma.n
    (2, 4, 2)
    """
    array, origin = _check(continuations, start)
    bases, branches, _, options = array.shape
    levels = np.stack([divergence(base) for base in array])
    # Ĥ - μ̂ (Eqs. S1-S3): the mean later level minus that at round t, which is 0 from one state.
    # The branches at round t are an ensemble of one round.
    gamma = levels.mean(axis=1) - np.array([divergence(base[:, None])[0] for base in origin])
    signed = np.array([_average_signed(level) for level in levels])
    # Preferences are positive, so that raw cosines are near 1 whatever happens: take 1/K off.
    centred = _cosines(array - 1 / options)
    raw = _cosines(array)
    # As `_cosines` flattens them: all branches of a base in a row.
    labels = np.repeat(np.arange(bases), branches)
    c_in, c_out = _in_out(centred, labels)
    c_in_raw, c_out_raw = _in_out(raw, labels)
    return Branching(
        # Base states are the units: continuations of one share it, and would count it several
        # times.
        gamma=estimate_mean(gamma, "mean over base states"),
        signed=estimate_mean(signed, "mean over base states"),
        c_p=_permutation(centred, labels, permutations, seed),
        bases=bases,
        branches=branches,
        gamma_by_base=gamma,
        signed_by_base=signed,
        c_in=c_in,
        c_out=c_out,
        c_in_raw=c_in_raw,
        c_out_raw=c_out_raw,
        labels=tuple(range(bases)),
    )


def estimate_branching(
    trajectories: ArrayLike, bases: ArrayLike, after_round: int, **more: int
) -> Branching | None:
    """Estimate local divergence from replicates that each branched off a base state.

    Parameters
    ----------
    trajectories
        Committee mean preferences of all rounds, those before the branching included, shape
        (replicates, rounds, options).
    bases
        The base of each replicate, shape (replicates,).
    after_round
        The round after which they branched, counted from 1.
    **more
        ``permutations`` and ``seed``, as in :func:`branching`.

    Returns
    -------
    Branching or None
        ``None`` if no base has two replicates. Bases with fewer are left out; each of the others
        gives as many branches as the smallest of them has.
    """
    array, base_of = np.asarray(trajectories, dtype=float), np.asarray(bases)
    groups = {int(base): array[base_of == base] for base in np.unique(base_of)}
    # A distance, and so D of a base, takes two continuations.
    groups = {base: group for base, group in groups.items() if len(group) >= 2}
    if not groups:
        return None
    # One array needs as many branches of every base; which ones stay isn't chosen by results.
    branches = min(len(group) for group in groups.values())
    stacked = np.stack([group[:branches] for group in groups.values()])
    start = stacked[:, 0, after_round - 1]  # the replicates of a base are equal up to this round
    result = branching(stacked[:, :, after_round:], start, **more)
    return replace(result, labels=tuple(groups))


def _check(continuations: ArrayLike, start: ArrayLike) -> tuple[Floats, Floats]:
    """Check both arrays, and give each branch its own start, shape (B, K, options)."""
    array, origin = np.asarray(continuations, dtype=float), np.asarray(start, dtype=float)
    if array.ndim != 4 or array.shape[1] < 2 or not array.shape[0]:
        raise ValueError(
            f"continuations have shape (bases, branches >= 2, rounds, options), not {array.shape}"
        )
    # Called for its checks alone.
    as_ensemble(array.reshape(-1, *array.shape[2:]))
    if origin.shape == (array.shape[0], array.shape[3]):
        origin = np.repeat(origin[:, None], array.shape[1], axis=1)
    if origin.shape != (*array.shape[:2], array.shape[3]) or not np.isfinite(origin).all():
        raise ValueError(f"states at round t have shape (bases, options), not {origin.shape}")
    return array, origin


def _average_signed(level: Floats) -> float:
    """Return the mean of log(D(t+s) / D(t+1)) - ½ log s over s >= 2 with D(t+s) > 0."""
    steps = np.arange(1, len(level) + 1)
    # From s = 2 on: D(t+1) itself is what later ones are compared with; 0 has no logarithm.
    later = (steps >= 2) & (level > 0)
    # Without a first distance later ones have nothing to be compared with.
    if level[0] <= 0 or not later.any():
        return float("nan")
    # Random walks spread as √s, so that log(D(t+s)/D(t+1)) is ½ log s without any amplification.
    return float((np.log(level[later] / level[0]) - np.log(steps[later]) / 2).mean())


def _cosines(array: Floats) -> Floats:
    """Return the cosine similarity of all pairs of continuations, shape (B·K, B·K).

    It is averaged over the rounds in which neither of the two is the zero vector.
    """
    flat = array.reshape(-1, *array.shape[2:])
    norms = np.linalg.norm(flat, axis=-1, keepdims=True)
    # The direction of a vector this short is the residue of rounding.
    nonzero = norms > 1e-9
    units = np.divide(flat, norms, out=np.zeros_like(flat), where=nonzero)
    defined = nonzero[..., 0].astype(float)
    # Summed over rounds and options at once: zero vectors add nothing and aren't counted.
    sums, counts = np.einsum("ask,bsk->ab", units, units), defined @ defined.T
    return np.asarray(np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0))


def _in_out(cosines: Floats, labels: NDArray[np.int_]) -> tuple[Floats, Floats]:
    """Average each base's similarities: among its continuations, and to those of other bases."""
    same = labels[:, None] == labels[None, :]
    # A continuation's cosine with itself is 1 and says nothing of its base.
    off_diagonal = ~np.eye(len(labels), dtype=bool)
    inside, outside = np.full((2, labels.max() + 1), np.nan)
    for base in range(labels.max() + 1):
        in_base = (labels == base)[:, None]
        inside[base] = _average(cosines[in_base & same & off_diagonal])
        outside[base] = _average(cosines[in_base & ~same])
    return inside, outside


def _permutation(cosines: Floats, labels: NDArray[np.int_], permutations: int, seed: int) -> float:
    """Return the one-sided p of mean c_in - mean c_out under exchangeable base labels."""
    # The labels of one base state can only be dealt out in one way.
    if labels.max() == 0 or permutations < 1:
        return float("nan")
    # Seeded by the number of continuations too, so that designs of other sizes draw other orders.
    generator = np.random.Generator(np.random.PCG64([seed, len(labels)]))
    known = np.isfinite(cosines) & ~np.eye(len(labels), dtype=bool)
    values, weights = np.where(known, cosines, 0.0), known.astype(float)

    def gap(order: NDArray[np.int_]) -> float:
        member = (order[:, None] == np.arange(labels.max() + 1)).astype(float)
        # Sums over all pairs that share a base, without a loop over bases.
        inside, count = (float((member * (x @ member)).sum()) for x in (values, weights))
        outside, rest = values.sum() - inside, weights.sum() - count
        return float(inside / count - outside / rest) if count and rest else float("nan")

    observed = gap(labels)
    if np.isnan(observed):
        return float("nan")
    null = np.array([gap(generator.permutation(labels)) for _ in range(permutations)])
    as_extreme = null >= observed - 1e-12  # rounding mustn't make equal gaps differ
    # The observed labelling is one of them, so that p is never 0 (Phipson and Smyth 2010).
    return float((1 + as_extreme.sum()) / (1 + permutations))


def _average(values: Floats) -> float:
    # NaN is a pair without a round in which both point somewhere: it is unknown, and no 0.
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else float("nan")
