"""Questions about the source, which is parsed: who imports whom, worlds, names.

``tests/test_architecture.py`` holds the answers. Every function takes the root of a checkout.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import networkx as nx  # type: ignore[import-untyped]

PACKAGES = (
    "src/plenum",
    "src/plenum_archive",
    "src/plenum_audit",
    "src/plenum_fleet",
    "src/plenum_hosted",
    "src/plenum_papers",
    "src/plenum_rules",
    "src/plenum_verdicts",
    "src/plenum_worlds",
    "src/hydra_plugins",
)
"""The laboratory, its siblings, and Hydra's plugins; a checkout may have fewer of them."""
WORLDS = ("disaster", "misinformation", "public_goods")


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

    Such as ``plenum.dynamics.meta_analysis.pool``, a function, and ``plenum.dynamics.meta_analysis.pool``.
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
