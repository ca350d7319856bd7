"""Measure intervals and bounds where cases have 2 to 6 runs, and where scores are graded."""

from typing import Any

import numpy as np
from suite_draws import CASES, MIXTURES, RUNS, Shares, draw_runs

from plenum_audit.suites import (
    SuiteRuns,
    bound_unsteady_cases,
    estimate_disagreement,
    find_unsteady,
    score_suite,
)

_VARIED = np.tile([2, 3, 4, 5, 6], CASES // 5)
_SHARE = 0.95
_KINDS = {"level": (2.0, 1.0), "spread": (0.4, 0.4), "high": (9.0, 0.5)}
"""Parameters of the beta distribution of cases' mean scores."""


def measure_varied(draws: int) -> dict[str, Any]:
    """Measure with varied repeats, with graded scores, and the false names of cases."""
    draw = np.random.default_rng(10)
    hits: dict[str, list[float]] = {}
    for name, mixture in MIXTURES.items():
        kind = mixture(draw, 1_000_000)
        whole = float(_apart(kind).mean()), float((kind.max(axis=1) < _SHARE).mean())
        found = np.array([_varied(draw, mixture(draw, CASES), whole) for _ in range(draws)])
        for key, share in zip(
            ("G_these", "G_like", "bound_these", "bound_like"), found.mean(axis=0), strict=True
        ):
            hits.setdefault(f"varied_{key}", []).append(float(share))
        print(f"varied, {name}: {found.mean(axis=0).round(3)}", flush=True)
    for kind_of, (a, b) in _KINDS.items():
        graded = np.array([_graded(draw, a, b) for _ in range(draws)]).mean(axis=0)
        for key, share in zip(("score_these", "score_like", "floor_these"), graded, strict=True):
            hits.setdefault(f"graded_{key}", []).append(float(share))
        print(f"graded, {kind_of}: {graded.round(3)}", flush=True)
    false = max(
        float(np.mean([_false(draw, mixture(draw, CASES), runs) for _ in range(draws // 5)]))
        for mixture in MIXTURES.values()
        for runs in (4, 8, 16)
    )
    return {key: min(each) for key, each in hits.items()} | {"standing_out_fdr": round(false, 4)}


def _apart(shares: Shares) -> Shares:
    return np.asarray(1 - (shares**2).sum(axis=-1))


def _varied(
    draw: np.random.Generator, shares: Shares, whole: tuple[float, float]
) -> tuple[bool, ...]:
    runs = draw_runs(draw, shares, draw.permutation(_VARIED))
    found, bounds = estimate_disagreement(runs), bound_unsteady_cases(runs, _SHARE)
    bad = float((shares.max(axis=1) < _SHARE).mean())
    return (
        _within(float(_apart(shares).mean()), found.these), _within(whole[0], found.like),
        _within(bad, bounds.these), _within(whole[1], bounds.like),
    )  # fmt: skip


def _graded(draw: np.random.Generator, a: float, b: float) -> tuple[bool, ...]:
    """Draw scores of a case around its mean m, with a variance of m (1 - m) / 6."""
    means = np.clip(draw.beta(a, b, CASES), 1e-3, 1 - 1e-3)
    scores = draw.beta(5 * means[:, None], 5 * (1 - means[:, None]), (CASES, RUNS))
    names = {str(case): ["answered"] * RUNS for case in range(CASES)}
    runs = SuiteRuns.of(names, {str(case): list(own) for case, own in enumerate(scores)})
    found = score_suite(runs)
    floor = float(np.sqrt((means * (1 - means) / 6).mean() / CASES))
    return (
        _within(float(means.mean()), found.score.these), _within(a / (a + b), found.score.like),
        _within(floor, found.floor.these),
    )  # fmt: skip


def _false(draw: np.random.Generator, shares: Shares, runs: int) -> float:
    """Return the share of false names among the cases that stand out."""
    names = find_unsteady(draw_runs(draw, shares, runs), _SHARE)
    steady = shares.max(axis=1) >= _SHARE
    return float(np.mean([steady[int(name)] for name in names])) if names else 0.0


def _within(value: float, limits: tuple[float, float]) -> bool:
    return limits[0] - 1e-9 <= value <= limits[1] + 1e-9
