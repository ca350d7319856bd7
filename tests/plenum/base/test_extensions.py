"""Parts that packages add by entry points: their order, and what isn't there."""

from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from plenum.base import extensions
from plenum.base.errors import UserError
from plenum.base.extensions import Registry

GROUP = "plenum.numbers"


@pytest.fixture
def numbers(monkeypatch: pytest.MonkeyPatch) -> Registry[float]:
    found = [
        EntryPoint("tau", "math:tau", GROUP),
        EntryPoint("e", "math:e", GROUP),
        EntryPoint("gone", "plenum_that_is_not_installed:PART", GROUP),
    ]
    monkeypatch.setattr(extensions, "_every_part", lambda: EntryPoints(found))
    registry = Registry[float](GROUP, "number")
    registry.add("zero", 0.0)
    return registry


def test_their_order_does_not_depend_on_what_was_asked_for(numbers: Registry[float]) -> None:
    before = list(numbers)
    assert numbers["tau"] == pytest.approx(6.283185307)
    assert list(numbers) == before == ["zero", "e", "tau"]
    assert len(numbers) == 3


def test_what_is_added_here_comes_before_an_entry_point_of_its_name(
    numbers: Registry[float],
) -> None:
    assert numbers["e"] == pytest.approx(2.718281828)
    numbers.add("e", 3.0)
    assert numbers["e"] == 3.0
    assert len(numbers) == 3


def test_a_part_of_a_package_that_is_gone_is_none_of_those_installed(
    numbers: Registry[float],
) -> None:
    assert "gone" not in numbers
    assert numbers.get("gone", 7.0) == 7.0
    with pytest.raises(UserError) as refused:
        numbers["gone"]
    assert str(refused.value) == (
        "number: 'gone' is none of those installed: zero, e, tau; "
        "plenum_that_is_not_installed, which has it, isn't installed"
    )
    with pytest.raises(UserError, match=r"installed: zero, e, tau$"):
        numbers["pi"]


BROKEN = {
    "exits": ("raise SystemExit(0)", "SystemExit: 0"),
    "fails": ("1 / 0", "ZeroDivisionError: division by zero"),
    "misspelt": ("impart math", "SyntaxError: invalid syntax"),
    "lacks": ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
    "lacks_it": ("OTHER = 1", "AttributeError: module .* has no attribute 'PART'"),
    "other": ("PART = 'three'", "TypeError: it is no float but str"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_package_that_is_broken_is_named_in_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, said = BROKEN[name]
    (tmp_path / f"broken_{name}.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    entries = EntryPoints([EntryPoint("part", f"broken_{name}:PART", GROUP)])
    monkeypatch.setattr(extensions, "_every_part", lambda: entries)
    with pytest.raises(UserError, match=rf"^number: part: broken_{name}:PART: {said}"):
        Registry[float](GROUP, "number", float)["part"]
