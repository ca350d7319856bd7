"""How often what is said of protocols holds: false claims, power, and plans; for ``suite.py``."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenum_verdicts.steadiness.judged_protocols import JudgedProtocol, judge_steadiness
from plenum_verdicts.steadiness.protocol_runs import ProtocolRuns, SteadyRuns
from plenum_verdicts.steadiness.steady_plans import SteadyPlan, draw_protocols, predict_power
from plenum_verdicts.steadiness.steady_tests import LEVEL

ACCURACIES = (0.33, 0.45, 0.6, 0.8)
RUNS = 5
OPTIONS = 3


def measure_steadiness(quick: bool) -> dict[str, Any]:
    """Measure the rates of claims, in which both forms count: these cases, and cases like these."""
    draws = 40 if quick else 200
    false = _list_false(draws)
    size = _list_sizes(draws)
    power = _rate_power(SteadyPlan(0.05, 400, RUNS, accuracy=0.6), draws)
    # A rate of 200 draws is off by .07 in one of 20: too often for a figure of .05.
    errors = {
        f"{accuracy}, {cases} cases": _rate_power(plan, 3 * draws) - predict_power(plan, cases)
        for accuracy, cases in ((0.45, 400), (0.45, 900), (0.6, 65), (0.6, 120))
        for plan in [SteadyPlan(0.05, cases, RUNS, accuracy=accuracy)]
    }
    for name, rates in (("false", false), ("size", size), ("plan", errors)):
        print(name, {key: round(rate, 3) for key, rate in rates.items()})
    return {
        "steady_false": round(max(false.values()), 3),
        "kept_size": round(max(size.values()), 3),
        "steady_power": round(power, 3),
        "plan_error": round(max(map(abs, errors.values())), 3),
    }


def _list_false(draws: int) -> dict[str, float]:
    """Rate claims for a constant, a frozen run and a vote of three, by accuracy and cases."""
    rates = {}
    for accuracy in ACCURACIES:
        for cases in (65, 400):
            source, claims = np.random.default_rng(cases), np.zeros(4)
            for _ in range(draws):
                drawn, _ = _draw(source, cases, accuracy)
                found: list[JudgedProtocol] = []
                for size in (3, 5):
                    _, ballots = _draw(source, cases, accuracy, like=drawn, runs=size * RUNS)
                    judged = judge_steadiness(_join(drawn, _vote(source, ballots, size), size))
                    found += judged.protocols
                found += judged.controls
                claims += [each.verdict == "steadier" for each in found]
            for name, count in zip(("vote 3", "vote 5", "constant", "frozen"), claims, strict=True):
                rates[f"{name} {accuracy}, {cases}"] = float(count) / draws
    return rates


def _list_sizes(draws: int) -> dict[str, float]:
    """Rate claims on the boundary: as steady as the curve, or 80 % of the lead kept.

    For these cases what holds of them is held exactly at the boundary; for cases like these it is
    drawn.
    """
    kept = 1 / OPTIONS + 0.8 * (0.6 - 1 / OPTIONS)
    worlds = {"curve": (400, 0.6, 0.7), "kept": (400, kept, 0.95), "curve, 65": (65, 0.6, 0.7)}
    rates = {}
    for days in (False, True):
        for form in ("these", "like"):
            for name, (cases, accuracy, anchor) in worlds.items():
                source, claims = np.random.default_rng(7), 0
                for _ in range(draws):
                    asked: dict[str, Any] = {"days": days, "exact": form == "these"}
                    drawn, _ = _draw(source, cases, 0.6, **asked)
                    _, other = _draw(source, cases, accuracy, anchor, like=drawn, **asked)
                    (judged,) = judge_steadiness(_join(drawn, other, 1.0)).protocols
                    claims += getattr(judged, form) <= LEVEL
                rates[f"{name}, {form}{', days' if days else ''}"] = claims / draws
    return rates


def _rate_power(plan: SteadyPlan, draws: int) -> float:
    source = np.random.default_rng(11)
    drawn = (draw_protocols(source, plan) for _ in range(draws))
    return sum(judge_steadiness(each).protocols[0].like <= LEVEL for each in drawn) / draws


def _draw(
    source: np.random.Generator, cases: int, accuracy: float, anchor: float = 0.7,
    days: bool = False, like: SteadyRuns | None = None, runs: int = RUNS,
    exact: bool = True,
) -> tuple[SteadyRuns, NDArray[Any]]:  # fmt: skip
    """Draw runs at two wordings: with its case's usual decision at a chance, and else anew.

    With days each run is of a day of its own, as when a log is read, and half of the runs of a case
    and day repeat the day's outcome, at whatever wording.
    """
    answer = like.right.argmax(1) if like else source.integers(0, OPTIONS, cases)

    def decide(shape: tuple[int, ...]) -> NDArray[Any]:
        at = answer.reshape(-1, *[1] * (len(shape) - 1))
        other = (at + source.integers(1, OPTIONS, shape)) % OPTIONS
        return np.where(source.random(shape) < accuracy, at, other)

    usual = decide((cases,))[:, None, None]
    if exact:  # as many cases as on average are usually decided right
        wrong = (answer + source.integers(1, OPTIONS, cases)) % OPTIONS
        hits = source.permutation(cases) < round(accuracy * cases)
        usual = np.where(hits, answer, wrong)[:, None, None]
    shape = (cases, 2, runs)
    rows = np.where(source.random(shape) < anchor, usual, decide(shape))
    if days:
        outcome = np.where(
            source.random((cases, 1, runs)) < anchor, usual, decide((cases, 1, runs))
        )
        rows = np.where(source.random(shape) < 0.5, outcome, rows)
    right = np.eye(OPTIONS + 1)[answer]
    places = np.tile(np.arange(OPTIONS), (cases, 1))
    names, labels = tuple(map(str, range(cases))), tuple(map(str, range(OPTIONS)))
    own = ProtocolRuns("reference", _count(rows), np.ones(cases), np.zeros(cases))
    return SteadyRuns((own,), names, right, right[:, :-1], labels, places, rows[..., 0]), rows


def _count(rows: NDArray[Any]) -> NDArray[np.intp]:
    counts: NDArray[np.intp] = np.eye(OPTIONS + 1, dtype=np.intp)[rows].sum(2)
    return counts


def _join(drawn: SteadyRuns, rows: NDArray[Any], cost: float) -> SteadyRuns:
    cases = len(rows)
    other = ProtocolRuns("other", _count(rows), np.full(cases, cost), np.zeros(cases))
    return SteadyRuns(
        (drawn.reference, other), drawn.cases, drawn.right, drawn.constants, drawn.answers,
        drawn.answer, drawn.first,
    )  # fmt: skip


def _vote(source: np.random.Generator, ballots: NDArray[Any], size: int) -> NDArray[Any]:
    """Draw votes of new committees; a tie is drawn."""
    cases, wordings, _ = ballots.shape
    votes = np.eye(OPTIONS)[ballots.reshape(cases, wordings, RUNS, size)].sum(3)
    won: NDArray[Any] = (votes + 0.5 * source.random(votes.shape)).argmax(-1)
    return won
