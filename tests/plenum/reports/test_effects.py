"""Contrasts, interactions and pooled effects: what is compared with what, over which family."""

from dataclasses import replace
from typing import Any

import generators
import numpy as np
import pytest
from known_conditions import CHOSEN, FACTORS, build, diagnostics, exponent, line, tracked
from numpy.testing import assert_allclose

from plenum.dynamics.contrasts import contrast, interaction
from plenum.dynamics.growth_contrasts import contrast_growth
from plenum.dynamics.lyapunov import lyapunov
from plenum.dynamics.meta_analysis import pool
from plenum.dynamics.multiplicity import benjamini_hochberg, holm
from plenum.reports import effects, growth_effects
from plenum.reports.effects import Effect
from plenum.reports.rows import Row
from plenum.reports.study import EstimatedStudy
from plenum.reports.tables.effects import tabulate_contrasts, tabulate_growth, tabulate_pooled

SQUARE = [("on", "mixed"), ("on", "uniform"), ("off", "mixed"), ("off", "uniform")]
LATE = replace(CHOSEN, window=(5, 12))


def square(scenario: int = 0, rate: float = 0.05, replicates: int = 8, **factors: str) -> list[Row]:
    """A 2x2 whose roles grow, more so in later scenarios."""
    first = 100 * scenario + 10 * len(factors.get("memory", ""))
    return build(
        [
            tracked(
                *(first + n, rate * (role == "on") * (1 + 0.2 * scenario), replicates + n),
                **{"scenario": f"S-{scenario}", "roles": role, "model": model, **factors},
            )
            for n, (role, model) in enumerate(SQUARE)
        ]
    )


@pytest.fixture(scope="module")
def study() -> list[Row]:
    """Four scenarios with a 2x2 under either of two memories."""
    return [row for s in range(4) for memory in ("k15", "k3") for row in square(s, memory=memory)]


@pytest.fixture(scope="module")
def measured(study: list[Row]) -> list[Effect[Any]]:
    """Its contrasts and interactions."""
    return [*effects.contrasts(study, CHOSEN), *effects.interactions(study, CHOSEN)]


@pytest.fixture(scope="module")
def across(study: list[Row], measured: list[Effect[Any]]) -> list[Effect[Any]]:
    """What is pooled of them."""
    return effects.across(measured)


# --- what is compared --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("conditions", "names"),
    [
        ([{"memory": m} for m in ("k15", "k3", "k1")], ["memory k3 - k15", "memory k1 - k15"]),
        ([{"memory": m} for m in ("k7", "k3")], ["memory k3 - k7"]),
        (
            [{"roles": r} for r in ("off", "ablate_chair", "on")],
            ["roles ablate_chair - on", "roles on - off"],
        ),
        (
            [{"roles": r} for r in ("ablate_chair", "ablate_equity", "on")],
            ["roles ablate_chair - on", "roles ablate_equity - on"],
        ),
        ([{"memory": "k15", "roles": "on"}, {"memory": "k3"}], []),
        ([{"roles": "on"}, {"roles": "on"}, {"roles": "off"}], []),
        *(([{f: "1"}, {f: "2"}], []) for f in ("seed", "rounds", "scenario", "backend")),
    ],
)
def test_a_level_is_compared_with_its_reference_and_all_else_is_equal(
    conditions: list[dict[str, str]], names: list[str]
) -> None:
    own = [replace(tracked(n), factors={**FACTORS, **own}) for n, own in enumerate(conditions)]
    found = effects.contrasts(build(own), CHOSEN)
    assert [effect.name for effect in found] == names
    assert all(effect.others.get("model") == "uniform" for effect in found)


def test_conditions_without_estimates_or_of_unequal_options_are_not_compared() -> None:
    on, off = tracked(1, roles="on"), tracked(2)
    five = replace(on, preferences=np.full((12, 20, 5, 5), 0.2))
    for others in ([on, tracked(2, replicates=0)], [five, off]):
        assert effects.contrasts(build(others), CHOSEN) == []
    assert effects.interactions(square()[:3], CHOSEN) == []


def test_contrasts_of_a_part_are_those_of_the_whole() -> None:
    """Four contrasts in two scenarios; a part has two of them, adjusted over all four."""
    conditions = [
        tracked(3 * n + k, 0.02 + 0.01 * k, scenario=scenario, roles=role)
        for n, scenario in enumerate(("HL-01", "IM-01"))
        for k, role in enumerate(("on", "ablate_chair", "ablate_equity"))
    ]
    whole = EstimatedStudy(CHOSEN, tuple(build(conditions)))
    part = whole.restrict(lambda factors: factors["scenario"] == "HL-01")
    assert [row.tracked.identity for row in part.rows] == ["c0", "c1", "c2"]
    assert len(whole.contrasts) == 4
    own = [effect for effect in whole.contrasts if effect.others["scenario"] == "HL-01"]
    assert (part.contrasts, part.interactions) == (own, [])
    alone = EstimatedStudy(CHOSEN, part.rows).contrasts
    assert max(a.p_holm for a in alone) <= max(b.p_holm for b in part.contrasts)


# --- the estimates -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "arguments"),
    [
        ({}, {}),
        ({"window": (5, 12)}, {"window": (5, 12)}),
        ({"draws": 150, "seed": 7}, {"draws": 150, "seed": 7}),
    ],
)
def test_a_contrast_is_that_of_dynamics_as_the_settings_ask(
    changes: dict[str, Any], arguments: dict[str, Any]
) -> None:
    on, off = tracked(1, 0.05, roles="on"), tracked(2)
    chosen = replace(CHOSEN, **changes)
    (found,) = effects.contrasts(build([off, on], chosen), chosen)
    expected = contrast(on.ensemble, off.ensemble, **{"draws": CHOSEN.draws, **arguments})
    assert found.estimate == expected
    assert found.estimate.value > 0


def test_an_interaction_has_both_first_and_neither_last_over_the_window() -> None:
    rows = square()
    (found,) = effects.interactions(rows[::-1], LATE)
    ensembles = [row.tracked.ensemble for row in rows]
    assert found.estimate == interaction(*ensembles, window=(5, 12))
    assert found.cells == tuple(rows)
    (usual,) = effects.interactions(rows, CHOSEN)
    both, first, second, neither = (lyapunov(ensemble).value for ensemble in ensembles)
    assert_allclose(usual.estimate.value, both - first - second + neither)
    assert [cell.value for cell in usual.estimate.cells] == [both, first, second, neither]


def test_an_effect_carries_the_warnings_of_its_conditions() -> None:
    on, off = tracked(1, roles="on"), tracked(2)
    leaping = generators.leaps(0.2).sample(12, 3)[:, :, None]
    uneven = replace(on, preferences=leaping, failures={"parse": 1})
    (found,) = effects.contrasts(build([uneven, off]), CHOSEN)
    assert {"uneven", "attrition"} <= set(found.warnings)
    assert "uneven" in found.estimate.warnings
    same = replace(on, preferences=np.repeat(on.preferences[:1], 12, axis=0))
    (found,) = effects.contrasts(build([same, off]), CHOSEN)
    assert np.isnan([found.estimate.value, found.p_holm]).all()
    assert "identical" in found.estimate.warnings


def test_a_warning_of_both_conditions_stands_once_in_the_table_of_contrasts() -> None:
    rows = build([tracked(1, replicates=4, roles="on"), tracked(2, replicates=4)])
    assert all("few_replicates" in row.warnings for row in rows)
    (table,) = tabulate_contrasts(effects.contrasts(rows, CHOSEN), rows)
    (listed,) = table.frame["warnings"].str.split()
    assert sorted(set(listed)) == sorted(listed)
    assert "few_replicates" in listed


# --- families and pooling ----------------------------------------------------------------------


def test_p_is_adjusted_over_all_contrasts_of_a_factor(measured: list[Effect[Any]]) -> None:
    prefixes = {"roles on": 16, "model mixed": 16, "memory k3": 16, "roles x mixed": 8}
    for prefix, count in prefixes.items():
        family = [effect for effect in measured if effect.name.startswith(prefix)]
        p = [effect.estimate.p for effect in family]
        assert len(family) == count
        assert_allclose([effect.p_holm for effect in family], holm(p))
        assert_allclose([effect.p_bh for effect in family], benjamini_hochberg(p))


def test_means_are_a_family_of_their_own(across: list[Effect[Any]]) -> None:
    assert len(across) == 4 + 4 + 4 + 2
    p = [effect.estimate.p for effect in across]
    assert_allclose([effect.p_holm for effect in across], holm(p))
    assert not np.allclose(holm(p)[:4], holm(p[:4]))


def test_a_mean_is_that_of_the_effects_that_share_all_but_the_scenario(
    across: list[Effect[Any]], measured: list[Effect[Any]]
) -> None:
    for mean in across:
        own = [e for e in measured if (e.name, {**e.others, "scenario": ""}) == (
            *(mean.name, {**mean.others, "scenario": ""}),
        )]  # fmt: skip
        assert len(own) == 4
        expected = pool([e.estimate.value for e in own], [e.estimate.se for e in own])
        assert (mean.estimate, mean.record("")["tau"]) == (expected, expected.tau)
        assert "scenario" not in mean.others


def test_effects_are_pooled_from_three_scenarios_on() -> None:
    rows = [row for s in range(3) for row in square(s, replicates=12)]
    rows[5] = replace(rows[5], tracked=replace(rows[5].tracked, target=20))
    two = rows[:8]
    assert effects.across(effects.contrasts(two, CHOSEN)) == []
    found = effects.across(effects.contrasts(rows, CHOSEN))
    assert {effect.name for effect in found} == {"roles on - off", "model mixed - uniform"}
    for effect in found:
        # S-1 roles=on model=uniform: in the roles of uniform committees, the models with roles
        others = effect.others
        went_in = others.get("model") == "uniform" or others.get("roles") == "on"
        assert ("pending" in effect.carried) is went_in
        assert effect.warnings == ("few_scenarios",)


def test_growth_is_compared_and_averaged_over_scenarios_for_these_and_for_others() -> None:
    rows = [row for s in range(3) for row in square(s, replicates=12)]
    compared = growth_effects.compare_growth_rates(rows, CHOSEN)
    assert {effect.name for effect in compared} == {"roles on - off", "model mixed - uniform"}
    for effect in compared:
        arms = [row.tracked.ensemble for row in effect.cells]
        expected = contrast_growth(*arms, CHOSEN.window, draws=CHOSEN.draws, seed=CHOSEN.seed)
        assert repr(effect.estimate) == repr(expected)  # NaN equals none since Python 3.13
    means = growth_effects.average_growth_rates(compared)
    assert [mean.estimate.n for mean in means] == [3] * 4
    own = [e.estimate.value for e in compared if e.name == means[0].name
           and e.others["model"] == means[0].others["model"]]  # fmt: skip
    record = means[0].record("s1")
    assert record["estimate"] == pytest.approx(np.mean(own))
    half = 4.302653 * np.std(own, ddof=1) / np.sqrt(3)
    assert record["like_high"] == pytest.approx(np.mean(own) + half, rel=1e-5)
    (table,) = tabulate_growth([*compared, *means], rows)
    assert line(table, len(compared))["scenarios"] == "3"
    assert line(table, len(compared))["typical pairs"] == "-"


# --- what is written ---------------------------------------------------------------------------


def test_the_record_and_the_table_of_a_contrast_hold_the_treated_condition_first() -> None:
    on, off = rows = build([tracked(1, 0.05, 11, roles="on"), tracked(2, sd=0.1)])
    (effect,) = found = effects.contrasts([off, on], CHOSEN)
    record, c, known = effect.record("s1"), effect.estimate, [diagnostics(row) for row in rows]
    for name in ("se", "ci_low", "ci_high", "df", "p", "method"):
        assert record[name] == getattr(c, name), name
    wanted = {
        **{"estimate": c.value, "p_welch": c.p_wald, "p_holm": effect.p_holm, "n": (11, 12)},
        **{"p_bh": effect.p_bh, "roles": "", "model": "uniform", "scenario": "HL-01"},
        "lambda": tuple(exponent(r).value for r in rows),
        "d_first": tuple(d.d_first for d in known),
        "headroom": tuple(d.headroom for d in known),
    }
    assert {name: record[name] for name in wanted} == wanted
    assert c.p_wald != c.p
    (table,) = tabulate_contrasts(found, rows)
    shown = line(table)
    assert shown["Δλ̂"] == f"{c.value:.4f}"
    assert shown["95 % CI"] == f"[{c.ci_low:.4f}, {c.ci_high:.4f}]"
    assert shown["D first"] == " ".join(f"{d.d_first:.2g}" for d in known)
    assert shown["headroom"] == " ".join(f"{d.headroom:.2f}" for d in known)
    assert "simulated" in table.notes[-1]


def test_the_table_of_an_interaction_has_its_cells_in_order() -> None:
    rows = square(rate=0.2)
    found = effects.interactions(rows[::-1], CHOSEN)
    shown = line(tabulate_contrasts(found, rows, interaction=True)[0])
    known = [diagnostics(row) for row in rows]
    assert shown["D first"] == " ".join(f"{d.d_first:.2g}" for d in known)
    assert shown["n"] == "8 9 10 11"


def test_p_holm_and_bh_stand_in_their_own_columns() -> None:
    rows = build([tracked(n, 0.015 * n, memory=f"k{n or 15}") for n in range(4)])
    found = effects.contrasts(rows, CHOSEN)
    (table,) = tabulate_contrasts(found, rows)
    at = next(n for n, e in enumerate(found) if len({e.estimate.p, e.p_holm, e.p_bh}) == 3)
    shown, effect = line(table, at), found[at]
    for name, p in (("p", effect.estimate.p), ("Holm", effect.p_holm), ("BH", effect.p_bh)):
        assert float(shown[name]) == pytest.approx(p, abs=6e-4)
    assert len({shown[name] for name in ("p", "Holm", "BH")}) == 3


def test_the_record_and_the_table_of_pooled_effects_hold_their_numbers(
    across: list[Effect[Any]], study: list[Row]
) -> None:
    names = ("se", "ci_low", "ci_high", "df", "p", "i2", "q", "q_p", "tau")
    for effect in across:
        record = effect.record("s1")
        for name in (*names, "prediction_low", "prediction_high"):
            assert record[name] == getattr(effect.estimate, name), name
        assert (record["estimate"], record["p_holm"]) == (effect.estimate.value, effect.p_holm)
        assert record["scenarios"] == 4
    effect, e = replace(across[0], p_holm=0.777), across[0].estimate
    shown = line(tabulate_pooled([effect], study)[0])
    assert (shown["estimate"], shown["Holm"]) == (f"{e.value:.4f}", "0.777")
    assert shown["95 % CI"] == f"[{e.ci_low:.4f}, {e.ci_high:.4f}]"
    assert (shown["scenarios"], shown["warnings"]) == ("4", "few_scenarios")
    assert float(shown["p"]) == pytest.approx(e.p, abs=6e-4)
    assert shown["τ"] == f"{e.tau:.4f}"


def test_without_effects_there_is_no_table() -> None:
    assert tabulate_contrasts([], []) == tabulate_pooled([], []) == []
