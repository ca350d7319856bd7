"""The commit of the code of a program under audit."""

import shlex
from collections.abc import Iterator
from pathlib import Path

from plenum.base.project import describe_commit
from plenum_audit.design import CommitteeConfig


def find_commit(committee: CommitteeConfig) -> str:
    """Return the full commit of a program's git checkout, ``-dirty`` if not all is committed.

    Empty for a URL, for code outside of a checkout, and where git isn't installed.
    """
    file = next((file.resolve() for file in _files(committee) if file.is_file()), None)
    if file is None:
        return ""
    return describe_commit(file.parent, "--exclude=*", "--abbrev=40")


def _files(committee: CommitteeConfig) -> Iterator[Path]:
    place, _, _ = committee.target.rpartition(":")
    if place.endswith(".py"):
        yield Path(place).expanduser()
    elif place:
        module = Path(*place.split("."))
        yield from (module.with_suffix(".py"), module / "__init__.py")
    if committee.command:
        yield from map(Path, shlex.split(committee.command)[1:])
