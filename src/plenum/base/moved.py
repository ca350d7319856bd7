"""Names that packages of version 0.2 import from a room, found where they are now."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from plenum.base.terminal import say

_said: list[str] = []


def find_moved(room: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of a room, which finds names that stood there and warns in a line.

    Parameters
    ----------
    room
        The room's dotted name.
    modules
        Names, separated by spaces, by the module below the package where they are now, with
        ``:new`` behind it where one is called otherwise there.

    Returns
    -------
    Callable
        From a name to what it names; ``AttributeError`` if the room never had it.

    Examples
    --------
    >>> find_moved("plenum.base", {"base.errors": "UserError"})("UserError").__name__
    'UserError'
    """
    package = room.partition(".")[0]
    homes = {name: home for home, names in modules.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        home, _, new = f"{package}.{homes[name]}".partition(":")
        warn_moved(f"imports {name} from {room}", f"{home}.{new or name}")
        return getattr(import_module(home), new or name)

    return get


def warn_moved(use: str, now: str) -> None:
    """Say once a command that an installed package uses a name of version 0.2, and its new one."""
    from multiprocessing import parent_process  # rarely needed, and slow to import

    # One name a command stands for all of them, and processes of a pool say nothing.
    if not _said and parent_process() is None:
        _said.append(use)
        say(
            f"deprecated: an installed package {use}, which is {now} now; names of version 0.2 are "
            "found until 0.5"
        )
