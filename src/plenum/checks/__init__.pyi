from . import status as status
from .dry_run import show_dry_run as show_dry_run

__all__ = [
    "show_dry_run",
    "status",
]
