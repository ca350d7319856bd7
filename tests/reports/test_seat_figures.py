"""Seats: their preferences, their switches, and the rounds they take to a majority."""

from dataclasses import replace

import numpy as np
import pytest
from drawn import assert_legible, caption, corners, labels, points, shown, study
from known_conditions import SEATS, tracked
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from plenum.dynamics import share
from plenum.reports.figures.majority import chosen, majority
from plenum.reports.figures.seats import leading, representative, seats
from plenum.reports.figures.switches import average, pool, switches
from plenum.tracking.conditions import TrackedCondition

A, B, C = 0, 1, 2


pytestmark = pytest.mark.usefixtures("shared_style")


def agreeing(key: int, rounds: list[int], last: int = 4, **factors: str) -> TrackedCondition:
    """Three seats that agree on A from a round on, one a replicate; 0 for never."""
    apart, agreed = (A, B, C), (A, A, B)
    tops = [[agreed if 0 < at <= t else apart for t in range(1, last + 1)] for at in rounds]
    return corners(key, tops, **factors)


def keys(figure: Figure | None) -> list[list[str]]:
    """The legends of a figure, each in a place of its own."""
    assert figure is not None
    return [labels(panel) for panel in figure.axes if panel.get_legend() is not None]


def test_six_replicates_stand_evenly_from_the_nearest_to_the_mean_to_the_farthest() -> None:
    condition = tracked(1, replicates=11)
    (row,) = study(condition).rows
    last = condition.ensemble[:, -1]
    far = np.linalg.norm(last - last.mean(axis=0), axis=1)
    order = np.argsort(far)
    assert representative(row) == order[[0, 2, 4, 6, 8, 10]].tolist()
    (few,) = study(tracked(2, replicates=2)).rows
    assert sorted(representative(few)) == [0, 1]


def test_the_condition_nearest_to_the_papers_is_taken_and_a_seat_looks_the_same_in_all() -> None:
    conditions = [
        tracked(1, temperature="t0"),
        tracked(2, roles="on", temperature="t0.7"),
        replace(tracked(3, roles="on", temperature="t0"), seats=SEATS[::-1]),
        tracked(4, roles="on", model="mixed"),
    ]
    figure = seats(study(*conditions))
    assert figure is not None
    assert "HL-01, roles on, uniform, k15, t0; of 4 conditions the one nearest" in caption(figure)
    assert "6 of 12 replicates" in caption(figure)
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts[:5] == sorted(SEATS)
    line = shown(figure)[0].lines[0]  # the Chair's, which speaks last here
    chair = conditions[2].preferences[representative(study(conditions[2]).rows[0])[0], :, 4]
    assert_allclose(points(line)[1], chair[:, leading(study(conditions[2]).rows[0])[0]])


def test_more_seats_than_colours_are_told_apart() -> None:
    crowd = corners(1, [[tuple(n % 3 for n in range(12))] * 3] * 2)
    figure = seats(study(crowd))
    assert figure is not None
    handles = figure.legends[0].legend_handles[:12]
    looks = {(h.get_color(), h.get_marker()) for h in handles}  # type: ignore[union-attr]
    assert len(looks) == 12
    assert_legible(figure)


def test_switches_are_pooled_over_temperatures_alone() -> None:
    still, once, twice = [(A, A)] * 4, [(A, A), (B, A), (B, A), (B, A)], [(A, B), (B, B), (A, A), (A, A)]  # fmt: skip  # noqa: E501
    cold = corners(1, [still, once], temperature="t0", roles="on")
    warm = corners(2, [twice, twice], temperature="t0.7", roles="on")
    other = corners(3, [still, still], temperature="t0")
    figure = switches(study(cold, warm, other))
    assert figure is not None
    pooled = pool(study(cold, warm, other).rows[:2])
    assert {seat: own.tolist() for seat, own in pooled.items()} == {
        "Seat 0": [0, 1, 2, 2],
        "Seat 1": [0, 0, 1, 1],
    }
    mean, error = average(pooled["Seat 0"])
    assert_allclose((mean, error), (1.25, np.std([0, 1, 2, 2], ddof=1) / 2))
    on, off = shown(figure)
    assert on.get_title(loc="left") == "roles on\nn = 4 runs a seat"
    assert off.get_title(loc="left") == "roles off\nn = 2 runs a seat"
    assert_allclose([bar.get_height() for bar in on.patches], [1.25, 0.5])  # type: ignore[attr-defined]
    counts = [points(line)[1].tolist() for line in on.lines if line.get_marker() == "o"]
    assert counts == [[0, 1, 2, 2], [0, 0, 1, 1]]
    assert "pooled over temperatures t0, t0.7" in caption(figure)
    assert "pooled" not in caption(switches(study(cold, replace(other, identity="x"))))
    assert_legible(figure)


def test_the_share_with_a_majority_rises_with_its_rounds_and_stays_open_without_one() -> None:
    condition = agreeing(1, [1, 3, 3, 0])
    figure = majority(study(condition))
    first, stays = shown(figure)
    for panel in (first, stays):
        rounds, level = points(panel.lines[0])
        assert rounds.tolist() == [0, 1, 2, 3, 4]
        assert level.tolist() == [0, 0.25, 0.25, 0.75, 0.75]
        never, end = panel.lines[1:3]
        assert_allclose(points(never), [[5, 5], [0.75, 1]])
        assert_allclose(np.ravel(points(end)), [5, 0.75])
    assert keys(figure) == [["HL-01, roles off,\nuniform\nn = 4, never 1 / 1"]]
    (band,) = first.collections
    low = share(1, 4)
    heights = band.get_paths()[0].vertices[:, 1]  # type: ignore[attr-defined]
    assert np.isclose(heights, low.ci_low).any()
    assert np.isclose(heights, low.ci_high).any()
    assert "share without one (censored at the last round)" in caption(figure)
    assert_legible(figure)


def test_of_many_conditions_those_of_the_extreme_temperatures_are_drawn() -> None:
    rows = [
        agreeing(n, [1, 2], temperature=f"t{t}", roles=roles)
        for n, (t, roles) in enumerate((t, r) for t in (0, 0.1, 0.7) for r in ("on", "off"))
    ]
    every = study(*rows)
    kept = [row.tracked.factors["temperature"] for row in chosen(every.rows)]
    assert kept == ["t0", "t0", "t0.7", "t0.7"]
    figure = majority(every)
    never = "n = 2, never 0 / 0"
    assert keys(figure) == [
        [f"roles {roles}, {t}\n{never}" for t in ("t0", "t0.7") for roles in ("on", "off")]
    ]
    assert "2 further conditions of the study aren't drawn" in caption(figure)
