"""Errors of predictions, by a second plain implementation, and what known committees give."""

import itertools
import math

import made_up
import numpy as np
import pytest
import released

from plenum_fit.committees import Committees, find_majority
from plenum_fit.statistics import (
    STATISTICS,
    Statistics,
    compute_errors,
    measure,
    measure_recorded,
    scale,
)
from plenum_fit.surrogates import CANDIDATES, decide, fit_kernels, simulate
from plenum_fit.validation import (
    CARRIED,
    NEAREST,
    NEW,
    RESAMPLED,
    UNMOVED,
    Prediction,
    Validation,
    choose,
    compute_gains,
    cross_validate,
    name_pilot,
    rank,
)


def drawn(scenario: str, seed: int, runs: int = 12, rounds: int = 8) -> Committees:
    """Committees that polarise."""
    states = made_up.draw_states(seed, runs, rounds)
    votes = states[:, -1].argmax(axis=-1)
    decided = find_majority(votes, 3)
    return Committees(scenario, "on", "uniform", released.SEATS, states, decided)


def measured_plainly(states: np.ndarray, decided: np.ndarray) -> dict[str, np.ndarray]:
    """The four statistics by loops over runs; no tops are tied."""
    runs, rounds, seats, options = states.shape
    pairs = list(itertools.combinations(range(runs), 2))
    mean = states.mean(axis=2)
    apart = [[math.dist(mean[a, t], mean[b, t]) for a, b in pairs] for t in range(rounds)]
    tops = states.argmax(axis=-1)
    times = []
    for r in range(runs):
        held = [
            t + 1
            for t in range(rounds)
            if max((tops[r, t] == o).sum() for o in range(options)) > seats / 2
        ]
        times.append(held[0] if held else rounds + 1)
    changes = [
        sum(tops[r, t, s] != tops[r, t - 1, s] for r in range(runs) for t in range(1, rounds))
        for s in range(seats)
    ]
    return {
        "divergence": np.mean(apart, axis=1),
        "disagreement": np.mean([decided[a] != decided[b] for a, b in pairs]),
        "switches": np.array(changes) / runs,
        "majority": np.mean(times),
    }


def test_statistics_are_those_of_a_plain_count() -> None:
    rng = np.random.default_rng(0)
    states = rng.dirichlet([2, 2, 2], (7, 5, 4))
    decided = rng.integers(-1, 3, 7)
    found, plain = measure(states, decided), measured_plainly(states, decided)
    for name in STATISTICS:
        np.testing.assert_allclose(getattr(found, name), plain[name], atol=1e-12)


def test_errors_are_absolute_and_in_units_of_the_spread_of_conditions() -> None:
    first = Statistics(np.array([0.1, 0.3]), 0.2, np.array([1.0, 0.0]), 3.0)
    second = Statistics(np.array([0.3, 0.3]), 0.6, np.array([0.0, 0.0]), 3.0)
    scales = scale([first, second])
    # D: means .2 and .3, apart .1, .1, 0, 0; disagreement .2 each; switches .5, .5, 0, 0
    assert scales == pytest.approx(
        {"divergence": 0.05, "disagreement": 0.2, "switches": 0.25, "majority": 0.0}
    )
    errors = compute_errors(first, second, scales)
    assert errors == pytest.approx({"divergence": 2, "disagreement": 2, "switches": 2})


def test_the_gain_is_that_of_the_model_which_is_best_elsewhere() -> None:
    nothing = Statistics(np.zeros(1), 0, np.zeros(1), 0)

    def made(scenario: str, model: str, error: float) -> Prediction:
        committees = drawn(scenario, 0, 2, 1)
        return Prediction(NEW, model, committees, nothing, nothing, {"divergence": error})

    errors = {"A": (1.0, 0.2, 0.9), "B": (1.0, 0.8, 0.5), "C": (2.0, 0.9, 0.4)}
    predictions = [
        made(scenario, model, error)
        for scenario, each in errors.items()
        for model, error in zip((RESAMPLED, "walk", "peers"), each, strict=True)
    ]
    assert rank(predictions, NEW) == ["peers", "walk"]
    # Without A peers is best, without B walk (1.1 against 1.3), without C walk (1.0 against 1.4).
    assert compute_gains(predictions, NEW) == pytest.approx({"A": 0.9, "B": 0.8, "C": 0.45})


def test_the_simpler_of_two_models_that_err_alike_is_chosen() -> None:
    nothing = Statistics(np.zeros(1), 0, np.zeros(1), 0)

    def errors(**given: tuple[float, ...]) -> list[Prediction]:
        return [
            Prediction(NEW, model, drawn(scenario, 0, 2, 1), nothing, nothing, {"divergence": one})
            for model, each in given.items()
            for scenario, one in zip("ABC", each, strict=True)
        ]

    best = (0.5, 0.7, 0.6)
    assert choose(errors(polarising_jumps=best, polarising=(0.8, 0.5, 0.6)), NEW) == "polarising"
    worse = errors(polarising_jumps=best, polarising=(0.8, 0.9, 0.9))
    assert choose(worse, NEW) == "polarising_jumps"


def test_committees_that_polarise_are_found_out_in_scenarios_that_were_held_out() -> None:
    recorded = tuple(drawn(name, seed) for seed, name in enumerate("ABCDEF"))
    tried = tuple(c for c in CANDIDATES if c.name in ("peers", "stubborn", "polarising", "anchors"))
    found = cross_validate(Validation(recorded, (5,), 1, 60, tried))
    assert rank(found, NEW)[0] == "polarising"
    models = {each.model for each in found if each.setting == NEW}
    assert models == {RESAMPLED, NEAREST, UNMOVED, "peers", "stubborn", "polarising"}
    pilots = {each.model for each in found if each.setting == name_pilot(5)}
    assert pilots == {RESAMPLED, *(c.name for c in tried), "polarising" + CARRIED}
    assert np.mean(list(compute_gains(found, NEW).values())) < 0.6
    # The others' mean is what resampling other scenarios predicts.
    (others,) = [e for e in found if e.model == RESAMPLED and e.committees.scenario == "A"][:1]
    means = np.mean([measure_recorded(each).divergence for each in recorded[1:]], axis=0)
    np.testing.assert_allclose(others.predicted.divergence, means)


def test_predictions_are_the_same_again() -> None:
    recorded = tuple(drawn(name, seed) for seed, name in enumerate("AB"))
    wanted = Validation(recorded, (3,), 1, 20, CANDIDATES[:1])
    first, second = cross_validate(wanted), cross_validate(wanted)
    assert [each.error for each in first] == [each.error for each in second]


def test_a_fit_to_simulated_committees_finds_what_drives_them() -> None:
    recorded = [drawn(str(seed), seed, runs=30, rounds=20) for seed in range(8)]
    polarising = next(each for each in CANDIDATES if each.name == "polarising")
    kernels = fit_kernels(recorded, polarising)
    for kernel in kernels.values():
        assert kernel.stays == pytest.approx(made_up.TRUE.stays, abs=0.03)
        # What own and group pull to is mostly one option, so that their sum is what is known.
        assert kernel.weights[1] + kernel.weights[2] == pytest.approx(0.14, abs=0.03)


def test_ties_are_decided_by_lot_and_majorities_counted() -> None:
    last = np.array([[[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]])
    decided = decide(np.repeat(last[:, None], 4000, axis=0), np.random.default_rng(0))
    # Two of three votes are for the second option in a quarter of the runs.
    assert np.mean(decided == 1) == pytest.approx(0.25, abs=0.03)
    assert np.mean(decided == 0) == pytest.approx(0.75, abs=0.03)


def test_play_begins_with_the_first_rounds() -> None:
    first = made_up.draw_states(1)[:, 0]
    kernels = dict.fromkeys(released.SEATS, made_up.TRUE)
    states = simulate(kernels, released.SEATS, first, 3, np.random.default_rng(0))
    assert states.shape == (len(first), 3, 5, 3)
    np.testing.assert_array_equal(states[:, 0], first)
