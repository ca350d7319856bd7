"""Roles, models, texts, cases and experiments of a user, in a folder outside the checkout."""

from pathlib import Path

import pytest
from command_line import ROOT, call, table, with_store

pytestmark = pytest.mark.long

TEXTS = {
    "roles/seven.yaml": (
        'defaults: ["on", _self_]\nname: seven\nseats: {Youth: youth, Guest: ""}\n'
    ),
    "prompts/mandates/youth.txt": "Speak for those who will live with this decision longest.\n",
    "prompts/worlds/disaster/listener.txt": "Ask before you act.\n",
    "model/two.yaml": "name: two\ndefault: gpt-4.1-mini\nseats: {Chair: gpt-4.1}\nclerk: null\n",
    "experiment/small.yaml": (
        "# @package _global_\ndefaults:\n  - override /roles: seven\n"
        "study: small\nrounds: 2\nreplicates: 2\n"
        "hydra:\n  sweeper:\n    params:\n      model: uniform,two\n"
    ),
}


@pytest.fixture
def folder(empty_store: Path, tmp_path: Path) -> Path:
    """A working folder with ``mine/`` in it."""
    case = (ROOT / "scenarios/HL-01.yaml").read_text(encoding="utf-8")
    for name, text in {**TEXTS, "scenarios/water.yaml": case.replace("HL-01", "WA-01")}.items():
        file = tmp_path / "mine" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return with_store(empty_store, tmp_path)


def test_an_experiment_of_ones_own_plays_roles_models_and_cases_of_ones_own(folder: Path) -> None:
    call(folder, "run.py", "--config-dir", "mine", "-m", "+experiment=small", "scenario=WA-01")
    rows = table(folder, "small")
    assert [(row["scenario"], row["roles"], row["model"]) for row in rows] == [
        ("WA-01", "seven", "uniform"),
        ("WA-01", "seven", "two"),
    ]
    given = ("study=small", "replicate=0", "round=1", "seat=Youth")
    one = table(folder, "small")[0]["condition"]
    given = (*given, f"condition={one}")
    assert "--config-dir" in call(folder, "scripts/prompt.py", *given, status=2).stderr
    prompt = call(folder, "scripts/prompt.py", "--config-dir=mine", *given).stdout
    assert TEXTS["prompts/mandates/youth.txt"].strip() in prompt


def test_the_flag_may_stand_behind_overrides_and_a_role_of_a_world_is_found(folder: Path) -> None:
    given = ("task=disaster", "rounds=2", "+task.pinned.1=listener", "-cd", "mine", "dry_run=true")
    call(folder, "run.py", *given)
    call(folder, "run.py", "roles=seven", "--config-dir=mine", "model=two", "dry_run=true")


@pytest.mark.parametrize(
    ("own", "arguments", "named"),
    [
        ("", ["--config-dir", "nowhere"], "nowhere"),
        ("", ["--config-dir"], "--config-dir"),
        ("", ["--config-dir=mine", "roles=sevn"], "roles=seven"),
        ("", ["roles=seven"], "seven"),
        ("roles/off.yaml", ["--config-dir=mine"], "roles/off.yaml"),
        ("prompts/mandates/chair.txt", ["--config-dir=mine"], "prompts/mandates/chair.txt"),
        ("scenarios/again.yaml", ["--config-dir=mine", "scenario=WA-01"], "water.yaml"),
    ],
)
def test_what_is_missing_or_stands_twice_is_refused_in_one_line(
    folder: Path, own: str, arguments: list[str], named: str
) -> None:
    if own:
        (folder / "mine" / own).write_text("id: WA-01\n", encoding="utf-8")
    done = call(folder, "run.py", *arguments, "dry_run=true", status=2)
    assert named in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_option_that_calls_itself_as_another_one_is_refused(folder: Path) -> None:
    (folder / "mine/roles/eight.yaml").write_text("name: seven\nseats: {}\n", encoding="utf-8")
    done = call(folder, "run.py", "--config-dir=mine", "roles=eight", "dry_run=true", status=2)
    assert "roles/eight.yaml says name: 'seven'" in done.stderr
    assert done.stderr.count("\n") == 1
