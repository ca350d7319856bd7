"""The tests that fail under other processors' kernels, without a terminal, and in odd paths."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from elsewhere import ENVIRONMENTS, failures

_QUICK = ("tests/plenum/dynamics",)


def measure(quick: bool) -> dict[str, Any]:
    """How many tests fail in each environment of ``scripts/elsewhere.py``."""
    chosen = _QUICK if quick else ()
    return {"suite_elsewhere": {name: len(failures([name], chosen)) for name in ENVIRONMENTS}}
