"""Measure the errors of comparisons of two programs on a suite, at their boundaries."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from suite_draws import CASES, Shares, draw_runs, right_or_wrong

from plenum_audit.suites import Codes, compare_suites

_EVEN = np.full(CASES, 4)
_VARIED = np.tile([2, 3, 4, 5, 6], CASES // 5)
_REPEATS = {"4, 4": (_EVEN, _EVEN), "2 to 6": (_VARIED, _VARIED[::-1]), "3, 10": (3, 10)}
_CASE = np.arange(CASES)
_PROGRAMS: dict[str, Shares] = {
    "all stable": np.ones(CASES),
    "all coins": np.full(CASES, 0.5),
    "all at .97": np.full(CASES, 0.97),
    "80/20": np.where(_CASE < 40, 1, 0.5),
    "95/5": np.where(_CASE < 47, 1, 0.5),
    "right or never": np.where(_CASE < 25, 1.0, 0.0),
    "uniform": np.linspace(0.01, 0.99, CASES),
    "beta(8, .5)": np.random.default_rng(7).beta(8, 0.5, CASES),
}


def measure_comparisons(draws: int) -> dict[str, Any]:
    """Measure how often a program that isn't worse is called so, and the other way round."""
    draw = np.random.default_rng(8)
    worse, within, agreement = 0.0, 0.0, 0.0
    for name, (before, after) in _REPEATS.items():
        one, two = (np.broadcast_to(np.asarray(each), CASES).astype(np.intp) for each in
                    (before, after))  # fmt: skip
        for kind, shares in _PROGRAMS.items():
            same = max(
                _share(draw, draws, shares, other, one, two, 0.02, "worse")
                for other in (shares, draw.permutation(shares))
            )
            drops = [
                _share(draw, draws, shares, lower, one, two, margin, "within")
                for margin in (0.02, 0.05)
                for lower in _lower(shares, margin)
            ]
            steady = _share(draw, draws, shares, shares, one, two, 0.02, "worse", scored=False)
            less = _less_steady(shares, 0.05)
            drifts = 0.0
            if less is not None:
                drifts = _share(draw, draws, shares, less, one, two, 0.05, "within", scored=False)
            print(
                f"compare, {name} runs, {kind}: false worse {same:.3f}, false not worse "
                f"{max(drops):.3f}; without right answers {steady:.3f}, {drifts:.3f}",
                flush=True,
            )
            worse, within = max(worse, same), max(within, *drops)
            agreement = max(agreement, steady, drifts)
    settled = _settled(draw, max(draws // 10, 50))
    return {
        "compare_false_worse": worse, "compare_false_not_worse": within,
        "compare_false_agreement": agreement, "compare_settled_as_advised": settled,
    }  # fmt: skip


def _lower(shares: Shares, margin: float) -> Iterator[Shares]:
    """Yield programs whose score is lower by the margin: in all cases, in few, and in ten."""
    yield shares * (shares.mean() - margin) / shares.mean()
    for most in (1.0, margin * CASES / 10):
        lower, left = shares.copy(), margin * CASES
        for case in np.argsort(-shares):
            taken = min(left, most, lower[case])
            lower[case] -= taken
            left -= taken
        if left < 1e-9:
            yield lower


def _less_steady(shares: Shares, margin: float) -> Shares | None:
    """Return chances with which two runs end alike less often by the margin, in all cases.

    ``None`` where that would take more than coins.
    """
    off = float((2 * (shares - 0.5) ** 2).mean())
    return None if off < margin else np.asarray(0.5 + (shares - 0.5) * np.sqrt(1 - margin / off))


def _share(
    draw: np.random.Generator, draws: int, before: Shares, after: Shares, one: Codes, two: Codes,
    margin: float, claim: str, scored: bool = True,
) -> float:  # fmt: skip
    """Return how often a claim is made."""
    made = 0
    for _ in range(draws):
        pair = [
            draw_runs(draw, right_or_wrong(shares), repeats, scored)
            for shares, repeats in ((before, one), (after, two))
        ]
        made += getattr(compare_suites(pair[0], pair[1], margin), claim)
    return made / draws


def _settled(draw: np.random.Generator, draws: int) -> float:
    """Return how often the advised repeats settle what the first ones didn't, equal programs."""
    settled = []
    shares = right_or_wrong(_PROGRAMS["80/20"])
    for _ in range(draws):
        first = compare_suites(draw_runs(draw, shares), draw_runs(draw, shares), 0.02)
        if first.further is None:
            continue
        more = _EVEN + first.further
        again = compare_suites(draw_runs(draw, shares, more), draw_runs(draw, shares, more), 0.02)
        settled.append(again.worse or again.within)
    return round(float(np.mean(settled)), 3)
