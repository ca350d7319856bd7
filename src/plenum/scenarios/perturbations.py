"""Variants of scenarios: other wordings and layouts with the same meaning."""

from functools import lru_cache
from pathlib import Path

from plenum.base.errors import UserError
from plenum.scenarios import packets, variant_files
from plenum.scenarios.layouts import format_variants
from plenum.scenarios.scenario import Scenario
from plenum.scenarios.variant import FAMILIES, Variant


def load_variants(
    name: str, families: tuple[str, ...], scenario: Scenario, folder: Path
) -> tuple[Variant, ...]:
    """Load the variants of a scenario, with its wordings checked.

    Parameters
    ----------
    name
        What the perturbation is called, for messages.
    families
        Of :data:`FAMILIES` those that are wanted.
    scenario
        The canonical scenario.
    folder
        Where the variants files lie.

    Returns
    -------
    tuple of Variant
        Family by family in the order of :data:`FAMILIES`.

    Raises
    ------
    UserError
        A family is unknown, the scenario has no such file, or the file or a variant is refused.
    """
    for family in families:
        if family not in FAMILIES:
            raise UserError(
                f"perturbation {name}: families: {family!r} is not one of {', '.join(FAMILIES)}"
            )
    stamps = []
    for family in ("rephrase", "register"):
        path = variant_files.wordings_file(folder, scenario, family)
        changed = _time_changed(path) if family in families else 0
        if changed is None:
            what = "registers" if family == "register" else "variants"
            raise UserError(
                f"perturbation {name}: scenario {scenario.id} has no {what}: {path} does not "
                "exist; write it as docs/perturbations.md says, or choose another perturbation"
            )
        stamps.append(changed)
    return _load(tuple(f for f in FAMILIES if f in families), scenario, folder, tuple(stamps))


def _time_changed(path: Path) -> int | None:
    """Return the modification time of a file; ``None`` if it doesn't exist."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


@lru_cache(maxsize=128)
def _load(
    families: tuple[str, ...], scenario: Scenario, folder: Path, stamps: tuple[int, ...]
) -> tuple[Variant, ...]:
    """Load the variants as their files were at a time; cached, since every job asks for them."""
    named = {v.name: v for family in families for v in _family(family, scenario, folder)}
    return tuple(named.values())


def _family(family: str, scenario: Scenario, folder: Path) -> tuple[Variant, ...]:
    if family == "canonical":
        return (Variant("canonical", "canonical", scenario.packet),)
    path = variant_files.wordings_file(folder, scenario, family)
    if scenario.wording is not None:
        return packets.load_packets(path, scenario, family)
    if family == "format":
        return format_variants(scenario)
    wordings = variant_files.read_wordings(path, scenario, family)
    for problem in variant_files.find_problems(wordings, scenario):
        raise UserError(str(problem))
    if family == "rephrase" and not wordings.rephrasings:
        raise UserError(
            f"variants file {path}, rephrasings: missing; write them with "
            f"python scripts/screen_variants.py combine=true 'scenarios=[{scenario.id}]'"
        )
    return variant_files.make_variants(wordings, scenario)
