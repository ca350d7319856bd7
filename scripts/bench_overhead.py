"""The old name of ``scripts/bench/overhead.py``."""

import runpy
import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).with_name("bench"))
runpy.run_path(f"{sys.path[0]}/overhead.py", run_name="__main__")
