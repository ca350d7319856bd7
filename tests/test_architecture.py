"""How the house is built: who may import whom, no kind or world named elsewhere, plain names."""

import ast
import sys
from pathlib import Path

import architecture
import pytest

import plenum

SOURCE = Path(plenum.__file__).parent
ROOT = SOURCE.parents[1]
DOORS = {"cli", "callbacks", "checks", "testing"}
"""They open everything; nobody imports them."""
LAYERS = {
    "plenum_archive": "archive",
    "plenum_audit": "doors",
    "plenum_audit.design": "design",
    "plenum_audit.dynamics": "dynamics",
    "plenum_audit.execution": "execution",
    "plenum_audit.kind": "design",
    "plenum_audit.log_counts": "records",
    "plenum_audit.programs": "programs",
    "plenum_audit.reports": "reports",
    "plenum_audit.tracking": "tracking",
    "plenum_fleet": "execution",
    "plenum_fleet.servers": "models",
    "plenum_fleet.settings": "design",
    "plenum_hosted": "models",
    "plenum_hosted.checkpoints": "design",
    "plenum_hosted.expected_time": "execution",
    "plenum_hosted.diff": "records",
    "plenum_hosted.figures": "reports",
    "plenum_hosted.host": "execution",
    "plenum_hosted.reruns": "doors",
    "plenum_hosted.settings": "design",
    "plenum_papers": "reports",
    "plenum_papers.published": "doors",
    "plenum_rules": "reports",
    "plenum_rules.aggregation": "dynamics",
    "plenum_rules.committees": "dynamics",
    "plenum_rules.comparisons": "dynamics",
    "plenum_rules.live": "execution",
    "plenum_rules.stopping_rules": "dynamics",
    "plenum_verdicts": "design",
    "plenum_verdicts.acting": "dynamics",
    "plenum_verdicts.cases": "verdicts",
    "plenum_verdicts.design": "design",
    "plenum_verdicts.dynamics": "dynamics",
    "plenum_verdicts.judge": "doors",
    "plenum_verdicts.logs": "verdicts",
    "plenum_verdicts.protocols": "doors",
    "plenum_verdicts.questions": "doors",
    "plenum_verdicts.readers": "verdicts",
    "plenum_verdicts.reports": "reports",
    "plenum_verdicts.steadiness": "dynamics",
    "plenum_verdicts.suites": "dynamics",
    "plenum_verdicts.tracking": "tracking",
    "plenum_worlds": "worlds",
    "plenum_worlds.dynamics": "dynamics",
    "plenum_worlds.estimates": "execution",
    "plenum_worlds.kind": "design",
    "plenum_worlds.reports": "reports",
    "plenum_worlds.settings": "design",
    "plenum_worlds.tracking": "tracking",
}
"""The layer of what lies in a sibling, by the longest name that fits: arrows run down there too."""
SIBLINGS = {
    ("hydra_plugins", "plenum_fleet"): "the launcher ray",
    ("plenum_audit", "plenum_verdicts"): "verdicts on the runs of a program",
    ("plenum_papers", "plenum_worlds"): "numbered tables and figures of worlds",
}
"""Which sibling may import which, and for what. None imports another one but these."""
ALLOWED: dict[str, set[str]] = {
    "base": set(),
    "records": {"base"},
    "dynamics": {"base"},
    "scenarios": {"base"},
    "design": {"base", "scenarios"},
    "models": {"base", "scenarios", "design", "records"},
    "committee": {"base", "scenarios", "design", "records", "models"},
    "worlds": {"base", "scenarios", "design", "records", "models"},
    "verdicts": {"base", "scenarios", "records", "dynamics"},
    "programs": {"base", "scenarios", "design", "records", "models", "verdicts"},
    "tracking": {"base", "scenarios", "design", "records"},
    "execution": {
        *("base", "scenarios", "design", "records", "models", "committee", "worlds", "programs"),
        *("tracking", "dynamics", "verdicts"),
    },
    # of worlds how one is shown, and nothing else: see the test of that
    "reports": {
        *("base", "scenarios", "design", "records", "tracking", "dynamics", "worlds", "verdicts")
    },
}
"""The arrows of the design: what a room may import. They only run downwards."""
NUMERIC = {"numpy", "scipy", "statsmodels", "plenum", "lazy_loader"}
SEEDED = {"Generator", "PCG64", "SeedSequence", "BitGenerator"}


def imports(module: str, source: str) -> list[str]:
    """Every dotted name that a module imports, also inside functions."""
    return list(architecture.imports(architecture.parse(source), module.rpartition(".")[0]))


def room(name: str) -> str | None:
    """The room or top-level module that a dotted name lies in, or the layer in a sibling."""
    package, *rest = name.split(".")
    if package in LAYERS:
        prefixes = (".".join([package, *rest[:length]]) for length in range(len(rest), -1, -1))
        return next(LAYERS[prefix] for prefix in prefixes if prefix in LAYERS)
    known = ALLOWED.keys() | DOORS
    return rest[0] if package == "plenum" and rest and rest[0] in known else None


def forbidden(module: str, source: str) -> list[str]:
    """The rooms that a module imports and its room isn't allowed to."""
    home = room(module)
    assert home is not None, f"{module} lies in in no room of CONTRIBUTING.md"
    reached = {room(name) for name in imports(module, source)} - {home, None}
    return sorted(reached - ALLOWED[home]) if home in ALLOWED else []


def global_draws(source: str) -> list[str]:
    """Uses of random state that no identity seeds."""
    used = [name for name in imports("plenum.x", source) if name.split(".")[0] == "random"]
    for node in architecture.list_nodes(architecture.parse(source)):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in (
            "np.random",
            "numpy.random",
        ):
            used += [node.attr] * (node.attr not in SEEDED)
    return used


@pytest.fixture(scope="module")
def modules() -> dict[str, str]:
    """The source of every module of the packages, by dotted name."""
    folder = ROOT / "src"
    files = [path for path in architecture.sources(ROOT) if path != SOURCE / "__init__.py"]
    return {
        ".".join(path.relative_to(folder).with_suffix("").parts): path.read_text()
        for path in files
        if path.is_relative_to(folder) and "hydra_plugins" not in path.parts
    }


def test_a_module_imports_only_what_its_room_may(modules: dict[str, str]) -> None:
    reached = {module: forbidden(module, source) for module, source in modules.items()}
    assert {module: rooms for module, rooms in reached.items() if rooms} == {}


@pytest.mark.parametrize(
    ("module", "source", "caught"),
    [
        ("dynamics", "import plenum.records.journal", ["records"]),
        ("dynamics", "from plenum.design import Condition", ["design"]),
        ("records", "from plenum import models", ["models"]),
        ("models.api", "def f():\n    from plenum.committee import Ask", ["committee"]),
        ("models.simulated", "from ...committee import prompts", ["committee"]),
        ("committee", "from plenum import dynamics, tracking", ["dynamics", "tracking"]),
        ("reports", "from plenum.execution.outcomes import save_outcome", ["execution"]),
        ("execution", "if True:\n    import plenum.reports.tables", ["reports"]),
        ("tracking", "from ..dynamics import lyapunov", ["dynamics"]),
        ("scenarios", "from plenum.records import Failure", ["records"]),
        ("execution", "from plenum.cli import one_line_errors", ["cli"]),
        ("models", "from plenum.records import Failure\nimport numpy", []),
        ("committee", "from .prompts import turn\nfrom plenum.calls import Reply", []),
        ("execution", "from plenum import dynamics, __version__", []),
        ("dynamics", "from plenum_audit.execution import audit", ["execution"]),
        ("execution", "from plenum_worlds.registry import build", []),
    ],
)
def test_the_check_sees_forbidden_imports_alone(
    module: str, source: str, caught: list[str]
) -> None:
    assert forbidden(f"plenum.{module}.x", source) == caught


def test_the_laboratory_imports_none_of_its_siblings_and_names_none() -> None:
    pairs = architecture.package_imports(ROOT)
    assert {pair: found for pair, found in pairs.items() if pair[0] == "plenum"} == {}
    assert architecture.named_packages(ROOT) == {}


def test_a_sibling_imports_only_those_that_it_is_known_to() -> None:
    assert architecture.package_imports(ROOT).keys() == SIBLINGS.keys()


def test_imports_between_packages_are_seen_inside_functions_too(tmp_path: Path) -> None:
    for package, source in {
        "plenum": "def f():\n    from plenum_worlds import draws\n",
        "plenum_worlds": "import plenum\nPART = 'plenum_audit.kind:KIND'\n",
    }.items():
        folder = tmp_path / "src" / package
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(source)
        (folder / "draws.py").write_text("")
    pair = ("plenum", "plenum_worlds.draws")
    assert architecture.package_imports(tmp_path) == {("plenum", "plenum_worlds"): {pair}}
    named = architecture.named_packages(tmp_path, "plenum_worlds")
    assert named == {"plenum_worlds": {"plenum_audit"}}


def test_every_room_of_the_package_is_in_the_design() -> None:
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    modules = {path.stem for path in architecture.loose_files(ROOT)} - {"__init__"}
    assert rooms | modules <= ALLOWED.keys() | DOORS
    assert modules == {"cli", "callbacks"}


def test_every_package_and_room_has_a_face_that_says_what_it_is_for() -> None:
    assert architecture.without_face(ROOT) == []


def test_users_have_at_most_eighty_names() -> None:
    assert len(architecture.public_names(ROOT)) <= 80


def test_nobody_imports_past_a_face() -> None:
    assert architecture.imports_past_faces(ROOT) == []


def test_an_import_past_a_face_is_seen_and_one_of_the_own_package_s_top_is_none(
    tmp_path: Path,
) -> None:
    files = {
        "plenum/__init__.py": "",
        "plenum/records/__init__.py": "",
        "plenum/records/__init__.pyi": "from .journal import journal as journal",
        "plenum/records/journal.py": "def journal(): ...",
        "plenum/models/__init__.py": "",
        "plenum/models/chat.py": "def f():\n    from plenum.records.journal import journal",
        "plenum/models/retry.py": "from plenum.records import journal",
        "plenum_audit/__init__.py": "",
        "plenum_audit/gate.py": "__all__ = ['composed']",
        "plenum_audit/kind.py": "",
        "plenum_audit/reports/__init__.py": "",
        "plenum_audit/reports/page.py": "from plenum_audit import kind",
        "plenum_papers/__init__.py": "from plenum_audit import gate, kind",
        "../run.py": "from plenum.records.journal import journal",
        "../scripts/audit.py": "from plenum_audit.gate import composed",
        "../scripts/bench/overhead.py": "from plenum.records.journal import journal",
        "../scripts/bench/deployed.py": "from plenum.calls import chat",
    }
    for name, source in files.items():
        path = tmp_path / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    assert architecture.imports_past_faces(tmp_path) == [
        ("plenum.calls.chat", "plenum.records.journal"),
        ("plenum_papers", "plenum_audit.kind"),
        ("run.py", "plenum.records.journal"),
        ("scripts/bench/overhead.py", "plenum.records.journal"),
    ]


def test_nobody_imports_in_a_circle() -> None:
    assert architecture.import_circles(ROOT) == []


def test_circles_are_seen_under_type_checking_and_not_inside_functions(tmp_path: Path) -> None:
    package = tmp_path / "src/plenum"
    package.mkdir(parents=True)
    (package / "a.py").write_text("from plenum.b import B\n")
    (package / "b.py").write_text("if TYPE_CHECKING:\n    from plenum import a\n")
    (package / "c.py").write_text("from plenum import d\n")
    (package / "d.py").write_text("def f():\n    from plenum import c\n")
    assert architecture.import_circles(tmp_path) == [["plenum.a", "plenum.b"]]


def test_reports_know_of_a_world_only_how_it_is_shown(modules: dict[str, str]) -> None:
    """Labels and names of metrics stand in the world's folder; what runs it is none of theirs."""
    known = {
        name
        for module, source in modules.items()
        if room(module) == "reports"
        for name in imports(module, source)
        if room(name) == "worlds"
    }
    assert known == {"plenum_worlds.definition.Display", "plenum_worlds.registry.display"}


def test_dynamics_needs_nothing_but_numpy_scipy_and_statsmodels(modules: dict[str, str]) -> None:
    used = {
        name.split(".")[0]
        for module, source in modules.items()
        if room(module) == "dynamics"
        for name in imports(module, source)
    }
    siblings = {"plenum_rules", "plenum_verdicts", "plenum_worlds"}
    assert used - NUMERIC - siblings <= sys.stdlib_module_names


# --- kinds and worlds ----------------------------------------------------------------------------


def test_no_code_outside_of_a_worlds_folder_names_it() -> None:
    assert architecture.world_files(ROOT) == [ROOT / "src/plenum_worlds/registry.py"]


# --- random state and names ----------------------------------------------------------------------


def test_a_module_draws_from_no_global_random_state(modules: dict[str, str]) -> None:
    assert {module for module, source in modules.items() if global_draws(source)} == set()


def test_a_class_s_name_occurs_once() -> None:
    assert architecture.repeated_class_names(ROOT) == {}
