"""Import of plenum's client modules in this process, under the names that programs use."""

import sys
from pathlib import Path

from plenum_audit.programs.client import plenum_run


def provide_client() -> None:
    """Make ``plenum_run`` and ``plenum_adapters`` importable, unless copies exist."""
    sys.modules.setdefault("plenum_run", plenum_run)
    folder = str(Path(plenum_run.__file__).parent)
    if folder not in sys.path:
        sys.path.append(folder)
