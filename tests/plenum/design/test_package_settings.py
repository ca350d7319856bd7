"""Settings that packages add: what no config could have is refused in one line."""

from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from plenum.base.errors import UserError
from plenum.base.extensions import Registry
from plenum.design.backend_extensions import BACKENDS
from plenum.design.executor_choice import EXECUTORS, ExecutorChoice
from plenum.design.kinds import KINDS
from plenum.design.ranges import Count, StrictSettings
from plenum.design.schema import SweepSettings, type_config

COMMITTEE = KINDS["committee"]


@dataclass(frozen=True)
class Feathers(SweepSettings):
    needs = "a launcher with wings"

    number: Count = 2


@dataclass(frozen=True)
class Nameless(StrictSettings):
    number: Count = 2


@dataclass(frozen=True)
class Demanding(StrictSettings):
    number: Count


def test_a_sweep_has_the_settings_of_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXECUTORS._added, "birds", ExecutorChoice(settings={"feathers": Feathers}))
    typed = type_config({"feathers": {"number": 9}})
    assert typed.find(Feathers) == Feathers(number=9)
    assert type_config({}).find(Feathers).number == 2
    with pytest.raises(UserError, match=r"^feathers\.number: 0 is not allowed"):
        type_config({"feathers": {"number": 0}})


@pytest.mark.parametrize(
    ("key", "settings", "words"),
    [
        ("rounds", Feathers, "rounds: .* adds settings of .* plenum has"),
        ("feathers", dict, "feathers: .*StrictSettings"),
        ("feathers", Demanding, "feathers: .*defaults"),
    ],
)
def test_settings_that_no_config_could_have_are_refused(
    monkeypatch: pytest.MonkeyPatch, key: str, settings: type[Any], words: str
) -> None:
    monkeypatch.setitem(EXECUTORS._added, "birds", ExecutorChoice(settings={key: settings}))
    with pytest.raises(UserError, match=words):
        type_config({})


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (f"{__name__}:Absent", "kind of study birds: .*Absent"),
        ("nonsuch:Settings", "kind of study birds: .*nonsuch"),
        (f"{__name__}:Nameless", "aviary: birds: .* a name"),
    ],
)
def test_a_kind_s_settings_that_can_not_be_used_are_refused(
    monkeypatch: pytest.MonkeyPatch, path: str, words: str
) -> None:
    birds = replace(COMMITTEE, name="birds", tasks=("birds",), settings={"aviary": path})
    monkeypatch.setitem(KINDS._added, "birds", birds)
    with pytest.raises(UserError, match=words):
        type_config({})


def test_a_backend_of_our_own_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS._added, "api", None)
    with pytest.raises(UserError, match="a package adds api, which is plenum's own"):
        type_config({"backend": {"name": "api"}})


def test_settings_of_no_package_are_not_found() -> None:
    with pytest.raises(LookupError, match="Nameless"):
        type_config({}).find(Nameless)


def test_a_part_that_can_not_be_loaded_is_named_but_for_a_package_that_is_not_there() -> None:
    parts: Registry[Any] = Registry("plenum.birds", "bird")
    named = {"wrong": "json:absent", "alone": "plenum_birds.nest:EGG", "broken": "nonsuch:EGG"}
    parts._entries = {k: EntryPoint(k, value, "plenum.birds") for k, value in named.items()}
    for name in ("wrong", "broken"):
        with pytest.raises(UserError, match=f"^bird: {name}: {named[name]}"):
            parts[name]
    with pytest.raises(ModuleNotFoundError, match="plenum_birds"):
        parts["alone"]
