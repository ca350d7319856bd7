"""Every column of the tables holds the number that its head promises."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from known_conditions import (
    CHOSEN,
    build,
    diagnostics,
    estimated,
    exponent,
    line,
    summary,
    tracked,
)
from numpy.testing import assert_allclose

from plenum.dynamics import cap, divergence, lyapunov, reversal_test, warnings
from plenum.reports import effects, tables
from plenum.reports.rows import Row
from plenum.reports.table import Table

LETTERS = {
    "flip_dominated": "f",
    "few_apart": "a",
    "saturated": "s",
    "quantised": "q",
    "zero_rounds": "z",
    "few_rounds": "t",
    "few_replicates": "r",
    "no_interval": "i",
}


def landscape(rows: list[Row]) -> list[str]:
    """The cells of a landscape of one column; another scenario makes it one."""
    (sheet,) = tables.landscape(rows)
    return [cells[1] for cells in sheet.body]


def quiet(key: int, **changes: object) -> Row:
    """A condition of a scenario of its own, without marks but for ``changes``."""
    (row,) = build([tracked(key, scenario=f"S-{key:02d}")])
    return estimated(row, **{"warnings": (), "p_diffusion": 0.5, **changes})


# --- the condition table -----------------------------------------------------------------------


def test_p_growth_is_that_of_time_reversal_and_p_diffusion_that_of_the_jackknife() -> None:
    condition = tracked(1, 0.03)
    shown = line(tables.conditions(build([condition]), CHOSEN))
    growth = reversal_test(condition.ensemble, draws=CHOSEN.draws).p
    diffusion = lyapunov(condition.ensemble).p_diffusion
    assert abs(growth - diffusion) > 0.01
    assert float(shown["p growth"]) == pytest.approx(growth, abs=6e-4)
    assert float(shown["p diffusion"]) == pytest.approx(diffusion, abs=6e-4)


def test_flip_rate_and_time_to_majority_stand_in_their_columns() -> None:
    condition = tracked(1, preferences=majorities(), decisions="AAAAAAAAABBB")
    shown = line(tables.conditions(build([condition]), CHOSEN))
    assert (shown["flip rate"], shown["TTM"]) == ("0.250", "2")


def test_the_condition_table_lists_the_warnings_of_a_condition() -> None:
    row = estimated(build([tracked(1, failed=2)])[0], warnings=("saturated", "quantised"))
    assert line(tables.conditions([row], CHOSEN))["warnings"] == "saturated\nquantised\nattrition"


@pytest.mark.parametrize(("replicates", "noted"), [(5, True), (6, False)])
def test_a_note_says_where_time_reversal_cannot_reject(replicates: int, noted: bool) -> None:
    rows = build([tracked(1, replicates=12), tracked(2, replicates=replicates, roles="on")])
    notes = tables.conditions(rows, CHOSEN).notes
    assert any("time reversal can't reject" in note for note in notes) is noted


def test_a_condition_without_replicates_says_nothing_of_time_reversal() -> None:
    rows = build([tracked(1), tracked(2, replicates=0, roles="on")])
    assert not any("can't reject" in note for note in tables.conditions(rows, CHOSEN).notes)


@pytest.mark.parametrize("replicates", [5, 6])
def test_six_replicates_are_the_fewest_that_time_reversal_can_reject(replicates: int) -> None:
    """The least p is 2 / 2^R: the observed order, and all of it reversed."""
    assert (2 / 2**replicates < 0.05) is (replicates >= 6)
    found = reversal_test(tracked(1, 0.5, replicates).ensemble, draws=20_000)
    assert found.p == pytest.approx(2 / 2**replicates, rel=0.15)


@pytest.mark.parametrize(
    ("rounds", "window", "told"),
    [((20,), (3, 30), "3-20"), ((20,), (5, 12), "5-12"), ((12, 15), (3, 20), "3-15")],
)
def test_the_notes_tell_the_rounds_of_the_fit_as_far_as_they_were_run(
    rounds: tuple[int, ...], window: tuple[int, int], told: str
) -> None:
    chosen = replace(CHOSEN, window=window)
    rows = build([tracked(n, rounds=n, seed=str(n)) for n in rounds], chosen)
    for sheet in (tables.conditions(rows, chosen), tables.diagnostics(rows, chosen)):
        assert f"rounds {told};" in sheet.notes[0]


# --- diagnostics -------------------------------------------------------------------------------


def test_d_first_d_last_and_headroom_are_those_of_the_window() -> None:
    condition = tracked(1, 0.05)
    for window in ((3, 20), (5, 12)):
        chosen = replace(CHOSEN, window=window)
        shown = line(tables.diagnostics(build([condition], chosen), chosen))
        level = divergence(condition.ensemble)
        first, last = level[window[0] - 1], level[window[1] - 1]
        assert (shown["D first"], shown["D last"]) == (f"{first:.4f}", f"{last:.4f}")
        assert shown["cap"] == f"{cap(12, 3):.3f}"
        room = math.log(cap(12, 3) / first) / (window[1] - window[0])
        assert shown["headroom"] == f"{room:.3f}"
        assert shown["rounds fit"] == str(window[1] - window[0] + 1)


def test_full_is_the_first_round_at_half_the_cap() -> None:
    condition = tracked(1, 0.3)
    level = divergence(condition.ensemble)
    first = next(t for t in range(3, 21) if level[t - 1] >= cap(12, 3) / 2)
    assert 3 < first < 20
    shown = line(tables.diagnostics(build([condition]), CHOSEN))
    assert shown["full"] == str(first)
    calm = line(tables.diagnostics(build([tracked(1)]), CHOSEN))
    assert calm["full"] == "-"


def test_rounds_left_out_stand_beside_the_rounds_used() -> None:
    condition = tracked(1)
    condition.preferences[:, [4, 9]] = 1 / 3
    assert line(tables.diagnostics(build([condition]), CHOSEN))["rounds fit"] == "16+2"


def test_rms_and_quenched_stand_in_their_own_columns_with_their_own_errors() -> None:
    (row,) = build([tracked(1, 0.03)])
    found = diagnostics(row)
    texts = [f"{v.value:.3f} ±{v.se:.3f}" for v in (found.rms, found.quenched)]
    assert texts[0] != texts[1]
    shown = line(tables.diagnostics([row], CHOSEN))
    assert [shown["RMS λ̂"], shown["quenched λ̂"]] == texts


def test_the_excess_over_diffusion_has_its_interval() -> None:
    (row,) = build([tracked(1, 0.03)])
    e = exponent(row)
    diffusion = np.polyfit(np.arange(3, 21), np.log(np.arange(3, 21)) / 2, 1)[0]
    low, excess, high = (x - diffusion for x in (e.ci_low, e.value, e.ci_high))
    shown = line(tables.diagnostics([row], CHOSEN))["λ̂ - diffusion"]
    assert shown == f"{excess:.3f} [{low:.3f}, {high:.3f}]"


def test_misfit_names_the_exponential_first_and_the_power_law_second() -> None:
    rounds = np.arange(1, 21)
    apart = np.linspace(-1, 1, 12)[:, None, None] * np.array([1.0, -1.0, 0.0])
    shown = {}
    for name, level in (("grown", np.exp(0.2 * rounds)), ("spread", rounds**1.0)):
        ensemble = 1 / 3 + 0.001 * apart * level[:, None]
        condition = tracked(1, preferences=np.repeat(ensemble[:, :, None], 5, axis=2))
        misfit = line(tables.diagnostics(build([condition]), CHOSEN))["misfit"]
        shown[name] = [float(part) for part in misfit.split(" / ")]
    assert shown["grown"][0] == 0 < 0.1 < shown["grown"][1]
    assert shown["spread"][1] == 0 < 0.1 < shown["spread"][0]


# --- decisions ---------------------------------------------------------------------------------


def majorities() -> np.ndarray:
    """Seats agree on A in round 2 alone, and on B from round 6 on in 8 of 12 replicates."""
    places = np.full((12, 20, 5, 3), 1 / 3)
    places[:, 1] = (0.6, 0.2, 0.2)
    places[:8, 5:] = (0.2, 0.6, 0.2)
    return places + np.random.default_rng(1).normal(0, 1e-3, (12, 20, 1, 1)) * (0, 1, -1) * (
        np.abs(places - 1 / 3) > 0.01
    )


def test_first_and_stable_majority_stand_in_their_own_columns() -> None:
    shown = line(tables.decisions(build([tracked(1, preferences=majorities())])))
    assert shown["first majority"] == "2 [2, 2], 12/12"
    assert shown["stable majority"].startswith("6 [6, ")
    assert shown["stable majority"].endswith("], 8/12")


def test_flip_rate_and_disagreement_have_their_own_intervals() -> None:
    (row,) = build([tracked(1, decisions="AAAAAAAAABBB")])
    shown, s = line(tables.decisions([row])), summary(row)
    rate, pairs = s.flip_rate, s.disagreement
    assert shown["flip rate"] == f"0.250 [{rate.ci_low:.3f}, {rate.ci_high:.3f}]"
    unbiased = 12 / 11 * (1 - 0.75**2 - 0.25**2)
    assert shown["pairwise disagreement"] == (
        f"{unbiased:.3f} [{pairs.ci_low:.3f}, {pairs.ci_high:.3f}]"
    )


def test_switches_stand_by_the_name_of_the_seat_in_alphabetical_order() -> None:
    """The seats in their order switch 0 to 4 times, the last once more in two replicates of 12."""
    places = np.empty((12, 20, 5, 3))
    for seat in range(5):
        tops = np.minimum(np.arange(20), seat) % 2
        places[:, :, seat] = np.eye(3)[tops]
    places[:2, -1, 4] = np.eye(3)[2]
    shown = line(tables.decisions(build([tracked(1, preferences=places)])))
    switches = {head: cell for head, cell in shown.items() if head.startswith("switches")}
    assert list(switches.items()) == [
        *(("switches Chair", "0.0"), ("switches Equity", "3.0"), ("switches Rights", "2.0")),
        *(("switches Security", "4.2"), ("switches Welfare", "1.0")),
    ]


def test_a_seat_that_a_committee_lacks_has_no_switches() -> None:
    other = replace(tracked(2, roles="on"), seats=("Chair", "Welfare", "Rights", "Equity", "Clown"))
    sheet = tables.decisions(build([tracked(1, roles="off"), other]))
    at = [sheet.head.index(f"switches {seat}") for seat in ("Clown", "Security")]
    assert [[line[column] == "-" for column in at] for line in sheet.body] == [
        [True, False],
        [False, True],
    ]


# --- the 2x2 -----------------------------------------------------------------------------------


def test_a_cell_of_the_2x2_lists_its_own_warnings() -> None:
    cells = [(r, m) for r in ("on", "off") for m in ("mixed", "uniform")]
    rows = build([tracked(n, roles=r, model=m, failed=n) for n, (r, m) in enumerate(cells)])
    rows[1] = estimated(rows[1], warnings=("few_apart", "saturated"))
    rows[0] = estimated(rows[0], warnings=())
    (sheet,) = tables.matrices(rows)
    shown = {cells[0]: cells[1:] for cells in sheet.body}
    uniform, mixed = shown["roles on"]
    assert uniform.splitlines()[3:] == ["few_apart", "saturated", "attrition"]
    assert mixed.splitlines()[2:] == ["n = 12"]


# --- the landscape -----------------------------------------------------------------------------


@pytest.mark.parametrize(("warning", "letter"), LETTERS.items())
def test_each_warning_has_its_letter_in_the_landscape(warning: str, letter: str) -> None:
    rows = [quiet(1, warnings=(warning,)), quiet(2)]
    e = exponent(rows[0])
    assert landscape(rows)[0] == f"{e.value:.3f} ±{e.se:.3f} {letter} (12)"
    assert f"{letter} {warning}" in tables.landscape(rows)[0].notes[1]


@pytest.mark.parametrize(
    ("missing", "letter"), [({"failed": 2}, "x attrition"), ({"pending": 2}, "p pending")]
)
def test_missing_replicates_have_their_letter(missing: dict[str, int], letter: str) -> None:
    (row,) = build([tracked(1, **missing)])
    rows = [estimated(row, warnings=(), p_diffusion=0.5), quiet(2)]
    assert landscape(rows)[0].endswith(f" {letter[0]} (12)")
    assert letter in tables.landscape(rows)[0].notes[1]


def test_the_landscape_has_a_letter_for_every_warning() -> None:
    own = ("environments", "repeated_wordings", "no_canonical")
    named = [name for name in warnings.LETTERS if name not in warnings.OF_EFFECTS]
    assert named == [*LETTERS, "attrition", "pending", *own]
    assert len(set(warnings.LETTERS.values())) == len(warnings.LETTERS)


def test_the_documentation_has_every_warning(root: Path) -> None:
    page = (root / "docs" / "estimates.md").read_text()
    conditions = [name for name in warnings.LETTERS if name != "few_scenarios"]
    assert [name for name in conditions if f"| `{name}` |" not in page] == []


@pytest.mark.parametrize(
    ("growth", "diffusion", "marks"),
    [(1e-6, 0.5, "*"), (0.5, 1e-6, "†"), (1e-6, 1e-6, "*†"), (0.5, 0.5, "")],
)
def test_a_star_is_growth_by_time_reversal_and_a_dagger_is_no_diffusion(
    growth: float, diffusion: float, marks: str
) -> None:
    rows = [quiet(1, p_growth=growth, p_diffusion=diffusion), quiet(2)]
    e = exponent(rows[0])
    assert landscape(rows)[0] == f"{e.value:.3f} ±{e.se:.3f}{marks} (12)"


def test_the_marks_allow_five_percent_of_false_finds_over_the_map() -> None:
    """Of ten, p = 0.009 of the second stays below 2/10 of 5 %, p = 0.012 doesn't."""
    for p, marked in ((0.009, 2), (0.012, 1)):
        first = [quiet(1, p_growth=0.004), quiet(2, p_growth=p)]
        cells = landscape([*first, *(quiet(n) for n in range(3, 11))])
        assert sum("*" in cell for cell in cells) == marked


def test_plus_minus_in_the_landscape_is_the_jackknife_standard_error() -> None:
    condition = tracked(1)
    rows = build([condition, tracked(2, scenario="S-02")])
    found = lyapunov(condition.ensemble)
    assert landscape(rows)[0].startswith(f"{found.value:.3f} ±{found.se:.3f}")


def test_a_scenario_without_a_rate_shows_its_status_and_n() -> None:
    still = tracked(1)
    still.preferences[:] = 1 / 3
    rows = build([still, tracked(2, scenario="S-02"), tracked(3, replicates=0, scenario="S-03")])
    cells = landscape(rows)
    assert (cells[0], cells[2]) == ("identical (12)", "no_replicates (0)")


# --- contrasts ---------------------------------------------------------------------------------


def rooms(build_table: Callable[[], Table], cells: list[Row]) -> None:
    """D first, headroom and n of a table of one effect stand in the order of its cells."""
    shown = line(build_table())
    found = [diagnostics(row) for row in cells]
    assert shown["D first"] == " ".join(f"{d.d_first:.2g}" for d in found)
    assert shown["headroom"] == " ".join(f"{d.headroom:.2f}" for d in found)
    assert shown["n"] == " ".join(str(row.n) for row in cells)
    assert len(set(shown["D first"].split())) == len(cells)


def test_a_contrast_shows_the_treated_condition_before_the_reference() -> None:
    on, off = build([tracked(1, 0.05, 11, roles="on"), tracked(2, sd=0.1)])
    found = effects.contrasts([off, on], CHOSEN)
    rooms(lambda: tables.contrasts(found, [on, off])[0], [on, off])
    assert_allclose(found[0].contrast.value, exponent(on).value - exponent(off).value)


def test_an_interaction_shows_both_first_and_neither_last() -> None:
    cells = [("on", "mixed"), ("on", "uniform"), ("off", "mixed"), ("off", "uniform")]
    rows = build(
        [
            tracked(n, replicates=10 + n, sd=0.01 * (n + 1), roles=r, model=m)
            for n, (r, m) in enumerate(cells)
        ]
    )
    found = effects.interactions(rows[::-1], CHOSEN)
    rooms(lambda: tables.contrasts(found, rows, interaction=True)[0], rows)


def test_p_holm_and_bh_stand_in_their_own_columns() -> None:
    rows = build([tracked(n, 0.015 * n, memory=f"k{n or 15}") for n in range(4)])
    found = effects.contrasts(rows, CHOSEN)
    (sheet,) = tables.contrasts(found, rows)
    effect = next(e for e in found if len({e.contrast.p, e.p_holm, e.p_bh}) == 3)
    shown = line(sheet, found.index(effect))
    wanted = effect.contrast.p, effect.p_holm, effect.p_bh
    for name, p in zip(("p", "Holm", "BH"), wanted, strict=True):
        assert float(shown[name]) == pytest.approx(p, abs=6e-4)
    assert len({shown[name] for name in ("p", "Holm", "BH")}) == 3


def test_pooled_effects_show_tau_p_and_adjusted_p_in_their_columns() -> None:
    rows = build(
        [
            tracked(2 * s + (r == "on"), 0.1 * s * (r == "on"), scenario=f"S-{s}", roles=r)
            for s in range(4)
            for r in ("on", "off")
        ]
    )
    (found,) = effects.across(rows, effects.contrasts(rows, CHOSEN), CHOSEN)
    made = replace(found, p_holm=0.777)
    shown = line(tables.pooled([made], rows)[0])
    e = found.estimate
    assert shown["estimate"] == f"{e.value:.4f}"
    assert shown["95 % CI"] == f"[{e.ci_low:.4f}, {e.ci_high:.4f}]"
    assert (shown["scenarios"], shown["Holm"]) == ("4", "0.777")
    assert float(shown["p"]) == pytest.approx(e.p, abs=6e-4)
    assert shown["τ"] == f"{found.tau:.4f}" != "0.0000"
    assert shown["warnings"] == "few_scenarios"
