"""A condition's estimates in words and numbers, each with its uncertainty."""

from typing import Any

from plenum.dynamics import Branching, Summary
from plenum.dynamics.fragility import FamilyEstimate
from plenum.reports.formats import interval, number, p_value
from plenum.reports.rows import Row


def facts(row: Row) -> list[list[str]]:
    """What the page lists beside λ̂: pairs of a name and a value."""
    if row.branches is not None:
        return _branched(row.branches)
    if row.summary is None:
        return []
    return [*_decided(row.summary), *(_worded(family) for family in row.wordings.values())]


def _decided(own: Summary) -> list[list[str]]:
    found = own.record()["decisions"]
    low, high = found["time_to_majority_ci_low"], found["time_to_majority_ci_high"]
    rounds = f"{number(own.time_to_majority.median, 1)} [{number(low, 1)}, {number(high, 1)}]"
    return [
        ["share of decisions off the modal one", _with_limits(own.flip_rate)],
        ["chance that two replicates decide differently", _with_limits(own.disagreement)],
        ["median rounds to a majority", rounds],
        ["p of no growth (time reversal)", p_value(own.reversal.p)],
    ]


def _worded(family: FamilyEstimate) -> list[str]:
    exponent = family.exponent
    told = f"{number(exponent.value, 4)} {interval(exponent.ci_low, exponent.ci_high)}"
    fragility = family.reason or _with_limits(family.fragility)
    return [
        f"{family.family}: canonical and {family.wordings} others",
        f"λ̂_pert {told}; fragility {fragility}",
    ]


def _branched(own: Branching) -> list[list[str]]:
    return [
        [f"Γ̂, mean over {own.bases} base states", _with_limits(own.gamma)],
        ["growth after branching, against diffusion", _with_limits(own.signed)],
        ["p of memory of the base state (c_in > c_out)", p_value(own.c_p)],
    ]


def _with_limits(estimate: Any) -> str:
    return f"{number(estimate.value, 3)} {interval(estimate.ci_low, estimate.ci_high, 3)}"
