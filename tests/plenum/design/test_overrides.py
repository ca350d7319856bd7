"""A slip behind a command is answered in one line that names what was meant."""

from pathlib import Path

import pytest
from command_line import Ended

from plenum.base.errors import UserError
from plenum.design import schema
from plenum.design.slips import explain_slip

SLIPS = [
    ("temperature=0.3", ["temperature: 0.3", "t0.7", "sampling.temperature=0.3"]),
    ("temperature=0.2", ["temperature=t0.2", "sampling.temperature=0.2"]),
    ("memory=3", ["memory=k3 or protocol.window=3"]),
    ("memory=k4", ["auto, k1, k15, k3, k5", "memory=k5"]),
    ("temprature=t0", ["temprature", "did you mean temperature=t0?"]),
    ("temp=0.3", ["did you mean sampling.temperature=0.3?"]),
    ("round=3", ["round:", "did you mean rounds=3?"]),
    ("dry_rn=true", ["did you mean dry_run=true?"]),
    ("window=3", ["did you mean protocol.window=3?"]),
    ("max_tokens=9", ["did you mean sampling.max_tokens=9?"]),
    ("roles=of", ["ablate_chair", "did you mean roles=off or roles=on?"]),
    ("role=on", ["did you mean roles=on?"]),
    ("roles=1", ["roles: 1 is none of ablate_chair"]),
    ("model.defualt=x", ["did you mean model.default=x?"]),
    ("model=openai/x-1", ["gpt-4.1-mini", "model.default=openai/x-1"]),
    ("model.seats.Chair=gpt-4o", ["did you mean +model.seats.Chair=gpt-4o?"]),
    ("roles.seats.Chiar=chair", ["roles.seats.Chair=chair or +roles.seats.Chiar=chair"]),
    ("+roles.seats.Chair=chair", ["set already; did you mean roles.seats.Chair=chair?"]),
    (
        "backend.api_base.openai=http://127.0.0.1:1/v1",
        ["did you mean backend=api backend.api_base"],
    ),
    ("tracking=http://127.0.0.1:1", ["tracking.uri=http://127.0.0.1:1"]),
    ("hydra/launcher=jobib", ["hydra/launcher=joblib"]),
    ("~rond", ["~rounds"]),
    ("roles=on,off", ["did you mean -m roles=on,off?"]),
    ("experiment=hl01_2x2", ["did you mean +experiment=hl01_2x2?"]),
    ("-m +experiment=hl02_2x2", ["landscape", "did you mean +experiment=hl01_2x2?"]),
    (
        "backend.api_base.openai=http://a,http://b",
        ["'backend.api_base.openai=[http://a,http://b]' or -m backend.api_base"],
    ),
    ("-m roles=glob(*) seeds=1", ["did you mean seed=1?"]),
    ("roles=true", ["roles: true is none of"]),
    ("-m roles=on,of", ["roles: of", "roles=off"]),
    ("scenario=MY01", ["AI-01", "did you mean scenario=IM-01?"]),
    ("study=it's", ["study", "'study=\"it's\"'"]),
    ("+calls.rpm.openai/gpt-4.1=5", ["'+calls.rpm={openai/gpt-4.1:5}'"]),
    ("rounds 3", ["rounds: a setting is written KEY=VALUE"]),
]


@pytest.mark.needs("plenum_papers")
@pytest.mark.parametrize(("line", "named"), SLIPS, ids=[line for line, _ in SLIPS])
def test_a_slip_is_named_with_what_was_meant(line: str, named: list[str]) -> None:
    explained = explain_slip(line.split(), "config")
    assert explained is not None
    assert [words for words in named if words not in explained] == [], explained


@pytest.mark.needs("plenum_audit")
@pytest.mark.parametrize(
    "line", ["overrides.temperature=0", "committee.knobs.rounds=[2,1]", "prices.x=1"]
)
def test_an_open_mapping_of_an_audit_takes_a_plus(line: str) -> None:
    assert f"did you mean +{line}?" in str(explain_slip([line], "audit"))
    assert explain_slip([f"+{line}"], "audit") is None


@pytest.mark.needs("plenum_audit")
def test_a_new_name_in_braces_takes_a_plus() -> None:
    given = "committee.knobs={rounds:[2,1]}"
    assert f"did you mean '+{given}'?" in str(explain_slip([given], "audit"))
    assert explain_slip([f"+{given}"], "audit") is None
    assert "did you mean committee.knobs=null?" in str(explain_slip(["knobs=null"], "audit"))


@pytest.mark.needs("plenum_audit")
def test_columns_of_a_data_set_can_be_set_one_by_one_or_together() -> None:
    for line in ("columns.id=null", "columns={text:facts,options:[a,b]}"):
        assert explain_slip([line], "audit") is None


@pytest.mark.parametrize(
    "line", ["roles=on", "-m roles=on,off model.default=x", "+model.seats.Chair=x", "rounds=3"]
)
def test_what_fits_is_not_explained(line: str) -> None:
    assert explain_slip(line.split(), "config") is None


@pytest.mark.needs("plenum_fleet")
@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("temperature=0.3", "sampling.temperature=0.3"),
        ("roles=on -m rounds=1,2 seeds=1", "did you mean seed=1?"),
        ("--dry-run", "--dry-run: no such flag; did you mean dry_run=VALUE?"),
        ("--multirn roles=on", "did you mean --multirun?"),
        ("replicates=ten", "replicates: ten; a whole number"),
        ("backend.noise=much", "backend.noise: much; a number"),
        ("dry_run=maybe", "dry_run: maybe; true or false"),
        ("hydra/launcher=ray", "hydra/launcher: ray runs sweeps only; add -m"),
        ("workers.number=2 dry_run=true", "without hydra/launcher=ray"),
        ("batch.wait_s=60", "batch.wait_s: 60.0; nothing uses it without calls.batch=true"),
        ("-m ray.address=auto", "ray.address: auto; nothing uses it without hydra/launcher=ray"),
        ("journals=/proc/nowhere", "journals: /proc/nowhere can't be written to"),
        (
            "-m backend=api model=gpt-4.1-mini,gemini-2.5-flash calls.batch=true",
            "calls.batch: gemini has no batches",
        ),
        (
            "backend=api backend.send_seed=true model.default=claude-sonnet-4.6 dry_run=true",
            "(see backend.send_seed)",
        ),
        (
            "backend=api backend.api_base.anthropic=http://localhost:1",
            "did you mean +backend.api_base.anthropic=http://localhost:1?",
        ),
        ("+sampling.temprature=1", "sampling.temprature: no such setting; did you mean sampling.t"),
    ],
)
def test_the_front_door_says_it_in_one_line(ended: Ended, line: str, named: str) -> None:
    status, error = ended("run.py", *line.split())
    assert (status, error.count("\n")) == (2, 1)
    assert error.startswith("error: ")
    assert named in error


@pytest.mark.parametrize(
    ("script", "line", "named"),
    [
        ("tables", "studdy=x", "did you mean study=x?"),
        ("figures", "study=x window=3,20", "did you mean window=[3,20]?"),
        ("tables", "study=x tracking=srver", "did you mean tracking=server?"),
        ("plan", "study=x --delta=0.03", "did you mean delta=0.03?"),
        ("explore", "study=x replicats=[1,2]", "did you mean"),
        (
            "tables",
            "study=x +roles=on",
            "roles: run.py has this setting, scripts/tables.py",
        ),
        (
            "figures",
            "study=x model=mixed",
            "model: run.py has this setting, scripts/figures.p",
        ),
        ("status", "study=x +rounds=3", "rounds: run.py has this setting, scripts/status.py has"),
        ("report", "study=x +colour=red", "colour: no such setting; --help lists what there is"),
    ],
)
def test_scripts_name_it_too(ended: Ended, script: str, line: str, named: str) -> None:
    status, error = ended(f"scripts/{script}.py", *line.split())
    assert (status, error.count("\n")) == (2, 1)
    assert named in error


CASE = """
id: {id}
title: A case
domain: Tests
type: choice
question: Which one?
situation: Somebody must decide.
affected: [Everybody is affected.]
numbers: [There are 10 of them.]
constraints: [It must be done today.]
cases: [A man waits.]
options:
  A: {{name: One, description: The first.}}
  B: {{name: Two, description: The second.}}
endpoint: The committee adopts exactly one of A or B for a year.
"""


@pytest.fixture
def cases(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The ``scenarios`` folder of a project with the usual ``conf``."""
    project = tmp_path / "project"
    (project / "scenarios").mkdir(parents=True)
    (project / "conf").symlink_to(root / "conf")
    monkeypatch.setenv("PLENUM_ROOT", str(project))
    return project / "scenarios"


def chosen(choice: str, root: Path) -> tuple[str, str]:
    from hydra import compose, initialize_config_dir

    with initialize_config_dir(str(root / "conf"), version_base="1.3"):
        scenario = compose("config", [f"scenario={choice}"]).scenario
    return scenario.id, scenario.file


def test_a_scenario_is_found_by_its_id_and_by_its_files_name(cases: Path) -> None:
    (cases / "my_case.yaml").write_text(CASE.format(id="MY-01"))
    for choice in ("MY-01", "my_case"):
        assert chosen(choice, cases.parent) == ("MY-01", "scenarios/my_case.yaml")


def test_an_id_that_two_files_hold_is_refused(cases: Path) -> None:
    from plenum.base.errors import UserError

    for name in ("one", "two"):
        (cases / f"{name}.yaml").write_text(CASE.format(id="MY-01"))
    with pytest.raises(UserError, match=r"MY-01.*one\.yaml and two\.yaml"):
        chosen("MY-01", cases.parent)
    assert chosen("two", cases.parent) == ("MY-01", "scenarios/two.yaml")


def test_prices_that_a_shell_took_apart_are_to_be_quoted() -> None:
    """Of one model the shell leaves the outer braces, of several it takes them away, too."""
    line = explain_slip(["+prices=openai/m:input:1", "+prices=openai/m:output:2"], "config")
    assert line is not None
    assert line.startswith("prices.MODEL: 'openai/m:input:1'; quote it")
    spaced = explain_slip(["+prices={m:", "{input:", "0.4}}"], "config")
    assert spaced is not None
    assert spaced.startswith("prices.MODEL: '{m:'; quote it")
    with pytest.raises(UserError, match=r"prices.openai/m: 'output:2'; quote it"):
        schema.type_config({"prices": {"openai/m": "output:2"}})
