"""How often a program under audit can read the audit's key of another process of its user.

A hostile program leaves a process behind as early as it can: when plenum asks what it is, before
its first run. That one reads every other process's variables, command line and open files over and
over, until the audit is over. Where root measures, the audit runs without root's rights to
look into other processes, which no other user has.

The shell that has the key exported keeps it in its own ``/proc/PID/environ``: it is named, and not
counted, as is whatever else of this user isn't a process of the audit. It also shows that the
hostile program can see what is there to be seen.
"""

import ctypes
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from audits.upstream import serving

ROOT = Path(__file__).resolve().parents[3]
_SAMPLES = 10_000
_RUNS = 12
_TIMEOUT_S = 300
_WRITTEN_S = 20
_UNDECIDED = 3
_PR_CAPBSET_DROP = 24
_RIGHTS = (19, 21, 38)
"""CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_PERFMON."""

_PROGRAM = '''
import ctypes, json, os, sys, time, urllib.request

MARK, FOUND = {mark!r}.encode(), {found!r}
libc = ctypes.CDLL(None)


def watch(audit):
    """Look into every other process until the audit is gone."""
    samples, hits = 0, {{}}
    inward, outward = os.pipe()
    while os.path.exists(f"/proc/{{audit}}"):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            if pid == str(os.getpid()):
                continue
            for kind in ("environ", "cmdline", "fd"):
                samples += kind == "environ"
                try:
                    shown = fds(pid, inward, outward) if kind == "fd" else read(pid, kind)
                    if MARK not in shown:
                        continue
                    name = read(pid, "cmdline").replace(b"\\0", b" ").decode(errors="replace")
                    of_audit = audit in line(pid)
                except OSError:  # it is closed, or gone
                    continue
                key = json.dumps([kind, int(pid), of_audit, name[:200]])
                hits[key] = hits.get(key, 0) + 1
    with open(FOUND + ".part", "w") as file:
        json.dump({{"samples": samples, "hits": hits}}, file)
    os.rename(FOUND + ".part", FOUND)


def read(pid, kind):
    with open(f"/proc/{{pid}}/{{kind}}", "rb") as file:
        return file.read()


def fds(pid, inward, outward):
    """What lies in a process's pipes, without taking it out, and in files that it reads."""
    shown = b""
    for name in os.listdir(f"/proc/{{pid}}/fd"):
        path = f"/proc/{{pid}}/fd/{{name}}"
        try:
            target = os.readlink(path)
            if target.startswith("pipe:"):
                with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as pipe:
                    if libc.tee(pipe.fileno(), outward, 2**16, 2) > 0:
                        shown += os.read(inward, 2**16)
            elif target.endswith(".json"):
                with open(path, "rb") as file:
                    shown += file.read(2**16)
        except OSError:
            continue
    return shown


def line(pid):
    """The ancestors of a process."""
    found = []
    while int(pid) > 1:
        pid = int(read(pid, "stat").rpartition(b")")[2].split()[1])
        found.append(pid)
    return found


if "--describe" in sys.argv and not os.path.exists(FOUND + ".begun"):
    open(FOUND + ".begun", "w").close()
    audit = os.getppid()
    if os.fork() == 0:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nowhere, number)
        try:
            watch(audit)
        finally:
            os._exit(0)


def committee(case, run):
    body = {{"model": "gpt-x", "messages": [{{"role": "user", "content": case.text}}]}}
    request = urllib.request.Request(
        f"{{run.base_url}}/chat/completions",
        json.dumps(body).encode(),
        {{"Authorization": f"Bearer {{run.token}}", "Content-Type": "application/json"}},
    )
    with urllib.request.urlopen(request) as answer:
        json.load(answer)
    return next(iter(case.options))
'''


def measure(quick: bool = False) -> dict[str, Any]:
    """Hits among the samples of audits, until there are enough samples."""
    samples, hits, others = 0, Counter[str](), Counter[str]()
    while samples < (_SAMPLES // 10 if quick else _SAMPLES):
        more, found = _audited()
        samples += more
        for hit, count in found.items():
            kind, pid, of_audit, name = json.loads(hit)
            (hits if of_audit else others)[f"{kind} of {name.strip() or pid}"] += count
    if not others:
        sys.exit("key: not even the shell shows the key: the hostile program sees nothing here")
    for name, count in hits.most_common():
        print(f"key readable: {count} times in {name}")
    for name, count in others.most_common():
        print(f"not counted, no process of the audit: {count} times in {name}")
    return {"key_readable": sum(hits.values()), "key_samples": samples}


def _audited() -> tuple[int, dict[str, int]]:
    """Audit the hostile program once; its samples, and how often it saw the key where."""
    mark = secrets.token_hex(12)
    with tempfile.TemporaryDirectory() as folder, serving(0.1) as upstream:
        found = Path(folder, "found.json")
        program = Path(folder, "hostile.py")
        program.write_text(_PROGRAM.format(mark=mark, found=str(found)), encoding="utf-8")
        command = [
            *(sys.executable, str(ROOT / "scripts/audit.py"), f"committee={program}:committee"),
            f"case={ROOT}/examples/cases/night-nurse.yaml",
            *("backend=api", f"backend.api_base.openai={upstream.url}", f"max_runs={_RUNS}"),
            *("concurrency=2", "acceptable=0.99", "unacceptable=0.90"),
        ]
        ours = ("MLFLOW_", "PLENUM_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        ended = subprocess.run(
            ["sh", "-c", '"$@"; exit $?', "shell-with-the-key", *command],
            cwd=folder,
            env={**kept, "OPENAI_API_KEY": f"sk-{mark}"},
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            preexec_fn=_without_rights,
            check=False,
        )
        if ended.returncode != _UNDECIDED:
            sys.exit(f"key: the audit ended with {ended.returncode}:\n{ended.stderr[-2000:]}")
        deadline = time.monotonic() + _WRITTEN_S
        while not found.exists():
            if time.monotonic() > deadline:
                sys.exit("key: the hostile program left no result")
            time.sleep(0.1)
        result = json.loads(found.read_text(encoding="utf-8"))
    return int(result["samples"]), result["hits"]


def _without_rights() -> None:
    """Give up root's rights to look into processes, from the next program on."""
    for right in _RIGHTS:
        ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, right)
