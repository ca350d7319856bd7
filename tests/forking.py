"""Real command lines without their imports: processes that are forked off one that has them all.

Most of the seconds of ``python run.py ...`` go into importing pandas, MLflow and the rest.
:class:`Process` is a :class:`subprocess.Popen` whose process is forked off a *template*: a process
that has imported them and waits. All else is as with a process that is started: arguments, working
directory, environment, standard streams, process group, signals, exit status, ``__main__``. What
such a process starts itself with this interpreter is forked too, off a copy of the template; so
are the workers of its pools, those of ``multiprocessing`` (``spawn``) and of ``joblib``.

A process is started as usual with ``cold=True``, for a variable that is read when Python or a
library starts (:data:`AT_THE_START`), and where there is no ``prctl``, as outside Linux.
"""

import _posixsubprocess
import atexit
import contextlib
import ctypes
import fcntl
import gc
import importlib
import importlib.util
import inspect
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NoReturn

from config_files import read_configs
from jinja2 import TemplateError

BASE = ("plenum", "mlflow.tracking", "mlflow.store.tracking.sqlalchemy_store", "matplotlib.pyplot")
"""What every template has imported; of our packages every module but those of :data:`_LATER`."""

MORE = {"api": ("plenum.calls.api.backend",), "hosted": ("plenum_hosted.backend",)}
"""What a template has imported for a backend as well."""

LIBRARIES = (
    *(
        "hydra",
        "jinja2",
        "matplotlib.pyplot",
        "networkx",
        "pandas",
        "pyarrow.parquet",
        "rich.console",
    ),
    *("scipy.optimize", "scipy.stats", "sqlalchemy", "statsmodels.stats.multitest"),
)
"""What the template has imported of a process that is to import plenum, and MLflow, itself."""

AT_THE_START = ("PYTHON", "LANG", "LC_", "NPY_", "OMP_", "MKL_", "OPENBLAS_", "MPL")
"""What the names of such variables begin with; ``PYTHONPATH`` alone is followed."""

ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""How templates calculate, and so whatever is forked off them."""

_LATER = (
    *("plenum.calls.api.", "plenum_hosted.", "plenum.testing."),
    "plenum_audit.testing.",
    "plenum_audit.programs.client.",  # what programs import, in environments of their own
)
_WORKERS = ("--multiprocessing-fork", "joblib.externals.loky.backend.popen_loky_posix")
"""What the command line of a pool's worker has."""

_BEYOND = 512
"""More than the number of any open file that a worker of a pool is given."""

_SUBREAPER = 36
"""``PR_SET_CHILD_SUBREAPER``: what descendants leave behind becomes this process's child."""


class Process(subprocess.Popen[Any]):
    """A :class:`subprocess.Popen` of a script, forked off a template unless it is to be cold.

    With ``alone`` the template has imported nothing of plenum; with ``extended`` it has found what
    the packages on ``PYTHONPATH`` add to plenum. The process heeds Ctrl-C even where the tests
    don't: as a shell's background job they ignore it, and children inherit that.
    """

    def __init__(
        self,
        args: Sequence[str],
        *,
        cold: bool = False,
        alone: bool = False,
        extended: bool = False,
        **given: Any,
    ) -> None:
        self._cold, self._alone = cold or sys.platform != "linux", alone
        self._extended = extended
        super().__init__(args, **{"preexec_fn": _heed_interrupts, **given})

    def _execute_child(self, *given: Any) -> None:
        start = _POPEN_START.__get__(self)
        bound = inspect.signature(start).bind(*given).arguments
        if self._cold or not _is_python(bound["args"]) or _read_at_start(bound["env"]):
            start(*given)
        elif self._alone:
            _template("libraries").start(self, bound)
        elif self._extended:
            _template("extended", ("PYTHONPATH", bound["env"]["PYTHONPATH"])).start(self, bound)
        else:
            _template_for(bound["args"], bound["env"]).start(self, bound)


def _heed_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


_POPEN_START = subprocess.Popen._execute_child  # type: ignore[attr-defined]


def run(
    args: Sequence[str], *, timeout: float | None = None, **given: Any
) -> "subprocess.CompletedProcess[str]":
    """Run a script to its end with nobody at its terminal; its output is text."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with Process(args, text=True, **{**streams, **given}) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(args, process.returncode, out, err)


def environment(**extra: str) -> dict[str, str]:
    """The environment without keys or settings of the machine that the tests run on."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith(("_API_KEY", "_API_BASE"))
        and not name.startswith(("MLFLOW_", "PLENUM_", "HYDRA_"))
    }
    return {**kept, **extra}


# --- whoever wants a process ----------------------------------------------------------------------


class Template:
    """The connection to a process that forks one at each request."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._lock = connection, threading.Lock()

    def start(self, process: "subprocess.Popen[Any]", bound: Mapping[str, Any]) -> None:
        """Do the work of ``process._execute_child``, whose arguments are ``bound``."""
        pipes = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        streams = [bound[name] for name in ("p2cread", "c2pwrite", "errwrite")]
        passed = sorted(bound["pass_fds"])
        request = {
            "numbers": [0, 1, 2, *passed],
            "args": list(bound["args"][1:]),
            "cwd": os.fspath(bound["cwd"] or Path.cwd()),
            "env": dict(os.environ if bound["env"] is None else bound["env"]),
            "session": bool(bound["start_new_session"]),
        }
        try:
            given = [n if stream == -1 else stream for n, stream in enumerate(streams)]
            process.pid = self.ask(request, [*given, *passed])
            process._child_created = True  # type: ignore[attr-defined]
        finally:
            process._close_pipe_fds(*(bound[n] for n in pipes))  # type: ignore[attr-defined]

    def ask(self, request: Mapping[str, Any], descriptors: Sequence[int]) -> int:
        """Send a request; returns the id of the process that was forked."""
        with self._lock:
            socket.send_fds(self._connection, [json.dumps(request).encode()], descriptors)
            answer = self._connection.recv(64)
        if not answer:
            raise RuntimeError("the template has ended")
        return int(answer)


def _is_python(args: Sequence[str]) -> bool:
    """Return whether a command line is a script or a module of ours for this interpreter.

    A program under audit isn't: it gets pipes of its own, and must not find our modules imported.
    """
    ours = args[1] in ("-m", "-Pm") or (
        args[1].endswith(".py") and not args[1].endswith("plenum_run.py")
    )
    return args[0] == sys.executable and ours


def _read_at_start(env: Mapping[str, str] | None) -> bool:
    """Return whether an environment differs from the template's in what is read only once."""
    env = os.environ if env is None else env
    names = {n for n in (*os.environ, *env) if n.startswith(AT_THE_START)} - {"PYTHONPATH"}
    return any(
        env.get(name) not in (here := os.environ.get(name), ONE_THREAD.get(name, here))
        for name in names
    )


def _template_for(args: Sequence[str], env: Mapping[str, str] | None) -> Template:
    given = " ".join(args)
    if any(word in given for word in ("api_base", "backend=api", "probe.py")):
        return _template("api")
    hosted = any(word in given for word in ("backend=hosted", "bench/hosted"))
    if not hosted and ("experiment=hosted" not in given or "backend=" in given):
        return _template("base")
    env = os.environ if env is None else env
    return _template("hosted", *((k, v) for k, v in env.items() if k.startswith("HF_")))


@cache
def _template(kind: str, *env: tuple[str, str]) -> Template:
    """A template with variables of its own; but for two, they are forked off another."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if kind == "extended":
        _template("libraries").ask({"imports": BASE, "env": dict(env)}, [theirs.fileno()])
    elif kind not in MORE:
        number, names = theirs.fileno(), LIBRARIES if kind == "libraries" else BASE
        command = [sys.executable, __file__, str(number), *names]
        env = {**os.environ, **ONE_THREAD}
        subprocess.Popen(command, pass_fds=[number], env=env)
        _adopt_orphans()
    else:
        _template("base").ask({"imports": MORE[kind], "env": dict(env)}, [theirs.fileno()])
    theirs.close()
    return Template(ours)


def _adopt_orphans() -> None:
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


# --- the template ---------------------------------------------------------------------------------


def _serve(connection: socket.socket) -> dict[str, Any]:
    """Fork a process at each request; in that process it returns, with the request.

    The process between the two ends at once, so that whoever asked adopts the new one.
    """
    while True:
        data, descriptors, _, _ = socket.recv_fds(connection, 2**20, 64)
        if not data:
            os._exit(0)
        request: dict[str, Any] = json.loads(data)
        answer, answering = os.pipe()
        waiting, adopted = os.pipe()
        between = os.fork()
        if between == 0:
            child = os.fork()
            if child:
                os.write(answering, str(child).encode())
                os._exit(0)
            os.close(adopted)
            os.read(waiting, 1)  # until the template has closed it
            if "imports" not in request:
                connection.detach()
                return {**request, "descriptors": descriptors}
            connection.close()
            connection = socket.socket(fileno=descriptors.pop())
            os.environ.update(request["env"])
            _follow_python_path()
            _import(request["imports"])
        else:
            os.waitpid(between, 0)
            connection.send(os.read(answer, 64))
            os.close(adopted)
        for descriptor in (*descriptors, answer, answering, waiting):
            os.close(descriptor)


def _import(names: Sequence[str]) -> None:
    for name in names:
        module = importlib.import_module(name)
        if name == "plenum":
            for folder in sorted(Path(module.__path__[0]).parent.glob("plenum*/")):
                _import_all(folder)
            _compile_templates(Path(module.__path__[0]).parent)
            read_configs()
    assert threading.active_count() == 1, threading.enumerate()
    gc.collect()
    gc.freeze()


def _import_all(package: Path) -> None:
    """Import the modules of a package, after MLflow was told how to behave in a door."""
    importlib.import_module("plenum.tracking")
    for file in sorted(package.rglob("[!_]*.py")):
        name = ".".join(file.relative_to(package.parent).with_suffix("").parts)
        if not f"{name}.".startswith(_LATER):
            importlib.import_module(name)


def _compile_templates(source: Path) -> None:
    """Compile what reports are written with, which a process would do again for each of its own."""
    reports = source / "plenum/reports"
    usual = importlib.import_module("plenum.show.phrases").make_environment()
    for file in (*source.rglob("*.j2"), *(reports / "page").glob("*.html")):
        folder = file.parent
        if reports in (folder, *folder.parents):
            name = str(file.relative_to(reports)).removeprefix("page/")
        else:
            name = f"{'.'.join(folder.relative_to(source).parts)}/{file.name}"
        with contextlib.suppress(TemplateError):  # it has filters of its own
            usual.get_template(name)
    page = importlib.import_module("plenum.show.renderer")._environment()
    for name in ("report.html", "report.md.j2"):
        page.get_template(name)


def _become(request: Mapping[str, Any], imported: Mapping[str, str]) -> None:
    """Take over what a process is started with, and the variables that imports have set."""
    if request["session"]:
        os.setsid()
    kept = [fcntl.fcntl(d, fcntl.F_DUPFD, _BEYOND) for d in request["descriptors"]]
    os.closerange(3, _BEYOND)
    for number, descriptor in zip(request.get("numbers", range(3)), kept, strict=True):
        os.dup2(descriptor, number)
    os.closerange(_BEYOND, 1024)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update({**imported, **request["env"]})
    for path in _follow_python_path():  # what Python does with it when it starts
        if Path(path, "sitecustomize.py").is_file():
            runpy.run_path(str(Path(path, "sitecustomize.py")))
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, name)
        stream = open(  # noqa: SIM115
            number, old.mode, encoding=old.encoding, errors=old.errors, closefd=False
        )
        if name == "stderr":
            stream.reconfigure(line_buffering=True)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _follow_python_path() -> list[str]:
    """Look for modules where the environment says, too; returns the folders that were new."""
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    new = [path for path in given if path and path not in sys.path]
    sys.path[1:1] = new
    return new


def _copy_template() -> dict[str, Any] | None:
    """Leave a copy behind that forks what this process starts with this interpreter.

    Returns the request in what the copy forks, and None in this process.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        ours.close()
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nothing, number)
        for sign in (signal.SIGINT, signal.SIGTERM):
            signal.signal(sign, signal.SIG_IGN)
        return _serve(theirs)
    theirs.close()
    _adopt_orphans()
    template = Template(ours)

    def start(process: "subprocess.Popen[Any]", *given: Any) -> None:
        bound = inspect.signature(_POPEN_START).bind(process, *given).arguments
        if _is_python(bound["args"]) and not _read_at_start(bound["env"]):
            template.start(process, bound)
        else:
            _POPEN_START(process, *given)

    subprocess.Popen._execute_child = start  # type: ignore[attr-defined]
    _posixsubprocess.fork_exec = partial(_fork_worker, template, _posixsubprocess.fork_exec)
    return None


def _fork_worker(
    template: Template,
    start: Callable[..., int],
    args: Sequence[Any],
    executables: Any,
    close: bool,
    passed: Sequence[int],
    cwd: Any,
    env: Any,
    *more: Any,
) -> int:
    """Do the work of ``_posixsubprocess.fork_exec``, which pools start their workers with."""
    words = [os.fsdecode(word) for word in args]
    given = dict(os.environ if env is None else (os.fsdecode(e).split("=", 1) for e in env))
    if not any(mark in words for mark in _WORKERS) or _read_at_start(given):
        return start(args, executables, close, passed, cwd, env, *more)
    numbers = [0, 1, 2, *passed]
    first = next(n for n, word in enumerate(words) if word in ("-c", "-m"))
    request = {"args": words[first:], "cwd": str(Path.cwd()), "env": given, "session": False}
    return template.ask({**request, "numbers": numbers}, numbers)


def _execute(args: Sequence[str]) -> None:
    """What Python does with its arguments: a script, ``-m`` a module or ``-c``, as ``__main__``."""
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    if args[0] == "-c":
        sys.path[0], sys.argv[:] = "", ["-c", *args[2:]]
        exec(args[1], module.__dict__)
        return
    if args[0] in ("-m", "-Pm"):
        sys.path[:1] = [str(Path.cwd())] if args[0] == "-m" else []
        module.__spec__ = importlib.util.find_spec(args[1])
        assert module.__spec__ is not None
        file, rest = str(module.__spec__.origin), args[2:]
    else:
        file, rest, sys.path[0] = args[0], args[1:], str(Path(args[0]).parent)
    module.__file__ = file
    sys.argv[:] = [file, *rest]
    exec(compile(Path(file).read_bytes(), file, "exec"), module.__dict__)


def _end(error: BaseException | None) -> NoReturn:
    """What Python does at the end, but for taking all modules apart, which takes 0.2 s."""
    status: Any = 0
    if isinstance(error, SystemExit):
        status = error.code or 0
    elif error is not None:
        sys.excepthook(type(error), error, error.__traceback__)
        status = 1
    if not isinstance(status, int):
        print(status, file=sys.stderr)
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        status = 120
    if isinstance(error, KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(status & 0xFF)


def main() -> None:
    """Be a template, and then, in what it forks, a process."""
    before = set(os.environ)
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, signal.SIG_IGN)
    _import(sys.argv[2:])
    imported = {name: value for name, value in os.environ.items() if name not in before}
    request: dict[str, Any] | None = _serve(socket.socket(fileno=int(sys.argv[1])))
    while request is not None:
        _become(request, imported)
        args = request["args"]
        request = None if args[0] in ("-c", "-m", "-Pm") else _copy_template()
    try:
        _execute(args)
    except BaseException as error:
        _end(error)
    _end(None)


if __name__ == "__main__":
    main()
