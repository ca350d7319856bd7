from . import check as check
from . import design as design
from . import importer as importer
from .catalogue import Release as Release
from .catalogue import find_release as find_release

__all__ = [
    "Release",
    "check",
    "design",
    "find_release",
    "importer",
]
