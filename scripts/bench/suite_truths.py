"""How often what is said of suites holds, on logs whose truth is known; part of `suite.py`."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from suite_draws import MIXTURES, RULE, describe_cases, draw_many, draw_runs, even, split

from plenum.dynamics.fit import Floats
from plenum_audit.execution.fixed_runs import draw_order
from plenum_verdicts.logs.case_logs import read_log
from plenum_verdicts.logs.compared_runs import ComparedRuns
from plenum_verdicts.logs.independent_runs import have_days_apart, select_independent
from plenum_verdicts.suites.comparison import compare_suites
from plenum_verdicts.suites.disagreement import estimate_disagreement
from plenum_verdicts.suites.suite_runs import SuiteRuns
from plenum_verdicts.suites.suite_verdict import RunningSuite, judge_suite

Row = dict[str, Any]
_DESIGNS = ((8, 4), (20, 3), (50, 4), (50, 12), (200, 2))


def measure_truths(quick: bool) -> dict[str, Any]:
    """Return each figure of the statistics of suites."""
    draws = 20 if quick else 200
    return {
        "suite_false_stable": _look_often(draws),
        **_show(2 * draws),
        "coverage": _cover(draws, _draw_plain),
        "coverage_days": _cover(draws // 2, _draw_days, MIXTURES, ((50, 10),)),
        "coverage_adaptive": _cover(draws // 2, _draw_reruns, MIXTURES, ((50, 8),)),
        "compare_days": _compare_days(draws),
    }


def _look_often(draws: int) -> float:
    """Return how often a live suite of 200 cases, the easy first, ever looks stable falsely."""
    false = 0
    for draw in range(draws):
        generator = np.random.default_rng(draw)
        chances = np.sort(np.where(generator.random(200) < 0.5, generator.beta(1, 4, 200), 0))
        chances *= 0.15 / (2 * chances * (1 - chances)).mean()  # about the limit
        chances = np.clip(chances, 0, 0.5)
        if (2 * chances * (1 - chances)).mean() < RULE.unacceptable:
            chances = np.sort(np.where(np.arange(200) < 130, 0, 0.5))  # 17.5 % of pairs differ
        apart = draw_runs(generator, split(1 - chances), 4).disagreements()
        running = RunningSuite(RULE)
        for place in draw_order(200):
            running.add(apart[[place]])
            if running.verdict == "stable":
                false += 1
                break
    return round(false / draws, 3)


def _show(draws: int) -> dict[str, Any]:
    """Return how often suites are shown to lie below or above a limit, and how often falsely."""
    shown: dict[str, float] = {}
    false = 0.0
    for cases, runs, at, verdict in (
        *((50, 4, at, "stable") for at in (0.036, 0.05)),
        *((50, 4, 0.1, "unstable"), (100, 3, 0.05, "stable"), (100, 3, 0.1, "unstable")),
        *((50, 4, at, "false") for at in (0.05, 0.15)),
        *((100, 3, at, "false") for at in (0.05, 0.15)),
    ):
        generator, reached = np.random.default_rng(1), 0
        for _ in range(draws):
            chances = np.full(cases, 1 - even(at))
            if verdict == "false":
                chances = np.where(generator.random(cases) < 2 * at, 0.5, 1.0)
            found = judge_suite(
                estimate_disagreement(draw_runs(generator, split(chances), runs)), RULE
            )
            # That it lies between both limits is a claim on each of them.
            below = found.between or found.verdict == "stable"
            above = found.between or found.verdict == "unstable"
            own = at if found.scope == "like" else float((2 * chances * (1 - chances)).mean())
            wrong = (below and own >= RULE.unacceptable) or (above and own <= RULE.acceptable)
            claimed = found.scope == "like" and (below if verdict == "stable" else above)
            reached += wrong if verdict == "false" else claimed
        if verdict == "false":
            false = max(false, reached / draws)
        else:
            shown[f"{cases} x {runs}, {verdict} at {at:g}"] = round(reached / draws, 2)
    return {"shown": shown, "shown_false": round(false, 3)}


def _cover(
    draws: int,
    draw: Callable[[np.random.Generator, Floats, int], SuiteRuns],
    mixtures: Any = MIXTURES,
    designs: tuple[tuple[int, int], ...] = _DESIGNS,
) -> float:
    """Return how often the intervals of disagreement hold, in the worst mixture and design."""
    worst = 1.0
    for cases, runs in designs:
        for number, mix in enumerate(mixtures.values()):
            generator = np.random.default_rng(number)
            like = describe_cases(draw_many(number))["disagreement"]
            held = np.zeros(2)
            for _ in range(draws):
                shares = mix(generator, cases)
                found = estimate_disagreement(draw(generator, shares, runs))
                these = describe_cases(shares)["disagreement"]
                held += _holds(found.these, these), _holds(found.like, like)
            worst = min(worst, float(held.min()) / draws)
    return round(worst, 3)


def _holds(limits: tuple[float, float], truth: float) -> bool:
    return limits[0] - 1e-9 <= truth <= limits[1] + 1e-9


def _draw_plain(generator: np.random.Generator, shares: Floats, runs: int) -> SuiteRuns:
    return draw_runs(generator, shares, runs)


def _draw_days(generator: np.random.Generator, shares: Floats, runs: int) -> SuiteRuns:
    """Draw runs over five days, of which half repeat what was decided first on their day."""
    return _select(_days(generator, shares, runs))


def _days(
    generator: np.random.Generator, shares: Floats, runs: int, days: range = range(1, 6)
) -> list[Row]:
    rows = []
    for case, of in enumerate(shares):
        for day in days:
            usual = generator.choice(3, p=of)
            for hour in range(runs // len(days)):
                decided = usual if generator.random() < 0.5 else generator.choice(3, p=of)
                rows.append(_row(case, decided) | {"time": f"2026-02-{day:02d}T{hour:02d}:00:00"})
    return rows


def _draw_reruns(generator: np.random.Generator, shares: Floats, runs: int) -> SuiteRuns:
    """Draw two runs of each case, and more only where they differ, as a retry button does."""
    rows = []
    for case, of in enumerate(shares):
        ended = list(generator.choice(3, 2, p=of))
        ended += list(generator.choice(3, runs - 2, p=of)) if ended[0] != ended[1] else []
        rows += [_row(case, each) | {"run": run} for run, each in enumerate(ended)]
    return _select(rows)


def _row(case: int, decided: int) -> Row:
    return {"case": f"c{case}", "decision": "abc"[decided], "right": int(decided) == 0}


def _select(rows: list[Row]) -> SuiteRuns:
    return select_independent(_read(rows))[0]


def _read(rows: list[Row]) -> ComparedRuns:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "runs.jsonl")
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return ComparedRuns(read_log(file).cases, "logs", "decisions")


def _compare_days(draws: int) -> float:
    """Return how often a program looks worse than itself, each with a day of its own."""
    worse = 0
    for draw in range(draws // 4):
        generator = np.random.default_rng(draw)
        shares = MIXTURES["uniform"](generator, 50)
        logs = [_read(_days(generator, shares, 4, range(day, day + 1))) for day in (1, 2)]
        before, after = (select_independent(each)[0] for each in logs)
        found = compare_suites(before, after, 0.02, have_days_apart(*logs))
        worse += found.verdict == "unstable"
    return round(worse / max(draws // 4, 1), 3)
