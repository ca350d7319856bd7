"""Variants of scenarios: other wordings and layouts with the same meaning."""

from functools import lru_cache
from pathlib import Path

from plenum.base.errors import UserError
from plenum.scenarios import Scenario, screen, variant_files
from plenum.scenarios.layouts import formats
from plenum.scenarios.variant import FAMILIES, Variant
from plenum.scenarios.variant_files import Wordings

__all__ = ["FAMILIES", "Variant", "load"]


def load(
    name: str, families: tuple[str, ...], scenario: Scenario, folder: Path
) -> tuple[Variant, ...]:
    """The screened variants of a scenario.

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
    needed = {
        "rephrase": variant_files.ways_file(folder, scenario),
        "register": variant_files.registers_file(folder, scenario),
    }
    stamps = []
    for family, path in needed.items():
        changed = _changed(path) if family in families else 0
        if changed is None:
            what = "registers" if family == "register" else "variants"
            raise UserError(
                f"perturbation {name}: scenario {scenario.id} has no {what}: {path} does not "
                "exist; write it as docs/perturbations.md says, or choose another perturbation"
            )
        stamps.append(changed)
    return _load(tuple(f for f in FAMILIES if f in families), scenario, folder, tuple(stamps))


def _changed(path: Path) -> int | None:
    """When a file was written; ``None`` where there is none."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


@lru_cache(maxsize=128)
def _load(
    families: tuple[str, ...], scenario: Scenario, folder: Path, stamps: tuple[int, ...]
) -> tuple[Variant, ...]:
    """The variants as their files were at a time: a sweep asks for them in every job."""
    made = [variant for family in families for variant in _family(family, scenario, folder)]
    for variant in made:
        for problem in screen.screen(scenario, variant):
            raise UserError(f"variant {variant.name} of scenario {scenario.id}: {problem}")
    return tuple(made)


def _family(family: str, scenario: Scenario, folder: Path) -> tuple[Variant, ...]:
    if family == "canonical":
        return (Variant("canonical", "canonical", scenario.packet),)
    if family == "format":
        return formats(scenario)
    if family == "register":
        read = variant_files.read_registers(
            variant_files.registers_file(folder, scenario), scenario
        )
        return variant_files.registers(_passed(read, scenario), scenario)
    read = variant_files.read_ways(variant_files.ways_file(folder, scenario), scenario)
    if not _passed(read, scenario).rephrasings:
        raise UserError(
            f"variants file {read.path}, rephrasings: missing; write them with "
            f"python scripts/screen_variants.py combine=true 'scenarios=[{scenario.id}]'"
        )
    return variant_files.rephrased(read, scenario)


def _passed(read: Wordings, scenario: Scenario) -> Wordings:
    for problem in variant_files.problems(read, scenario):
        raise UserError(str(problem))
    return read
