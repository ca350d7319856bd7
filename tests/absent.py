"""Test files that need a package of this project which isn't installed, as an extension may be."""

import ast
from functools import cache
from importlib.util import find_spec
from pathlib import Path

TESTS = Path(__file__).resolve().parent


@cache
def needed(file: Path) -> frozenset[str]:
    """The packages ``plenum_...`` that a test file or one of its helpers imports at its top."""
    found: set[str] = set()
    for name in _imported(file):
        first = name.partition(".")[0]
        if first.startswith("plenum_"):
            found.add(first)
            continue
        for folder in (file.parent, TESTS):
            helper = folder / f"{first}.py"
            if helper != file and helper.is_file():
                found |= needed(helper)
    return frozenset(found)


def absent(file: Path) -> list[str]:
    """Those of them that aren't here."""
    return [name for name in sorted(needed(file)) if not is_here(name)]


def is_here(name: str) -> bool:
    """Return whether a package can be imported."""
    spec = find_spec(name)
    return spec is not None and spec.origin is not None  # a folder of tests has the same name


def _imported(file: Path) -> list[str]:
    names = []
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module)
    return names
