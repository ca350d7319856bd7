"""Run plenum's scripts in forked processes whose imports are done already.

A cold start costs seconds, a fork some hundredths of one. The scripts run as they do from a shell,
with their own arguments, working directory, environment, output and exit status; processes that
they start with the same interpreter are forked as well. Figures are not rendered: instead of an
image, what they show is written (see ``drawings.py``).
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
STUB = HERE / "fork_client.py"
_HEAVY = (
    *("alembic", "hydra", "hydra.experimental.callback", "jinja2", "matplotlib.pyplot", "networkx"),
    *("mlflow", "mlflow.store.tracking.sqlalchemy_store", "numpy", "omegaconf", "pandas"),
    *("matplotlib.backends.backend_agg", "pyarrow.parquet", "rich.console", "rich.table"),
    *("scipy.integrate", "scipy.interpolate", "scipy.optimize", "scipy.stats", "sqlalchemy"),
    *("statsmodels.api", "yaml"),
)


class ForkServer:
    """The running server; use it as a context manager."""

    def __enter__(self) -> "ForkServer":
        self._folder = tempfile.TemporaryDirectory(prefix="golden")
        self.socket = str(Path(self._folder.name) / "socket")
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "fork_server.py"), self.socket],
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise RuntimeError("the fork server did not start")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._folder.cleanup()

    def run(self, arguments: Sequence[str], cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run a script of the checkout, such as ``["run.py", "-m"]``, to its end."""
        script, *rest = arguments
        return subprocess.run(
            [*client(self.socket), str(ROOT / script), *rest],
            cwd=cwd,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=280,
        )


def environment() -> dict[str, str]:
    """An environment without keys or settings of this machine."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith(("_API_KEY", "_API_BASE"))
        and not name.startswith(("MLFLOW_", "PLENUM_", "PYTEST_", "HYDRA_"))
    }
    return {**kept, "COLUMNS": "160", "PYTHONPATH": str(ROOT / "src"), "PYTHONHASHSEED": "0"}


def client(address: str) -> list[str]:
    """The command line in front of a script's arguments that runs it on the server."""
    return [sys.executable, "-I", "-S", str(STUB), address]


# --- the server's side -------------------------------------------------------------------------


def preload() -> None:
    """Import what the scripts will import, but for torch and what needs it."""
    sys.path.insert(0, str(ROOT / "src"))
    for name in _HEAVY:
        importlib.import_module(name)
    for name in sorted(_modules("plenum")):
        with suppress(ImportError):
            importlib.import_module(name)


def _modules(package: str) -> Iterator[str]:
    [folder] = importlib.import_module(package).__path__
    for found in pkgutil.iter_modules([folder]):
        name = f"{package}.{found.name}"
        if found.ispkg and found.name not in ("hosted", "testing", "fault_server"):
            with suppress(ImportError):
                yield from _modules(name)
        elif not found.ispkg and found.name not in ("process", "reporter", "__main__"):
            yield name


def serve(address: str) -> list[str]:
    """Fork for every request; returns, in the forked process, the arguments to run."""
    preload()
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        print("ready", flush=True)
        if os.fork() == 0:  # ends the server when the parent closes its input or dies
            listener.close()
            sys.stdin.read()
            os.kill(os.getppid(), signal.SIGTERM)
            os._exit(0)
        sys.stdin.close()
        while True:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                return _take(connection)
            connection.close()
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _take(connection: socket.socket) -> list[str]:
    """Fork once more: this process answers with the exit status, the new one runs the script."""
    request, streams = _receive(connection)
    runner = os.fork()
    if runner:
        for stream in streams:
            os.close(stream)
        _, status = os.waitpid(runner, 0)
        with suppress(BrokenPipeError):
            connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())
        os._exit(0)
    connection.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    for name in ("stdin", "stdout", "stderr"):
        number, mode = {"stdin": (0, "r"), "stdout": (1, "w"), "stderr": (2, "w")}[name]
        setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    return list(request["arguments"])


def _receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    data, streams, _, _ = socket.recv_fds(connection, 8, 3)
    size, data = int.from_bytes(data, "big"), b""
    while len(data) < size:
        data += connection.recv(size - len(data))
    return json.loads(data), streams


@contextmanager
def _started_by_forks(address: str) -> Iterator[None]:
    """Let what the script starts with this interpreter be forked by the server too."""
    real = subprocess.Popen

    class Popen(real):  # type: ignore[misc, valid-type]
        def __init__(self, args: Any, *rest: Any, **options: Any) -> None:
            if isinstance(args, list | tuple) and args and args[0] == sys.executable:
                args = [*client(address), *args[1:]]
            super().__init__(args, *rest, **options)

    subprocess.Popen = Popen  # type: ignore[misc]
    try:
        yield
    finally:
        subprocess.Popen = real  # type: ignore[misc]


def run(arguments: list[str], address: str) -> int:
    """Run a script, or ``-m`` and a module, as the interpreter would; returns the exit status."""
    try:
        with _started_by_forks(address):
            _run(arguments)
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        return 1
    return 0


def _run(arguments: list[str]) -> None:
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[0] = str(Path(arguments[0]).parent)
        runpy.run_path(arguments[0], run_name="__main__")


def main(address: str) -> None:
    """Serve, and in each forked process run what was asked for."""
    import drawings

    drawings.instead_of_images()
    gc.disable()
    arguments = serve(address)
    gc.enable()
    status = run(arguments, address)
    for step in (threading._shutdown, atexit._run_exitfuncs, sys.stdout.flush, sys.stderr.flush):
        with suppress(Exception):
            step()
    os._exit(status)  # taking the interpreter down would copy every page that is shared


if __name__ == "__main__":
    main(sys.argv[1])
