"""A forked process does what a started one does."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import forking
import pytest

from plenum.base.processes import ONE_THREAD

SCRIPTS = {
    "tells": """
        import json, os, signal, sys
        main = sys.modules["__main__"]
        print(json.dumps({
            "argv": sys.argv, "path": sys.path[0], "cwd": os.getcwd(), "file": main.__file__,
            "name": __name__, "is main": main.__dict__ is globals(), "spec": str(main.__spec__),
            "set": os.environ.get("SET"), "unset": os.environ.get("UNSET"),
            "input": sys.stdin.read(), "leader": os.getsid(0) == os.getpid(),
            "encodings": [[s.encoding, s.errors] for s in (sys.stdin, sys.stdout, sys.stderr)],
            "signals": [str(signal.getsignal(s)) for s in (signal.SIGINT, signal.SIGTERM)],
        }))
        print("beside", file=sys.stderr)
        """,
    "status": "raise SystemExit(3)",
    "words": "raise SystemExit('no')",
    "bug": "1 / 0",
    "interrupted": "raise KeyboardInterrupt",
    "at exit": "import atexit; atexit.register(print, 'last')",
    "thread": "import threading; threading.Timer(0.1, print, ['late']).start()",
    "pools": """
        import sys
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context
        import joblib

        def said(number):
            return number, __name__, sys.argv

        if __name__ == "__main__":
            with ProcessPoolExecutor(2, get_context("spawn")) as pool:
                print(list(pool.map(said, range(3))))
            print(joblib.Parallel(2)(joblib.delayed(pow)(n, 2) for n in range(3)))
        """,
    "module": """
        import subprocess, sys
        print(subprocess.run([sys.executable, "-m", "child", "x"], text=True, stdout=-1, input="y"))
        """,
}
CHILD = "import sys; print(__name__, sys.argv[1:], sys.path[0], sys.stdin.read()); sys.exit(4)"


@pytest.mark.parametrize("name", SCRIPTS)
def test_it_says_the_same_and_ends_the_same(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, child = tmp_path / "script.py", tmp_path / "here/child.py"
    child.parent.mkdir()
    child.write_text(CHILD)
    script.write_text(SCRIPTS[name].replace("\n        ", "\n"))
    monkeypatch.setenv("UNSET", "by whoever starts it")
    ends = []
    for cold in (False, True):
        env = {**os.environ, "SET": "yes"}
        env.pop("UNSET")
        given: dict[str, Any] = {"cwd": child.parent, "env": env, "cold": cold}
        with (tmp_path / "input").open("w+") as file:
            file.write("words\n")
            file.seek(0)
            done = forking.run(
                [sys.executable, str(script), "a", "b=c"],
                stdin=file,
                start_new_session=True,
                **given,
            )
        ends.append((done.returncode, done.stdout, done.stderr.splitlines()[-1:]))
    assert ends[0] == ends[1]


@pytest.mark.long
def test_it_is_forked_unless_it_has_to_be_cold(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys; print(*(n in sys.modules for n in ('mlflow', 'pandas')))")
    env = {**os.environ, "PYTHONUTF8": "1"}
    helpers = {**os.environ, **ONE_THREAD}
    ways: list[dict[str, Any]] = [
        *({}, {"env": helpers}, {"alone": True}),
        *({"cold": True}, {"env": env}),
    ]
    ends = [forking.run([sys.executable, str(script)], **given).stdout for given in ways]
    imported, alone, cold = "True True\n", "False True\n", "False False\n"
    assert ends == [imported, imported, alone, cold, cold]


@pytest.fixture
def ignoring() -> Iterator[None]:
    """Ignore Ctrl-C, as a background job of a shell does."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ignoring")
@pytest.mark.parametrize("cold", [False, True])
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_it_gets_signals(tmp_path: Path, sign: signal.Signals, cold: bool) -> None:
    script = tmp_path / "script.py"
    script.write_text("import time; print('there', flush=True); time.sleep(60)")
    command = [sys.executable, str(script)]
    with forking.Process(command, stdout=-1, stderr=-1, cold=cold) as process:
        assert process.stdout.readline() == b"there\n"
        process.send_signal(sign)
        process.communicate(timeout=20)
    assert process.returncode == -sign
