from . import released_rules as released_rules
from .released_rules import play_released_rules as play_released_rules
from .settings import Information as Information

__all__ = [
    "Information",
    "play_released_rules",
    "released_rules",
]
