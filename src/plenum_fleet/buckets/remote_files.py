"""Files that scripts read from a bucket, or leave there: an archive, a page, a folder of tables."""

import time
from pathlib import Path

from plenum.base import UserError
from plenum_fleet.buckets.bucket import Bucket
from plenum_fleet.buckets.storage import bucket_folder

_PATIENCE_S = 30.0
_destinations: dict[str, tuple[Path, float]] = {}


def fetch_file(key: str, address: str) -> Path:
    """Return a file on this machine; fetch that of a bucket.

    Raises
    ------
    UserError
        With the ``key``: it isn't there, or can't be read.
    """
    path = bucket_folder(address)
    if path != Path(address):
        bucket, name = _bucket(key, address)
        (data,) = bucket.get([name])
        if data is None:
            raise UserError(f"{key}: there is no file {address}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return path


def destination(key: str, address: str) -> Path:
    """Return the local path at which a script writes what :func:`send` will upload.

    Raises
    ------
    UserError
        With the ``key``: the bucket can't be reached.
    """
    path = bucket_folder(address)
    if path != Path(address):
        _bucket(key, address)
        _destinations[address.rstrip("/")] = path, time.time()
    return path


def send() -> None:
    """Put what a script has written into the buckets that it is for."""
    for address, (path, since) in _destinations.items():
        bucket, name = _bucket("out", address)
        files = [path] if path.is_file() else [f for f in path.rglob("*") if f.is_file()]
        written = [file for file in files if file.stat().st_mtime >= since - 1]
        for file in written:
            bucket.put(f"{name}/{file.relative_to(path)}".removesuffix("/."), file.read_bytes())
        print(f"uploaded: {address} ({len(written)} file{'s' if len(written) != 1 else ''})")
    _destinations.clear()


def exists(address: str) -> bool:
    """Return whether a file exists, here or in its bucket."""
    path = bucket_folder(address)
    if path == Path(address):
        return path.exists()
    bucket, name = _bucket("out", address)
    return bucket.head(name) is not None


def _bucket(key: str, address: str) -> tuple[Bucket, str]:
    """Return a bucket as a whole, and the name of something in it."""
    root, _, name = address.removeprefix("s3://").rstrip("/").partition("/")
    if not name:
        raise UserError(f"{key}: {address} names a bucket and nothing in it")
    bucket = Bucket(f"s3://{root}", _PATIENCE_S)
    try:
        bucket.reach()
    except UserError as error:
        raise UserError(f"{key}: {error}") from None
    return bucket, name
