from . import batches as batches
from . import buckets as buckets
from . import remote as remote
from . import tracking as tracking
from .settings import Batch as Batch
from .settings import Workers as Workers

__all__ = [
    "Batch",
    "Workers",
    "batches",
    "buckets",
    "remote",
    "tracking",
]
