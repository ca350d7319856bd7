"""The scheme ``s3://`` of stores: what :class:`plenum.records.stores.Scheme` asks for."""

from plenum_fleet.buckets.remote_files import destination, exists, fetch_file, send
from plenum_fleet.buckets.storage import Storage, fetch, find_open
from plenum_fleet.buckets.storage import bucket_folder as folder

__all__ = ["destination", "exists", "fetch", "fetch_file", "find_open", "folder", "open", "send"]


def open(address: str, durable: bool = False) -> Storage:
    """Open and check a bucket, once."""
    found = Storage.of(address, durable)
    assert found is not None
    return found
