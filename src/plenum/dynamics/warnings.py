"""Warnings and statuses of estimates: the one place that defines them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class EstimateWarning:
    """A warning, or a status of an estimate.

    Attributes
    ----------
    name
        As it stands in tables and CSV files.
    letter
        What stands for it where there is no room; empty for none.
    short
        What it means, in a line.
    seen, so
        What was seen, and what follows from it, at length; empty for a status that says what a
        condition is and warns of nothing.
    """

    name: str
    letter: str
    short: str
    seen: str = ""
    so: str = ""


_EVERY = (
    EstimateWarning(
        "uneven",
        "u",
        "replicates jump or few make most of λ̂: no interval, no t test is shown; report decisions",
        "three ways to average over pairs give different slopes, or a step was over five times as "
        "long as is usual at that time",
        "replicates jump, or a few make most of λ̂: they lie far from the rest or move away from "
        "it. λ̂ is no rate that pairs have in common, intervals and t tests of it would be wrong "
        "too often and aren't shown, and the decisions say more",
    ),
    EstimateWarning(
        "saturated",
        "s",
        "D(t) comes near its cap within the window, which bends λ̂ down",
        "D(t) reached half of the largest value that it can have within the rounds of the fit",
        "λ̂ is bent down by the ceiling, and a smaller λ̂ than elsewhere may be nothing else",
    ),
    EstimateWarning(
        "quantised",
        "q",
        "small D(t) are steps of rounded preferences: begin the window later",
        "in some round of the fit D(t) is below three steps of the grid that the stated "
        "preferences lie on",
        "the smallest distances are rounding, and the slope leans on them",
    ),
    EstimateWarning(
        "few_apart",
        "a",
        "most replicates stand together: λ̂ is about the few that don't",
        "less than half of the pairs of replicates are apart in every round of the fit",
        "most replicates stand together, and λ̂ is about the few that do not",
    ),
    EstimateWarning(
        "few_rounds",
        "t",
        "fewer than five rounds entered the fit",
        "fewer than five rounds entered the fit",
        "a slope over so few points says little about a rate",
    ),
    EstimateWarning(
        "few_replicates",
        "r",
        "fewer than ten replicates: the interval says nothing of jumps that none of them made",
        "fewer than ten replicates were completed",
        "the spread is badly known, tests have little power, and intervals say nothing of jumps "
        "that no replicate made",
    ),
    EstimateWarning(
        "zero_rounds",
        "z",
        "rounds with D = 0 have no logarithm and were left out of the fit",
        "in some rounds of the fit all replicates were identical (D = 0), and these rounds "
        "were left out",
        "λ̂ is about the other rounds only",
    ),
    EstimateWarning(
        "no_interval",
        "i",
        "λ̂ has no interval here: one replicate may be all of it",
        "no interval could be computed",
        "one replicate may be all of λ̂, which is then not to be used",
    ),
    EstimateWarning(
        "votes_apart",
        "v",
        "seats often vote for another option than they state: λ̂ and decisions are of two things",
        "fewer than 80 % of the ballots name the option that their seat had stated to prefer",
        "D(t) and λ̂ are of numbers that don't decide, and the decisions of something else",
    ),
    EstimateWarning(
        "pending",
        "p",
        "replicates haven't ended: the study was interrupted, or a limit stopped it",
        "replicates have not ended",
        "the numbers are of those that have, and will change",
    ),
    EstimateWarning(
        "attrition",
        "x",
        "replicates have failed: those left may differ from those that failed",
        "replicates have failed",
        "those that are left may differ from those that failed",
    ),
    EstimateWarning(
        "environments",
        "e",
        "replicates ran in several environments, and their bytes may differ",
        "replicates ran in several environments",
        "their bytes may differ for reasons of software or hardware, not of the design",
    ),
    EstimateWarning(
        "no_canonical",
        "c",
        "no replicate of the canonical wording completed",
        "no replicate of the canonical wording was completed",
        "there is no decision that the other wordings could be compared with, hence no fragility",
    ),
    EstimateWarning(
        "repeated_wordings",
        "w",
        "more replicates than wordings: D(t) mixes wordings with repeats",
        "there are more replicates than wordings",
        "distances between wordings and between repeats of one wording are mixed",
    ),
    EstimateWarning(
        "mixed_estimands",
        "m",
        "a contrast of λ̂_pert with λ̂: two different things",
        "a contrast sets growth between wordings against growth between repeats",
        "it subtracts two different things",
    ),
    EstimateWarning(
        "identical",
        "",
        "all replicates are identical in the window: there is no λ̂",
        "all replicates were identical in every round of the fit (D = 0)",
        "there is no slope: no divergence was seen, with this n",
    ),
    EstimateWarning(
        "short",
        "",
        "fewer than two rounds with D > 0 in the window: there is no λ̂",
        "fewer than two rounds of the fit have D > 0",
        "there is no slope; the run is too short for the window, or its replicates are "
        "identical in nearly all rounds",
    ),
    EstimateWarning(
        "single",
        "",
        "fewer than two completed replicates: there is no λ̂",
        "only one replicate was completed",
        "there is no distance between replicates, hence no λ̂",
    ),
    EstimateWarning(
        "no_replicates",
        "",
        "no replicate has completed",
        "no replicate was completed",
        "nothing can be said of the condition",
    ),
    EstimateWarning(
        "no_estimates",
        "",
        "the study was interrupted before this condition was estimated",
        "the run was interrupted before its estimates",
        "the condition is counted, but not estimated; the same command finishes it",
    ),
    EstimateWarning(
        "few_scenarios",
        "n",
        "fewer than five scenarios were pooled",
        "fewer than five scenarios were pooled",
        "how far the effect varies between scenarios is next to unknown",
    ),
    EstimateWarning(
        "branching", "", "continuations of base states: see Γ̂ in the tables, there is no λ̂"
    ),
    EstimateWarning("one_shot", "", "a vote without deliberation: there is nothing to fit"),
    EstimateWarning(
        "few_episodes", "", "fewer than five episodes, which are the independent draws"
    ),
    EstimateWarning("few_groups", "", "fewer than ten groups that points belong to"),
    EstimateWarning("few_values", "", "fewer than five values of x: there is no test"),
    EstimateWarning("few_low", "", "fewer than ten points below the breakpoint"),
    EstimateWarning("few_high", "", "fewer than ten points above the breakpoint"),
    EstimateWarning("dropped_nan", "", "points without a value were left out"),
    EstimateWarning("constant_x", "", "all points have the same x: there is no fit"),
    EstimateWarning("abstentions", "", "agents abstained in some rounds, and did nothing there"),
    EstimateWarning("silent", "", "turns of the discussion had no readable answer"),
    EstimateWarning("cut", "", "answers ended inside their object"),
)

WARNINGS = {warned.name: warned for warned in _EVERY}
"""The warnings by name, in the order of a report."""

_EARLIER = {"flip_dominated": "uneven"}
"""Names that older versions stored, and the names of today."""

OF_EFFECTS = ("mixed_estimands", "few_scenarios")
"""Warnings that only effects can have."""

_ORDER = "uavsqztrixpewcmn"
"""Every letter, once: a new one needs its place here. What forbids an interval comes first (u, a),
and what only effects have last (m, n)."""

LETTERS = {
    warned.name: warned.letter
    for warned in sorted(filter(lambda w: w.letter, _EVERY), key=lambda w: _ORDER.index(w.letter))
}
"""The letters of the warnings, in the order in which they are written."""

FEW_EPISODES = 5
"""Below this many episodes, which are the independent draws, intervals are unreliable. The number
is plenum's own: of four the standard deviation is known to a factor of 0.57 to 3.7 (95 %)."""

LOSSES = ("abstentions", "cut", "silent")
"""Metrics of a run in a world that count failures of agents, each a warning of the same name."""


def read_warnings(text: str) -> tuple[str, ...]:
    """Read warnings that any version stored, separated by spaces, under today's names."""
    # Two earlier names may have become one: each is listed once.
    return tuple(dict.fromkeys(_EARLIER.get(name, name) for name in text.split()))


def list_run_warnings(episodes: int, runs: Sequence[Mapping[Any, float]]) -> list[str]:
    """List the warnings of runs in a world: few independent draws, and failures of agents.

    Parameters
    ----------
    episodes
        How many there are; an episode may be run several times.
    runs
        The metrics of each run. Older ones don't count all losses.
    """
    few = ["few_episodes"] if episodes < FEW_EPISODES else []
    return few + [name for name in LOSSES if any(run.get(name, 0) > 0 for run in runs)]
