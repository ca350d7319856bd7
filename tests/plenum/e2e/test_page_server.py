"""The server of a study's page: its link, whom it answers, and that it has what the file has."""

import http.client
import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command_line import call

from plenum.design.kinds import KINDS
from plenum.reports.explorer.contents import gather_study
from plenum.reports.explorer.live import LiveStudy
from plenum.reports.explorer.serve import PageServer
from plenum.reports.settings import Settings
from plenum.tracking.live_page import PageAddress, take_address
from plenum.tracking.study import Study

pytestmark = pytest.mark.slow


@contextmanager
def served(chosen: Settings, journals: Path) -> Iterator[PageAddress]:
    address = take_address(journals, chosen.uri, chosen.study)
    server = PageServer(address, LiveStudy(chosen, journals))
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield address
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        assert address.held is not None
        address.held.close()


def get(
    address: PageAddress, path: str, host: str = "127.0.0.1", method: str = "GET"
) -> tuple[int, bytes]:
    asked = http.client.HTTPConnection("127.0.0.1", address.port, timeout=60)
    asked.request(method, path, headers={"Host": host})
    answer = asked.getresponse()
    data = answer.read()
    asked.close()
    return answer.status, data


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Settings, Path]:
    """A study of two conditions, and the folder of its journals."""
    folder = tmp_path_factory.mktemp("small")
    call(folder, "run.py", "-m", "roles=on,off", "replicates=3", "rounds=4", "study=small")
    chosen = Settings("small", f"sqlite:///{folder}/mlruns/mlflow.db", folder / "out", draws=100)
    return chosen, folder / "mlruns/journals"


def test_it_answers_whoever_has_the_link_and_nobody_else(small: tuple[Settings, Path]) -> None:
    with served(*small) as address:
        own = f"/{address.token}/"
        assert get(address, own)[0] == 200
        assert get(address, own, host=f"localhost:{address.port}")[0] == 200
        refused = {
            get(address, path, **given)
            for path, given in (
                ("/", {}),
                (f"/{address.token[:-1]}x/", {}),
                (f"/{address.token[:-1]}x/data/watch", {}),
                ("/%C3%A9", {}),
                (own, {"host": "rebound.example"}),
                (own, {"host": ""}),
            )
        }
        ((status, told),) = refused  # the same, so that nothing is learnt from it
        assert status == 403
        assert address.token.encode() not in told
        assert get(address, own, method="POST")[0] == 501
        assert {get(address, own + path)[0] for path in ("x", "data/x", "data/talk-x")} == {404}


def test_its_blocks_are_those_of_the_file(small: tuple[Settings, Path]) -> None:
    chosen, _ = small
    study = Study(chosen.study, chosen.uri)
    explorer = KINDS[study.kind].explore()
    with study.transcripts() as kept:
        whole = gather_study(explorer, chosen, study.outlines, kept)
    told = json.loads(json.dumps(whole))
    with served(*small) as address:

        def block(name: str, revision: str = "") -> Any:
            status, data = get(address, f"/{address.token}/data/{name}?index={revision}")
            return json.loads(data) if status == 200 else status

        index = block("index")
        revision = index.pop("revision")
        assert index == told["index"]
        for number in (0, 1):
            figures = block(f"figures-{number}", revision)
            counts = {"n": 3, "failed": 0, "damaged": 0, "pending": 0}
            assert figures == {**told[f"figures-{number}"], "counts": counts}
            assert block(f"talk-{number}", revision) == told[f"talk-{number}"]
        assert block("figures-2", revision) == 404
        assert block("figures-0", "another") == 409
        assert block("watch")["study"] == "small"


def test_what_was_damaged_or_deleted_here_is_read_from_the_store(
    small: tuple[Settings, Path], tmp_path: Path
) -> None:
    chosen, journals = small
    shutil.copytree(journals, tmp_path / "journals")
    for folder in (tmp_path / "journals").glob("*/"):
        (folder / "000.jsonl").write_bytes(b'{"kind":"head"}\n')
        (folder / "001.jsonl").unlink()
    study = LiveStudy(chosen, tmp_path / "journals")
    revision = json.loads(study.read("index", ""))["revision"]
    figures = json.loads(study.read("figures-1", revision))
    assert [r["status"] for r in figures["replicates"]] == ["completed"] * 3
    assert figures["counts"] == {"n": 3, "failed": 0, "damaged": 0, "pending": 0}
    assert len(json.loads(study.read("talk-1", revision))["replicates"]) == 3


def test_a_link_stays_the_same_and_one_process_listens(tmp_path: Path) -> None:
    given = (tmp_path, "sqlite:///x.db", "any")
    first = take_address(*given)
    second = take_address(*given)
    assert second.listening is None
    assert second.link == first.link
    (file,) = tmp_path.glob("*.page")
    assert file.stat().st_mode & 0o077 == 0  # nobody else reads the token
    assert first.listening is not None
    assert first.held is not None
    first.listening.close()
    first.held.close()
    third = take_address(*given)
    assert third.listening is not None
    assert third.held is not None
    assert third.link == first.link
    third.listening.close()
    third.held.close()
    for damaged in ("{half", "[]", '{"port": "a", "token": "b"}', '{"port": 80}', ""):
        file.write_text(damaged)
        again = take_address(*given)
        assert again.listening is not None
        assert again.held is not None
        assert len(again.token) > 20
        assert again.token != first.token
        again.listening.close()
        again.held.close()


def test_a_study_that_was_deleted_is_watched_no_more(tmp_path: Path) -> None:
    call(tmp_path, "run.py", "study=gone", "replicates=2", "rounds=2")
    call(tmp_path, "scripts/study.py", "study=gone", "delete", "yes=true")
    for script, *more in (("scripts/status.py",), ("scripts/explore.py", "live=true")):
        refused = call(tmp_path, script, "study=gone", *more, status=2)
        assert refused.stderr.startswith("error: study: ")
