"""A part of a study keeps the adjusted p values of the whole."""

from known_conditions import CHOSEN, build, tracked

from plenum.reports.study import Study


def test_contrasts_of_a_part_are_those_of_the_whole() -> None:
    """Four contrasts in two scenarios; a part has two of them, adjusted over all four."""
    roles = ("on", "ablate_chair", "ablate_equity")
    conditions = [
        tracked(3 * n + k, 0.02 + 0.01 * k, scenario=scenario, roles=role)
        for n, scenario in enumerate(("HL-01", "IM-01"))
        for k, role in enumerate(roles)
    ]
    whole = Study(CHOSEN, tuple(build(conditions)))
    part = whole.restricted(lambda factors: factors["scenario"] == "HL-01")
    assert [row.tracked.identity for row in part.rows] == ["c0", "c1", "c2"]
    assert len(whole.contrasts) == 4
    own = [effect for effect in whole.contrasts if effect.others["scenario"] == "HL-01"]
    assert part.contrasts == own
    assert part.interactions == []
    alone = Study(CHOSEN, part.rows).contrasts
    assert max(a.p_holm for a in alone) <= max(b.p_holm for b in part.contrasts)
