"""Zip files that others may have made: how far they may unpack."""

from collections.abc import Iterable
from zipfile import ZipInfo

RATIO = 100
"""As many times its own size may a large one unpack to."""


def bomb(members: Iterable[ZipInfo], size: int, least: int) -> str:
    """What speaks against unpacking the members of a zip file; empty where nothing does.

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
