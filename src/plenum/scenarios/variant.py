"""A scenario in another wording or layout."""

from dataclasses import dataclass

from plenum.base.identity import digest

FAMILIES = ("canonical", "rephrase", "format", "register")
"""The families, in the order in which variants are listed."""


@dataclass(frozen=True)
class Variant:
    """A scenario in other words or in another layout, with the same meaning.

    Parameters
    ----------
    name
        ``canonical``, ``rephrase01`` to ``rephrase10``, ``format_bullets``, ``register_formal``.
    family
        One of :data:`FAMILIES`.
    packet
        What every member of the committee reads instead of ``Scenario.packet``.
    id
        What a frame that names the scenario's id names instead; empty for the scenario's.
    """

    name: str
    family: str
    packet: str
    id: str = ""

    @property
    def identified_by(self) -> list[str]:
        """Everything in the variant that can change an outcome."""
        parts = [self.name, self.family, digest(self.packet)]
        return [*parts, self.id] if self.id else parts
