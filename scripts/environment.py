"""Report in one line that a Python lacks the environment that ``make`` makes."""

import sys
from pathlib import Path


def explain(missing: ModuleNotFoundError) -> SystemExit:
    """Print what is missing and how to get it, and return the end of the script."""
    script = Path(sys.argv[0]).name
    line = f"{sys.executable} has no {missing.name}; run make, then .venv/bin/python"
    print(f"error: {line} scripts/{script}", file=sys.stderr)
    return SystemExit(2)
