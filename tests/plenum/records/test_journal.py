"""The journal: append-only, chained, and whole again after any kill."""

import errno
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from plenum.calls.call_log import CallLog, read_attempts
from plenum.records.chain import DamagedJournal, read_entries
from plenum.records.journal import Journal

Entry = dict[str, Any]

HEAD: Entry = {"condition": "c0ffee", "replicate": 3}
ENTRIES: list[Entry] = [
    {"kind": "turn", "seat": "Chair", "text": 'So, "A".\nÜber alles – 公平\u2028\r'},
    {"kind": "turn", "seat": "Rights", "text": 'A trap: ,"chain":"0123"}', "pref": [0.1, 0.9]},
    {"kind": "end", "status": "completed"},
]

values = st.none() | st.booleans() | st.integers() | st.text(max_size=20)
entries = st.dictionaries(st.text(max_size=8), values, max_size=4).map(
    lambda fields: {"kind": "turn"} | {k: v for k, v in fields.items() if k != "chain"}
)


def write(path: Path, *given: Entry) -> bytes:
    with Journal(path, HEAD) as journal:
        for entry in given:
            journal.append(entry)
    return path.read_bytes()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("journals")


@pytest.fixture(scope="module")
def whole(folder: Path) -> bytes:
    return write(folder / "whole.jsonl", *ENTRIES)


# --- writing and reading -----------------------------------------------------------------------


def test_what_is_appended_is_read_back_in_order(whole: bytes, folder: Path) -> None:
    found = read_entries(folder / "whole.jsonl")
    assert found == [{"kind": "head", "schema": 1, **HEAD}, *ENTRIES]


@given(st.lists(entries, max_size=5))
def test_any_entries_are_read_back(folder: Path, given: list[Entry]) -> None:
    path = folder / "any.jsonl"
    path.unlink(missing_ok=True)
    write(path, *given)
    assert read_entries(path)[1:] == given


def test_equal_deliberations_have_equal_bytes(whole: bytes, tmp_path: Path) -> None:
    assert whole.count(b"\n") == 1 + len(ENTRIES)
    assert whole.endswith(b"\n")
    assert write(tmp_path / "elsewhere" / "other.jsonl", *ENTRIES) == whole


def test_every_line_is_chained_to_the_one_before(whole: bytes) -> None:
    chain = ""
    for line in whole.decode().removesuffix("\n").split("\n"):
        said = json.loads(line)["chain"]
        body = line.removesuffix(f',"chain":"{said}"}}') + "}"
        chain = hashlib.blake2b(f"{chain}{body}".encode(), digest_size=8).hexdigest()
        assert said == chain


def test_an_entry_is_on_disk_as_soon_as_it_is_appended(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with Journal(path, HEAD) as journal:
        for count, entry in enumerate(ENTRIES, start=1):
            journal.append(entry)
            assert read_entries(path)[1:] == ENTRIES[:count]


def test_appending_after_reopening_continues_the_chain(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for entry in ENTRIES:
        write(path, entry)
    assert path.read_bytes() == whole


def test_a_reopened_journal_knows_its_entries_and_its_end(whole: bytes, folder: Path) -> None:
    with Journal(folder / "whole.jsonl", HEAD) as journal:
        assert journal.entries == ENTRIES
        assert journal.end == ENTRIES[-1]
        assert journal.calls == ENTRIES[:-1]


def test_a_journal_ends_with_its_closing_entry_unless_it_was_reopened(tmp_path: Path) -> None:
    for n, kept in enumerate((ENTRIES[:-1], [*ENTRIES, {"kind": "reopen"}])):
        path = tmp_path / f"{n}.jsonl"
        write(path, *kept)
        with Journal(path, HEAD) as journal:
            assert journal.end is None
            assert journal.calls == ENTRIES[:-1]


# --- kills -------------------------------------------------------------------------------------


def test_every_byte_offset_of_a_kill_is_recovered(whole: bytes, folder: Path) -> None:
    path, entries = folder / "cut.jsonl", read_entries(folder / "whole.jsonl")
    for offset in range(len(whole)):
        path.write_bytes(whole[:offset])
        lines = whole[:offset].count(b"\n")
        assert read_entries(path) == entries[:lines]
        there = max(lines - 1, 0)
        assert write(path, *ENTRIES[there:]) == whole


# --- damage ------------------------------------------------------------------------------------


@given(st.data())
@example(data=None)
def test_a_changed_byte_in_a_whole_line_is_found(
    whole: bytes, folder: Path, data: st.DataObject | None
) -> None:
    # The last line break is left out: without it the last line is a torn one.
    offset = data.draw(st.integers(0, len(whole) - 2), label="offset") if data else 40
    byte = data.draw(st.integers(0, 255), label="byte") if data else ord("\r")
    spoilt = bytearray(whole)
    spoilt[offset] = byte
    if spoilt == whole:
        return
    path = folder / "spoilt.jsonl"
    path.write_bytes(spoilt)
    with pytest.raises(DamagedJournal, match=r"spoilt\.jsonl"):
        read_entries(path)


def in_line(number: int, change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Change one line of a journal."""

    def changed(whole: bytes) -> bytes:
        lines = whole.split(b"\n")
        lines[number] = change(lines[number])
        return b"\n".join(lines)

    return changed


def of_lines(change: Callable[[list[bytes]], list[bytes]]) -> Callable[[bytes], bytes]:
    return lambda whole: b"".join(change(whole.splitlines(keepends=True)))


LINES = (
    *(
        lambda line, byte=byte: line[:5] + byte + line[6:]
        for byte in (b"\r", b"\x00", b"\xff", b'"')
    ),
    *(lambda line: line + b"\r", lambda line: line + b" ", lambda line: b" " + line),
    *(lambda line: line[:-1] + b" }", lambda line: line[:-1] + b',"more":1}'),
    *(lambda line: b"[" * 100_000, lambda line: b'{"a":' * 50_000),
)
DAMAGES: list[tuple[Callable[[bytes], bytes], int]] = [
    *((in_line(number, change), number + 1) for number in (0, 1, 3) for change in LINES),
    (of_lines(lambda lines: [lines[0], *lines[2:]]), 2),  # lost
    (of_lines(lambda lines: [lines[0], lines[2], lines[1], lines[3]]), 2),  # reordered
    (of_lines(lambda lines: [*lines[:2], lines[1], *lines[2:]]), 3),  # repeated
    (of_lines(lambda lines: lines[1:]), 1),  # headless
    (of_lines(lambda lines: [*lines, b"\n"]), 5),  # blank
    (lambda whole: whole.replace(b"\n", b"\r\n"), 1),
    *(
        (lambda whole, line=line: line + b"\n", 1)
        for line in (b"{}", b"[]", b"[1]", b'"text"', b"7", b"null", b"no JSON")
    ),
]


@pytest.mark.parametrize(("damage", "line"), DAMAGES)
def test_a_damage_is_found_and_its_line_is_named(
    whole: bytes, tmp_path: Path, damage: Callable[[bytes], bytes], line: int
) -> None:
    path = tmp_path / "000.jsonl"
    path.write_bytes(damage(whole))
    with pytest.raises(DamagedJournal, match=rf"000\.jsonl.*line {line}\b") as found:
        read_entries(path)
    assert "\n" not in str(found.value)
    with pytest.raises(DamagedJournal):
        Journal(path, HEAD)


@pytest.mark.parametrize("replaced", [False, True])
def test_a_second_writer_stops_the_first_one_and_the_journal_is_whole(
    tmp_path: Path, replaced: bool
) -> None:
    path = tmp_path / "000.jsonl"
    with Journal(path, HEAD) as first:
        first.append(ENTRIES[0])
        if replaced:  # as by an editor, or by a restored copy
            copy = path.with_name("copy")
            copy.write_bytes(path.read_bytes())
            copy.replace(path)
        with Journal(path, HEAD) as second:
            second.append(ENTRIES[1])
            with pytest.raises(DamagedJournal, match=f"journal {path}: another process"):
                first.append(ENTRIES[2])
            second.append(ENTRIES[2])
    assert read_entries(path)[1:] == ENTRIES[:3]


@pytest.mark.slow
def test_writers_in_processes_of_their_own_leave_a_whole_journal(tmp_path: Path) -> None:
    path = tmp_path / "000.jsonl"
    Journal(path, HEAD).close()
    write = (
        "import sys; from plenum.records import Journal; from pathlib import Path\n"
        f"with Journal(Path({str(path)!r}), {HEAD!r}) as journal:\n"
        "    print('open', flush=True); input()\n"
        "    for number in range(2000): journal.append({'kind': 'turn', 'round': number})"
    )
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", write],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "open\n"
    ends = [writer.communicate("\n", timeout=60)[1] for writer in writers]
    assert sum("another process writes this replicate" in end for end in ends) >= 2
    rounds = [entry["round"] for entry in read_entries(path)[1:]]
    assert rounds == list(range(len(rounds)))


def test_a_journal_of_another_schema_is_refused(tmp_path: Path) -> None:
    Journal(tmp_path / "a.jsonl", {**HEAD, "schema": 99}).close()
    with pytest.raises(DamagedJournal, match="schema 99"):
        Journal(tmp_path / "a.jsonl", HEAD)


@pytest.mark.parametrize(
    "head", [{"condition": "c0ffee", "replicate": 4}, {"condition": "decaf", "replicate": 3}]
)
def test_a_journal_of_another_replicate_is_refused(whole: bytes, folder: Path, head: Entry) -> None:
    with pytest.raises(DamagedJournal, match="it belongs to"):
        Journal(folder / "whole.jsonl", head)


@pytest.mark.parametrize("tail", [b"", b'{"kind":"tu'], ids=["whole", "torn"])
def test_nothing_is_written_to_a_journal_that_is_refused(
    whole: bytes, tmp_path: Path, tail: bytes
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(whole + tail)
    with pytest.raises(DamagedJournal):
        Journal(path, {"condition": "decaf", "replicate": 3})
    assert path.read_bytes() == whole + tail


@pytest.mark.parametrize("room", [0, 1, 40])
def test_a_full_disk_names_the_file_and_leaves_whole_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    path, write = tmp_path / "000.jsonl", os.write
    left = [room]

    def full(descriptor: int, data: bytes) -> int:
        if not left[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        done = write(descriptor, data[: left[0]])
        left[0] -= done
        return done

    with Journal(path, HEAD) as journal, CallLog(tmp_path / "calls.jsonl") as log:
        journal.append(ENTRIES[0])
        log.append(attempt(0, 1))
        before = path.read_bytes()
        for append in (lambda: journal.append(ENTRIES[1]), lambda: log.append(attempt(0, 2))):
            left[0] = room
            with monkeypatch.context() as patched:
                patched.setattr("plenum.records.atomic_files.os.write", full)
                with pytest.raises(OSError, match="No space left") as refused:
                    append()
            assert refused.value.filename.startswith(str(tmp_path))
        assert path.read_bytes() == before
        journal.append(ENTRIES[1])  # there is room again
        log.append(attempt(0, 3))
    assert read_entries(path)[1:] == ENTRIES[:2]
    assert list(read_attempts(tmp_path / "calls.jsonl")) == [attempt(0, 1), attempt(0, 3)]


# --- the call log ------------------------------------------------------------------------------


def attempt(replicate: int, number: int) -> Entry:
    ended = {"outcome": "ok", "answered": True, "status": 200, "latency_s": 0.25}
    return {**sent(f"{replicate}-{number}", replicate), "attempt": number, **ended}


def sent(id: str, replicate: int = 0) -> Entry:
    named = {"replicate": replicate, "call": "turn", "round": 1, "seat": "Chair", "model": "m"}
    return {**named, "id": id, "answered": False, "status": None, "latency_s": 0.0}


def logged(path: Path, *attempts: Entry) -> CallLog:
    log = CallLog(path)
    for line in attempts:
        log.append(line)
    log.close()
    return log


def test_the_call_log_takes_one_line_an_attempt_and_keeps_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "calls.jsonl"
    for number in (1, 2):
        logged(path, attempt(0, number))
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        attempt(0, 1),
        attempt(0, 2),
    ]


def test_the_call_log_counts_attempts_failures_and_seconds_over_all_runs(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    logged(path, attempt(0, 1) | {"outcome": "server"}, attempt(0, 2), attempt(3, 1))
    usage = logged(path, attempt(0, 1) | {"outcome": "timeout"}).usage
    counts = {n: (u.attempts, u.failed_attempts, u.seconds) for n, u in usage.items()}
    assert counts == {0: (3, 2, 0.75), 3: (1, 0, 0.25)}


def test_a_call_log_is_read_line_by_line_without_the_torn_one(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    assert list(read_attempts(path)) == []
    logged(path, attempt(0, 1), attempt(0, 2))
    path.write_bytes(path.read_bytes()[:-9])
    logged(path, attempt(0, 3))
    assert list(read_attempts(path)) == [attempt(0, 1), attempt(0, 3)]
    assert logged(path).usage[0].attempts == 2


def test_an_attempt_that_was_sent_and_never_ended_is_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    log = CallLog(path)
    log.note_sent(sent("a-1"))
    log.append({**attempt(0, 1), "id": "a-1"})
    log.note_sent(sent("b-1", 1))
    log.close()
    ok, cut = read_attempts(path)
    assert (ok["id"], ok["outcome"]) == ("a-1", "ok")
    assert (cut["id"], cut["outcome"]) == ("b-1", "interrupted")
    assert CallLog(path).usage[1].failed_attempts == 1


def test_a_call_that_went_out_again_after_a_kill_is_two_attempts(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    for _ in range(2):
        log = CallLog(path)
        log.note_sent(sent("a-1"))
        log.close()
    logged(path, {**attempt(0, 1), "id": "a-1"})
    assert sorted(line["outcome"] for line in read_attempts(path)) == ["interrupted", "ok"]
