"""The environment of a process, and the secrets in it: closed to other processes."""

import os
import platform
import re
import sys

from plenum.base.secrets import is_secret_name

_PR_SET_DUMPABLE = 4
_READ_BY_LIBRARIES = re.compile(r"PG|MYSQL_|AWS_|AZURE_|GOOGLE_|RAY_|\w+_PROXY$", re.IGNORECASE)
"""Variables that code which isn't Python's looks up by itself, as libpq does."""


def close_environment() -> None:
    """Keep the secrets of the environment inside this process.

    Other processes can't read it (:func:`hide_environment`), and child processes and libraries
    don't inherit the secrets: they are removed from the variables that programs start with, and
    stay in ``os.environ`` for this process's own code.
    """
    held = {name: value for name, value in os.environ.items() if is_secret_name(name)}
    if not held:
        return
    hide_environment()
    for name in held:
        os.unsetenv(name)
    platform.processor()  # libraries ask for it, and have a program tell it the first time
    for name, value in held.items():
        if _READ_BY_LIBRARIES.match(name):
            os.putenv(name, value)


def hide_environment() -> None:
    """Prevent other processes of this user from reading this one's keys in ``/proc``.

    Only root and no debugger can read its environment and memory afterwards. Only Linux has such a
    switch, and a program that is started doesn't inherit it.
    """
    if sys.platform == "linux":
        import ctypes  # takes a while to load, and few processes have secrets

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0)
