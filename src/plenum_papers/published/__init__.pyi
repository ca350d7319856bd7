from . import check as check
from . import design as design
from . import importer as importer
from .catalogue import Release as Release
from .catalogue import find_release as find_release
from .conditions import PublishedCondition as PublishedCondition
from .conditions import load as load

__all__ = [
    "PublishedCondition",
    "Release",
    "check",
    "design",
    "find_release",
    "importer",
    "load",
]
