"""Steadier at kept quality: analytic cases, a second implementation, and what must not matter."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import t as student

from plenum.base.errors import UserError
from plenum_verdicts.logs.protocol_logs import count_protocols
from plenum_verdicts.steadiness.judged_protocols import SteadyVerdict, judge_steadiness
from plenum_verdicts.steadiness.mechanical_votes import share_votes


def draw(
    seed: int, cases: int, sharp: float = 4.0, runs: int = 5, cost: float = 1.0
) -> pd.DataFrame:
    """Rows of a reference, and of a protocol whose chances are sharper, so that it is steadier."""
    source = np.random.default_rng(seed)
    rows = []
    for case in range(cases):
        weights = np.where(np.arange(3) == case % 3, 1.3, 0.3)
        for wording in range(2):
            chances = source.dirichlet(weights)
            for name, power in (("reference", 1.0), ("other", sharp)):
                shares = chances**power / (chances**power).sum()
                for run, decision in enumerate(source.choice(3, runs, p=shares)):
                    rows.append(
                        {
                            "protocol": name,
                            "case": f"case {case}",
                            "wording": f"w{wording}",
                            "run": run,
                            "decision": "ABC"[decision],
                            "right": int(decision == case % 3),
                            "cost": cost if name == "other" else 1.0,
                        }
                    )
    return pd.DataFrame(rows)


def judge(rows: pd.DataFrame) -> SteadyVerdict:
    return judge_steadiness(count_protocols(rows).runs)


def numbers(verdict: SteadyVerdict) -> list[float]:
    """All that a verdict says in numbers."""
    found = []
    for each in (verdict.reference, *verdict.protocols, *verdict.controls):
        found += [each.quality, each.stability or 0, each.floor or 0]
        # Of two constants that are right as often either may be the control.
        found += [] if each.name == "constant" else [each.these, each.like]
    return [*found, *(part for point in verdict.curve for part in point)]


@pytest.mark.parametrize("counts", [(3, 2), (2, 2, 1), (1, 1, 1, 1, 1), (4, 1, 2), (5, 0)])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_votes_are_those_of_all_sets_of_runs(counts: tuple[int, ...], size: int) -> None:
    ballots = [option for option, count in enumerate(counts) for _ in range(count)]
    won = np.zeros(len(counts))
    sets = list(combinations(ballots, size))
    for chosen in sets:
        votes = np.bincount(chosen, minlength=len(counts))
        won += (votes == votes.max()) / (votes == votes.max()).sum()
    assert_allclose(share_votes(np.array(counts), size), won / len(sets))


def judge_plainly(rows: pd.DataFrame, margin: float) -> float:
    """The joint claim for cases like these, of ``other`` at the reference's cost, row by row."""
    gains, lead = [], []
    kept: dict[str, list[float]] = {"A": [], "B": [], "C": []}
    leads: dict[str, list[float]] = {"A": [], "B": [], "C": []}
    for _, case in rows.groupby("case"):
        apart, quality = {}, {}
        for name, runs in case.groupby("protocol"):
            one, two = (part["decision"].tolist() for _, part in runs.groupby("wording"))
            apart[name] = np.mean([a != b for a in one for b in two])
            quality[name] = runs["right"].mean()
        gains.append(apart["reference"] - apart["other"])
        answers = case[case["right"] == 1]["decision"]
        answer = answers.iloc[0] if len(answers) else None
        for label in kept:
            tried = label in set(case["decision"])
            constant = float(label == answer) if answer or tried else 1.0
            kept[label].append(quality["other"] - 0.8 * quality["reference"] - 0.2 * constant)
            leads[label].append(quality["reference"] - constant - margin)
    chances = []
    for lead in (gains, *kept.values(), *leads.values()):
        error = max(np.std(lead, ddof=1) / len(lead) ** 0.5, 0.5 / len(lead))
        chances.append(student.sf(np.mean(lead) / error, len(lead) - 1))
    return float(max(chances))


@pytest.mark.parametrize("seed", range(6))
def test_a_second_implementation_agrees(seed: int) -> None:
    rows = draw(seed, 40, sharp=1 + seed)
    assert_allclose(judge(rows).protocols[0].like, judge_plainly(rows, 0.05), atol=1e-12)


def test_a_steadier_protocol_is_shown_and_controls_are_not() -> None:
    found = judge(draw(1, 300))
    assert found.protocols[0].verdict == "steadier"
    assert found.protocols[0].like < 0.05
    assert {each.name for each in found.controls} == {"constant", "frozen"}
    assert all(each.verdict != "steadier" for each in found.controls)
    assert found.status == 0
    assert found.sensitive


def test_the_same_protocol_at_a_dearer_price_is_above_the_curve() -> None:
    other = judge(draw(2, 300, sharp=1, cost=5)).protocols[0]
    assert other.verdict != "steadier"
    assert other.curve < judge(draw(2, 300, sharp=1)).protocols[0].curve
    assert judge(draw(2, 300, cost=7)).protocols[0].reasons[0] == "beyond_curve"


@pytest.mark.parametrize(("column", "reason"), [("wording", "no_wordings"), ("cost", "no_cost")])
def test_without_wordings_or_cost_nobody_is_steadier(column: str, reason: str) -> None:
    rows = draw(3, 300)
    if column == "wording":
        rows = rows[rows["wording"] == "w0"]
    other = judge(rows.drop(columns=column)).protocols[0]
    assert other.verdict != "steadier"
    assert reason in other.reasons


def test_at_chance_there_is_no_quality_to_keep() -> None:
    rows = draw(4, 300)
    rows["right"] = (
        rows["decision"] == rows["case"].map(lambda case: "ABC"[int(case.split()[1]) // 3 % 3])
    ) * 1
    found = judge(rows)
    assert not found.sensitive
    assert found.protocols[0].verdict != "steadier"


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.permutations("ABC"))
def test_names_and_order_change_nothing(seed: int, labels: list[str]) -> None:
    rows = draw(seed, 12, runs=3)
    other = rows.sample(frac=1, random_state=seed)
    other["decision"] = other["decision"].map(dict(zip("ABC", labels, strict=True)))
    other["case"] = other["case"].map(lambda name: f"{hash((name, seed))} {name}")
    other["wording"] = other["wording"].map({"w0": "z", "w1": "a"})
    assert_allclose(numbers(judge(rows)), numbers(judge(other)), atol=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.booleans())
def test_a_constant_or_a_frozen_copy_is_never_steadier_for_sure(seed: int, frozen: bool) -> None:
    rows = draw(seed, 60)
    other = rows[rows["protocol"] == "reference"].assign(protocol="other")
    if frozen:
        first = other[other["run"] == 0].set_index(["case", "wording"])
        at = list(zip(other["case"], other["wording"], strict=True))
        for column in ("decision", "right"):
            other[column] = first[column].loc[at].to_numpy()
    else:
        answer = other["case"].map(lambda name: "ABC"[int(name.split()[1]) % 3])
        other = other.assign(decision="A", right=(answer == "A") * 1)
    found = judge(pd.concat([rows[rows["protocol"] == "reference"], other])).protocols[0]
    assert found.these > 0.001


def test_failed_runs_differ_and_are_wrong() -> None:
    rows = draw(5, 20)
    rows.loc[rows["protocol"] == "other", ["decision", "right"]] = None
    other = judge(rows).protocols[0]
    assert (other.stability, other.quality, other.failed) == (1, 0, 200)


def test_of_several_days_one_run_of_each_counts() -> None:
    rows = draw(6, 20, runs=4)
    log = count_protocols(rows.assign(day=rows["run"].map(lambda run: f"2026-01-0{run // 2 + 1}")))
    assert (log.days, log.thinned) == (2, len(rows) // 2)
    assert log.runs.reference.least == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows.drop(columns="right"), "no column right"),
        (lambda rows: pd.concat([rows, rows[:1]]), "run 0 of protocol reference, case case 0"),
        (lambda rows: rows.assign(right=7), "right is 7 in row 1"),
        (lambda rows: rows.assign(cost="x"), "cost is x in row 1"),
        (lambda rows: rows[rows["protocol"] == "other"], "only the protocol other"),
        (lambda rows: rows.assign(decision="A"), "the decision A is right in one row"),
        (lambda rows: rows.assign(case=rows["protocol"]), "occurs twice"),
    ],
)
def test_bad_rows_are_refused_in_one_line(change: object, words: str) -> None:
    with pytest.raises(UserError, match=words) as refused:
        count_protocols(change(draw(7, 12)))  # type: ignore[operator]
    assert "\n" not in str(refused.value)


def test_few_cases_are_refused() -> None:
    with pytest.raises(UserError, match="9 cases are in all protocols; 10 are the least"):
        judge(draw(8, 9))
