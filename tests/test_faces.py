"""The packages' faces: names that users import, loaded when they are first used."""

import importlib
import subprocess
import sys

import pytest

import plenum
import plenum_audit


@pytest.mark.parametrize("package", [plenum, plenum_audit], ids=lambda p: str(p.__name__))
def test_every_name_of_a_face_is_there(package: object) -> None:
    names = package.__all__
    assert names
    assert [name for name in names if not callable(getattr(package, name))] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        importlib.import_module("plenum").no_such_name  # noqa: B018


def test_importing_plenum_loads_nothing_of_it() -> None:
    code = "import sys, plenum; print([m for m in sys.modules if m.startswith('plenum.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
