"""Tests of gates: their words, their exact chances, and what is said of them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plenum_verdicts.suites import gate_errors
from plenum_verdicts.suites.gate_assessment import assess_gate
from plenum_verdicts.suites.gate_errors import chance_to_pass, drop_chances
from plenum_verdicts.suites.gate_limits import limit_flips
from plenum_verdicts.suites.gates import CaseGate, Gate, ScoreGate, parse_gate
from plenum_verdicts.suites.suite_runs import SuiteRuns

gates = st.one_of(
    st.builds(
        ScoreGate, st.integers(0, 1000).map(lambda n: n / 1000), st.integers(1, 9), st.booleans()
    ),
    st.integers(1, 9).flatmap(
        lambda runs: st.builds(CaseGate, st.integers(1, runs), st.just(runs))
    ),
)


def suite(right: dict[str, list[float]]) -> SuiteRuns:
    names = {case: ["right" if each else "wrong" for each in own] for case, own in right.items()}
    return SuiteRuns.of(names, right)


@given(gates)
def test_the_words_of_a_gate_are_read_back(gate: Gate) -> None:
    assert parse_gate(str(gate)) == gate
    assert parse_gate(f"  {str(gate).upper().replace('>=', '≥')} ") == gate


@pytest.mark.parametrize(
    "text",
    ["", "score", "score > .8", "score >= 80 %", "score >= 1.2", "score of 0 >= .5", "nan >= 1",
     "0 of 4 in every case", "5 of 4 in every case", "3 of 4", "score >= baseline + .02"],
)  # fmt: skip
def test_other_words_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_gate(text)


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=3),
    st.integers(1, 2),
    st.integers(0, 20).map(lambda n: n / 20),
    st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_chances_to_pass_equal_sums_over_all_ways_that_runs_end(
    chances: list[float], runs: int, least: float, relative: bool
) -> None:
    def ways() -> list[tuple[int, float]]:
        each = [p for p in chances for _ in range(runs)]
        return [
            (sum(won), float(np.prod([p if w else 1 - p for w, p in zip(won, each, strict=True)])))
            for won in product((0, 1), repeat=len(each))
        ]

    total = len(chances) * runs
    before = ways() if relative else [(0, 1.0)]
    expected = sum(
        p * q
        for new, p in ways()
        for old, q in before
        if new / total >= (old / total - least if relative else least) - 1e-9
    )
    found = chance_to_pass(ScoreGate(least, runs, relative), np.array([chances]))
    assert found == pytest.approx([expected], abs=1e-7)


def test_sums_of_many_runs_are_near_the_normal_ones_that_more_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chances = np.linspace(0.2, 0.9, 150)[None]
    of = [ScoreGate(0.55, 4), ScoreGate(0.01, 4, relative=True)]
    exact = [chance_to_pass(gate, chances)[0] for gate in of]
    monkeypatch.setattr(gate_errors, "_EXACT", 0)
    assert [chance_to_pass(gate, chances)[0] for gate in of] == pytest.approx(exact, abs=0.003)


def test_gates_on_every_case_are_products() -> None:
    assert chance_to_pass(CaseGate(3, 4), np.array([[1.0, 0.5, 0.9]])) == pytest.approx(
        [5 / 16 * (0.9**4 + 4 * 0.9**3 * 0.1)]
    )


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=8), st.floats(0.01, 0.5))
def test_a_drop_lowers_the_mean_by_as_much(chances: list[float], drop: float) -> None:
    before = np.array([chances])
    after = drop_chances(before, drop)
    assert (after <= before).all()
    assert after.mean() == pytest.approx(max(before.mean() - drop, 0), abs=1e-9)


def test_flips_are_most_where_the_limits_hold_a_half() -> None:
    assert limit_flips((0.1, 0.9)) == pytest.approx((0.18, 0.5))
    assert limit_flips((0.6, 0.9)) == pytest.approx((0.18, 0.48))


@pytest.mark.slow
def test_a_gate_at_the_score_of_coins_is_a_coin_and_far_below_never_flips() -> None:
    coins = suite({str(case): [1.0, 0.0] * 10 for case in range(60)})
    near = assess_gate(ScoreGate(0.5), coins)
    assert 0.4 < near.errors.flips <= 0.5
    assert near.errors.flips_limits[1] == 0.5
    assert near.halves is not None
    far = assess_gate(ScoreGate(0.2), coins, drop=0.1)
    assert far.errors.flips < 1e-4
    assert far.errors.misses > 0.99


def test_a_program_that_never_varies_never_fails_a_gate_at_its_score() -> None:
    names = {str(case): ["x"] * 4 for case in range(9)}
    runs = SuiteRuns.of(names, {case: [0.8] * 4 for case in names})
    found = assess_gate(ScoreGate(0.8), runs).errors
    assert (found.fails, found.flips, found.misses) == (0, 0, 0)


def test_halves_are_the_same_in_any_order_of_the_runs() -> None:
    scores = {str(case): [1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0] for case in range(80)}
    gate = ScoreGate(0.02, relative=True)
    one, two = (
        assess_gate(gate, suite(each), drop=0.08)
        for each in (scores, {case: own[::-1] for case, own in scores.items()})
    )
    assert one.cost == 2
    assert one.halves is not None
    assert one == two


def test_graded_scores_have_gates_on_the_score_alone() -> None:
    drawn = np.random.default_rng(1).uniform(0.4, 0.9, (40, 4))
    names = {str(case): ["answered"] * 4 for case in range(40)}
    runs = SuiteRuns.of(names, {str(case): list(own) for case, own in enumerate(drawn)})
    mean = float(drawn.mean())
    assert assess_gate(ScoreGate(mean), runs).errors.fails == pytest.approx(0.5, abs=0.05)
    assert assess_gate(ScoreGate(mean - 0.1), runs).errors.fails < 0.01
    with pytest.raises(ValueError, match="between 0 and 1"):
        assess_gate(CaseGate(3, 4), runs)


@pytest.mark.slow
@given(st.randoms())
@settings(max_examples=10, deadline=None)
def test_the_order_of_cases_and_of_their_runs_changes_no_error(random: object) -> None:
    right = {str(case): [float((case * run) % 3 > 0) for run in range(4)] for case in range(12)}
    names = list(right)
    random.shuffle(names)  # type: ignore[attr-defined]
    other = {name: sorted(right[name]) for name in names}
    one, two = (assess_gate(ScoreGate(0.6, 3), suite(each)) for each in (right, other))
    assert one == two
