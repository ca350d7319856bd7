"""Measure how often the intervals of a reliability profile hold.

    python scripts/bench/profiles.py [--draws N] [--only predictability|robustness|spread|parting]

On draws of 20, 50 and 200 cases of 4 runs and of 100 cases of 8, from known mixtures:

- predictability  of confidences that are right, too high, always equal, or say nothing, where runs
                  of a case err apart or together: the Brier score, its three parts, the share
                  that is right at each confidence (bins), risk at each coverage, and AUROC
- robustness      the change of the score, and how much more often runs differ, if a change
                  does nothing, flips rare cases, or shifts all chances
- spread          the relative difference of two runs' costs: equal, lognormal, of two sizes
- parting         the share of six calls before two runs part, where each call may leave the path
                  that the runs of a case share: never, at once, in rare cases, or by chance

The last line is JSON with the worst of each over mixtures and designs, and the largest bias of the
unbiased parts beside that of the plug-in at 50 cases.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from plenum_audit.profiles import (
    ChangedRuns,
    ProfileEstimate,
    StatedRuns,
    assess_calibration,
    assess_change,
    estimate_area,
    estimate_spread,
    trace_risk,
)
from plenum_audit.suites import SuiteRuns, estimate_mean_of_cases

DESIGNS = ((20, 4), (50, 4), (200, 4), (100, 8))
LARGE = 400_000
"""Cases of one run that stand for all cases of a mixture."""

Floats = NDArray[np.float64]
Draw = np.random.Generator
Stated = tuple[Floats, Floats]
"""Chance of a right run by case, and the confidence of each run, shape (N,) and (N, runs)."""


def _each(chance: Floats, confidence: Floats, runs: int) -> Stated:
    return chance, np.repeat(confidence[:, None], runs, axis=1)


def _calibrated(draw: Draw, n: int, runs: int) -> Stated:
    chance = draw.choice([0.5, 0.6, 0.7, 0.8, 0.9, 1.0], n)
    return _each(chance, chance, runs)


def _always_90(draw: Draw, n: int, runs: int) -> Stated:
    return _each(draw.beta(2, 1, n), np.full(n, 0.9), runs)


def _together(draw: Draw, n: int, runs: int) -> Stated:
    confidence = draw.choice([0.6, 0.75, 0.9], n)
    return _each((draw.random(n) < confidence).astype(float), confidence, runs)


def _too_high(draw: Draw, n: int, runs: int) -> Stated:
    chance = draw.choice([0.4, 0.5, 0.6, 0.7, 0.8], n)
    return _each(chance, chance + 0.15, runs)


def _at_random(draw: Draw, n: int, runs: int) -> Stated:
    return draw.beta(4, 1, n), draw.choice([0.6, 0.7, 0.8, 0.9], (n, runs))


def _nearly_always_right(draw: Draw, n: int, runs: int) -> Stated:
    chance = np.where(draw.random(n) < 0.97, 1.0, 0.3)
    return chance, np.where(draw.random((n, runs)) < 0.7, 0.99, 0.95)


def _some_always_wrong(draw: Draw, n: int, runs: int) -> Stated:
    return _each((draw.random(n) < 0.8).astype(float), np.full(n, 0.95), runs)


def _inverse(draw: Draw, n: int, runs: int) -> Stated:
    chance = draw.choice([0.3, 0.7], n)
    return _each(chance, 1 - chance, runs)


def _rarely_unsure(draw: Draw, n: int, runs: int) -> Stated:
    confidence = draw.choice([0.5, 0.9], n, p=[0.1, 0.9])
    return _each(np.where(confidence < 0.7, 0.8, draw.beta(9, 1, n)), confidence, runs)


STATED: Mapping[str, Callable[[Draw, int, int], Stated]] = {
    "calibrated": _calibrated,
    "always 90 %": _always_90,
    "calibrated, cases err whole": _together,
    "15 points too high": _too_high,
    "at random": _at_random,
    "nearly always right": _nearly_always_right,
    "20 % always wrong": _some_always_wrong,
    "inverse": _inverse,
    "rarely unsure": _rarely_unsure,
}

Pair = tuple[Floats, Floats]
CHANGES: Mapping[str, Callable[[Draw, int], Pair]] = {
    "nothing, all right": lambda draw, n: (np.ones(n), np.ones(n)),
    "nothing, coins": lambda draw, n: (np.full(n, 0.5), np.full(n, 0.5)),
    "nothing, beta(8, .5)": lambda draw, n: (chance := draw.beta(8, 0.5, n), chance),
    "3 % flip": lambda draw, n: (np.ones(n), np.where(draw.random(n) < 0.03, 0.0, 1.0)),
    "own chances": lambda draw, n: (draw.beta(2, 1, n), draw.beta(2, 1, n)),
    "20 points worse": lambda draw, n: (chance := draw.uniform(0.3, 1, n), chance - 0.2),
    "10 % fail now": lambda draw, n: (np.full(n, 0.9), np.where(draw.random(n) < 0.1, 0.1, 0.9)),
}
"""Chances of a right run by case, as it is and with a change."""

COSTS: Mapping[str, Callable[[Draw, int, int], Floats]] = {
    "equal": lambda draw, n, runs: np.full((n, runs), 7.0),
    "lognormal": lambda draw, n, runs: draw.lognormal(draw.normal(0, 1, (n, 1)), 0.3, (n, runs)),
    "of own width": lambda draw, n, runs: draw.lognormal(0, draw.gamma(2, 0.2, (n, 1)), (n, runs)),
    "one in 20 is tenfold": lambda draw, n, runs: np.where(draw.random((n, runs)) < 0.05, 10, 1.0),
    "rare cases vary": lambda draw, n, runs: np.where(
        draw.random((n, 1)) < 0.05, draw.lognormal(0, 1, (n, runs)), 1.0
    ),
}

CALLS = 6
LEAVING: Mapping[str, Callable[[Draw, int], Floats]] = {
    "never": lambda draw, n: np.zeros(n),
    "at once": lambda draw, n: np.full(n, 0.7),
    "5 % of cases": lambda draw, n: np.where(draw.random(n) < 0.05, 0.4, 0.0),
    "beta(1, 4)": lambda draw, n: draw.beta(1, 4, n),
    "half of the cases": lambda draw, n: np.where(draw.random(n) < 0.5, 0.3, 0.02),
}
"""The chance by case that a run leaves the path at a call."""


@dataclass
class Tally:
    """How often the intervals of one figure held, and the mean error of its estimate."""

    held: int = 0
    draws: int = 0
    error: float = 0.0

    def add(self, found: ProfileEstimate, truth: float) -> None:
        """Count an estimate; one without an interval claims nothing."""
        if found.interval is not None:
            low, high = found.interval
            self.held += low - 1e-6 <= truth <= high + 1e-6
            self.draws += 1
        self.error += found.value - truth


def main() -> None:
    """Measure all, print a line for each mixture and design, and the worst as JSON."""
    lines = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=lines)
    parser.add_argument("--draws", type=int, default=400, help="of each mixture and design")
    parser.add_argument("--only", choices=tuple(_PARTS), help="one part")
    given = parser.parse_args()
    worst: dict[str, float] = {}
    for part, measure in _PARTS.items():
        if given.only in (None, part):
            for name, found in measure(given.draws):
                shown = {key: round(value, 4) for key, value in found.items()}
                print(f"{name:44} {json.dumps(shown)}", flush=True)
                for key, value in found.items():
                    worse = max if key.startswith("bias") else min
                    worst[key] = worse(worst.get(key, value), value)
    print(json.dumps({name: round(value, 4) for name, value in worst.items()}))


def _predictability(draws: int) -> Iterator[tuple[str, dict[str, float]]]:
    for name, mixture in STATED.items():
        truth, all_p, all_right = _truth(mixture)
        for cases, runs in DESIGNS:
            tallies: dict[str, Tally] = defaultdict(Tally)
            plug_in = 0.0
            draw = np.random.default_rng([cases, runs])
            for _ in range(draws):
                stated = _stated(mixture, draw, cases, runs)
                found = assess_calibration(stated)
                for part in ("brier", "reliability", "resolution", "uncertainty"):
                    tallies[part].add(getattr(found, part), truth[part])
                area = estimate_area(stated)
                if area is not None:
                    tallies["auroc"].add(area, truth["auroc"])
                _add_groups(tallies, stated, all_p, all_right)
                plug_in += sum(b.share * (b.stated - b.right.value) ** 2 for b in found.bins)
            line = {f"coverage_{key}": each.held / each.draws for key, each in tallies.items()}
            if cases == 50:
                parts = [tallies[part].error / draws for part in ("reliability", "resolution")]
                line["bias_parts"] = max(map(abs, parts))
                line["bias_plug_in"] = abs(plug_in / draws - truth["reliability"])
            yield f"{name}, {cases} x {runs}", line


def _add_groups(
    tallies: dict[str, Tally], stated: StatedRuns, all_p: Floats, all_y: Floats
) -> None:
    """Count the share that is right in each group of confidences, and risk at each coverage."""
    limits = [*sorted(point.least for point in trace_risk(stated)), np.inf]
    for number, each in enumerate(assess_calibration(stated).bins):
        inside = (all_p >= limits[number]) & (all_p < limits[number + 1])
        tallies["bins"].add(each.right, float(all_y[inside].mean()))
    for point in trace_risk(stated):
        tallies["risk"].add(point.wrong, float(1 - all_y[all_p >= point.least].mean()))


def _stated(
    mixture: Callable[[Draw, int, int], Stated], draw: Draw, cases: int, runs: int
) -> StatedRuns:
    chance, confidence = mixture(draw, cases, runs)
    right = (draw.random((cases, runs)) < chance[:, None]).astype(float)
    return StatedRuns.of(np.repeat(np.arange(cases), runs), confidence.ravel(), right.ravel())


def _truth(
    mixture: Callable[[Draw, int, int], Stated],
) -> tuple[dict[str, float], Floats, Floats]:
    """Return the figures of all cases, and confidence and chance of a right run of each."""
    chance, confidence = mixture(np.random.default_rng(1), LARGE, 1)
    p = confidence[:, 0]
    values, inverse = np.unique(p, return_inverse=True)
    share = np.bincount(inverse) / LARGE
    right = np.bincount(inverse, chance) / LARGE / share
    mean = float(chance.mean())
    ranks = rankdata(p)
    good, bad = chance.sum(), (1 - chance).sum()
    order = np.argsort(ranks)
    below = np.cumsum((1 - chance)[order])
    first, last = (np.searchsorted(ranks[order], ranks, side) for side in ("left", "right"))
    padded = np.concatenate([[0.0], below])
    area = float((chance * (padded[first] + padded[last]) / 2).sum() / good / bad)
    truth = {
        "brier": float((chance * (1 - p) ** 2 + (1 - chance) * p**2).mean()),
        "reliability": float((share * (values - right) ** 2).sum()),
        "resolution": float((share * (right - mean) ** 2).sum()),
        "uncertainty": mean * (1 - mean),
        "auroc": area,
    }
    return truth, p, chance


def _robustness(draws: int) -> Iterator[tuple[str, dict[str, float]]]:
    for name, mixture in CHANGES.items():
        one, two = mixture(np.random.default_rng(1), LARGE)
        score, more = float((two - one).mean()), float(((two - one) ** 2).mean())
        for cases, runs in DESIGNS:
            tallies: dict[str, Tally] = defaultdict(Tally)
            draw = np.random.default_rng([cases, runs])
            for _ in range(draws):
                before, after = (_suite(draw, each, runs) for each in mixture(draw, cases))
                found = assess_change("", before, ChangedRuns(after, ("changed",) * cases * runs))
                tallies["differ_more"].add(found.differ_more, more)
                if found.score is not None:
                    tallies["score"].add(found.score, score)
            line = {f"coverage_{key}": each.held / each.draws for key, each in tallies.items()}
            yield f"{name}, {cases} x {runs}", line


def _suite(draw: Draw, chance: Floats, runs: int) -> SuiteRuns:
    right = draw.random((len(chance), runs)) < chance[:, None]
    ended = {
        f"{case:04}": [("no", "yes")[int(hit)] for hit in row] for case, row in enumerate(right)
    }
    return SuiteRuns.of(
        ended, {case: [float(e == "yes") for e in ends] for case, ends in ended.items()}
    )


def _spread(draws: int) -> Iterator[tuple[str, dict[str, float]]]:
    for name, mixture in COSTS.items():
        x, y = mixture(np.random.default_rng(1), LARGE, 2).T
        truth = float((2 * np.abs(x - y) / (x + y)).mean())
        for cases, runs in DESIGNS:
            tally = Tally()
            draw = np.random.default_rng([cases, runs])
            for _ in range(draws):
                spent = mixture(draw, cases, runs)
                tally.add(estimate_spread(np.repeat(np.arange(cases), runs), spent.ravel()), truth)
            yield f"{name}, {cases} x {runs}", {"coverage_spread": tally.held / tally.draws}


def _parting(draws: int) -> Iterator[tuple[str, dict[str, float]]]:
    for name, mixture in LEAVING.items():
        draw = np.random.default_rng(1)
        truth = float(_alike(draw, mixture(draw, LARGE), 2).mean())
        for cases, runs in DESIGNS:
            tally = Tally()
            draw = np.random.default_rng([cases, runs])
            for _ in range(draws):
                found = estimate_mean_of_cases(_alike(draw, mixture(draw, cases), runs))
                tally.add(ProfileEstimate.of_suite(found), truth)
            yield f"{name}, {cases} x {runs}", {"coverage_parting": tally.held / tally.draws}


def _alike(draw: Draw, leaving: Floats, runs: int) -> Floats:
    """Draw at which call each run leaves; the mean share of calls before two runs part, by case."""
    left = draw.random((len(leaving), runs, CALLS)) < leaving[:, None, None]
    kept = np.where(left.any(axis=2), left.argmax(axis=2), CALLS)
    first, second = np.triu_indices(runs, 1)
    return np.asarray(np.minimum(kept[:, first], kept[:, second]).mean(axis=1) / CALLS)


_PARTS = {
    "predictability": _predictability,
    "robustness": _robustness,
    "spread": _spread,
    "parting": _parting,
}

if __name__ == "__main__":
    main()
