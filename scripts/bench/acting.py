"""Measure the errors of what is said about acting without a person.

    python scripts/bench/acting.py [--quick]

On draws of 50 and of 200 cases, 4 and 8 runs each, from known mixtures in which cases are wrong
because their runs differ, or although they agree; and two at the boundary, where the rule of one
run errs in exactly 5 % of its acts:

- risk   how often the chosen rule's acts are wrong in at most 5 % of all cases of the mixture,
         or nothing is chosen; how often something is, and the mean number of runs that it takes
- bound  how often the upper bound on wrong acts holds, of each rule by itself
- auroc  how often its interval holds the chance that cases that are right agree more

The last line is JSON with the worst of each.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, rankdata

from plenum_audit.acting import ActRule, advise_acting
from plenum_audit.suites import SuiteRuns

RISK = 0.05
DESIGNS = ((50, 4), (200, 4), (200, 8), (100, 7))
Shares = NDArray[np.float64]
MIXTURES: dict[str, Callable[[np.random.Generator, int], Shares]] = {
    "all right": lambda draw, n: np.ones(n),
    "all at .95": lambda draw, n: np.full(n, 0.95),
    "all at .8": lambda draw, n: np.full(n, 0.8),
    "5 % always wrong": lambda draw, n: np.where(draw.random(n) < 0.95, 1.0, 0.0),
    "5 % wrong, rest noisy": lambda draw, n: np.where(
        draw.random(n) < 0.95, draw.beta(8, 0.5, n), 0.02
    ),
    "80/20": lambda draw, n: np.where(draw.random(n) < 0.8, 1.0, 0.5),
    "beta(8, .5)": lambda draw, n: draw.beta(8, 0.5, n),
    "beta(2, .2)": lambda draw, n: draw.beta(2, 0.2, n),
    "10 % wrong and noisy": lambda draw, n: np.where(
        draw.random(n) < 0.9, draw.beta(20, 0.3, n), draw.beta(1, 2, n)
    ),
}
"""Chances that a run is right, by case; wrong runs of a case decide alike."""


@dataclass
class Tally:
    """Counts over the draws of one mixture and design."""

    held: int = 0
    chosen: int = 0
    runs: int = 0
    bounds: int = 0
    rules: int = 0
    areas: int = 0
    areas_held: int = 0


def main() -> None:
    """Measure all mixtures and designs, print a line each, and the worst as JSON."""
    lines = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=lines)
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws")
    draws = 100 if parser.parse_args().quick else 1_000
    held, bounds, areas = [], [], []
    for name, mixture in MIXTURES.items():
        truth = mixture(np.random.default_rng(1), 400_000)
        for cases, runs in DESIGNS:
            tally = _measure(mixture, truth, cases, runs, draws)
            held.append(tally.held / draws)
            bounds.append(tally.bounds / max(tally.rules, 1))
            text = f"{name:22} {cases:3} x {runs}: held {held[-1]:.3f}, chosen "
            text += f"{tally.chosen / draws:.3f}, runs {tally.runs / max(tally.chosen, 1):.1f}, "
            text += f"bound {bounds[-1]:.3f}"
            if tally.areas:
                areas.append(tally.areas_held / tally.areas)
                text += f", auroc {areas[-1]:.3f} of {tally.areas}"
            print(text)
    worst = {"risk_held": min(held), "act_bound_holds": min(bounds), "coverage_auroc": min(areas)}
    print(json.dumps({name: round(value, 4) for name, value in worst.items()}))


def _measure(
    mixture: Callable[[np.random.Generator, int], Shares],
    truth: Shares,
    cases: int,
    runs: int,
    draws: int,
) -> Tally:
    tally = Tally()
    draw = np.random.default_rng([cases, runs])
    risks = {count: _risk(truth, ActRule(count, count)) for count in range(1, 8)}
    area = _area(truth, runs)
    for _ in range(draws):
        right = draw.binomial(runs, mixture(draw, cases))
        advice = advise_acting(_suite(right, runs), RISK)
        if advice.chosen is None:
            tally.held += 1
        else:
            tally.held += risks[advice.chosen.runs] <= RISK + 1e-3
            tally.chosen += 1
            tally.runs += advice.chosen.runs
        tally.rules += len(advice.rules)
        tally.bounds += sum(risks[each.rule.runs] <= each.at_most for each in advice.rules)
        found = advice.agreement
        if found is not None and found.auroc == found.auroc and not np.isnan(area):
            tally.areas += 1
            tally.areas_held += found.interval[0] <= area <= found.interval[1]
    return tally


def _suite(right: NDArray[np.int64], runs: int) -> SuiteRuns:
    score = (np.arange(runs) < right[:, None]).astype(float)
    return SuiteRuns(
        cases=tuple(map(str, range(len(right)))),
        outcomes=("no", "yes"),
        case=np.repeat(np.arange(len(right)), runs),
        outcome=score.ravel().astype(np.intp),
        score=score.ravel(),
    )


def _risk(truth: Shares, rule: ActRule) -> float:
    """Return the share of a rule's acts that are wrong, over all cases of the mixture."""
    right, wrong = truth**rule.runs, (1 - truth) ** rule.runs
    return float(wrong.sum() / (right + wrong).sum())


def _area(truth: Shares, runs: int) -> float:
    """Return the area under the ROC curve over all cases, drawn anew with so many runs."""
    count = binom.rvs(runs, truth, random_state=2)
    good = 2 * count > runs
    bad = ~good
    if not good.any() or not bad.any():
        return float("nan")
    ranks = rankdata(np.maximum(count, runs - count))
    pairs = float(good.sum()) * float(bad.sum())
    return float((ranks[good].sum() - good.sum() * (good.sum() + 1) / 2) / pairs)


if __name__ == "__main__":
    main()
