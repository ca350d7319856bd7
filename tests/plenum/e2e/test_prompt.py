"""`scripts/prompt.py`: the prompts that a real server received, from journals and from MLflow."""

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import KEY, ROOT, Run, call, with_store
from openai_server import Server, serving
from study_prompt import WantedCall, find_call

from plenum.base.errors import UserError
from plenum.execution.replay import convert_messages
from plenum.records.transcript import read_transcript

SMALL = ("replicates=2", "rounds=2", "calls.backoff_s=0.01", "study=asked")
REQUEST = ("study=asked", "round=2", "seat=Chair", "format=json")
CHAIR = WantedCall("asked", "", None, 0, None, 2, "Chair", "json", "")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def folder(empty_store: Path, tmp_path_factory: pytest.TempPathFactory, server: Server) -> Path:
    """Where two replicates were run, the first answer of which had to be repaired."""
    folder = with_store(empty_store, tmp_path_factory.mktemp("asked"))
    server.script += [{"choice": {"content": "I would rather not say."}}]
    backend = ("backend=api", f"backend.api_base.openai={server.url}")
    call(folder, "run.py", *backend, *SMALL, OPENAI_API_KEY=KEY)
    return folder


def uri(folder: Path) -> str:
    return f"sqlite:///{folder}/mlruns/mlflow.db"


def prompts(folder: Path, journals: Path) -> list[list[dict[str, str]]]:
    """Every prompt of the study, as the script finds them."""
    chats = []
    for path in sorted((folder / "mlruns/journals").glob("*/[0-9]*.jsonl")):
        for entry in read_transcript(path).calls:
            kind, number, seat = entry["kind"], entry["round"], entry["seat"]
            wish = WantedCall(
                "asked",
                uri(folder),
                None,
                int(path.stem),
                kind,
                number,
                seat,
                "json",
                str(journals),
            )
            chats.append(convert_messages(find_call(wish)[1]))
    return chats


def test_every_prompt_is_the_one_that_the_server_received(folder: Path, server: Server) -> None:
    received = [request["body"]["messages"] for request in server.requests]
    chats = prompts(folder, folder / "mlruns/journals")
    assert len(chats) == 2 * 16 + 1
    asked, shown = Counter(map(str, received)), Counter(map(str, chats))
    assert not shown - asked
    assert (asked - shown).total() == 2  # the model's trial: a ballot and a count, in no journal
    assert prompts(folder, folder / "elsewhere") == chats  # from the transcripts in MLflow


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"condition": "zz"}, "condition: 'zz' is none of them"),
        ({"replicate": 2}, "replicate: 2; one of 0 to 1"),
        ({"call": "vote"}, "call: 'vote'; one of turn"),
        ({"round": 3}, "round: 3; one of 1 to 2"),
        ({"round": None}, "round: missing; one of 1 to 2"),
        ({"seat": "chair"}, "seat: 'chair'; one of "),
    ],
)
def test_what_there_is_not_is_named_with_what_there_is(
    folder: Path, wrong: dict[str, Any], line: str
) -> None:
    wish = replace(CHAIR, uri=uri(folder), journals=str(folder / "mlruns/journals"), **wrong)
    with pytest.raises(UserError, match=line):
        find_call(wish)


def test_a_prompt_whose_texts_have_changed_since_is_not_made_up(
    folder: Path, tmp_path: Path, run: Run
) -> None:
    for part in ("conf", "scenarios"):
        shutil.copytree(ROOT / part, tmp_path / part)
    changed = tmp_path / "conf/prompts/preamble.txt"
    changed.write_text(changed.read_text() + "\nBe brief.")
    done = run(
        *REQUEST, script="scripts/prompt.py", cwd=folder, PLENUM_ROOT=str(tmp_path), status=2
    )
    assert done.stdout == ""
    assert done.stderr.startswith("error: condition: ")
    assert "have changed" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_condition_that_version_0_2_0_recorded_is_rebuilt(run: Run, tmp_path: Path) -> None:
    run("replicates=1", "rounds=1", "study=before")
    (config,) = tmp_path.glob("mlruns/artifacts/before/*/artifacts/config.yaml")
    simulated = "backend:\n  name: simulated\n"
    written = config.read_text()
    assert simulated in written
    earlier = written.replace(simulated, f"{simulated}  fit: null\n")
    config.write_text(f"durable: false\n{earlier}")
    wish = replace(CHAIR, study="before", uri=uri(tmp_path), round=1)
    assert find_call(replace(wish, journals=str(tmp_path / "mlruns/journals")))[1].seat == "Chair"


def test_the_script_prints_a_prompt_and_names_its_call(folder: Path, run: Run) -> None:
    done = run(*REQUEST, script="scripts/prompt.py", cwd=folder)
    wish = replace(CHAIR, uri=uri(folder), journals=str(folder / "mlruns/journals"))
    assert json.loads(done.stdout) == convert_messages(find_call(wish)[1])
    assert "round 2, Chair" in done.stderr
