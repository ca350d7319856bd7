"""Fragility: decisions and λ̂_pert over the wordings of one scenario, by variant family."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from plenum.dynamics.decisions import Share, estimate_share, mcnemar
from plenum.dynamics.divergence import as_ensemble
from plenum.dynamics.estimate import Estimate, estimate_mean
from plenum.dynamics.fit import WINDOW
from plenum.dynamics.lyapunov import LyapunovEstimate, lyapunov
from plenum.dynamics.resampling import DRAWS

CANONICAL = "canonical"
ALL = "all"


@dataclass(frozen=True)
class VariantOutcome:
    """The wording that one replicate read, and its decision.

    Attributes
    ----------
    variant, family
        The wording's name within its scenario, and its family.
    repetition
        How often the replicates before it went through all wordings: 0 where each is read once.
    decision
        The label it decided for; ``NONE`` is a decision of its own.
    """

    variant: str
    family: str
    repetition: int
    decision: str


@dataclass(frozen=True)
class FamilyEstimate:
    """Effect of the wordings of one family on a condition.

    Attributes
    ----------
    family
        ``all``, or the name of a family.
    wordings
        Wordings other than the canonical one of which a replicate completed.
    fragility
        Share of them that decide differently from the canonical wording, with its interval. Of a
        wording that was read several times it is the share of its repetitions that decide
        differently from the canonical wording's same repetition.
    exponent
        λ̂_pert: λ̂ over the replicates of the canonical wording and of the family.
    alone
        λ̂_pert of the family without the canonical wording, as the papers' authors compute it; the
        same as ``exponent`` for all.
    reason
        Why there is no fragility: ``no_canonical`` or ``no_wordings``; empty where there is one.
    """

    family: str
    wordings: int
    fragility: Share
    exponent: LyapunovEstimate
    alone: LyapunovEstimate
    reason: str = ""


def estimate_families(
    ensemble: ArrayLike,
    readings: Sequence[VariantOutcome],
    window: tuple[int, int] = WINDOW,
    *,
    interval: str = "jackknife",
    draws: int = DRAWS,
    seed: int = 0,
) -> dict[str, FamilyEstimate]:
    """Fragility and λ̂_pert over all wordings of a scenario, and over those of each family.

    Parameters
    ----------
    ensemble
        Committee mean preferences of the completed replicates, shape (R, T, K).
    readings
        What each of them read and decided, in the same order.
    window, interval, draws, seed
        As for `lyapunov`.

    Returns
    -------
    dict
        Under ``all`` and under the name of each family but ``canonical``, in the order in which
        they first occur.

    Raises
    ------
    ValueError
        The lengths differ, or the ensemble, the window or the interval is malformed.
    """
    array = as_ensemble(ensemble)
    if len(array) != len(readings):
        raise ValueError(f"{len(readings)} readings for {len(array)} replicates")
    names = dict.fromkeys(r.family for r in readings if r.family != CANONICAL)
    estimates = {}
    for family in (ALL, *names):
        rows = [
            i for i, r in enumerate(readings) if family == ALL or r.family in (CANONICAL, family)
        ]
        members = [readings[i] for i in rows]
        own = [i for i in rows if family == ALL or readings[i].family == family]
        exponent, alone = (
            lyapunov(
                array[kept], window, [readings[i].decision for i in kept],
                interval=interval, draws=draws, seed=seed,
            )
            for kept in (rows, own)
        )  # fmt: skip
        changed = flips(members)
        count = len(changed)
        wordings = any(r.family != CANONICAL for r in members)
        reason = "" if changed else "no_canonical" if wordings else "no_wordings"
        fragility = estimate_share(sum(changed.values()), count)
        estimates[family] = FamilyEstimate(family, count, fragility, exponent, alone, reason)
    return estimates


def flips(readings: Sequence[VariantOutcome]) -> dict[str, float]:
    """Compute how often each wording changes the canonical decision, from 0 to 1.

    Each repetition of a wording is compared with the same repetition of the canonical wording; one
    whose counterpart did not complete is left out.

    Returns
    -------
    dict
        By the wording's name, the canonical one left out; 0 or 1 where wordings are read once.
    """
    canonical = {r.repetition: r.decision for r in readings if r.family == CANONICAL}
    compared: defaultdict[str, list[bool]] = defaultdict(list)
    for r in readings:
        if r.family != CANONICAL and r.repetition in canonical:
            compared[r.variant].append(r.decision != canonical[r.repetition])
    return {variant: sum(changed) / len(changed) for variant, changed in compared.items()}


def name_numbers(estimates: dict[str, FamilyEstimate]) -> dict[str, float]:
    """Return fragility and λ̂_pert by family as named numbers; NaN if one doesn't exist.

    ``fragility`` and its limits are over all wordings, and ``fragility_rephrase`` over a family.
    λ̂_pert over all wordings is the condition's λ̂, so only those of families are included.
    """
    numbers: dict[str, float] = {}
    for family, both in estimates.items():
        named: dict[str, Share | LyapunovEstimate] = {"fragility": both.fragility}
        if family != ALL:
            named = {f"fragility_{family}": both.fragility, f"lambda_pert_{family}": both.exponent}
        for name, e in named.items():
            numbers |= {name: e.value, f"{name}_low": e.ci_low, f"{name}_high": e.ci_high}
    return numbers


@dataclass(frozen=True)
class FragilityContrast(Estimate):
    """The difference of two conditions' fragility over the wordings that both have.

    Attributes
    ----------
    value, ci_low, ci_high, n
        First minus second, its 95 % interval, and the wordings that both have.
    p
        Two-sided, of no difference: McNemar's exact test; Student's t where wordings were read
        several times.
    first, second
        Fragility of each condition over these wordings.
    only_first, only_second
        Wordings that change the decision of the first alone, or of the second alone: the sums of
        the differences where wordings were read several times.
    """

    first: float = math.nan
    second: float = math.nan
    only_first: float = math.nan
    only_second: float = math.nan


def fragility_contrast(
    first: Sequence[VariantOutcome], second: Sequence[VariantOutcome]
) -> FragilityContrast:
    """Compare the fragility of two conditions, wording by wording.

    Each is measured against its own canonical decision. The interval is Newcombe's for paired
    shares (1998, method 10: Wilson limits, with the correlation of the pairs), which stays within
    -1 to 1 and keeps a width if no pair differs; Student's t over wordings if these were read
    several times. Wordings are the units: the result holds given both canonical decisions.

    Parameters
    ----------
    first, second
        What the completed replicates of each condition read and decided.

    Returns
    -------
    FragilityContrast
        NaN where they have no wording in common.
    """
    changed = flips(first), flips(second)
    both = [name for name in changed[0] if name in changed[1]]
    if not both:
        return FragilityContrast()
    x, y = (np.array([shares[name] for name in both]) for shares in changed)
    difference = estimate_mean(x - y, "Student's t over wordings")
    # Each wording read once: pairs of yes and no have an exact test and a better interval.
    if np.isin(np.concatenate([x, y]), (0, 1)).all():
        low, high = _newcombe(x > 0, y > 0)
        p = mcnemar((x > 0).tolist(), (y > 0).tolist()).p
        method = "McNemar, Newcombe"
        # Neither of the two rests on Student's t: there are no degrees of freedom to report.
        difference = replace(difference, ci_low=low, ci_high=high, p=p, df=math.nan, method=method)
    return FragilityContrast(
        **vars(difference),
        first=float(x.mean()),
        second=float(y.mean()),
        only_first=float((x - y).clip(min=0).sum()),
        only_second=float((y - x).clip(min=0).sum()),
    )


def average_scenarios(contrasts: Sequence[Estimate]) -> Estimate:
    """Average differences, one a scenario, by Student's t with scenarios as units.

    All have equal weight. Weights by their standard errors would drop the scenarios in which no
    wording distinguishes the conditions, since these have none.
    """
    return estimate_mean(np.array([c.value for c in contrasts]), "mean over scenarios, Student's t")


def _newcombe(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Limits of the difference of two paired shares (Newcombe 1998, method 10)."""
    from scipy.stats import binomtest

    n = len(x)
    a, b, c, d = (int(s.sum()) for s in (x & y, x & ~y, ~x & y, ~x & ~y))
    p, q = (a + b) / n, (a + c) / n
    wilson = [binomtest(count, n).proportion_ci(method="wilson") for count in (a + b, a + c)]
    (p_low, p_high), (q_low, q_high) = wilson
    # φ = (ad - bc) / √((a+b)(c+d)(a+c)(b+d)), the correlation of the pairs.
    product = (a + b) * (c + d) * (a + c) * (b + d)
    cross = float(a * d - b * c)
    if cross > 0:  # the continuity correction that the method takes
        cross = max(cross - n / 2, 0.0)
    phi = cross / math.sqrt(product) if product else 0.0
    # The difference is least where p is at its lower limit and q at its upper one.
    down, up = (p - p_low, q_high - q), (p_high - p, q - q_low)
    # Not below 0, where rounding may take the root of nothing.
    below, above = (math.sqrt(max(u * u - 2 * phi * u * v + v * v, 0.0)) for u, v in (down, up))
    return p - q - below, p - q + above
