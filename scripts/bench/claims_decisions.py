"""Measure the tests and intervals of decisions compared: size, power, coverage."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import fisher_exact, multinomial

from plenum.dynamics import compare_decisions, decision_interaction, pool_decisions

Law = tuple[float, ...]
Counts = tuple[int, ...]
Outcome = tuple[float, tuple[Counts, ...]]

NAMES = ("A", "B", "C", "NONE")
SIZES = ((5, 5), (10, 10), (20, 20), (20, 8))
ALPHA = 0.05

LAWS: dict[str, Law] = {
    ".5": (0.5, 0.5),
    ".8": (0.8, 0.2),
    ".95": (0.95, 0.05),
    "three options": (0.5, 0.3, 0.2),
    "none": (0.6, 0.2, 0.0, 0.2),
}
"""Shares of every decision."""

EQUALLY_OFTEN: dict[str, tuple[Law, Law]] = {
    ".8 A, .8 B": ((0.8, 0.2), (0.2, 0.8)),
    ".6 A, .6 B": ((0.6, 0.4), (0.4, 0.6)),
    "three, two": ((0.7, 0.15, 0.15), (0.6325, 0.3675)),
    "even, three": ((0.5, 0.5), (2 / 3, 1 / 6, 1 / 6)),
}
"""Different laws of equal disagreement."""

APART: dict[str, tuple[Law, Law]] = {
    "1, .7": ((1.0, 0.0), (0.7, 0.3)),
    "1, .5": ((1.0, 0.0), (0.5, 0.5)),
    ".95, .7": ((0.95, 0.05), (0.7, 0.3)),
    ".9, three": ((0.9, 0.1), (0.6, 0.3, 0.1)),
    "even, rare third": ((0.48, 0.48, 0.04), (0.95, 0.05)),
}

_EXACT = 700
"""So many outcomes of two arms are gone through; of more some are drawn."""

_DRAWS = 2_000


def measure_size(quick: bool) -> dict[str, Any]:
    """Measure rejections where no law differs, and of interactions where both factors do."""
    found: dict[str, float] = {}
    for (name, law), (n, m) in itertools.product(LAWS.items(), SIZES):
        where = f"{name}, {n} v {m}"
        two = list(_outcomes((law, law), (n, m), quick))
        for test in ("disagreement", "law", "shares"):
            found[f"{test}, {where}"] = _rejected(two, lambda x, y, t=test: _compared(x, y)[t])
        four = list(_outcomes((law,) * 4, (n, m, n, m), quick, fewer=4))
        found[f"interaction, {where}"] = _rejected(four, _interaction)
        scenarios = (law, law, (0.7, 0.3), (0.7, 0.3), law[::-1], law[::-1])
        six = list(_outcomes(scenarios, (n, m) * 3, quick, fewer=2))
        found[f"over scenarios, {where}"] = _rejected(six, _pooled)
        twelve = list(_outcomes((law, law, (0.7, 0.3), (0.7, 0.3)) * 3, (n, m) * 6, quick, fewer=8))
        found[f"interactions over scenarios, {where}"] = _rejected(twelve, _pooled_interactions)
        if n == m:
            found[f"pairs, {where}"] = _paired_size(law, n, quick)
        print(where, {k.split(",")[0]: round(v, 3) for k, v in found.items() if where in k})
    for name, cells in _MAIN_EFFECTS.items():
        for n, m in SIZES:
            four = list(_outcomes(cells, (n, m, n, m), quick, fewer=4))
            found[f"interaction of {name}, {n} v {m}"] = _rejected(four, _interaction)
    for n, m in SIZES:
        twelve = list(_outcomes(sum(_MAIN_EFFECTS.values(), ()), (n, m) * 6, quick, fewer=4))
        found[f"interactions over scenarios, {n} v {m}"] = _rejected(twelve, _pooled_interactions)
    worst = max(found, key=lambda name: found[name])
    return {"decision_size": round(found[worst], 4), "decision_size_of": worst}


def measure_power(quick: bool) -> dict[str, Any]:
    """Measure, exactly, how often .95 against .70 is found."""
    del quick
    powers: dict[str, float] = {}
    for n, m in ((20, 20), (20, 8), (10, 10)):
        outcomes = list(_outcomes(((0.95, 0.05), (0.7, 0.3)), (n, m), False))
        tests = {t: lambda x, y, t=t: _compared(x, y)[t] for t in ("disagreement", "law")}
        for name, test in {**tests, "Fisher": lambda x, y: fisher_exact([x, y]).pvalue}.items():
            powers[f"{name}, {n} v {m}"] = _rejected(outcomes, test)
    print({name: round(power, 4) for name, power in powers.items()})
    at = {name: round(powers[f"{name}, 20 v 20"], 4) for name in ("law", "Fisher", "disagreement")}
    return {
        "decision_power": at["law"],
        "decision_power_fisher": at["Fisher"],
        "decision_power_disagreement": at["disagreement"],
    }


def measure_cover(quick: bool) -> dict[str, Any]:
    """Measure how often intervals hold, and rejections of equal disagreement of unequal laws."""
    held, wrong = {}, {}
    pairs = {**{name: (law, law) for name, law in LAWS.items()}, **EQUALLY_OFTEN, **APART}
    for (name, laws), sizes in itertools.product(pairs.items(), SIZES):
        outcomes = list(_outcomes(laws, sizes, quick))
        where = f"{name}, {sizes[0]} v {sizes[1]}"
        wide = [np.pad(np.array(law), (0, len(NAMES) - len(law))) for law in laws]
        truth = (wide[1] ** 2).sum() - (wide[0] ** 2).sum()
        held[f"disagreement, {where}"] = _total(
            outcomes, lambda x, y, t=truth: _holds(_compared(x, y)["interval"], t)
        )
        for k in range(len(laws[0])):
            held[f"share of {NAMES[k]}, {where}"] = _total(
                outcomes, lambda x, y, k=k, w=wide: _share_holds(x, y, k, float(w[0][k] - w[1][k]))
            )
        if name in EQUALLY_OFTEN:
            wrong[where] = _rejected(outcomes, lambda x, y: _compared(x, y)["disagreement"])
    least, most = min(held, key=lambda n: held[n]), max(wrong, key=lambda n: wrong[n])
    return {
        "decision_cover": round(held[least], 4),
        "decision_cover_of": least,
        "decision_cover_mean": round(float(np.mean(list(held.values()))), 4),
        "decision_size_equally_often": round(wrong[most], 4),
        "decision_size_equally_often_of": most,
    }


_MAIN_EFFECTS: dict[str, tuple[Law, ...]] = {
    "one factor": ((0.5, 0.3, 0.2), (0.5, 0.3, 0.2), (0.8, 0.2), (0.8, 0.2)),
    "two factors": ((0.5, 0.5), (0.7, 0.3), (0.7, 0.3), (0.78284, 0.21716)),
    "other options": ((0.8, 0.2), (0.2, 0.8), (0.2, 0.8), (0.8, 0.2)),
}
"""Cells without an interaction of disagreement: both factors, the first, the second, none."""


def _outcomes(
    laws: Sequence[Law], sizes: Sequence[int], quick: bool, fewer: int = 1
) -> Iterator[Outcome]:
    """Yield outcomes of all arms with their probabilities: all of them, or some that are drawn."""
    if len(laws) == 2 and all(len(law) == 2 for law in laws):
        each = [[(k, n - k) for k in range(n + 1)] for n in sizes]
        for counts in itertools.product(*each):
            chances = (multinomial.pmf(c, sum(c), law) for c, law in zip(counts, laws, strict=True))
            yield float(np.prod(list(chances))), counts
        return
    draw = np.random.default_rng(34)
    draws = (_DRAWS // 10 if quick else _DRAWS) // fewer
    width = max(map(len, laws))
    drawn = [
        draw.multinomial(n, np.pad(law, (0, width - len(law))), draws).tolist()
        for n, law in zip(sizes, laws, strict=True)
    ]
    for counts in zip(*drawn, strict=True):
        yield 1 / draws, tuple(map(tuple, counts))


def _total(outcomes: Sequence[Outcome], holds: Callable[..., bool]) -> float:
    return sum(weight for weight, counts in outcomes if holds(*counts))


def _rejected(outcomes: Sequence[Outcome], p: Callable[..., float]) -> float:
    return _total(outcomes, lambda *counts: p(*counts) <= ALPHA)


def _spread(counts: Counts) -> list[str]:
    return [NAMES[k] for k, n in enumerate(counts) for _ in range(n)]


@cache
def _compared(x: Counts, y: Counts) -> dict[str, Any]:
    found = compare_decisions(_spread(x), _spread(y))
    return {
        "disagreement": found.p,
        "law": found.p_law,
        # of several shares the first: that of one decision, chosen without looking
        "shares": next((s.p for s in found.shares if s.decision == "A"), 1.0),
        "interval": (found.ci_low, found.ci_high),
        "by decision": {s.decision: (s.ci_low, s.ci_high) for s in found.shares},
    }


@cache
def _interaction(*cells: Counts) -> float:
    return decision_interaction(*map(_spread, cells)).p


def _pooled(*arms: Counts) -> float:
    cases = [(_spread(x), _spread(y)) for x, y in zip(arms[::2], arms[1::2], strict=True)]
    return pool_decisions(cases).p


def _pooled_interactions(*cells: Counts) -> float:
    spread = list(map(_spread, cells))
    return pool_decisions([spread[at : at + 4] for at in range(0, len(spread), 4)]).p


def _paired_size(law: Law, n: int, quick: bool) -> float:
    """Reject pairs of one law, which agree on half of the wordings."""
    draw = np.random.default_rng(35)
    draws = _DRAWS // 20 if quick else _DRAWS // 2
    p = []
    for _ in range(draws):
        first, other = (draw.choice(len(law), n, p=law) for _ in range(2))
        second = np.where(draw.random(n) < 0.5, first, other)
        arms = ([NAMES[k] for k in arm] for arm in (first, second))
        found = compare_decisions(*arms, paired=True)
        p.append((found.p, found.p_law))
    return float((np.array(p) <= ALPHA).mean(axis=0).max())


def _holds(interval: tuple[float, float], truth: float) -> bool:
    return interval[0] - 1e-9 <= truth <= interval[1] + 1e-9


def _share_holds(x: Counts, y: Counts, k: int, truth: float) -> bool:
    """Return whether the interval of one decision's share holds; one that never occurs isn't 0."""
    known = _compared(x, y)["by decision"]
    return NAMES[k] not in known or _holds(known[NAMES[k]], truth)
