"""Kinds of study: what one can't do is refused in a line, and those of version 0.2 still load."""

from pathlib import Path
from typing import Any

import pytest

from plenum.base import moved
from plenum.base.errors import UserError
from plenum.design.kinds import KINDS, Kind, find_kind
from plenum.reports.settings import Settings

VALUES: dict[str, Any] = {
    **{"name": "birds", "plural": "birds", "tasks": ("birds",), "assumed_answers": "a song"},
    **{"factors": (), "repeated": (), "tables": (), "more": "a nest: docs/nests.md"},
}
CHOSEN = Settings("birds", "sqlite:///unused.db", Path("unused"))
STATIONS = (
    *(Kind.compose, Kind.converse, Kind.find_longest_answer, Kind.estimate, Kind.tabulate),
    *(Kind.read_fields, Kind.publish_tables, Kind.make_frames, Kind.publish_figures),
    *(Kind.compose_report, Kind.explore, Kind.plan),
)
"""Those that refuse, unless a kind has its own."""


def test_committees_have_every_station() -> None:
    assert find_kind({}) is KINDS["committee"]
    assert [each.__name__ for each in STATIONS if not KINDS["committee"].has(each)] == []


def test_a_station_that_a_kind_does_not_have_is_refused_in_a_line() -> None:
    birds = Kind(**VALUES)
    assert not any(map(birds.has, STATIONS))
    refused = r"^study: it holds birds; tables as data: only for .*committees.*; a nest: docs/nests"
    with pytest.raises(UserError, match=refused):
        birds.make_frames(CHOSEN)
    for station in STATIONS:
        given = [None] * (station.__code__.co_argcount - 1)
        with pytest.raises(UserError, match=r"^study: it holds birds; "):
            getattr(birds, station.__name__)(*given)


def test_what_a_kind_need_not_have_changes_nothing() -> None:
    birds, condition = Kind(**VALUES), object()
    assert birds.find_longest_run(condition) is condition
    assert birds.list_tasks() == ("birds",)
    assert not birds.has(Kind.answer)


def count(*given: object) -> int:
    return len(given)


def double(shown: int) -> list[str]:
    return ["told"] * 2 * shown


def test_a_kind_by_dotted_texts_is_that_of_version_0_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(moved, "_said", [])
    parts = {"report_tables": f"{__name__}:count", "explorer": f"{__name__}:VALUES"}
    birds = Kind(**VALUES, parts=parts)
    birds_that_tell = Kind(
        **VALUES, parts={**parts, "findings": f"{__name__}:double", "plan": "no"}
    )
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("deprecated: the kind of study birds names its parts by dotted texts")
    assert birds.has(Kind.publish_tables)
    assert not birds.has(Kind.plan)
    assert birds.publish_tables(CHOSEN) == []
    assert birds_that_tell.publish_tables(CHOSEN) == ["told", "told"]
    assert birds.explore() is VALUES  # type: ignore[comparison-overlap]
    with pytest.raises(UserError, match=r"^kind of study: no: "):
        birds_that_tell.plan([], None)  # type: ignore[arg-type]
