from . import released_rules as released_rules
from .settings import Information as Information

__all__ = [
    "Information",
    "released_rules",
]
