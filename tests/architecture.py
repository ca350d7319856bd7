"""Questions about the source, which is parsed: who imports whom, who asks for the kind, names.

``tests/test_architecture.py`` holds the answers. Every function takes the root of a checkout.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
from jinja2 import Environment, nodes

PACKAGES = (
    "src/plenum",
    "src/plenum_archive",
    "src/plenum_audit",
    "src/plenum_fleet",
    "src/plenum_hosted",
    "src/plenum_papers",
    "src/plenum_rules",
    "src/plenum_worlds",
    "src/hydra_plugins",
)
"""The laboratory, its siblings, and Hydra's plugins; a checkout may have fewer of them."""
KINDS = ("committee", "world", "program")
WORLDS = ("disaster", "misinformation", "public_goods")
_ROOMS = {name for kind in KINDS for name in (kind, f"{kind}s")}
_FORMER = ("world_condition", "world_config", "world_compose")
_TYPES = {"Condition", *(kind.capitalize() + rest for kind in KINDS for rest in ("", "Condition"))}
_QUESTIONS = {f"{verb}_{kind}" for verb in ("is", "of") for kind in KINDS}
_NONE = {"none", "None"}


@lru_cache(maxsize=2048)
def parse(source: str) -> ast.Module:
    """Parse a module's source, once for all counts; nobody may change the tree."""
    return ast.parse(source)


@lru_cache(maxsize=2048)
def list_nodes(tree: ast.Module) -> list[ast.AST]:
    """List all nodes of a parsed module, once for all counts."""
    return list(ast.walk(tree))


def sources(root: Path) -> list[Path]:
    """Every Python file of the packages and of Hydra's plugins."""
    return sorted(path for package in PACKAGES for path in (root / package).rglob("*.py"))


def loose_files(root: Path) -> list[Path]:
    """Python files at the top of the package."""
    return sorted((root / "src/plenum").glob("*.py"))


# --- kinds -------------------------------------------------------------------------------------


def kind_branches(root: Path) -> list[str]:
    """Places outside the kinds' own files that ask which kind something is, as ``file:line``.

    Own files lie in a room or have a name of a kind (``committee/``, ``worlds/``,
    ``execution/worlds.py``), or are the former modules of a world's condition. Counted elsewhere:

    - ``isinstance(x, T)`` where T is a condition's class or a kind's
    - calls of ``world_query.holds``, of ``is_world``, ``of_world`` and such, and ``x.is_world``
    - ``"task" in x``, ``x.get("task")`` in a test, ``task.name != "none"``, ``x.kind == "world"``
      and ``match x.kind``
    - ``x.task`` or ``task`` alone as a test, and ``x.task is None``; in a module that imports
      asyncio ``task`` is taken for one of its tasks
    - in templates ``kind == "world"``, ``task != "none"``, and ``x.world`` or ``task`` as a test
    """
    templates = sorted(path for package in PACKAGES for path in (root / package).rglob("*.j2"))
    asked = [(path, branches) for path in sources(root)]
    asked += [(path, template_branches) for path in templates]
    return [
        f"{path.relative_to(root)}:{line}"
        for path, count in asked
        if not _belongs_to_a_kind(path.relative_to(root))
        for line in count(path.read_text(encoding="utf-8"))
    ]


def branches(source: str) -> list[int]:
    """Lines of a module's source that ask for the kind."""
    tree = parse(source)
    imported = (n for node in list_nodes(tree) if isinstance(node, ast.Import) for n in node.names)
    if any(alias.name == "asyncio" for alias in imported):
        tree = _WithoutTasks().visit(ast.parse(source))
    found = {node.lineno for node in list_nodes(tree) if isinstance(node, ast.expr) and _asks(node)}
    for node in list_nodes(tree):
        if isinstance(node, ast.Match) and _last_name(node.subject) in ("kind", "task"):
            found.add(node.lineno)
        found |= {test.lineno for test in _tests(node) if _is_a_task(test)}
    return sorted(found)


class _WithoutTasks(ast.NodeTransformer):
    """Renames the variable ``task``."""

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name("_", node.ctx), node) if node.id == "task" else node


def template_branches(source: str) -> list[int]:
    """Lines of a Jinja template that ask for the kind."""
    tree = Environment().parse(source)
    deciding: Iterator[Any] = tree.find_all((nodes.If, nodes.CondExpr, nodes.For))
    tests = [part for node in deciding if node.test for part in _template_operands(node.test)]
    asking = [test for test in tests if _template_name(test) in {*KINDS, "task"}]
    for compared in tree.find_all(nodes.Compare):
        sides = [compared.expr, *(operand.expr for operand in compared.ops)]
        names = {_template_name(side) for side in sides}
        constants = {str(constant.value) for constant in compared.find_all(nodes.Const)}
        if ("kind" in names and constants & set(KINDS)) or ("task" in names and constants & _NONE):
            asking.append(compared)
    return sorted({node.lineno for node in asking})


def _template_operands(test: nodes.Node) -> Iterator[nodes.Node]:
    if isinstance(test, nodes.And | nodes.Or | nodes.Not):
        for part in test.iter_child_nodes():
            yield from _template_operands(part)
    else:
        yield test


def _template_name(node: nodes.Node) -> str:
    return str(getattr(node, "attr", getattr(node, "name", "")))


def _belongs_to_a_kind(path: Path) -> bool:
    parts = {*path.parts[:-1], path.stem}
    return bool(parts & {*_ROOMS, "plenum_audit", "plenum_worlds"}) or path.stem.startswith(_FORMER)


def _asks(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return _asks_by_call(node)
    if isinstance(node, ast.Attribute):
        return node.attr in _QUESTIONS and node.attr.startswith("is_")
    return isinstance(node, ast.Compare) and _asks_by_comparison(node)


def _asks_by_call(node: ast.Call) -> bool:
    name = _last_name(node.func)
    if name == "isinstance":
        types = node.args[1]
        parts = types.elts if isinstance(types, ast.Tuple) else [types]
        if isinstance(types, ast.BinOp):
            parts = [types.left, types.right]
        return any(_last_name(part) in _TYPES for part in parts)
    if name == "holds" and isinstance(node.func, ast.Attribute):
        return _last_name(node.func.value) == "world_query"
    return name in _QUESTIONS


def _asks_by_comparison(node: ast.Compare) -> bool:
    sides = [node.left, *node.comparators]
    constants = {side.value for side in sides if isinstance(side, ast.Constant)}
    names = {_last_name(side) for side in sides}
    if isinstance(node.ops[0], ast.In | ast.NotIn):
        return isinstance(node.left, ast.Constant) and node.left.value == "task"
    if "kind" in names and (constants & set(KINDS) or names & {kind.upper() for kind in KINDS}):
        return True
    task = any(_is_a_task(side) or _is_a_task(_value_of(side)) for side in sides)
    return task and bool({str(constant) for constant in constants} & _NONE)


def _tests(node: ast.AST) -> Iterator[ast.expr]:
    """Expressions whose truth decides."""
    if isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert):
        yield from _operands(node.test)
    elif isinstance(node, ast.comprehension):
        for condition in node.ifs:
            yield from _operands(condition)
    elif isinstance(node, ast.Call) and _last_name(node.func) == "bool":
        yield from (part for argument in node.args for part in _operands(argument))


def _operands(test: ast.expr) -> Iterator[ast.expr]:
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _operands(value)
    elif isinstance(test, ast.UnaryOp):
        yield from _operands(test.operand)
    else:
        yield test


def _is_a_task(node: ast.expr | None) -> bool:
    if isinstance(node, ast.Call):  # head.get("task")
        return (
            _last_name(node.func) == "get"
            and bool(node.args)
            and isinstance(node.args[0], ast.Constant)
            and node.args[0].value == "task"
        )
    return _last_name(node) == "task"


def _value_of(node: ast.expr) -> ast.expr | None:
    """``x.task`` of ``x.task.name``."""
    return node.value if isinstance(node, ast.Attribute) and node.attr == "name" else None


def _last_name(node: ast.expr | None) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


# --- worlds ------------------------------------------------------------------------------------


def world_files(root: Path) -> list[Path]:
    """Source files outside a world's folder whose code names it; docstrings don't count."""
    named = re.compile(rf"(?<![a-z_])({'|'.join(WORLDS)})")
    return [
        path
        for path in sources(root)
        if not any(f"worlds/{world}/" in path.as_posix() for world in WORLDS)
        and any(named.search(word) for word in words(path.read_text(encoding="utf-8")))
    ]


def words(source: str) -> Iterator[str]:
    """Names, imported modules and strings of a module, without its docstrings and comments."""
    tree = parse(source)
    documentation = {
        id(node.value)
        for node in list_nodes(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in list_nodes(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from () if id(node) in documentation else (node.value,)
        for field in ("id", "attr", "arg", "name", "module", "asname"):
            if isinstance(value := getattr(node, field, None), str):
                yield value


# --- imports -----------------------------------------------------------------------------------


def import_circles(root: Path) -> list[list[str]]:
    """Modules that import each other: at the top of a module, under TYPE_CHECKING too.

    ``from plenum.records import journal`` leads to the module ``plenum.records.journal`` alone,
    ``from plenum.records import Failure`` to the package's face. Imports inside functions don't
    count.
    """
    modules = {_dotted(path, root): path for path in sources(root)}
    graph = nx.DiGraph()
    for module, path in modules.items():
        package = module if path.stem == "__init__" else module.rpartition(".")[0]
        tree = parse(path.read_text(encoding="utf-8"))
        for name in imports(tree, package, inside_functions=False):
            target = name if name in modules else name.rpartition(".")[0]
            if target in modules and target != module:
                graph.add_edge(module, target)
    circles = [sorted(found) for found in nx.strongly_connected_components(graph) if len(found) > 1]
    return sorted(circles)


def _dotted(path: Path, root: Path) -> str:
    parts = path.relative_to(root / "src").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@lru_cache(maxsize=4096)
def imports(tree: ast.Module, package: str, inside_functions: bool = True) -> tuple[str, ...]:
    """Dotted names that a module of a package imports."""
    return tuple(_find_imports(tree, package, inside_functions))


def _find_imports(tree: ast.Module, package: str, inside_functions: bool) -> Iterator[str]:
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level]
            base = above if node.level else []
            stem = ".".join([*base, node.module] if node.module else base)
            yield from (f"{stem}.{alias.name}" for alias in node.names)
        elif inside_functions or not isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        ):
            todo += list(ast.iter_child_nodes(node))


# --- packages ----------------------------------------------------------------------------------


def package_imports(root: Path) -> dict[tuple[str, str], set[tuple[str, str]]]:
    """Imports between packages, by importer and imported: pairs of modules.

    Imports inside functions count. What everybody imports, ``plenum`` itself, is left out.
    """
    modules = {_dotted(path, root): path for path in sources(root)}
    found: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for module, path in modules.items():
        package = module if path.stem == "__init__" else module.rpartition(".")[0]
        for name in imports(parse(path.read_text(encoding="utf-8")), package):
            target = name if name in modules else name.rpartition(".")[0]
            pair = module.split(".")[0], target.split(".")[0]
            if target in modules and pair[0] != pair[1] and pair[1] != "plenum":
                found.setdefault(pair, set()).add((module, target))
    return found


def named_packages(root: Path, package: str = "plenum") -> dict[str, set[str]]:
    """The siblings that a package's code names in a string, such as a dotted path, by module."""
    siblings = {Path(each).name for each in PACKAGES} - {package, "plenum", "hydra_plugins"}
    named = re.compile(rf"\b({'|'.join(sorted(siblings))})\b")
    found = {
        _dotted(path, root): {
            m[1] for word in words(path.read_text(encoding="utf-8")) for m in named.finditer(word)
        }
        for path in sources(root)
        if path.is_relative_to(root / "src" / package)
    }
    return {module: names for module, names in found.items() if names}


# --- names -------------------------------------------------------------------------------------

STOPPED = {"told", "found", "own", "one", "said", "made", "there", "asked", "asking", "desk"}
"""Words that name nothing to somebody who meets them first in a traceback."""


def stopped_names(root: Path) -> set[str]:
    """Public names that are such a word or end in one, as ``reports/rows.py: Row.told``.

    Functions, classes, methods, fields and constants count; locals and arguments don't.
    """
    return {
        f"{path.relative_to(root / 'src')}: {name}"
        for path in sources(root)
        for name in _public_names(parse(path.read_text(encoding="utf-8")).body)
        if name.rpartition(".")[2].lower().rpartition("_")[2] in STOPPED
    }


def _public_names(body: list[ast.stmt], prefix: str = "") -> Iterator[str]:
    for node in body:
        names: list[str] = []
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [
                t.id for target in targets for t in ast.walk(target) if isinstance(t, ast.Name)
            ]
        public = [f"{prefix}{name}" for name in names if not name.startswith("_")]
        yield from public
        if isinstance(node, ast.ClassDef) and public:
            yield from _public_names(node.body, f"{public[0]}.")
        elif isinstance(node, ast.If | ast.Try | ast.With):
            yield from _public_names(node.body, prefix)


USERS = ("plenum", "plenum_audit")
"""The packages whose faces are for users, who find each name in ``docs/api.md``."""


def public_names(root: Path) -> set[str]:
    """Names that users may import: ``__all__`` of the packages for users, as ``plenum.study``.

    The faces of other packages are for scripts and siblings, those of rooms for other rooms; these
    don't count.
    """
    faces = {package: root / f"src/{package}/__init__.py" for package in USERS}
    return {
        f"{package}.{name}"
        for package, face in faces.items()
        if face.is_file()
        for name in listed_names(face)
    }


def listed_names(module: Path) -> list[str]:
    """Read ``__all__`` from a module's stub, or from the module where it has none."""
    stub = module.with_suffix(".pyi")
    source = (stub if stub.is_file() else module).read_text(encoding="utf-8")
    lists = (
        node.value
        for node in parse(source).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    return list(ast.literal_eval(next(lists, ast.List([]))))


def without_face(root: Path) -> list[str]:
    """Packages and rooms without an ``__init__.py`` with a docstring and a list of names.

    ``hydra_plugins`` has none: Hydra finds plugins of several distributions in it.
    """
    folders = {path.parent for path in sources(root)} - {root / "src/hydra_plugins"}
    found = []
    for folder in sorted(folders):
        face, parts = folder / "__init__.py", folder.relative_to(root / "src").parts
        if len(parts) > 2:  # inside a room
            continue
        text = face.read_text(encoding="utf-8") if face.is_file() else ""
        if not ast.get_docstring(parse(text)) or not listed_names(face):
            found.append(".".join(parts))
    return found


def repeated_class_names(root: Path) -> dict[str, int]:
    """Names of classes that are defined more than once, and how often."""
    counts = Counter(
        node.name
        for path in sources(root)
        for node in list_nodes(parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return {name: count for name, count in sorted(counts.items()) if count > 1}


def imports_past_faces(root: Path) -> list[tuple[str, str]]:
    """Imports of a module from outside its room where the room's face would do.

    A room is a folder at the top of a package, and a package's own top; its face is the
    ``__init__.py``. A module at the top that lists ``__all__`` is a face itself. What stands at the
    top of a package is common to the package's rooms: they need no face for it, other packages and
    scripts do. A benchmark may reach for what no face has. Pairs of the importing module and the
    module that it reaches into.
    """
    modules = {_dotted(path, root): path for path in sources(root)}
    scripts = [root / "run.py", *sorted((root / "scripts").rglob("*.py"))]
    importing = {path.relative_to(root).as_posix(): path for path in scripts if path.is_file()}
    faced, found = _faced_names(modules), set()
    for module, path in {**modules, **importing}.items():
        package = module if path.stem == "__init__" else module.rpartition(".")[0]
        for name in imports(parse(path.read_text(encoding="utf-8")), package):
            above = name.rpartition(".")[0]
            target = name if name in modules and name not in faced else above
            own = {_room(module, modules), module.split(".")[0]}
            if target not in modules or _room(target, modules) in own:
                continue
            if module.startswith("scripts/bench/") and name not in faced.values():
                continue
            if modules[target].stem != "__init__" and not (
                target.count(".") == 1 and listed_names(modules[target])
            ):
                found.add((module, target))
    return sorted(found)


def _faced_names(modules: dict[str, Path]) -> dict[str, str]:
    """Dotted names in the stubs of faces, and where each is defined.

    Such as ``plenum.dynamics.pool``, a function, and ``plenum.dynamics.meta_analysis.pool``.
    """
    stubs = {module: path.with_suffix(".pyi") for module, path in modules.items()}
    return {
        f"{module}.{alias.name}": ".".join(filter(None, (module, node.module, alias.name)))
        for module, stub in stubs.items()
        if stub.name == "__init__.pyi" and stub.is_file()
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _room(module: str, modules: dict[str, Path]) -> str:
    """``plenum.records`` of ``plenum.records.journal``, or a package whose loose file it is."""
    parts = module.split(".")
    room = ".".join(parts[:2])
    return room if room in modules and modules[room].stem == "__init__" else parts[0]
