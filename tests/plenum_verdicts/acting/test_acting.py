"""Rules by which a program may act alone: their chances, their risk, and what is chosen."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum_verdicts.acting.act_rule import ActRule
from plenum_verdicts.acting.acts import Acts, estimate_acts
from plenum_verdicts.acting.agreement import estimate_agreement
from plenum_verdicts.acting.case_act import apply_rule
from plenum_verdicts.acting.choice import advise_acting, choose_starts
from plenum_verdicts.acting.risk import bound_risk, e_value_of_risk
from plenum_verdicts.reports.suite_words import explain
from plenum_verdicts.suites.suite_runs import SuiteRuns

decisions = st.lists(st.sampled_from("ABCx"), min_size=1, max_size=6)
cases = st.dictionaries(st.text("abc", min_size=1, max_size=3), decisions, min_size=1, max_size=5)
rules = st.integers(1, 4).map(lambda runs: ActRule(runs, runs))


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
    assert found.auroc is not None
    area, low, high = found.auroc
    assert area == pytest.approx((30 * 10 + (30 * 5 + 10 * 10) / 2) / (40 * 15))
    assert low < area < high
    assert (found.right, len(found.feared), found.unstable) == (30, 5, 20)
    assert found.runs == (4, 4)


def test_agreement_of_unequal_runs_is_on_no_one_scale() -> None:
    found = estimate_agreement(suite((30, "AAAA"), (10, "BBA"), (5, "BB"), (7, "A")))
    assert (found.right, len(found.feared), found.unstable) == (30, 5, 10)
    assert found.runs == (2, 4)
    assert found.auroc is None
    explained = " ".join(
        explain("advice", advise_acting(suite((30, "AAAA"), (9, "BBA"))), unheard=0)
    )
    assert "Of 39 cases with 3 to 4 runs 30 decide alike and rightly each time" in explained
    assert "AUROC" not in explained
    equal = " ".join(explain("advice", advise_acting(suite((30, "AAAA"), (12, "BBAB"))), unheard=0))
    assert equal.index("decide alike and wrongly") < equal.index("Among 4 runs") < len(equal)


def test_cases_with_one_run_count() -> None:
    """80 cases are right in three runs of three, and 40 wrong in their only one."""
    advice = advise_acting(suite((80, "AAA"), (40, "B")))
    assert advice.chosen is None
    assert advice.rules[0].wrong == pytest.approx(1 / 3)
    assert [each.acts.cases for each in advice.rules] == [120, 80, 80]
    # Only successes were run again: the cases with more runs say nothing of the others.
    assert [each.alike for each in advice.rules] == [True, False, False]
    assert "Cases with fewer than 2 runs are wrong more often" in " ".join(
        explain("advice", advice, unheard=0)
    )
    # Where it is chance which cases have more runs, those that have enough are used.
    mixed = advise_acting(suite((100, "AAA"), (10, "AAB"), (60, "A"), (5, "B")))
    assert all(each.alike for each in mixed.rules)
    assert mixed.chosen is not None
    one_each = advise_acting(suite((60, "A"), (40, "B")))
    assert (one_each.chosen, one_each.agreement) == (None, None)


def by_hand(cases: list[str], count: int) -> tuple[float, float, float]:
    """Acts, wrong acts and log e-values of a rule of so many runs, from every choice of them."""
    bets = {0.45: 1.0, 0.15: 0.9, 0.2: 0.7}, {0.2: 0.5}
    acting, wrong = [], []
    for ended in cases:
        if len(ended) < count:
            continue
        drawn = list(combinations(ended, count))
        acting.append(Fraction(sum(len(set(each)) == 1 for each in drawn), len(drawn)))
        wrong.append(Fraction(sum(set(each) == {"B"} for each in drawn), len(drawn)))
    risk, held = Fraction(1, 20), 0.0
    for weight, bet in (pair for each in bets for pair in each.items()):
        product = 1.0
        for a, w in zip(acting, wrong, strict=True):
            product *= max(1 + bet * float((risk * a - w) / (1 - risk)), 0.0)
        held += weight * product
    return float(sum(acting)), float(sum(wrong)), held


def chosen_by_hand(cases: list[str]) -> int | None:
    """The fewest runs that are shown, by two sequences of fixed starts at half of the level."""
    enough = {m: sum(len(ended) >= m for ended in cases) for m in range(1, 8)}
    most = max((m for m in enough if enough[m] >= 81), default=0)
    starts, level = ([3, most], 40.0) if most > 3 else ([3], 20.0)
    if most <= 3:
        starts = [max((m for m in (1, 2, 3) if enough[m] >= 67), default=0)]
    shown = set()
    for start in starts:
        for m in range(start, 0, -1):
            if by_hand(cases, m)[2] < level:
                break
            shown.add(m)
    return min(shown, default=None)


@pytest.mark.parametrize("draw", range(12))
def test_a_second_implementation_chooses_the_same(draw: int) -> None:
    generator = np.random.default_rng(draw)
    lengths = ([8], [3], [1, 3], [2, 5, 8], [4], [1])[draw % 6]
    cases = [
        "".join("AB"[int(each)] for each in generator.random(generator.choice(lengths)) < p)
        for p in generator.choice([0, 0.02, 0.3], 160, p=[0.8, 0.1, 0.1])
    ]
    advice = advise_acting(suite(*((1, each) for each in cases)))
    for each in advice.rules:
        acts, wrong, _ = by_hand(cases, each.rule.runs)
        enough = sum(len(ended) >= each.rule.runs for ended in cases)
        assert each.acts.value == pytest.approx(acts / enough)
        assert each.wrong == pytest.approx(wrong / acts)
    assert all(each.alike for each in advice.rules)
    assert (advice.chosen and advice.chosen.runs) == chosen_by_hand(cases)


def test_starts_follow_from_numbers_of_runs() -> None:
    for counts, expected in (
        ([8] * 100, ((3, 7), 0.025)),
        ([5] * 100, ((3, 5), 0.025)),
        ([3] * 100, ((3,), 0.05)),
        ([8] * 75, ((3,), 0.05)),  # too few for half of the level
        ([8] * 20 + [2] * 100, ((2,), 0.05)),
        ([1] * 20, ((0,), 0.05)),
    ):
        assert choose_starts(np.array(counts), 0.05, 0.05) == expected


def test_a_rule_acts_if_all_of_its_runs_agree() -> None:
    rule = ActRule(3, 3)
    assert apply_rule(rule, "c", list("AAAB")).decision == "A"  # the fourth run doesn't count
    assert apply_rule(rule, "c", list("AABA")).decision is None
    assert apply_rule(rule, "c", list("AA")).decision is None  # a run is missing
    assert apply_rule(rule, "c", ["failed"] * 3).decision is None
    for runs, agreeing in ((3, 2), (0, 0), (2, 3)):
        with pytest.raises(ValueError, match="have to agree"):
            ActRule(runs, agreeing)
