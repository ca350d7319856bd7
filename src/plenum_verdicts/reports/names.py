"""Names of cases and decisions as reports show them: one line, inert wherever it stands."""

from collections.abc import Sequence

from plenum.base.text import flatten

LONG = 60
"""Number of a name's letters in tables."""


def short(name: str) -> str:
    """Return a name as one short line for a table."""
    line = quiet(name) or "-"
    return line if len(line) <= LONG else f"{line[: LONG - 1]}…"


def quiet(text: str) -> str:
    """Return a text as one line that is no command of GitHub's runner.

    A line of the screen may begin with it: an invisible mark stands before what would be a command.
    """
    line = flatten(text)
    return f"\u200b{line}" if line.lstrip().startswith(("::", "##[")) else line


def append_names(names: Sequence[str], most: int = 10) -> str:
    """Return the first names of cases after a colon, and the number of others; empty without."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f": {', '.join(map(short, names[:most]))}{more}" if names else ""
