"""Rules by which a program may act alone: their chances, their risk, and what is chosen."""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum_verdicts.acting import (
    ActRule,
    Acts,
    advise_acting,
    apply_rule,
    bound_risk,
    e_value_of_risk,
    estimate_acts,
    estimate_agreement,
)
from plenum_verdicts.suites import SuiteRuns

decisions = st.lists(st.sampled_from("ABCx"), min_size=1, max_size=6)
cases = st.dictionaries(st.text("abc", min_size=1, max_size=3), decisions, min_size=1, max_size=5)
rules = st.integers(1, 4).flatmap(
    lambda runs: st.builds(ActRule, st.just(runs), st.integers(runs // 2 + 1, runs))
)


def enumerated(ended: list[str], rule: ActRule, scored: bool) -> tuple[float, float]:
    """How often the rule acts and is wrong, over all choices of runs; ``x`` is no decision."""
    acting = wrong = 0.0
    chosen = list(combinations(range(len(ended)), rule.runs))
    for each in chosen:
        [(leading, agreeing)] = Counter(ended[run] for run in each).most_common(1)
        if agreeing < rule.agreeing or leading == "x":
            continue
        acting += 1
        agreed = [run for run in each if ended[run] == leading]
        others = Counter(ended[run] for run in range(len(ended)) if run not in agreed)
        left = others.pop(leading, 0)
        against = max(others.values(), default=0)
        contradicted = 1.0 if against > left else 0.5 if against == left else 0.0
        wrong += float(leading != "A") if scored else contradicted
    return acting / len(chosen), wrong / len(chosen)


@given(cases, rules, st.booleans())
def test_acts_are_those_of_all_choices_of_runs(
    by_case: dict[str, list[str]], rule: ActRule, scored: bool
) -> None:
    scores = {case: [float(each == "A") for each in ended] for case, ended in by_case.items()}
    runs = SuiteRuns.of(by_case, scores if scored else None)
    acts = estimate_acts(runs, rule, {"x"})
    enough = [e for e in by_case.values() if len(e) >= rule.runs + (not scored)]
    assert acts.cases == len(enough)
    for number, ended in enumerate(enough):
        acting, wrong = enumerated(ended, rule, scored)
        assert acts.acting[number] == pytest.approx(acting)
        assert acts.wrong[number] == pytest.approx(wrong)


@pytest.mark.parametrize("risk", [0.05, 0.2])
def test_an_e_value_is_one_on_average_where_the_risk_is_just_reached(risk: float) -> None:
    mean = 0.0
    for each in product((0, 1, 2), repeat=4):  # no act, a right one, a wrong one
        chance = np.prod([{0: 0.3, 1: 0.7 * (1 - risk), 2: 0.7 * risk}[act] for act in each])
        acting = np.array([act > 0 for act in each], float)
        wrong = np.array([act == 2 for act in each], float)
        mean += chance * e_value_of_risk(Acts(ActRule(1, 1), acting, wrong), risk)
    assert mean == pytest.approx(1)


def test_the_bound_is_the_risk_that_is_just_shown() -> None:
    acts = Acts(ActRule(2, 2), np.full(300, 0.9), np.repeat([0.0, 0.6], [295, 5]))
    bound = bound_risk(acts)
    assert e_value_of_risk(acts, bound) == pytest.approx(20, rel=1e-3)
    assert acts.share_wrong == pytest.approx(3 / 270)
    assert acts.share_wrong < bound < 0.05
    assert bound_risk(Acts(ActRule(1, 1), np.ones(3), np.ones(3))) == 1


def suite(*kinds: tuple[int, str]) -> SuiteRuns:
    """Cases of these runs, of which A is right."""
    ended = [list(runs) for count, runs in kinds for _ in range(count)]
    by_case = {f"c{number}": runs for number, runs in enumerate(ended)}
    return SuiteRuns.of(by_case, {c: [float(r == "A") for r in e] for c, e in by_case.items()})


def test_fewest_runs_are_chosen_that_hold_the_risk() -> None:
    assert advise_acting(suite((200, "AAAA"))).chosen == ActRule(1, 1)
    # Runs that differ are no risk where all have to agree, but one run alone errs in 7.5 %.
    noisy = suite((140, "AAAA"), (60, "AAAB"))
    advice = advise_acting(noisy)
    assert advice.rules[0].wrong == pytest.approx(60 / 4 / 200)
    assert advice.chosen == ActRule(2, 2)
    assert [each.shown for each in advice.rules] == [False, True, True, True]
    # Of wrong decisions on which all runs agree no number of runs is free.
    feared = advise_acting(suite((180, "AAAA"), (20, "BBBB")))
    assert feared.chosen is None
    assert feared.agreement is not None
    assert len(feared.agreement.feared) == 20


def test_fifty_cases_show_no_risk_of_five_percent() -> None:
    advice = advise_acting(suite((50, "AAAA")))
    assert advice.chosen is None
    assert advice.least > 59  # as many as show it exactly, where .95^59 < .05
    enough = suite((advice.least, "A"))
    assert advise_acting(enough).chosen == ActRule(1, 1)
    assert advise_acting(suite((advice.least - 1, "A"))).chosen is None


@given(st.permutations(range(6)), st.permutations("ABC"))
def test_names_and_order_change_nothing(order: list[int], names: list[str]) -> None:
    ended = ["AABA", "AAAA", "BBBB", "ABCA", "AAAB", "CCCA"]
    renamed = dict(zip("ABC", names, strict=True))
    plain = SuiteRuns.of({str(case): list(runs) for case, runs in enumerate(ended)})
    other = SuiteRuns.of({f"x{n}": [renamed[r] for r in reversed(ended[n])] for n in order})
    for first, second in zip(advise_acting(plain).rules, advise_acting(other).rules, strict=True):
        assert first.at_most == pytest.approx(second.at_most)
        assert first.acts.value == pytest.approx(second.acts.value)
        assert first.wrong == pytest.approx(second.wrong, nan_ok=True)


def test_agreement_says_how_much_it_separates() -> None:
    found = estimate_agreement(suite((30, "AAAA"), (10, "BBBA"), (10, "AAAB"), (5, "BBBB")))
    # Right cases: 30 at 1, 10 at 3/4; wrong ones: 5 at 1, 10 at 3/4.
    assert found.auroc == pytest.approx((30 * 10 + (30 * 5 + 10 * 10) / 2) / (40 * 15))
    assert found.interval[0] < found.auroc < found.interval[1]
    assert (found.right, found.wrong, len(found.feared)) == (40, 15, 5)
    assert found.levels == ((0.75, 10, 10), (1.0, 30, 5))


def test_a_rule_acts_if_enough_of_its_runs_agree() -> None:
    rule = ActRule(5, 4)
    assert rule == ActRule(5, 4)
    assert apply_rule(rule, "c", list("AAABA")).decision == "A"
    assert apply_rule(rule, "c", list("AABBA")).decision is None
    assert apply_rule(rule, "c", list("AAAA")).decision is None  # a run is missing
    assert apply_rule(rule, "c", ["failed"] * 5).decision is None
    with pytest.raises(ValueError, match="more than half"):
        ActRule(4, 2)
