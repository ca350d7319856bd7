"""The variant of a scenario."""

from dataclasses import dataclass

FAMILIES = ("canonical", "rephrase", "format", "register")
"""The families, in the order in which variants stand."""


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
    """

    name: str
    family: str
    packet: str
