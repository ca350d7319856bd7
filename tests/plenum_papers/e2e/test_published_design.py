"""The design that somebody else published: written as inputs, selected, and run word for word."""

import ast
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import released
import yaml
from command_line import ROOT, call, table, with_store

pytestmark = pytest.mark.long

NAMED = ("published=clone", "catalogue=catalogue.yaml", "what=design")
SCENARIOS, PROMPTS = "scenarios/published", "conf/prompts/published"
SEATS = released.SEATS
Texts = Mapping[str, Any]


def project(folder: Path) -> Path:
    """A project whose inputs may be changed."""
    for part in ("conf", "scenarios"):
        shutil.copytree(ROOT / part, folder / "project" / part)
    return folder / "project"


def bring_in(folder: Path, *more: str, status: int = 0) -> str:
    """Import the design of the release there into the project there; what was printed."""
    given = (f"target={folder / 'project'}", *more)
    done = call(folder, "scripts/import.py", *NAMED, *given, status=status)
    return done.stdout if status == 0 else done.stderr


def files(folder: Path) -> dict[str, bytes]:
    parts = (folder / "project" / part for part in (SCENARIOS, PROMPTS))
    found = [path for part in parts for path in part.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Path:
    """A project with the design of a small release, and a study of it."""
    folder = with_store(empty_store, tmp_path_factory.mktemp("design"))
    released.design(folder)
    root = str(project(folder))
    bring_in(folder)
    given = ("scenario=published/HL-01", "prompts=published", "rounds=2", "replicates=4")
    wordings = "perturbation=none,registers6,variants20"
    call(folder, "run.py", "-m", wordings, *given, "study=again", PLENUM_ROOT=root)
    return folder


def authors() -> dict[str, Any]:
    """The released constants, read as data by another way than plenum's."""
    found: dict[str, Any] = {}
    for node in ast.parse(released.PROMPTS).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = ast.literal_eval(node.value)
    return found


def journals(folder: Path, perturbation: str) -> list[list[dict[str, Any]]]:
    """The entries of a condition's replicates."""
    files = sorted(folder.glob("mlruns/journals/*/0*.jsonl"))
    read = [[json.loads(line) for line in file.read_text().splitlines()] for file in files]
    return [entries for entries in read if entries[0]["perturbation"] == perturbation]


def asked(folder: Path, perturbation: str, **which: object) -> list[str]:
    """The messages of a call, by the script that shows prompts."""
    condition = journals(folder, perturbation)[0][0]["condition"]
    wish = {"study": "again", "condition": condition, "replicate": 0, "format": "json", **which}
    given = [f"{key}={value}" for key, value in wish.items()]
    root = str(folder / "project")
    printed = call(folder, "scripts/prompt.py", *given, PLENUM_ROOT=root).stdout
    return [message["content"] for message in json.loads(printed)]


def state(label: str, pref: Any, conf: int, tags: Any) -> str:
    shares = ",".join(f"{share:.2f}" for share in pref)
    return f'- {label}: pref=[{shares}] conf={conf} tags=["{tags[0]}","{tags[1]}"]'


def known(turns: list[dict[str, Any]]) -> dict[str, Any]:
    """Table and window after some turns, as the authors' code has them."""
    first = authors()["DEFAULT_STATE"]
    states = dict.fromkeys(SEATS, (first["pref"], first["conf"], first["tags"]))
    window = []
    for turn in turns:
        mind = turn["state"]
        states[turn["seat"]] = (mind["pref"], mind["conf"], mind["tags"])
        argument = " ".join(turn["argument"].split())
        window.append(f"[Round {turn['round']:02d} | {turn['seat']}] {argument}")
    return {
        "state_table": "\n".join(state(seat, *states[seat]) for seat in SEATS),
        "window": "\n".join(window[-15:]) or "(empty)",
        "k": 15,
    }


@pytest.mark.parametrize("before", [0, 7])
def test_a_turn_reads_what_the_released_code_would_have_sent(folder: Path, before: int) -> None:
    turns = [e for e in journals(folder, "none")[0] if e["kind"] == "turn"]
    seat, number = turns[before]["seat"], turns[before]["round"]
    texts = authors()
    user = texts["ROUND_TEMPLATE"].format(
        scenario=released.PACKET,
        role=seat,
        role_order=", ".join(turn["seat"] for turn in turns[: len(SEATS)]),
        round_num=number,
        extra_round_instructions="Last round: pay $2 and conclude." if number == 2 else "",
        **known(turns[:before]),
    )
    mandate = texts["ROLE_MANDATES"][seat]
    found = asked(folder, "none", call="turn", round=number, seat=seat)
    assert found == [texts["GLOBAL_RULES"], f"{mandate}\n\n{user}"]


def test_ballots_and_clerk_read_what_the_released_code_would_have_sent(folder: Path) -> None:
    entries = journals(folder, "none")[0]
    texts, after = authors(), known([e for e in entries if e["kind"] == "turn"])
    ballot = texts["BALLOT_TEMPLATE"].format(role="Equity", scenario_id="HL-01", **after)
    expected = [texts["BALLOT_DEV_RULES"], f"{texts['ROLE_MANDATES']['Equity']}\n\n{ballot}"]
    assert asked(folder, "none", call="ballot", seat="Equity") == expected
    votes = [e["text"] for e in entries if e["kind"] == "ballot"]
    assert all("top_reason" in json.loads(vote) for vote in votes)
    clerk = texts["CLERK_TEMPLATE"].format(
        scenario_id="HL-01", ballots="\n".join(json.dumps(json.loads(v)) for v in votes), **after
    )
    assert asked(folder, "none", call="clerk") == [texts["CLERK_DEV_RULES"], clerk]
    assert entries[-1]["status"] == "completed"


@pytest.mark.parametrize(
    ("perturbation", "names"),
    [
        ("registers6", ["canonical", "plain_words"]),
        ("variants20", ["canonical", "w1", "w2", "w3"]),
    ],
)
def test_wordings_are_those_of_the_release(
    folder: Path, perturbation: str, names: list[str]
) -> None:
    found = [entries[0]["variant"] for entries in journals(folder, perturbation)]
    assert found == names * (4 // len(names))


@pytest.mark.parametrize("replicate", [0, 1])
def test_a_register_names_itself_in_its_ballots(folder: Path, replicate: int) -> None:
    _, ballot = asked(folder, "registers6", replicate=replicate, call="ballot", seat="Chair")
    assert f'"scenario_id":"HL-01-v{replicate}"' in ballot


def test_tables_tell_the_rerun_from_a_run_of_plenums_own(folder: Path) -> None:
    call(folder, "scripts/tables.py", "study=again", "draws=100")
    rows = table(folder, "again")
    assert {(row["scenario"], row["settings"]) for row in rows} == {
        ("HL-01", "edition=published prompts=published")
    }


def test_writing_again_changes_nothing_and_what_is_lacking_is_written(folder: Path) -> None:
    before = files(folder)
    assert "0 files written" in bring_in(folder)
    assert files(folder) == before
    (folder / "project" / PROMPTS / "frame/turn.txt").unlink()
    bring_in(folder)
    assert files(folder) == before
    assert not (folder / "executed").exists()


def test_a_file_that_differs_is_refused_by_name_and_nothing_is_written(tmp_path: Path) -> None:
    released.design(tmp_path)
    (tmp_path / "project").mkdir()
    bring_in(tmp_path)
    changed = tmp_path / "project" / PROMPTS / "mandates/chair.txt"
    changed.write_text("Mine.\n")
    (tmp_path / "project" / SCENARIOS / "HL-01.yaml").unlink()
    before = files(tmp_path)
    line = bring_in(tmp_path, status=2)
    assert line.startswith("error: target: ")
    assert str(changed) in line
    assert line.count("\n") == 1
    assert files(tmp_path) == before


def without(name: str) -> str:
    return released.PROMPTS.replace(f"\n{name} = ", f"\nOTHER_{name} = ")


@pytest.mark.parametrize(
    ("prompts", "problem"),
    [
        ("def f(:\n", "src/prompts.py is no Python"),
        ("x = '\0'", "src/prompts.py is no Python"),
        (f"x = {'-' * 100_000}1", "src/prompts.py is no Python"),
        (f"GLOBAL_RULES = {'1 + ' * 1000}1", "is no"),
        (f"{'a.' * 500}b: int = 1", "GLOBAL_RULES is missing"),
        (released.PROMPTS.replace('S = """Vote', 'S = f"""Vote'), "is no plain constant"),
        (without("ROUND_TEMPLATE"), "ROUND_TEMPLATE is missing"),
        (without("ROLE_MANDATES"), "ROLE_MANDATES is missing"),
        (released.PROMPTS.replace("{round_num}", "{round_num:>9}"), "holds {round_num}"),
        (released.PROMPTS.replace("{round_num}", "{os.environ}"), "holds {os.environ}"),
        (released.PROMPTS.replace("{round_num}", "{round"), "ROUND_TEMPLATE is no template"),
        (released.PROMPTS + "\nGLOBAL_RULES = open('x').read()", "GLOBAL_RULES stands more than"),
        (released.PROMPTS.replace('"""Vote in JSON.\n"""', "print(1)"), "is no plain constant"),
        (
            released.PROMPTS.replace('"Welfare":', '"../../Welfare":'),
            "bad name",
        ),
        (released.PROMPTS.replace('"MANDATE (Rights)"', '"\\ud800"'), "a control character"),
        (
            released.PROMPTS.replace("(0.33, 0.33, 0.34)", "None"),
            "DEFAULT_STATE can't be read",
        ),
        (released.PROMPTS.replace("run_ws_committee", "main"), "run_ws_committee is missing"),
    ],
    ids=lambda text: text[:30],
)
def test_a_released_python_file_that_is_not_as_it_should_be_is_named(
    tmp_path: Path, prompts: str, problem: str
) -> None:
    released.design(tmp_path, prompts)
    (tmp_path / "project").mkdir()
    line = bring_in(tmp_path, status=2)
    assert problem in line
    assert line.count("\n") == 1
    assert list((tmp_path / "project").iterdir()) == []
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("packets", '": "ZZ-09"', '": "../ZZ-09"', "scenarios.1.scenario_id"),
        ("packets", '": "ZZ-09"', '": "HL-01"', "src/packets.json holds HL-01 2 times"),
        ("packets", '": "ZZ-09"', '": "hl-01"', "two of its texts belong into hl-01.yaml"),
        ("packets", "A village", "STATE: x", "STATE:"),
        ("packets", "Options:\\nA) Build: at once.\\nB)", "Options:", "options"),
        ("packets", "{", "[", "src/packets.json"),
        ("registers", '"text": "SCENARIO', '"text": "OTHER', "its first wording isn't its packet"),
        ("registers", '"plain_words"', '"../plain"', "'../plain'; use letters"),
        ("variants", "formatting_changes", "songs", "'songs' is no family"),
        ("variants", "HL-01-w2", "HL-01-w1", "w1 stands twice"),
    ],
)
def test_a_released_text_that_is_not_as_it_should_be_is_named(
    tmp_path: Path, name: str, old: str, new: str, problem: str
) -> None:
    released.design(tmp_path)
    (tmp_path / "project").mkdir()
    (file,) = (tmp_path / "clone").glob(f"*/{name}.json")
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    line = bring_in(tmp_path, status=2)
    assert problem in line
    assert line.count("\n") == 1
    assert list((tmp_path / "project").iterdir()) == []


def test_a_text_that_was_changed_since_is_refused(tmp_path: Path) -> None:
    released.design(tmp_path)
    (tmp_path / "files.csv").write_text("path,blob\nsrc/packets.json,0\n")
    released.catalogue(tmp_path, design=released.DESIGN, files="files.csv")
    (tmp_path / "project").mkdir()
    assert "src/packets.json is not as it was released" in bring_in(tmp_path, status=2)
    assert list((tmp_path / "project").iterdir()) == []


@pytest.mark.parametrize("place", ["conf", PROMPTS])
def test_where_a_folder_can_not_be_written_nothing_is(tmp_path: Path, place: str) -> None:
    released.design(tmp_path)
    file = tmp_path / "project" / place
    file.parent.mkdir(parents=True)
    file.write_text("A file.")
    line = bring_in(tmp_path, status=2)
    assert line.count("\n") == 1
    assert [path for path in (tmp_path / "project").rglob("*") if path.is_file()] == [file]


def test_odd_texts_come_through_letter_by_letter(tmp_path: Path) -> None:
    odd = [
        *(
            "  two spaces \n\nA) x\t\nB) y: ${z} {0} %s \u2028 \x85 — 'q' \"r\" # no",
            "A) a\nB) b\n",
        ),
        "|-\nA) a\nB) b\n---\n...\nid: other\n",
    ]
    packets = {f"OD-0{n}": text for n, text in enumerate(odd)}
    released.design(tmp_path, packets=packets)
    (tmp_path / "project").mkdir()
    bring_in(tmp_path)
    for name, text in packets.items():
        file = tmp_path / "project" / SCENARIOS / f"{name}.yaml"
        assert yaml.safe_load(file.read_text(encoding="utf-8"))["packet"] == text


def test_without_the_files_the_line_says_so(tmp_path: Path) -> None:
    root = str(project(tmp_path))
    done = call(tmp_path, "run.py", "prompts=published", "dry_run=true", PLENUM_ROOT=root, status=2)
    assert done.stderr.startswith("error: prompts.folder: conf/prompts/published does not exist")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (("what=texts",), "what: 'texts' is not one of runs, design"),
        (("what=design",), "published: missing"),
        (("what=design", "published=clone", "target=nowhere"), "target: nowhere is no folder"),
    ],
)
def test_a_wrong_request_is_named(tmp_path: Path, given: tuple[str, ...], problem: str) -> None:
    released.design(tmp_path)
    more = ("catalogue=catalogue.yaml", *given)
    assert problem in call(tmp_path, "scripts/import.py", *more, status=2).stderr
