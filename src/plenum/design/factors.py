"""The design factors: what conditions are labelled, sorted, grouped and compared by."""

from collections.abc import Iterable, Mapping

FACTORS = (
    "scenario", "roles", "model", "memory", "temperature", "backend", "perturbation", "protocol",
    "settings", "rounds", "seed",
)  # fmt: skip
"""The factors that every condition has, in the order in which tables show and sort them."""

USUAL = {"settings": "default", "perturbation": "none", "protocol": "deliberation"}
"""Values that go without saying where a condition is named."""


def list_unusual(names: Iterable[str], values: Mapping[str, str]) -> list[str]:
    """List the factors, of some, that are there and whose value doesn't go without saying."""
    return [name for name in names if name in values and USUAL.get(name) != values[name]]


def list_varying(
    conditions: Iterable[Mapping[str, object]], names: Iterable[str] = FACTORS
) -> list[str]:
    """Return the factors in which some conditions differ, in their usual order.

    Parameters
    ----------
    conditions
        The factors of each condition by name; to lack one is a level of it.
    names
        The factors to look at.
    """
    rows = list(conditions)
    return [name for name in names if len({factors.get(name) for factors in rows}) > 1]
