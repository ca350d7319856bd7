from .episode import Episode as Episode
from .settings import Information as Information

__all__ = [
    "Episode",
    "Information",
]
