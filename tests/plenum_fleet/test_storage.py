"""Journals in a bucket: restored elsewhere byte for byte, one writer a replicate, nothing lost."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import s3_server
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

from plenum.base.errors import Stopped, UserError
from plenum.records import CallLog, DamagedJournal, Journal, TakenUp, read_entries, stores
from plenum_fleet.batches import records as batches
from plenum_fleet.buckets import storage
from plenum_fleet.buckets.storage import Storage

HEAD = {"condition": "c0", "replicate": 0}
TURNS = 7


@pytest.fixture(scope="module")
def s3() -> Iterator[s3_server.S3]:
    with s3_server.serving() as server:
        yield server


@pytest.fixture
def prefix(
    s3: s3_server.S3, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> str:
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    return f"{abs(hash(request.node.name)):x}"


Machine = Callable[..., Storage]


@pytest.fixture
def machine(prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """``machine("a")``: go to a machine, whose process has just been started; its storage."""

    def go(name: str, durable: bool = False, patience_s: float = 300) -> Storage:
        monkeypatch.setattr(storage, "MIRRORS", tmp_path / name)
        monkeypatch.setattr(storage, "_opened", {})
        opened = Storage.of(f"s3://plenum/{prefix}", durable)
        assert opened is not None
        opened.bucket._patience_s = patience_s
        return opened

    return go


def opened(bucket: Storage) -> Journal:
    """The journal of the replicate, as one that takes it up opens it."""
    bucket.fetch(bucket.mirror / "c0")
    return Journal(bucket.mirror / "c0/000.jsonl", HEAD, bucket)


def turn(number: int, by: str = "") -> dict[str, Any]:
    return {"kind": "turn", "round": number, "text": f"ünï{by}" * number}


def play(journal: Journal, turns: range, end: bool = False, by: str = "") -> None:
    """Turns that are over one after the other."""

    async def played() -> None:
        for number in turns:
            journal.append(turn(number, by))
            await journal.hand_over()
            await asyncio.sleep(0.005)
        if end:
            journal.append({"kind": "end", "status": "completed"})
            await journal.hand_over(ended=True)

    asyncio.run(played())


def below(s3: s3_server.S3, prefix: str) -> list[str]:
    return [name.removeprefix(f"{prefix}/c0/") for name in s3.names(f"{prefix}/c0")]


def test_a_journal_is_segments_until_its_end_and_one_object_then(
    s3: s3_server.S3, prefix: str, machine: Machine
) -> None:
    a = machine("a", durable=True)
    with opened(a) as journal:
        for number in range(TURNS):
            play(journal, range(number, number + 1))
            names = below(s3, prefix)
            data = b"".join(s3.get(f"{prefix}/c0/{name}") for name in names)
            assert data == journal.path.read_bytes()
        assert names == ["000/00000.jsonl", *(f"000/{n:05d}.jsonl" for n in range(2, TURNS + 1))]
        play(journal, range(0), end=True)
    assert below(s3, prefix) == ["000.jsonl"]
    assert s3.get(f"{prefix}/c0/000.jsonl") == journal.path.read_bytes()


@pytest.mark.parametrize("turns", [0, 1, 4, TURNS])
def test_another_machine_goes_on_where_the_first_one_was_killed(
    s3: s3_server.S3, prefix: str, machine: Machine, tmp_path: Path, turns: int
) -> None:
    with Journal(tmp_path / "whole.jsonl", HEAD) as whole:
        play(whole, range(TURNS), end=True)
    with opened(a := machine("a")) as journal:
        play(journal, range(turns))
    a.flush()
    with opened(machine("b")) as journal:
        assert [entry["round"] for entry in journal.entries] == list(range(turns))
        play(journal, range(turns, TURNS), end=True)
    assert journal.path.read_bytes() == whole.path.read_bytes()
    assert below(s3, prefix) == ["000.jsonl"]


def test_what_a_killed_process_left_here_is_uploaded_by_the_next(
    s3: s3_server.S3, prefix: str, machine: Machine
) -> None:
    with opened(a := machine("a")) as journal:
        play(journal, range(3))
    a.flush()
    storage._opened.clear()  # as where it was killed before it uploaded
    with Journal(journal.path, HEAD) as journal:
        play(journal, range(3, TURNS), end=True)
    a = machine("a")
    a.fetch(a.mirror / "c0")
    a.flush()
    assert below(s3, prefix) == ["000.jsonl"]
    assert s3.get(f"{prefix}/c0/000.jsonl") == journal.path.read_bytes()


@pytest.mark.parametrize("ended", [False, True])
def test_of_two_writers_one_is_fenced_off_and_the_journal_is_whole(
    s3: s3_server.S3, prefix: str, machine: Machine, ended: bool
) -> None:
    with opened(machine("a", durable=True)) as mine:
        play(mine, range(3), by="mine")
        with opened(machine("b", durable=True)) as theirs:
            play(theirs, range(3, TURNS), end=ended, by="theirs")
        names = below(s3, prefix)
        with pytest.raises(
            DamagedJournal, match=rf"journal {mine.path}: s3://plenum/{prefix}/c0/000"
        ):
            play(mine, range(3, TURNS), by="mine")
        with pytest.raises(DamagedJournal):
            play(mine, range(5, 6), end=True, by="mine")
    assert below(s3, prefix) == names
    held = b"".join(s3.get(f"{prefix}/c0/{name}") for name in names)
    assert held == theirs.path.read_bytes()
    texts = [entry["text"] for entry in read_entries(theirs.path) if entry["kind"] == "turn"]
    assert texts == [turn(n, "mine" if n < 3 else "theirs")["text"] for n in range(TURNS)]


def test_equal_lines_of_another_process_fence_off_too(prefix: str, machine: Machine) -> None:
    with opened(machine("a", durable=True)) as mine, opened(machine("b", durable=True)) as theirs:
        play(theirs, range(2))
        with pytest.raises(DamagedJournal):
            play(mine, range(2))


def test_who_takes_a_replicate_up_fences_the_others_off_before_it_writes_a_line(
    s3: s3_server.S3, prefix: str, machine: Machine, tmp_path: Path
) -> None:
    with Journal(tmp_path / "whole.jsonl", HEAD) as whole:
        play(whole, range(TURNS), end=True)
    a = machine("a", durable=True)
    with opened(a) as mine, ExitStack() as others:
        play(mine, range(3))
        assert not storage.list_taken_up([mine.path])
        journals = []
        for name in ("b", "c"):
            journals.append(others.enter_context(opened(machine(name, durable=True))))
            asyncio.run(journals[-1].hand_over())  # about to call
            assert not storage.list_taken_up([journals[-1].path])
        storage._opened["a"] = a
        assert list(storage.list_taken_up([mine.path])) == [mine.path]
        assert list(storage.list_taken_up([mine.path], look=False)) == [mine.path]
        for fenced in (mine, journals[0]):
            with pytest.raises(TakenUp):
                play(fenced, range(3, 4))
        assert storage.fetch(f"s3://plenum/{prefix}", "c0")  # a reader meets the mark, too
        play(journals[1], range(3, TURNS), end=True)
    assert below(s3, prefix) == ["000.jsonl"]
    assert s3.get(f"{prefix}/c0/000.jsonl") == whole.path.read_bytes()


def test_other_lines_here_and_there_stay_and_the_replicate_is_refused(
    s3: s3_server.S3, prefix: str, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        bucket = machine(name)
        mirror = bucket.mirror
        if name == "b":  # whose folder was written without a bucket
            monkeypatch.setattr(storage, "_opened", {})
        kept = stores.find_store(bucket.bucket.url)
        with Journal(mirror / "c0/000.jsonl", HEAD, kept) as journal:
            play(journal, range(2), by=name)
        storage.flush_buckets()
    there, here = below(s3, prefix), journal.path.read_bytes()
    with pytest.raises(DamagedJournal, match="move the file away"):
        opened(machine("b"))
    assert (below(s3, prefix), journal.path.read_bytes()) == (there, here)
    journal.path.unlink()
    with opened(machine("b")) as journal:
        assert journal.entries[1]["text"] == turn(1, "a")["text"]


def test_putting_together_can_be_broken_off_at_any_point(
    s3: s3_server.S3, prefix: str, machine: Machine
) -> None:
    with opened(machine("a", durable=True)) as journal:
        play(journal, range(TURNS))
        segments = {name: s3.get(f"{prefix}/c0/{name}") for name in below(s3, prefix)}
        play(journal, range(0), end=True)
    for left in (dict(list(segments.items())[3:]), segments):
        for name, data in left.items():
            s3.put(f"{prefix}/c0/{name}", data)
        for machine_name in ("a", f"b{len(left)}"):
            there = machine(machine_name)
            with opened(there) as again:
                assert len(again.entries) == TURNS + 1
            there.flush()
            assert again.path.read_bytes() == s3.get(f"{prefix}/c0/000.jsonl")
        assert below(s3, prefix) == ["000.jsonl"]


@pytest.mark.parametrize("damage", ["torn", "changed", "missing", "binary"])
def test_what_does_not_verify_is_not_restored(
    s3: s3_server.S3, prefix: str, machine: Machine, damage: str
) -> None:
    with opened(machine("a", durable=True)) as journal:
        play(journal, range(TURNS))
    name = f"{prefix}/c0/000/00004.jsonl"
    data = s3.get(name)
    s3.delete(name)
    damaged = {"torn": data[:-9], "changed": data.replace(b"n", b"m", 1), "binary": b"\xff\xfe"}
    if damage != "missing":
        s3.put(name, damaged[damage])
    with pytest.raises(DamagedJournal, match=f"s3://plenum/{prefix}/c0/000"):
        opened(machine("b"))
    assert not list(storage.MIRRORS.rglob("000.jsonl"))


@pytest.mark.parametrize("data", [b"\xff\xfe\x00\x80", b"\x89PNG\n\xff", b"\n", b"\xff\n"])
def test_a_binary_object_is_no_journal(
    s3: s3_server.S3, prefix: str, machine: Machine, data: bytes
) -> None:
    s3.put(f"{prefix}/c0/000.jsonl", data)
    with pytest.raises(DamagedJournal, match=f"journal s3://plenum/{prefix}/c0/000"):
        opened(machine("a"))
    assert not list(storage.MIRRORS.rglob("000.jsonl"))


def test_an_object_with_another_name_is_no_segment(
    s3: s3_server.S3, prefix: str, machine: Machine
) -> None:
    s3.put(f"{prefix}/c0/000/readme.jsonl", b"{}\n")
    with opened(machine("a")) as journal:
        play(journal, range(2))
        storage.refresh_from_bucket(journal.path)
    assert len(opened(machine("b")).entries) == 2


@pytest.mark.parametrize("name", ["../x.jsonl", "./000.jsonl", "a\x1bb.jsonl"])
def test_an_object_whose_name_is_no_path_is_told_at_once(
    s3: s3_server.S3, prefix: str, machine: Machine, name: str
) -> None:
    a, lines = machine("a", patience_s=300), list[str]()
    a.bucket.tell = lines.append
    s3.put(f"{prefix}/c0/{name}", b"x")
    with pytest.raises(Stopped, match="whose name is no path; remove it") as stopped:
        a.fetch(a.mirror / "c0")
    assert name.replace("\x1b", "\ufffd") in str(stopped.value)
    assert lines == []


def test_a_replicate_that_had_failed_goes_on_behind_the_whole_object(
    s3: s3_server.S3, prefix: str, machine: Machine
) -> None:
    for name, turns in (("a", range(3)), ("b", range(3, TURNS)), ("a", range(0))):
        with opened(machine(name)) as journal:
            if journal.entries:
                journal.append({"kind": "reopen"})
            play(journal, turns, end=True)
        assert below(s3, prefix) == ["000.jsonl"]
        assert s3.get(f"{prefix}/c0/000.jsonl") == journal.path.read_bytes()


def test_a_bucket_that_does_not_answer_loses_nothing(
    s3: s3_server.S3, prefix: str, machine: Machine
) -> None:
    a, lines = machine("a", patience_s=0.8), list[str]()
    a.bucket.tell = lines.append
    with opened(a) as journal:
        play(journal, range(2))
        a.flush()
        s3.stop()
        try:
            play(journal, range(2, 5))  # calls go on
            with pytest.raises(Stopped, match=f"s3://plenum/{prefix}"):
                a.flush()
            with pytest.raises(Stopped):
                play(journal, range(5, 6))
        finally:
            s3.start()
    assert len(lines) == 1
    a = machine("a")
    with opened(a) as journal:
        assert len(journal.entries) == 6
        play(journal, range(0), end=True)
    assert s3.get(f"{prefix}/c0/000.jsonl") == journal.path.read_bytes()


def test_an_outage_is_sat_out(s3: s3_server.S3, prefix: str, machine: Machine) -> None:
    a, lines = machine("a"), list[str]()
    a.bucket.tell = lines.append
    with opened(a) as journal:
        s3.stop()
        back = threading.Timer(1.5, s3.start)
        back.start()
        play(journal, range(TURNS), end=True)
        back.join()
    assert below(s3, prefix) == ["000.jsonl"]
    assert ["answers again" in line for line in lines] == [False, True]


def test_a_lost_answer_of_the_bucket_is_no_second_writer(prefix: str, machine: Machine) -> None:
    a, b = machine("a").bucket, machine("b").bucket
    assert a.create("x", b"1")
    assert a.create("x", b"1")
    assert not a.create("x", b"2")
    assert not b.create("x", b"1")


def test_call_logs_of_several_machines_stand_beside_each_other(machine: Machine) -> None:
    line = {"replicate": 0, "outcome": "ok", "latency_s": 0.5}
    for name in ("a", "b", "a"):
        bucket = machine(name)
        bucket.fetch(bucket.mirror / "c0")
        with CallLog(bucket.mirror / "c0/calls.jsonl") as log:
            log.append(line)
        bucket.flush()
    bucket = machine("b")
    bucket.fetch(bucket.mirror / "c0")
    logs = {path.name: path.read_bytes() for path in (bucket.mirror / "c0").glob("calls*.jsonl")}
    assert sorted(data.count(b"\n") for data in logs.values()) == [1, 2]
    assert logs["calls.jsonl"].count(b"\n") == 1


def test_a_journal_that_was_set_aside_is_aside_everywhere(
    s3: s3_server.S3, prefix: str, machine: Machine
) -> None:
    with opened(a := machine("a")) as journal:
        play(journal, range(3), by="first")
    a.set_aside(journal.path, journal.path.with_name("000.diverged1.jsonl"))
    with Journal(journal.path, HEAD, a) as journal:
        play(journal, range(2), end=True)
    with opened(machine("b")) as again:
        assert len(again.entries) == 3
    assert again.path.with_name("000.diverged1.jsonl").exists()
    assert below(s3, prefix) == ["000.diverged1.jsonl", "000.jsonl"]


def test_what_was_sent_in_a_batch_is_known_everywhere(machine: Machine) -> None:
    a = machine("a")
    (folder := a.mirror / storage.BATCHES_FOLDER).mkdir(parents=True)
    batches.begin(folder, "m", "", ("0-0-0", "1-0-0")).note_submission("batch_1")
    a.flush()
    b = machine("b")
    b.fetch(b.mirror / storage.BATCHES_FOLDER)
    assert [each.id for each in batches.list_unfinished(b.mirror / storage.BATCHES_FOLDER)] == [
        "batch_1"
    ]


def test_removing_a_condition_removes_its_objects_alone(
    s3: s3_server.S3, prefix: str, machine: Machine
) -> None:
    a = machine("a")
    for name in ("c0", "c00"):
        with Journal(a.mirror / name / "000.jsonl", HEAD, a) as journal:
            play(journal, range(2))
    a.flush()
    a.remove("c0")
    assert {name.split("/")[1] for name in s3.names(prefix)} == {"c00", "plenum"}


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("s3://no-such-bucket/x", "NoSuchBucket"),
        ("gs://bucket/x", "s3://bucket/prefix"),
        ("s3://bucket/../x", "s3://bucket/prefix"),
    ],
)
@pytest.mark.usefixtures("machine")
def test_what_can_not_work_is_refused_in_one_line(url: str, what: str) -> None:
    with pytest.raises(UserError, match=what):
        Storage.of(url)


@pytest.mark.usefixtures("machine")
def test_an_endpoint_that_is_no_url_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "nowhere")
    with pytest.raises(UserError, match=r"^journals: s3://bucket/x: its endpoint 'nowhere'"):
        Storage.of("s3://bucket/x")


def test_a_bucket_that_overwrites_what_is_there_is_refused(
    prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = DomainDispatcherApplication(create_backend_app)

    def careless(environ: dict[str, Any], respond: Any) -> Any:
        environ.pop("HTTP_IF_NONE_MATCH", None)
        return app(environ, respond)

    server = make_server("127.0.0.1", 0, careless, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.port}")
    with pytest.raises(UserError, match="If-None-Match"):
        Storage.of(f"s3://plenum/{prefix}/careless")
    server.shutdown()


def test_without_a_bucket_nothing_changes(tmp_path: Path) -> None:
    assert Storage.of("mlruns/journals") is None
    assert storage.bucket_folder("/data/journals") == Path("/data/journals")
    with Journal(tmp_path / "000.jsonl", HEAD) as journal:
        play(journal, range(2), end=True)
    assert len(read_entries(journal.path)) == 4
