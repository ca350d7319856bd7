from . import batches as batches
from . import buckets as buckets
from . import remote as remote
from . import tracking as tracking

__all__ = [
    "batches",
    "buckets",
    "remote",
    "tracking",
]
