from . import figures as figures
from . import items as items
from . import published as published

__all__ = [
    "figures",
    "items",
    "published",
]
