"""The folder of an audit's outputs: files are written to it, or an error says why not."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from plenum.base import UserError

REHEARSAL = "rehearsal with simulated agents, not evidence"
"""What a result of simulated agents is called wherever it is shown."""


@contextmanager
def make_folder(out: Path) -> Iterator[None]:
    """Make a folder; an error of writing to it becomes one that says so.

    Raises
    ------
    UserError
        The folder can't be written to.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise UserError(f"out: {out} can't be written to: {error.strerror}") from None


def write_texts(texts: Mapping[str, str], out: Path) -> list[Path]:
    """Write texts to files by name, and return these."""
    for name, text in texts.items():
        (out / name).write_text(text, encoding="utf-8", newline="")
    return [out / name for name in texts]


def guard_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """Put an apostrophe before texts that a spreadsheet would take for formulas."""

    def guard(cell: object) -> object:
        if not isinstance(cell, str) or re.fullmatch(r"[-+]?[\d.,%e+-]+", cell):
            return cell
        return f"'{cell}" if re.match(r"[=+@\t\r-]", cell) else cell

    return frame.map(guard)
