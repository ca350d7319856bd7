"""Perturbed conditions in tables and CSV: fragility by family, comparisons, and λ̂_pert's name."""

import math
from dataclasses import replace

import numpy as np
import pytest
from known_conditions import CHOSEN, build, group, line, one_shot, perturbed, tracked
from numpy.testing import assert_allclose

from plenum.dynamics.contrasts import contrast
from plenum.dynamics.decision_contrasts import compare_decisions
from plenum.dynamics.decisions import estimate_share
from plenum.dynamics.lyapunov import lyapunov
from plenum.reports import effects, fragility
from plenum.reports.groups import split_by_estimand
from plenum.reports.tables import fragility as fragility_tables
from plenum.reports.tables.conditions import tabulate_conditions, tabulate_diagnostics
from plenum.reports.tables.effects import tabulate_contrasts
from plenum.reports.tables.maps import tabulate_matrices

#            canonical, five rephrasings, four formats
HALF, NONE = "A" + "BBAAA" + "BAAA", "A" * 10


# --- the CSV -----------------------------------------------------------------------------------


def test_the_condition_has_fragility_and_lambda_pert_in_all_and_by_family() -> None:
    condition = perturbed(1, HALF)
    record = build([condition])[0].record()
    own, every = condition.ensemble[[0, 6, 7, 8, 9]], estimate_share(3, 9)
    wanted = {
        **{"fragility": 3 / 9, "fragility_low": every.ci_low, "fragility_high": every.ci_high},
        **{"fragility_rephrase": 2 / 5, "fragility_format": 1 / 4, "estimand": "lambda_pert"},
        **{"lambda_pert_format": lyapunov(own).value, "lambda": lyapunov(condition.ensemble).value},
    }
    assert {name: record[name] for name in wanted} == wanted
    repeats = build([tracked(1)])[0].record()
    assert repeats["estimand"] == "lambda"
    assert not [name for name in repeats if "fragility" in name]


def test_fragility_csv_has_a_row_a_condition_and_family() -> None:
    table = fragility.make_fragility_frame(
        build([perturbed(1, HALF), perturbed(2, NONE, roles="on")])
    )
    assert list(zip(table["roles"], table["family"], strict=True)) == [
        *(("off", "all"), ("off", "rephrase"), ("off", "format")),
        *(("on", "all"), ("on", "rephrase"), ("on", "format")),
    ]
    assert table.loc[0, ["changed", "wordings", "rows"]].tolist() == [3, 9, 10]


@pytest.mark.parametrize(
    ("decided", "missing", "share_changed", "warning"),
    [
        (HALF, [1, 9], 2 / 7, "attrition"),
        (HALF, [0], math.nan, "no_canonical"),
        (HALF + NONE, [], 1.5 / 9, "repeated_wordings"),
    ],
)
def test_what_is_missing_or_read_twice_is_counted_and_warned_of(
    decided: str, missing: list[int], share_changed: float, warning: str
) -> None:
    (row,) = build([perturbed(1, decided, missing=missing)])
    assert row.record()["fragility"] == pytest.approx(share_changed, nan_ok=True)
    assert warning in row.warnings
    (sheet, *_) = fragility_tables.tabulate_fragility([row], [])
    assert (line(sheet)["fragility"] == "no_canonical") is (warning == "no_canonical")


def test_several_environments_are_warned_of() -> None:
    conditions = [replace(tracked(1), environments=e) for e in (("a",), ("a", "b"))]
    assert ["environments" in row.warnings for row in build(conditions)] == [False, True]


@pytest.mark.parametrize(
    ("other", "factor", "warned"),
    [("a", "roles", False), ("b", "roles", True), ("b", "model", False)],
)
def test_conditions_of_other_environments_are_compared_with_a_warning(
    other: str, factor: str, warned: bool
) -> None:
    """Other models have other environments, since their weights are part of them."""
    second = {"roles": {"roles": "on"}, "model": {"model": "mixed"}}[factor]
    pair = [
        replace(perturbed(1, HALF), environments=("a",)),
        replace(perturbed(2, NONE, **second), environments=(other,)),
    ]
    compared = [
        *effects.contrasts(build(pair), CHOSEN),
        *fragility.compare_wordings(build(pair), []),
    ]
    assert len(compared) == 2
    assert ["environments" in one.warnings for one in compared] == [warned] * 2


# --- names -------------------------------------------------------------------------------------


def test_the_exponent_of_wordings_is_called_lambda_pert() -> None:
    own, plain = build([perturbed(1, HALF)]), build([tracked(2)])
    for sheets, name in ((own, "λ̂_pert"), (plain, "λ̂")):
        sheet = tabulate_conditions(group(sheets))
        assert name in sheet.head
        assert any(note.startswith(f"{name}: slope") for note in sheet.notes)
        assert tabulate_diagnostics(group(sheets)).title.endswith(name)
    assert any("different wordings" in note for note in tabulate_conditions(group(own)).notes)
    assert not any("wordings" in note for note in tabulate_conditions(group(plain)).notes)


def test_repeats_and_wordings_never_share_a_table_of_roles_and_models() -> None:
    cells = [{"roles": r, "model": m} for r in ("on", "off") for m in ("uniform", "mixed")]
    conditions = [*(perturbed(1, HALF, **f) for f in cells), *(tracked(2, **f) for f in cells)]
    parts = split_by_estimand(build(conditions), CHOSEN)
    titles = [sheet.title for part in parts for sheet in tabulate_matrices(part)]
    assert [title.partition(" by ")[0] for title in titles] == ["λ̂", "λ̂_pert"]
    assert "perturbation=variants20" in titles[1]


def test_a_contrast_of_wordings_with_repeats_says_so() -> None:
    found = effects.contrasts(build([perturbed(1, HALF), tracked(2, replicates=10)]), CHOSEN)
    (mixed,) = found
    assert mixed.name == "perturbation variants20 - none"
    assert "mixed_estimands" in mixed.warnings
    assert mixed.record("s1")["estimand"] == "lambda_pert - lambda"
    (sheet,) = tabulate_contrasts(found, [])
    assert any("two different things" in note for note in sheet.notes)


def test_conditions_of_the_same_wordings_are_compared_in_pairs() -> None:
    on, off = perturbed(1, HALF, roles="on"), perturbed(2, NONE, missing=[3])
    (found,) = effects.contrasts(build([off, on]), CHOSEN)
    kept = [i for i in range(10) if i != 3]
    expected = contrast(
        on.ensemble[kept],
        off.ensemble,
        decisions=([HALF[i] for i in kept], list("A" * 9)),
        paired=True,
        draws=CHOSEN.draws,
    )
    assert repr(found.estimate) == repr(expected)  # NaN is no equal of itself
    assert "mixed_estimands" not in found.warnings


def test_a_one_shot_vote_has_no_exponent_and_no_contrast() -> None:
    both = build([one_shot(1, HALF), one_shot(2, NONE, roles="on")])
    assert {row.status for row in both} == {"one_shot"}
    assert "short" not in both[0].warnings
    assert effects.contrasts(both, CHOSEN) == []
    assert line(tabulate_conditions(group(both)))["λ̂_pert"] == "one_shot"


def test_a_rerun_is_no_condition_to_compare() -> None:
    (first,) = build([perturbed(1, HALF)])
    factors = {**first.tracked.factors, "settings": "rerun=1"}
    again = replace(first, tracked=replace(first.tracked, factors=factors))
    assert (
        effects.contrasts([first, again], CHOSEN)
        == fragility.compare_wordings([first, again])
        == []
    )


# --- comparisons -------------------------------------------------------------------------------


def test_roles_are_compared_wording_by_wording() -> None:
    (found,) = fragility.compare_wordings(
        build([perturbed(1, HALF), perturbed(2, NONE, roles="on")])
    )
    assert found.name == "roles on - off"
    c = found.estimate
    assert (c.value, c.first, c.second) == (-3 / 9, 0.0, 3 / 9)
    assert (c.n, c.only_first, c.only_second) == (9, 0, 3)
    assert c.p == 0.25


def test_deliberation_is_compared_with_the_vote_of_the_same_committee() -> None:
    deliberated, *votes = build([perturbed(1, HALF, memory="k5"), one_shot(2, NONE)])
    (found,) = fragility.compare_wordings([deliberated, *votes])
    assert found.name == "protocol deliberation - one_shot"
    assert found.estimate.value == 3 / 9
    assert (found.others["memory"], found.others["rounds"]) == ("k5", "20")
    votes += build([one_shot(3, NONE, roles="on")])  # and the votes may stand in another study
    assert fragility.compare_wordings([deliberated]) == []
    for baseline in (votes, [*votes, deliberated]):  # its deliberations aren't this study's
        (again,) = fragility.compare_wordings([deliberated], baseline)
        assert repr(again.estimate) == repr(found.estimate)  # NaN equals none since Python 3.13
        assert again.cells == found.cells


def test_a_comparison_has_the_papers_fragility_of_both_and_a_test_of_the_disagreement() -> None:
    deliberated, vote = build([perturbed(1, HALF, memory="k5"), one_shot(2, "B" + "A" * 9)])
    (found,) = fragility.compare_wordings([deliberated, vote])
    line = found.record("s1")
    assert (line["off_first"], line["off_second"]) == (pytest.approx(0.3), pytest.approx(0.1))
    assert line["p_disagreement"] == compare_decisions(HALF, "B" + "A" * 9, paired=True).p


def test_every_deliberation_is_compared_and_no_vote_of_another_committee() -> None:
    own = build([perturbed(1, HALF, memory="k5"), perturbed(2, HALF, memory="k1")])
    votes = build([one_shot(3, NONE, model="mixed"), one_shot(4, NONE)])
    found = [c for c in fragility.compare_wordings(own, votes) if c.name.startswith("protocol")]
    assert [c.others["memory"] for c in found] == ["k5", "k1"]
    assert {c.cells[1].tracked.identity for c in found} == {"c4"}


def test_p_is_adjusted_over_the_lines_of_a_contrast() -> None:
    conditions = [
        condition
        for s in range(3)
        for condition in (
            perturbed(2 * s, "A" + "BBBBB" + "BAAA", scenario=f"S-{s}", roles="on"),
            perturbed(2 * s + 1, NONE, scenario=f"S-{s}"),
        )
    ]
    found = fragility.compare_wordings(build(conditions))
    assert [c.estimate.p for c in found] == [2 * 0.5**6] * 3
    assert_allclose([c.p_holm for c in found], 3 * 2 * 0.5**6)


def test_differences_are_averaged_over_scenarios_from_three_on() -> None:
    conditions = [
        condition
        for s, decided in enumerate((HALF, NONE, HALF))
        for condition in (
            perturbed(2 * s, decided, scenario=f"S-{s}"),
            one_shot(2 * s + 1, NONE, scenario=f"S-{s}"),
        )
    ]
    found = fragility.compare_wordings(build(conditions))
    assert fragility.means(found[:2]) == []
    (mean,) = fragility.means(found)
    values = np.array([3 / 9, 0, 3 / 9])
    assert_allclose([mean.estimate.value, mean.estimate.n], [values.mean(), 3])
    table = fragility.contrasts_frame("s1", found)
    assert table["scenarios"].tolist() == [1, 1, 1, 3]
    assert table["scenario"].tolist() == ["S-0", "S-1", "S-2", ""]
    assert table["n"].tolist()[:3] == [9, 9, 9]
    assert {"estimate", "ci_low", "ci_high", "p", "p_holm", "only_first"} <= set(table.columns)


def test_the_tables_show_counts_intervals_and_where_they_come_from() -> None:
    both = build([perturbed(1, HALF), one_shot(2, NONE)])
    first, compared = fragility_tables.tabulate_fragility(both, fragility.compare_wordings(both))
    own = line(first)
    low, high = estimate_share(3, 9).ci_low, estimate_share(3, 9).ci_high
    assert own["fragility"] == f"3/9 = 0.333 [{low:.2f}, {high:.2f}]"
    assert own["rephrase"].startswith("2/5 [")
    assert own["λ̂_pert format"] != "-"
    assert line(first, 1)["λ̂_pert format"] == "-"
    assert compared.title == "Fragility compared: protocol deliberation - one_shot"
    assert line(compared)["difference"] == "0.333"
    assert all("no evidence about language models" in s.notes[-1] for s in (first, compared))


def test_without_perturbed_conditions_there_is_nothing_to_show() -> None:
    plain = build([tracked(1)])
    assert fragility_tables.tabulate_fragility(plain, []) == []
    assert fragility.make_fragility_frame(plain).empty
    assert fragility.contrasts_frame("s1", []).empty
