"""Exit statuses of commands, and an error's status and message."""

import os
import re
import traceback
from functools import cache

from plenum.base.errors import UserError
from plenum.base.secrets import redact

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130  # 130 as in shells: 128 + SIGINT

NO_VERDICT = 4
"""The status of an audit that was stopped, or crashed, before a verdict. For an audit 1 means that
a verdict was reached."""


@cache
def shows_full_errors() -> bool:
    """Return whether the user asked for tracebacks.

    Cached: :func:`plenum.cli.front_door` asks first, and then sets the variable for Hydra.
    """
    return os.environ.get("HYDRA_FULL_ERROR") == "1"


def find_status(error: BaseException, failed: int = FAILED) -> int:
    """Return an error's exit status; ``failed`` unless Ctrl-C or the user's input caused it."""
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if (
        isinstance(error, BrokenPipeError)
        or not isinstance(error, Exception)
        or shows_full_errors()
    ):
        return failed
    from_user = (
        isinstance(error, (UserError, HydraException, OmegaConfBaseException, OSError))
        or name_missing_package(error)
        or _is_about_input(error)
    )
    return BAD_INPUT if from_user else failed


def name_missing_package(error: BaseException) -> str:
    """Return the name of the ``plenum_*`` package that an import misses; empty for other errors."""
    package = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    return package if package.startswith("plenum_") else ""


def format_error(error: BaseException) -> str:
    """Return an error's message in one line, without secrets and Hydra's trailing context."""
    text = str(error)
    override = getattr(error, "override", None)  # Hydra's parse errors name it nowhere else
    if override and str(override) not in text:
        text = f"{override}: {text}"
    text = redact(text)
    for tail in (
        "\nConfig search path",
        "\nSet the environment variable HYDRA_FULL_ERROR",
        "\n(Background",
    ):
        text = text.partition(tail)[0]
    text = re.sub(r"\n\s*(full_key|object_type|reference_type)[:=].*", "", text)
    options = re.sub(r"\n\t", ", ", text).replace(":, ", ": ")
    return " ".join(options.split())


def _is_about_input(error: Exception) -> bool:
    """Return whether an untyped error comes from Hydra, its sweepers, or the tracking store."""
    if type(error).__module__.startswith(("mlflow", "sqlalchemy")):
        return True
    *_, (innermost, _) = traceback.walk_tb(error.__traceback__)
    raised_by = innermost.f_globals["__name__"]
    return isinstance(error, ValueError) and raised_by.startswith("hydra.")
