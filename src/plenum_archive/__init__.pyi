from . import export as export
from . import import_ as import_
from . import verify as verify

__all__ = [
    "export",
    "import_",
    "verify",
]
