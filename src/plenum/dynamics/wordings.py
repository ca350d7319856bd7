"""Ensembles whose rows are wordings of one scenario: λ̂_pert and fragility, by variant family."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, stdtrit

from plenum.dynamics.decisions import Share, mcnemar
from plenum.dynamics.divergence import as_ensemble
from plenum.dynamics.estimate import Estimate, estimate, mean
from plenum.dynamics.fit import WINDOW
from plenum.dynamics.lyapunov import LyapunovEstimate, lyapunov
from plenum.dynamics.resampling import DRAWS

CANONICAL = "canonical"
ALL = "all"


@dataclass(frozen=True)
class Reading:
    """What one replicate read, and decided.

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
    """What the wordings of one family do to a condition.

    Attributes
    ----------
    family
        ``all``, or the name of a family.
    wordings
        Wordings beside the canonical one of which a replicate completed.
    fragility
        Share of them that decide otherwise than the canonical wording, with its interval. Of a
        wording that was read several times it is the share of its repetitions that decide
        otherwise than the canonical wording's same repetition.
    exponent
        λ̂_pert: λ̂ over the replicates of the canonical wording and of the family.
    reason
        Why there is no fragility: ``no_canonical`` or ``no_wordings``; empty where there is one.
    """

    family: str
    wordings: int
    fragility: Share
    exponent: LyapunovEstimate
    reason: str = ""


def by_family(
    ensemble: ArrayLike,
    readings: Sequence[Reading],
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
    found = {}
    for family in (ALL, *names):
        taken = [
            i for i, r in enumerate(readings) if family == ALL or r.family in (CANONICAL, family)
        ]
        own = [readings[i] for i in taken]
        exponent = lyapunov(
            array[taken], window, [r.decision for r in own],
            interval=interval, draws=draws, seed=seed,
        )  # fmt: skip
        changed = flips(own)
        wordings = len({r.variant for r in own if r.family != CANONICAL})
        reason = "" if changed else "no_canonical" if wordings else "no_wordings"
        found[family] = FamilyEstimate(family, len(changed), _share(changed), exponent, reason)
    return found


def flips(readings: Sequence[Reading]) -> dict[str, float]:
    """How often each wording decides otherwise than the canonical one, from 0 to 1.

    Each repetition of a wording is compared with the same repetition of the canonical wording;
    one whose counterpart did not complete is left out.

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


def details(found: dict[str, FamilyEstimate]) -> dict[str, float]:
    """Fragility and λ̂_pert by family as named numbers; NaN where one doesn't exist.

    ``fragility`` and its limits are over all wordings, and ``fragility_rephrase`` over a family;
    λ̂_pert over all wordings is the condition's λ̂, and only that of a family stands here.
    """
    numbers: dict[str, float] = {}
    for family, own in found.items():
        name = "fragility" if family == ALL else f"fragility_{family}"
        limits = (own.fragility.ci_low, own.fragility.ci_high)
        numbers |= {name: own.fragility.value, f"{name}_low": limits[0], f"{name}_high": limits[1]}
        if family != ALL:
            name, e = f"lambda_pert_{family}", own.exponent
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

    first: float
    second: float
    only_first: float
    only_second: float


def fragility_contrast(first: Sequence[Reading], second: Sequence[Reading]) -> FragilityContrast:
    """Compare how fragile two conditions are, wording by wording.

    Each is measured against its own canonical decision. The interval is Newcombe's for paired
    shares (1998, method 10: Wilson limits, with the correlation of the pairs), and stays within
    -1 to 1 and keeps a width where no pair differs; Student's t over wordings where these were
    read several times. Wordings are the units: what is said holds given both canonical decisions.

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
    x, y = (np.array([own[name] for name in both]) for own in changed)
    differences = x - y
    nan = float("nan")
    if not both:
        return FragilityContrast(**vars(estimate(nan, nan, 0, 0, "none")), **_beside([nan], [nan]))
    beside = _beside(x, y)
    if np.isin(np.concatenate([x, y]), (0, 1)).all():
        low, high = _newcombe(x > 0, y > 0)
        p = mcnemar((x > 0).tolist(), (y > 0).tolist()).p
        found = mean(differences, "McNemar, Newcombe")
        found = replace(found, ci_low=low, ci_high=high, p=p, df=nan)
    else:
        found = mean(differences, "Student's t over wordings")
    return FragilityContrast(**vars(found), **beside)


def _beside(first: ArrayLike, second: ArrayLike) -> dict[str, Any]:
    """What stands beside a difference: both shares, and the wordings that tell them apart."""
    x, y = np.asarray(first, float), np.asarray(second, float)
    return {
        "first": float(x.mean()),
        "second": float(y.mean()),
        "only_first": float((x - y).clip(min=0).sum()),
        "only_second": float((y - x).clip(min=0).sum()),
    }


def over_scenarios(contrasts: Sequence[Estimate]) -> Estimate:
    """The mean of differences, one a scenario: scenarios are the units, Student's t.

    All weigh alike. Weights by their standard errors would drop the scenarios in which no wording
    tells the conditions apart, since these have none.
    """
    return mean(np.array([c.value for c in contrasts]), "mean over scenarios, Student's t")


def _share(changed: dict[str, float]) -> Share:
    """The mean of shares of units, with Clopper and Pearson's interval.

    A unit's share lies between 0 and 1, so that no mean of them varies more than a count does.
    """
    n, total = len(changed), sum(changed.values())
    if n == 0:
        return Share(float("nan"), float("nan"), float("nan"), 0, 0)
    low = float(betaincinv(total, n - total + 1, 0.025)) if total > 0 else 0.0
    high = float(betaincinv(total + 1, n - total, 0.975)) if total < n else 1.0
    return Share(total / n, low, high, round(total) if float(total).is_integer() else None, n)


def _newcombe(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Limits of the difference of two paired shares (Newcombe 1998, method 10)."""
    n = len(x)
    a, b, c, d = (int(s.sum()) for s in (x & y, x & ~y, ~x & y, ~x & ~y))
    p, q = (a + b) / n, (a + c) / n
    (p_low, p_high), (q_low, q_high) = _wilson(p, n), _wilson(q, n)
    product = (a + b) * (c + d) * (a + c) * (b + d)
    cross = float(a * d - b * c)
    if cross > 0:  # the continuity correction that the method takes
        cross = max(cross - n / 2, 0.0)
    phi = cross / math.sqrt(product) if product else 0.0
    down, up = (p - p_low, q_high - q), (p_high - p, q - q_low)
    below, above = (math.sqrt(max(u * u - 2 * phi * u * v + v * v, 0.0)) for u, v in (down, up))
    return p - q - below, p - q + above


def _wilson(p: float, n: int) -> tuple[float, float]:
    z = float(stdtrit(math.inf, 0.975))
    middle = p + z * z / (2 * n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)
