"""Verification of an archive: it is complete, its digests fit, and its contents are consistent."""

import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum.base.progress import show_progress
from plenum.base.project import code_version
from plenum.show.phrases import plural
from plenum_archive import contents, dictionary, layout
from plenum_archive.container import SEAL, Box, DamagedArchive, open_archive
from plenum_archive.layout import CONDITIONS, COUNTS, DICTIONARY, MANIFEST

ReportProgress = Callable[[int, int], None]

_LONGEST = 240
_PROBLEMS = 50
"""Number of problems that are printed; the others are only counted."""


@dataclass(frozen=True)
class ArchiveCheck:
    """The result of checking an archive.

    Attributes
    ----------
    problems
        One line per problem; empty if the archive is whole.
    manifest
        The archive's manifest; empty if it can't be read.
    """

    problems: tuple[str, ...]
    manifest: dict[str, Any]


def check_archive(
    path: Path, report_progress: ReportProgress = lambda done, of: None
) -> ArchiveCheck:
    """Check an archive.

    Parameters
    ----------
    report_progress
        Called with the number of conditions checked so far and their total.
    """
    with open_checked(path, report_progress) as (result, _):
        return result


@contextmanager
def open_checked(
    path: Path, report_progress: ReportProgress
) -> Iterator[tuple[ArchiveCheck, Box | None]]:
    """Check an archive and keep it open, so that the file can't be replaced meanwhile."""
    with ExitStack() as stack:
        try:
            box = stack.enter_context(open_archive(path))
        except DamagedArchive as error:
            yield ArchiveCheck((plain(str(error)),), {}), None
            return
        yield _check(box, report_progress), box


def _check(box: Box, report_progress: ReportProgress) -> ArchiveCheck:
    problems = [box.seal] if box.seal else []
    manifest: dict[str, Any] = {}
    try:
        manifest = box.manifest()
        problems += _problems(box, manifest, report_progress)
        problems += _dictionary(box, manifest, problems)
    except DamagedArchive as error:
        problems.append(str(error))
    return ArchiveCheck(tuple(map(plain, problems)), manifest)


def plain(text: str) -> str:
    """Make a line safe for a terminal, since an archive may contain any text."""
    line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."


def _problems(box: Box, manifest: dict[str, Any], report_progress: ReportProgress) -> Iterator[str]:
    files = manifest["files"]
    yield from (f"{name}: missing" for name in sorted(files.keys() - box.members.keys()))
    extra = box.members.keys() - files.keys() - {MANIFEST}
    yield from (f"{name}: not in the manifest" for name in sorted(extra))
    damaged = set()
    for name in sorted(files.keys() & box.members.keys()):
        wrong = _wrong(box, name, files[name])
        if wrong:
            damaged.add(name.rpartition("/transcripts/")[0] or name.rpartition("/")[0])
            yield f"{name}: {wrong}"
    conditions = manifest.get("conditions")
    if not isinstance(conditions, list) or not all(isinstance(c, dict) for c in conditions):
        yield f"{MANIFEST}: it lists no conditions"
        return
    yield from _sums(manifest, conditions)
    yield from _list_unlisted(box, conditions)
    for done, entry in enumerate(conditions, start=1):
        place = entry.get("folder")
        if not layout.is_place(place):
            yield f"{MANIFEST}: {place!r} is no condition's folder"
        elif place not in damaged:
            yield from _inside(box, place, entry)
        report_progress(done, len(conditions))


def _dictionary(box: Box, manifest: dict[str, Any], problems: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with the data dictionary, unless another line reports it already."""
    if any(line.startswith(f"{DICTIONARY}: ") for line in problems):
        return
    by = manifest.get("written_by")
    same = isinstance(by, dict) and by.get("plenum") == code_version()
    wrong = dictionary.problem(box.read(DICTIONARY), box.members, same_version=same)
    if wrong:
        yield f"{DICTIONARY}: {wrong}"


def _wrong(box: Box, name: str, entry: dict[str, Any]) -> str:
    """Describe what is wrong with the bytes of a file; return an empty text if nothing is."""
    size = box.members[name].file_size
    if size != entry.get("size"):
        return f"{size:,} bytes, not {entry.get('size')} as in the manifest"
    try:
        actual = box.describe_file(name)
    except DamagedArchive as error:
        return str(error).removeprefix(f"{name}: ")
    return "" if actual == dict(entry) else "its SHA-256 isn't that in the manifest"


def _sums(manifest: dict[str, Any], conditions: list[dict[str, Any]]) -> Iterator[str]:
    counts = manifest.get("counts")
    if not isinstance(counts, dict) or counts.get("conditions") != len(conditions):
        yield f"{MANIFEST}: it doesn't count its conditions right"
        return
    for key in COUNTS:
        numbers = [n for entry in conditions if type(n := entry.get(key)) is int]
        if sum(numbers) != counts.get(key):
            yield f"{MANIFEST}: {counts.get(key)} {key}, but its conditions have {sum(numbers)}"


def _list_unlisted(box: Box, conditions: list[dict[str, Any]]) -> Iterator[str]:
    places = [entry.get("folder") for entry in conditions]
    if len(set(map(str, places))) < len(places):
        yield f"{MANIFEST}: it lists a condition's folder twice"
    folders = {"/".join(n.split("/")[:2]) for n in box.members if n.startswith(f"{CONDITIONS}/")}
    unlisted = sorted(folders - set(map(str, places)))
    yield from (f"{place}: a condition that the manifest doesn't list" for place in unlisted)


def _inside(box: Box, place: str, entry: dict[str, Any]) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        try:
            box.unpack(place, Path(folder))
        except (DamagedArchive, OSError) as error:
            yield f"{place}: {error}"
            return
        try:
            for wrong in contents.problems(Path(folder), entry):
                about_manifest = wrong.startswith(MANIFEST)
                yield f"{wrong} ({place})" if about_manifest else f"{place}/{wrong}"
        except Exception as error:  # what it says may be anything
            yield f"{place}: it can't be checked ({type(error).__name__}: {error})"


def verify(file: Path) -> int:
    """Check an archive and print what is wrong with it, one line each.

    Returns
    -------
    int
        The exit status: 0 if the archive is whole, 2 if it isn't.

    Raises
    ------
    UserError
        The file doesn't exist.
    """
    require_file("--verify", file)
    with show_progress("checking") as report_progress:
        result = check_archive(file, report_progress)
    for line in prefix_problems(file, result.problems):
        print(line, file=sys.stderr)
    if result.problems:
        return 2
    print(summarise_archive(result.manifest["study"], result.manifest["counts"]))
    print(f"whole: {file} ({size(file)}, SHA-256 {seal(file)})")
    return 0


def require_file(key: str, path: Path) -> Path:
    """Return the path of a file that exists.

    Raises
    ------
    UserError
        It doesn't exist.
    """
    if not path.is_file():
        raise UserError(f"{key}: there is no file {path}")
    return path


def prefix_problems(file: Path, problems: Sequence[str]) -> list[str]:
    """Prefix each problem with the file's name, up to the number that is printed."""
    lines = [f"{file}: {line}" for line in problems[:_PROBLEMS]]
    if left := len(problems) - len(lines):
        lines.append(f"{file}: {left} more problems")
    return lines


def summarise_archive(study: str, counts: Mapping[str, int]) -> str:
    """Summarise the contents of a study in one line."""
    named = plural(counts["conditions"], "condition", "conditions")
    return (
        f"study {plain(study)}: {counts['conditions']} {named}, "
        f"{counts['target']} replicates = "
        f"{counts['completed']} completed + {counts['failed']} failed + {counts['pending']} pending"
    )


def size(path: Path) -> str:
    """Return a file's size in words."""
    bytes_ = path.stat().st_size
    return f"{bytes_ / 1e6:.1f} MB" if bytes_ >= 1e5 else f"{bytes_ / 1e3:.1f} kB"


def seal(path: Path) -> str:
    """Return the digest at the end of a checked archive."""
    with path.open("rb") as file:
        file.seek(-SEAL, 2)
        return file.read().decode(errors="replace")
