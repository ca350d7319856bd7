"""The part of `claims.py` on rules: how often tests and intervals of their changes are wrong."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.stats import binom

from plenum_rules.committees import votes_differ
from plenum_rules.comparisons import (
    MeanDifference,
    PairedDifference,
    average,
    pair_decisions,
    pair_statistic,
)

Draw = Callable[[np.random.Generator, int], list[PairedDifference]]

SHARES = {
    "even": (0.5, 0.5),
    "most": (0.8, 0.2),
    "nearly all": (0.95, 0.05),
    "three": (0.5, 0.3, 0.2),
    "mixed": None,
}
"""Shares of decisions in every condition; mixed: every condition has one of the others, or none."""

CONDITIONS = 12
_CLAIMS = 100
"""The least number of intervals or tests from which a figure is made; most draws of rare decisions
give none."""


def measure_rules(quick: bool) -> dict[str, object]:
    """Measure rejections at 5 % where a rule changes nothing, and coverage where it does."""
    draws = 200 if quick else 2000
    sizes = {
        f"{name} {runs}": _share([p < 0.05 for p in _p_values(name, runs, draws)])
        for name in SHARES
        for runs in (10, 20)
    }
    covers = {
        f"{runs} kept {kept}": _cover(runs, kept, draws)
        for runs in (10, 20)
        for kept in (0.2, 0.5, 0.8)
    }
    covers |= {f"20, vote of {m}": _cover_votes(m, draws // 4) for m in (3, 5)}
    sizes, covers = ({k: v for k, v in each.items() if v == v} for each in (sizes, covers))
    worst = max(sizes, key=sizes.__getitem__)
    least = min(covers, key=covers.__getitem__)
    return {
        "rule_size": round(sizes[worst], 4),
        "rule_size_at": worst,
        "rule_cover": round(covers[least], 4),
        "rule_cover_at": least,
    }


def _p_values(name: str, runs: int, draws: int) -> list[float]:
    """Test rules whose decisions are drawn apart from the protocol's, by the same law."""
    generator = np.random.default_rng(20261125)
    found = (average(_same_law(generator, name, runs)).p for _ in range(draws))
    return [p for p in found if np.isfinite(p)]


def _share(claims: Sequence[bool]) -> float:
    """Return the share of claims that are true; NaN where hardly any is made."""
    return float(np.mean(claims)) if len(claims) >= _CLAIMS else float("nan")


def _same_law(generator: np.random.Generator, name: str, runs: int) -> list[PairedDifference]:
    laws: Mapping[str, tuple[float, ...] | None] = SHARES
    each = [law for law in laws.values() if law] + [(1.0,)]
    chosen = [laws[name] or each[place % len(each)] for place in range(CONDITIONS)]
    return [
        pair_decisions(*(generator.choice(len(law), runs, p=law) for _ in range(2)))
        for law in chosen
    ]


def _cover(runs: int, kept: float, draws: int) -> float:
    """Cover the change by a rule that keeps a decision, or replaces it by the first option."""
    generator = np.random.default_rng(7)
    shares = np.linspace(0.5, 0.95, CONDITIONS)
    other = 1 - shares
    after = kept * other
    true = float(np.mean(2 * after * (1 - after) - 2 * other * (1 - other)))
    covered = []
    for _ in range(draws):
        pairs = []
        for share in shares:
            protocol = (generator.random(runs) > share).astype(int)
            rule = np.where(generator.random(runs) < kept, protocol, 0)
            pairs.append(pair_decisions(rule, protocol))
        covered += _holds(average(pairs), true)
    return _share(covered)


def _cover_votes(members: int, draws: int) -> float:
    """Cover the change by a vote of several committees of two options, of 20 runs each."""
    generator = np.random.default_rng(8)
    shares = np.linspace(0.5, 0.95, CONDITIONS)
    won = binom.sf(members // 2, members, shares)
    true = float(np.mean(2 * won * (1 - won) - 2 * shares * (1 - shares)))
    covered = []
    for _ in range(draws):
        decided = [(generator.random(20) > share).astype(int) for share in shares]
        pairs = [
            pair_statistic(lambda counts: votes_differ(counts, 0, members)[0], each)
            for each in decided
        ]
        covered += _holds(average(pairs), true)
    return _share(covered)


def _holds(mean: MeanDifference, true: float) -> list[bool]:
    """Return whether an interval holds; one that isn't printed claims nothing."""
    return [mean.ci_low <= true <= mean.ci_high] if np.isfinite(mean.ci_low) else []
