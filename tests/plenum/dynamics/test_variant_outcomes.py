"""Fragility and λ̂_pert by variant family, and differences of fragility: values known by hand."""

import math

import generators
import numpy as np
import pytest
from numpy.testing import assert_allclose

from plenum.dynamics.decisions import estimate_share
from plenum.dynamics.fragility import (
    VariantOutcome,
    average_scenarios,
    estimate_families,
    flips,
    fragility_contrast,
    name_numbers,
)
from plenum.dynamics.lyapunov import lyapunov

FAMILIES = ["canonical"] + ["rephrase"] * 4 + ["format"] * 3


def readings(
    decisions: str, families: list[str] = FAMILIES, cycle: int = 0
) -> list[VariantOutcome]:
    """One replicate after another; they begin again at the first wording after ``cycle``."""
    cycle = cycle or len(families)
    return [
        VariantOutcome(f"v{i % cycle}", families[i % cycle], i // cycle, decision)
        for i, decision in enumerate(decisions)
    ]


def ensemble(replicates: int) -> np.ndarray:
    return generators.autoregressive(0.5, rate=0.03).sample(replicates, seed=3)


# --- fragility ---------------------------------------------------------------------------------


def test_fragility_counts_the_wordings_off_the_canonical_decision() -> None:
    found = estimate_families(ensemble(8), readings("AABBACAA"))
    assert list(found) == ["all", "rephrase", "format"]
    assert found["all"].fragility == estimate_share(3, 7)
    assert found["rephrase"].fragility == estimate_share(2, 4)
    assert found["format"].fragility == estimate_share(1, 3)
    assert [f.wordings for f in found.values()] == [7, 4, 3]


def test_a_family_alone_leaves_the_canonical_wording_out() -> None:
    runs = ensemble(8)
    found = estimate_families(runs, readings("AABBACAA"))
    assert found["rephrase"].exponent.value == lyapunov(runs[:5]).value
    assert found["rephrase"].alone.value == lyapunov(runs[1:5]).value
    assert found["format"].alone.value == lyapunov(runs[5:]).value
    assert found["all"].alone.value == found["all"].exponent.value


def test_where_the_canonical_wording_is_the_odd_one_all_others_count() -> None:
    assert estimate_families(ensemble(8), readings("BAAAAAAA"))["all"].fragility.value == 1.0


def test_without_the_canonical_wording_there_is_no_fragility_but_a_reason() -> None:
    found = estimate_families(ensemble(7), readings("AABBACAA")[1:])
    assert all(math.isnan(f.fragility.value) for f in found.values())
    assert {f.reason for f in found.values()} == {"no_canonical"}
    assert math.isfinite(found["all"].exponent.value)


def test_the_canonical_wording_alone_has_no_others() -> None:
    (found,) = estimate_families(ensemble(1), readings("A", ["canonical"])).values()
    assert (found.reason, found.exponent.status) == ("no_wordings", "single")


def test_a_repetition_is_compared_with_the_canonical_wordings_same_repetition() -> None:
    """Read twice: the second time the canonical wording itself decides B."""
    three = ["canonical", "rephrase", "format"]
    assert flips(readings("AAB" + "BBA", three)) == {"v1": 0.0, "v2": 1.0}
    assert flips(readings("AAB" + "BAB", three)) == {"v1": 0.5, "v2": 0.5}


def test_a_repetition_without_its_canonical_one_is_left_out() -> None:
    read = readings("AAB" + "BAB", ["canonical", "rephrase", "format"])
    assert flips([*read[:3], *read[4:]]) == {"v1": 0.0, "v2": 1.0}


def test_wordings_and_not_repetitions_are_the_units() -> None:
    """Twice the same decisions say no more than once."""
    once, twice = (
        estimate_families(ensemble(8 * n), readings("AABBACAA" * n, cycle=8)) for n in (1, 2)
    )
    assert twice["all"].fragility == once["all"].fragility


# --- λ̂_pert -----------------------------------------------------------------------------------


def test_lambda_pert_of_a_family_is_that_of_its_rows_and_the_canonical_one() -> None:
    rows = ensemble(8)
    found = estimate_families(rows, readings("AABBACAA"))
    expected = lyapunov(rows[[0, 5, 6, 7]], decisions=["A", "C", "A", "A"])
    assert repr(found["format"].exponent) == repr(expected)  # NaN is NaN there
    assert repr(found["all"].exponent) == repr(lyapunov(rows, decisions=list("AABBACAA")))


def test_details_name_every_number_once() -> None:
    numbers = name_numbers(estimate_families(ensemble(8), readings("AABBACAA")))
    assert set(numbers) == {
        *("fragility", "fragility_low", "fragility_high"),
        *(f"fragility_{f}{end}" for f in ("rephrase", "format") for end in ("", "_low", "_high")),
        *(f"lambda_pert_{f}{end}" for f in ("rephrase", "format") for end in ("", "_low", "_high")),
    }
    assert numbers["fragility_rephrase"] == 0.5
    assert numbers["fragility_low"] == estimate_share(3, 7).ci_low


# --- differences -------------------------------------------------------------------------------


def pair(
    both: int, first: int, second: int, neither: int
) -> tuple[list[VariantOutcome], list[VariantOutcome]]:
    """Two conditions whose wordings change the decision of both, of one alone, or of neither."""
    one = "A" + "B" * (both + first) + "A" * (second + neither)
    other = "A" + "B" * both + "A" * first + "B" * second + "A" * neither
    families = ["canonical"] + ["rephrase"] * (both + first + second + neither)
    return readings(one, families), readings(other, families)


def test_the_difference_of_paired_shares_has_newcombes_interval() -> None:
    """Method 10 of Newcombe (1998) on 20, 12, 2 and 16 pairs."""
    found = fragility_contrast(*pair(20, 12, 2, 16))
    assert found.value == pytest.approx(0.2)
    assert_allclose([found.ci_low, found.ci_high], [0.0562, 0.3292], atol=5e-5)
    assert (found.n, found.only_first, found.only_second) == (50, 12, 2)
    assert (found.first, found.second) == (0.64, 0.44)


def test_its_p_is_mcnemars() -> None:
    assert fragility_contrast(*pair(3, 6, 0, 10)).p == pytest.approx(2 * 0.5**6)
    assert fragility_contrast(*pair(3, 0, 0, 16)).p == 1.0


def test_no_discordant_pair_still_has_a_width() -> None:
    found = fragility_contrast(*pair(0, 0, 0, 19))
    assert found.value == 0
    assert_allclose([found.ci_low, found.ci_high], [-0.1682, 0.1682], atol=5e-5)


def test_only_wordings_that_both_completed_are_compared() -> None:
    first, second = pair(2, 3, 0, 5)
    assert fragility_contrast(first, second[:-4]).n == 6


def test_without_a_common_wording_there_is_no_difference() -> None:
    first, second = pair(0, 1, 0, 1)
    found = fragility_contrast(first, second[:1])
    assert math.isnan(found.value)
    assert found.n == 0


def test_wordings_read_several_times_take_students_t() -> None:
    three = ["canonical", "rephrase", "rephrase", "format"]
    found = fragility_contrast(readings("ABAA" + "ABBA", three), readings("AAAA" * 2, three))
    assert found.value == pytest.approx(0.5)
    assert found.method == "Student's t over wordings"
    assert_allclose([found.se, found.df], [1 / math.sqrt(12), 2])


def test_scenarios_are_the_units_of_a_mean() -> None:
    """Those without a discordant pair weigh as much as the others."""
    contrasts = [
        fragility_contrast(*pair(*counts)) for counts in ((0, 4, 0, 6), (0, 0, 0, 10), (0, 2, 0, 8))
    ]
    found = average_scenarios(contrasts)
    values = np.array([0.4, 0.0, 0.2])
    assert_allclose([found.value, found.se], [0.2, values.std(ddof=1) / math.sqrt(3)])
    assert (found.n, found.df) == (3, 2)
