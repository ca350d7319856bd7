"""Studies are listed, renamed, deleted and taken back; nothing is lost that nobody asked for."""

import fcntl
import os
import pty
import runpy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import forking
import pytest
from command_line import ROOT, Run, call, calls, command, environment, journals, with_store
from hydra import compose, initialize_config_dir
from study_commands import Request, manage, request

from plenum.base.errors import UserError
from plenum.tracking import store, studies
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.study import Study
from plenum.tracking.tracker import lock_file

SMALL = ("rounds=2", "replicates=2")
SCRIPT = "scripts/study.py"
Manage = Callable[..., None]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Path:
    """A store with the study ``default`` of two conditions, and ``other`` with one of them."""
    folder = tmp_path_factory.mktemp("studies")
    with_store(empty_store, folder)
    for arguments in (["-m", "roles=on,off"], ["roles=on", "study=other"]):
        call(folder, "run.py", *arguments, *SMALL)
    return folder


@pytest.fixture
def here(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, as the working directory."""
    shutil.copytree(made / "mlruns", tmp_path / "mlruns")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def managed(here: Path) -> Manage:
    """``managed("default", "rename", "pilot")``: what the script does with ``yes=true``."""

    def call(study: str, action: str, value: str = "", remove: bool = False) -> None:
        uri = store.absolute_uri("sqlite:///mlruns/mlflow.db")
        named = {action: value} if value else {}
        journals = "delete" if remove else "keep"
        manage(Request(uri, study, action, **named, journals=journals, yes=True))

    return call


def opened() -> Any:
    return store.open_client("sqlite:///mlruns/mlflow.db")


def listed() -> dict[str, list[str]]:
    """The roles of each study's conditions; a deleted study has a star."""
    return {
        study.name + "*" * study.deleted: [c.factors["roles"] for c in study.conditions]
        for study in studies.list_studies(opened())
    }


BOTH = {"default": ["on", "off"], "other": ["on"]}


def conditions(study: str = "default") -> list[TrackedCondition]:
    return list(Study(study, "sqlite:///mlruns/mlflow.db").conditions)


def targets() -> list[tuple[str, int]]:
    return [(condition.run_id, condition.target) for condition in conditions()]


def identity(roles: str, model: str = "uniform") -> str:
    every = {(c.factors["roles"], c.factors["model"]): c.identity for c in conditions()}
    return every[roles, model]


def test_a_renamed_study_is_read_under_its_new_name(here: Path, managed: Manage) -> None:
    before = journals(here)
    managed("default", "rename", "pilot")
    assert listed() == {"pilot": ["on", "off"], "other": ["on"]}
    assert len(conditions("pilot")) == 2
    assert opened().get_experiment_by_name("pilot").tags["plenum.study"] == "pilot"
    assert journals(here) == before
    with pytest.raises(UserError, match="rename: there is a study 'other' already"):
        managed("pilot", "rename", "other")


def test_a_deleted_study_comes_back_as_it_was(here: Path, run: Run, managed: Manage) -> None:
    run("-m", "roles=on,off", "rounds=2", "replicates=3")
    before, made, tracked = journals(here), len(calls(here)), targets()
    managed("default", "delete")
    assert listed() == {"default*": ["on", "off"], "other": ["on"]}
    managed("default", "restore")
    assert listed() == BOTH
    assert targets() == tracked
    assert [target for _, target in tracked] == [3, 3]
    assert (journals(here), len(calls(here))) == (before, made)
    client = opened()
    client.delete_experiment(client.get_experiment_by_name("default").experiment_id)
    managed("default", "restore")
    assert targets() == tracked


@pytest.mark.long
def test_a_deleted_study_frees_its_name_and_journals_fill_it_again(
    here: Path, run: Run, managed: Manage
) -> None:
    made = len(calls(here))
    managed("default", "delete")
    run("-m", "roles=on,off", *SMALL)
    assert listed() == {**BOTH, "default*": ["on", "off"]}
    assert len(calls(here)) == made
    with pytest.raises(UserError, match="'default' is there; rename it first"):
        managed("default", "restore")


def test_journals_go_only_where_no_other_study_uses_them(here: Path, managed: Manage) -> None:
    shared, alone = identity("on"), identity("off")
    managed("default", "delete", remove=True)
    assert {name.split("/")[0] for name in journals(here)} == {shared}
    assert not (here / "mlruns/journals" / alone).exists()
    managed("other", "delete", remove=True)  # the deleted study may come back, and needs them
    assert {name.split("/")[0] for name in journals(here)} == {shared}


@pytest.mark.parametrize("remove", [False, True])
def test_a_dropped_condition_leaves_the_others(here: Path, managed: Manage, remove: bool) -> None:
    dropped = identity("off")
    managed("default", "drop", dropped, remove)
    assert listed() == {"default": ["on"], "other": ["on"]}
    assert any(name.startswith(dropped) for name in journals(here)) is not remove
    with pytest.raises(UserError, match=f"drop: default has no condition '{dropped}'; it has "):
        managed("default", "drop", dropped)


@pytest.mark.long
def test_two_labels_of_one_condition_are_told_apart(here: Path, run: Run, managed: Manage) -> None:
    run("model=gpt-4.1-mini", "roles=on", *SMALL)
    shared = identity("on")
    with pytest.raises(UserError, match="several labels"):
        managed("default", "drop", shared)
    cell = next(
        c.cell for s in studies.list_studies(opened()) for c in s.conditions if "gpt" in c.name
    )
    managed("default", "drop", cell, remove=True)
    assert listed() == BOTH
    assert any(name.startswith(shared) for name in journals(here))


def test_what_was_broken_off_half_way_is_finished_by_the_same_command(
    here: Path, managed: Manage
) -> None:
    client = opened()
    number = client.get_experiment_by_name("default").experiment_id
    client.set_experiment_tag(number, "plenum.study", "pilot")  # and then it was killed
    managed("default", "rename", "pilot")
    assert listed() == {"pilot": ["on", "off"], "other": ["on"]}
    client.rename_experiment(number, f"pilot (deleted {number})")
    managed("pilot", "delete")
    assert listed() == {"pilot*": ["on", "off"], "other": ["on"]}
    client.restore_experiment(number)
    managed("pilot", "restore")
    assert listed() == {"pilot": ["on", "off"], "other": ["on"]}


@pytest.mark.parametrize("held", ["tracking", "condition"])
def test_a_study_that_another_process_writes_is_left_alone(
    here: Path, managed: Manage, held: str
) -> None:
    folder, uri = here / "mlruns/journals", store.absolute_uri("sqlite:///mlruns/mlflow.db")
    lock = folder / identity("off") / "lock"
    with (lock_file(folder, uri, "default") if held == "tracking" else lock).open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(UserError, match="another process is running or writing 'default'"):
            managed("default", "delete", remove=True)
    assert listed() == BOTH
    assert len(journals(here)) == 4


@pytest.mark.long
def test_all_of_it_on_a_server(run: Run, tmp_path: Path, mlflow_server: str) -> None:
    store_of = f"tracking.uri={mlflow_server}"
    run("study=served", store_of, "rounds=1", "replicates=1")
    varied = run("study=served", store_of, "rounds=2", "replicates=1", "dry_run=true").stdout
    assert "study served: now varies in rounds (1, 2);" in varied

    def on_server(study: str, action: str, value: str = "") -> list[tuple[str, bool, int]]:
        folder, named = str(tmp_path / "mlruns/journals"), {action: value} if value else {}
        manage(Request(mlflow_server, study, action, **named, folder=folder, yes=True))
        listing = studies.list_studies(store.open_client(mlflow_server))
        return [
            (s.name, s.deleted, len(s.conditions)) for s in listing if s.name in ("served", "moved")
        ]

    assert on_server("served", "rename", "moved") == [("moved", False, 1)]
    assert on_server("moved", "delete") == [("moved", True, 1)]
    assert on_server("moved", "restore") == [("moved", False, 1)]
    (dropped,) = {name.split("/")[0] for name in journals(tmp_path)}
    assert on_server("moved", "drop", dropped) == [("moved", False, 0)]
    assert len(journals(tmp_path)) == 1


# --- the command line ----------------------------------------------------------------------------


def test_the_words_of_the_command_line(here: Path, run: Run) -> None:
    every = run(script=SCRIPT)
    rows = [line.split()[:6] for line in every.stdout.splitlines() if "committees" in line]
    assert rows == [["default", "committees", "2", *"400"], ["other", "committees", "1", *"200"]]
    one = run("study=default", "list", script=SCRIPT)
    assert [f"{identity(roles)}" in one.stdout for roles in ("on", "off")] == [True, True]
    refused = run("study=default", f"drop={identity('off')}", script=SCRIPT, status=2)
    assert listed() == BOTH
    assert refused.stderr.startswith("error: yes: nothing was changed")
    run("study=default", "delete", "yes=true", script=SCRIPT)
    assert listed() == {"default*": ["on", "off"], "other": ["on"]}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["delete"], "study: missing"),
        (["study=none"], "study: there is no 'none' here; known: default, other"),
        (["study=default", "restore"], "study: 'default' is there"),
        (["study=default", "rename=a/b"], "rename: 'a/b'"),
        (["study=default", "rename=x", "delete"], "one thing at a time"),
        (["study=default", "journals=delete"], "journals: delete goes with delete and drop="),
        (["study=default", "journals=burn"], "journals: 'burn' is not one of keep, delete"),
        (["study=default", "drop=0e12"], "drop: default has no condition '0e12'"),
        (["study=default", "delete", "tracking=none"], "tracking: none holds no study"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(
    here: Path, arguments: list[str], expected: str
) -> None:
    override = runpy.run_path(str(ROOT / SCRIPT))["override"]
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        composed = compose("study", [override(argument) for argument in arguments])
    with pytest.raises(UserError) as refused:
        manage(request(composed))
    assert expected in str(refused.value)
    assert listed() == BOTH


@pytest.mark.long
@pytest.mark.parametrize(("answer", "status"), [("", 1), ("y", 0)])
def test_on_a_terminal_it_asks_first(here: Path, answer: str, status: int) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, f"{answer}\n".encode())
    done = forking.run(
        command(SCRIPT, "study=default", "rename=pilot"), cwd=here, env=environment(), stdin=theirs
    )
    os.close(ours)
    os.close(theirs)
    assert done.returncode == status, done.stderr
    assert "go on? [y/N]" in done.stdout
    assert set(listed()) == {"other", "pilot" if answer == "y" else "default"}


# --- what now varies -----------------------------------------------------------------------------


@pytest.mark.long
def test_a_sweep_says_what_it_makes_vary(here: Path, run: Run) -> None:
    other = ("roles=on", "rounds=3", "replicates=4", "backend.noise=0.1")
    expected = (
        "study default: now varies in settings (default, noise=0.1), rounds (2, 3), "
        "replicates (2, 4); "
    )
    planned = run(*other, "dry_run=true")
    assert [line for line in planned.stdout.splitlines() if line.startswith(expected)]
    done = run(*other)
    assert done.stderr.splitlines()[0].startswith(expected)
    assert "now varies" not in run(*other).stderr
    assert "now varies" not in run(*other, "study=fresh", "dry_run=true").stdout
    more = run("-m", "roles=on,off", "rounds=2", "replicates=2", "study=other", "dry_run=true")
    assert "study other: now varies in roles (on, off); " in more.stdout


def test_the_script_is_in_the_docs() -> None:
    page = (ROOT / "docs/tracking.md").read_text()
    for words in ("list", "rename=", "delete", "restore", "drop="):
        assert f"scripts/study.py study=default {words}" in page
