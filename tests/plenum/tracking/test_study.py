"""What a study is of: tagged by its writer, and derived where an older version wrote it."""

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from plenum.base import moved
from plenum.base.errors import UserError
from plenum.design.kinds import KINDS
from plenum.tracking.stored_runs import KIND_TAG, require_kind
from plenum.tracking.study import Study
from plenum.tracking.writer import StudyWriter

COMMITTEE: dict[str, Any] = {
    **{"scenario": "s", "roles": "on", "model": "uniform", "memory": "k3", "temperature": "t0.7"},
    **{"backend": "simulated", "perturbation": "none", "settings": "default", "rounds": 3},
    **{"seed": 0, "condition": "c0", "cell": "cell0", "clerk": "m", "options": {}, "seats": []},
}
WORLD: dict[str, Any] = {
    **COMMITTEE,
    **{"task": "disaster", "consensus": "implicit", "diversity": "low", "volatility": "high"},
    **{"policy": "agents", "agents": 5, "condition": "c1", "cell": "cell1"},
}
Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write conditions to the study ``s``; ``tagged=False`` as versions did that knew no tag."""
    uri = f"sqlite:///{tmp_path}/mlflow.db"

    def written(*conditions: dict[str, Any], tagged: bool = True) -> str:
        writer = StudyWriter(uri, "s", "v")
        for condition in conditions:
            writer.open(condition, 2)
        if not tagged:
            with sqlite3.connect(tmp_path / "mlflow.db") as database:
                database.execute("DELETE FROM experiment_tags WHERE key = ?", (KIND_TAG,))
        return uri

    return written


@pytest.mark.needs("plenum_worlds")
@pytest.mark.parametrize("tagged", [True, False])
@pytest.mark.parametrize(
    ("condition", "kind", "other"),
    [(COMMITTEE, "committee", "world"), (WORLD, "world", "committee")],
)
def test_a_study_has_a_kind_and_takes_no_other(
    condition: dict[str, Any], kind: str, other: str, tagged: bool, write: Write
) -> None:
    uri = write(condition, tagged=tagged)
    assert Study("s", uri).kind == kind
    require_kind("s", uri, kind)
    with pytest.raises(UserError, match=f"holds {kind}s already, and can't hold {other}s"):
        require_kind("s", uri, other)


@pytest.mark.needs("plenum_worlds")
def test_an_older_study_of_two_kinds_is_refused(write: Write) -> None:
    study = Study("s", write(COMMITTEE, WORLD, tagged=False))
    with pytest.raises(UserError, match="holds committees and worlds"):
        _ = study.kind


def test_a_kind_of_version_02_names_its_tables_as_fields_and_reads_them_as_attributes(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pd.DataFrame({"heads": [3]})
    monkeypatch.setattr(moved, "_said", [])
    committee = type(KINDS["committee"])
    monkeypatch.setattr(committee, "read_fields", lambda *_: {"metrics": table, "said": (1.0,)})
    study = Study("s", write(COMMITTEE))
    condition = replace(study.listed[0], **study._read_completed(study.condition_runs[0]))
    assert condition.said == (1.0,)
    assert condition.data["metrics"] is table
    assert condition.metrics is table  # type: ignore[attr-defined]
    assert "reads metrics of a condition" in capsys.readouterr().err
    with pytest.raises(AttributeError):
        _ = condition.nothing  # type: ignore[attr-defined]
