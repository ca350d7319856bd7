"""Check an archive, and what is said of one."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from plenum.archive import check, dictionary
from plenum.archive.check import Checked, plain
from plenum.archive.layout import DICTIONARY
from plenum.archive.opening import Box, Damaged
from plenum.archive.progress import progress
from plenum.archive.sealing import SEAL
from plenum.base.errors import UserError
from plenum.base.project import code_version

_PROBLEMS = 50
"""More than this are counted, not printed."""


@contextmanager
def checked(path: Path, say: check.Say) -> Iterator[tuple[Checked, Box | None]]:
    """Check an archive, its dictionary too, and keep it open."""
    with check.checked(path, say) as (found, box):
        known = any(line.startswith(f"{DICTIONARY}: ") for line in found.problems)
        if box is not None and found.manifest and not known:
            wrong = _dictionary(box, found.manifest)
            found = replace(found, problems=(*found.problems, *wrong))
        yield found, box


def _dictionary(box: Box, manifest: Mapping[str, Any]) -> list[str]:
    by = manifest.get("written_by")
    same = isinstance(by, Mapping) and by.get("plenum") == code_version()
    try:
        wrong = dictionary.problem(box.read(DICTIONARY), box.members, same_version=same)
    except Damaged as error:
        return [plain(str(error))]
    return [f"{DICTIONARY}: {wrong}"] * bool(wrong)


def verify(file: Path) -> int:
    """Check an archive and say what is wrong with it, a line each.

    Returns
    -------
    int
        The exit status: 0 where it is whole, else 2.

    Raises
    ------
    UserError
        There is no such file.
    """
    existing("--verify", file)
    with progress("checking") as say, checked(file, say) as (found, _):
        pass
    for line in problems(file, found.problems):
        print(line, file=sys.stderr)
    if found.problems:
        return 2
    print(held(found.manifest["study"], found.manifest["counts"]))
    print(f"whole: {file} ({size(file)}, SHA-256 {seal(file)})")
    return 0


def existing(key: str, path: Path) -> Path:
    """A file that is there.

    Raises
    ------
    UserError
        It isn't.
    """
    if not path.is_file():
        raise UserError(f"{key}: there is no file {path}")
    return path


def problems(file: Path, found: Sequence[str]) -> list[str]:
    """Lines that name the file."""
    lines = [f"{file}: {line}" for line in found[:_PROBLEMS]]
    left = len(found) - len(lines)
    return [*lines, *([f"{file}: {left} more problems"] * bool(left))]


def held(study: str, counts: Mapping[str, int]) -> str:
    """What a study holds, in a line."""
    return (
        f"study {plain(study)}: {counts['conditions']} conditions, {counts['target']} replicates = "
        f"{counts['completed']} completed + {counts['failed']} failed + {counts['pending']} pending"
    )


def size(path: Path) -> str:
    """A file's size, in words."""
    found = path.stat().st_size
    return f"{found / 1e6:.1f} MB" if found >= 1e5 else f"{found / 1e3:.1f} kB"


def seal(path: Path) -> str:
    """The digest at the end of an archive that was checked."""
    with path.open("rb") as file:
        file.seek(-SEAL, 2)
        return file.read().decode(errors="replace")
