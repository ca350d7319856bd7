"""A function of this process is known by what it does, in this process and in any other."""

import collections
import dataclasses
import enum
import functools
import json
import os
import random
import re
import subprocess
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pydantic
import pytest

from plenum_audit.notebook import audit
from plenum_audit.programs.adapters.behaviour import digest_behaviour
from plenum_audit.programs.adapters.identity import identify_command
from plenum_verdicts.cases.case import AuditCase

CASE = AuditCase("one", "Which one?", {"A": "first", "B": "second"})


def cell(body: str, **named: Any) -> Any:
    """Return what a notebook's cell defines as ``committee``."""
    space = {"__name__": "__main__", **named}
    exec(body, space)
    return space["committee"]


def of_a_closure(value: Any) -> Any:
    return lambda case, run: value


def of_a_default(value: Any) -> Any:
    def committee(case: Any, run: Any, first: Any = value) -> Any:
        return first

    return committee


def of_a_keyword(value: Any) -> Any:
    def committee(case: Any, run: Any, *, first: Any = value) -> Any:
        return first

    return committee


def of_an_attribute(value: Any) -> Any:
    def committee(case: Any, run: Any) -> Any:
        return committee.value  # type: ignore[attr-defined]

    committee.value = value  # type: ignore[attr-defined]
    return committee


def of_a_wrapper(value: Any) -> Any:
    def wrap(function: Any) -> Any:
        @functools.wraps(function)
        def wrapped(case: Any, run: Any) -> Any:
            return function(case, run, value)

        return wrapped

    return wrap(lambda case, run, named: named)


def of_a_cache(value: Any) -> Any:
    return functools.lru_cache(of_a_closure(value))


def of_a_module(value: Any) -> Any:
    module = types.ModuleType("helper_of_tests")
    module.value = value  # type: ignore[attr-defined]
    return cell("def committee(case, run): return helper.value", helper=module)


def of_properties(value: Any) -> Any:
    class Committee:
        @property
        def first(self) -> Any:
            return value

        @staticmethod
        def second() -> Any:
            return value

        @functools.cached_property
        def third(self) -> Any:
            return value

        def deliberate(self, case: Any, run: Any) -> Any:
            return self.first, self.second(), self.third

    return Committee()


class Held:
    """An object that would give nothing of itself to pickle."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def deliberate(self, case: Any, run: Any) -> Any:
        return self.value

    def __reduce__(self) -> Any:
        return Held, (0,)


class Listed(list[Any]):
    def __call__(self, case: Any, run: Any) -> Any:
        return self[0]


class Colour(enum.Enum):
    A = "A"
    B = "B"


@dataclasses.dataclass(frozen=True)
class Record:
    value: Any
    further: list[int] = dataclasses.field(default_factory=list)


class Model(pydantic.BaseModel):
    value: str = "A"


Pair = collections.namedtuple("Pair", "value other")
MAKERS: list[Callable[[Any], Any]] = [
    of_a_closure,
    of_a_default,
    of_a_keyword,
    of_an_attribute,
    of_a_wrapper,
    of_a_cache,
    of_a_module,
    of_properties,
    Held,
    lambda value: Held(value).deliberate,
    lambda value: functools.partial(of_a_closure, value),
    lambda value: Listed([value]),
    lambda value: of_a_closure(Colour(value)),
    lambda value: of_a_closure(Record(value)),
    lambda value: of_a_closure(Model(value=value)),
    lambda value: of_a_closure(Pair(value, 1)),
    lambda value: of_a_closure({value, "C", "D", "E"}),
    lambda value: of_a_closure(re.compile(value)),
    lambda value: of_a_closure(random.Random(value)),
    lambda value: of_a_closure(types.MappingProxyType({"a": threading.Lock(), "b": value})),
    lambda value: cell(f"def committee(case, run): return {value!r}"),
    lambda value: cell(f"async def committee(case, run): return {value!r}"),
    lambda value: cell("def committee(case, run): return NAMED", NAMED=[value]),
    lambda value: cell(
        f"def helper(): return {value!r}\ndef committee(case, run): return helper()"
    ),
    lambda value: cell(
        f"def committee(case, run):\n    def inner(): return {value!r}\n    return inner()"
    ),
    lambda value: cell(
        f"class Own:\n    def go(self): return {value!r}\n    def __call__(self, case, run):"
        " return self.go()\ncommittee = Own()"
    ),
]


@pytest.mark.parametrize("make", MAKERS)
def test_what_does_the_same_is_the_same_and_what_does_not_is_not(
    make: Callable[[Any], Any],
) -> None:
    first, again, other = (digest_behaviour(make(value)) for value in "AAB")
    assert not first[1]
    assert first[0] == again[0] != other[0]


@pytest.mark.parametrize("equals", [(1, True), (0.0, -0.0), (1, 1.0), ("1", 1), ((), [])])
def test_values_that_look_alike_are_told_apart(equals: tuple[Any, Any]) -> None:
    one, other = (digest_behaviour(of_a_closure(value))[0] for value in equals)
    assert one != other


def reading(case: Any, run: Any) -> Any:
    random.choice([json.dumps({}), os.environ.get("A")])
    return json.JSONEncoder().encode(os.path.join("a", "b"))


def test_what_somebody_has_put_into_a_package_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest_behaviour(reading)[0]
    random.random()
    os.environ["A"] = "1"
    assert digest_behaviour(reading)[0] == before
    for place, name in ((json, "dumps"), (json.JSONEncoder, "encode"), (random, "choice")):
        with monkeypatch.context() as patched:
            patched.setattr(place, name, lambda *given: "B")
            assert digest_behaviour(reading)[0] != before
    assert digest_behaviour(reading)[0] == before


@pytest.mark.slow
def test_another_process_with_other_hashes_agrees() -> None:
    asked = (
        "import test_behaviour as t, json;"
        "print(json.dumps([t.digest_behaviour(make('A'))[0] for make in t.MAKERS]"
        "+ [t.digest_behaviour(t.reading)[0]]))"
    )
    other = subprocess.run(
        [sys.executable, "-c", asked],
        cwd=Path(__file__).parent,
        env={**os.environ, "PYTHONHASHSEED": "1"},
        stdout=subprocess.PIPE,
        check=True,
    )
    here = [digest_behaviour(each)[0] for each in (*(make("A") for make in MAKERS), reading)]
    assert json.loads(other.stdout) == here


OF_THREADS = threading.local()


def of_threads(case: Any, run: Any) -> str:
    return str(getattr(OF_THREADS, "label", "A"))


@pytest.mark.long
def test_a_cell_that_is_run_again_with_another_body_is_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for label in "AB":
        own = audit(cell(f"def committee(case, run): return {label!r}"), CASE, folder=tmp_path)
        assert own.cases["one"].mode == label
    again = audit(cell("def committee(case, run): return 'B'"), CASE, folder=tmp_path)
    assert len(list(tmp_path.glob("journals/*/000.jsonl"))) == 2
    assert "the program has changed" in capsys.readouterr().err
    assert again.cases["one"].runs == 18


@pytest.mark.slow
def test_what_has_no_form_is_known_to_nobody_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings: dict[str, Any] = {"folder": tmp_path, "max_runs": 2}
    for count in (1, 2):
        audit(of_threads, CASE, **settings)
        assert len(list(tmp_path.glob("journals/*/000.jsonl"))) == count
    assert "cannot pickle '_thread._local' object" in capsys.readouterr().err


def test_a_module_and_a_program_that_was_built_here_count_in_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own").mkdir()
    for name, command in {
        "app.py": [sys.executable, "-m", "app"],
        "own/__main__.py": [sys.executable, "-m", "own"],
        "built": ["./built"],
    }.items():
        seen = []
        for content in (b"\0 = 1", b"\0 = 2"):
            (tmp_path / name).write_bytes(content)
            seen.append(identify_command(command))
        assert seen[0] != seen[1]
