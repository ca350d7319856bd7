from . import figures as figures
from . import items as items
from . import published as published
from .studies import run_or_imported as run_or_imported

__all__ = [
    "figures",
    "items",
    "published",
    "run_or_imported",
]
