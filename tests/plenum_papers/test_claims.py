"""Claims in words: verdicts on runs whose answer is known."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from plenum_papers.published import wording_claims, world_claims
from plenum_papers.published.cells import Cell, Cells, Key, NoFileError
from plenum_papers.published.claims import CLAIMS, TEMPERATURES, key
from plenum_papers.published.verdicts import (
    DecidedClaim,
    count_verdicts,
    decide_claims,
    list_open_claims,
    tabulate_claims,
)

pytestmark = pytest.mark.long

ALL = (*CLAIMS, *wording_claims.CLAIMS, *world_claims.CLAIMS)
BY_CLAIM = {claim.claim: claim for claim in ALL}


@dataclass(frozen=True)
class Runs:
    """Runs that are known, in place of released ones."""

    preferences: NDArray[np.float64]
    decisions: Counter[str] = field(default_factory=Counter)

    @property
    def decided(self) -> tuple[str, ...]:
        return tuple(self.decisions.elements()) or ("A",) * len(self.preferences)


class Known(dict[Key, Cell]):
    """Cells of known runs."""

    def __missing__(self, missing: Key) -> Cell:
        raise NoFileError(" ".join(missing))


def known(runs: dict[Key, NDArray[np.float64]]) -> Cells:
    return Known({each: cast(Cell, Runs(array)) for each, array in runs.items()})


def wavering(rate: float, seed: int) -> NDArray[np.float64]:
    """Twenty runs of five seats whose distance grows at about a rate a round."""
    draws = np.random.default_rng(seed)
    own = draws.normal(rate, 0.003, (20, 1, 1, 1)) * np.arange(20)[:, None, None]
    away = draws.normal(0, 0.01, (20, 1, 1, 3)) * np.exp(own)
    return np.repeat(1 / 3 + away + draws.normal(0, 1e-4, (20, 20, 1, 3)), 5, axis=2)


def votes(tops: list[list[int]]) -> NDArray[np.float64]:
    """Runs of five rounds whose five seats have an option on top, by round."""
    return np.stack([np.stack([np.eye(3)[[top] * 3 + [0, 1]] for top in run]) for run in tops])


@pytest.mark.parametrize(
    ("with_roles", "without", "runs", "verdict"),
    [(0.09, 0.02, 20, "shown"), (0.02, 0.09, 20, "contradicted"), (0.045, 0.02, 3, "not shown")],
)
def test_an_effect_is_shown_by_its_test_and_sign(
    with_roles: float, without: float, runs: int, verdict: str
) -> None:
    rates = {"on": with_roles, "off": without}
    cells = known(
        {
            key("HL-01", roles): wavering(rate, n)[:runs]
            for n, (roles, rate) in enumerate(rates.items())
        }
    )
    found, text = BY_CLAIM["HL-01: roles raise λ̂ of a uniform committee"].decide(cells)
    assert found == verdict, text


WITH_ROLES = [
    "IM-01 with roles: intervals of λ̂ at T = 0 and 0.7 meet",
    "IM-01 with roles: λ̂ is the same at eight temperatures",
]


def at_temperatures(hot: float, **of_one: Counter[str]) -> Cells:
    """Runs of IM-01 with roles that grow alike but at the highest temperature."""
    rates = dict.fromkeys(TEMPERATURES, 0.05) | {"t0.7": hot}
    return Known(
        {
            key("IM-01", "on", temperature=t): cast(
                Cell, Runs(wavering(rate, n), of_one.get(t, Counter(A=20)))
            )
            for n, (t, rate) in enumerate(rates.items())
        }
    )


@pytest.mark.parametrize("claim", WITH_ROLES)
def test_growth_at_temperatures_is_compared_where_all_have_an_interval(claim: str) -> None:
    assert BY_CLAIM[claim].decide(at_temperatures(0.05))[0] == "not contradicted"
    assert BY_CLAIM[claim].decide(at_temperatures(0.09))[0] == "contradicted"


@pytest.mark.parametrize("claim", WITH_ROLES)
@pytest.mark.parametrize("without", ["t0", "t0.7"])
@pytest.mark.parametrize("hot", [0.05, 0.09])
def test_growth_without_an_interval_is_neither_contradicted_nor_not(
    claim: str, without: str, hot: float
) -> None:
    cells = at_temperatures(hot, **{without: Counter(A=12, B=8)})
    assert BY_CLAIM[claim].decide(cells)[0] == "no test"


ON, OFF, MIXED, BOTH = (
    key("HL-01", roles, model)
    for roles, model in (("on", "uniform"), ("off", "uniform"), ("off", "mixed"), ("on", "mixed"))
)


def test_effects_on_growth_have_no_test_where_less_than_four_in_five_decide_alike() -> None:
    rates = {ON: 0.09, OFF: 0.02, MIXED: 0.09, BOTH: 0.05}
    runs = {each: Runs(wavering(rate, n)) for n, (each, rate) in enumerate(rates.items())}
    pairs = {
        "HL-01: roles raise λ̂ of a uniform committee": {ON, OFF},
        "HL-01: mixed models raise λ̂ without roles": {MIXED, OFF},
        "HL-01: with mixed models, roles lower λ̂": {BOTH, MIXED},
        "HL-01: roles and mixed models do less together than apart": set(rates),
    }
    alike = Known({each: cast(Cell, found) for each, found in runs.items()})
    for claim, compared in pairs.items():
        assert BY_CLAIM[claim].decide(alike)[0] == "shown"
        for uneven in rates:
            apart = Runs(runs[uneven].preferences, Counter(A=12, B=8))
            parted = Known({**alike, uneven: cast(Cell, apart)})
            expected = "no test" if uneven in compared else "shown"
            assert BY_CLAIM[claim].decide(parted)[0] == expected, (claim, uneven)


def test_a_claim_on_several_scenarios_has_no_test_if_none_of_them_has_one() -> None:
    claim = BY_CLAIM["one argument of memory lowers λ̂ in two scenarios"]
    cells = {
        key(scenario, "on", memory=memory): Runs(wavering(rate, n), Counter(A=12, B=8))
        for n, scenario in enumerate(("IM-01", "CL-01"))
        for memory, rate in (("k1", 0.02), ("k15", 0.09))
    }
    apart = Known({each: cast(Cell, found) for each, found in cells.items()})
    assert claim.decide(apart)[0] == "no test"
    half = {k: Runs(found.preferences) for k, found in cells.items() if k[0] == "CL-01"}
    some = Known({each: cast(Cell, found) for each, found in {**cells, **half}.items()})
    assert claim.decide(some)[0] == "not shown"


def test_one_run_with_a_later_majority_contradicts_without_exception() -> None:
    claim = BY_CLAIM["IM-01 without roles: every run has a majority in round 1"]
    always = [[0] * 5] * 4
    cells = {key("IM-01", "off", temperature=t): votes(always) for t in TEMPERATURES}
    assert claim.decide(known(cells)) == ("holds", "0 of 32 runs later, or never")
    split = votes(always)
    split[0, 0] = np.eye(3)[[0, 0, 1, 1, 2]]
    cells[key("IM-01", "off")] = split
    assert claim.decide(known(cells)) == ("contradicted", "1 of 32 runs later, or never")


def deciding(**counts: int) -> Cell:
    """Runs of which each option got so many."""
    return cast(Cell, Runs(np.zeros((1, 1, 1, 1)), Counter(counts)))


@pytest.mark.parametrize(("other", "verdict"), [(4, "holds"), (9, "contradicted")])
def test_a_scenario_as_fragile_as_the_named_ones_contradicts_that_these_are_the_most(
    other: int, verdict: str
) -> None:
    off = {"HL-01": 9, "IN-01": 10, "SP-03": 8, "CL-01": 9, "HL-02": other}
    worded = {
        key(scenario, roles, "qwen2.5-7b", perturbation="variants20"): deciding(A=20 - n, B=n)
        for scenario, n in off.items()
        for roles in ("on", "off")
    }
    claim = BY_CLAIM["HL-01, IN-01, SP-03 and CL-01 are the most fragile"]
    assert claim.decide(Known(worded))[0] == verdict
    lacking = Known({each: cell for each, cell in worded.items() if each[0] != "SP-03"})
    with pytest.raises(NoFileError, match="SP-03"):
        claim.decide(lacking)


def test_reruns_that_decide_alike_contradict_that_committees_end_differently() -> None:
    claim = BY_CLAIM["deployed committees end differently at temperature 0"]
    same = {key("HL-01", roles): deciding(A=20) for roles in ("on", "off")}
    assert claim.decide(Known(same))[0] == "contradicted"
    assert claim.decide(Known(same | {key("IM-01", "on"): deciding(A=12, B=8)}))[0] == "holds"
    warm = {key("IM-01", "on", temperature="t0.7"): deciding(A=12, B=8)}
    with pytest.raises(NoFileError):
        claim.decide(Known(warm))


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("implicit consensus surpasses all baselines", "contradicted"),
        ("a random strategy is a lower bound of performance", "contradicted"),
        ("every model does better under implicit consensus", "holds"),
        ("GPT-4o is the best model throughout", "holds"),
    ],
)
def test_sentences_on_tables_are_decided_by_what_is_printed(claim: str, verdict: str) -> None:
    assert BY_CLAIM[claim].decide(known({}))[0] == verdict


def test_a_printed_value_that_turns_a_sentence_over_turns_its_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = {**world_claims._table("6"), ("llama-2", "CR"): {"explicit": 0.575, "implicit": 0.5}}
    monkeypatch.setattr(world_claims, "_table", lambda _: table)
    found, text = world_claims._beats(("6",), "explicit")
    assert found == "contradicted"
    assert text == "better in 14 of 15 printed values"


def test_a_sentence_that_names_no_level_is_decided_by_the_row_over_all_levels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    claim = BY_CLAIM["a single model performs worst"]
    table = dict(world_claims._table("2"))
    assert (claim.rows, claim.decide(known({}))[0]) == ("overall", "holds")
    table["low diversity", "CR"] = {**table["low diversity", "CR"], "one model, one unit": 1.0}
    monkeypatch.setattr(world_claims, "_table", lambda _: table)
    assert claim.decide(known({}))[0] == "holds"
    table["all", "CR"] = {**table["all", "CR"], "one model, one unit": 1.0}
    assert claim.decide(known({}))[0] == "contradicted"


def test_every_sentence_on_tables_says_which_rows_decide() -> None:
    for claim in world_claims.CLAIMS:
        assert bool(claim.rows) == (claim.decided_by == "printed tables"), claim.claim


def test_no_noise_is_best_in_the_equations_of_the_appendix() -> None:
    claim = BY_CLAIM["with a strong pull to the optimum, some noise improves tracking"]
    assert claim.decide(known({}))[0] == "contradicted"


def test_what_a_clone_lacks_is_listed_and_not_decided() -> None:
    of_runs = [claim for claim in ALL if claim.decided_by == "released runs"]
    decided, lacking = decide_claims(of_runs, known({}))
    assert decided == []
    assert len(lacking) == len(of_runs) == len(CLAIMS) + len(wording_claims.CLAIMS)


def test_claims_that_nothing_released_decides_say_what_they_need() -> None:
    without = list_open_claims()
    assert {each.verdict for each in without} == {"no released data"}
    assert all(each.numbers and each.claim.source[:3] in ("000", "001", "002") for each in without)
    table = tabulate_claims(without, [], "somewhere")
    assert len(table.frame) == len(without)


def test_verdicts_are_counted() -> None:
    some: list[Any] = [
        DecidedClaim(CLAIMS[0], verdict, "")
        for verdict in ("shown", "not shown", "contradicted", "contradicted", "holds", "no test")
    ]
    assert count_verdicts([*some, *list_open_claims()[:2]], ["one"]) == {
        "claims": 6,
        "claims_not_shown": 1,
        "claims_contradicted": 2,
        "claims_no_test": 1,
        "claims_without_data": 2,
        "claims_undecided": 1,
    }
