"""The folder of an audit's outputs: files are written to it, or an error says why not."""

import glob
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from plenum.base.errors import UserError
from plenum_verdicts.design import VerdictConfig

REHEARSAL = "rehearsal with simulated agents, not evidence"
"""What a result of simulated agents is called wherever it is shown."""


_NAMES = ("audit", "suite", "verdict", "acting", "acts")
"""Names of the files that are written, without their endings."""


def refuse_overwriting(settings: VerdictConfig) -> None:
    """Refuse a folder of outputs in which a file that is read may be written over.

    Raises
    ------
    UserError
        Runs or cases lie there under the name of an output.
    """
    held = Path(settings.out).expanduser()
    written = [each for name in _NAMES for each in held.glob(f"{name}.*") if each.exists()]
    for name in ("logs", "baseline", "case"):
        given = str(getattr(settings, name) or "")
        path = Path(given).expanduser()
        # Compared as files and not by name: links under other names lead to them too.
        files = path.iterdir() if path.is_dir() else map(Path, glob.glob(str(path)))
        if any(file.samefile(each) for file in files for each in written):
            raise UserError(
                f"out: {settings.out}; {name}={given} lies there under the name of an output, and "
                "would be written over: give another folder"
            )


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


def write_texts(texts: Iterable[tuple[str, str]], out: Path) -> list[Path]:
    """Write texts to files by name, and return these; none is replaced before all are written.

    Parameters
    ----------
    texts
        Names of files with their texts; large ones may be made one after the other.
    """
    unfinished = {}
    try:
        for name, text in texts:
            unfinished[out / name] = part = out / f".{name}.part"
            part.write_text(text, encoding="utf-8", newline="")
        return [part.replace(file) for file, part in unfinished.items()]
    finally:
        for part in unfinished.values():
            part.unlink(missing_ok=True)


def guard_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """Put an apostrophe before texts that a spreadsheet would take for formulas."""

    def guard(cell: object) -> object:
        formula = isinstance(cell, str) and re.match(r"[=+@\t\r-]", cell)
        return f"'{cell}" if formula else cell

    texts = frame.select_dtypes(["object", "string"])
    return frame.assign(**texts.map(guard))
