"""The scheme ``s3://`` of stores: what :class:`plenum.records.stores.Scheme` asks for."""

from plenum_fleet.buckets.remote_files import destination, exists, fetched_file, send
from plenum_fleet.buckets.storage import Storage, fetched, opened
from plenum_fleet.buckets.storage import bucket_folder as folder

__all__ = ["destination", "exists", "fetched", "fetched_file", "folder", "open", "opened", "send"]


def open(address: str, durable: bool = False) -> Storage:
    """Open and check a bucket, once."""
    found = Storage.of(address, durable)
    assert found is not None
    return found
