"""What each warning means for a reader of a report: the one place that says it."""

from typing import NamedTuple


class Meaning(NamedTuple):
    """A warning in words: what was seen, and what follows from it."""

    seen: str
    so: str


MEANINGS: dict[str, Meaning] = {
    "flip_dominated": Meaning(
        "fewer than 80 % of the replicates decide alike, or three ways to average over pairs give "
        "different slopes",
        "few replicates carry λ̂, be it that they change sides or that they lie far from the rest. "
        "It is no rate that pairs have in common, its interval is not to be believed, and the "
        "decisions say more",
    ),
    "saturated": Meaning(
        "D(t) reached half of the largest value that it can have within the rounds of the fit",
        "λ̂ is bent down by the ceiling, and a smaller λ̂ than elsewhere may be nothing else",
    ),
    "quantised": Meaning(
        "in some round of the fit D(t) is below three steps of the grid that the stated "
        "preferences lie on",
        "the smallest distances are rounding, and the slope leans on them",
    ),
    "few_apart": Meaning(
        "less than half of the pairs of replicates are apart in every round of the fit",
        "most replicates stand together, and λ̂ is about the few that do not",
    ),
    "few_rounds": Meaning(
        "fewer than five rounds entered the fit",
        "a slope over so few points says little about a rate",
    ),
    "few_replicates": Meaning(
        "fewer than ten replicates were completed",
        "the spread is badly known, and tests have little power",
    ),
    "zero_rounds": Meaning(
        "in some rounds of the fit all replicates were identical (D = 0), and these rounds were "
        "left out",
        "λ̂ is about the other rounds only",
    ),
    "no_interval": Meaning(
        "no interval could be computed",
        "one replicate may be all of λ̂, which is then not to be used",
    ),
    "pending": Meaning(
        "replicates have not ended",
        "the numbers are of those that have, and will change",
    ),
    "attrition": Meaning(
        "replicates have failed",
        "those that are left may differ from those that failed",
    ),
    "environments": Meaning(
        "replicates ran in several environments",
        "their bytes may differ for reasons of software or hardware, not of the design",
    ),
    "no_canonical": Meaning(
        "no replicate of the canonical wording was completed",
        "there is no decision that the other wordings could be compared with, hence no fragility",
    ),
    "repeated_wordings": Meaning(
        "there are more replicates than wordings",
        "distances between wordings and between repeats of one wording are mixed",
    ),
    "mixed_estimands": Meaning(
        "a contrast sets growth between wordings against growth between repeats",
        "it subtracts two different things",
    ),
    "identical": Meaning(
        "all replicates were identical in every round of the fit (D = 0)",
        "there is no slope: no divergence was seen, with this n",
    ),
    "short": Meaning(
        "fewer than two rounds of the fit have D > 0",
        "there is no slope; the run is too short for the window, or its replicates are identical "
        "in nearly all rounds",
    ),
    "single": Meaning(
        "only one replicate was completed",
        "there is no distance between replicates, hence no λ̂",
    ),
    "no_replicates": Meaning(
        "no replicate was completed",
        "nothing can be said of the condition",
    ),
    "no_estimates": Meaning(
        "the run was interrupted before its estimates",
        "the condition is counted, but not estimated; the same command finishes it",
    ),
    "few_scenarios": Meaning(
        "fewer than five scenarios were pooled",
        "how far the effect varies between scenarios is next to unknown",
    ),
    "not_converged": Meaning(
        "the mixed model's likelihood has no maximum that could be found",
        "its terms are not to be used",
    ),
}
"""By the warning's name, in the order of a report."""

ELSEWHERE = ("branching", "one_shot")
"""Statuses that say what a condition is, and warn of nothing."""


def meaning(name: str) -> Meaning:
    """What a warning means; one that isn't known is passed on by its name."""
    unknown = Meaning("the estimates carry it", "see the documentation of estimates")
    return MEANINGS.get(name, unknown)
