"""The packages' faces: names that users import, where they are documented, and that they work.

``plenum`` and ``plenum_audit`` have faces for users, each name imported when it is first used; an
``__init__.py`` of any other package or room says what it is for. Everybody else, tests too, imports
a name from its module.
"""

import doctest
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import architecture
import pytest

ROOT = Path(__file__).resolve().parents[1]
USERS = [importlib.import_module(package) for package in architecture.USERS]
STUDIES = {"study", "sweep", "UserError"}
"""Names whose examples need a study: tests/plenum/e2e/test_notebook.py runs these."""
NAMES = [(package, name) for package in USERS for name in package.__all__]


def sections(text: str) -> list[str]:
    """The headings of a numpydoc docstring."""
    return re.findall(r"^([A-Z]\w+)\n-+$", text, re.M)


@pytest.mark.parametrize(("package", "name"), NAMES, ids=[name for _, name in NAMES])
def test_a_name_says_what_it_takes_and_gives_and_has_an_example(package: object, name: str) -> None:
    documented = inspect.getdoc(getattr(package, name)) or ""
    wanted = ["Parameters", "Returns", "Examples"] if name != "UserError" else ["Examples"]
    assert [part for part in sections(documented) if part in wanted] == wanted
    assert ">>> " in documented
    assert "+SKIP" not in documented


EXAMPLES = [(package, name) for package, name in NAMES if name not in STUDIES]


@pytest.mark.parametrize(("package", "name"), EXAMPLES, ids=[name for _, name in EXAMPLES])
def test_the_example_of_a_name_shows_what_it_gives(
    package: object, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = doctest.DocTestFinder(recurse=False).find(getattr(package, name), name, globs={})
    printed: list[str] = []
    done = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=printed.append)
    assert done.attempted
    assert not done.failed, "".join(printed)


def test_the_reference_lists_every_name_that_users_import() -> None:
    page = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^::: (plenum\w*\.\w+)$", page, re.M)
    names = [f"{package.__name__}.{name}" for package, name in NAMES]
    assert sorted(listed) == sorted(names)
    tables = re.sub(r"^:::.*$", "", page, flags=re.M)
    assert [name for name in names if f"`{name}`" not in tables] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        importlib.import_module("plenum").no_such_name  # noqa: B018


def test_importing_plenum_loads_nothing_of_it() -> None:
    code = "import sys, plenum; print([m for m in sys.modules if m.startswith('plenum.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
