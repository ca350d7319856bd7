"""Predictions of committees to which candidates weren't fitted, and those of resampled runs.

In one setting a scenario is held out, but for its first rounds: candidates are fitted to the other
scenarios, and the rival resamples runs of the same design there. In the others a pilot of a few
whole runs is known, and the remaining runs are predicted: candidates are fitted to the pilot, and
the rival resamples it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plenum.base import make_generator
from plenum_fit.committees import Committees, Floats, Options
from plenum_fit.kernels import Kernel
from plenum_fit.statistics import (
    Scales,
    Statistics,
    average,
    compute_errors,
    measure,
    measure_recorded,
    scale,
)
from plenum_fit.surrogates import CANDIDATES, Candidate, decide, fit_kernels, simulate

NEW = "first round known"
"""The setting in which a scenario's first rounds alone are known."""

RESAMPLED, NEAREST, UNMOVED = "resampled", "nearest", "unmoved"
"""Rivals without a model: other runs; those of the scenarios whose first rounds are most alike;
and states that stay as they were in the first round."""

RIVALS = (RESAMPLED, NEAREST, UNMOVED)

CARRIED = ", carried over"
"""The end of the name of a candidate that was fitted to other scenarios, where a pilot is known."""

_NEAR = 3
"""The number of scenarios that count as nearest."""


def name_pilot(runs: int) -> str:
    """Name the setting in which a pilot of so many runs is known."""
    return f"pilot of {runs}"


@dataclass(frozen=True)
class Prediction:
    """A prediction of a condition, and what was recorded.

    Attributes
    ----------
    setting, model
        What was known, and the name of a candidate or of a rival.
    committees
        The condition that was predicted.
    predicted, recorded
        Statistics of the runs that the model hadn't seen.
    errors
        By statistic, in units of its scale.
    """

    setting: str
    model: str
    committees: Committees
    predicted: Statistics
    recorded: Statistics
    errors: Mapping[str, float]

    @property
    def error(self) -> float:
        """The mean error over statistics."""
        return float(np.mean(list(self.errors.values())))


@dataclass(frozen=True)
class Validation:
    """The material of a cross-validation.

    Attributes
    ----------
    recorded
        The conditions.
    pilots
        Numbers of runs of pilots.
    splits
        How often runs are split into a pilot and others.
    runs
        Simulated runs a prediction.
    candidates
        Models that are tried.
    """

    recorded: tuple[Committees, ...]
    pilots: tuple[int, ...] = (3, 5, 10)
    splits: int = 1
    runs: int = 200
    candidates: tuple[Candidate, ...] = CANDIDATES


def cross_validate(
    wanted: Validation, report_progress: Callable[[int, int], None] = lambda done, of: None
) -> list[Prediction]:
    """Predict every condition: from other scenarios, and from pilots of its own.

    Parameters
    ----------
    report_progress
        Called with the number of scenarios that are done, and of all; each is done twice.
    """
    scales = scale([measure_recorded(each) for each in wanted.recorded])
    scenarios = list(dict.fromkeys(each.scenario for each in wanted.recorded))
    steps = 2 * len(scenarios)
    found: list[Prediction] = []
    elsewhere = {}
    for done, scenario in enumerate(scenarios, start=1):
        known = [each for each in wanted.recorded if each.scenario != scenario]
        elsewhere[scenario] = {
            candidate.name: fit_kernels(known, candidate)
            for candidate in wanted.candidates
            if not candidate.own_scenario
        }
        for committees in wanted.recorded:
            alike = [each for each in known if each.design == committees.design]
            if committees.scenario == scenario and alike:
                found += _predict_new(wanted, committees, alike, elsewhere[scenario], scales)
        report_progress(done, steps)
    best = rank(found, NEW)[0] if found else ""
    for done, scenario in enumerate(scenarios, start=1 + len(scenarios)):
        carried = {best + CARRIED: elsewhere[scenario][best]} if best else {}
        for committees in wanted.recorded:
            if committees.scenario == scenario:
                found += _predict_pilots(wanted, committees, carried, scales)
        report_progress(done, steps)
    return found


def rank(predictions: Sequence[Prediction], setting: str, without: str = "") -> list[str]:
    """Order the candidates from the least mean error on, rivals left out.

    Parameters
    ----------
    without
        A scenario whose predictions don't count.
    """
    errors: dict[str, list[float]] = {}
    for each in predictions:
        if each.setting == setting and each.committees.scenario != without:
            errors.setdefault(each.model, []).append(each.error)
    models = [name for name in errors if name not in RIVALS]
    return sorted(models, key=lambda name: float(np.mean(errors[name])))


def choose(predictions: Sequence[Prediction], setting: str) -> str:
    """Choose the first candidate whose error can't be told from the least one.

    Errors are averaged by scenario; a mean difference of no more than its standard error over
    scenarios is none.
    """
    ranked = rank(predictions, setting)
    least = _by_scenario(predictions, setting, ranked[0])
    for candidate in CANDIDATES:  # from few parts to many
        if candidate.name in ranked:
            more = _by_scenario(predictions, setting, candidate.name) - least
            if more.mean() <= more.std(ddof=1) / np.sqrt(len(more)):
                return candidate.name
    return ranked[0]


def _by_scenario(predictions: Sequence[Prediction], setting: str, model: str) -> Floats:
    errors: dict[str, list[float]] = {}
    for each in predictions:
        if each.setting == setting and each.model == model:
            errors.setdefault(each.committees.scenario, []).append(each.error)
    return np.array([np.mean(each) for each in errors.values()])


def compute_gains(
    predictions: Sequence[Prediction], setting: str, rival: str = RESAMPLED
) -> dict[str, float]:
    """Divide the error of the best candidate by the rival's, by scenario; below 1 it is better.

    The candidate is chosen by the errors in the other scenarios.
    """
    found = {}
    for scenario in dict.fromkeys(each.committees.scenario for each in predictions):
        ranked = rank(predictions, setting, without=scenario)
        errors: dict[str, list[float]] = {}
        for each in predictions:
            if each.setting == setting and each.committees.scenario == scenario:
                errors.setdefault(each.model, []).append(each.error)
        if ranked and rival in errors:
            found[scenario] = float(np.mean(errors[ranked[0]]) / np.mean(errors[rival]))
    return found


def play(
    kernels: Mapping[str, Kernel],
    committees: Committees,
    runs: int,
    *purpose: str | int,
    rounds: int | None = None,
) -> tuple[Floats, Options]:
    """Simulate committees from recorded first rounds, each as often as the others.

    Parameters
    ----------
    purpose
        Names the draws, together with the condition.
    rounds
        As many as were recorded by default.

    Returns
    -------
    preferences, decided
        Shapes (runs, rounds, seats, options) and (runs,).
    """
    draws = make_generator("fit", committees.name, *purpose)
    first = committees.preferences[:, 0]
    states = simulate(
        kernels,
        committees.seats,
        first[np.arange(runs) % len(first)],
        rounds or committees.rounds,
        draws,
    )
    return states, decide(states, draws)


def _predict_new(
    wanted: Validation,
    committees: Committees,
    alike: Sequence[Committees],
    kernels: Mapping[str, Mapping[str, Kernel]],
    scales: Scales,
) -> Iterator[Prediction]:
    recorded = measure_recorded(committees)
    rivals = {
        RESAMPLED: average([measure_recorded(each) for each in alike]),
        NEAREST: average([measure_recorded(each) for each in _nearest(committees, alike)]),
        UNMOVED: _stand_still(committees),
    }
    models = {
        name: measure(*play(each, committees, wanted.runs, name)) for name, each in kernels.items()
    }
    for name, predicted in {**rivals, **models}.items():
        errors = compute_errors(predicted, recorded, scales)
        yield Prediction(NEW, name, committees, predicted, recorded, errors)


def _predict_pilots(
    wanted: Validation,
    committees: Committees,
    carried: Mapping[str, Mapping[str, Kernel]],
    scales: Scales,
) -> Iterator[Prediction]:
    """Split the runs of a condition, fit candidates to the pilot, and predict the others."""
    runs = len(committees.decided)
    for size in wanted.pilots:
        for split in range(wanted.splits if runs >= size + 2 else 0):
            draws = make_generator("fit", "split", committees.name, size, split)
            order = draws.permutation(runs)
            pilot, rest = committees.take(order[:size]), committees.take(order[size:])
            own = {each.name: fit_kernels([pilot], each) for each in wanted.candidates}
            recorded = measure_recorded(rest)
            models = {RESAMPLED: measure_recorded(pilot)} | {
                name: measure(*play(each, pilot, wanted.runs, name, size, split))
                for name, each in {**own, **carried}.items()
            }
            for name, predicted in models.items():
                errors = compute_errors(predicted, recorded, scales)
                yield Prediction(name_pilot(size), name, committees, predicted, recorded, errors)


def _stand_still(committees: Committees) -> Statistics:
    """Measure runs whose states stay as they were in the first round."""
    states = np.repeat(committees.preferences[:, :1], committees.rounds, axis=1)
    return measure(states, decide(states, make_generator("fit", committees.name, UNMOVED)))


def _nearest(committees: Committees, alike: Sequence[Committees]) -> list[Committees]:
    """Find the scenarios whose first rounds are most alike: how far ahead options are, and D."""
    here = _describe(committees)
    return sorted(alike, key=lambda each: float(((_describe(each) - here) ** 2).sum()))[:_NEAR]


def _describe(committees: Committees) -> Floats:
    first = committees.preferences[:, :1]
    shares = np.sort(first.mean(axis=(0, 1, 2)))[::-1]
    spread = measure(first, committees.decided).divergence[0]
    return np.array([shares[0], shares[0] - shares[1], 2 * spread])
