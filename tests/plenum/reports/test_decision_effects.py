"""Decisions compared in a study: which conditions, over which family, and what the tables have."""

from typing import Any

import numpy as np
import pytest
from known_conditions import CHOSEN, build, perturbed, tracked
from numpy.testing import assert_allclose

from plenum.dynamics.decision_contrasts import (
    compare_decisions,
    decision_interaction,
    pool_decisions,
)
from plenum.dynamics.multiplicity import holm
from plenum.reports.effects import Effect
from plenum.reports.study import EstimatedStudy
from plenum.reports.tables.decision_effects import sort_effects, tabulate_decision_effects
from plenum.reports.tables.publish import frames

ON = {"uniform": "AAAAAAABBBB-", "mixed": "AAAAAABBBCC-"}
OFF = {"uniform": "AAAAAAAAAAAA", "mixed": "AAAAAAAAAAAB"}


def spread(text: str) -> list[str]:
    return ["NONE" if letter == "-" else letter for letter in text]


def study(scenarios: int = 1) -> EstimatedStudy:
    """A 2x2 in each scenario."""
    conditions = [
        tracked(
            10 * case + 2 * (roles == "on") + (model == "mixed"),
            decisions=spread(decided[model]),
            **{"scenario": f"S-{case}", "roles": roles, "model": model},
        )
        for case in range(scenarios)
        for roles, decided in (("on", ON), ("off", OFF))
        for model in ("uniform", "mixed")
    ]
    return EstimatedStudy(CHOSEN, tuple(build(conditions)))


def only(effects: list[Effect[Any]], name: str, **held: str) -> Effect[Any]:
    (found,) = [e for e in effects if e.name == name and held.items() <= {**e.others}.items()]
    return found


def test_every_level_is_compared_with_its_reference() -> None:
    found = only(study().decided, "roles on - off", model="uniform")
    alone = compare_decisions(spread(ON["uniform"]), spread(OFF["uniform"]), draws=CHOSEN.draws)
    assert (found.estimate.value, found.estimate.p) == (alone.value, alone.p)
    assert found.more["n"] == (12, 12)
    names = sorted({effect.name for effect in study().decided})
    assert names == ["model mixed - uniform", "roles on - off"]


def test_a_family_has_all_contrasts_of_a_factor() -> None:
    found = [effect for effect in study(2).decided if effect.name.startswith("roles")]
    assert len(found) == 4
    assert_allclose([e.p_holm for e in found], holm([e.estimate.p for e in found]))
    laws = holm([e.estimate.p_law for e in found])
    assert_allclose([e.more["p_law_holm"] for e in found], laws)
    shares = [e for e in study(2).shares if e.name == "roles on - off"]
    nobody = [np.nan] * (4 * 4 - len(shares))  # three options and none, in four contrasts
    p = [e.estimate.p for e in shares] + nobody
    assert_allclose([e.p_holm for e in shares], holm(p)[: len(shares)])
    assert {e.more["decision"] for e in shares} == {"A", "B", "C", "NONE"}


def test_the_square_has_one_interaction() -> None:
    (found,) = study().decided_interactions
    cells = (ON["mixed"], ON["uniform"], OFF["mixed"], OFF["uniform"])
    alone = decision_interaction(*map(spread, cells), draws=CHOSEN.draws)
    assert (found.estimate.value, found.p_holm) == (alone.value, alone.p)
    assert len(found.more["disagreement"]) == 4


@pytest.mark.slow
def test_three_scenarios_are_pooled_and_two_are_not() -> None:
    assert study(2).decided_across == []
    found = only(study(3).decided_across, "roles on - off", model="mixed")
    alone = pool_decisions([(spread(ON["mixed"]), spread(OFF["mixed"]))] * 3, draws=CHOSEN.draws)
    assert (found.estimate.value, found.estimate.p) == (alone.value, alone.p)
    assert (found.cells, found.estimate.n, found.others.get("scenario")) == ((), 3, None)
    both = only(study(3).decided_across, "roles x mixed")
    square = [spread(arm[level]) for arm in (ON, OFF) for level in ("mixed", "uniform")]
    interaction = pool_decisions([square] * 3, draws=CHOSEN.draws)
    assert (both.estimate.value, both.estimate.p) == (interaction.value, interaction.p)
    share = next(e for e in study(3).shares if not e.cells and e.name == found.name)
    assert (share.more["decision"], share.more["scenarios"]) == ("NONE", 3)


def test_the_same_wordings_are_paired() -> None:
    """A wording that one of them lacks is left out."""
    on = perturbed(1, "AAAAABBBBB", roles="on", missing=(3,))
    whole = EstimatedStudy(CHOSEN, tuple(build([on, perturbed(2, "AAAAAAAAAB", roles="off")])))
    (found,) = whole.decided
    assert found.estimate.method == "swaps within pairs, exact"
    assert found.more["n"] == (9, 9)
    assert found.estimate.p_law == pytest.approx(2 / 2**4)  # four wordings differ, all one way


def test_only_what_concerns_decisions_is_a_warning() -> None:
    conditions = [tracked(1, roles="on", failed=2), tracked(2, replicates=4, roles="off")]
    (found,) = EstimatedStudy(CHOSEN, tuple(build(conditions))).decided
    assert found.warnings == ("attrition",)


def test_a_part_of_a_study_keeps_the_whole_s_adjusted_p() -> None:
    whole = study(2)
    part = whole.restrict(lambda factors: factors["scenario"] == "S-0")
    assert part.decided == [e for e in whole.decided if e.others.get("scenario") == "S-0"]
    assert [e.p_holm for e in part.shares] == [
        e.p_holm for e in whole.shares if e.others.get("scenario") == "S-0"
    ]


def test_tables_and_files_have_a_line_for_each() -> None:
    found = study(3)
    *parts, shares = tabulate_decision_effects(found)
    assert [len(part) for part in parts] == [12, 3, 4 + 1]  # together they are too long to print
    assert len(sort_effects(found)) == 12 + 3 + 4 + 1
    assert [bool(part.notes) for part in parts] == [False, False, True]
    assert len(tabulate_decision_effects(study(1))) == 2
    assert len(shares) == len(found.shares)
    assert "none" in {cell for line in shares.body for cell in line}
    files = frames(found)
    assert len(files["decision_contrasts"]) == 20
    assert list(files["share_contrasts"]["scenarios"].unique()) == [1, 3]
    assert tabulate_decision_effects(EstimatedStudy(CHOSEN, tuple(build([tracked(1)])))) == []
