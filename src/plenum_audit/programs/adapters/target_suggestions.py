"""Suggestions of a program's function, by the names in its source, which isn't executed."""

import ast
from collections.abc import Iterator
from pathlib import Path

from plenum.base.regular_files import require_regular_file

_SHOWN = 5


def nameless(place: str) -> str:
    """Return advice for a target without a name, listing the names in its file.

    Parameters
    ----------
    place
        ``FILE.py`` or a module.
    """
    if not place.endswith(".py"):
        return "FILE.py:NAME or MODULE:NAME is needed"
    if problem := unreadable(place):
        return f"FILE.py:NAME is needed, and {problem}"
    targets = " or ".join(f"committee={place}:{name}" for name in _names(Path(place))[:_SHOWN])
    script = f"""a script is run by 'committee.command="python {place} {{case}}"'"""
    if not targets:
        return f"FILE.py:NAME is needed, and it holds no function of a case and a run; {script}"
    return f"name its function: {targets}; {script}"


def unreadable(place: str) -> str:
    """Say why a program's file can't be read; an empty text if it can."""
    try:
        require_regular_file(Path(place))
    except FileNotFoundError:
        return f"there is no file {place}"
    except OSError as error:  # a pipe, for one, which reading would wait for
        return f"{place} can't be read: {error.strerror}" if error.strerror else str(error)
    return ""


def _names(file: Path) -> list[str]:
    """Return names whose arguments fit a case and a run; all functions if none fits."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError, RecursionError):
        return []
    functions = [node for node in tree.body if isinstance(node, _FUNCTIONS)]
    public = [node for node in functions if not node.name.startswith("_")]
    fitting = [node for node in public if _takes_two(node)]
    cases = [node for node in fitting if node.args.args and node.args.args[0].arg == "case"]
    found = [*(node.name for node in cases), *_classes(tree)]
    return found or [node.name for node in fitting or public]


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _classes(tree: ast.Module) -> Iterator[str]:
    """Yield classes with a method ``deliberate``."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any(
            isinstance(each, _FUNCTIONS) and each.name == "deliberate" for each in node.body
        ):
            yield node.name


def _takes_two(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether two positional arguments fit."""
    most = len(node.args.posonlyargs) + len(node.args.args)
    return most - len(node.args.defaults) <= 2 <= most
