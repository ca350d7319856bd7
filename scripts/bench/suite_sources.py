"""Measure the split of differences between runs by source, where the parts are known."""

from collections.abc import Callable
from typing import Any

import numpy as np
from suite_draws import CASES, MIXTURES, Shares

from plenum_audit.suites import SuiteRuns, split_by_source

_DESIGNS = ((2, 2), (2, 4), (4, 2))
"""Values of the column in each case, and runs of each value: 50 x 4 and 50 x 8."""

_CASE, _VALUE, _RUN = 0.08, 0.06, 0.05
"""Standard deviations of graded scores."""


def _no_part(draw: np.random.Generator, values: int) -> Shares:
    """Draw chances of a right run that the column doesn't change; it adds nothing."""
    return np.repeat(MIXTURES["80/20"](draw, CASES)[:, :1], values, axis=1)


def _own_chances(draw: np.random.Generator, values: int) -> Shares:
    """Draw 1 or, of a fifth, .5 for each value of each case; the column adds .08 to G."""
    return np.where(draw.random((CASES, values)) < 0.8, 1.0, 0.5)


def _shifted(draw: np.random.Generator, values: int) -> Shares:
    """Draw chances from .3 to .7 by case, shifted by up to .3; the column adds .06 to G."""
    shift = draw.uniform(-0.3, 0.3, (CASES, values))
    return np.asarray(draw.uniform(0.3, 0.7, (CASES, 1)) + shift)


def _rare(draw: np.random.Generator, values: int) -> Shares:
    """Draw .95 or, of 6 %, 0; the column adds 2 (.95)² (.06) (.94) to G."""
    return np.where(draw.random((CASES, values)) < 0.94, 0.95, 0.0)


_MIXTURES: dict[str, tuple[Callable[[np.random.Generator, int], Shares], float]] = {
    "no part": (_no_part, 0.0),
    "own chances": (_own_chances, 0.08),
    "shifted": (_shifted, 0.06),
    "rare": (_rare, 2 * 0.95**2 * 0.06 * 0.94),
}


_CROSSED = {"model": 2 * 0.2**2 / 3, "wording": 0.2**2}
"""What each of two crossed columns adds to G."""


def measure_sources(draws: int) -> dict[str, Any]:
    """Measure how often the interval of a column's part holds, and the bias of all parts."""
    draw = np.random.default_rng(11)
    held: dict[str, float] = {}
    bias: dict[str, float] = {}
    for values, runs in _DESIGNS:
        for name, (mixture, part) in _MIXTURES.items():
            found = [_right(draw, mixture(draw, values), runs) for _ in range(draws)]
            of = f"{name}, {values} x {runs}"
            held[of] = float(np.mean([low <= part <= high for _, low, high in found]))
            bias[of] = float(np.mean([more for more, _, _ in found])) - part
            print(f"sources, {of}: held {held[of]:.3f}, bias {bias[of]:+.4f}", flush=True)
        known = np.array([_CASE, _VALUE, _RUN]) ** 2
        graded = np.mean([_graded(draw, values, runs) for _ in range(draws)], axis=0)
        of = f"graded, {values} x {runs}"
        bias[of] = float(np.abs(graded / known - 1).max())
        print(f"sources, {of}: variances are off by up to {100 * bias[of]:.1f} %", flush=True)
    for cases, runs in ((CASES, 1), (CASES, 2), (10, 1), (10, 2)):
        crossed = [_crossed(draw, cases, runs) for _ in range(draws)]
        for number, (column, part) in enumerate(_CROSSED.items()):
            found = [each[number] for each in crossed]
            of = f"{column} of two crossed columns, {cases} x 2 x 2 x {runs}"
            held[of] = float(np.mean([low <= part <= high for _, low, high in found]))
            bias[of] = float(np.mean([more for more, _, _ in found])) - part
            print(f"sources, {of}: held {held[of]:.3f}, bias {bias[of]:+.4f}", flush=True)
    return {
        "coverage_sources": min(held.values()),
        "sources_bias": round(max(abs(b) for of, b in bias.items() if of in held), 4),
        "sources_variances_off": round(max(b for of, b in bias.items() if of not in held), 3),
    }


def _right(draw: np.random.Generator, chances: Shares, runs: int) -> tuple[float, float, float]:
    """Return what the column adds to disagreement, and its limits."""
    right = (draw.random((*chances.shape, runs)) < chances[:, :, None]).ravel()
    (source,) = split_by_source(*_suite(right.astype(float), chances.shape[1], runs)).sources
    assert source.interval is not None
    return source.more, *source.interval


def _crossed(draw: np.random.Generator, cases: int, runs: int) -> list[tuple[float, float, float]]:
    """Return what each of two crossed columns adds, and its limits.

    The model moves each case's chance by up to .2, the wording that of all cases by .2 in all.
    """
    chances = draw.uniform(0.35, 0.65, (cases, 1, 1, 1)) + np.array([-0.1, 0.1])[:, None]
    chances = chances + draw.uniform(-0.2, 0.2, (cases, 2, 1, 1))
    right = (draw.random((cases, 2, 2, runs)) < chances).ravel().astype(float)
    made, _ = _suite(right, 4, runs)
    model, wording = np.divmod(np.tile(np.repeat(np.arange(4), runs), cases), 2)
    split = split_by_source(
        made, {"model": model.astype(str).tolist(), "wording": wording.astype(str).tolist()}
    )
    found = []
    for column in _CROSSED:
        (source,) = (each for each in split.sources if each.columns == (column,))
        assert source.interval is not None
        found.append((source.more, *source.interval))
    return found


def _graded(draw: np.random.Generator, values: int, runs: int) -> tuple[float, ...]:
    """Return the variances between cases, between values and between runs."""
    of_case = draw.normal(0.5, _CASE, (CASES, 1, 1))
    of_value = draw.normal(0, _VALUE, (CASES, values, 1))
    score = (of_case + of_value + draw.normal(0, _RUN, (CASES, values, runs))).ravel()
    split = split_by_source(*_suite(score, values, runs))
    assert split.between_cases is not None
    assert split.run is not None
    return split.between_cases, split.sources[0].variance or 0.0, split.run


def _suite(score: Shares, values: int, runs: int) -> tuple[SuiteRuns, dict[str, list[str]]]:
    own = np.repeat(np.arange(values), runs).astype(str).tolist()
    cases = len(score) // (values * runs)
    made = SuiteRuns(
        cases=tuple(map(str, range(cases))),
        outcomes=("wrong", "right"),
        case=np.repeat(np.arange(cases), values * runs),
        outcome=(score >= 1).astype(np.intp),
        score=score,
    )
    return made, {"wording": own * cases}
