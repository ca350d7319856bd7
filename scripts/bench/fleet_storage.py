"""Journals in a bucket and on a shared folder: second writers, and what a bucket costs a sweep.

The S3 server is moto's, on this machine and in Python: its seconds are no measure of another's.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from plenum.records import DamagedJournal, Journal, read_entries
from plenum_fleet.buckets import Storage, storage

ROOT = Path(__file__).resolve().parents[2]
_HEAD = {"condition": "c0", "replicate": 0}
_TIMEOUT_S = 500


def measure(quick: bool) -> dict[str, float | bool]:
    """The figures.

    Returns
    -------
    dict
        ``fenced``, whether of two writers of a replicate one was stopped and the journal was
        whole, in every trial in a bucket and on a folder; ``put_ms``, the median of a turn that
        waits for the bucket (PUT and HEAD); ``sweep_s``, ``sweep_s3_s`` and ``sweep_durable_s``,
        seconds of the same simulated sweep on the disk, with a bucket behind it, and waiting for
        it; and whether the ``journals_in_s3`` are those of the disk.
    """
    trials = 5 if quick else 50
    with _serving() as address, tempfile.TemporaryDirectory() as place:
        os.environ.update(address)
        fenced = all(_fenced(Path(place) / f"{n}", n) for n in range(trials))
        put_ms = _put_ms(Path(place) / "put", 20 if quick else 200)
        seconds, same = _sweeps(Path(place), 4 if quick else 20)
    return {"fenced": fenced, "put_ms": put_ms, **seconds, "journals_in_s3": same}


@contextmanager
def _serving() -> Iterator[dict[str, str]]:
    """An S3 server in a process of its own; what reaches it."""
    code = (
        "import logging, time, boto3; from moto.server import ThreadedMotoServer\n"
        "logging.getLogger('werkzeug').setLevel(logging.ERROR)\n"
        "server = ThreadedMotoServer('127.0.0.1', 0, verbose=False); server.start()\n"
        "url = 'http://%s:%d' % server.get_host_and_port()\n"
        "boto3.client('s3', endpoint_url=url, region_name='us-east-1', aws_access_key_id='x',"
        " aws_secret_access_key='x').create_bucket(Bucket='bench')\n"
        "print(url, flush=True); time.sleep(86400)"
    )
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        keys = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
        url = server.stdout.readline().strip()
        yield {**keys, "AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL": url}
    finally:
        server.kill()
        server.wait()


def _machine(place: Path, prefix: str) -> Storage:
    """The bucket as a process of another machine has it."""
    storage.MIRRORS = place
    storage._opened.clear()
    opened = Storage.of(f"s3://bench/{prefix}", durable=True)
    assert opened is not None
    return opened


def _fenced(place: Path, number: int) -> bool:
    """Force a second writer onto a replicate, after so many turns, and let both go on."""
    prefix = f"fenced{number}"

    def on_a_machine(name: str) -> Journal:
        bucket = _machine(place / name, prefix)
        bucket.fetch(bucket.mirror / "c0")
        return Journal(bucket.mirror / "c0/000.jsonl", _HEAD, bucket)

    def on_a_folder(name: str) -> Journal:
        return Journal(place / "shared/000.jsonl", _HEAD)

    in_bucket = _stopped(on_a_machine, number) and _whole(on_a_machine("reader").path, number)
    storage._opened.clear()
    shared = place / "shared/000.jsonl"
    return in_bucket and _stopped(on_a_folder, number) and _whole(shared, number)


def _stopped(opened: Callable[[str], Journal], number: int) -> bool:
    """Return whether the first writer is stopped by the second, who goes on to the end."""
    turns, ended = 1 + number % 7, number % 2 == 0

    async def play(journal: Journal, by: str, count: int, end: bool = False) -> None:
        for turn in range(count):
            journal.append({"kind": "turn", "round": turn, "text": by})
            await journal.hand_over()
        if end:
            journal.append({"kind": "end", "status": "completed"})
            await journal.hand_over(ended=True)

    with opened("a") as first:
        asyncio.run(play(first, "a", turns))
        with opened("b") as second:
            asyncio.run(play(second, "b", turns, ended))
        try:
            asyncio.run(play(first, "a", turns))
        except DamagedJournal:
            return True
    return False


def _whole(path: Path, number: int) -> bool:
    """Return whether a journal verifies, with the turns before the second writer and its own."""
    turns = [entry["text"] for entry in read_entries(path) if entry["kind"] == "turn"]
    count = 1 + number % 7
    return turns == ["a"] * count + ["b"] * count


def _put_ms(place: Path, turns: int) -> float:
    bucket = _machine(place, "put")
    taken = []

    async def play() -> None:
        with Journal(bucket.mirror / "c0/000.jsonl", _HEAD, bucket) as journal:
            for turn in range(turns):
                journal.append({"kind": "turn", "round": turn, "text": "x" * 800})
                began = time.perf_counter()
                await journal.hand_over()
                taken.append(time.perf_counter() - began)

    asyncio.run(play())
    return round(1000 * statistics.median(taken), 1)


def _sweeps(place: Path, replicates: int) -> tuple[dict[str, float], bool]:
    seconds, journals = {}, list[dict[str, bytes]]()
    for name, given in {
        "sweep_s": (),
        "sweep_s3_s": ("journals=s3://bench/behind",),
        "sweep_durable_s": ("journals=s3://bench/durable", "durable=true"),
    }.items():
        folder = place / name
        folder.mkdir()
        command: list[Any] = [sys.executable, ROOT / "run.py", "-m", "roles=on,off", *given]
        began = time.perf_counter()
        subprocess.run(
            [*command, f"replicates={replicates}", "tracking=none"],
            cwd=folder,
            env={**os.environ, "PLENUM_ROOT": str(ROOT)},
            check=True,
            capture_output=True,
            timeout=_TIMEOUT_S,
        )
        seconds[name] = round(time.perf_counter() - began, 1)
        files = folder.glob("mlruns/**/[0-9]*.jsonl")
        journals.append({f"{file.parent.name}/{file.name}": file.read_bytes() for file in files})
    return seconds, journals[0] == journals[1] == journals[2]


if __name__ == "__main__":
    print(json.dumps(measure("--quick" in sys.argv)))
