"""Comparison with an earlier program: anytime-valid evidence that this one is less stable.

The two-sample test is that of Turner and Grünwald (2302.11401), on the share of the modal decision.
"""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, logsumexp, xlogy

from plenum.dynamics.fit import Floats
from plenum.dynamics.multiplicity import benjamini_hochberg
from plenum_verdicts.dynamics.audits import (
    CaseVerdict,
    StabilityRule,
    encode_outcomes,
    judge_case,
    p_value,
)
from plenum_verdicts.dynamics.sequential import e_value
from plenum_verdicts.dynamics.share_intervals import share_interval

_EARLIER = np.array([0.7, 0.9, 0.99])
_WORSE = np.array([0.4, 0.65, 0.85])
"""Alternatives: the earlier share, and the present one relative to it. Their mean costs log 9 = 2.2
at most against the best of the nine, of the 3.0 that an alpha of 0.05 asks for."""

_RATIOS = (1, 3)
"""Numbers of earlier runs compared with each new one; the evidence is the mean over them. Three to
one uses more of them where there are more than new ones."""

_NOMINEE = 0.9
"""Weight of the earlier program's first decision; the other options share the rest. As of one
program (:mod:`~.sequential`), fewer runs then show as much."""


@dataclass(frozen=True)
class CaseComparison:
    """A case of a program, compared with the same case of an earlier one.

    Attributes
    ----------
    now, before
        The verdicts on both.
    difference, low, high
        Difference of the shares of their modal decisions, with an anytime-valid interval: each side
        misses it with a probability of at most the rule's ``alpha``.
    log_worse
        Natural logarithm of the largest e-value so far against the hypothesis that the share hasn't
        decreased.
    decides_otherwise
        True if the share of the earlier program's most frequent decision is shown to have fallen,
        and another one is the most frequent now.
    least_drop
        The smallest drop of the share, of those of this case, that so many runs would have shown;
        ``None`` if they would have shown none.
    """

    now: CaseVerdict
    before: CaseVerdict
    difference: float
    low: float
    high: float
    log_worse: float
    decides_otherwise: bool = False
    least_drop: float | None = None

    @property
    def worse(self) -> float:
        """The largest e-value so far, capped as by :func:`~.sequential.e_value`."""
        return e_value(self.log_worse)


def compare(
    now: Sequence[str],
    before: Sequence[str],
    options: Sequence[str],
    rule: StabilityRule,
    among: int = 1,
) -> CaseComparison:
    """Compare two programs on one case.

    Parameters
    ----------
    now, before
        Outcomes of the runs, from :func:`plenum_verdicts.dynamics.audits.select_ended`.
    among
        Number of cases that are compared.
    """
    new, old = encode_outcomes(now, options), encode_outcomes(before, options)
    modes, categories = len(options), len(options) + 2
    # Half of alpha each: the difference misses where one of the two limits does.
    low_now, high_now = share_interval(new, categories, rule.alpha / 2, modes)
    low_old, high_old = share_interval(old, categories, rule.alpha / 2, modes)
    present = judge_case(now, options, rule)
    earlier = judge_case(before, options, rule)
    # The difference is least from the lowest share now to the highest before.
    return CaseComparison(
        now=present,
        before=earlier,
        difference=present.share - earlier.share,
        low=low_now - high_old,
        high=high_now - low_old,
        log_worse=compute_worsening(now, before, options),
        decides_otherwise=present.mode != earlier.mode
        and _has_fallen(new, old, options, earlier.mode, rule.alpha / among),
        least_drop=_find_drop(len(new), tuple(old.tolist()), modes, rule.alpha / among),
    )


def _has_fallen(
    new: NDArray[np.int_], old: NDArray[np.int_], options: Sequence[str], mode: str, alpha: float
) -> bool:
    """Return whether an option has a smaller share than before, by limits that don't overlap."""
    # The earlier program never decided: there is no share that could have fallen.
    if mode not in options:
        return False
    # The option was chosen by what was seen, among all of them.
    each, at = alpha / 2 / len(options), list(options).index(mode)
    low, _ = _limit_share(int((old == at).sum()), len(old), each)
    _, high = _limit_share(int((new == at).sum()), len(new), each)
    return high < low


def _limit_share(hits: int, runs: int, alpha: float) -> tuple[float, float]:
    """Return limits of a share that hold however often one looks (Robbins' mixture over shares)."""
    # A share is refuted once the mixture over all shares is 1 / alpha times as likely as it.
    # In steps of a thousandth: limits are compared with each other, and shown nowhere.
    p = np.arange(1, 1000) / 1000
    # Jeffreys' Beta(½, ½) over shares.
    mixed = betaln(hits + 0.5, runs - hits + 0.5) - betaln(0.5, 0.5)
    kept = p[mixed - xlogy(hits, p) - xlogy(runs - hits, 1 - p) < -math.log(alpha)]
    return float(kept.min()), float(kept.max())


# Cases of an audit often have equal runs, and each search weighs the evidence several times.
@lru_cache(4096)
def _find_drop(runs: int, old: tuple[int, ...], modes: int, alpha: float) -> float | None:
    """Return the smallest drop that shows in so many runs of which the others fail, evenly."""
    before = np.array(old, int)
    counts = np.bincount(before, minlength=modes)[:modes]
    mode = int(counts.argmax())

    def shows(failing: int) -> bool:
        # Failing runs are spread evenly: the evidence counts runs in their order.
        turns = np.arange(runs + 1) * failing // max(runs, 1)
        path = np.where(np.diff(turns) > 0, modes + 1, mode)
        return bool(log_worse(path, before, modes).max(initial=0.0) >= -math.log(alpha))

    # The first earlier run nominates: one alone shows nothing.
    if not runs or len(old) < 2 or not shows(runs):
        return None
    # More failing runs never show less.
    # A place in the range is one less than the number that stands there.
    least = bisect_left(range(1, runs + 1), True, key=shows) + 1
    return float(counts[mode] / len(before) - 1 + least / runs)


def compute_worsening(now: Sequence[str], before: Sequence[str], options: Sequence[str]) -> float:
    """Return the log of the largest e-value so far against a share that hasn't decreased."""
    logs = log_worse(encode_outcomes(now, options), encode_outcomes(before, options), len(options))
    return float(logs.max(initial=0.0))


def worse_cases(cases: Mapping[str, CaseComparison], alpha: float) -> tuple[str, ...]:
    """Return the cases shown to be less stable than before, by Benjamini and Hochberg."""
    p = benjamini_hochberg([p_value(case.log_worse) for case in cases.values()])
    return tuple(name for name, each in zip(cases, p, strict=True) if each <= alpha)


def log_worse(new: NDArray[np.int_], old: NDArray[np.int_], modes: int) -> Floats:
    """Return log e-values against: no option's earlier share exceeds all present shares.

    For each option that may have been the mode, every option that may be it now must be refuted.

    Parameters
    ----------
    new, old
        Outcomes by number; the first ``modes`` of them may be the mode. The first old outcome
        nominates the option with the highest weight, and isn't used as evidence.

    Returns
    -------
    array, shape (new runs,)
        After each of the new runs.
    """
    # The first old run nominates, and is no evidence: without another one there is none.
    if len(old) < 2 or not len(new):
        return np.zeros(len(new))
    named = np.arange(modes) == old[0]
    # Where the first old run named no option, none is favoured.
    weights = np.where(named, _NOMINEE, (1 - _NOMINEE) / (modes - 1)) if named.any() else None
    weights = np.full(modes, 1 / modes) if weights is None else weights
    each = [_log_worse(new, old[1:], modes, ratio) for ratio in _RATIOS]
    # The mean of e-values is one: it costs log 2, and needs no choice of a ratio.
    mean = logsumexp(each, axis=0) - math.log(len(each))
    # Smallest over options now, all of which must be refuted; weighted mean over options before.
    return np.asarray(logsumexp(mean.min(axis=2), axis=1, b=weights))


def _log_worse(
    new: NDArray[np.int_], old: NDArray[np.int_], modes: int, ratio: int
) -> NDArray[np.float64]:
    """Return log e-values by new run, earlier and present option; constant once old runs end."""
    blocks = min(len(new), len(old) // ratio)
    if not blocks:
        return np.zeros((len(new), modes, modes))
    number = np.arange(1, blocks + 1)
    present = np.cumsum(new[:blocks, None] == np.arange(modes), axis=0)
    used = old[: blocks * ratio, None] == np.arange(modes)
    # A block is one new run and `ratio` old ones: counted where a block ends.
    earlier = np.cumsum(used, axis=0)[ratio - 1 :: ratio]
    high = np.repeat(_EARLIER, len(_WORSE))
    low = high * np.tile(_WORSE, len(_EARLIER))
    # Under equality the share that the block's mixture of runs has: the hypothesis at its best.
    equal = (low + ratio * high) / (1 + ratio)
    gained = _log_ratio(present, number, low, equal)[:, None]
    kept = _log_ratio(earlier, number * ratio, high, equal)[:, :, None]
    logs = logsumexp(gained + kept, axis=-1) - math.log(len(high))
    # Further new runs have no partner: the evidence stays as it is.
    return np.concatenate([logs, np.repeat(logs[-1:], len(new) - blocks, axis=0)])


def _log_ratio(hits: NDArray[np.int_], runs: NDArray[np.int_], p: Floats, q: Floats) -> Floats:
    """Return log likelihood ratios of shares p to q, shape (runs, options, alternatives)."""
    misses = runs[:, None] - hits
    gains = np.multiply.outer(hits, np.log(p / q))
    return np.asarray(gains + np.multiply.outer(misses, np.log((1 - p) / (1 - q))))
