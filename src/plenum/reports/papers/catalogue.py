"""Which tables there are by number, and what each one needs."""

from collections.abc import Callable
from typing import NamedTuple

from plenum.reports.papers import accounts, behaviour, comparisons, estimates
from plenum.reports.papers.source import NumberedTable, Source


class Numbered(NamedTuple):
    """A table: its name, what it shows, how it is made, and what a study must have for it.

    ``make`` gives ``None`` for studies that have nothing to show in it.
    """

    name: str
    shows: str
    make: Callable[[Source], NumberedTable | None]
    needs: str


_DIRECTIONS = "the papers' directions of effects beside this run's"
_SEATS = "roles=on at a temperature of Table S7, with completed replicates"

CATALOGUE: dict[str, Numbered] = {
    name: Numbered(name, shows, make, needs)
    for name, shows, make, needs in (
        ("s1", "target and realised replicates", accounts.replicates, "a condition"),
        ("s2", "runs and files behind each effect", accounts.manifests, "a condition"),
        ("s3", "what became of failures", accounts.reasons, "a condition"),
        ("s4", "the scenarios", accounts.cases, "no run"),
        ("s5", "λ̂, flip rate, TTM by condition", estimates.exponents, "a deliberation"),
        ("s6", "λ̂ by model", estimates.models, "two models"),
        ("s7", "switches by seat, pooled over temperatures", estimates.switching, _SEATS),
        ("s8", "λ̂ by scenario", estimates.landscape, "two scenarios"),
        ("published", "the papers' values beside this run's", comparisons.reported,
         "a condition of the papers"),
        ("behaviour", "D, λ̂, flips, switches, ties and repairs, a line a condition",
         behaviour.behaviour, "a deliberation"),
        ("directions", _DIRECTIONS, comparisons.directions, "a contrast of Fig. 2 or Fig. 3"),
    )
}  # fmt: skip
