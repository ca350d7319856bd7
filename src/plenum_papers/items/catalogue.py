"""The catalogue of numbered tables, with the requirements of each."""

from plenum_papers.items import accounts, behaviour, comparisons, estimates, switches, worlds
from plenum_papers.items.source import NumberedEntry

_DIRECTIONS = "the papers' directions of effects next to this run's"
_SEATS = "roles=on at a temperature of Table S7, with completed replicates"

COMMITTEES: dict[str, NumberedEntry] = {
    name: NumberedEntry(name, shows, make, needs)
    for name, shows, make, needs in (
        ("s1", "target and realised replicates", accounts.replicates, "a condition"),
        ("s2", "runs and files behind each effect", accounts.manifests, "a condition"),
        ("s3", "what became of failures", accounts.reasons, "a condition"),
        ("s4", "the scenarios", accounts.cases, "no run"),
        ("s5", "λ̂, flip rate, TTM by condition", estimates.tabulate_growth, "a deliberation"),
        ("s6", "λ̂ by model", estimates.models, "two models"),
        ("s7", "switches by seat, pooled over temperatures", switches.tabulate_switches, _SEATS),
        ("s8", "λ̂ by scenario", estimates.tabulate_paper_landscape, "two scenarios"),
        ("published", "the papers' values next to this run's", comparisons.compare_estimates,
         "a condition of the papers"),
        ("behaviour", "D, λ̂, flips, switches, ties and repairs, a line a condition",
         behaviour.behaviour, "a deliberation"),
        ("directions", _DIRECTIONS, comparisons.directions, "a contrast of Fig. 2 or Fig. 3"),
    )
}  # fmt: skip
"""Tables of committees."""

CATALOGUE = COMMITTEES | worlds.TABLES

BY_KIND = {"committee": COMMITTEES, "world": worlds.TABLES}
"""The tables of the studies of a kind."""
"""All of them: tables of 001 begin with S, those of 002 are plain numbers."""
