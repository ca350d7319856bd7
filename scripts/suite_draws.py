"""Simulated runs of suites whose truth is known, by which verdicts and rules are judged."""

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from generators import Row, holds, seed

from plenum.dynamics.fit import Floats
from plenum_verdicts.acting.choice import advise_acting
from plenum_verdicts.suites.disagreement import bound_unsteady_cases, estimate_disagreement
from plenum_verdicts.suites.gate_assessment import assess_gate
from plenum_verdicts.suites.gate_errors import chance_to_pass, drop_chances
from plenum_verdicts.suites.gates import parse_gate
from plenum_verdicts.suites.scores import score_suite
from plenum_verdicts.suites.suite_runs import Codes, SuiteRuns
from plenum_verdicts.suites.suite_verdict import RunningSuite, SuiteRule, judge_suite
from plenum_verdicts.suites.unsteady_cases import find_unsteady

CASES, RUNS = 50, 4
STEADY = 0.95  # the share of runs that end alike in a steady case
RULE, RISK, DROP = SuiteRule(), 0.05, 0.05
DESIGNS = ((50, 4), (200, 4), (200, 8), (100, 7))
"""Cases and runs of each that acting is advised on, in turn."""
GATES = ("score >= .8", "score of 4 >= .94", "score >= baseline - .02", "3 of 4 in every case")


def split(right: Floats) -> Floats:
    """Return chances of three outcomes; the first one is right, the third never comes."""
    return np.stack([right, 1 - right, 0 * right], axis=-1)


MIXTURES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "all right": lambda draw, n: split(np.ones(n)),
    "all coins": lambda draw, n: split(np.full(n, 0.5)),
    "all at .97": lambda draw, n: split(np.full(n, 0.97)),
    "all at .95": lambda draw, n: split(np.full(n, 0.95)),
    "80 % right, rest coins": lambda draw, n: split(np.where(draw.random(n) < 0.8, 1, 0.5)),
    "95 % right, rest coins": lambda draw, n: split(np.where(draw.random(n) < 0.95, 1, 0.5)),
    "95 % right, rest wrong": lambda draw, n: split(np.where(draw.random(n) < 0.95, 1.0, 0.0)),
    "beta(.2, 2)": lambda draw, n: split(draw.beta(0.2, 2, n)),
    "beta(8, .5)": lambda draw, n: split(draw.beta(8, 0.5, n)),
    "uniform": lambda draw, n: split(draw.random(n)),
    "three outcomes": lambda draw, n: draw.dirichlet([0.5, 0.5, 0.5], n),
}
"""Chances of three outcomes by case, shape (n, 3); the first one is right."""


ERRING = {
    "alike": lambda draw, n: split(np.full(n, 0.947)),
    "coins": lambda draw, n: split(np.where(draw.random(n) < 0.106, 0.5, 1.0)),
    "beta": lambda draw, n: split(draw.beta(1.894, 0.106, n)),
    "difficulty": lambda draw, n: split(1 / (1 + np.exp(-draw.normal(4.61, 2.2, n)))),
    "unanimous errors": lambda draw, n: split(np.where(draw.random(n) < 0.053, 0.0, 1.0)),
}
"""Chances of outcomes by case, where one run errs in 5.3 %: a rule of one run may not be chosen."""

REPEATS = {"100 x 8": np.full(100, 8), "200 x (2, 3, 5, 9)": np.tile([2, 3, 5, 9], 50)}
"""Numbers of runs of each case, which don't depend on how runs end."""


def even(disagreement: float) -> float:
    """Return the chance p at which runs of a case disagree so often: 2 p (1 - p)."""
    return 0.5 - math.sqrt(0.25 - disagreement / 2)


VERDICTS = {
    "false: 5 %, every case alike": ("unstable", even(0.05), 1.0),
    "false: 5 %, coins": ("unstable", 0.5, 0.1),
    "false: 5 %, some at .9": ("unstable", 0.1, 0.05 / 0.18),
    "false: 15 %, every case alike": ("stable", even(0.15), 1.0),
    "false: 15 %, coins": ("stable", 0.5, 0.3),
    "false: 15 %, some at .9": ("stable", 0.1, 0.15 / 0.18),
    "true: 0 %": ("stable", 0.5, 0.0),
    "true: 2 %, coins": ("stable", 0.5, 0.04),
    "true: 30 %, coins": ("unstable", 0.5, 0.6),
    "true: 40 %, coins": ("unstable", 0.5, 0.8),
}
"""By disagreement: the verdict that is counted, the chance to end otherwise, and cases with it."""


def draw_runs(generator: np.random.Generator, shares: Floats, runs: int | Codes) -> SuiteRuns:
    """Draw so many runs of each case with these chances; one of the first outcome is right."""
    cases = len(shares)
    counts = generator.multinomial(runs, shares)
    outcome = np.repeat(np.tile([0, 1, 2], cases), counts.ravel()).astype(np.intp)
    names, case = tuple(map(str, range(cases))), np.repeat(np.arange(cases), runs)
    return SuiteRuns(names, ("a", "b", "c"), case, outcome, (outcome == 0).astype(float))


def describe_cases(shares: Floats) -> Row:
    """Return the truth about cases with these chances."""
    return {
        "disagreement": float(1 - (shares**2).sum(axis=1).mean()),
        "score": float(shares[:, 0].mean()),
        "unsteady cases": float((shares.max(axis=1) < STEADY).mean()),
    }


@cache
def draw_many(number: int) -> Floats:
    """Return so many cases of a mixture that they are as good as all of them."""
    return [*MIXTURES.values()][number](seed(0, number), 400_000)


def draw_suite(number: int, draw: int) -> Row:
    """Return whether limits hold, for these cases and for cases like these, and false names."""
    generator = seed(5, number, draw)
    shares = [*MIXTURES.values()][number](generator, CASES)
    runs = draw_runs(generator, shares, RUNS)
    these, like = describe_cases(shares), describe_cases(draw_many(number))
    found: dict[str, Any] = {
        "disagreement": estimate_disagreement(runs),
        "score": score_suite(runs).score,
        "unsteady cases": bound_unsteady_cases(runs, STEADY),
    }
    named = find_unsteady(draw_runs(generator, shares, 2 * RUNS), STEADY)
    false = [shares[int(name)].max() >= STEADY for name in named]
    return {
        **{
            f"{name}, these": holds(each.these[0], each.these[1], these[name])
            for name, each in found.items()
        },
        **{
            f"{name}, like": holds(each.like[0], each.like[1], like[name])
            for name, each in found.items()
        },
        "falsely named": float(np.mean(false)) if named else 0.0,
    }


def draw_verdict(number: int, draw: int) -> Row:
    """Return whether the verdict is reached that is counted, and the same while a suite runs.

    A verdict on these cases alone is false by their own disagreement. While it runs, the first
    verdict counts, looking after each case.
    """
    generator, (verdict, chance, share) = seed(6, number, draw), [*VERDICTS.values()][number]
    cases = 4 * CASES if "false" in [*VERDICTS][number] else CASES
    right = np.where(generator.random(cases) < share, 1 - chance, 1.0)
    runs = draw_runs(generator, split(right), RUNS)
    found = judge_suite(estimate_disagreement(runs), RULE)
    # That it lies between both limits is a claim on each of them.
    reached = found.verdict == verdict
    if "false" in [*VERDICTS][number]:
        own = describe_cases(split(right))["disagreement"]
        beyond = own >= RULE.unacceptable if verdict == "stable" else own <= RULE.acceptable
        reached = (reached or found.between) and (found.scope == "like" or beyond)
    running, first = RunningSuite(RULE), "undecided"
    for apart in runs.disagreements():
        running.add(np.array([apart]))
        if (first := running.verdict) != "undecided":
            break
    return {"reached": float(reached), "while it runs": float(first == verdict)}


def draw_gate(number: int, draw: int) -> Row:
    """Return whether limits of a gate's errors hold."""
    generator, mixtures = seed(7, number, draw), [*MIXTURES.values()]
    shares = mixtures[draw % len(mixtures)](generator, CASES)
    runs, right = draw_runs(generator, shares, RUNS), shares[None, :, 0]
    lower = drop_chances(right, DROP)

    def find_errors(text: str) -> tuple[float, float]:
        """Return the chances to fail this program, and to pass the worse one."""
        passes = partial(chance_to_pass, parse_gate(text))
        return float(1 - passes(right, right)[0]), float(passes(lower, right)[0])

    fails, misses = find_errors(GATES[number])
    found = assess_gate(parse_gate(GATES[number]), runs, DROP)
    flips = 2 * fails * (1 - fails)
    return {
        "fails": holds(*found.errors.fails_limits, fails),
        "misses": holds(*found.errors.misses_limits, misses),
        "flips": holds(*found.errors.flips_limits, flips),
        "flips, off by": abs(found.errors.flips - flips),
    }


def draw_acting(number: int, draw: int) -> Row:
    """Return whether acting as advised keeps the risk, and the bounds of the rules hold."""
    (cases, runs), generator = DESIGNS[draw % len(DESIGNS)], seed(8, number, draw)
    shares = [*MIXTURES.values()][number](generator, cases)
    advice = advise_acting(draw_runs(generator, shares, runs), RISK)
    chosen = advice.chosen
    held = [find_risk(number, each.rule.runs) <= each.at_most for each in advice.rules]
    return {
        "risk kept": float(chosen is None or find_risk(number, chosen.runs) <= RISK + 1e-3),
        "bound holds": float(np.mean(held)),
        "rule chosen": float(chosen is not None),
        "runs": chosen.runs if chosen else math.nan,
    }


def draw_choice(law: str, design: str, draw: int) -> tuple[bool, bool]:
    """Return whether a rule is chosen, and whether falsely: more of its acts are wrong."""
    generator, repeats = seed(9, [*ERRING].index(law), draw), REPEATS[design]
    shares = ERRING[law](generator, len(repeats))
    chosen = advise_acting(draw_runs(generator, shares, repeats), RISK).chosen
    return chosen is not None, chosen is not None and find_erring(law, chosen.runs) > RISK


@cache
def find_erring(law: str, runs: int) -> float:
    """Return the share of acts that are wrong under a law, if so many runs decide alike."""
    agreed = (ERRING[law](seed(1, [*ERRING].index(law)), 400_000) ** runs).mean(axis=0)
    return float(1 - agreed[0] / agreed.sum())


@cache
def find_risk(number: int, runs: int) -> float:
    """Return the share of acts that are wrong if so many runs have to decide alike."""
    agreed = (draw_many(number) ** runs).mean(axis=0)
    return float(1 - agreed[0] / agreed.sum())
