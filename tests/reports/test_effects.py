"""Contrasts, interactions and pooled effects of tracked conditions: what is compared with what."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from plenum.dynamics import contrast, generators, lyapunov
from plenum.reports import effects, rows, tables
from plenum.reports.effects import Across, Effect
from plenum.reports.rows import Row
from plenum.reports.settings import Settings
from plenum.tracking.conditions import TrackedCondition

CHOSEN = Settings("s1", "sqlite:///unused.db", Path("unused"), draws=200)
DEFAULTS = {
    **{"scenario": "HL-01", "roles": "off", "model": "uniform", "memory": "k15"},
    **{"temperature": "t0", "backend": "simulated", "perturbation": "none"},
    "protocol": "deliberation",
    **{"settings": "default", "rounds": "20", "seed": "0"},
}
SQUARE = [("on", "mixed"), ("on", "uniform"), ("off", "mixed"), ("off", "uniform")]


def tracked(key: int, rate: float = 0.0, replicates: int = 12, **factors: str) -> TrackedCondition:
    """A condition whose ensemble grows at a known rate; ``key`` seeds it."""
    ensemble = generators.autoregressive(0.5, rate=rate).sample(replicates, seed=key)
    return TrackedCondition(
        study="s1",
        identity=f"c{key}",
        run_id=f"r{key}",
        factors={**DEFAULTS, **factors},
        target=replicates,
        completed=replicates,
        failures={},
        preferences=np.repeat(ensemble[:, :, None], 5, axis=2),
        decisions=("A",) * replicates,
        seats=("Chair", "Welfare", "Rights", "Equity", "Security"),
    )


def build(conditions: Sequence[TrackedCondition]) -> list[Row]:
    return rows.build(conditions, CHOSEN)


def squares(scenarios: int, rate: Callable[[bool, bool], float]) -> list[Row]:
    """A 2x2 in each of some scenarios."""
    return build(
        [
            tracked(
                4 * s + n, rate(role == "on", model == "mixed"),
                scenario=f"S-{s:02d}", roles=role, model=model,
            )
            for s in range(scenarios)
            for n, (role, model) in enumerate(SQUARE)
        ]
    )  # fmt: skip


def names(found: Sequence[Effect | Across]) -> list[str]:
    return [effect.name for effect in found]


# --- contrasts ---------------------------------------------------------------------------------


def test_a_level_is_compared_with_its_reference_and_all_else_is_equal() -> None:
    found = effects.contrasts(
        build([tracked(1, memory="k15"), tracked(2, memory="k3"), tracked(3, memory="k1")]), CHOSEN
    )
    assert names(found) == ["memory k3 - k15", "memory k1 - k15"]
    assert all(effect.others["roles"] == "off" for effect in found)


def test_a_contrast_is_that_of_dynamics() -> None:
    on, off = tracked(1, 0.05, roles="on"), tracked(2, roles="off")
    (found,) = effects.contrasts(build([off, on]), CHOSEN)
    expected = contrast(on.ensemble, off.ensemble, draws=CHOSEN.draws)
    assert found.contrast == expected
    assert found.contrast.value > 0


def test_a_seat_without_its_mandate_is_compared_with_all_mandates() -> None:
    found = effects.contrasts(
        build([tracked(n, roles=r) for n, r in enumerate(("off", "ablate_chair", "on"))]), CHOSEN
    )
    assert sorted(names(found)) == ["roles ablate_chair - on", "roles on - off"]


def test_no_contrast_is_listed_in_both_directions() -> None:
    levels = ("ablate_chair", "ablate_equity", "on")
    found = effects.contrasts(build([tracked(n, roles=r) for n, r in enumerate(levels)]), CHOSEN)
    assert names(found) == ["roles ablate_chair - on", "roles ablate_equity - on"]


def test_an_effect_carries_the_warnings_of_its_conditions() -> None:
    split = tracked(1, roles="on")
    divided = TrackedCondition(
        **{**vars(split), "decisions": ("A", "B") * 6, "failures": {"parse": 1}}
    )
    (found,) = effects.contrasts(build([divided, tracked(2)]), CHOSEN)
    assert {"flip_dominated", "attrition"} <= set(found.warnings)
    assert "flip_dominated" in found.contrast.warnings


def test_a_warning_of_both_conditions_stands_once_in_the_table_of_contrasts() -> None:
    rows = build([tracked(1, replicates=4, roles="on"), tracked(2, replicates=4)])
    assert all("few_replicates" in row.warnings for row in rows)
    (table,) = tables.effects.contrasts(effects.contrasts(rows, CHOSEN), rows)
    (listed,) = table.frame["warnings"].str.split()
    assert sorted(set(listed)) == sorted(listed)
    assert "few_replicates" in listed


def test_without_the_usual_reference_the_first_level_is_it() -> None:
    found = effects.contrasts(build([tracked(1, memory="k7"), tracked(2, memory="k3")]), CHOSEN)
    assert names(found) == ["memory k3 - k7"]


def test_conditions_that_differ_in_two_factors_are_not_compared() -> None:
    two = build([tracked(1, memory="k15", roles="on"), tracked(2, memory="k3", roles="off")])
    assert effects.contrasts(two, CHOSEN) == []


@pytest.mark.parametrize("factor", ["seed", "rounds", "scenario", "backend"])
def test_seeds_rounds_scenarios_and_backends_are_no_contrasts(factor: str) -> None:
    two = build([tracked(1, **{factor: "1"}), tracked(2, **{factor: "2"})])
    assert effects.contrasts(two, CHOSEN) == []


def test_conditions_that_share_all_factors_have_no_contrast() -> None:
    three = build([tracked(1, roles="on"), tracked(2, roles="on"), tracked(3, roles="off")])
    assert effects.contrasts(three, CHOSEN) == []


def test_conditions_of_unequal_options_are_not_compared() -> None:
    on, off = tracked(1, roles="on"), tracked(2)
    five = np.full((12, 20, 5, 5), 0.2)
    edited = TrackedCondition(**{**vars(on), "preferences": five})
    assert effects.contrasts(build([edited, off]), CHOSEN) == []


def test_p_is_adjusted_over_the_contrasts_of_a_factor() -> None:
    found = effects.contrasts(
        build([*(tracked(n, 0.03 * n, memory=f"k{n}") for n in range(4)), tracked(9, roles="on")]),
        CHOSEN,
    )
    memory = [effect for effect in found if effect.name.startswith("memory")]
    p = sorted(effect.contrast.p for effect in memory)
    smallest = min(memory, key=lambda effect: effect.contrast.p)
    assert len(memory) == 3
    assert_allclose(smallest.p_holm, 3 * p[0])
    assert_allclose(smallest.p_bh, min(3 * p[0], 1.5 * p[1], p[2]))


def test_a_condition_without_estimates_is_compared_with_nothing() -> None:
    empty = build([tracked(1, roles="on"), tracked(2, replicates=0)])
    assert effects.contrasts(empty, CHOSEN) == []


def test_identical_replicates_have_a_contrast_without_numbers_but_with_a_warning() -> None:
    still = tracked(1, roles="on")
    same = np.repeat(still.preferences[:1], 12, axis=0)
    rowed = build([TrackedCondition(**{**vars(still), "preferences": same}), tracked(2)])
    (found,) = effects.contrasts(rowed, CHOSEN)
    assert np.isnan(found.contrast.value)
    assert np.isnan(found.p_holm)
    assert "identical" in found.contrast.warnings


# --- interactions and pooled effects -----------------------------------------------------------


def test_the_interaction_has_both_factors_first_and_neither_last() -> None:
    square = squares(1, lambda on, mixed: 0.03 * on + 0.1 * mixed)
    (found,) = effects.interactions(square, CHOSEN)
    cells = {(r.tracked.factors["roles"], r.tracked.factors["model"]): r for r in square}
    both, first, second, neither = (lyapunov(cells[key].tracked.ensemble).value for key in SQUARE)
    assert_allclose(found.contrast.value, both - first - second + neither)
    assert [cell.value for cell in found.contrast.cells] == [both, first, second, neither]


def test_three_cells_have_no_interaction() -> None:
    assert effects.interactions(squares(1, lambda on, mixed: 0.0)[:3], CHOSEN) == []


def test_effects_are_pooled_from_three_scenarios_on() -> None:
    for scenarios, pooled in ((2, False), (3, True)):
        grid = squares(scenarios, lambda on, mixed: 0.05 * on)
        measured = [*effects.contrasts(grid, CHOSEN), *effects.interactions(grid, CHOSEN)]
        found = effects.across(grid, measured, CHOSEN)
        assert bool(found) is pooled
    assert {"roles on - off", "model mixed - uniform", "roles x mixed"} <= set(names(found))
    assert "mixed model: roles" in names(found)
    roles = next(effect for effect in found if effect.name == "mixed model: roles")
    assert_allclose(roles.estimate.value, 0.05, atol=0.02)
    assert all("scenario" not in effect.others for effect in found)


def test_conditions_of_other_settings_are_pooled_apart() -> None:
    grid = build(
        [
            tracked(10 * s + 2 * m + r, scenario=f"S-{s}", memory=memory, roles=role)
            for s in range(3)
            for m, memory in enumerate(("k15", "k3"))
            for r, role in enumerate(("on", "off"))
        ]
    )
    found = effects.across(grid, effects.contrasts(grid, CHOSEN), CHOSEN)
    roles = [effect for effect in found if effect.name == "roles on - off"]
    assert sorted(effect.others["memory"] for effect in roles) == ["k15", "k3"]
    assert all(effect.estimate.n == 3 for effect in roles)


# --- the tables of effects ---------------------------------------------------------------------


def test_the_table_of_contrasts_shows_p_adjusted_p_n_and_the_room_to_grow() -> None:
    found = effects.contrasts(build([tracked(1, 0.05, roles="on"), tracked(2)]), CHOSEN)
    (sheet,) = tables.contrasts(found, build([tracked(1)]))
    line = dict(zip(sheet.head, sheet.body[0], strict=True))
    c = found[0].contrast
    assert line["Δλ̂"] == f"{c.value:.4f}"
    assert line["95 % CI"] == f"[{c.ci_low:.4f}, {c.ci_high:.4f}]"
    assert line["n"] == "12 12"
    assert len(line["D first"].split()) == len(line["headroom"].split()) == 2
    assert "simulated" in sheet.notes[-1]


def test_without_effects_there_is_no_table() -> None:
    assert tables.contrasts([], []) == []
    assert tables.pooled([], []) == []


def test_the_landscape_marks_what_survives_the_false_discovery_rate() -> None:
    still = [tracked(n, 0.0, scenario=f"S-{n:02d}") for n in range(6)]
    grown = [tracked(n, 0.25, scenario=f"S-{n:02d}") for n in range(6, 8)]
    chosen = Settings("s1", "sqlite:///unused.db", Path("unused"), draws=2000)
    (sheet,) = tables.landscape(rows.build([*still, *grown], chosen))
    marked = [line[0] for line in sheet.body if "*" in line[1]]
    assert marked == ["S-06", "S-07"]


def test_records_hold_what_a_reader_of_the_csv_needs() -> None:
    grid = squares(3, lambda on, mixed: 0.05 * on)
    measured = effects.contrasts(grid, CHOSEN)
    line = measured[0].record("s1")
    wanted = {"study", "effect", "scenario", "estimate", "se", "ci_low", "ci_high", "df", "p"}
    assert wanted | {"p_welch", "p_holm", "p_bh", "n", "d_first", "headroom"} <= line.keys()
    across = effects.across(grid, measured, CHOSEN)[0].record("s1")
    assert {"scenarios", "estimate", "ci_low", "p", "tau", "i2", "q"} <= across.keys()
