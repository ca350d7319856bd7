"""Protection against zip files that unpack to far more than they hold."""

from collections.abc import Iterable
from zipfile import ZipInfo

RATIO = 100
"""Times its own size that a large zip file may unpack to."""


def unpack_problem(members: Iterable[ZipInfo], size: int, least: int) -> str:
    """Return the reason not to unpack a zip file's members; empty if there is none.

    Parameters
    ----------
    size
        Of the zip file, in bytes.
    least
        To so many bytes may any zip file unpack.
    """
    infos = list(members)
    if sum(info.compress_size for info in infos) > size:
        return "files overlap: it would unpack to more than it holds"
    total = sum(info.file_size for info in infos)
    if total > max(least, RATIO * size):
        return f"it would unpack to {total:,} bytes, over {RATIO} times its own size"
    return ""
