"""What a program imports of plenum, made importable in this process by the name that it uses."""

import sys
from pathlib import Path

from plenum_audit.programs.client import plenum_run


def provide_client() -> None:
    """Make ``plenum_run`` and ``plenum_adapters`` importable; a program's own copies stay."""
    sys.modules.setdefault("plenum_run", plenum_run)
    folder = str(Path(plenum_run.__file__).parent)
    if folder not in sys.path:
        sys.path.append(folder)
