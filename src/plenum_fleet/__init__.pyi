from . import batches as batches
from . import remote as remote
from .settings import Batch as Batch
from .settings import Workers as Workers

__all__ = [
    "Batch",
    "Workers",
    "batches",
    "remote",
]
