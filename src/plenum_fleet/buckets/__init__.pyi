from .storage import BATCHES_FOLDER as BATCHES_FOLDER
from .storage import Storage as Storage
from .storage import announce_in_bucket as announce_in_bucket
from .storage import bucket_folder as bucket_folder
from .storage import flush_buckets as flush_buckets
from .storage import journal_path as journal_path
from .storage import keep_in_bucket as keep_in_bucket
from .storage import list_taken_up as list_taken_up
from .storage import machine_name as machine_name
from .storage import refresh_from_bucket as refresh_from_bucket

__all__ = [
    "BATCHES_FOLDER",
    "Storage",
    "announce_in_bucket",
    "bucket_folder",
    "flush_buckets",
    "journal_path",
    "keep_in_bucket",
    "list_taken_up",
    "machine_name",
    "refresh_from_bucket",
]
