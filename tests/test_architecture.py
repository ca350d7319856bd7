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
    "plenum_audit.acting": "dynamics",
    "plenum_audit.design": "design",
    "plenum_audit.dynamics": "dynamics",
    "plenum_audit.execution": "execution",
    "plenum_audit.kind": "design",
    "plenum_audit.log_counts": "records",
    "plenum_audit.profiles": "dynamics",
    "plenum_audit.programs": "programs",
    "plenum_audit.readers": "records",
    "plenum_audit.reports": "reports",
    "plenum_audit.suites": "dynamics",
    "plenum_audit.tracking": "tracking",
    "plenum_checks": "doors",
    "plenum_checks.generators": "dynamics",
    "plenum_checks.wordings": "scenarios",
    "plenum_fit": "dynamics",
    "plenum_fit.figure": "reports",
    "plenum_fit.plans": "reports",
    "plenum_fit.fitted_agents": "execution",
    "plenum_fit.publish": "doors",
    "plenum_fit.released_runs": "doors",
    "plenum_fit.tables": "reports",
    "plenum_fleet": "execution",
    "plenum_fleet.buckets": "records",
    "plenum_fleet.recorded_estimates": "dynamics",
    "plenum_fleet.servers": "models",
    "plenum_fleet.settings": "design",
    "plenum_fleet.stored_estimates": "reports",
    "plenum_fleet.tracking": "tracking",
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
    "plenum_report": "reports",
    "plenum_rules": "reports",
    "plenum_rules.aggregation": "dynamics",
    "plenum_rules.committees": "dynamics",
    "plenum_rules.comparisons": "dynamics",
    "plenum_rules.live": "execution",
    "plenum_rules.stopping_rules": "dynamics",
    "plenum_worlds": "worlds",
    "plenum_worlds.dynamics": "dynamics",
    "plenum_worlds.estimates": "execution",
    "plenum_worlds.kind": "design",
    "plenum_worlds.released_rules": "doors",
    "plenum_worlds.reports": "reports",
    "plenum_worlds.settings": "design",
    "plenum_worlds.tracking": "tracking",
}
"""The layer of what lies in a sibling, by the longest name that fits: arrows run down there too."""
SIBLINGS = {
    ("hydra_plugins", "plenum_fleet"): "the launcher ray",
    ("plenum_checks", "plenum_fleet"): "ids of calls in batches, for the fault server",
    ("plenum_checks", "plenum_papers"): "published numbers beside the probe's",
    ("plenum_fit", "plenum_papers"): "the released runs that are fitted",
    ("plenum_papers", "plenum_worlds"): "numbered tables and figures of worlds",
    ("plenum_report", "plenum_worlds"): "the report of a study in worlds",
}
"""Which sibling may import which, and for what. None imports another one but these."""
BUDGETS = {
    "hydra_plugins": 250,
    "plenum": 34_250,
    "plenum_archive": 1_815,
    "plenum_audit": 23_760,
    "plenum_checks": 4_500,
    "plenum_fit": 1_940,
    "plenum_fleet": 5_280,
    "plenum_hosted": 3_495,
    "plenum_papers": 5_790,
    "plenum_report": 1_745,
    "plenum_rules": 1_330,
    "plenum_worlds": 8_410,
}
"""Lines of Python that a package has at most; raising one is a commit that says what for."""
TEMPLATES = {
    "hydra_plugins": 0,
    "plenum": 2_150,
    "plenum_archive": 130,
    "plenum_audit": 1_040,
    "plenum_checks": 130,
    "plenum_fit": 10,
    "plenum_fleet": 60,
    "plenum_hosted": 15,
    "plenum_papers": 190,
    "plenum_report": 1_010,
    "plenum_rules": 10,
    "plenum_worlds": 230,
}
"""Lines of templates (``.j2``) and of faces (``.pyi``) that a package has at most."""
ALLOWED: dict[str, set[str]] = {
    "base": set(),
    "records": {"base"},
    "dynamics": {"base"},
    "scenarios": {"base"},
    "design": {"base", "scenarios"},
    "models": {"base", "scenarios", "design", "records"},
    "committee": {"base", "scenarios", "design", "records", "models"},
    "worlds": {"base", "scenarios", "design", "records", "models"},
    "programs": {"base", "scenarios", "design", "records", "models"},
    "tracking": {"base", "scenarios", "design", "records"},
    "execution": {
        *("base", "scenarios", "design", "records", "models", "committee", "worlds", "programs"),
        *("tracking", "dynamics"),
    },
    # of worlds how one is shown, and nothing else: see the test of that
    "reports": {"base", "scenarios", "design", "records", "tracking", "dynamics", "worlds"},
}
"""The arrows of the design: what a room may import. They only run downwards."""
NUMERIC = {"numpy", "scipy", "statsmodels", "plenum", "lazy_loader"}
PANDAS_WRITERS = {"to_csv", "to_html", "to_latex", "to_markdown", "to_string"}
STANDARD_WRITERS = {"csv.writer", "csv.DictWriter"}
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


def table_writers(source: str) -> list[str]:
    """Uses of what writes tables: Rich's tables, pandas' writers, and the standard library's."""
    used = [name for name in imports("plenum.x", source) if name.startswith("rich.table.")]
    for node in architecture.list_nodes(architecture.parse(source)):
        if isinstance(node, ast.Attribute):
            name = ast.unparse(node)
            used += [name] * (
                node.attr in PANDAS_WRITERS or name in ("csv.writer", "csv.DictWriter")
            )
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
        ("committee", "from .prompts import turn\nfrom plenum.models import Reply", []),
        ("execution", "from plenum import dynamics, __version__", []),
        ("dynamics", "from plenum_audit.execution import audit", ["execution"]),
        ("reports", "from plenum_checks.calibration import KINDS", ["doors"]),
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


def test_every_package_keeps_to_its_budget_of_lines() -> None:
    for budgets, endings in ((BUDGETS, ("py",)), (TEMPLATES, ("j2", "pyi"))):
        held = architecture.package_lines(ROOT, endings)
        assert held.keys() == budgets.keys()
        assert {name: count for name, count in held.items() if count > budgets[name]} == {}


def test_contributing_has_a_row_for_each_package_with_what_it_may_import_and_its_budget() -> None:
    section = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("### Packages")[2]
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in section.splitlines()]
    budgets = {row[0].strip("`"): row for row in rows if len(row) == 6 and row[0].startswith("`")}
    for column, numbers in ((4, BUDGETS), (5, TEMPLATES)):
        held = {name: int(row[column].replace(",", "")) for name, row in budgets.items()}
        assert held == numbers
    for name, row in budgets.items():
        siblings = set(row[3].replace("`", "").split(", ")) - {"plenum", "no sibling"}
        assert siblings == {other for package, other in SIBLINGS if package == name}


def test_every_room_of_the_package_is_in_the_design() -> None:
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    modules = {path.stem for path in architecture.loose_files(ROOT)} - {"__init__"}
    assert rooms | modules <= ALLOWED.keys() | DOORS
    assert modules == {"cli", "callbacks"}


def test_every_package_and_room_has_a_face_that_says_what_it_is_for() -> None:
    assert architecture.without_face(ROOT) == []


def test_a_room_without_a_face_is_seen(tmp_path: Path) -> None:
    files = {
        "plenum/__init__.py": '"""A laboratory."""\n',
        "plenum/__init__.pyi": "__all__ = ['study']",
        "plenum/records/__init__.py": "__all__ = ['read']",
        "plenum/models/chat.py": "",
        "plenum/models/api/__init__.py": "",
        "plenum_audit/__init__.py": '"""Audits."""\n__all__ = []',
        "hydra_plugins/launcher.py": "",
    }
    for name, source in files.items():
        path = tmp_path / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    assert architecture.without_face(tmp_path) == [
        "plenum.models",
        "plenum.records",
        "plenum_audit",
    ]


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
        "../scripts/bench/kills.py": "from plenum.records.journal import journal",
        "../scripts/bench/retries.py": "from plenum.models import chat",
    }
    for name, source in files.items():
        path = tmp_path / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    assert architecture.imports_past_faces(tmp_path) == [
        ("plenum.models.chat", "plenum.records.journal"),
        ("plenum_papers", "plenum_audit.kind"),
        ("run.py", "plenum.records.journal"),
        ("scripts/bench/kills.py", "plenum.records.journal"),
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
    siblings = {"plenum_audit", "plenum_fit", "plenum_rules", "plenum_worlds"}
    assert used - NUMERIC - siblings <= sys.stdlib_module_names


# --- the heart -----------------------------------------------------------------------------------


def test_the_heart_is_read_in_an_afternoon_and_mentions_nothing_else() -> None:
    assert architecture.lines(architecture.heart(ROOT)) <= 4_700
    assert architecture.foreign_words(ROOT) == []


def test_a_call_is_few_frames_below_run_py() -> None:
    assert architecture.frames_per_call(ROOT) <= 14


def test_a_committee_loads_few_modules() -> None:
    assert architecture.modules_loaded(ROOT) <= 23


# --- kinds and worlds ----------------------------------------------------------------------------


def test_nobody_asks_which_kind_it_is_but_the_kinds() -> None:
    assert architecture.kind_branches(ROOT) == []


def test_no_code_outside_of_a_worlds_folder_names_it() -> None:
    assert architecture.world_files(ROOT) == [ROOT / "src/plenum_worlds/registry.py"]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("isinstance(job.condition, WorldCondition)", [1]),
        ("isinstance(task, Committee | World)", [1]),
        ("world_query.holds(study, uri)", [1]),
        ("episodes.of_world(transcript)", [1]),
        ("condition.is_world", [1]),
        ("'task' not in condition", [1]),
        ("typed.task.name != 'none'", [1]),
        ("condition.task is None", [1]),
        ("study.kind == 'world'", [1]),
        ("x = 1 if condition.task else 2", [1]),
        ("[c for c in conditions if not c.task and c.n]", [1]),
        ("if task:\n    pass", [1]),
        ("if head.get('task'):\n    pass", [1]),
        ("match condition.kind:\n    case 'world':\n        pass", [1]),
        ("KINDS[condition.kind].tables(study)", []),
        ("isinstance(entry, Mapping)", []),
        ("store.holds(study)", []),
        ("prompt.task == 'ballot'", []),
        ("entry['kind'] == 'turn'", []),
        ("import asyncio\nassert task is not None", []),
        ("task = condition.task", []),
    ],
)
def test_a_question_after_the_kind_is_counted(source: str, lines: list[int]) -> None:
    assert architecture.branches(source) == lines


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ('{% if kind == "world" -%}\n{%- endif %}', [1]),
        ('\n{% if kind != "world" %}{% endif %}', [2]),
        ("{% if f.world %}{% endif %}", [1]),
        ("{{ 'run' if x and not f.task else 'replicate' }}", [1]),
        ('{% for x in y if x.kind in ("committee", "coin") %}{% endfor %}', [1]),
        ("{% for kind in f.kinds %}{% if kind.fits %}{{ kind.world }}{% endif %}{% endfor %}", []),
        ('{% if kind.status == "world" %}{% endif %}', []),
    ],
)
def test_a_template_s_question_after_the_kind_is_counted(source: str, lines: list[int]) -> None:
    assert architecture.template_branches(source) == lines


def test_a_world_is_named_by_code_and_not_by_a_docstring() -> None:
    assert "a disaster" not in list(architecture.words('"""Of a disaster."""\n'))
    assert "disaster" in list(architecture.words("METRICS = {'disaster': 1}"))


# --- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "caught"),
    [
        ("from rich.table import Table as Grid", ["rich.table.Table"]),
        ("frame.to_csv(index=False)", ["frame.to_csv"]),
        ("frame[names].to_markdown()", ["frame[names].to_markdown"]),
        ("import csv\ncsv.writer(file)", ["csv.writer"]),
        ("import csv\ncsv.DictReader(file)", []),
        ("from plenum.reports.table import Table, csv\ncsv(frame)", []),
    ],
)
def test_the_check_sees_every_way_to_write_a_table(source: str, caught: list[str]) -> None:
    assert table_writers(source) == caught


def test_tables_have_one_renderer_a_format(modules: dict[str, str]) -> None:
    written = {module: table_writers(source) for module, source in modules.items()}
    assert {module: used for module, used in written.items() if used} == {
        "plenum.reports.table": ["frame.assign(**several).to_csv"],
        "plenum.reports.terminal_tables": ["rich.table.Table"],
        "plenum.reports.latex": ["styled.to_latex"],
    }


# --- random state and names ----------------------------------------------------------------------


def test_a_module_draws_from_no_global_random_state(modules: dict[str, str]) -> None:
    assert {module for module, source in modules.items() if global_draws(source)} == set()


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


def test_public_names_keep_to_the_stop_list() -> None:
    assert architecture.stopped_names(ROOT) == set()


def test_the_stop_list_sees_every_sort_of_public_name(tmp_path: Path) -> None:
    package = tmp_path / "src/plenum"
    package.mkdir(parents=True)
    (package / "a.py").write_text(
        "LAST_ASKED = 1\n_FOUND = 2\nfoundation = 3\n"
        "class Row:\n    told: str\n    def _said(self): ...\n    async def own(self, one): ...\n"
        "class _Row:\n    told: str\n"
        "def all_found():\n    there = 1\n"
    )
    names = {"LAST_ASKED", "Row.told", "Row.own", "all_found"}
    assert architecture.stopped_names(tmp_path) == {f"plenum/a.py: {name}" for name in names}


def test_functions_are_verbs_and_modules_and_classes_nouns() -> None:
    assert architecture.names_of_states(ROOT) == []


def test_a_participle_is_no_name_of_a_function_a_class_or_a_module(tmp_path: Path) -> None:
    package = tmp_path / "src/plenum"
    package.mkdir(parents=True)
    (package / "managing.py").write_text("def count(): ...\nclass Stopped(Exception): ...\n")
    (package / "a.py").write_text(
        "def counted(): ...\nasync def _shown_by(): ...\ndef seed(): ...\nclass Held: ...\n"
        "class Row:\n    @property\n    def known(self): ...\n    def given(self): ...\n"
    )
    names = ["a.py: Held", "a.py: _shown_by", "a.py: counted", "a.py: given", "managing.py"]
    assert sorted(architecture.names_of_states(tmp_path)) == [f"plenum/{name}" for name in names]


def test_no_docstring_opens_with_a_question_s_word() -> None:
    assert list(architecture.questions(ROOT)) == []


def test_a_class_s_name_occurs_once() -> None:
    assert architecture.repeated_class_names(ROOT) == {}


def test_classes_of_one_name_are_counted_wherever_they_are_defined(tmp_path: Path) -> None:
    package = tmp_path / "src/plenum"
    package.mkdir(parents=True)
    (package / "a.py").write_text("class Row: ...\nclass Table: ...\nclass _Line: ...\n")
    (package / "b.py").write_text("def f():\n    class Row: ...\nclass _Line: ...\n")
    assert architecture.repeated_class_names(tmp_path) == {"Row": 2}


# --- expressions ---------------------------------------------------------------------------------


def test_no_condition_is_written_as_a_product() -> None:
    assert architecture.products_with_truths(ROOT) == []


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("'s' * (n != 1)", [1]),
        ("(not x) * 'y'", [1]),
        ("[a] * bool(b)", [1]),
        ("0.3 * (columns < 3)", [1]),
        ("f'{left} more' * any(x)", [1]),
        ("('a',) * (x > 1 and not y)", [1]),
        ("alike = a == b\n['a'] * alike", [2]),
        ("def f(alike: bool):\n    return ['a'] * alike", [2]),
        ("class A:\n    gone: bool\n    def f(self):\n        return 'a' * self.gone", [4]),
        ("def g() -> bool: ...\n(1,) * g()", [2]),
        ("f\"{'s' * (n > 1)}\"", [1]),
        ("'-' * width", []),
        ("[0] * len(x) + [None] * (n - 1)", []),
        ("cost * (amount or 0.0)", []),
        ("a * alike", []),
    ],
)
def test_a_product_with_a_truth_value_is_seen(source: str, lines: list[int]) -> None:
    assert architecture.truth_products(source) == lines


def test_no_literal_and_no_conditional_is_unpacked_where_it_is_written() -> None:
    assert architecture.packed_literals(ROOT) == []


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("x = (*('a', 'b'), 'c')", [1]),
        ("x = [\n    *('a', 'b'),\n    *['c'],\n]", [2, 3]),
        ("f(*(a, b), c=1)", [1]),
        ("x = {'a': 1, **{'b': 2}}", [1]),
        ("f(**{'b': 2})", [1]),
        ("f(**{**x, 'b': 2})", [1]),
        ("f(**{f'{name}_s': 2}, **{'a.b': 3})", []),
        ("x = [a, *([b] if c else [])]", [1]),
        ("x = {**a, **({'b': 2} if c else {})}", [1]),
        ("f(*(a if c else b), **({} if c else d))", [1, 1]),
        ("x = (*a, *f(), *(d for d in e))", []),
        ("x = {**a, **f(), **{d: 1 for d in e}}", []),
    ],
)
def test_an_unpacked_literal_or_conditional_is_seen(source: str, lines: list[int]) -> None:
    assert architecture.packings(source) == lines
