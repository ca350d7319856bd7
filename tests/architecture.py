"""Questions about the source, which is parsed: worlds, random state, names.

``tests/test_architecture.py`` holds the answers; who may import whom is import-linter's, whose
contracts stand in ``pyproject.toml``. Every function takes the root of a checkout.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

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


def _dotted(path: Path, root: Path) -> str:
    parts = path.relative_to(root / "src").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@lru_cache(maxsize=4096)
def imports(tree: ast.Module) -> tuple[str, ...]:
    """Dotted names that a module imports, also inside functions; nobody imports relatively."""
    return tuple(
        f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
        for node in list_nodes(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    )


# --- packages ----------------------------------------------------------------------------------


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


def without_docstring(root: Path) -> list[str]:
    """Packages and rooms whose ``__init__.py`` is missing or doesn't say what they are for.

    ``hydra_plugins`` has none: Hydra finds plugins of several distributions in it. The ``client``
    is a folder on the path of somebody's program, and no package.
    """
    free = {root / "src/hydra_plugins", root / "src/plenum_audit/programs/client"}
    folders = {path.parent for path in sources(root)} - free
    found = []
    for folder in sorted(folders):
        face = folder / "__init__.py"
        text = face.read_text(encoding="utf-8") if face.is_file() else ""
        if not ast.get_docstring(parse(text)):
            found.append(".".join(folder.relative_to(root / "src").parts))
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
