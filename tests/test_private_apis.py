"""What isn't documented of Hydra, MLflow, Ray and LiteLLM is used as listed, and still exists."""

import ast
import contextlib
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from private_apis import DOCUMENTED, PRIVATE

from plenum.calls.api.litellm_import import litellm  # which fetches nothing then

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = ("hydra", "litellm", "mlflow", "omegaconf", "ray")
PUBLIC = {"_exit", "_replace", "_asdict", "_fields", "_make"}
"""Names with an underscore that Python itself documents."""


def trees() -> dict[Path, ast.Module]:
    files = [ROOT / "run.py", *ROOT.glob("scripts/**/*.py"), *ROOT.glob("src/**/*.py")]
    return {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}


def imported(tree: ast.AST) -> Iterator[str]:
    """Undocumented modules that are imported, and names that are imported from them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if undocumented(name.name))
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for name in node.names:
                if undocumented(f"{node.module}.{name.name}") and is_module(
                    f"{node.module}.{name.name}"
                ):
                    yield f"{node.module}.{name.name}"
                elif undocumented(node.module):
                    yield f"{node.module}:{name.name}"


def undocumented(module: str) -> bool:
    return module.partition(".")[0] in LIBRARIES and module not in DOCUMENTED


def is_module(path: str) -> bool:
    parent, _, name = path.rpartition(".")
    try:
        within = importlib.import_module(parent)
        found = getattr(within, name, None) or importlib.import_module(path)
    except ImportError:
        return False
    return inspect.ismodule(found)  # hydra.main is a function, too


def reached(tree: ast.AST) -> Iterator[str]:
    """Undocumented modules that are reached by a library's name, as ``litellm.utils``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and first_name(node) in LIBRARIES:
            path = ast.unparse(node)
            if path.isascii() and undocumented(path) and is_module(path):
                yield path


def first_name(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def own_names(tree: ast.AST) -> Iterator[str]:
    """Names that the code gives to something itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield from [node.attr] if ast.unparse(node.value) in ("self", "cls") else []


def attributes(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            yield node.attr


def private_attributes(parsed: dict[Path, ast.Module]) -> set[str]:
    """Attributes with a leading underscore that the code reads and doesn't define."""
    own = {name for tree in parsed.values() for name in own_names(tree)}
    read = {name for tree in parsed.values() for name in attributes(tree)}
    return {name for name in read - own - PUBLIC if not name.startswith("__")}


def attribute(entry: str) -> str:
    return entry.replace(":", ".").rpartition(".")[2]


def test_what_is_used_and_not_documented_is_listed_with_its_reason() -> None:
    parsed = trees()
    used = {name for tree in parsed.values() for find in (imported, reached) for name in find(tree)}
    assert used - PRIVATE.keys() == set()
    names = private_attributes(parsed)
    assert names - {attribute(entry) for entry in PRIVATE} == set()
    gone = [entry for entry in PRIVATE if entry not in used and attribute(entry) not in names]
    assert gone == [], "no longer used: delete it from the list"
    assert all(why.strip() for why in PRIVATE.values())


@pytest.mark.parametrize("entry", PRIVATE)
def test_what_is_listed_exists_in_the_installed_version(entry: str) -> None:
    pytest.importorskip(entry.partition(":")[0].partition(".")[0])
    module, _, name = entry.partition(":")
    importlib.import_module(module)
    owner, _, last = name.rpartition(".")
    if owner and not hasattr(pkgutil.resolve_name(f"{module}:{owner}"), last):
        source = ""
        for kind in pkgutil.resolve_name(f"{module}:{owner}").__mro__:
            with contextlib.suppress(OSError, TypeError):  # plenum puts a subclass in its place
                source += inspect.getsource(kind)
        assert f"self.{last} " in source or f"self.{last}:" in source  # it is made with an instance
    else:
        pkgutil.resolve_name(entry if name else module)


def test_a_use_that_is_not_listed_is_found() -> None:
    tree = ast.parse(
        "import litellm, ray._raylet\n"
        "from hydra._internal import utils\n"
        "from mlflow.store.tracking.rest_store import RestStore\n"
        "from mlflow.entities import Metric\n"
        "litellm.utils.token_counter(); client._hidden()\n"
    )
    assert set(imported(tree)) == {
        "ray._raylet",
        "hydra._internal.utils",
        "mlflow.store.tracking.rest_store:RestStore",
    }
    assert litellm.utils  # it is a module
    assert set(reached(tree)) == {"litellm.utils"}
    assert private_attributes({Path("a.py"): tree}) == {"_hidden"}
