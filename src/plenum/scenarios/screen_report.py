"""Every variant of a scenario with all that the screen finds, without stopping at the first."""

from dataclasses import dataclass
from pathlib import Path

from plenum.base.errors import UserError
from plenum.scenarios import Scenario, screen, variant_files
from plenum.scenarios.layouts import formats
from plenum.scenarios.variant import Variant
from plenum.scenarios.variant_files import Wordings


@dataclass(frozen=True)
class Checked:
    """A variant, or the wordings that variants are made of, and what is wrong with it.

    ``variant`` is ``None`` where there is no packet: of a file's wordings, sentence by sentence.
    """

    scenario: str
    name: str
    family: str
    problems: tuple[str, ...]
    variant: Variant | None = None


@dataclass(frozen=True)
class Surveyed:
    """A scenario's variants, checked, and what is still to be done for them."""

    scenario: Scenario
    checked: tuple[Checked, ...]
    notes: tuple[str, ...] = ()


def survey(scenario: Scenario, folder: Path) -> Surveyed:
    """Check all variants of a scenario: layouts, rephrasings, and registers where it has any."""
    layout = [_checked(scenario, variant) for variant in formats(scenario)]
    rephrased, notes = _rephrasings(scenario, variant_files.ways_file(folder, scenario))
    registers = _registers(scenario, variant_files.registers_file(folder, scenario))
    return Surveyed(scenario, (*rephrased, *layout, *registers), notes)


def _checked(scenario: Scenario, variant: Variant) -> Checked:
    found = tuple(screen.screen(scenario, variant))
    return Checked(scenario.id, variant.name, variant.family, found, variant)


def _rephrasings(scenario: Scenario, path: Path) -> tuple[list[Checked], tuple[str, ...]]:
    try:
        read = variant_files.read_ways(path, scenario)
    except UserError as error:
        return [Checked(scenario.id, "ways", "rephrase", (str(error),))], ()
    ways = _sentences(scenario, read, "ways", "rephrase")
    notes = () if read.rephrasings else (f"{path} has no rephrasings yet: combine=true adds them",)
    variants = () if ways.problems else variant_files.rephrased(read, scenario)
    return [ways, *(_checked(scenario, variant) for variant in variants)], notes


def _registers(scenario: Scenario, path: Path) -> list[Checked]:
    if not path.exists():
        return []
    try:
        read = variant_files.read_registers(path, scenario)
    except UserError as error:
        return [Checked(scenario.id, "registers", "register", (str(error),))]
    said = _sentences(scenario, read, "registers", "register")
    variants = () if said.problems else variant_files.registers(read, scenario)
    return [said, *(_checked(scenario, variant) for variant in variants)]


def _sentences(scenario: Scenario, read: Wordings, name: str, family: str) -> Checked:
    found = (f"{p.path.name}, {p.place}: {p.told}" for p in variant_files.problems(read, scenario))
    return Checked(scenario.id, name, family, tuple(found))
