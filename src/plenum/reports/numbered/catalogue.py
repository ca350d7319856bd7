"""Which tables there are by number, and what each one needs."""

from collections.abc import Callable
from typing import NamedTuple

from plenum.reports.numbered import cases, exponents, files, maps, reported, standing, switching
from plenum.reports.numbered.source import Made, Source


class Numbered(NamedTuple):
    """A table: its name, what it shows, how it is made, and what a study must have for it.

    ``make`` gives ``None`` for studies that have nothing to show in it.
    """

    name: str
    told: str
    make: Callable[[Source], Made | None]
    needs: str


CATALOGUE: dict[str, Numbered] = {
    table.name: table
    for table in (
        Numbered("s1", "target and realised replicates", standing.standing, "a condition"),
        Numbered("s2", "runs and files behind each effect", files.manifests, "a condition"),
        Numbered("s3", "what became of failures", files.reasons, "a condition"),
        Numbered("s4", "the scenarios", cases.cases, "no run"),
        Numbered("s5", "λ̂, flip rate, TTM by condition", exponents.exponents, "a deliberation"),
        Numbered("s6", "λ̂ by model", maps.models, "two models"),
        Numbered(
            "s7",
            "switches by seat, pooled over temperatures",
            switching.switching,
            "roles=on at a temperature of Table S7, with completed replicates",
        ),
        Numbered("s8", "λ̂ by scenario", maps.landscape, "two scenarios"),
        Numbered(
            "published",
            "the papers' values beside this run's",
            reported.reported,
            "a condition of the papers",
        ),
        Numbered(
            "directions",
            "the papers' directions of effects beside this run's",
            reported.directions,
            "a contrast of Fig. 2 or Fig. 3",
        ),
    )
}
