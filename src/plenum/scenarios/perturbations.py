"""Screened variants of scenarios: other wordings and layouts with the same meaning."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from plenum.base import UserError
from plenum.scenarios import Scenario, packets, screens, variant_files
from plenum.scenarios.layouts import format_variants
from plenum.scenarios.variant import FAMILIES, Variant

__all__ = [
    "FAMILIES",
    "CheckedVariant",
    "Variant",
    "VariantSurvey",
    "load_variants",
    "survey_variants",
]


@dataclass(frozen=True)
class CheckedVariant:
    """A variant, or the wordings that variants are made of, with its problems.

    ``variant`` is ``None`` for a file's wordings, which are checked sentence by sentence.
    """

    scenario: str
    name: str
    family: str
    problems: tuple[str, ...]
    variant: Variant | None = None


@dataclass(frozen=True)
class VariantSurvey:
    """The checked variants of a scenario, and notes on those that are still missing."""

    scenario: Scenario
    checked: tuple[CheckedVariant, ...]
    notes: tuple[str, ...] = ()


def load_variants(
    name: str, families: tuple[str, ...], scenario: Scenario, folder: Path
) -> tuple[Variant, ...]:
    """Load the screened variants of a scenario.

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
    variants = tuple(named.values())
    for variant in variants if scenario.wording is None else ():
        for problem in screens.rule_screen().screen(scenario, variant):
            raise UserError(f"variant {variant.name} of scenario {scenario.id}: {problem}")
    return variants


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


def survey_variants(scenario: Scenario, folder: Path) -> VariantSurvey:
    """Check all variants of a scenario without stopping at the first problem.

    These are the rephrasings, the layouts, and the registers where it has any.
    """
    rephrased, notes = _survey_file(scenario, folder, "rephrase", "ways")
    layouts = [_check(scenario, variant) for variant in format_variants(scenario)]
    registers: list[CheckedVariant] = []
    if variant_files.wordings_file(folder, scenario, "register").exists():
        registers, _ = _survey_file(scenario, folder, "register", "registers")
    return VariantSurvey(scenario, (*rephrased, *layouts, *registers), notes)


def _survey_file(
    scenario: Scenario, folder: Path, family: str, name: str
) -> tuple[list[CheckedVariant], tuple[str, ...]]:
    """Check a file's wordings and their variants, and note what is still missing."""
    path = variant_files.wordings_file(folder, scenario, family)
    try:
        wordings = variant_files.read_wordings(path, scenario, family)
    except UserError as error:
        return [CheckedVariant(scenario.id, name, family, (str(error),))], ()
    problems = tuple(
        f"{path.name}, {problem.place}: {problem.message}"
        for problem in variant_files.find_problems(wordings, scenario)
    )
    variants = () if problems else variant_files.make_variants(wordings, scenario)
    checked = [CheckedVariant(scenario.id, name, family, problems)]
    checked += [_check(scenario, variant) for variant in variants]
    if family == "rephrase" and not wordings.rephrasings:
        return checked, (f"{path} has no rephrasings yet: combine=true adds them",)
    return checked, ()


def _check(scenario: Scenario, variant: Variant) -> CheckedVariant:
    problems = tuple(screens.rule_screen().screen(scenario, variant))
    return CheckedVariant(scenario.id, variant.name, variant.family, problems, variant)
