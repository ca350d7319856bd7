"""Shared parts of the front doors: exit statuses, and errors in one line."""

import errno
import inspect
import io
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from types import TracebackType
from typing import Any, NoReturn

from plenum.base.collector import collect_rarely
from plenum.base.environment import close_environment
from plenum.base.errors import Stopped, UserError
from plenum.base.exits import (
    BAD_INPUT,
    FAILED,
    INTERRUPTED,
    find_status,
    format_error,
    name_missing_package,
    shows_full_errors,
)
from plenum.base.removed import refuse_removed
from plenum.base.secret_input import refuse_in_arguments
from plenum.base.secrets import redact
from plenum.base.terminal import say

__all__ = ["front_door", "one_line_errors"]

_OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
"""Errors whose cause is outside of plenum; files that were written before are whole."""

_MAY_EXIT = ("plenum", "hydra", "argparse", "__main__")
"""Modules that may end a command with status 0, such as after ``--help``."""


def front_door(main: Callable[[], object], failed: int = FAILED, package: str = "") -> None:
    """Run a Hydra app and end as :func:`one_line_errors` says; a bug exits with ``failed``.

    Flags may be anywhere; Hydra itself would read no override between two flags. ``package`` is
    the one that holds the app's configs, if it isn't the core.
    """
    collect_rarely()
    close_environment()
    from plenum.design.overrides import (
        check_flags,
        check_meant,
        sort_flags_first,
        take_own_folder,
    )

    config_name = inspect.getclosurevars(main).nonlocals.get("config_name")
    sys.argv[1:] = sort_flags_first(sys.argv[1:])
    outlive_readers()
    if os.environ.get("COLUMNS") == "0":  # as some shells say that they don't know
        del os.environ["COLUMNS"]
    shows_full_errors()
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra then raises instead of printing and exiting
    sys.excepthook = partial(_without_secrets, failed)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does
    with one_line_errors(config_name, failed):
        if package and find_spec(package) is None:
            raise ModuleNotFoundError(name=package)
        refuse_removed(sys.argv[1:])  # which shows no value, so it may come before secrets
        refuse_in_arguments(sys.argv[1:])
        if config_name:  # what isn't a Hydra app reads its own arguments
            if "${" in os.getcwd():
                here = os.getcwd()
                raise UserError(f"{here}: Hydra reads ${{ as a variable; rename the folder")
            check_flags(sys.argv[1:], config_name)
            take_own_folder(sys.argv[1:])
            check_meant(sys.argv[1:], config_name)
            _register_own_values()
            _share_registered_configs()
        main()


def outlive_readers() -> None:
    """Go on, as if nothing was, where the reader of a standard stream leaves."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream and stream is getattr(sys, f"__{name}__"):  # else it goes to somebody in here
            raw: Any = _Output(stream.fileno(), "w", closefd=False)
            # Unbuffered where `python -u` asks for it, as in most containers: logs show it at once.
            ours = raw if stream.write_through else io.BufferedWriter(raw)
            kept = {key: getattr(stream, key) for key in ("line_buffering", "write_through")}
            # A terminal without λ̂ gets a question mark.
            setattr(sys, name, io.TextIOWrapper(ours, stream.encoding, "replace", **kept))


class _Output(io.FileIO):
    """A standard stream; what its reader, such as ``head``, no longer wants is dropped."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:  # the command goes on, and its status stays what it found
            return len(data)  # all was written, as far as the buffers above are told


def _share_registered_configs() -> None:
    """Let Hydra's repositories share the store of registered configs, which is a singleton.

    Hydra copies the whole store for each group that ``--help`` lists, and for each job of a sweep:
    half the time of both. What it loads from the store it copies once more, so nothing is shared
    that anybody changes.
    """
    from hydra.core.config_store import ConfigStore

    ConfigStore.__deepcopy__ = lambda store, _memo: store  # type: ignore[attr-defined]


def _register_own_values() -> None:
    """Let ``--help`` show the values of a script's own config with their comments."""
    from omegaconf import OmegaConf

    from plenum.base.project import resolve_path

    def list_own_values(config_name: str) -> str:
        text = resolve_path(f"conf/{config_name}.yaml").read_text(encoding="utf-8")
        _, *blocks = re.split(r"^(?=[a-z_]+:)", text, flags=re.MULTILINE)
        defaults = next((b for b in blocks if b.startswith("defaults:")), "")
        values = [b for b in blocks if not b.startswith(("defaults:", "hydra:"))]
        if "- config\n" in defaults:
            values.append(
                "\nand the values of run.py, such as backend, tracking and budget.*: "
                "python run.py --help\n"
            )
        return "".join(values).strip().replace("$", "$$")

    OmegaConf.register_new_resolver("own_values", list_own_values, replace=True)


@contextmanager
def one_line_errors(config_name: str | None = None, failed: int = FAILED) -> Iterator[None]:
    """Turn errors that a user can cause into one line and an exit status.

    2 for bad input, ``failed`` if a sweep stopped, 130 after Ctrl-C; a bug keeps its traceback.
    ``HYDRA_FULL_ERROR=1`` in the environment shows the traceback of every error. It is inside each
    Hydra job too, since Hydra prints a line of its own about any exception that leaves one.
    ``config_name`` is the primary config if the command line is still to be composed.
    """
    try:
        yield
    except Stopped as error:
        _leave(f"stopped: {error}; the same command continues from here", failed)
    except Exception as error:
        if find_status(error, failed) != BAD_INPUT:
            raise
        from hydra.errors import HydraException  # not before: `plenum` alone needs no Hydra

        if isinstance(error, OSError) and not isinstance(error, HydraException):  # one is both
            again = "; the same command continues from here" if error.errno in _OF_THE_DISK else ""
            where = error.filename or _name_folder()
            _leave(f"error: {where}: {error.strerror or error}{again}", BAD_INPUT)
        if package := name_missing_package(error):
            _leave(f"error: {package} isn't installed, and this command needs it", BAD_INPUT)
        _leave(f"error: {_explain(error, config_name)}", BAD_INPUT)
    except SystemExit as end:  # of a part of another package, it would say that all went well
        *_, (innermost, _) = traceback.walk_tb(end.__traceback__)
        ended_by = str(innermost.f_globals.get("__name__"))
        if not end.code and not ended_by.startswith(_MAY_EXIT):
            _leave(f"error: {ended_by} ended this command by sys.exit({end.code})", failed)
        raise
    except KeyboardInterrupt:
        _leave(
            "interrupted: what is finished is kept; the same command continues from here",
            INTERRUPTED,
        )


def _name_folder() -> str:
    """Return the working folder, as the shell names it if it is gone."""
    with suppress(FileNotFoundError):
        return os.getcwd()
    return os.environ.get("PWD", "the working folder")


def _explain(error: Exception, config_name: str | None) -> str:
    """Explain the mistake in the command line behind an error, or quote the error."""
    line = None
    if config_name and not isinstance(error, UserError):
        from plenum.design.slips import explain_slip

        with suppress(Exception):  # the error itself must be seen, whatever becomes of its reason
            line = explain_slip(sys.argv[1:], config_name)
    return redact(line) if line else format_error(error)


def _without_secrets(
    status: int, kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print an uncaught error without secrets, and exit with the status."""
    say("".join(traceback.format_exception(kind, error, trace)))
    raise SystemExit(status)


def _leave(line: str, status: int) -> NoReturn:
    say(line)
    raise SystemExit(status) from None
