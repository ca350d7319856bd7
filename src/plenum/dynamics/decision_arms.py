"""Two arms by the counts of their decisions, and what can be measured and tested of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from plenum.dynamics.decisions import Share, estimate_share, pairwise_disagreement
from plenum.dynamics.estimate import welch_df
from plenum.dynamics.fit import Floats
from plenum.dynamics.labellings import Counts, Labellings, Statistic, p_value, permute, swap

_MORE = 1.0
"""Replicates that are added to every decision where a variance is estimated: an arm whose
replicates all agree isn't certain. With fewer, intervals of 5 to 20 replicates miss too often."""

_LEFT = 0.1
"""The least share of a variance that the correlation of pairs leaves: few pairs may seem equal. The
tenth is plenum's own choice: near 0 a few pairs that all agree would make any difference a find,
near 1 pairs would gain nothing."""


@dataclass(frozen=True)
class Arms:
    """Two arms by their counts.

    Attributes
    ----------
    treated, control
        Replicates by decision, shape (decisions,).
    joint
        Pairs by the decisions of both, shape (decisions, decisions); ``None`` without pairs.
    draws, seed
        Of labellings where there are too many to list.
    """

    treated: Counts
    control: Counts
    joint: Counts | None
    draws: int
    seed: int

    @property
    def both(self) -> tuple[Counts, Counts]:
        """The counts of both arms."""
        return self.treated, self.control

    @property
    def size(self) -> int:
        """Replicates of both arms."""
        return int(self.treated.sum() + self.control.sum())

    @property
    def same_ranks(self) -> bool:
        """True if the decisions of both arms have the same order by frequency."""
        return bool((_by_frequency(self.treated) == _by_frequency(self.control)).all())

    def rank_decisions(self) -> "Arms":
        """Name decisions by their place in their own arm: the most frequent one, the second ..."""
        first, second = map(_by_frequency, self.both)
        joint = None if self.joint is None else self.joint[np.ix_(first, second)]
        return replace(self, treated=self.treated[first], control=self.control[second], joint=joint)

    def observe(self) -> Labellings:
        """Return the arms as the only labelling."""
        joint = None if self.joint is None else self.joint[None]
        return Labellings(self.treated[None], self.control[None], np.ones(1), joint)

    def relabel(self) -> Labellings:
        """Label the replicates anew, within pairs if there are some."""
        generator = _generator(self.seed, [self])
        if self.joint is not None:
            return swap(self.joint, self.draws, generator)
        return permute(self.treated, self.control, self.draws, generator)


def make_arms(
    treated: Sequence[str],
    control: Sequence[str],
    names: Sequence[str],
    paired: bool,
    draws: int,
    seed: int,
) -> Arms:
    """Count the decisions of two arms in the order of ``names``, which has all of them."""
    place = {name: at for at, name in enumerate(names)}
    first, second = ([place[d] for d in arm] for arm in (treated, control))
    joint = None
    if paired:
        joint = np.zeros((len(names), len(names)), np.int64)
        # Not +=, which would count a pair of decisions that occurs again only once.
        np.add.at(joint, (first, second), 1)
    counts = [np.bincount(arm, minlength=len(names)).astype(np.int64) for arm in (first, second)]
    return Arms(counts[0], counts[1], joint, draws, seed)


@dataclass(frozen=True)
class Measure:
    """A number that is estimated in each arm.

    Attributes
    ----------
    value, variance
        Of tables of counts, shape (tables, decisions), to (tables,).
    influence
        What a replicate of every decision adds to the estimate, to shape (tables, decisions).
    share
        The estimate of one arm with its own interval, from counts of shape (decisions,).
    nameless
        True if it stays the same if decisions change their names.
    """

    value: Callable[[Counts], Floats]
    variance: Callable[[Counts], Floats]
    influence: Callable[[Counts], Floats]
    share: Callable[[Counts], Share]
    nameless: bool = False

    def compare(self, labelled: Labellings) -> Statistic:
        """Return the difference of both arms under every labelling, with its variance."""
        arms = labelled.treated, labelled.control
        value = self.value(arms[0]) - self.value(arms[1])
        variance = self.variance(arms[0]) + self.variance(arms[1])
        # Pairs are correlated: var(X - Y) = var X + var Y - 2 cov. To first order (delta method)
        # the covariance of two estimates is that of their influences over pairs, divided by n.
        if labelled.joint is not None:
            added = [self.influence(counts) for counts in arms]
            n = labelled.joint.sum(axis=(1, 2))
            product = np.einsum("mab,ma,mb->m", labelled.joint, *added) / n
            means = [(h * counts).sum(axis=1) / n for h, counts in zip(added, arms, strict=True)]
            covariance = (product - means[0] * means[1]) / n
            variance = np.maximum(variance - 2 * covariance, _LEFT * variance)
        return Statistic(value, variance, labelled.weight, labelled.drawn)


def _smooth(counts: Counts) -> Floats:
    """Estimate shares with replicates added for every decision, and for one that didn't occur."""
    # One kind more than occurs: the next replicate may decide what none has decided.
    kinds = counts.shape[1] + 1
    return np.asarray((counts + _MORE) / (counts.sum(axis=1) + kinds * _MORE)[:, None])


def _disagreements(counts: Counts) -> Floats:
    n = counts.sum(axis=1)
    # The share of pairs that differ: 1 - Σ p̂² counts each replicate against itself too.
    return np.asarray(n / (n - 1) * (1 - ((counts / n[:, None]) ** 2).sum(axis=1)))


def _disagreement_variance(counts: Counts) -> Floats:
    """Return the variance of a U-statistic of order two, with shares as `_smooth` has them."""
    n, p = counts.sum(axis=1), _smooth(counts)
    # The share that `_smooth` keeps for a decision that didn't occur.
    rest = 1 - p.sum(axis=1)
    alike = (p**2).sum(axis=1) + rest**2
    # ζ₁ = Σp³ - (Σp²)², and ζ₂ = Σp² (1 - Σp²); var = (4 (n-2) ζ₁ + 2 ζ₂) / (n (n-1)) (Hoeffding
    # 1948). With ζ₁ alone an even split would have no variance.
    first = np.maximum((p**3).sum(axis=1) + rest**3 - alike**2, 0.0)
    return np.asarray((4 * (n - 2) * first + 2 * alike * (1 - alike)) / (n * (n - 1)))


DISAGREEMENT = Measure(
    value=_disagreements,
    variance=_disagreement_variance,
    # The derivative of 1 - Σ p².
    influence=lambda counts: -2 * _smooth(counts),
    share=lambda c: pairwise_disagreement([str(k) for k, n in enumerate(c) for _ in range(n)]),
    nameless=True,
)
"""The pairwise disagreement."""


def make_share_measure(place: int) -> Measure:
    """Make the measure of one decision's share."""

    def variance(counts: Counts) -> Floats:
        n = counts.sum(axis=1)
        # One success and one failure more (Agresti and Caffo 2000): a share of 0 or 1 isn't
        # certain.
        p = (counts[:, place] + _MORE) / (n + 2 * _MORE)
        return np.asarray(p * (1 - p) / n)

    def influence(counts: Counts) -> Floats:
        own = np.zeros(counts.shape)
        own[:, place] = 1.0
        return own

    return Measure(
        value=lambda counts: counts[:, place] / counts.sum(axis=1),
        variance=variance,
        influence=influence,
        share=lambda counts: estimate_share(int(counts[place]), int(counts.sum())),
    )


class _Law:
    """Pearson's chi-square of both arms, which needs no standard error."""

    @staticmethod
    def compare(labelled: Labellings) -> Statistic:
        """Return the chi-square of every labelling."""
        # All labellings have the totals of the first one: they only deal them out otherwise.
        total = labelled.treated[0] + labelled.control[0]
        size = labelled.treated[0].sum() / total.sum()
        # A decision of no replicate would be 0/0 in the sum.
        used = total > 0
        apart = labelled.treated[:, used] - size * total[used]
        # Both arms' terms in one: a²/(s t) + a²/((1 - s) t) = a²/t / (s (1 - s)).
        value = (apart**2 / total[used]).sum(axis=1) / (size * (1 - size))
        # Chi-square is scaled already: a variance of 1 leaves it as it is.
        return Statistic(value, np.ones(len(value)), labelled.weight, labelled.drawn)


LAW = _Law()
"""The distance between the shares of all decisions."""


def compute_p(
    strata: Sequence[Arms], coefficients: Sequence[float], measure: Measure | _Law
) -> tuple[float, bool]:
    """Test a sum of differences by permutation within each pair of arms: see `p_value`."""
    parts = [measure.compare(arms.relabel()) for arms in strata]
    generator = _generator(strata[0].seed, strata)
    return p_value(parts, coefficients, strata[0].draws, generator)


def compute_difference(
    strata: Sequence[Arms], coefficients: Sequence[float], measure: Measure
) -> tuple[float, float, float]:
    """Compute a sum of differences, its standard error, and degrees of freedom (Welch)."""
    value, variances, dfs = 0.0, [], []
    for c, arms in zip(coefficients, strata, strict=True):
        found = measure.compare(arms.observe())
        value += c * float(found.value[0])
        # Pairs give one variance, of their differences; arms apart give one each.
        if arms.joint is not None:
            variances.append(c * c * found.variance[0])
            # One degree of freedom less than there are pairs, of which each is two replicates.
            dfs.append(arms.size / 2 - 1)
            continue
        variances += [c * c * measure.variance(counts[None])[0] for counts in arms.both]
        dfs += [counts.sum() - 1 for counts in arms.both]
    all_of_them = np.array(variances)
    return value, float(np.sqrt(all_of_them.sum())), welch_df(all_of_them, np.array(dfs, float))


def _by_frequency(counts: Counts) -> Counts:
    # Stable: equally frequent decisions keep the order of names, so that p is the same again.
    return np.argsort(-counts, kind="stable")


def _generator(seed: int, strata: Sequence[Arms]) -> np.random.Generator:
    """Seed by the numbers of replicates, so that the same data give the same p."""
    sizes = [int(counts.sum()) for arms in strata for counts in arms.both]
    return np.random.Generator(np.random.PCG64([seed, *sizes]))
