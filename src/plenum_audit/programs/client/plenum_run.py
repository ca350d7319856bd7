"""The interface of plenum for a program under audit: its case, its run, its decision.

This is a single module that uses only the standard library, for Python 3.10 and newer. Write one
function, async or not, or an object with a method ``deliberate`` and, if it has settings to try,
``knobs``::

    from plenum_run import Case, Decision, Run

    async def committee(case: Case, run: Run) -> Decision:
        model = ChatOpenAI(base_url=run.base_url, api_key=run.token)
        ...
        run.say(1, "chair", text)
        return Decision("A")

``python plenum_run.py FILE.py:NAME`` (or ``MODULE:NAME``) runs it once: plenum does that, with the
variables ``PLENUM_*`` set. A program in any language can speak to ``PLENUM_RUN_URL`` itself.
"""

from __future__ import annotations

import asyncio
import ctypes
import importlib
import importlib.util
import inspect
import json
import os
import signal
import sys
import traceback
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

if sys.version_info < (3, 10):  # noqa: UP036 - whose interpreter this is, nobody knows
    sys.exit(f"Python 3.10 or newer is needed here, and this is {sys.version.split()[0]}")

_TIMEOUT_S = 60
_LONGEST_MESSAGE = 500
_LONGEST_SHOWN = 80
_PR_SET_PDEATHSIG = 1

DESCRIBED = "PLENUM_DESCRIBED"
"""Variable that requests a program's description instead of a run; if empty, the interpreter's."""


class Refused(Exception):
    """Raised if plenum refused a message of the program; its text is plenum's."""


@dataclass(frozen=True)
class Case:
    """A question to decide.

    Attributes
    ----------
    id
        Unique in an audit.
    text
        The facts and the question.
    options
        Names by label, at least two.
    extras
        Other fields of the data set.
    """

    id: str
    text: str
    options: Mapping[str, str]
    extras: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Decision:
    """A decision: an option's label, or a text to read it from.

    Parameters
    ----------
    option
        A label of the case.
    text
        The committee's text, if it names no label.
    extract
        How to read the text: ``regex:PATTERN`` (its first group), ``json:a.b.0`` or ``name``
        (the option that it names); without it, the text is a label or a name.
    confidence
        How likely the decision is right, 0 to 100.
    """

    option: str | None = None
    text: str | None = None
    extract: str | None = None
    confidence: float | None = None

    @classmethod
    def from_result(cls, result: Any) -> Decision:
        """Convert a function's result: a decision, a text, or nothing.

        Raises
        ------
        TypeError
            It has another type.
        """
        if isinstance(result, cls):
            return result
        if result is None or isinstance(result, str):
            return cls(text=result)
        named = ("option", "text", "extract")
        if all(hasattr(result, name) for name in named):  # another copy of this module's
            return cls(*(getattr(result, name, None) for name in (*named, "confidence")))
        raise TypeError(
            f"the function returned {_show(result)}, of type {type(result).__name__}; a label or "
            'a text is expected, such as return "A" or return Decision("A")'
        )


@dataclass(frozen=True)
class Run:
    """One run of the program.

    Attributes
    ----------
    index
        Counts runs of a case from 0.
    seed
        Seed of the run; equal only for equal runs of equal programs.
    base_url
        URL of models in this run: OpenAI's chat completions and responses. Anthropic's client
        appends ``/v1`` itself and takes :attr:`anthropic_url`.
    token
        The API key of this run.
    knobs
        The value of each setting that the program declares in ``knobs``.
    """

    index: int
    seed: int
    base_url: str
    token: str
    knobs: Mapping[str, Any]
    _send: Callable[[str, dict[str, Any]], object] = field(repr=False)

    @property
    def headers(self) -> dict[str, str]:
        """Headers for a client that takes them; add ``X-Plenum-Seat`` to name the caller."""
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def anthropic_url(self) -> str:
        """The base URL for Anthropic's client."""
        return self.base_url.removesuffix("/v1")

    def say(
        self,
        round: int,
        seat: str,
        text: str,
        preferences: Mapping[str, float] | None = None,
        confidence: float | None = None,
    ) -> None:
        """Report a message, as it is sent to the others.

        Parameters
        ----------
        round
            Number of the round, from 1.
        seat
            Name of the speaker.
        preferences
            Shares of the options by label; they add up to 1.
        confidence
            0 to 100.

        Raises
        ------
        Refused
            plenum rejects it; the message says why.
        """
        message = {"round": round, "seat": seat, "text": text}
        if preferences is not None:
            message["preferences"] = dict(preferences)
        if confidence is not None:
            message["confidence"] = confidence
        self._send("say", message)

    def vote(self, seat: str, option: str, round: int | None = None) -> None:
        """Report a vote for an option's label; raises as :meth:`say`."""
        self._send("vote", {"seat": seat, "option": option, "round": round})

    def decide(self, result: Any) -> None:
        """Report the decision; the result of ``deliberate`` is reported automatically."""
        decision = Decision.from_result(result)
        self._send("decision", {k: v for k, v in asdict(decision).items() if v is not None})


def connect(url: str | None = None, token: str | None = None) -> tuple[Case, Run]:
    """Return the case and the run given in the environment or as arguments.

    Raises
    ------
    Refused
        No run is given, or plenum doesn't know it.
    """
    url = url or os.environ.get("PLENUM_RUN_URL")
    if not url:
        raise Refused("PLENUM_RUN_URL isn't set: plenum starts this program with it")
    token = token or os.environ.get("OPENAI_API_KEY", "")
    given = _exchange(f"{url}/case", token)

    def send(what: str, message: dict[str, Any]) -> None:
        _exchange(f"{url}/{what}", token, message)

    fields = {name: given["case"][name] for name in ("id", "text", "options", "extras")}
    base_url = url[: url.rindex("/")] + "/v1"
    run = Run(given["index"], given["seed"], base_url, token, given["knobs"], send)
    return Case(**fields), run


def load(target: str) -> Any:
    """Import ``FILE.py:NAME`` or ``MODULE:NAME``.

    Raises
    ------
    ImportError, AttributeError
        There is no such file, module or name.
    """
    place, _, name = target.rpartition(":")
    if not place:
        raise ImportError(f"{target}: write FILE.py:NAME or MODULE:NAME")
    if place.endswith(".py"):
        module = _module_of_file(Path(place).resolve())
    else:
        sys.path.insert(0, os.getcwd())
        module = importlib.import_module(place)
    value: Any = module
    for part in name.split("."):
        value = getattr(value, part)
    return value() if isinstance(value, type) else value


def function_of(committee: Any) -> Callable[[Case, Run], Any]:
    """Return the function of a committee: its method ``deliberate``, or the function itself.

    Raises
    ------
    TypeError
        It has no such method and isn't callable.
    """
    function = getattr(committee, "deliberate", committee)
    if not callable(function):
        raise TypeError(f"{committee!r} has no method deliberate and can't be called")
    called: Callable[[Case, Run], Any] = function
    return called


def knobs_of(committee: Any) -> dict[str, list[Any]]:
    """Return the settings that a program declares, each with the values to try, usual one first.

    Raises
    ------
    TypeError
        They aren't lists of values by name.
    """
    knobs = getattr(committee, "knobs", {})
    try:
        return {str(name): list(values) for name, values in dict(knobs).items()}
    except (TypeError, ValueError):
        raise TypeError(f"knobs: lists of values by name are needed, not {knobs!r}") from None


def describe(target: str) -> dict[str, Any]:
    """Return a program's description: knobs, imported files next to it, and interpreter."""
    place = target.rpartition(":")[0]
    folder = Path(place).resolve().parent if place.endswith(".py") else Path.cwd()
    knobs = knobs_of(load(target))
    imported = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    files = {Path(file).resolve() for file in imported if file} - {Path(__file__).resolve()}
    beside = [file for file in files if file.is_relative_to(folder)]
    return {
        "knobs": knobs,
        "files": sorted(str(file) for file in beside if "site-packages" not in file.parts),
        **interpreter(),
    }


def interpreter() -> dict[str, Any]:
    """Return this interpreter's version, and those of the packages that it can import."""
    folders = [entry for entry in sys.path if os.path.isdir(entry)]
    installed = (
        name[:-10]
        for folder in folders
        for name in os.listdir(folder)
        if name.endswith(".dist-info")
    )
    versions = (name.partition("-") for name in sorted(installed))
    packages = {name.lower(): version for name, _, version in versions}
    return {"python": sys.version.split()[0], "packages": packages}


def main(arguments: Sequence[str]) -> int:
    """Run a program once, or describe it; return the exit status."""
    _end_with_parent()
    sys.modules.setdefault("plenum_run", sys.modules[__name__])  # the program imports this very one
    described = os.environ.pop(DESCRIBED, None)
    sys.argv[:] = [(described or sys.argv[-1]).rpartition(":")[0] or sys.argv[0]]  # its own alone
    if described is not None:
        stdout, sys.stdout = sys.stdout, sys.stderr  # what a program prints is no description
        about = describe(described) if described else interpreter()
        print(json.dumps(about), file=stdout)
        return 0
    if len(arguments) != 1:
        print("plenum_run: write FILE.py:NAME or MODULE:NAME", file=sys.stderr)
        return 2
    try:
        _run_once(arguments[0])
    except Exception as error:
        traceback.print_exc()
        print(in_one_line(error), file=sys.stderr, flush=True)
        os._exit(1)  # what a program prints on its way out would follow its error
    return 0


def _run_once(target: str) -> None:
    case, run = connect()
    result = function_of(load(target))(case, run)
    if inspect.isawaitable(result):
        result = asyncio.run(_await(result))
    run.decide(result)


def in_one_line(error: BaseException) -> str:
    """Format an error's type and message; for a group of errors, the first one's."""
    while inner := getattr(error, "exceptions", None):
        error = inner[0]
    place = f" ({error.filename}:{error.lineno})" if isinstance(error, SyntaxError) else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())}{place}"


async def _await(result: Any) -> Any:
    return await result


def _module_of_file(path: Path) -> Any:
    sys.path.insert(0, str(path.parent))
    name = f"_{path.stem}" if path.stem in sys.modules else path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ImportError(f"{path}: no such file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _exchange(url: str, token: str, message: dict[str, Any] | None = None) -> Any:
    """GET a JSON value, or POST one, without using the environment's proxy."""
    body = None if message is None else json.dumps(message).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(url, body, headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=_TIMEOUT_S) as response:
            return json.loads(response.read() or b"null")
    except urllib.error.HTTPError as error:
        raise Refused(_reason(error.read(), error.code)) from None
    except OSError as error:
        raise Refused(f"plenum doesn't answer: {error}") from None


def _show(value: Any) -> str:
    line = " ".join(repr(value).split())
    return line if len(line) <= _LONGEST_SHOWN else f"{line[:_LONGEST_SHOWN]}..."


def _reason(body: bytes, status: int) -> str:
    try:
        error = json.loads(body)["error"]
        message = str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError):
        message = body.decode(errors="replace").strip() or f"status {status}"
    return message[:_LONGEST_MESSAGE]


def _end_with_parent() -> None:
    """Make Linux end this process when plenum is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
