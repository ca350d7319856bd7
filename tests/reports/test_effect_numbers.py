"""Effects take the window that is asked for, and their p is adjusted over the right family."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from known_conditions import CHOSEN, build, diagnostics, exponent, tracked
from numpy.testing import assert_allclose

from plenum.dynamics import (
    Contrast,
    Pooled,
    benjamini_hochberg,
    contrast,
    holm,
    interaction,
    lyapunov,
    mixed_model,
    pooled,
)
from plenum.reports import effects
from plenum.reports.effects import Across, Effect
from plenum.reports.rows import Row

SQUARE = [("on", "mixed"), ("on", "uniform"), ("off", "mixed"), ("off", "uniform")]
LATE = replace(CHOSEN, window=(5, 12))


def square(scenario: int = 0, rate: float = 0.05, replicates: int = 8, **factors: str) -> list[Row]:
    """A 2x2 whose roles grow, more so in later scenarios."""
    first = 100 * scenario + 10 * len(factors.get("memory", ""))
    return build(
        [
            tracked(
                *(first + n, rate * (role == "on") * (1 + 0.2 * scenario), replicates),
                scenario=f"S-{scenario}",
                roles=role,
                model=model,
                **factors,
            )
            for n, (role, model) in enumerate(SQUARE)
        ]
    )


@pytest.fixture(scope="module")
def study() -> list[Row]:
    """Four scenarios with a 2x2 under either of two memories."""
    return [row for s in range(4) for memory in ("k15", "k3") for row in square(s, memory=memory)]


@pytest.fixture(scope="module")
def measured(study: list[Row]) -> list[Effect]:
    """Its contrasts and interactions."""
    return [*effects.contrasts(study, CHOSEN), *effects.interactions(study, CHOSEN)]


@pytest.fixture(scope="module")
def across(study: list[Row], measured: list[Effect]) -> list[Across]:
    """What is pooled of them."""
    return effects.across(study, measured, CHOSEN)


# --- windows, draws and decisions --------------------------------------------------------------


def test_a_contrast_is_measured_over_the_window_that_is_asked_for() -> None:
    on, off = tracked(1, 0.05, roles="on"), tracked(2)
    (found,) = effects.contrasts(build([on, off], LATE), LATE)
    expected = contrast(on.ensemble, off.ensemble, (5, 12), draws=CHOSEN.draws)
    assert found.contrast == expected
    assert abs(expected.value - contrast(on.ensemble, off.ensemble, draws=1).value) > 1e-4


def test_a_contrast_takes_the_draws_and_the_seed_that_are_asked_for() -> None:
    on, off = tracked(1, roles="on"), tracked(2)
    chosen = replace(CHOSEN, draws=150, seed=7)
    (found,) = effects.contrasts(build([on, off]), chosen)
    p = [contrast(on.ensemble, off.ensemble, draws=d, seed=s).p for d, s in ((150, 7), (150, 0))]
    assert found.contrast.p == p[0] != p[1]


def test_an_interaction_is_measured_over_the_window_that_is_asked_for() -> None:
    rows = square()
    (found,) = effects.interactions(rows, LATE)
    ensembles = [row.tracked.ensemble for row in rows]
    expected = interaction(*ensembles, window=(5, 12))
    assert found.contrast == expected
    assert abs(expected.value - interaction(*ensembles).value) > 1e-4


def test_an_interaction_looks_at_the_decisions_of_its_cells() -> None:
    rows = square()
    split = replace(rows[1], tracked=replace(rows[1].tracked, decisions=tuple("AABBABAB")))
    (found,) = effects.interactions([rows[0], split, *rows[2:]], CHOSEN)
    flips = ["flip_dominated" in cell.warnings for cell in found.contrast.cells]
    expected = ["flip_dominated" in exponent(row).warnings for row in rows]
    assert flips == [expected[0], True, *expected[2:]]


def test_the_mixed_model_is_fitted_over_the_window_that_is_asked_for() -> None:
    rows = [row for s in range(3) for row in square(s)]
    cells = [
        (r.tracked.factors["scenario"], role == "on", model == "mixed", r.tracked.ensemble)
        for r, (role, model) in zip(rows, SQUARE * 3, strict=True)
    ]
    found = {e.name: e for e in effects.across(rows, [], LATE)}
    expected = mixed_model(cells, (5, 12))
    assert set(found) == {f"mixed model: {name}" for name in expected.effects}
    for name, term in expected.effects.items():
        assert found[f"mixed model: {name}"].estimate == term
        assert found[f"mixed model: {name}"].tau == expected.tau[name]
    assert abs(expected.effects["roles"].value - mixed_model(cells).effects["roles"].value) > 1e-4


# --- families ----------------------------------------------------------------------------------


def test_p_of_a_contrast_is_adjusted_over_all_contrasts_of_its_factor(
    measured: list[Effect],
) -> None:
    prefixes = {"roles on": 16, "model mixed": 16, "memory k3": 16, "roles x mixed": 8}
    for prefix, count in prefixes.items():
        family = [effect for effect in measured if effect.name.startswith(prefix)]
        p = [effect.contrast.p for effect in family]
        assert len(family) == count
        assert_allclose([effect.p_holm for effect in family], holm(p))
        assert_allclose([effect.p_bh for effect in family], benjamini_hochberg(p))


def families(across: Sequence[Across]) -> tuple[list[Across], list[Across]]:
    """The random-effects means, and the terms of mixed models."""
    means = [effect for effect in across if isinstance(effect.estimate, Pooled)]
    return means, [effect for effect in across if effect.name.startswith("mixed model")]


def test_p_of_the_means_is_adjusted_over_all_means_of_the_study(across: list[Across]) -> None:
    means, terms = families(across)
    assert len(means) == 4 + 4 + 4 + 2
    assert len(means) + len(terms) == len(across)
    p = [effect.estimate.p for effect in means]
    assert_allclose([effect.p_holm for effect in means], holm(p))
    others = [effect.estimate.p for effect in terms]
    assert not np.allclose(holm(p), holm([*p, *others])[: len(p)])  # families tell apart here
    assert not np.allclose(holm(p)[:4], holm(p[:4]))


def test_p_of_a_mixed_model_is_adjusted_over_its_own_terms(across: list[Across]) -> None:
    _, terms = families(across)
    for memory in ("k15", "k3"):
        own = [effect for effect in terms if effect.others["memory"] == memory]
        assert [effect.name.removeprefix("mixed model: ") for effect in own] == [
            *("roles", "mixed", "roles x mixed")
        ]
        p = [effect.estimate.p for effect in own]
        assert_allclose([effect.p_holm for effect in own], holm(p))
    assert len(terms) == 6


def test_a_mean_is_that_of_its_own_effects_and_their_errors(
    across: list[Across], measured: list[Effect]
) -> None:
    means, _ = families(across)
    for mean in means:
        own = [
            effect
            for effect in measured
            if effect.name == mean.name
            and {k: v for k, v in effect.others.items() if k != "scenario"} == mean.others
        ]
        assert len(own) == 4
        expected = pooled([e.contrast.value for e in own], [e.contrast.se for e in own])
        assert mean.estimate == expected
        assert mean.tau == expected.tau


def test_a_pooled_effect_carries_the_warnings_of_the_conditions_that_went_in() -> None:
    rows = [row for s in range(3) for row in square(s, replicates=12)]
    rows[5] = replace(rows[5], tracked=replace(rows[5].tracked, target=20))
    found = effects.across(rows, effects.contrasts(rows, CHOSEN), CHOSEN)
    for effect in found:
        # S-1 roles=on model=uniform: in the roles of uniform committees, the models with roles
        held = effect.others
        went_in = effect.name.startswith("mixed model") or (
            (held.get("model") == "uniform") or (held.get("roles") == "on")
        )
        assert ("pending" in effect.cells) is went_in
        assert effect.warnings == ("few_scenarios",)


# --- what is written ---------------------------------------------------------------------------


def test_the_record_of_a_contrast_holds_its_numbers_with_the_treated_condition_first() -> None:
    on, off = build([tracked(1, 0.05, 11, roles="on"), tracked(2, sd=0.1)])
    (effect,) = effects.contrasts([off, on], CHOSEN)
    line, c = effect.record("s1"), effect.contrast
    assert isinstance(c, Contrast)
    assert {n: line[n] for n in ("se", "ci_low", "ci_high", "df", "p", "method")} == {
        n: getattr(c, n) for n in ("se", "ci_low", "ci_high", "df", "p", "method")
    }
    assert line["estimate"] == c.value
    assert (line["p_welch"], line["p_holm"], line["p_bh"]) == (c.p_wald, effect.p_holm, effect.p_bh)
    assert c.p_wald != c.p
    assert line["n"] == "11 12"
    assert line["lambda"] == " ".join(f"{exponent(r).value:.6g}" for r in (on, off))
    assert line["d_first"] == " ".join(f"{diagnostics(r).d_first:.6g}" for r in (on, off))
    assert line["headroom"] == " ".join(f"{diagnostics(r).headroom:.6g}" for r in (on, off))
    assert (line["roles"], line["model"], line["scenario"]) == ("", "uniform", "HL-01")


def test_the_record_of_a_mean_holds_its_numbers(across: list[Across]) -> None:
    means, terms = families(across)
    for effect in means:
        line = effect.record("s1")
        for name in ("se", "ci_low", "ci_high", "df", "p", "i2", "q", "q_p", "tau"):
            assert line[name] == getattr(effect.estimate, name), name
        for name in ("prediction_low", "prediction_high"):
            assert line[name] == getattr(effect.estimate, name), name
        assert (line["estimate"], line["p_holm"]) == (effect.estimate.value, effect.p_holm)
        assert line["scenarios"] == 4
    for effect in terms:
        line = effect.record("s1")
        assert (line["tau"], line["scenarios"]) == (effect.tau, 4)
        assert line["i2"] != line["i2"]


def test_the_estimates_of_an_effect_are_those_of_its_cells() -> None:
    rows = square()
    (found,) = effects.interactions(rows, CHOSEN)
    values = [lyapunov(row.tracked.ensemble).value for row in rows]
    assert [cell.value for cell in found.contrast.cells] == values
    assert found.cells == tuple(rows)
