"""The arrows of shared/DESIGN.md: who may import whom. They only run downwards."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import plenum
from plenum.worlds import WORLDS

SOURCE = Path(plenum.__file__).parent
DOORS = {
    "cli",
    "callbacks",
    "archive",
    "checks",
    "testing",
}  # they open everything; nobody imports them
ALLOWED: dict[str, set[str]] = {
    "base": set(),
    "records": {"base"},
    "dynamics": {"base"},
    "scenarios": {"base"},
    "design": {"base", "scenarios"},
    "models": {"base", "scenarios", "design", "records"},
    "committee": {"base", "scenarios", "design", "records", "models"},
    "worlds": {"base", "scenarios", "design", "records", "models"},
    "tracking": {"base", "scenarios", "design", "records"},
    "execution": {
        *("base", "scenarios", "design", "records", "models", "committee", "worlds", "tracking"),
        "dynamics",
    },
    # of worlds how one is shown, and nothing else: see the test of that
    "reports": {"base", "scenarios", "design", "records", "tracking", "dynamics", "worlds"},
}
NUMERIC = {"numpy", "scipy", "statsmodels", "plenum"}
SEEDED = {"Generator", "PCG64", "SeedSequence", "BitGenerator"}


def imports(module: str, source: str) -> Iterator[str]:
    """Every dotted name that a module imports, also inside functions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = module.split(".")[: -node.level] if node.level else []
            stem = ".".join([*base, node.module] if node.module else base)
            yield from (f"{stem}.{alias.name}" for alias in node.names)


def part(name: str) -> str | None:
    """The room or top-level module that a dotted name lies in."""
    package, *rest = name.split(".")
    known = ALLOWED.keys() | DOORS
    return rest[0] if package == "plenum" and rest and rest[0] in known else None


def forbidden(module: str, source: str) -> list[str]:
    """The imports of a module that its room isn't allowed."""
    own = part(module)
    assert own is not None, f"{module} lies in no room of DESIGN.md"
    if own in DOORS:
        return []
    reached = {part(name) for name in imports(module, source)} - {own, None}
    return sorted(other for other in reached if other and other not in ALLOWED[own])


def global_draws(source: str) -> list[str]:
    """Uses of random state that no identity seeds."""
    found = [name for name in imports("plenum", source) if name.split(".")[0] == "random"]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in (
            "np.random",
            "numpy.random",
        ):
            found += [node.attr] * (node.attr not in SEEDED)
    return found


def files() -> list[tuple[str, Path]]:
    """Every module of the package, by dotted name."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(["plenum", *path.relative_to(SOURCE).with_suffix("").parts])
        if name != "plenum.__init__":
            found.append((name, path))
    return found


def test_a_module_imports_only_what_its_room_may() -> None:
    found = {module: forbidden(module, path.read_text()) for module, path in files()}
    assert {module: rooms for module, rooms in found.items() if rooms} == {}


@pytest.mark.parametrize(
    ("module", "source", "caught"),
    [
        ("plenum.dynamics.x", "import plenum.records.journal", ["records"]),
        ("plenum.dynamics.x", "from plenum.design.condition import Condition", ["design"]),
        ("plenum.records.x", "from plenum import models", ["models"]),
        ("plenum.models.api.x", "def f():\n    from plenum.committee import Ask", ["committee"]),
        ("plenum.models.simulated.x", "from ...committee import prompts", ["committee"]),
        ("plenum.committee.x", "from plenum import dynamics, tracking", ["dynamics", "tracking"]),
        ("plenum.reports.x", "from plenum.execution.outcomes import save", ["execution"]),
        ("plenum.execution.x", "if True:\n    import plenum.reports.tables", ["reports"]),
        ("plenum.tracking.x", "from ..dynamics import lyapunov", ["dynamics"]),
        ("plenum.scenarios.x", "from plenum.records import Failure", ["records"]),
        ("plenum.execution.x", "from plenum.cli import told", ["cli"]),
    ],
)
def test_the_check_sees_a_forbidden_import(module: str, source: str, caught: list[str]) -> None:
    assert forbidden(module, source) == caught


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("plenum.models.x", "from plenum.records import Failure\nimport numpy"),
        ("plenum.committee.x", "from .prompts import turn\nfrom plenum.models import Reply"),
        ("plenum.execution.x", "from plenum import dynamics, __version__"),
    ],
)
def test_the_check_lets_an_allowed_import_pass(module: str, source: str) -> None:
    assert forbidden(module, source) == []


def test_every_room_of_the_package_is_in_the_design() -> None:
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    modules = {path.stem for path in SOURCE.glob("*.py")} - {"__init__"}
    assert rooms | modules <= ALLOWED.keys() | DOORS


def test_reports_know_of_a_world_only_how_it_is_shown() -> None:
    """Labels and names of metrics stand in the world's folder; what runs it is none of theirs."""
    known = {
        name
        for module, path in files()
        if part(module) == "reports"
        for name in imports(module, path.read_text())
        if part(name) == "worlds"
    }
    assert known == {"plenum.worlds.definition.Display", "plenum.worlds.registry.display"}


def test_no_code_outside_of_a_worlds_folder_names_it() -> None:
    naming = {
        module
        for module, path in files()
        if any(name in path.read_text() for name in WORLDS)
        and not any(module.startswith(f"plenum.worlds.{name}.") for name in WORLDS)
    }
    assert naming == {"plenum.worlds.registry"}


def test_dynamics_needs_nothing_but_numpy_scipy_and_statsmodels() -> None:
    used = {
        name.split(".")[0]
        for module, path in files()
        if part(module) == "dynamics"
        for name in imports(module, path.read_text())
    }
    assert {name for name in used - NUMERIC if not _is_standard(name)} == set()


def test_a_module_draws_from_no_global_random_state() -> None:
    found = {module: global_draws(path.read_text()) for module, path in files()}
    assert {module: draws for module, draws in found.items() if draws} == {}


@pytest.mark.parametrize(
    ("source", "caught"),
    [
        ("import random", ["random"]),
        ("from random import choice", ["random.choice"]),
        ("import numpy as np\nx = np.random.normal()", ["normal"]),
        ("import numpy as np\nx = np.random.default_rng()", ["default_rng"]),
        ("import numpy as np\nx = np.random.Generator(np.random.PCG64(1))", []),
    ],
)
def test_the_check_sees_global_random_state(source: str, caught: list[str]) -> None:
    assert global_draws(source) == caught


def _is_standard(name: str) -> bool:
    import sys

    return name in sys.stdlib_module_names
