"""How the house is built, beyond import-linter's contracts: worlds, random state, plain names."""

import ast
import sys
from collections import Counter
from pathlib import Path

import architecture
import pytest

ROOT = Path(__file__).resolve().parents[1]
NUMERIC = {"numpy", "scipy", "statsmodels"}
SEEDED = {"Generator", "PCG64", "SeedSequence", "BitGenerator"}
ESTIMATES = ("plenum/dynamics", "plenum_verdicts/dynamics", "plenum_worlds/dynamics")
"""Folders of functions of arrays, of which an analysis may copy one without the rest."""


def imports(source: str) -> list[str]:
    """Every dotted name that a module imports, also inside functions."""
    return list(architecture.imports(architecture.parse(source)))


def global_draws(source: str) -> list[str]:
    """Uses of random state that no identity seeds."""
    used = [name for name in imports(source) if name.split(".")[0] == "random"]
    for node in architecture.list_nodes(architecture.parse(source)):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in (
            "np.random",
            "numpy.random",
        ):
            used += [node.attr] * (node.attr not in SEEDED)
    return used


@pytest.fixture(scope="module")
def modules() -> dict[str, str]:
    """The source of every module of the packages, by its path in src."""
    folder = ROOT / "src"
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in architecture.sources(ROOT)
        if "hydra_plugins" not in path.parts
    }


# --- packages ------------------------------------------------------------------------------------


def test_the_laboratory_names_none_of_its_siblings() -> None:
    """Dotted texts, which import-linter doesn't see."""
    assert architecture.named_packages(ROOT) == {}


def test_a_name_of_a_sibling_is_seen_in_a_text(tmp_path: Path) -> None:
    folder = tmp_path / "src/plenum_worlds"
    folder.mkdir(parents=True)
    (folder / "draws.py").write_text("PART = 'plenum_audit.kind:KIND'\n")
    named = architecture.named_packages(tmp_path, "plenum_worlds")
    assert named == {"plenum_worlds.draws": {"plenum_audit"}}


def test_every_package_and_room_says_what_it_is_for() -> None:
    assert architecture.without_docstring(ROOT) == []


def test_dynamics_needs_nothing_but_numpy_scipy_and_statsmodels(modules: dict[str, str]) -> None:
    used = {
        name.split(".")[0]
        for path, source in modules.items()
        if path.startswith(ESTIMATES)
        for name in imports(source)
    }
    laboratory = {"plenum", "plenum_verdicts", "plenum_worlds"}
    assert used - NUMERIC - laboratory <= sys.stdlib_module_names


# --- kinds and worlds ----------------------------------------------------------------------------


def test_no_code_outside_of_a_worlds_folder_names_it() -> None:
    assert architecture.world_files(ROOT) == [ROOT / "src/plenum_worlds/registry.py"]


# --- random state and names ----------------------------------------------------------------------


def test_a_module_draws_from_no_global_random_state(modules: dict[str, str]) -> None:
    assert {path for path, source in modules.items() if global_draws(source)} == set()


def test_a_class_s_name_occurs_once() -> None:
    assert architecture.repeated_class_names(ROOT) == {}


def test_a_test_file_s_name_occurs_once() -> None:
    """Two of one name can't be collected together: their folders are no packages."""
    folders = {path.parent for path in (ROOT / "tests").rglob("__init__.py")}
    files = [path for path in (ROOT / "tests").rglob("*.py") if path.parent not in folders]
    counts = Counter(path.name for path in files if path.name not in ("conftest.py", "__init__.py"))
    assert {name for name, count in counts.items() if count > 1} <= {"__main__.py"}
