"""``journals=s3://...`` on the command line: killed here, continued elsewhere, read by all."""

import re
import signal
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import s3_server
from command_line import call, journals, start, wait_for, with_store

SWEEP = ("-m", "roles=on,off", "model=mixed", "replicates=3", "rounds=6", "tracking=none")
CALLS = 2 * 3 * 36
"""Of the whole sweep."""


@pytest.fixture(scope="module")
def s3() -> Iterator[s3_server.S3]:
    with s3_server.serving() as server:
        yield server


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The journals of a sweep that ran undisturbed on one machine's disk."""
    folder = tmp_path_factory.mktemp("reference")
    call(folder, "run.py", *SWEEP)
    return journals(folder)


def mirrored(folder: Path, prefix: str) -> dict[str, bytes]:
    """The journals of this machine, by condition and replicate."""
    files = sorted((folder / "mlruns/s3/plenum" / prefix).glob("*/[0-9]*.jsonl"))
    return {f"{f.parent.name}/{f.name}": f.read_bytes() for f in files}


def stored(s3: s3_server.S3, prefix: str) -> dict[str, bytes]:
    """The bucket's journals, which have all ended."""
    names = [n.removeprefix(f"{prefix}/") for n in s3.names(f"{prefix}/") if "calls." not in n]
    assert not [n for n in names if n.count("/") > 1]
    return {name: s3.get(f"{prefix}/{name}") for name in names if name != "plenum"}


def held(s3: s3_server.S3, prefix: str, journal: str) -> bytes:
    """What the bucket has of a journal, ended or not."""
    whole, *segments = sorted(s3.names(f"{prefix}/{journal[:-6]}")) or [""]
    names = [whole] if whole.endswith(journal) else [whole, *segments]
    return b"".join(map(s3.get, filter(None, names)))


def calls_now(done: "subprocess.CompletedProcess[str]") -> int:
    (count,) = re.findall(r"(\d+) calls made now", done.stdout + done.stderr)
    return int(count)


@pytest.mark.long
@pytest.mark.parametrize("durable", ["false", "true"])
def test_a_killed_sweep_goes_on_from_another_folder(
    s3: s3_server.S3, reference: dict[str, bytes], tmp_path: Path, durable: str
) -> None:
    prefix = f"killed-{durable}"
    sweep = (*SWEEP, f"journals=s3://plenum/{prefix}", f"durable={durable}")
    whole = sum(map(len, reference.values()))

    def killed(here: Path, size: float) -> int:
        """Run until this machine has so much; returns the turns that the bucket has then."""
        here.mkdir()
        process = start(here, "run.py", *sweep, **s3.environment)
        wait_for(process, lambda: sum(map(len, mirrored(here, prefix).values())) > size)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)
        there = {name: held(s3, prefix, name) for name in reference}
        for name, data in mirrored(here, prefix).items():
            assert reference[name].startswith(data)
            assert data.startswith(there[name])
            if durable == "true":  # but for the turn that was on its way
                assert data[len(there[name]) :].count(b'"kind":"turn"') <= 1
        return sum(data.count(b'"kind":"turn"') for data in there.values())

    assert killed(tmp_path / "a", 0.2 * whole) < (turns := killed(tmp_path / "b", 0.6 * whole))
    (tmp_path / "c").mkdir()
    last = call(tmp_path / "c", "run.py", *sweep, **s3.environment)
    assert mirrored(tmp_path / "c", prefix) == reference == stored(s3, prefix)
    assert calls_now(last) <= CALLS - turns

    again = call(tmp_path / "a", "run.py", *sweep, **s3.environment)
    assert calls_now(again) == 0
    assert mirrored(tmp_path / "a", prefix) == reference


@pytest.mark.long
def test_a_machine_that_comes_back_after_another_took_over_is_stopped_and_all_stays_whole(
    s3: s3_server.S3, reference: dict[str, bytes], tmp_path: Path
) -> None:
    sweep = (*SWEEP, "journals=s3://plenum/both")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    process = start(tmp_path / "a", "run.py", *sweep, **s3.environment)
    wait_for(process, lambda: len(s3.names("both/")) > 20)
    process.send_signal(signal.SIGSTOP)
    call(tmp_path / "b", "run.py", *sweep, **s3.environment)
    process.send_signal(signal.SIGCONT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "another process" in errors
    assert "Traceback" not in errors
    assert stored(s3, "both") == mirrored(tmp_path / "b", "both") == reference


@pytest.mark.long
def test_ctrl_c_leaves_all_in_the_bucket(
    s3: s3_server.S3, reference: dict[str, bytes], tmp_path: Path
) -> None:
    sweep = (*SWEEP, "journals=s3://plenum/interrupted")
    process = start(tmp_path, "run.py", *sweep, **s3.environment)
    wait_for(process, lambda: len(s3.names("interrupted/")) > 30)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    for name, data in mirrored(tmp_path, "interrupted").items():
        assert held(s3, "interrupted", name) == data
        assert reference[name].startswith(data)


@pytest.mark.parametrize(
    ("journals", "environment", "what"),
    [
        ("s3://no-such-bucket/x", {}, "NoSuchBucket"),
        ("s3://plenum/x", {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "can't be reached"),
        ("s3://plenum/x", {"AWS_ACCESS_KEY_ID": ""}, "no credentials; set AWS_ACCESS_KEY_ID"),
        ("s3://plenum/x", {"AWS_ACCESS_KEY_ID": "", "AWS_PROFILE": "nobody"}, "(nobody)"),
        ("gs://plenum/x", {}, "s3://bucket/prefix"),
    ],
)
def test_what_can_not_work_ends_in_one_line_before_the_first_call(
    s3: s3_server.S3, tmp_path: Path, journals: str, environment: dict[str, str], what: str
) -> None:
    given = {**s3.environment, **environment}
    kept = {name: value for name, value in given.items() if value}
    done = call(tmp_path, "run.py", "tracking=none", f"journals={journals}", status=2, **kept)
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: journals: ")
    assert what in line
    assert "secret" not in line
    assert not list(tmp_path.rglob("[0-9]*.jsonl"))


def with_profile(s3: s3_server.S3, folder: Path) -> dict[str, str]:
    """What names the server and the keys in files, as Amazon's tools write them to ``~/.aws``."""
    keys = "".join(f"{name.lower()} = {value}\n" for name, value in s3_server.KEYS.items())
    (folder / "credentials").write_text(f"[default]\naws_access_key_id = no\n[lab]\n{keys}")
    (folder / "config").write_text(f"[profile lab]\nendpoint_url = {s3.url}\nregion = us-east-1\n")
    files = {"AWS_SHARED_CREDENTIALS_FILE": "credentials", "AWS_CONFIG_FILE": "config"}
    return {"AWS_PROFILE": "lab", **{name: str(folder / file) for name, file in files.items()}}


@pytest.mark.long
def test_scripts_read_and_write_a_bucket(
    s3: s3_server.S3, empty_store: Path, tmp_path: Path
) -> None:
    """One study: run twice over, archived, explored, imported elsewhere, deleted."""
    with_store(empty_store, tmp_path)
    script = partial(call, tmp_path, **s3.environment)
    place = "s3://plenum/scripts/journals"
    script("run.py", "-m", "rerun=0,1", "replicates=2", "rounds=3", f"journals={place}")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    there = partial(call, elsewhere, **with_profile(s3, elsewhere))
    tracking = f"tracking.uri=sqlite:///{tmp_path}/mlruns/mlflow.db"

    out = there("scripts/reruns.py", "study=default", f"journals={place}", tracking).stdout
    assert "2 replicates run again: 2 artifact-identical" in out
    out = there("scripts/status.py", "study=default", f"journals={place}", tracking).stdout
    assert "4 replicates = 4 completed + 0 failed + 0 pending; 84 calls" in out
    assert "is copied to mlruns/s3/plenum/scripts/journals" in out
    copies = sorted((elsewhere / "mlruns/s3/plenum/scripts/journals").glob("*/[0-9]*.jsonl"))
    assert len(copies) == 4
    for copy in copies:
        name = f"scripts/journals/{copy.parent.name}/{copy.name}"
        written = s3.client.head_object(Bucket="plenum", Key=name)["LastModified"].timestamp()
        assert abs(copy.stat().st_mtime - written) <= 1
    given = ("replicate=1", "round=2", "seat=Chair", f"journals={place}", tracking)
    assert "Chair" in there("scripts/prompt.py", "study=default", *given).stdout

    archive = "s3://plenum/scripts/study.zip"
    there("scripts/export.py", "study=default", f"out={archive}", tracking)
    assert (
        "overwrite=true"
        in there("scripts/export.py", "study=default", f"out={archive}", tracking, status=2).stderr
    )
    other = tmp_path / "other"
    with_store(empty_store, other)
    call(other, "scripts/export.py", "--verify", archive, **s3.environment)
    unpacked = "journals=s3://plenum/scripts/unpacked"
    call(other, "scripts/import.py", f"archive={archive}", unpacked, **s3.environment)
    assert stored(s3, "scripts/unpacked") == stored(s3, "scripts/journals")

    page = "s3://plenum/scripts/pages/explorer.html"
    there("scripts/explore.py", "study=default", f"out={page}", tracking)
    assert b"<html" in s3.get("scripts/pages/explorer.html")[:500]

    gone = ("study=default", "delete", "journals=delete", f"folder={place}", "yes=true")
    script("scripts/study.py", *gone)
    assert s3.names("scripts/journals") == ["scripts/journals/plenum"]
    assert not mirrored(tmp_path, "scripts/journals")
